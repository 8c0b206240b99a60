"""Expanding a recall: the other memories of a topic come along (C18)."""

from __future__ import annotations

from engine.facade import Engine
from engine.model.enums import Type
from engine.model.memory import Filter, RecallQuery
from engine.serve import reading
from engine.serve.call import Call
from tests.engine.kit import OWNER, agent, put

AGENT = agent()


def brought(engine: Engine, text: str = "harbour", **how: object) -> list[tuple[int, str]]:
    page = engine.recall(AGENT, RecallQuery(text, expand=True, **how))  # type: ignore[arg-type]
    return [(hit.memory.id, hit.why) for hit in page.hits if hit.why.startswith("via topic")]


def test_a_recall_brings_the_others_of_a_topic_along(engine: Engine) -> None:
    put(engine, "The harbour office opens at eight", topics=("port", "hours"))
    put(engine, "Tugs leave at noon", topics=("port",))
    put(engine, "Shops close at six", topics=("hours",))
    put(engine, "Bees need a veil", topics=("garden",))
    assert brought(engine) == [(3, "via topic hours"), (2, "via topic port")]
    plain, wide = (engine.recall(AGENT, RecallQuery("harbour", expand=e)) for e in (False, True))
    assert wide.hits[: len(plain.hits)] == plain.hits and wide.total == plain.total == 1
    assert wide.next_cursor is None and brought(engine, limit=1) == [(3, "via topic hours")]


def test_only_what_the_question_may_find_comes_along(engine: Engine) -> None:
    put(engine, "The harbour office opens at eight", topics=("port", "hours"), type=Type.PROJECT)
    put(engine, "Tugs leave at noon", topics=("port",), type=Type.PROJECT)
    put(engine, "Pilots wear red", topics=("port",), type=Type.USER)
    put(engine, "Shops close at six", topics=("hours",), type=Type.PROJECT)
    engine.report_feedback(OWNER, "mem-4", "rejected")
    assert brought(engine, filter=Filter(types=(Type.PROJECT,))) == [(2, "via topic port")]
    assert brought(engine, filter=Filter(topics=("hours",))) == []
    engine.forget(OWNER, ["mem-2"])
    assert brought(engine) == [(3, "via topic port")]


def test_an_agent_s_tool_counts_only_what_matches(engine: Engine) -> None:
    for number in range(3):
        put(engine, f"The harbour office opens at {number}", topics=("port",))
    put(engine, "Tugs leave at noon", topics=("port",))
    answer = reading.recall(Call(engine, AGENT), reading.Recall(query="harbour", limit=2, expand=True))
    assert isinstance(answer.data, dict) and answer.data["more"] == 1
    assert [hit["why"] for hit in answer.data["hits"]][2:] == ["via topic port"] * 2
