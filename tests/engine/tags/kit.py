"""Words that tests of the vocabulary share: what a store knows of tags, as a caller sees it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from engine.facade import Engine
from engine.model.enums import Channel, TagStatus
from engine.model.errors import MemdeckError
from engine.model.memory import Caller, Filter, RecallQuery
from engine.store.schema import JOURNALLED
from tests.engine.kit import OWNER, put

_WHO = "Ana Boris Chiara Dmitri Esra Farid Greta Hugo Ines Jonas".split()
_WHAT = "paints doors,repairs clocks,bakes rye bread,plays the oboe,grows figs,reads maps,sells lamps".split(",")


def card(engine: Engine, *tags: str, by: Caller = OWNER, text: str = "", **fields: object) -> int:
    """Remember a memory with tags and return its number."""
    tens, ones = divmod(len(engine.memory_ids(OWNER)), len(_WHO))
    return put(
        engine, text or f"{_WHO[ones]} {_WHAT[tens % len(_WHAT)]} {tens // len(_WHAT)}", by, tags=tags, **fields
    ).id


def by_tags(engine: Engine, *tags: str, by: Caller = OWNER, **how: object) -> list[int]:
    """Return the memories that the tags channel finds, best first."""
    query = RecallQuery("", channel=Channel.TAGS, filter=Filter(tags=tags), limit=1000, **how)  # type: ignore[arg-type]
    return [hit.memory.id for hit in engine.recall(by, query).hits]


def names(engine: Engine) -> set[str]:
    """Return the names of all tags but the system's, in every status."""
    return {t.name for t in engine.find_tags(OWNER, statuses=()) if t.source != "system"}


def status(engine: Engine, name: str) -> TagStatus:
    """Return where a tag stands."""
    return engine.tag(OWNER, name).status


def related(engine: Engine, name: str) -> dict[str, str]:
    """Return the relations of a tag: name to level."""
    return {r.name: r.level.value for r in engine.tag(OWNER, name).relations}


def journalled(store: Path) -> str:
    """Return all rows of all journalled tables, to compare byte for byte."""
    with closing(sqlite3.connect(f"file:{store / 'memory.db'}?mode=ro", uri=True)) as conn:
        return json.dumps([conn.execute(f"SELECT * FROM {t.name} ORDER BY vid").fetchall() for t in JOURNALLED],
                          default=repr)  # fmt: skip


class refused:
    """Expect a refusal with an error code and one line."""

    def __init__(self, code: str) -> None:
        self.code = code

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> bool:
        assert isinstance(error, MemdeckError), f"not refused, or by {error!r}"
        assert error.code == self.code, error.message
        assert "\n" not in error.message and len(error.message) < 200
        return True
