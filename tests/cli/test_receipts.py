"""Why and why not, feedback, what sleeps, and rehearsal from the shell."""

from __future__ import annotations

import pytest

from engine.facade import open_engine
from engine.model.enums import Origin
from engine.model.memory import Caller, Draft, RecallQuery


@pytest.fixture
def filled(memdeck, terminal) -> None:
    for text in ("The harbour office opens at eight", "The harbour crane is red", "港口办公室八点开门"):
        memdeck("remember", text)


def test_a_memory_is_explained(memdeck, filled) -> None:
    shown = memdeck("explain", "harbour", "office", "mem-1").out
    assert "found: rank 1 of " in shown and "words in common: harbour, offic" in shown and "  text 1/" in shown
    assert "covers 1.00 of the question" in shown
    told = memdeck("explain", "办公室", "mem-3", "--json").json
    assert told["found"] and told["rank"] == 1 and told["channels"][0]["name"] == "fused"


def test_why_not_is_said(memdeck, filled) -> None:
    assert "not found: no term in common" in memdeck("explain", "beekeeping", "mem-1").out
    memdeck("forget", "mem-1")
    assert "state: it is deleted" in memdeck("explain", "harbour", "mem-1").out
    assert memdeck("explain", "harbour", "mem-99", code=1).err
    assert "没找到" in memdeck("explain", "beekeeping", "mem-2", "--lang", "zh").out


def test_a_recall_brings_the_rest_of_a_topic_along(memdeck, filled, store) -> None:
    with open_engine(store) as engine:
        for text in ("Ferries sail at noon", "Tugs wear red"):
            engine.remember(Caller(Origin.CLI, "owner"), Draft(text, topics=("port",)))
    assert "mem-5" not in memdeck("recall", "ferries").out
    assert "mem-5" in memdeck("recall", "ferries", "--expand").out


def test_feedback_is_said_listed_and_taken_back(memdeck, filled) -> None:
    assert "nothing was said" in memdeck("feedback").out
    assert "mem-1: rejected" in memdeck("feedback", "mem-1", "rejected").out
    assert "mem-1" not in memdeck("recall", "harbour office").out
    assert "rejected: it was rejected" in memdeck("explain", "harbour", "mem-1").out
    assert memdeck("feedback", "--json").json == {"mem-1": "rejected"}
    memdeck("feedback", "mem-1", "reset")
    assert "mem-1" in memdeck("recall", "harbour office").out
    memdeck("feedback", "mem-1", code=2)
    memdeck("feedback", "mem-1", "great", code=2)


def test_nothing_sleeps_in_a_young_store(memdeck, filled) -> None:
    assert "untouched" in memdeck("status", "--view", "dormant").out
    assert memdeck("status", "--view", "dormant", "--json").json == []


def test_settings_are_rehearsed(memdeck, filled, store) -> None:
    with open_engine(store) as engine:
        engine.recall(Caller(Origin.AGENT, "codex"), RecallQuery("harbour"))
    shown = memdeck("rehearse", "recall.limit=1").out
    assert "recall codex: harbour" in shown and "asked again: 1; with another result: 1; results" in shown
    assert memdeck("rehearse", "recall.limit=9", "--json").json["changed"] == []
    assert "SETTING=VALUE" in memdeck("rehearse", "recall.limit", code=2).err
    assert "recall.limit" in memdeck("rehearse", "recall.limit=0", code=1).err
