"""The sample store: a year of an invented print shop with a radio and a roof garden, for `--demo` and the pictures."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from engine.model.clock import FixedClock, SystemClock
from engine.model.enums import Origin
from engine.model.memory import Caller

EXPORT = Path(__file__).with_name("year.json")
"""The year as a whole export; `tui.sample.play` writes it."""

OWNER = Caller(Origin.TUI, "owner")
SAMPLE_NOW = int(datetime(2026, 11, 29, 9, tzinfo=UTC).timestamp() * 1000)
"""The moment at which the sample is opened, in UTC milliseconds: the year lies before it."""

SNAPSHOTS = (
    (int(datetime(2026, 11, 28, 22, tzinfo=UTC).timestamp() * 1000), "end of the day"),
    (int(datetime(2026, 11, 29, 8, 30, tzinfo=UTC).timestamp() * 1000), "before the winter market"),
)

Progress = Callable[[int, int], None]


class SampleClock:
    """A clock that begins at SAMPLE_NOW and runs on from there."""

    def __init__(self) -> None:
        self._machine = SystemClock()
        self._began = self._machine.now_ms()

    def now_ms(self) -> int:
        """Return the sample's time in UTC milliseconds."""
        return SAMPLE_NOW + self._machine.now_ms() - self._began


def build_sample(directory: Path, *, progress: Progress | None = None) -> None:
    """Make the sample store in a directory that holds none yet; the same content every time.

    `progress` is told (steps done, steps in all). Raises MemdeckError where a store is already.
    """
    from engine.facade import open_engine, unpack_store

    steps = 1 + len(SNAPSHOTS)
    unpack_store(EXPORT, directory)
    if progress:
        progress(1, steps)
    clock = FixedClock(SAMPLE_NOW)
    with open_engine(directory, clock=clock, env={}) as engine:
        for done, (at_ms, reason) in enumerate(SNAPSHOTS, 2):
            clock.at_ms = at_ms
            engine.create_snapshot(OWNER, reason)
            if progress:
                progress(done, steps)
