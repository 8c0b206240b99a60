"""Drives the real app over a real store: keys in, engine state and journal out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot

from engine.facade import Engine, open_engine
from engine.model.clock import FixedClock
from engine.model.enums import Origin
from engine.model.memory import Caller, Draft, Memory
from tui.app import MemdeckApp

OWNER = Caller(Origin.TUI, "owner")
CLAUDE = Caller(Origin.AGENT, "claude-code", session="s1")
CODEX = Caller(Origin.AGENT, "codex", session="s2")
START = 1_780_000_000_000
"""2026-05-28 in UTC milliseconds: when the tests' clock starts."""


class Desk:
    """A store, its clock, and short ways to write and look."""

    def __init__(self, path: Path) -> None:
        self.clock = FixedClock(START)
        self.engine: Engine = open_engine(path / "store", clock=self.clock, env={})

    def say(self, text: str, by: Caller = OWNER, *, replaces: str | None = None, **draft: Any) -> int:
        """Remember and return the number; every write is a minute after the last."""
        self.clock.at_ms += 60_000
        return self.engine.remember(by, Draft(text, **draft), replaces=replaces).id

    def memory(self, id: int) -> Memory:
        """Return a memory as it is now."""
        return self.engine.get(OWNER, f"mem-{id}")

    def kinds(self) -> list[str]:
        """Return the kinds of the journal's operations, newest first."""
        return [operation.kind for operation in self.engine.log()]


class Walk:
    """A running app: `press` waits until everything that a key set off has settled."""

    def __init__(self, app: MemdeckApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def screen(self) -> Any:
        """The screen in front."""
        return self.app.screen

    async def press(self, *keys: str) -> None:
        """Press keys one after the other, as a person does who looks first."""
        for key in keys:
            self._send(key)
            await self.settle()

    async def type(self, text: str) -> None:
        """Type a text into the focused input, in any script."""
        for char in text:
            self._send(_character_to_key(char), char)
        await self.settle()

    def paste(self, text: str) -> None:
        """Paste a text as a terminal does."""
        event = events.Paste(text)
        event.set_sender(self.app)
        assert self.app._driver is not None
        self.app._driver.send_message(event)

    def _send(self, key: str, char: str | None = None) -> None:
        driver = self.app._driver
        assert driver is not None
        event = events.Key(_character_to_key(key) if len(key) == 1 else key, char or (key if len(key) == 1 else None))
        event.set_sender(self.app)
        driver.send_message(event)

    async def settle(self, pause: float = 0.0) -> None:
        """Wait until no worker runs and no message waits; `pause` lets timers of the app pass first.

        Asks the queues themselves: waiting for an idle processor, as Textual's pilot does, takes ten times as long.
        """
        await asyncio.sleep(pause)
        quiet = 0
        while quiet < 4:
            await asyncio.sleep(0.002)
            busy = any(worker.is_running for worker in self.app.workers)
            busy = busy or any(not node._message_queue.empty() for node in list(self.app._registry))
            quiet = 0 if busy or not self.app._message_queue.empty() else quiet + 1

    def said(self) -> str:
        """Return the newest message."""
        shown = list(self.app._notifications)
        return shown[-1].message if shown else ""


@asynccontextmanager
async def walking(
    engine: Engine,
    *,
    size: tuple[int, int] = (120, 36),
    lang: str = "en",
    state: Path | None = None,
    toasts: bool = False,
) -> AsyncIterator[Walk]:
    """Run the app without a terminal; with `toasts` its messages are drawn as well."""
    app = MemdeckApp(engine, lang=lang, state_path=state)
    async with app.run_test(size=size, notifications=toasts) as pilot:
        walk = Walk(app, pilot)
        await walk.settle()
        yield walk
        app.work.stop()
