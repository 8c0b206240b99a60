"""Where memories of other tools lie on this machine: offered for import, never read unasked."""

from __future__ import annotations

from pathlib import Path

_PLACES = (".claude/projects/*/memory", ".claude/memory", ".codex/memories", ".codex/memory", ".gemini/memory")
"""Directories below the home directory in which agents keep Markdown memories."""


def memory_places(home: Path | None = None) -> list[Path]:
    """Return the directories that exist and hold at least one Markdown file, at most 50."""
    home = home or Path.home()
    found: list[Path] = []
    for pattern in _PLACES:
        try:
            found += [path for path in sorted(home.glob(pattern)) if path.is_dir() and any(path.glob("*.md"))]
        except OSError:
            continue
    return found[:50]
