"""The agents that memdeck knows: where each keeps its settings, and how an MCP server is written there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from engine.connect.dialects import Dialect, Json, Toml
from engine.connect.hooks import CLAUDE_CODE, CODEX, GEMINI, Hooks
from engine.connect.server import Server
from engine.model.errors import invalid

ENTRY = "memdeck"


class Reach(StrEnum):
    """Whether an entry counts everywhere for this user, or in one project for everybody who works in it."""

    USER = "user"
    PROJECT = "project"


@dataclass(frozen=True)
class Places:
    """Where settings are looked for: the user's home, the project's folder and the environment."""

    home: Path
    project: Path
    env: Mapping[str, str]

    @classmethod
    def here(cls, project: Path | None = None) -> Places:
        """Return the places of this process: its user's home, its folder unless another is named, its environment."""
        return cls(Path.home(), project or Path.cwd(), os.environ)

    def folder(self, variable: str, default: Path) -> Path:
        """Return the directory that a variable names, else the default."""
        named = self.env.get(variable, "").strip()
        return Path(named).expanduser().absolute() if named else default


Entry = dict[str, object]


@dataclass(frozen=True)
class Agent:
    """One agent.

    `files` returns the settings files of a reach, the preferred one first; `folder` is what the agent itself keeps in
    the home; `path` leads to our entry, and `write` and `read` translate between it and a command. `hooks` says how the
    agent calls us at its own events, None where it has no hooks, and `hook_file` in which file.
    """

    name: str
    title: str
    program: str
    dialect: Dialect
    path: tuple[str, ...]
    files: Callable[[Places, Reach], tuple[Path, ...]]
    folder: Callable[[Places], Path]
    write: Callable[[Server], Entry]
    read: Callable[[Mapping[str, object]], Server | None]
    hooks: Hooks | None = None
    hook_file: Callable[[Places, Reach], Path] | None = None

    def is_here(self, places: Places) -> bool:
        """Tell whether the agent was installed or used on this machine."""
        found = shutil.which(self.program, path=places.env.get("PATH", ""))
        try:
            return bool(found) or any(self.folder(places).iterdir())
        except OSError:
            return False


def _plain(server: Server) -> Entry:
    entry: Entry = {"command": server.command, "args": list(server.args)}
    return entry | ({"env": dict(server.env)} if server.env else {})


def _typed(server: Server) -> Entry:
    return {"type": "stdio", **_plain(server)}


def _listed(server: Server) -> Entry:
    entry: Entry = {"type": "local", "command": [server.command, *server.args], "enabled": True}
    return entry | ({"environment": dict(server.env)} if server.env else {})


def _read_plain(entry: Mapping[str, object]) -> Server | None:
    command = entry.get("command")
    return Server(command, _texts(entry.get("args")), _env(entry.get("env"))) if isinstance(command, str) else None


def _read_listed(entry: Mapping[str, object]) -> Server | None:
    words = _texts(entry.get("command"))
    return Server(words[0], words[1:], _env(entry.get("environment"))) if words else None


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(word) for word in value) if isinstance(value, list) else ()


def _env(value: object) -> Mapping[str, str]:
    return {str(k): str(v) for k, v in value.items()} if isinstance(value, Mapping) else {}


def _claude_home(places: Places) -> Path:
    return places.folder("CLAUDE_CONFIG_DIR", places.home / ".claude")


def _claude_files(places: Places, reach: Reach) -> tuple[Path, ...]:
    if reach is Reach.PROJECT:
        return (places.project / ".mcp.json",)
    return (places.folder("CLAUDE_CONFIG_DIR", places.home) / ".claude.json",)


def _claude_hooks(places: Places, reach: Reach) -> Path:
    return (places.project / ".claude" if reach is Reach.PROJECT else _claude_home(places)) / "settings.json"


def _codex_home(places: Places) -> Path:
    return places.folder("CODEX_HOME", places.home / ".codex")


def _codex_files(places: Places, reach: Reach) -> tuple[Path, ...]:
    return ((places.project / ".codex" if reach is Reach.PROJECT else _codex_home(places)) / "config.toml",)


def _codex_hooks(places: Places, reach: Reach) -> Path:
    return (places.project / ".codex" if reach is Reach.PROJECT else _codex_home(places)) / "hooks.json"


def _gemini_home(places: Places) -> Path:
    return places.home / ".gemini"


def _gemini_files(places: Places, reach: Reach) -> tuple[Path, ...]:
    return ((places.project / ".gemini" if reach is Reach.PROJECT else _gemini_home(places)) / "settings.json",)


def _gemini_hooks(places: Places, reach: Reach) -> Path:
    return _gemini_files(places, reach)[0]


def _opencode_home(places: Places) -> Path:
    return places.folder("XDG_CONFIG_HOME", places.home / ".config") / "opencode"


def _opencode_files(places: Places, reach: Reach) -> tuple[Path, ...]:
    folder = places.project if reach is Reach.PROJECT else _opencode_home(places)
    named = places.env.get("OPENCODE_CONFIG", "").strip()
    own = (Path(named).expanduser().absolute(),) if named and reach is Reach.USER else ()
    return (*own, folder / "opencode.json", folder / "opencode.jsonc")


AGENTS: dict[str, Agent] = {
    agent.name: agent
    for agent in (
        Agent(
            "claude-code", "Claude Code", "claude", Json(), ("mcpServers", ENTRY), _claude_files, _claude_home,
            _typed, _read_plain, CLAUDE_CODE, _claude_hooks,
        ),
        Agent(
            "codex", "Codex CLI", "codex", Toml(), ("mcp_servers", ENTRY), _codex_files, _codex_home,
            _plain, _read_plain, CODEX, _codex_hooks,
        ),
        Agent(
            "gemini", "Gemini CLI", "gemini", Json(comments=True), ("mcpServers", ENTRY), _gemini_files, _gemini_home,
            _plain, _read_plain, GEMINI, _gemini_hooks,
        ),
        Agent(
            "opencode", "opencode", "opencode", Json(comments=True), ("mcp", ENTRY), _opencode_files, _opencode_home,
            _listed, _read_listed,
        ),
    )
}  # fmt: skip
"""Every agent by its name, in the order in which a person sees them."""

ALIASES = {"claude": "claude-code", "codex-cli": "codex", "gemini-cli": "gemini", "open-code": "opencode"}


def agent_named(name: str) -> Agent:
    """Return an agent by its name or a usual other one, or raise `invalid_argument` that lists them."""
    wanted = name.strip().casefold()
    agent = AGENTS.get(ALIASES.get(wanted, wanted))
    if agent is None:
        raise invalid(f"{name[:60]!r} is no agent that memdeck knows", f"one of: {', '.join(AGENTS)}")
    return agent
