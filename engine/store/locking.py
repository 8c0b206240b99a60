"""One writer at a time, across threads and processes: a mutex, then `flock` on the lock file.

The lock is taken for every write and every checkpoint. SQLite before 3.51.3 can damage a write-ahead log when
two connections write and checkpoint at one instant; holding this lock around both rules that out.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.model.errors import MemdeckError

_POLL_S = 0.002
_POLL_MAX_S = 0.02


class WriteLock:
    """The store's write lock. `deadline_ms` bounds the wait; then the caller gets `busy` with the holder's pid."""

    def __init__(self, path: Path, deadline_ms: int = 5000) -> None:
        self.path = path
        self.deadline_ms = deadline_ms
        self._mutex = threading.RLock()
        self._depth = 0
        self._fd: int | None = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock for a block; nesting in one thread is allowed. Raises `busy` at the deadline."""
        limit = time.monotonic() + self.deadline_ms / 1000
        if not self._mutex.acquire(timeout=self.deadline_ms / 1000):
            raise self._busy()
        try:
            if self._depth == 0:
                self._take(limit)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._release()
        finally:
            self._mutex.release()

    def holder(self) -> int | None:
        """Return the pid that wrote itself into the lock file last, or None."""
        try:
            text = self.path.read_text(encoding="ascii", errors="replace").strip()
        except OSError:
            return None
        return int(text) if text.isdigit() else None

    def _take(self, limit: float) -> None:
        pause = _POLL_S
        while True:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if self._is_in_place(fd):
                    break
            except BlockingIOError:
                if time.monotonic() >= limit:
                    os.close(fd)
                    raise self._busy() from None
                time.sleep(pause)
                pause = min(pause * 1.5, _POLL_MAX_S)
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)
        self._fd = fd
        # Always as long as before, so that a full disk has room for it; who holds it is told for information only.
        with suppress(OSError):
            os.pwrite(fd, f"{os.getpid():<19}\n".encode(), 0)

    def _is_in_place(self, fd: int) -> bool:
        """Tell whether the locked file is still the one at the path; it may have been removed while we waited."""
        try:
            return os.path.samestat(os.fstat(fd), os.stat(self.path))
        except FileNotFoundError:
            return False

    def _release(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _busy(self) -> MemdeckError:
        pid = self.holder()
        who = f"process {pid}" if pid else "another process"
        return MemdeckError(
            "busy",
            f"{who} holds the store's write lock",
            "try again; if that process is stopped, continue or end it",
            pid=pid or 0,
        )
