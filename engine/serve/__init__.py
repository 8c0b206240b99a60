"""The doors for agents: tool table, dispatch, MCP over socket and stdio, plain JSON-RPC."""
