"""What may be ours in a settings file, behind one shape: the entry of the server, and the hooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from engine.connect.agents import Agent
from engine.connect.dialects import member
from engine.connect.hooks import HookSettings
from engine.connect.server import HookCommand, Server

Value = Server | HookCommand


class Part(Protocol):
    """One thing of ours in a settings text; every method raises BadSettings."""

    name: str

    def load(self, text: str) -> dict[str, object]:
        """Return what the text holds."""
        ...

    def holds(self, text: str) -> bool:
        """Tell whether it stands in the text."""
        ...

    def read(self, text: str) -> Value | None:
        """Return what it was written from, None when that cannot be told."""
        ...

    def put(self, text: str, value: Value) -> str:
        """Write it; a text that says so already comes back unchanged."""
        ...

    def drop(self, text: str, *, keep: Mapping[str, object]) -> str:
        """Take it out, and what is empty without it, unless it stands in `keep` (what was before)."""
        ...


class EntryPart:
    """The entry of the MCP server."""

    name = "entry"

    def __init__(self, agent: Agent) -> None:
        """Serve one agent's settings."""
        self._agent = agent

    def load(self, text: str) -> dict[str, object]:
        """Return what the text holds."""
        return self._agent.dialect.load(text)

    def holds(self, text: str) -> bool:
        """Tell whether there is an entry of our name."""
        return member(self.load(text), self._agent.path) is not None

    def read(self, text: str) -> Value | None:
        """Return the server that the entry starts."""
        entry = member(self.load(text), self._agent.path)
        return self._agent.read(entry) if isinstance(entry, dict) else None

    def put(self, text: str, value: Value) -> str:
        """Write the entry."""
        assert isinstance(value, Server)
        return self._agent.dialect.put(text, self._agent.path, self._agent.write(value))

    def drop(self, text: str, *, keep: Mapping[str, object]) -> str:
        """Take the entry out."""
        return self._agent.dialect.drop(text, self._agent.path, keep=keep)


class HooksPart(HookSettings):
    """The hooks."""

    name = "hooks"

    def put(self, text: str, value: Value) -> str:
        """Write the hooks."""
        assert isinstance(value, HookCommand)
        return super().put(text, value)
