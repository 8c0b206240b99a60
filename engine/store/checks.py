"""Checks of a store: SQLite's own, row checksums, invariants of the history, the search index, the files."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.model.records import Finding
from engine.store import mentions, postings, tags
from engine.store.failures import is_refused_writing, read_uri
from engine.store.rows import checksum, damaged_texts, index_entry
from engine.store.schema import JOURNALLED, VERSIONS
from engine.store.snapshots import list_snapshots, verify_snapshot

if TYPE_CHECKING:
    from engine.store.connection import Store

RESTORE = "`memdeck snapshot restore NAME`"
_SHOWN = 3
_NEVER = 1 << 62


def check_store(store: Store, *, deep: bool = True) -> list[Finding]:
    """Return what is wrong, or one `ok` line per check; `deep` reads every row and every text."""
    checks: list[tuple[str, Callable[[sqlite3.Connection], Iterable[str]], str]] = [
        ("database", _database_problems if deep else _quick_problems, f"restore the newest good snapshot: {RESTORE}"),
        ("history", _history_problems, "restore a snapshot, and report this as a fault of memdeck"),
    ]
    if deep:
        checks.append(("rows", _row_problems, f"restore a snapshot that was made before: {RESTORE}"))
    checks.append(("index", postings.check, "rebuild it: `memdeck doctor --reindex`"))
    checks.append(("tags", tags.check_vocabulary, "restore a snapshot, and report this as a fault of memdeck"))
    checks.append(("graph", mentions.check, "count them anew: `memdeck doctor --reindex`"))
    with store.read() as conn:
        found = [_verdict(name, _problems(conn, check), mend) for name, check, mend in checks]
        found += _pending_erasure(conn)
    if any(f.level == "error" for f in found):
        found = _with_way_back(store, found)
    return [*found, _file_finding(store), _snapshot_finding(store, deep)]


def _with_way_back(store: Store, found: list[Finding]) -> list[Finding]:
    """Name the newest snapshot that is good where a finding says to restore one."""
    good = next((s.name for s in list_snapshots(store) if verify_snapshot(store, s.name).good), None)
    if good is None:
        return found
    return [replace(f, mend=f.mend.replace("NAME", good)) for f in found]


def _problems(conn: sqlite3.Connection, check: Callable[[sqlite3.Connection], Iterable[str]]) -> list[str]:
    """Return what a check finds; a file too damaged to be read is a finding like the others."""
    found: list[str] = []
    try:
        found.extend(check(conn))
    except (sqlite3.DatabaseError, ValueError, TypeError) as error:
        if isinstance(error, sqlite3.OperationalError) and "interrupted" in str(error):
            raise
        found.append(f"it cannot be read: {error}")
    return found


def _verdict(check: str, problems: list[str], mend: str) -> Finding:
    if not problems:
        return Finding("ok", check, "in order")
    more = f" (and {len(problems) - _SHOWN} more)" if len(problems) > _SHOWN else ""
    return Finding("error", check, "; ".join(problems[:_SHOWN]) + more, mend)


def _database_problems(conn: sqlite3.Connection) -> Iterator[str]:
    yield from (r[0] for r in conn.execute("PRAGMA integrity_check(5)") if r[0] != "ok")


def _quick_problems(conn: sqlite3.Connection) -> Iterator[str]:
    yield from (r[0] for r in conn.execute("PRAGMA quick_check(5)") if r[0] != "ok")


def _pending_erasure(conn: sqlite3.Connection) -> list[Finding]:
    row = conn.execute("SELECT value FROM cursors WHERE name = 'wipe_pending'").fetchone()
    if not row or row[0] != "true":
        return []
    mend = "close other memdeck windows, then `memdeck doctor --fix`"
    return [Finding("warning", "expunge", "an erasure waits for a reader to finish", mend)]


def _history_problems(conn: sqlite3.Connection) -> Iterator[str]:
    for table in JOURNALLED:
        key = ", ".join(table.key)
        newest = "(SELECT coalesce(max(op), 0) FROM operations)"
        for problem, rows in (
            ("rows end before they begin", f"FROM {table.name} WHERE op_to < op_from"),
            (
                "rows begin before the one before them ended",
                f"FROM (SELECT op_from, lag(coalesce(op_to, {_NEVER})) OVER (PARTITION BY {key} ORDER BY vid) AS ended"
                f" FROM {table.name}) WHERE ended > op_from",
            ),
            ("rows come from operations that are not there", f"FROM {table.name} WHERE op_from > {newest}"),
        ):
            count = conn.execute(f"SELECT count(*) {rows}").fetchone()[0]
            if count:
                yield f"{table.name}: {count} {problem}"
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
    silent = conn.execute(
        "SELECT count(*) FROM events e WHERE (e.input IS NOT NULL AND NOT EXISTS (SELECT 1 FROM texts t"
        " WHERE t.hash = e.input)) OR (e.response IS NOT NULL AND NOT EXISTS (SELECT 1 FROM texts t"
        " WHERE t.hash = e.response))"
    ).fetchone()[0]
    if silent:
        yield f"{silent} events have lost their text"
    nobody = conn.execute(
        "SELECT count(*) FROM facts f WHERE f.op_to IS NULL AND (SELECT count(*) FROM entities e WHERE e.op_to IS NULL"
        " AND e.entity_id IN (f.subject_id, f.object_id)) < 1 + coalesce(f.object_id <> f.subject_id, 0)"
    ).fetchone()[0]
    if nobody:
        yield f"{nobody} facts speak of entities that are not there"


def _row_problems(conn: sqlite3.Connection) -> Iterator[str]:
    for row in conn.execute(f"SELECT {', '.join(VERSIONS.all_columns)} FROM versions"):
        values = dict(zip(VERSIONS.all_columns, row, strict=True))
        if checksum(values) != values["checksum"]:
            yield f"mem-{values['memory_id']}@{values['revision']} does not match its checksum"
    for digest in damaged_texts(conn):
        named = conn.execute(
            "SELECT DISTINCT memory_id, revision FROM versions WHERE description = ? OR body = ?", (digest, digest)
        ).fetchall()
        which = ", ".join(f"mem-{number}@{revision}" for number, revision in named[:5]) or digest.hex()[:12]
        yield f"a text of {which} does not match its hash"


def _file_finding(store: Store) -> Finding:
    mode = stat.S_IMODE(store.directory.stat().st_mode)
    if mode & 0o077:
        problem = f"others can open {store.directory} (mode {mode:o})"
        return Finding("warning", "permissions", problem, f"chmod 700 {store.directory}")
    return Finding("ok", "permissions", "only you can open the store")


def _snapshot_finding(store: Store, deep: bool) -> Finding:
    make = "`memdeck snapshot create`"
    snapshots = list_snapshots(store)
    if not snapshots:
        return Finding("hint", "snapshots", "there is no snapshot yet", f"make one: {make}")
    if not deep:
        return Finding("ok", "snapshots", f"{len(snapshots)}, the newest is {snapshots[0].name}")
    bad = [s.name for s in snapshots if not verify_snapshot(store, s.name).good]
    if bad:
        return Finding("warning", "snapshots", f"damaged: {', '.join(bad[:5])}", f"make a new one: {make}")
    return Finding("ok", "snapshots", f"all {len(snapshots)} are good, the newest is {snapshots[0].name}")


def rebuild_index(store: Store) -> int:
    """Fill the search index anew from all versions; returns how many. A reader sees the old or the new index."""
    with store.exclusive() as conn:
        conn.execute("BEGIN IMMEDIATE")
        vids = [r[0] for r in conn.execute("SELECT vid FROM versions ORDER BY vid")]
        postings.rebuild(conn, ((vid, index_entry(conn, vid)) for vid in vids))
        mentions.rebuild(conn)
        tags.rebuild_names(conn)
        conn.execute("COMMIT")
    return len(vids)


def is_damaged(path: Path) -> str:
    """Return what is wrong with a database file that cannot be opened as a store; empty when it can be read.

    A file that only cannot be written is read as it stands, as a reader does. Without its log it would be judged
    unfairly: that the log cannot be read in is what opening the store says.
    """
    try:
        return _quick_answer(path, immutable=False)
    except sqlite3.DatabaseError as error:
        if not is_refused_writing(error):
            return str(error)
    wal = Path(f"{path}-wal")
    if wal.exists() and wal.stat().st_size:
        return ""
    try:
        return _quick_answer(path, immutable=True)
    except sqlite3.DatabaseError as error:
        return str(error)


def _quick_answer(path: Path, *, immutable: bool) -> str:
    with closing(sqlite3.connect(read_uri(path, immutable=immutable), uri=True)) as conn:
        answer = conn.execute("PRAGMA quick_check(1)").fetchone()[0]
    return "" if answer == "ok" else str(answer)
