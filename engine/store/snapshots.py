"""Snapshots: verified copies of the store, made before bulk work and once a day (C40, R19)."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import asdict, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from engine.model.clock import iso
from engine.model.errors import MemdeckError, not_found
from engine.model.ids import new_uid
from engine.model.records import SnapshotInfo
from engine.store.failures import read_uri, translated
from engine.store.rows import damaged_texts

if TYPE_CHECKING:
    from engine.store.connection import Store

KINDS = ("automatic", "run", "protection", "manual")
KEEP = {"automatic": 5, "run": 5, "protection": 3}
DAY_MS = 86_400_000


def folder(store: Store) -> Path:
    """Return the directory of snapshots, made when missing."""
    path = store.directory / "snapshots"
    path.mkdir(mode=0o700, exist_ok=True)
    return path


def make_snapshot(store: Store, *, kind: str, reason: str = "", keep: int | None = None) -> SnapshotInfo:
    """Copy the store as it is at this moment, verify the copy, and put it in place by renaming.

    A copy with damaged texts is kept, but is not good, and pushes no older one out. Older snapshots of the same kind
    beyond `keep` go, but none that was made by hand; when the store lost more than half of its memories, as many of
    the full ones stay beside the new ones. Raises disk_full, read_only or internal and leaves nothing behind.
    """
    now = store.clock.now_ms()
    with translated(store.path):
        target = folder(store)
        _sweep(target)
        temporary = target / f".{new_uid()}.{os.getpid()}.tmp"
        try:
            _copy(store, temporary)
            problem = _problem(temporary)
            if problem:
                raise MemdeckError("internal", f"the store does not pass its check: {problem}", "run `memdeck doctor`")
            name = _reserve(target, now, kind)
            try:
                info = _describe(temporary, name, kind, now, reason)
                sync_file(temporary)
                os.replace(temporary, target / f"{name}.db")
                _write_manifest(target, info)
            except BaseException:
                (target / f"{name}.db").unlink(missing_ok=True)
                raise
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
    if kind != "manual" and _is_whole(target / f"{name}.db"):
        _prune(store, kind, KEEP[kind] if keep is None else keep)
    return info


def _reserve(target: Path, now: int, kind: str) -> str:
    """Return a name that nobody else has, by making its file; two processes may come at the same second."""
    stem = f"{iso(now)[:19].replace(':', '').replace('-', '').replace('T', '-')}-{kind}"
    for number in count(1):
        name = stem if number == 1 else f"{stem}-{number}"
        if (target / f"{name}.json").exists():
            continue
        with suppress(FileExistsError):
            os.close(os.open(target / f"{name}.db", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            return name
    raise AssertionError("count never ends")


def _write_manifest(target: Path, info: SnapshotInfo) -> None:
    """Write what a snapshot is, with a serial number that orders snapshots whatever the clock did."""
    serial = 1 + max((s for s, _ in _manifests(target)), default=0)
    temporary = target / f".{info.name}.{os.getpid()}.json.tmp"
    temporary.write_text(json.dumps({**asdict(info), "serial": serial}, ensure_ascii=False, indent=1), "utf-8")
    sync_file(temporary)
    os.replace(temporary, target / f"{info.name}.json")
    sync_file(target)


def _manifests(target: Path) -> Iterator[tuple[int, SnapshotInfo]]:
    for manifest in target.glob("*.json"):
        with suppress(OSError, ValueError, TypeError, AttributeError):
            record = json.loads(manifest.read_text(encoding="utf-8"))
            serial = int(record.pop("serial", 0))
            info = SnapshotInfo(**record)
            if manifest.stem == info.name and manifest.with_suffix(".db").exists():
                yield serial, info


def _sweep(target: Path) -> None:
    """Remove what processes that were killed left behind: unfinished copies, and halves of a pair after an hour."""
    for path in target.glob(".*.tmp*"):
        pid = path.name.split(".tmp")[0].removesuffix(".json").rpartition(".")[2]
        if not (pid.isdigit() and _is_running(int(pid))):
            path.unlink(missing_ok=True)
    long_ago = time.time() - 3600
    for path in target.glob("*.db"):
        if not path.with_suffix(".json").exists() and path.stat().st_mtime < long_ago:
            path.unlink(missing_ok=True)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _copy(store: Store, temporary: Path) -> None:
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    with (
        closing(sqlite3.connect(read_uri(store.path), uri=True)) as source,
        closing(sqlite3.connect(temporary)) as copy,
    ):
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")


def _problem(path: Path) -> str:
    try:
        with closing(sqlite3.connect(read_uri(path, immutable=True), uri=True)) as conn:
            answer = conn.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.DatabaseError as error:
        return str(error)
    return "" if answer == "ok" else str(answer)


def _is_whole(path: Path) -> bool:
    """Tell whether every text of a copy matches its hash: a copy of a damaged store is no way back."""
    with closing(sqlite3.connect(read_uri(path, immutable=True), uri=True)) as conn:
        return next(damaged_texts(conn), None) is None


def _describe(path: Path, name: str, kind: str, at: int, reason: str) -> SnapshotInfo:
    with closing(sqlite3.connect(read_uri(path, immutable=True), uri=True)) as conn:
        memories = count_memories(conn)
        op = conn.execute("SELECT coalesce(max(op), 0) FROM operations").fetchone()[0]
    return SnapshotInfo(name, kind, at, path.stat().st_size, _sha256(path), memories, op, reason)


def count_memories(conn: sqlite3.Connection) -> int:
    """Return how many memories a database holds that are not forgotten."""
    row = conn.execute("SELECT count(*) FROM states WHERE op_to IS NULL AND state NOT IN ('deleted')").fetchone()
    return int(row[0])


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def sync_file(path: Path) -> None:
    """Wait until a file, or a directory's list of names, is on disk."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def list_snapshots(store: Store) -> list[SnapshotInfo]:
    """Return all snapshots with a readable manifest, the newest first; not verified (`good` is None)."""
    found = _manifests(store.directory / "snapshots")
    return [info for _, info in sorted(found, key=lambda pair: (pair[0], pair[1].at_ms, pair[1].name), reverse=True)]


def delete_snapshot(store: Store, name: str) -> SnapshotInfo:
    """Remove a snapshot for good and return what it was."""
    info = _named(store, name)
    target = folder(store)
    with translated(target):
        (target / f"{name}.db").unlink(missing_ok=True)
        (target / f"{name}.json").unlink(missing_ok=True)
        sync_file(target)
    return info


def _named(store: Store, name: str) -> SnapshotInfo:
    info = next((s for s in list_snapshots(store) if s.name == name), None)
    if info is None:
        raise not_found(f"snapshot {name!r}", "see `memdeck snapshot list`")
    return info


def verify_snapshot(store: Store, name: str) -> SnapshotInfo:
    """Return a snapshot with `good` set: hash as in its manifest, SQLite's own check passed, every text whole."""
    info = _named(store, name)
    path = folder(store) / f"{name}.db"
    with translated(path):
        good = _sha256(path) == info.sha256 and not _problem(path) and _is_whole(path)
    return replace(info, good=good)


def _prune(store: Store, kind: str, keep: int) -> None:
    """Remove the oldest of a kind beyond `keep`, counting full ones apart when the newest holds less than half."""
    same = [s for s in list_snapshots(store) if s.kind == kind]
    full = [s for s in same if s.memories > 2 * same[0].memories]
    rest = [s for s in same if s not in full]
    for old in full[keep:] + rest[keep:]:
        with suppress(OSError):
            (folder(store) / f"{old.name}.db").unlink()
            (folder(store) / f"{old.name}.json").unlink()


def daily_snapshot(store: Store, keep: int | None = None) -> SnapshotInfo | None:
    """Make the automatic snapshot of the day when something changed since the last; None when none was due."""
    newest = next((s for s in list_snapshots(store) if s.kind == "automatic"), None)
    if newest is not None:
        with store.read() as conn:
            op = conn.execute("SELECT coalesce(max(op), 0) FROM operations").fetchone()[0]
        # A clock that went back makes one due rather than none until it has caught up.
        if op == newest.op or 0 <= store.clock.now_ms() - newest.at_ms < DAY_MS:
            return None
    return make_snapshot(store, kind="automatic", reason="daily", keep=keep)


def holding(store: Store, uid: str) -> tuple[str, ...]:
    """Return the snapshots that hold a memory, by its uid; one that cannot be read may."""
    return tuple(s.name for s in list_snapshots(store) if _holds(store.directory / "snapshots" / f"{s.name}.db", uid))


def _holds(path: Path, uid: str) -> bool:
    try:
        with closing(sqlite3.connect(read_uri(path, immutable=True), uri=True)) as conn:
            return conn.execute("SELECT 1 FROM memories WHERE uid = ?", (uid,)).fetchone() is not None
    except sqlite3.DatabaseError:
        return True
