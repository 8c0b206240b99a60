"""The audit log: one JSON line per operation, exported from the journal by a cursor, rotated by size (C39)."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from engine.store.failures import translated
from engine.store.journal import audit_line, operations

if TYPE_CHECKING:
    from engine.store.connection import Store

MAX_BYTES = 5_000_000
KEEP = 4
BATCH = 500
_TAIL = 65_536
"""How much of the log's end is looked at; one line is far shorter."""


def audit_path(store: Store) -> Path:
    """Return where the audit log stands."""
    return store.directory / "audit.jsonl"


def export_audit(store: Store) -> int:
    """Append the operations that are not in the log yet; returns how many. The journal stays the truth.

    A line that was written before a crash could move the cursor is not written again.
    """
    if store.read_only:
        return 0
    path = audit_path(store)
    with store.exclusive() as conn, translated(path):
        row = conn.execute("SELECT value FROM cursors WHERE name = 'audit'").fetchone()
        written = last_op(path)
        # After a torn line the log itself says where to go on; the cursor may be ahead of it.
        cursor = int(row[0]) if row else 0
        done = written if _end_torn_line(path) and written else max(cursor, written)
        total = 0
        while True:
            newest = conn.execute(
                "SELECT max(op) FROM (SELECT op FROM operations WHERE op > ? ORDER BY op LIMIT ?)", (done, BATCH)
            ).fetchone()[0]
            if newest is None:
                break
            batch = [o for o in operations(conn, limit=BATCH, before=newest + 1) if o.op > done]
            lines = [audit_line(conn, o) for o in reversed(batch)]
            _append(path, lines)
            done, total = newest, total + len(lines)
        if done != cursor:
            conn.execute(
                "INSERT INTO cursors (name, value) VALUES ('audit', ?)"
                " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (str(done),),
            )
    return total


def _append(path: Path, lines: list[str]) -> None:
    data = "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
    if path.exists() and path.stat().st_size + len(data) > MAX_BYTES:
        for number in range(KEEP - 1, 0, -1):
            with suppress(FileNotFoundError):
                os.replace(path.with_suffix(f".{number}.jsonl"), path.with_suffix(f".{number + 1}.jsonl"))
        os.replace(path, path.with_suffix(".1.jsonl"))
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        with open(fd, "wb", closefd=False) as file:
            file.write(data)
    finally:
        os.close(fd)


def last_op(path: Path) -> int:
    """Return the operation of the log's last whole line, 0 when there is none."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL))
            lines = file.read().split(b"\n")[:-1]
    except FileNotFoundError:
        return 0
    for line in reversed(lines):
        with suppress(ValueError, KeyError, TypeError):
            return int(json.loads(line)["op"])
    return 0


def _end_torn_line(path: Path) -> bool:
    """Drop what a crash left of a line at the log's end; tells whether there was any."""
    try:
        with path.open("rb+") as file:
            size = file.seek(0, os.SEEK_END)
            start = max(0, size - _TAIL)
            file.seek(start)
            tail = file.read()
            if not tail or tail.endswith(b"\n"):
                return False
            file.truncate(start + tail.rfind(b"\n") + 1)
    except FileNotFoundError:
        return False
    return True
