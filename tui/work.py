"""Engine calls off the event loop: reads that a newer one interrupts, writes one after the other."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from textual.app import App
from textual.css.query import NoMatches
from textual.dom import DOMNode

from engine.model.errors import MemdeckError

if TYPE_CHECKING:
    from engine.facade import Engine

T = TypeVar("T")
Failed = Callable[[MemdeckError], None]

INTERRUPTED = "interrupted"
"""What the engine's message holds when `Engine.interrupt` ended a read."""


class Work:
    """Runs engine calls in threads and hands their answers back on the event loop.

    Reads carry a generation number per owner and group: a newer read of the group interrupts the running one and
    its answer is dropped. Reads of other groups that the interrupt hit are asked again. Writes keep their order; while
    one runs nothing is interrupted, because a write reads, too.
    """

    def __init__(self, app: App[Any], engine: Engine, report: Failed) -> None:
        self._app = app
        self._engine = engine
        self._report = report
        self._newest: Counter[tuple[int, str]] = Counter()
        self._running: Counter[tuple[int, str]] = Counter()
        self._write_turn = asyncio.Lock()
        self.writes_waiting = 0
        self._stopped = False

    def stop(self) -> None:
        """Deliver no answer any more: the screens are being taken down."""
        self._stopped = True
        self._engine.interrupt()

    def read(
        self, owner: DOMNode, group: str, call: Callable[[], T], then: Callable[[T], None], failed: Failed | None = None
    ) -> None:
        """Ask `call` and give its answer to `then`, unless a newer read of `group` has begun or `owner` is gone."""
        if self._stopped:
            return
        key = (id(owner), group)
        self._newest[key] += 1
        if self._running[key] and not self.writes_waiting:
            self._engine.interrupt()
        owner.run_worker(self._read(owner, key, self._newest[key], call, then, failed), group=group)

    def busy(self, owner: DOMNode, group: str) -> bool:
        """Return whether a read of the group is running."""
        return self._running[(id(owner), group)] > 0

    def write(self, call: Callable[[], T], then: Callable[[T], None], failed: Failed | None = None) -> None:
        """Run `call` after every earlier write has ended and give its answer to `then`."""
        if self._stopped:
            return
        self.writes_waiting += 1
        self._app.run_worker(self._write(call, then, failed), group="write")

    async def _read(
        self,
        owner: DOMNode,
        key: tuple[int, str],
        generation: int,
        call: Callable[[], T],
        then: Callable[[T], None],
        failed: Failed | None,
    ) -> None:
        def stale() -> bool:
            return self._stopped or generation != self._newest[key] or not owner.is_attached

        while not stale():
            self._running[key] += 1
            try:
                answer = await asyncio.to_thread(call)
            except MemdeckError as error:
                if stale() or INTERRUPTED in error.message:
                    continue
                (failed or self._report)(error)
                return
            finally:
                self._running[key] -= 1
            if not stale():
                try:
                    then(answer)
                except NoMatches:
                    # A screen that is being taken down loses its widgets before it is detached itself.
                    if owner.children:
                        raise
            return

    async def _write(self, call: Callable[[], T], then: Callable[[T], None], failed: Failed | None) -> None:
        try:
            async with self._write_turn:
                answer = await asyncio.to_thread(call)
        except MemdeckError as error:
            (failed or self._report)(error)
        else:
            then(answer)
        finally:
            self.writes_waiting -= 1
