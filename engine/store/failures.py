"""Turning what SQLite and the file system raise into one-line errors."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from engine.model.errors import MemdeckError, invalid

_ROOM = 131_072
"""Below this many free bytes a disk counts as full: SQLite grows its shared-memory file by 32 KiB at a time."""
DAMAGED = ("malformed", "not a database", "Could not decode to UTF-8")
DAMAGED_HINT = "run `memdeck doctor` to see the newest good snapshot, then `memdeck snapshot restore NAME`"


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise every sqlite3.Error and OSError of the block as a MemdeckError that says what to do.

    A number beyond 64 bits, or text that is no Unicode, is refused by the driver and becomes invalid_argument.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(error, path) from error
    except OverflowError as error:
        raise invalid("a number is too large to be stored", "give one of at most 18 digits") from error
    except UnicodeEncodeError as error:
        raise invalid("a text holds half a character and cannot be stored", "send it as valid Unicode") from error
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
    if any(words in text for words in DAMAGED):
        return MemdeckError("internal", f"{path} is damaged ({text})", DAMAGED_HINT, damaged=True)
    if "disk I/O" in text or "unable to open" in text:
        if _is_full(path):
            return _disk_full(path)
        return MemdeckError(
            "internal", f"{path} cannot be read or written ({text})", "check the disk and the permissions"
        )
    return MemdeckError("internal", text, "run `memdeck doctor`")


def is_refused_writing(error: sqlite3.Error) -> bool:
    """Tell whether SQLite could not do it because the file or its directory cannot be written."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)


def _is_full(path: Path) -> bool:
    """Tell whether the disk has no room; SQLite often says only that it could not read or write."""
    try:
        disk = os.statvfs(path.parent)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < _ROOM


def read_uri(path: Path, *, immutable: bool = False) -> str:
    """Return the SQLite URI that opens a file for reading, whatever characters its path holds."""
    return f"file:{quote(str(path))}?{'immutable=1' if immutable else 'mode=ro'}"


def _disk_full(path: Path) -> MemdeckError:
    return MemdeckError("disk_full", f"no space left for {path}", "free some space; nothing was written")
