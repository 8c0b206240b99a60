"""Memories that other tools keep on this machine and that can be imported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.connect.agents import AGENTS, Places

INDEX = "memory.md"


@dataclass(frozen=True)
class FoundMemories:
    """A directory of memories: whose, of which project ("" = all), how many files, and the newest change (UTC ms)."""

    agent: str
    title: str
    path: Path
    project: str
    files: int
    newest_ms: int


def found_memories(places: Places) -> list[FoundMemories]:
    """Return the memories of Claude Code and Codex on this machine, the largest first; what cannot be read is none."""
    found = [*_claude(places), *_codex(places)]
    return sorted(found, key=lambda one: (-one.files, str(one.path)))


def _claude(places: Places) -> Iterator[FoundMemories]:
    home = AGENTS["claude-code"].folder(places)
    for folder in _entries(home / "projects"):
        yield from _look("claude-code", folder / "memory", folder.name)
    named = _named_directory(home / "settings.json")
    if named:
        yield from _look("claude-code", named, "")


def _named_directory(settings: Path) -> Path | None:
    """Return the directory that Claude Code's settings name for its memories, when they do."""
    try:
        value = json.loads(settings.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    named = value.get("autoMemoryDirectory") if isinstance(value, dict) else None
    return Path(named).expanduser() if isinstance(named, str) and named.startswith(("/", "~/")) else None


def _codex(places: Places) -> Iterator[FoundMemories]:
    yield from _look("codex", AGENTS["codex"].folder(places) / "memories", "")


def _look(agent: str, folder: Path, project: str) -> Iterator[FoundMemories]:
    changed = []
    try:
        for path in folder.rglob("*.md"):
            if path.is_file():
                changed.append((path.name.lower() == INDEX, int(path.stat().st_mtime * 1000)))
    except OSError:
        return
    # An index lists the other files; alone it is the memory itself.
    files = sum(not is_index for is_index, _ in changed) or len(changed)
    if files:
        yield FoundMemories(agent, AGENTS[agent].title, folder, project, files, max(when for _, when in changed))


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:
        return []
