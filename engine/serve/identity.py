"""Who calls and from where: taken from the connection, never from a model's arguments (design: doors)."""

from __future__ import annotations

import os
import secrets
import socket
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from engine.model.enums import Origin
from engine.model.memory import Caller
from engine.serve.shapes import join_lines
from engine.serve.workspace import workspace_of as workspace_of

CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
WORKSPACE_META = "memdeck/workspace"
SESSION_META = "memdeck/session"

_NAME_LENGTH = 64
_SESSION_LENGTH = 200
_UCRED = struct.Struct("iII")


@dataclass(frozen=True)
class Peer:
    """The process at the other end of a socket; pid and folder only where the system tells them."""

    uid: int
    pid: int | None = None
    folder: Path | None = None


def peer_of(sock: socket.socket) -> Peer:
    """Ask the kernel who is at the other end; raises OSError where it does not say."""
    if sys.platform == "darwin":
        return _peer_on_macos(sock)
    pid, uid, _gid = _UCRED.unpack(sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size))
    try:
        folder = Path(os.readlink(f"/proc/{pid}/cwd"))
    except OSError:
        folder = None
    return Peer(uid, pid, folder)


def _peer_on_macos(sock: socket.socket) -> Peer:
    sol_local, local_peercred, local_peerpid = 0, 1, 2
    _version, uid = struct.unpack_from("II", sock.getsockopt(sol_local, local_peercred, 76))
    (pid,) = struct.unpack("i", sock.getsockopt(sol_local, local_peerpid, 4))
    return Peer(uid, pid)


def workspace_named(text: str) -> str | None:
    """Return the workspace for a path or file URI that a host named; None for anything else."""
    if text.startswith("file:"):
        text = unquote(urlsplit(text).path)
    if not text.startswith("/") or "\0" in text:
        return None
    return workspace_of(Path(text), named=True)


def new_session() -> str:
    """Return a fresh name for a connection."""
    return "conn-" + secrets.token_hex(6)


def client_name(info: object) -> str:
    """Return the client's own name from its `clientInfo`, on one line; empty where it has none."""
    name = info.get("name") if isinstance(info, Mapping) else None
    return join_lines(name)[:_NAME_LENGTH] if isinstance(name, str) else ""


@dataclass
class Identity:
    """What a connection knows of its client; a request's `_meta` wins, as only the host writes it."""

    session: str
    name: str = ""
    workspace: str | None = None
    fixed: bool = False
    """True when the workspace was given on the server's command line, which MCP roots do not change."""

    def caller(self, meta: Mapping[str, object]) -> Caller:
        """Return who makes a request with this `_meta`. May look at the file system."""
        workspace, session = meta.get(WORKSPACE_META), meta.get(SESSION_META)
        return Caller(
            Origin.AGENT,
            client_name(meta.get(CLIENT_INFO)) or self.name or "script",
            session=session[:_SESSION_LENGTH] if isinstance(session, str) and session else self.session,
            workspace=(workspace_named(workspace) if isinstance(workspace, str) else None) or self.workspace,
        )
