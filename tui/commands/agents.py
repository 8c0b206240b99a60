"""The doors for agents: the server, stdio, and single calls of a tool. None of them loads a terminal library."""

from __future__ import annotations

import click

from engine.settings import directory
from tui.commands import base


@base.command("call", help="cli.call.help")
@click.argument("tool")
@click.argument("arguments", metavar="[JSON]", required=False, default="")
@base.option("--session", help="cli.context.session")
@base.option("--key", help="cli.remember.key")
def call_command(tool: str, arguments: str, session: str | None, key: str | None) -> None:
    """Call a tool as an agent and print its envelope; exit code 0 or 1."""
    given = base.from_json(arguments)
    with base.opened(trusted=False, make=True) as engine:
        from engine.serve.local import run_tool_in_process

        workspace = base.workspace_folder()
        envelope = run_tool_in_process(engine, tool, given, session=session, workspace=workspace, key=key)
    click.echo(base.escape(envelope.as_json().decode()))
    click.get_current_context().exit(0 if envelope.ok else 1)


@base.command("mcp", help="cli.mcp.help")
@base.option("--tools", metavar="PROFILE", default="core", help="cli.option.tools")
def mcp_command(tools: str) -> None:
    """Serve one client over stdin and stdout until it closes them."""
    from engine.serve.stdio import serve_stdio

    with base.opened(trusted=False, make=True) as engine:
        code = serve_stdio(engine, workspace=base.workspace_folder(), tools=tools)
    click.get_current_context().exit(code)


def serve(socket: str | None, tools: str = "core") -> None:
    """Serve agents on a socket until SIGTERM or ctrl+c."""
    from engine.serve.server import serve_socket

    with base.opened(trusted=False, make=True) as engine:
        code = serve_socket(
            engine,
            socket_path=directory(socket) if socket else None,
            profile=base.options().profile or "default",
            workspace=base.workspace_folder(),
            tools=tools,
        )
    click.get_current_context().exit(code)
