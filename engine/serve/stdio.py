"""MCP over stdin and stdout for one client, in its own process; stdout carries nothing but protocol (W69)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from engine.model.errors import invalid
from engine.serve.identity import Identity, new_session, workspace_of
from engine.serve.lanes import Lane, LineReader
from engine.serve.protocol import Connection, Door
from engine.serve.server import GRACE_S, stop_event

if TYPE_CHECKING:
    from engine.facade import Engine

log = logging.getLogger("memdeck.serve")

_CHUNK = 64 * 1024


def serve_stdio(engine: Engine, *, workspace: Path | None = None, tools: str = "core") -> int:
    """Serve one client on stdin and stdout until it closes stdin, SIGTERM or SIGINT; return the exit code 0.

    Raises MemdeckError when stdout is closed. While it runs, file descriptor 1 points to stderr, so that a stray
    print cannot break the protocol. Without `workspace` the process's own folder tells it. `tools` names the profile of
    tools that the client is shown. The engine stays open.
    """
    try:
        out = os.dup(1)
        os.dup2(2, 1)
    except OSError:
        raise invalid("stdout and stderr must be open", "let an MCP client start this") from None
    try:
        asyncio.run(_serve(engine, out, workspace, tools))
    finally:
        sys.stdout.flush()
        os.dup2(out, 1)
        os.close(out)
    return 0


async def _serve(engine: Engine, out: int, workspace: Path | None, tools: str) -> None:
    door = Door.to(engine, tools)
    reading, writing = Lane("stdin"), Lane("stdout")
    stopping = stop_event()

    async def read() -> bytes:
        try:
            return await asyncio.wrap_future(reading.submit(lambda: os.read(0, _CHUNK)))
        except OSError:
            return b""

    async def send(data: bytes) -> None:
        with contextlib.suppress(OSError):
            await asyncio.wrap_future(writing.submit(lambda: _write(out, data)))

    named = workspace_of(workspace, named=True) if workspace else workspace_of(Path.cwd())
    identity = Identity(new_session(), workspace=named, fixed=workspace is not None)
    connection = Connection(door, identity, LineReader(read), send)
    abandoned = 0
    running = asyncio.create_task(connection.run())
    signalled = asyncio.create_task(stopping.wait())
    await asyncio.wait([running, signalled], return_when=asyncio.FIRST_COMPLETED)
    if running.done():
        signalled.cancel()
        await running
    else:
        running.cancel()
        with contextlib.suppress(TimeoutError):
            abandoned = await asyncio.wait_for(connection.finish(GRACE_S), 2 * GRACE_S)
    door.close()
    if abandoned:
        engine.interrupt()


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
