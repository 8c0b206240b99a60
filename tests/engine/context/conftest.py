"""A store with a clock, and packs made of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.facade import Engine, open_engine
from engine.model.clock import FixedClock
from engine.model.enums import Origin
from engine.model.memory import Caller, Draft

OWNER = Caller(Origin.TUI, "owner")
AGENT = Caller(Origin.AGENT, "claude-code", session="s1", workspace="/w/harbour")
NOON = 1_780_056_000_000
DAY_MS = 86_400_000


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON)


@pytest.fixture
def engine(store: Path, clock: FixedClock) -> Iterator[Engine]:
    with open_engine(store, clock=clock, env={}) as opened:
        yield opened


def put(engine: Engine, text: str, **fields: object) -> int:
    """Remember something as the owner and return its number."""
    return engine.remember(OWNER, Draft(text, **fields)).id  # type: ignore[arg-type]


def agent(session: str | None = "s1") -> Caller:
    """Return an agent's connection."""
    return Caller(Origin.AGENT, "claude-code", session=session, workspace="/w/harbour")
