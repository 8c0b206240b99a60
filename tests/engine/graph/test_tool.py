"""Statements through the agents' door: remembering them, and recalling by channel."""

from __future__ import annotations

import json
from typing import Any

from engine.facade import Engine, open_engine
from engine.serve.dispatch import call_tool
from engine.serve.tools import list_tools
from tests.engine.kit import OWNER, agent


def call(engine: Engine, tool: str, /, **arguments: object) -> dict[str, Any]:
    envelope = call_tool(engine, agent(session="s1"), tool, arguments)  # type: ignore[arg-type]
    return json.loads(envelope.as_json())  # type: ignore[no-any-return]


def refs(answer: dict[str, Any]) -> list[str]:
    return [hit["ref"] for hit in answer["data"]["hits"]]


def test_an_agent_stores_a_preference_as_a_statement(engine: Engine, store_dir, clock) -> None:
    answer = call(engine, "remember", text="我喜欢摇滚", said_by="user", triples=[["用户", "喜欢", "摇滚"]])
    assert answer["ok"]
    with open_engine(store_dir, clock=clock, env={}, read_only=True) as later:
        (found,) = later.graph(OWNER, "用户").relations
    assert (found.subject, found.relation, found.object) == ("用户", "喜欢", "摇滚")


def test_an_incomplete_triple_is_skipped_with_a_note(engine: Engine) -> None:
    answer = call(engine, "remember", triples=[["Ana", "likes", "tea"], ["", "likes", "tea"]])
    assert answer["ok"] and any("1 triple" in note for note in answer["notes"])
    assert not call(engine, "remember", triples=[["", "likes", "tea"]])["ok"]


def test_recall_by_the_graph_with_seeds_hops_days_and_session(engine: Engine) -> None:
    call(engine, "remember", text="She joined in spring", triples=[["Ana", "works at", "Acme"]])
    call(engine, "remember", text="The office has moved", triples=[["Acme", "sits in", "Malmö"]])
    assert refs(call(engine, "recall", channel="graph", seeds=["Ana"])) == ["mem-1@1", "mem-2@1"]
    assert refs(call(engine, "recall", channel="graph", seeds="Ana", hops=1)) == ["mem-1@1"]
    assert refs(call(engine, "recall", query="Ana", channel="graph", days=0.5, session="s1")) == ["mem-1@1", "mem-2@1"]
    assert refs(call(engine, "recall", query="Ana", channel="graph", session="s2")) == []
    assert refs(call(engine, "recall", query="Ana", channel="text")) == []
    assert refs(call(engine, "recall", query="Ana")) == ["mem-1@1", "mem-2@1"]


def test_a_walk_that_cannot_be_is_refused_by_name(engine: Engine) -> None:
    for wrong in ({"hops": 9}, {"days": -1}, {"channel": "vector"}):
        error = call(engine, "recall", query="Ana", **wrong)["error"]
        assert error["code"] == "invalid_argument" and next(iter(wrong)) in error["message"]


def test_the_bounds_of_a_walk_are_accepted_and_not_listed() -> None:
    (recall,) = [tool for tool in list_tools() if tool["name"] == "recall"]
    listed = recall["inputSchema"]["properties"]  # type: ignore[index]
    assert not {"channel", "seeds", "hops", "days", "session"} & set(listed)
