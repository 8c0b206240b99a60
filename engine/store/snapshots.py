"""Snapshots: verified copies of the store, made before bulk work and once a day, and the way back (C40, R19)."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.model.clock import iso
from engine.model.errors import MemdeckError, not_found
from engine.model.memory import Caller
from engine.model.records import SnapshotInfo
from engine.store.erase import erase_memory
from engine.store.failures import translated
from engine.store.journal import operations

if TYPE_CHECKING:
    from engine.store.connection import Store

KINDS = ("automatic", "run", "protection")
KEEP = {"automatic": 5, "run": 5, "protection": 3}
DAY_MS = 86_400_000


@dataclass(frozen=True)
class Restored:
    """What a restore did: the protection snapshot to go back with, the new epoch, and how many memories there are."""

    protection: str
    epoch: int
    memories: int


def folder(store: Store) -> Path:
    """Return the directory of snapshots, made when missing."""
    path = store.directory / "snapshots"
    path.mkdir(mode=0o700, exist_ok=True)
    return path


def make_snapshot(store: Store, *, kind: str, reason: str = "", keep: int | None = None) -> SnapshotInfo:
    """Copy the store as it is at this moment, verify the copy, and put it in place by renaming.

    Older snapshots of the same kind beyond `keep` go, unless the store lost more than half of its memories since
    the newest of them: then the good ones stay. Raises disk_full, read_only or internal and leaves nothing behind.
    """
    now = store.clock.now_ms()
    target = folder(store)
    stem = f"{iso(now)[:19].replace(':', '').replace('-', '').replace('T', '-')}-{kind}"
    name, number = stem, 1
    while (target / f"{name}.db").exists() or (target / f"{name}.json").exists():
        number += 1
        name = f"{stem}-{number}"
    temporary = target / f".{name}.{os.getpid()}.tmp"
    try:
        with translated(store.path):
            _copy(store, temporary)
            problem = _problem(temporary)
            if problem:
                raise MemdeckError("internal", f"the store does not pass its check: {problem}", "run `memdeck doctor`")
            info = _describe(temporary, name, kind, now, reason)
            _sync_file(temporary)
            os.replace(temporary, target / f"{name}.db")
            manifest = target / f".{name}.json.tmp"
            manifest.write_text(json.dumps(asdict(info), ensure_ascii=False, indent=1), encoding="utf-8")
            _sync_file(manifest)
            os.replace(manifest, target / f"{name}.json")
            _sync_file(target)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    _prune(store, kind, KEEP[kind] if keep is None else keep)
    return info


def _copy(store: Store, temporary: Path) -> None:
    source = sqlite3.connect(f"file:{store.path}?mode=ro", uri=True)
    with closing(source), closing(sqlite3.connect(temporary)) as copy:
        os.chmod(temporary, 0o600)
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")


def _problem(path: Path) -> str:
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as conn:
        try:
            answer = conn.execute("PRAGMA quick_check(1)").fetchone()[0]
        except sqlite3.DatabaseError as error:
            return str(error)
        return "" if answer == "ok" else str(answer)


def _describe(path: Path, name: str, kind: str, at: int, reason: str) -> SnapshotInfo:
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as conn:
        memories = _count(conn)
        op = conn.execute("SELECT coalesce(max(op), 0) FROM operations").fetchone()[0]
    return SnapshotInfo(name, kind, at, path.stat().st_size, _sha256(path), memories, op, reason)


def _count(conn: sqlite3.Connection) -> int:
    row = conn.execute("SELECT count(*) FROM states WHERE op_to IS NULL AND state NOT IN ('deleted')").fetchone()
    return int(row[0])


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _sync_file(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def list_snapshots(store: Store) -> list[SnapshotInfo]:
    """Return all snapshots with a readable manifest, newest first; not verified (`good` is None)."""
    found = []
    for manifest in sorted((store.directory / "snapshots").glob("*.json"), reverse=True):
        with suppress(OSError, ValueError, TypeError):
            info = SnapshotInfo(**json.loads(manifest.read_text(encoding="utf-8")))
            if manifest.with_suffix(".db").exists():
                found.append(info)
    return sorted(found, key=lambda s: (s.at_ms, s.name), reverse=True)


def verify_snapshot(store: Store, name: str) -> SnapshotInfo:
    """Return a snapshot with `good` set: hash as in its manifest and SQLite's own check passed."""
    info = next((s for s in list_snapshots(store) if s.name == name), None)
    if info is None:
        raise not_found(f"snapshot {name!r}", "see `memdeck snapshot list`")
    path = folder(store) / f"{name}.db"
    with translated(path):
        good = _sha256(path) == info.sha256 and not _problem(path)
    return replace(info, good=good)


def _prune(store: Store, kind: str, keep: int) -> None:
    same = [s for s in list_snapshots(store) if s.kind == kind]
    if len(same) > 1 and same[0].memories * 2 < max(s.memories for s in same[1:]):
        return
    for old in same[keep:]:
        with suppress(OSError):
            (folder(store) / f"{old.name}.db").unlink()
            (folder(store) / f"{old.name}.json").unlink()


def daily_snapshot(store: Store, keep: int | None = None) -> SnapshotInfo | None:
    """Make the automatic snapshot of the day when something changed since the last; None when none was due."""
    newest = next((s for s in list_snapshots(store) if s.kind == "automatic"), None)
    if newest is not None:
        with store.read() as conn:
            op = conn.execute("SELECT coalesce(max(op), 0) FROM operations").fetchone()[0]
        if op == newest.op or store.clock.now_ms() - newest.at_ms < DAY_MS:
            return None
    return make_snapshot(store, kind="automatic", reason="daily", keep=keep)


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
            _copy_file(source, prepared)
            # The copy is completed beside the live file: a crash up to here leaves the live one untouched.
            with closing(sqlite3.connect(prepared, isolation_level=None)) as new:
                _carry_over(live, new, store.clock.now_ms(), what, by)
                epoch = int(new.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()[0])
                memories = _count(new)
                new.backup(live)
            live.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            for suffix in ("", "-journal", "-wal", "-shm"):
                Path(f"{prepared}{suffix}").unlink(missing_ok=True)
    return Restored(protection.name, epoch, memories)


def _copy_file(source: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    with (
        closing(sqlite3.connect(f"file:{source}?mode=ro&immutable=1", uri=True)) as old,
        closing(sqlite3.connect(target)) as new,
    ):
        old.backup(new)


def _carry_over(live: sqlite3.Connection, new: sqlite3.Connection, now: int, what: str, by: Caller) -> None:
    new.execute("BEGIN IMMEDIATE")
    epoch = int(live.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()[0])
    since = int(new.execute("SELECT coalesce(max(op), 0) FROM operations").fetchone()[0])
    last = int(live.execute("SELECT coalesce(max(op), 0) FROM operations").fetchone()[0])
    for table in ("past_journal", "erased", "blocked"):
        rows = live.execute(f"SELECT * FROM {table}").fetchall()
        if rows:
            new.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
    newer = [o for o in operations(live, limit=last - since + 1) if o.op > since]
    new.executemany(
        "INSERT OR REPLACE INTO past_journal (epoch, op, record) VALUES (?, ?, ?)",
        [(epoch, o.op, json.dumps(asdict(o), ensure_ascii=False)) for o in newer],
    )
    new.executemany(
        "INSERT INTO counters (name, value) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)",
        live.execute("SELECT name, value FROM counters").fetchall(),
    )
    new.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'operations'", (last,))
    key = live.execute("SELECT value FROM meta WHERE key = 'fingerprint_key'").fetchone()[0]
    same_store = key == new.execute("SELECT value FROM meta WHERE key = 'fingerprint_key'").fetchone()[0]
    new.execute("UPDATE meta SET value = ? WHERE key = 'epoch'", (epoch + 1,))
    new.execute("DELETE FROM idempotency")
    cursor = new.execute(
        "INSERT INTO operations (at, kind, origin, actor, session, summary) VALUES (?, 'restore', ?, ?, ?, ?)",
        (now, by.origin.value, by.actor, by.session, what),
    )
    if same_store:
        _carry_tombstones(live, new, int(cursor.lastrowid or 0))
    for (uid,) in live.execute("SELECT uid FROM erased").fetchall():
        row = new.execute("SELECT id FROM memories WHERE uid = ?", (uid,)).fetchone()
        if row:
            erase_memory(new, int(row[0]))
    new.execute("COMMIT")


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
            "SELECT s.vid, s.memory_id, s.locked FROM versions v JOIN states s ON s.memory_id = v.memory_id"
            " AND s.op_to IS NULL WHERE v.fingerprint = ? AND v.op_to IS NULL AND s.state <> 'deleted'",
            (print_,),
        ).fetchall()
        for vid, revived_id, locked in revived:
            new.execute("UPDATE states SET op_to = ? WHERE vid = ?", (op, vid))
            new.execute(
                "INSERT INTO states (op_from, memory_id, state, cause, target, locked) VALUES (?, ?, 'deleted',"
                " 'forgotten before the restore', NULL, ?)",
                (op, revived_id, locked),
            )


def _copy_in(store: Store, prepared: Path) -> None:
    with store.exclusive() as live, closing(sqlite3.connect(f"file:{prepared}?mode=ro", uri=True)) as source:
        source.backup(live)
        live.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.replace_writer()
