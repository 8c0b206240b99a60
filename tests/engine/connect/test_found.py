"""Memories of other tools on this machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.connect import Places, found_memories


def write(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("# a memory\n", encoding="utf-8")


def test_nothing_is_found_on_an_empty_machine(places: Places) -> None:
    assert found_memories(places) == []


def test_memories_are_counted_without_their_index(places: Places) -> None:
    projects = places.home / ".claude" / "projects"
    write(projects / "-home-ren-press" / "memory", "MEMORY.md", "paper.md", "archive/ink.md", "notes.txt")
    write(projects / "-home-ren-花园" / "memory", "MEMORY.md")
    write(projects / "-home-ren-empty", "session.jsonl")
    (projects / "-home-ren-bare" / "memory").mkdir(parents=True)
    write(places.home / ".codex" / "memories", "MEMORY.md", "memory_summary.md")
    found = found_memories(places)
    assert [(f.agent, f.project, f.files) for f in found] == [
        ("claude-code", "-home-ren-press", 2),
        ("claude-code", "-home-ren-花园", 1),
        ("codex", "", 1),
    ]
    assert all(f.newest_ms > 1_600_000_000_000 for f in found)


def test_the_named_homes_and_the_named_directory_are_looked_at(places: Places, tmp_path: Path) -> None:
    home, own = tmp_path / "claude", tmp_path / "own"
    write(home / "projects" / "p" / "memory", "a.md")
    write(own, "b.md", "c.md")
    (home / "settings.json").write_text(json.dumps({"autoMemoryDirectory": str(own)}), encoding="utf-8")
    found = found_memories(Places(places.home, places.project, {"CLAUDE_CONFIG_DIR": str(home)}))
    assert [(f.path, f.files) for f in found] == [(own, 2), (home / "projects" / "p" / "memory", 1)]


@pytest.mark.parametrize("settings", ["{", "[]", '{"autoMemoryDirectory": 7}', "[" * 100_000])
def test_settings_that_say_nothing_useful_are_passed_over(places: Places, settings: str) -> None:
    (places.home / ".claude").mkdir()
    (places.home / ".claude" / "settings.json").write_text(settings, encoding="utf-8")
    assert found_memories(places) == []
