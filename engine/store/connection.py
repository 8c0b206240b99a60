"""Opening the store: one writing connection under the lock, reading connections per thread."""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Self

from engine.model.clock import Clock, SystemClock
from engine.model.errors import MemdeckError
from engine.model.memory import Caller
from engine.rules.decay import longevity
from engine.store.failures import is_refused_writing, read_uri, translated
from engine.store.locking import WriteLock
from engine.store.migrations import LATEST, migrate, schema_of
from engine.store.schema import APPLICATION_ID
from engine.store.transaction import Tx

DATABASE = "memory.db"
Place = tuple[int, int]
"""Device and inode: which file stands at a path."""


class Store:
    """One profile's directory, open. Threads share it; every reading thread gets a connection of its own.

    When somebody puts another database in the place of this one, the next read or write opens that one.
    """

    def __init__(self, directory: Path, *, clock: Clock | None = None, read_only: bool = False) -> None:
        self.directory = directory
        self.path = directory / DATABASE
        self.clock = clock or SystemClock()
        self.lock = WriteLock(directory / f"{DATABASE}.lock")
        self.read_only = read_only
        self._immutable = False
        self._local = threading.local()
        self._readers: weakref.WeakSet[_Reader] = weakref.WeakSet()
        self._readers_guard = threading.Lock()
        self._writer: sqlite3.Connection | None = None
        self.wrote = False
        """True once the lock was taken for a write."""
        self._written: Place | None = None
        self._closed = False

    @classmethod
    def open(cls, directory: Path, *, clock: Clock | None = None, read_only: bool = False) -> Self:
        """Open or create the store in `directory`; ten first starts at once work.

        A directory that cannot be written is opened for reading. Raises newer_store, read_only, busy or internal
        (a damaged file; nothing is touched then).
        """
        store = cls(directory, clock=clock, read_only=read_only)
        with translated(store.path):
            if not read_only:
                store._prepare_for_writing()
            if store.read_only:
                store._prepare_for_reading()
        return store

    def _prepare_for_writing(self) -> None:
        # Opening a store that is in order waits for nobody: readers get on while a stopped process holds the lock.
        if self._is_in_order():
            return
        try:
            self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self.lock.held():
                self.replace_writer()
        except (PermissionError, NotADirectoryError, FileExistsError) as error:
            if not self.path.exists():
                raise MemdeckError(
                    "read_only",
                    f"no store can be made in {self.directory}",
                    "choose a directory that you can write to: --store DIR",
                ) from error
            self.read_only = True
        except OSError as error:
            if error.errno != errno.EROFS or not self.path.exists():
                raise
            self.read_only = True
        except sqlite3.OperationalError as error:
            if not is_refused_writing(error) or not self.path.exists():
                raise
            self._drop_writer()
            self.read_only = True

    def _is_in_order(self) -> bool:
        """Tell whether the store is there, of the newest schema, and can be written when the first write comes.

        Anything else, a store that another first start is making at this moment included, is looked at under the lock.
        """
        if not (os.access(self.path, os.W_OK) and os.access(self.directory, os.W_OK | os.X_OK)):
            return False
        try:
            with closing(self._connect_reader()) as conn:
                conn.execute("BEGIN")
                return _is_store(conn, self.path) and schema_of(conn) == LATEST
        except (sqlite3.Error, MemdeckError):
            return False

    def _prepare_for_reading(self) -> None:
        if not self.path.exists():
            raise MemdeckError("not_found", f"there is no store in {self.directory}", "check --store or --profile")
        try:
            version = self._version_to_read()
        except sqlite3.OperationalError as error:
            if not is_refused_writing(error):
                raise
            wal = Path(f"{self.path}-wal")
            if wal.exists() and wal.stat().st_size:
                raise MemdeckError(
                    "read_only",
                    f"{self.path} was not closed and cannot be brought in order here",
                    "open the store once where it can be written",
                ) from error
            self._immutable = True
            version = self._version_to_read()
        if version > LATEST:
            raise _newer(version)
        if version < LATEST:
            raise MemdeckError(
                "read_only", "the store must be brought up to date first", "open it once where it can be written"
            )

    def _version_to_read(self) -> int:
        with closing(self._connect_reader()) as conn:
            conn.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return int(conn.execute("PRAGMA user_version").fetchone()[0])

    def _connect_writer(self) -> sqlite3.Connection:
        conn = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=5)
        try:
            if not _is_store(conn, self.path):
                os.chmod(self.path, 0o600)
            conn.execute("PRAGMA journal_mode = WAL")
            conn.execute("PRAGMA synchronous = FULL")
            conn.execute("PRAGMA wal_autocheckpoint = 1000")
            conn.execute("PRAGMA cache_size = -16000")
            conn.execute("PRAGMA temp_store = MEMORY")
        except BaseException:
            conn.close()
            raise
        return conn

    def _connect_reader(self) -> sqlite3.Connection:
        uri = read_uri(self.path, immutable=self._immutable)
        conn = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=5)
        conn.execute("PRAGMA query_only = ON")
        conn.execute("PRAGMA cache_size = -8000")
        conn.execute("PRAGMA temp_store = MEMORY")
        conn.create_function("longevity", 1, longevity, deterministic=True)
        return conn

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection that sees one moment of the store for the whole block; blocks may nest."""
        with translated(self.path):
            reader: _Reader | None = getattr(self._local, "reader", None)
            if reader is not None and reader.nested:
                yield reader.conn
                return
            reader = self._reader(reader)
            with reader.in_use:
                self._require_open()
                reader.conn.execute("BEGIN")
                reader.nested = True
                try:
                    yield reader.conn
                finally:
                    reader.nested = False
                    with suppress(sqlite3.Error):
                        reader.conn.execute("ROLLBACK")
                    if self._closed:
                        reader.conn.close()

    def _reader(self, reader: _Reader | None) -> _Reader:
        """Return this thread's reader, on the file that stands at the path now."""
        self._require_open()
        place = self._place()
        if reader is not None and reader.place == place:
            return reader
        self._local.reader = reader = _Reader(self._connect_reader(), place)
        with self._readers_guard:
            self._readers.add(reader)
        return reader

    @contextmanager
    def write(
        self, by: Caller, kind: str, *, reason: str = "", source: str = "", run: str | None = None, summary: str = ""
    ) -> Iterator[Tx]:
        """Run one operation: lock, BEGIN IMMEDIATE, the block, commit to disk. Any error leaves the store as it was."""
        with self.exclusive() as conn:
            conn.execute("BEGIN IMMEDIATE")
            tx = Tx.begin(conn, self.clock.now_ms(), by, kind, reason=reason, source=source, run=run, summary=summary)
            yield tx
            tx.finish()
            conn.execute("COMMIT")

    @contextmanager
    def exclusive(self) -> Iterator[sqlite3.Connection]:
        """Yield the writing connection under the lock, for control and ephemeral tables and for care of the file.

        A transaction that the block left open, because of an error, is rolled back.
        """
        self._require_open()
        if self.read_only:
            raise MemdeckError(
                "read_only", f"{self.directory} is open for reading only", "make it writable or use --store DIR"
            )
        with translated(self.path), self.lock.held():
            self._require_open()
            if self._written != self._place() or self._writer is None:
                self.replace_writer()
            conn = self._writer
            assert conn is not None
            self.wrote = True
            nested = conn.in_transaction
            try:
                yield conn
            finally:
                if conn.in_transaction and not nested:
                    with suppress(sqlite3.Error):
                        conn.execute("ROLLBACK")

    def _require_open(self) -> None:
        if self._closed:
            raise MemdeckError("internal", "the store is closed", "open it again")

    def _place(self) -> Place:
        try:
            found = os.stat(self.path)
        except (FileNotFoundError, NotADirectoryError):
            raise MemdeckError(
                "internal", f"{self.path} is gone", "put the directory back, or restart memdeck to begin a new store"
            ) from None
        return found.st_dev, found.st_ino

    def replace_writer(self) -> None:
        """Open the writing connection on the file that stands at the path now; the caller holds the lock."""
        self._drop_writer()
        self._writer = self._connect_writer()
        self._written = self._place()
        migrate(self._writer, self)

    def _drop_writer(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._writer = None

    def token(self) -> tuple[int, int]:
        """Return (epoch, newest operation); it changes when anybody wrote."""
        with self.read() as conn:
            row = conn.execute(
                "SELECT (SELECT value FROM meta WHERE key = 'epoch'), (SELECT max(op) FROM operations)"
            ).fetchone()
        return int(row[0] or 0), int(row[1] or 0)

    def interrupt(self) -> None:
        """Abort what other threads read at this moment; they get an `internal` error that says so."""
        with self._readers_guard:
            for reader in list(self._readers):
                if reader is not getattr(self._local, "reader", None):
                    with suppress(sqlite3.Error):
                        reader.conn.interrupt()

    def close(self) -> None:
        """Close all connections; the last writer's checkpoint runs under the lock.

        A thread that reads at this moment is interrupted and closes its own connection. When the lock cannot be had,
        the writing connection stays open until the store is collected.
        """
        if self._closed:
            return
        self._closed = True
        with self._readers_guard:
            for reader in list(self._readers):
                reader.stop()
        if self._writer is not None:
            with suppress(MemdeckError, OSError), self.lock.held():
                self._drop_writer()


class _Reader:
    """A thread's reading connection and the file that it reads.

    The driver crashes when one thread closes a connection that another is using: `in_use` keeps them apart.
    """

    def __init__(self, conn: sqlite3.Connection, place: Place) -> None:
        self.conn = conn
        self.place = place
        self.in_use = threading.Lock()
        self.nested = False

    def stop(self) -> None:
        """Close the connection, or interrupt the thread that is using it."""
        if self.in_use.acquire(blocking=False):
            self.conn.close()
            self.in_use.release()
        else:
            with suppress(sqlite3.Error):
                self.conn.interrupt()

    def __del__(self) -> None:
        self.conn.close()


def _is_store(conn: sqlite3.Connection, path: Path) -> bool:
    """Tell a store from an empty file; raises before anything is written to any other file, or to a newer store."""
    application = conn.execute("PRAGMA application_id").fetchone()[0]
    version = conn.execute("PRAGMA user_version").fetchone()[0]
    tables = conn.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application != APPLICATION_ID and (application or version or tables):
        raise MemdeckError("internal", f"{path} is no memdeck store", "choose another directory: --store DIR")
    if version > LATEST:
        raise _newer(version)
    return bool(application)


def _newer(version: int) -> MemdeckError:
    return MemdeckError(
        "newer_store",
        f"the store was written by a newer memdeck (schema {version}, this one knows {LATEST})",
        "update memdeck; nothing was changed",
    )
