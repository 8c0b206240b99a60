"""The way back: putting a snapshot, or a whole export, in the place of the store (C40, C41, C43)."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing, nullcontext, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.model.enums import Origin
from engine.model.errors import MemdeckError
from engine.model.memory import Caller
from engine.store import mentions
from engine.store.audit import audit_path, last_op
from engine.store.erase import erase_memory
from engine.store.failures import read_uri, translated
from engine.store.journal import newest, operations
from engine.store.migrations import LATEST, schema_of, upgrade
from engine.store.snapshots import count_memories, folder, make_snapshot, sync_file, verify_snapshot

if TYPE_CHECKING:
    from engine.store.connection import Store


@dataclass(frozen=True)
class Restored:
    """What a restore did: the protection snapshot to go back with, the new epoch, and how many memories there are."""

    protection: str
    epoch: int
    memories: int


def restore_snapshot(store: Store, name: str, by: Caller) -> Restored:
    """Bring the store back to a snapshot, in place, under the lock, after a protection snapshot.

    Numbers, the fingerprint key, tombstones and the list of what was erased are carried over, so that nothing that
    was forgotten comes back and no number is used twice; the journal since the snapshot stays readable. Other
    processes see the new epoch. Raises internal when the snapshot is damaged; then nothing changes.
    """
    with store.exclusive():
        if not verify_snapshot(store, name).good:
            raise MemdeckError("internal", f"snapshot {name} is damaged", "choose another one: `memdeck snapshot list`")
        return replace_content(store, folder(store) / f"{name}.db", by, f"restoring {name}")


def replace_content(store: Store, source: Path, by: Caller, what: str) -> Restored:
    """Replace the live content by that of the database `source`, after a protection snapshot; holds the lock."""
    with store.exclusive() as live, translated(store.path):
        protection = make_snapshot(store, kind="protection", reason=f"before {what}")
        prepared = folder(store) / f".restore.{os.getpid()}.tmp"
        try:
            # The copy is completed beside the live file: a crash up to here leaves the live one untouched.
            with closing(_copy_of(source, prepared)) as new:
                carry_over(live, new, store.clock.now_ms(), what, by)
                epoch = int(new.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()[0])
                memories = count_memories(new)
                new.backup(live)
            live.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            remove_database(prepared)
    return Restored(protection.name, epoch, memories)


def recover_content(store: Store, name: str, aside: Path) -> None:
    """Put a good snapshot in the place of a damaged database, which is set aside as `aside`; holds the lock (C41).

    What can still be read of the damaged file is carried over as in a restore; otherwise only epoch and operation
    numbers go on.
    """
    with store.lock.held(), translated(store.path):
        if not verify_snapshot(store, name).good:
            raise MemdeckError("internal", f"snapshot {name} is damaged", "choose another one: `memdeck snapshot list`")
        fresh = folder(store) / f".recover.{os.getpid()}.tmp"
        try:
            by = Caller(Origin.SYSTEM, "recovery")
            with (
                closing(_copy_of(folder(store) / f"{name}.db", fresh)) as new,
                closing(_open_damaged(store.path)) as live,
            ):
                last = last_op(audit_path(store))
                carry_over(live, new, store.clock.now_ms(), f"recovery from {name}", by, damaged=True, last=last)
            sync_file(fresh)
            for suffix in ("-wal", "-shm", ""):
                side = Path(f"{store.path}{suffix}")
                if side.exists():
                    os.replace(side, f"{aside}{suffix}")
            os.replace(fresh, store.path)
            sync_file(store.directory)
        finally:
            remove_database(fresh)


def _open_damaged(path: Path) -> sqlite3.Connection:
    try:
        return sqlite3.connect(read_uri(path), uri=True)
    except sqlite3.Error:
        return sqlite3.connect(":memory:")


def _copy_of(source: Path, target: Path) -> sqlite3.Connection:
    """Copy a database to `target` and open it there, at the newest schema."""
    remove_database(target)
    new = sqlite3.connect(target, isolation_level=None)
    try:
        with closing(sqlite3.connect(read_uri(source, immutable=True), uri=True)) as old:
            old.backup(new)
        if schema_of(new) > LATEST:
            raise MemdeckError("newer_store", f"{source.name} was written by a newer memdeck", "update memdeck")
        upgrade(new)
    except BaseException:
        new.close()
        raise
    return new


def remove_database(path: Path) -> None:
    """Remove a database file with what SQLite may have left beside it."""
    for suffix in ("", "-journal", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def carry_over(
    live: sqlite3.Connection,
    new: sqlite3.Connection,
    now: int,
    what: str,
    by: Caller,
    *,
    damaged: bool = False,
    last: int = 0,
) -> None:
    """Complete `new`, which will take the place of `live`: numbers go on, and nothing forgotten comes back.

    Of a damaged `live` each table is taken that can still be read; `last` is an operation known from elsewhere.
    """
    tolerant = suppress(sqlite3.Error, TypeError, ValueError) if damaged else nullcontext()
    new.execute("BEGIN IMMEDIATE")
    epoch, since, same_store = int(str(_meta(new, "epoch"))), newest(new), damaged
    with tolerant:
        epoch = int(str(_meta(live, "epoch")))
        same_store = _meta(live, "fingerprint_key") == _meta(new, "fingerprint_key")
    with tolerant:
        last = max(last, newest(live), _sequence(live))
    op = max(last, _sequence(new)) + 1
    new.execute("UPDATE meta SET value = ? WHERE key = 'epoch'", (epoch + 1,))
    new.execute("DELETE FROM idempotency")
    new.execute(
        "INSERT INTO operations (op, at, kind, origin, actor, session, summary) VALUES (?, ?, 'restore', ?, ?, ?, ?)",
        (op, now, by.origin.value, by.actor, by.session, what),
    )
    with tolerant:
        _carry_counters(live, new)
    for table in ("past_journal", "erased", "blocked"):
        with tolerant:
            _carry_table(live, new, table)
    if same_store:
        with tolerant:
            _carry_tombstones(live, new, op)
    with tolerant:
        _keep_journal(live, new, epoch, since if same_store else 0, last)
    for (uid,) in new.execute("SELECT uid FROM erased").fetchall():
        row = new.execute("SELECT id FROM memories WHERE uid = ?", (uid,)).fetchone()
        if row:
            erase_memory(new, int(row[0]))
    mentions.rebuild(new)
    new.execute("UPDATE operations SET done = 1 WHERE op = ?", (op,))
    new.execute("COMMIT")


def _carry_counters(live: sqlite3.Connection, new: sqlite3.Connection) -> None:
    new.executemany(
        "INSERT INTO counters (name, value) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)",
        live.execute("SELECT name, value FROM counters").fetchall(),
    )


def _carry_table(live: sqlite3.Connection, new: sqlite3.Connection, table: str) -> None:
    rows = live.execute(f"SELECT * FROM {table}").fetchall()
    if rows:
        new.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)


def _meta(conn: sqlite3.Connection, key: str) -> object:
    return conn.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()[0]


def _sequence(conn: sqlite3.Connection) -> int:
    """Return the highest operation number that was ever given, also to one that is not there any more."""
    row = conn.execute("SELECT max(seq) FROM sqlite_sequence WHERE name = 'operations'").fetchone()
    return int(row[0] or 0)


def _keep_journal(live: sqlite3.Connection, new: sqlite3.Connection, epoch: int, since: int, last: int) -> None:
    """Keep the lines of operations that `new` does not know, readable under their epoch."""
    before = last + 1
    while batch := [o for o in operations(live, limit=1000, before=before) if o.op > since]:
        before = batch[-1].op
        new.executemany(
            "INSERT OR REPLACE INTO past_journal (epoch, op, record) VALUES (?, ?, ?)",
            [(epoch, o.op, json.dumps(asdict(o), ensure_ascii=False)) for o in batch],
        )


def _carry_tombstones(live: sqlite3.Connection, new: sqlite3.Connection, op: int) -> None:
    """Keep forgotten what was forgotten since: its tombstone, and the state of a memory that the snapshot revives."""
    rows = live.execute("SELECT fingerprint, memory_id, reason FROM tombstones WHERE op_to IS NULL").fetchall()
    for print_, memory_id, reason in rows:
        known = new.execute("SELECT 1 FROM tombstones WHERE fingerprint = ? AND op_to IS NULL", (print_,)).fetchone()
        if not known:
            new.execute(
                "INSERT INTO tombstones (op_from, fingerprint, memory_id, reason) VALUES (?, ?, ?, ?)",
                (op, print_, memory_id, reason),
            )
        revived = new.execute(
            "SELECT s.vid, s.memory_id, s.locked, m.uid FROM versions v JOIN memories m ON m.id = v.memory_id"
            " JOIN states s ON s.memory_id = v.memory_id AND s.op_to IS NULL"
            " WHERE v.fingerprint = ? AND v.op_to IS NULL AND s.state <> 'deleted'",
            (print_,),
        ).fetchall()
        for vid, revived_id, locked, uid in revived:
            if _stands(live, uid):
                continue
            new.execute("UPDATE states SET op_to = ? WHERE vid = ?", (op, vid))
            new.execute(
                "INSERT INTO states (op_from, memory_id, state, cause, target, locked) VALUES (?, ?, 'deleted',"
                " 'forgotten before the restore', NULL, ?)",
                (op, revived_id, locked),
            )


def _stands(live: sqlite3.Connection, uid: str) -> bool:
    """Tell whether a memory is not forgotten: the same words may stand in another scope, where nobody forgot them."""
    row = live.execute(
        "SELECT 1 FROM memories m JOIN states s ON s.memory_id = m.id AND s.op_to IS NULL"
        " WHERE m.uid = ? AND s.state <> 'deleted'",
        (uid,),
    ).fetchone()
    return row is not None
