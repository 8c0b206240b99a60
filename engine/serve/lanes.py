"""Threads that run engine calls, and lines pulled out of a stream of bytes."""

from __future__ import annotations

import queue
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import TypeVar

from engine.serve.wire import MAX_LINE

T = TypeVar("T")


class Lane:
    """A queue of jobs with its own threads; they are daemons, so that a stuck job never holds up the exit."""

    def __init__(self, name: str, threads: int = 1) -> None:
        self._jobs: queue.SimpleQueue[tuple[Future[object], Callable[[], object]] | None] = queue.SimpleQueue()
        self._threads = threads
        for number in range(threads):
            threading.Thread(target=self._work, name=f"memdeck-{name}-{number}", daemon=True).start()

    def submit(self, job: Callable[[], T]) -> Future[T]:
        """Queue a job; cancelling the future drops it unless it has begun."""
        future: Future[T] = Future()
        self._jobs.put((future, job))  # type: ignore[arg-type]
        return future

    def close(self) -> None:
        """Let the threads end after the jobs that are queued; does not wait for them."""
        for _ in range(self._threads):
            self._jobs.put(None)

    def _work(self) -> None:
        while (entry := self._jobs.get()) is not None:
            future, job = entry
            del entry
            if future.set_running_or_notify_cancel():
                try:
                    result = job()
                except BaseException as error:
                    future.set_exception(error)
                else:
                    future.set_result(result)
            del future, job


class LineTooLong(Exception):
    """A line passed the limit; its rest is thrown away as it comes in."""


class LineReader:
    """Lines out of chunks, at most `limit` bytes each; reads on only when asked, so a flood waits outside."""

    def __init__(self, read: Callable[[], Awaitable[bytes]], limit: int = MAX_LINE) -> None:
        self._read = read
        self._limit = limit
        self._buffer = bytearray()
        self._searched = 0
        self._dropping = False
        self._ended = False

    async def next(self) -> bytes | None:
        """Return the next non-empty line without its end, None at the end; raises LineTooLong once per such line."""
        while True:
            line = self._cut()
            if line:
                return line
            if line is None:
                if self._ended:
                    return self._last()
                await self._fill()

    def _cut(self) -> bytes | None:
        """Take one line out of the buffer: None when there is no whole one, empty when it says nothing."""
        at = self._buffer.find(b"\n", self._searched)
        if at < 0:
            self._searched = len(self._buffer)
            return None
        line = bytes(self._buffer[:at])
        del self._buffer[: at + 1]
        self._searched = 0
        if self._dropping:
            self._dropping = False
            return b""
        if len(line) > self._limit:
            raise LineTooLong
        return line.strip()

    async def _fill(self) -> None:
        chunk = await self._read()
        self._ended = not chunk
        self._buffer += chunk
        if self._dropping and b"\n" not in chunk:
            self._forget()
        elif len(self._buffer) > self._limit and b"\n" not in chunk:
            self._forget()
            self._dropping = True
            raise LineTooLong

    def _last(self) -> bytes | None:
        """Return a last line that lacks its end, as `printf` without a newline sends it."""
        line = b"" if self._dropping else bytes(self._buffer).strip()
        self._forget()
        return line or None

    def _forget(self) -> None:
        self._buffer.clear()
        self._searched = 0
