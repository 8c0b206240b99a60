"""Settings files on disk: read as text, written by temporary file and rename, a backup beside them."""

from __future__ import annotations

import codecs
import errno
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.connect.faults import BadSettings, line_at
from engine.model.errors import MemdeckError, invalid

LARGEST = 64 * 1024 * 1024
"""A settings file above so many bytes is none."""


def real_path(path: Path) -> Path:
    """Return the file that a path leads to through links, whether it exists yet or not."""
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:
        raise refused(path, error) from error


def backup_of(path: Path) -> Path:
    """Return where the text of a file from before memdeck is kept."""
    return path.with_name(f"{path.name}.memdeck-backup")


def read(path: Path) -> bytes | None:
    """Return the bytes of a file, None when there is none; raises MemdeckError when it cannot be read."""
    try:
        info = path.stat()
        if not stat.S_ISREG(info.st_mode):
            raise invalid(f"{path} is no file", "move it out of the way; nothing was written")
        if info.st_size > LARGEST:
            raise invalid(f"{path} has {info.st_size:,} bytes, too many for settings", "nothing was written")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise refused(path, error) from error


@dataclass(frozen=True)
class Text:
    """A settings file as text, without the byte-order mark that it may begin with."""

    text: str = ""
    bom: bool = False

    @classmethod
    def of(cls, data: bytes | None) -> Text:
        """Decode a file's bytes; raises BadSettings with the line of the first byte that is no UTF-8."""
        data = data or b""
        bom = data.startswith(codecs.BOM_UTF8)
        try:
            return cls(data.removeprefix(codecs.BOM_UTF8).decode("utf-8"), bom)
        except UnicodeDecodeError as error:
            before = data[: error.start + (len(codecs.BOM_UTF8) if bom else 0)].decode("utf-8", "replace")
            raise BadSettings("not UTF-8", line_at(before, len(before))) from None

    def with_text(self, text: str) -> bytes:
        """Encode another text the same way; raises BadSettings for a path that is no Unicode."""
        try:
            return (codecs.BOM_UTF8 if self.bom else b"") + text.encode("utf-8")
        except UnicodeEncodeError as error:
            line = line_at(text, error.start)
            raise BadSettings("the path of memdeck or of its store holds bytes that are no text", line) from None


def write(path: Path, data: bytes, *, like: Path | None = None) -> None:
    """Put a file in place as a whole, with the mode of `like` (itself by default), private where that is new.

    A crash leaves the old file or the new one; raises MemdeckError and then leaves the old one.
    """
    temporary = path.with_name(f".{path.name}.memdeck-tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            mode = stat.S_IMODE((like or path).stat().st_mode)
        except FileNotFoundError:
            mode = 0o600
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        with open(os.open(temporary, flags, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise refused(path, error) from error


def remove(path: Path) -> None:
    """Delete a file that need not be there."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise refused(path, error) from error


def refused(path: Path, error: Exception) -> MemdeckError:
    """Return what the system refused, in one line that names the file."""
    number = error.errno if isinstance(error, OSError) else None
    code = {errno.ENOSPC: "disk_full", errno.EDQUOT: "disk_full", errno.EROFS: "read_only"}.get(number or 0)
    why = (error.strerror if isinstance(error, OSError) else "") or str(error)
    return MemdeckError(code or "invalid_argument", f"{path}: {why}", "check the file and its folder")
