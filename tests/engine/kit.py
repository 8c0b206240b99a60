"""Words that tests of the façade and the store share: callers, days, and what to look at."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from engine.facade import Engine
from engine.model.enums import Origin
from engine.model.memory import NOW, AsOf, Caller, Draft, RecallQuery, WriteResult

OWNER = Caller(Origin.TUI, "owner")
DAY_MS = 86_400_000


def day(text: str, *, hour: int = 0) -> int:
    """Return a UTC date as milliseconds."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC, hour=hour).timestamp() * 1000)


def agent(name: str = "claude-code", *, session: str | None = None, workspace: str | None = None) -> Caller:
    """Return an agent's connection."""
    return Caller(Origin.AGENT, name, session=session, workspace=workspace)


def do_not_wait_for_the_disk(engine: Engine) -> None:
    """Make a test's writes quick."""
    with engine._desk.store.exclusive() as conn:
        conn.execute("PRAGMA synchronous = OFF")


def put(engine: Engine, text: str, by: Caller = OWNER, **fields: object) -> WriteResult:
    """Remember a text."""
    return engine.remember(by, Draft(text, **fields))  # type: ignore[arg-type]


def found(engine: Engine, question: str, by: Caller = OWNER, **how: object) -> list[int]:
    """Return the numbers that recall finds, in ascending order."""
    page = engine.recall(by, RecallQuery(question, limit=100, **how))  # type: ignore[arg-type]
    return sorted(hit.memory.id for hit in page.hits)


def text_at(engine: Engine, ref: str, known_ms: int | None = None) -> str:
    """Return a memory's sentence, as it was known at a moment."""
    return engine.get(OWNER, ref, as_of=NOW if known_ms is None else AsOf(known_ms=known_ms)).description


def rows(store: Path, sql: str, *values: object) -> list[tuple[object, ...]]:
    """Read the database file itself."""
    with closing(sqlite3.connect(f"file:{store / 'memory.db'}?mode=ro", uri=True)) as conn:
        return conn.execute(sql, values).fetchall()


def files_holding(store: Path, words: Iterable[str]) -> list[str]:
    """Return the files of a store in which any of the words can be read, in UTF-8 or UTF-16."""
    needles = [word.encode(code) for word in words for code in ("utf-8", "utf-16-le")]
    return sorted(
        str(path.relative_to(store))
        for path in store.rglob("*")
        if path.is_file() and any(needle in path.read_bytes() for needle in needles)
    )


def problems(engine: Engine) -> list[str]:
    """Return what the doctor calls wrong."""
    return [f"{f.check}: {f.message}" for f in engine.doctor() if f.level in ("error", "warning")]
