"""Turning what SQLite and the file system raise into one-line errors."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.model.errors import MemdeckError

DAMAGED_HINT = "run `memdeck doctor` to see the newest good snapshot, then `memdeck snapshot restore NAME`"


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise every sqlite3.Error and OSError of the block as a MemdeckError that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(error, path) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _disk_full(path) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise MemdeckError(
                "read_only", f"{error.filename or path} cannot be written", "check its permissions"
            ) from error
        raise MemdeckError(
            "internal", f"{error.strerror or error} ({error.filename or path})", "check the disk and the path"
        ) from error


def _translate(error: sqlite3.Error, path: Path) -> MemdeckError:
    text = str(error)
    if "interrupted" in text:
        return MemdeckError("internal", "interrupted", "ask again")
    if "full" in text:
        return _disk_full(path)
    if "locked" in text or "busy" in text:
        return MemdeckError("busy", "the store is busy", "try again")
    if "readonly" in text or "read-only" in text:
        return MemdeckError("read_only", f"{path} cannot be written", "check its permissions and the disk")
    if "malformed" in text or "not a database" in text:
        return MemdeckError("internal", f"{path} is damaged ({text})", DAMAGED_HINT, damaged=True)
    if "disk I/O" in text or "unable to open" in text:
        return MemdeckError(
            "internal", f"{path} cannot be read or written ({text})", "check the disk and the permissions"
        )
    return MemdeckError("internal", text, "run `memdeck doctor`")


def _disk_full(path: Path) -> MemdeckError:
    return MemdeckError("disk_full", f"no space left for {path}", "free some space; nothing was written")
