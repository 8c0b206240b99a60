"""A store of its own for every test, with a clock that stands still until it is moved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.facade import Engine, open_engine
from engine.model.clock import FixedClock
from tests.engine.kit import day, do_not_wait_for_the_disk


@pytest.fixture
def clock() -> FixedClock:
    """Return a clock that stands at noon of 2026-11-29 (UTC)."""
    return FixedClock(day("2026-11-29", hour=12))


@pytest.fixture
def store_dir(tmp_path: Path) -> Path:
    """Return the directory of the test's store."""
    return tmp_path / "store"


@pytest.fixture
def engine(store_dir: Path, clock: FixedClock) -> Iterator[Engine]:
    """Return an open, empty store that does not wait for the disk; what has to survive a crash opens its own."""
    with open_engine(store_dir, clock=clock, env={}) as opened:
        do_not_wait_for_the_disk(opened)
        yield opened
