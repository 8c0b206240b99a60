"""A store with a clock that the test moves, and the callers that come to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.facade import Engine, open_engine
from engine.model.clock import FixedClock
from engine.model.enums import Mode, Origin
from engine.model.memory import Caller, Draft, Filter, RecallQuery, WriteResult

OWNER = Caller(Origin.CLI, "owner")
AGENT = Caller(Origin.AGENT, "scribe", session="s1", workspace="/work")


def ms(text: str) -> int:
    """Return an ISO date or time in UTC as milliseconds."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


@dataclass
class Desk:
    """An open store with the shortest words for what the examples do."""

    engine: Engine
    clock: FixedClock

    def at(self, moment: str) -> Desk:
        """Move the clock."""
        self.clock.at_ms = ms(moment)
        return self

    def tell(
        self, text: str, by: Caller = OWNER, *, replaces: str | None = None, was: str = "outdated", **draft
    ) -> WriteResult:
        """Remember something."""
        return self.engine.remember(by, Draft(text, **draft), replaces=replaces, was=was)

    def texts(self, query: str, by: Caller = OWNER, **query_fields) -> list[str]:
        """Return the descriptions that recall finds, by number of the memory."""
        fields = {"limit": 30, **query_fields}
        hits = self.engine.recall(by, RecallQuery(query, **fields)).hits
        return [hit.memory.description for hit in sorted(hits, key=lambda hit: hit.memory.id)]

    def everything(self, query: str) -> list[str]:
        """Return what recall finds regardless of time."""
        return self.texts(query, mode=Mode.ASSOCIATIVE)

    def ids(self, **more) -> list[int]:
        """Return the ids that the owner's list shows."""
        return list(self.engine.memory_ids(OWNER, Filter(), order="oldest", **more))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def desk(store: Path) -> Iterator[Desk]:
    clock = FixedClock(ms("2026-10-05"))
    with open_engine(store, clock=clock, env={}) as engine:
        yield Desk(engine, clock)


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Write memory files by name and return their folder."""

    def write(**files: str | bytes) -> Path:
        root = tmp_path / "memories"
        root.mkdir(exist_ok=True)
        for name, text in files.items():
            content = text if isinstance(text, bytes) else text.encode()
            (root / f"{name}.md").write_bytes(content)
        return root

    return write
