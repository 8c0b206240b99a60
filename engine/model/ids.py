"""References to memories as people and agents write them: `mem-7`, `mem-7@3` (R22)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.model.errors import invalid

PROOF_SESSION = "memdeck-proof"
"""The session of a sample event that proves a hook; nothing is counted of it."""

_REF = re.compile(r"(?:mem-)?(\d{1,15})(?:@(\d{1,9}))?", re.ASCII)


@dataclass(frozen=True)
class Ref:
    """A memory's number and, where given, the revision that the caller read."""

    id: int
    revision: int | None = None


def parse_ref(text: str) -> Ref | None:
    """Read `mem-7`, `mem-7@3` or `7`; None when the text has another form (it may be a name)."""
    found = _REF.fullmatch(text.strip())
    if not found:
        return None
    return Ref(int(found[1]), int(found[2]) if found[2] else None)


def require_ref(text: str) -> Ref:
    """Read a reference or raise `invalid_argument` with the accepted form."""
    ref = parse_ref(text)
    if ref is None:
        raise invalid(f"{text[:80]!r} is no memory reference", "write it as mem-7 or mem-7@3")
    return ref


def workspace_names(workspace: str | None) -> tuple[str, ...]:
    """Return the names under which memories of a workspace may stand: its path, and the folder that hosts make of it.

    Claude Code keeps the memories of `/home/ren/notes` in `projects/-home-ren-notes`; imported ones carry that name.
    """
    return () if workspace is None else (workspace, re.sub(r"[^A-Za-z0-9]", "-", workspace))


def new_uid() -> str:
    """Return a fresh identity for sync: 32 hexadecimal digits."""
    import uuid  # slow to load, and a process that only reads makes none

    return uuid.uuid4().hex
