"""Checks of a store: SQLite's own, row checksums, invariants of the history, the search index, the files."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from engine.model.records import Finding
from engine.store import postings
from engine.store.rows import checksum, index_entry, text_hash
from engine.store.schema import JOURNALLED, VERSIONS
from engine.store.snapshots import list_snapshots, verify_snapshot

if TYPE_CHECKING:
    from engine.store.connection import Store

_SHOWN = 3


def check_store(store: Store, *, deep: bool = True) -> list[Finding]:
    """Return what is wrong, or one `ok` line per check; `deep` reads every row and every text."""
    found: list[Finding] = []
    with store.read() as conn:
        answer = conn.execute("PRAGMA quick_check(5)" if not deep else "PRAGMA integrity_check(5)").fetchall()
        problems = [r[0] for r in answer if r[0] != "ok"]
        found += _verdict("database", problems, "restore the newest good snapshot: `memdeck snapshot restore NAME`")
        found += _verdict(
            "history", list(_history_problems(conn)), "restore a snapshot, and report this as a fault of memdeck"
        )
        if deep:
            found += _verdict("rows", list(_row_problems(conn)), "restore a snapshot that was made before")
        found += _verdict("index", postings.check(conn), "rebuild it: `memdeck doctor --reindex`")
        row = conn.execute("SELECT value FROM cursors WHERE name = 'wipe_pending'").fetchone()
        if row and row[0] == "true":
            found.append(
                Finding(
                    "warning",
                    "expunge",
                    "an erasure waits for a reader to finish",
                    "close other memdeck windows, then `memdeck doctor --fix`",
                )
            )
    found += _file_findings(store)
    found += _snapshot_findings(store, deep)
    return found


def _verdict(check: str, problems: list[str], mend: str) -> list[Finding]:
    if not problems:
        return [Finding("ok", check, "in order")]
    more = f" (and {len(problems) - _SHOWN} more)" if len(problems) > _SHOWN else ""
    return [Finding("error", check, "; ".join(problems[:_SHOWN]) + more, mend)]


def _history_problems(conn: sqlite3.Connection) -> Iterator[str]:
    for table in JOURNALLED:
        bad = conn.execute(f"SELECT count(*) FROM {table.name} WHERE op_to IS NOT NULL AND op_to < op_from").fetchone()[
            0
        ]
        if bad:
            yield f"{table.name}: {bad} rows end before they begin"
        key = ", ".join(table.key)
        twice = conn.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM {table.name} WHERE op_to IS NULL GROUP BY {key} HAVING count(*) > 1)"
        ).fetchone()[0]
        if twice:
            yield f"{table.name}: {twice} objects have two current rows"
        newest = conn.execute(
            f"SELECT count(*) FROM {table.name} WHERE op_from > (SELECT coalesce(max(op), 0) FROM operations)"
        ).fetchone()[0]
        if newest:
            yield f"{table.name}: {newest} rows come from operations that are not there"
    for one, other in (("versions", "states"), ("states", "versions")):
        lonely = conn.execute(
            f"SELECT count(*) FROM {one} a WHERE a.op_to IS NULL AND NOT EXISTS"
            f" (SELECT 1 FROM {other} b WHERE b.memory_id = a.memory_id AND b.op_to IS NULL)"
        ).fetchone()[0]
        if lonely:
            yield f"{lonely} memories have {one} but no {other}"
    missing = conn.execute(
        "SELECT count(*) FROM versions v WHERE NOT EXISTS (SELECT 1 FROM texts t WHERE t.hash = v.description)"
        " OR NOT EXISTS (SELECT 1 FROM texts t WHERE t.hash = v.body)"
    ).fetchone()[0]
    if missing:
        yield f"{missing} versions have lost their text"


def _row_problems(conn: sqlite3.Connection) -> Iterator[str]:
    for row in conn.execute(f"SELECT {', '.join(VERSIONS.all_columns)} FROM versions"):
        values = dict(zip(VERSIONS.all_columns, row, strict=True))
        if checksum(values) != values["checksum"]:
            yield f"mem-{values['memory_id']}@{values['revision']} does not match its checksum"
    for digest, text in conn.execute("SELECT hash, text FROM texts"):
        if text_hash(text) != digest:
            yield f"a text does not match its hash ({digest.hex()[:12]})"


def _file_findings(store: Store) -> list[Finding]:
    mode = stat.S_IMODE(store.directory.stat().st_mode)
    if mode & 0o077:
        return [
            Finding(
                "warning",
                "permissions",
                f"others can open {store.directory} (mode {mode:o})",
                f"chmod 700 {store.directory}",
            )
        ]
    return [Finding("ok", "permissions", "only you can open the store")]


def _snapshot_findings(store: Store, deep: bool) -> list[Finding]:
    snapshots = list_snapshots(store)
    if not snapshots:
        return [Finding("hint", "snapshots", "there is no snapshot yet", "make one: `memdeck snapshot create`")]
    if not deep:
        return [Finding("ok", "snapshots", f"{len(snapshots)}, the newest is {snapshots[0].name}")]
    bad = [s.name for s in snapshots if not verify_snapshot(store, s.name).good]
    if bad:
        return [
            Finding(
                "warning", "snapshots", f"damaged: {', '.join(bad[:5])}", "make a new one: `memdeck snapshot create`"
            )
        ]
    return [Finding("ok", "snapshots", f"all {len(snapshots)} are good, the newest is {snapshots[0].name}")]


def rebuild_index(store: Store) -> int:
    """Fill the search index anew from all versions; returns how many. A reader sees the old or the new index."""
    with store.exclusive() as conn:
        conn.execute("BEGIN IMMEDIATE")
        try:
            vids = [r[0] for r in conn.execute("SELECT vid FROM versions ORDER BY vid")]
            postings.rebuild(conn, ((vid, index_entry(conn, vid)) for vid in vids))
            conn.execute("COMMIT")
        except BaseException:
            conn.execute("ROLLBACK")
            raise
    return len(vids)


def is_damaged(path: Path) -> str:
    """Return what is wrong with a database file that cannot be opened as a store; empty when it can be read."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as conn:
            answer = conn.execute("PRAGMA quick_check(1)").fetchone()[0]
            return "" if answer == "ok" else str(answer)
    except sqlite3.DatabaseError as error:
        return str(error)
