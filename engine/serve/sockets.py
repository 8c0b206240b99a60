"""Where the socket lies and who may use it: its folder, its lock, binding, socket activation (A6, R20)."""

from __future__ import annotations

import fcntl
import os
import socket
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from engine.model.errors import MemdeckError, invalid

MAX_PATH = 100
"""Bytes of a socket's path; systems cut it at 104 or 108."""
BACKLOG = 1024

_ACTIVATED_FD = 3


def default_socket_path(profile: str = "default", env: Mapping[str, str] = os.environ) -> Path:
    """Return `$XDG_RUNTIME_DIR/memdeck/<profile>.sock`, else one in a folder of ours under the temp dir."""
    runtime = env.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime) and os.path.isdir(runtime):
        return Path(runtime, "memdeck", f"{profile}.sock")
    return Path(tempfile.gettempdir(), f"memdeck-{os.getuid()}", f"{profile}.sock")


def check_path(path: Path, *, named: bool = False) -> Path:
    """Return the absolute path, its folder made where it lacked; refuses a long path and an unsafe folder.

    The folder must be ours and closed to others. One that the owner `named` may be open, as long as nobody else can
    put a file in the socket's place there: the socket itself has mode 0600, and each peer is checked.
    Raises MemdeckError `invalid_argument`.
    """
    path = path.absolute()
    if len(os.fsencode(path)) > MAX_PATH:
        raise invalid(f"the socket's path is longer than {MAX_PATH} bytes: {path}", "give a shorter one with --socket")
    folder = path.parent
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise invalid(f"the socket's folder {folder} cannot be made: {error.strerror}", "name another one") from None
    if not stat.S_ISDIR(found.st_mode):
        raise invalid(f"the socket's folder {folder} is no folder, or a link", "name the folder itself")
    if named and (found.st_mode & stat.S_ISVTX or (found.st_uid == os.getuid() and not found.st_mode & 0o022)):
        return path
    if found.st_uid != os.getuid():
        raise invalid(f"the socket's folder {folder} belongs to somebody else", "name one of your own with --socket")
    if found.st_mode & 0o077:
        raise invalid(f"others can enter the socket's folder {folder}", f"chmod 700 {folder}, or name another one")
    return path


class InstanceLock:
    """A lock that the kernel frees when its process ends; its file holds the pid and is never removed."""

    def __init__(self, path: Path, what: str) -> None:
        """Take the lock or raise MemdeckError `busy` that names the process which has it."""
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise invalid(f"the lock file {path} cannot be opened: {error.strerror}", "see who owns it") from None
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pid = os.pread(self._fd, 20, 0).decode("ascii", "replace").strip() or "?"
            os.close(self._fd)
            raise MemdeckError(
                "busy", f"another memdeck server (pid {pid}) has {what}", "use that one, or end it first", pid=pid
            ) from None
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        """Let the lock go."""
        os.close(self._fd)


def bind(path: Path) -> socket.socket:
    """Bind a socket of mode 0600 in place of a stale one; the caller holds the socket's lock."""
    if path.is_socket():
        path.unlink()
    elif path.exists() or path.is_symlink():
        raise invalid(f"{path} exists and is no socket", "name another path with --socket")
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        sock.bind(str(path))
    except OSError as error:
        sock.close()
        raise invalid(f"the socket {path} cannot be made: {error.strerror}", "name another path") from None
    finally:
        os.umask(before)
    return sock


def activated_socket(env: Mapping[str, str] = os.environ) -> socket.socket | None:
    """Return the listening socket that a service manager passed (LISTEN_PID, LISTEN_FDS), or None."""
    if env.get("LISTEN_PID") != str(os.getpid()) or not env.get("LISTEN_FDS", "").isdecimal():
        return None
    if int(env["LISTEN_FDS"]) < 1:
        return None
    sock = socket.socket(fileno=_ACTIVATED_FD)
    if sock.family != socket.AF_UNIX:
        sock.close()
        raise invalid("the service manager passed no unix socket", "use ListenStream with a path")
    os.set_inheritable(_ACTIVATED_FD, False)
    return sock
