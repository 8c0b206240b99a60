"""The socket server: one per store, for clients of the same user; ends cleanly on SIGTERM and SIGINT (A6)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from engine.model.errors import MemdeckError
from engine.serve import wire
from engine.serve.identity import Identity, Peer, new_session, peer_of, workspace_of
from engine.serve.lanes import LineReader
from engine.serve.protocol import Connection, Door
from engine.serve.sockets import (
    BACKLOG,
    InstanceLock,
    activated_socket,
    bind,
    check_path,
    default_socket_path,
)

if TYPE_CHECKING:
    from engine.facade import Engine

log = logging.getLogger("memdeck.serve")

MAX_CONNECTIONS = 128
GRACE_S = 5.0
"""How long calls in flight may go on after a signal to stop."""
UPKEEP_FIRST_S, UPKEEP_EVERY_S = 60.0, 600.0
"""When a server looks after its store: audit log, snapshot of the day, check of the day."""
DRAIN_S = 10.0
"""How long a client may take to read what is buffered for it before it is dropped."""
GREETING_S = 30.0
"""How long a new connection may stay without a whole line."""
IDLE_S = 24 * 3600.0
"""How long a connection may stay silent between calls."""

_CHUNK = 64 * 1024
_WRITE_BUFFER = 256 * 1024
_SWEEP_S = 10.0


class SocketServer:
    """Accepts connections on one socket and serves each; lives inside a running event loop."""

    def __init__(self, door: Door, workspace: Path | None = None) -> None:
        self._door = door
        self._workspace = workspace_of(workspace, named=True) if workspace else None
        self._live: dict[Connection, asyncio.StreamWriter] = {}
        self._readers: set[asyncio.Task[None]] = set()
        self.abandoned = 0

    @contextlib.asynccontextmanager
    async def listening(self, sock: socket.socket) -> AsyncIterator[None]:
        """Serve a bound socket inside the block; at its end calls in flight are answered first."""
        server = await asyncio.start_unix_server(self._accept, sock=sock, backlog=BACKLOG, limit=_CHUNK)
        sweeper = asyncio.create_task(self._sweep())
        try:
            yield
        finally:
            server.close()
            sweeper.cancel()
            await self._stop()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = self._admit(writer)
        if peer is None:
            writer.transport.abort()
            return
        if len(self._live) >= MAX_CONNECTIONS:
            writer.write(wire.error_line(None, wire.TOO_MANY, f"memdeck serves {MAX_CONNECTIONS} connections at most"))
            await _close(writer)
            return
        writer.transport.set_write_buffer_limits(high=_WRITE_BUFFER)
        workspace = self._workspace or (workspace_of(peer.folder) if peer.folder else None)
        identity = Identity(new_session(), workspace=workspace, fixed=self._workspace is not None)
        lines = LineReader(lambda: reader.read(_CHUNK))
        connection = Connection(self._door, identity, lines, lambda data: _send(writer, data))
        self._live[connection] = writer
        task = asyncio.current_task()
        assert task is not None
        self._readers.add(task)
        try:
            await connection.run()
        except ConnectionError:
            log.info("a client went away")
        except asyncio.CancelledError:
            return  # the server stops; it answers what is in flight and closes
        finally:
            self._readers.discard(task)
        del self._live[connection]
        await _close(writer)

    def _admit(self, writer: asyncio.StreamWriter) -> Peer | None:
        """Return the peer when it is the same user, else None."""
        try:
            peer = peer_of(writer.get_extra_info("socket"))
        except OSError as error:
            log.warning("a connection was refused: the system does not say whose it is (%s)", error.strerror)
            return None
        if peer.uid != os.getuid():
            log.warning("a connection of user %d (pid %s) was refused", peer.uid, peer.pid)
            return None
        return peer

    async def _sweep(self) -> None:
        """Drop connections that say nothing."""
        clock = asyncio.get_running_loop().time
        while True:
            await asyncio.sleep(min(_SWEEP_S, GREETING_S / 2))
            for connection, writer in list(self._live.items()):
                limit = IDLE_S if connection.greeted else GREETING_S
                if not connection.busy and clock() - connection.last_line > limit:
                    log.info("a silent connection was closed")
                    writer.close()

    async def _stop(self) -> None:
        for task in self._readers:
            task.cancel()
        live = dict(self._live)
        self.abandoned = sum(await asyncio.gather(*(connection.finish(GRACE_S) for connection in live)))
        await asyncio.gather(*(_close(writer) for writer in live.values()), return_exceptions=True)


async def _send(writer: asyncio.StreamWriter, data: bytes) -> None:
    """Write a line; a client that does not read for DRAIN_S is dropped."""
    transport = writer.transport
    if transport.is_closing():
        return
    writer.write(data)
    if transport.get_write_buffer_size() > _WRITE_BUFFER:
        try:
            await asyncio.wait_for(writer.drain(), DRAIN_S)
        except TimeoutError:
            log.warning("a client that does not read was dropped")
            transport.abort()
        except ConnectionError:
            transport.abort()


async def _close(writer: asyncio.StreamWriter) -> None:
    """Close after what is buffered was read, or after DRAIN_S."""
    writer.close()
    try:
        await asyncio.wait_for(writer.wait_closed(), DRAIN_S)
    except (TimeoutError, OSError):
        writer.transport.abort()


def serve_socket(
    engine: Engine,
    *,
    socket_path: Path | None = None,
    profile: str = "default",
    workspace: Path | None = None,
    tools: str = "core",
    ready: Callable[[str], None] | None = None,
) -> int:
    """Serve a store on a unix socket until SIGTERM or SIGINT; return the exit code 0.

    Raises MemdeckError before anything is served: `busy` when another server has the store or the socket,
    `invalid_argument` for a path that will not do. `ready` gets one line when clients can connect; without it the
    line goes to stderr. `workspace` fixes the workspace for all clients, `tools` which tools they are shown. The engine
    stays open.
    """
    locks = []
    if not engine.read_only:
        locks.append(InstanceLock(engine.store_dir / "serve.lock", "this store"))
    sock = activated_socket()
    path = None
    try:
        if sock is None:
            path = check_path(socket_path or default_socket_path(profile), named=socket_path is not None)
            locks.append(InstanceLock(path.with_name(path.name + ".lock"), f"the socket {path}"))
            sock = bind(path)
        where = str(path) if path else "the socket of the service manager"
        line = f"memdeck: serving {engine.store_dir} on {where} (pid {os.getpid()})"
        asyncio.run(_serve(engine, sock, path, workspace, tools, lambda: (ready or _say)(line)))
    finally:
        if path is not None and sock is not None:
            path.unlink(missing_ok=True)
        for lock in locks:
            lock.release()
    return 0


async def _serve(
    engine: Engine,
    sock: socket.socket,
    path: Path | None,
    workspace: Path | None,
    tools: str,
    ready: Callable[[], None],
) -> None:
    door = Door.to(engine, tools)
    stopping = stop_event()
    server = SocketServer(door, workspace)
    async with server.listening(sock):
        ready()
        upkeep = asyncio.create_task(_tend(engine))
        await stopping.wait()
        upkeep.cancel()
        if path is not None:
            path.unlink(missing_ok=True)
    door.close()
    if server.abandoned:
        engine.interrupt()


async def _tend(engine: Engine) -> None:
    """Do what the store needs now and then; the first time once clients had time to be served."""
    await asyncio.sleep(UPKEEP_FIRST_S)
    while True:
        with contextlib.suppress(MemdeckError):
            await asyncio.to_thread(engine.tend)
        await asyncio.sleep(UPKEEP_EVERY_S)


def stop_event() -> asyncio.Event:
    """Return an event that SIGTERM and SIGINT set; outside of the main thread nothing sets it."""
    event = asyncio.Event()
    if threading.current_thread() is threading.main_thread():
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, event.set)
    return event


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
