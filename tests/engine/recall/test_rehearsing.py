"""Rehearsal: before a threshold changes, recent questions show what would come and go; nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.facade import Engine
from engine.model.clock import FixedClock
from engine.model.enums import Type
from engine.model.errors import MemdeckError
from engine.model.memory import RecallQuery
from tests.engine.kit import DAY_MS, OWNER, agent, put

AGENT = agent("codex", workspace="/w/harbour")


@pytest.fixture
def asked(engine: Engine) -> Engine:
    """Four memories, and questions of an agent, one of them twice."""
    for text in ("The harbour office opens at eight", "The harbour office closes at ten", "The harbour crane is red"):
        put(engine, text, type=Type.PROJECT)
    put(engine, "Beekeeping needs a veil", type=Type.PROJECT)
    for text in ("harbour office", "beekeeping", "harbour office"):
        engine.recall(AGENT, RecallQuery(text))
    engine.context(AGENT, "harbour crane colour")
    return engine


def test_results_that_would_go_are_named_with_their_question(asked: Engine) -> None:
    page = asked.recall(OWNER, RecallQuery("harbour office"))
    told = asked.rehearse(OWNER, {"recall.limit": "1"})
    assert told.replayed == 3 and told.changes == {"recall.limit": 1}
    (one,) = told.changed
    assert (one.kind, one.actor, one.text) == ("recall", "codex", "harbour office")
    assert one.goes == tuple(hit.memory.id for hit in page.hits[1:]) and one.comes == ()
    assert told.goes == 2 and told.comes == 0


def test_results_that_would_come_are_named(asked: Engine) -> None:
    asked.set_setting(OWNER, "recall.limit", 2)
    told = asked.rehearse(OWNER, {"recall.limit": 3})
    assert [(one.text, len(one.goes), len(one.comes)) for one in told.changed] == [("harbour office", 0, 1)]


def test_the_gate_of_packs_and_ageing_can_be_tried(asked: Engine, clock: FixedClock) -> None:
    told = asked.rehearse(OWNER, {"context.relevance": 100})
    assert [one.kind for one in told.changed] == ["context"] and 3 in told.changed[0].goes
    clock.at_ms += 200 * DAY_MS
    told = asked.rehearse(OWNER, {"ageing.policy": "auto", "ageing.dormant_after_days": 10})
    assert {one.text for one in told.changed} >= {"harbour office", "beekeeping"}


def test_nothing_is_written_and_no_setting_changes(asked: Engine, store_dir: Path) -> None:
    asked.usage([1])
    before = (store_dir / "memory.db").read_bytes(), (store_dir / "memory.db-wal").read_bytes()
    asked.rehearse(OWNER, {"recall.limit": 1, "context.relevance": 100})
    assert ((store_dir / "memory.db").read_bytes(), (store_dir / "memory.db-wal").read_bytes()) == before
    assert asked.setting("recall.limit").value == 10


@pytest.mark.parametrize("changes", [{}, {"recall.limits": 1}, {"recall.limit": 999}, {"ageing.policy": "loud"}])
def test_what_cannot_be_set_cannot_be_rehearsed(asked: Engine, changes: dict[str, object]) -> None:
    with pytest.raises(MemdeckError) as refused:
        asked.rehearse(OWNER, changes)
    assert refused.value.code == "invalid_argument"


def test_agents_do_not_rehearse_and_an_empty_log_changes_nothing(engine: Engine) -> None:
    assert engine.rehearse(OWNER, {"recall.limit": 1}).replayed == 0
    with pytest.raises(MemdeckError) as refused:
        engine.rehearse(AGENT, {"recall.limit": 1})
    assert refused.value.code == "needs_human"
