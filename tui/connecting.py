"""Connecting agents from the app: the very command of the shell in a process of its own, so that both do the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from engine.model.errors import MemdeckError
from tui.i18n import language

AGENTS = ("claude-code", "codex", "gemini", "opencode")
"""The agents whose settings `memdeck connect` knows."""

SECONDS = 60
"""How long the command may take: it starts the server once to prove the entry."""


def connect(store: Path, *arguments: str) -> str:
    """Return what `memdeck connect ARGUMENTS` prints; its refusal is raised as one line."""
    command = [sys.executable, "-m", "tui.cli", "--store", str(store), "--lang", language(), "--as-owner", "connect"]
    try:
        ended = subprocess.run(
            [*command, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MemdeckError("internal", f"memdeck connect did not answer: {type(error).__name__}", "") from None
    if ended.returncode:
        lines = ended.stderr.strip().splitlines() or [f"memdeck connect ended with {ended.returncode}"]
        raise MemdeckError("internal", lines[0], lines[1].strip() if len(lines) > 1 else "")
    return "\n".join(part for part in (ended.stdout.strip(), ended.stderr.strip()) if part)
