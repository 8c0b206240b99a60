"""The graph channel: where a walk begins, how far it goes, what it leaves out, and what it adds to recall."""

from __future__ import annotations

import pytest

from engine.facade import Engine
from engine.model.clock import FixedClock
from engine.model.enums import Channel, Mode
from engine.model.errors import MemdeckError
from engine.model.memory import Caller, Draft, RecallQuery, Triple
from engine.recall.graph_text import render_graph
from tests.engine.graph.kit import names, tell, told
from tests.engine.kit import DAY_MS, OWNER, agent, put


def chain(engine: Engine) -> None:
    for one, other in ("AB", "BC", "CD"):
        tell(engine, (one, "knows", other))


@pytest.mark.parametrize(
    ("depth", "entities", "relations"),
    [
        (0, ["A"], {}),
        (1, ["A", "B"], {"AB": 1}),
        (2, ["A", "B", "C"], {"AB": 1, "BC": 2}),
        (3, ["A", "B", "C", "D"], {"AB": 1, "BC": 2, "CD": 3}),
        (5, ["A", "B", "C", "D"], {"AB": 1, "BC": 2, "CD": 3}),
    ],
)
def test_depth_by_depth(engine: Engine, depth: int, entities: list[str], relations: dict[str, int]) -> None:
    chain(engine)
    found = engine.graph(OWNER, seeds=["A"], depth=depth)
    assert names(found) == entities
    assert [e.depth for e in found.entities] == list(range(len(entities)))
    assert {r.subject + r.object: r.depth for r in found.relations} == relations
    assert [r.score for r in found.relations] == [0.5**n for n in range(len(relations))]


def test_a_triangle_has_each_relation_once(engine: Engine) -> None:
    for one, other in ("AB", "CA", "BC"):
        tell(engine, (one, "knows", other))
    found = engine.graph(OWNER, seeds=["A"], depth=5)
    assert {r.subject + r.object: r.depth for r in found.relations} == {"AB": 1, "CA": 1, "BC": 2}


@pytest.mark.parametrize("depth", [-1, 6])
def test_a_depth_out_of_bounds_is_refused(engine: Engine, depth: int) -> None:
    with pytest.raises(MemdeckError, match="between 0 and 5"):
        engine.graph(OWNER, seeds=["A"], depth=depth)
    with pytest.raises(MemdeckError, match="between 0 and 5"):
        engine.recall(OWNER, RecallQuery("A", channel=Channel.GRAPH, hops=depth))


@pytest.mark.parametrize("days", [0, -3, float("nan"), float("inf")])
def test_days_that_are_none_are_refused(engine: Engine, days: float) -> None:
    with pytest.raises(MemdeckError, match="days"):
        engine.graph(OWNER, seeds=["A"], days=days)


@pytest.mark.parametrize("query", ["A，B", "a,b", "A B", "A、B", " b \n A "])
def test_keywords_are_split_in_either_script(engine: Engine, query: str) -> None:
    tell(engine, ("A", "knows", "x"))
    tell(engine, ("B", "knows", "y"))
    assert sorted(names(engine.graph(OWNER, query, depth=0))) == ["A", "B"]


def test_percent_and_underscore_are_taken_as_they_are(engine: Engine) -> None:
    tell(engine, ("100% wool", "warms", "Ana"), ("snake_case", "beats", "camelCase"))
    assert names(engine.graph(OWNER, "%", depth=0)) == ["100% wool"]
    assert names(engine.graph(OWNER, "_", depth=0)) == ["snake_case"]
    assert names(engine.graph(OWNER, "\\", depth=0)) == []


def test_a_keyword_inside_a_name_is_enough(engine: Engine) -> None:
    tell(engine, ("Harbour office", "has", "roof"))
    assert names(engine.graph(OWNER, "OFFI", depth=0)) == ["Harbour office"]


def test_a_name_inside_a_chinese_question_is_found(engine: Engine) -> None:
    tell(engine, ("书箱", "在", "二楼"))
    assert names(engine.graph(OWNER, "书箱在哪", depth=0)) == ["书箱"]


@pytest.mark.parametrize("query", ['"', "*", "NEAR", "-", "''", "\x00", "🙂", "，，", "?" * 5000, "a" * 100_000])
def test_any_text_is_a_question(engine: Engine, query: str) -> None:
    chain(engine)
    engine.graph(OWNER, query)
    engine.recall(OWNER, RecallQuery(query, channel=Channel.GRAPH))
    engine.recall(OWNER, RecallQuery(query))


def test_an_empty_question_gives_the_fifty_most_mentioned(engine: Engine) -> None:
    for n in range(30):
        tell(engine, (f"left{n:02d}", "knows", f"right{n:02d}"))
    tell(engine, ("left07", "likes", "right09"))
    found = engine.graph(OWNER, "")
    assert len(found.entities) == 50
    assert names(found)[:2] == ["left07", "right09"]
    assert [e.mentions for e in found.entities] == sorted((e.mentions for e in found.entities), reverse=True)
    assert ("left07", "likes", "right09") in told(found)
    assert {e for r in told(found) for e in (r[0], r[2])} <= set(names(found))


def test_days_and_session_limit_relations(engine: Engine, clock: FixedClock) -> None:
    tell(engine, ("Ana", "likes", "tea"), by=agent(session="s1"))
    clock.at_ms += 40 * DAY_MS
    tell(engine, ("Ana", "likes", "rain"), by=agent(session="s2"))
    assert told(engine.graph(OWNER, seeds=["Ana"], days=7)) == {("Ana", "likes", "rain")}
    assert len(told(engine.graph(OWNER, seeds=["Ana"], days=41))) == 2
    assert told(engine.graph(OWNER, seeds=["Ana"], session="s1")) == {("Ana", "likes", "tea")}
    page = engine.recall(OWNER, RecallQuery("Ana", channel=Channel.GRAPH, days=7))
    assert [hit.memory.id for hit in page.hits] == [2]
    page = engine.recall(OWNER, RecallQuery("Ana", channel=Channel.GRAPH, session="s1"))
    assert [hit.memory.id for hit in page.hits] == [1]


def test_a_redo_makes_no_statement_younger(engine: Engine, clock: FixedClock) -> None:
    tell(engine, ("Ana", "likes", "tea"))
    clock.at_ms += 40 * DAY_MS
    engine.undo(OWNER)
    engine.redo(OWNER)
    assert told(engine.graph(OWNER, seeds=["Ana"], days=7)) == set()
    assert told(engine.graph(OWNER, seeds=["Ana"])) == {("Ana", "likes", "tea")}


def test_archived_statements_are_only_in_their_list(engine: Engine, clock: FixedClock) -> None:
    tell(engine, ("Ana", "likes", "tea"))
    tell(engine, ("Bo", "likes", "coffee"))
    engine.forget(OWNER, ["mem-1"], how="archive")
    clock.at_ms += DAY_MS
    engine.forget(OWNER, ["mem-2"], how="archive")
    assert engine.graph(OWNER, "Ana,Bo").entities == ()
    assert names(engine.graph(OWNER, "Ana", mode=Mode.ASSOCIATIVE, depth=0)) == ["Ana"]
    assert [f.subject for f in engine.archived_facts(OWNER)] == ["Bo", "Ana"]
    assert [f.subject for f in engine.archived_facts(OWNER, keyword="TEA")] == ["Ana"]
    assert [f.subject for f in engine.archived_facts(OWNER, keyword="like")] == ["Bo", "Ana"]
    assert [f.subject for f in engine.archived_facts(OWNER, days=0.5)] == ["Bo"]


def test_at_most_two_hundred_archived_statements_are_listed(engine: Engine) -> None:
    made = [tell(engine, *[(f"n{n}", "knows", f"m{k}") for k in range(50)]).ref for n in range(5)]
    engine.forget(OWNER, made, how="archive")
    assert len(engine.archived_facts(OWNER)) == 200


def test_a_walk_has_bounds_and_says_so(engine: Engine) -> None:
    for block in range(12):
        tell(engine, *[("hub", "knows", f"n{block}-{k}") for k in range(95)])
    found = engine.graph(OWNER, seeds=["hub"], depth=3)
    assert found.cut and len(found.relations) <= 500
    assert ("hub", "knows", "n11-94") in told(found)


def test_the_text_form(engine: Engine) -> None:
    tell(engine, ("用户", "喜欢", "摇滚"), by=agent(session="s1"), entity_types={"用户": "Person"})
    tell(engine, ("用户", "[推测]喜欢", "音乐"), by=agent(session="s2"))
    assert render_graph(engine.graph(OWNER, "用户")) == (
        "【记忆检索结果】\n"
        "实体:\n"
        "- 用户 (Person, 提及 2 次)\n"
        "- 摇滚 (Concept, 提及 1 次)\n"
        "- 音乐 (Concept, 提及 1 次)\n"
        "关系:\n"
        "- 用户 --[喜欢]--> 摇滚 (2026-11-29 12:00, 会话 s1, 置信度 1)\n"
        "- 用户 --[[推测]喜欢]--> 音乐 (2026-11-29 12:00, 会话 s2, 置信度 0.6)"
    )


def test_the_text_form_of_nothing(engine: Engine) -> None:
    assert render_graph(engine.graph(OWNER, "nobody")) == "【记忆检索结果】\n(未找到相关记忆)"


def test_introspection_of_a_session(engine: Engine) -> None:
    tell(engine, ("Ana", "likes", "tea"), ("Ana", "likes", "rain"), by=agent(session="s1"))
    tell(engine, ("Bo", "knows", "Ana"), by=agent(session="s2"))
    found = engine.introspect(OWNER, "s1")
    assert [e.name for e in found.entities] == ["Ana", "rain", "tea"]
    assert (found.relations, found.relation_types) == (2, {"likes": 2})
    assert found.hotspots[0].name == "Ana" and found.hotspots[0].mentions == 3
    everything = engine.introspect(OWNER)
    assert (everything.relations, everything.relation_types) == (3, {"likes": 2, "knows": 1})


def test_introspection_lists_ten_hotspots(engine: Engine) -> None:
    tell(engine, *[("hub", "knows", f"n{k}") for k in range(20)], by=agent(session="s1"))
    found = engine.introspect(OWNER, "s1")
    assert len(found.hotspots) == 10 and found.hotspots[0].name == "hub" and len(found.entities) == 21


def test_the_channel_alone_gives_memories_with_score_and_reason(engine: Engine) -> None:
    tell(engine, ("Ana", "works at", "Acme"), text="She joined in spring")
    tell(engine, ("Acme", "sits in", "Malmö"), text="The office has moved")
    page = engine.recall(OWNER, RecallQuery("Ana", channel=Channel.GRAPH))
    assert [(h.memory.id, h.score, h.why) for h in page.hits] == [
        (1, 1.0, "graph: Ana –works at→ Acme, 1 hop"),
        (2, 0.5, "graph: Acme –sits in→ Malmö, 2 hops"),
    ]
    assert page.total == 2 and page.next_cursor is None
    both = engine.recall(OWNER, RecallQuery("Acme, Ana", channel=Channel.GRAPH)).hits
    assert (both[0].memory.id, both[0].score) == (1, 1.25)


def test_pages_of_the_graph_follow_each_other(engine: Engine) -> None:
    for n in range(7):
        tell(engine, ("Ana", "knows", f"n{n}"))
    first = engine.recall(OWNER, RecallQuery("Ana", channel=Channel.GRAPH, limit=4))
    rest = engine.recall(OWNER, RecallQuery("Ana", channel=Channel.GRAPH, limit=4, cursor=first.next_cursor))
    ids = [hit.memory.id for hit in (*first.hits, *rest.hits)]
    assert first.total == rest.total == 7 and sorted(ids) == [1, 2, 3, 4, 5, 6, 7]
    with pytest.raises(MemdeckError, match="another question"):
        engine.recall(OWNER, RecallQuery("Ana", cursor=first.next_cursor))


def recalled(engine: Engine, text: str, channel: Channel, by: Caller = OWNER) -> list[tuple[int, float, str]]:
    return [(h.memory.id, h.score, h.why) for h in engine.recall(by, RecallQuery(text, channel=channel)).hits]


def test_without_facts_fused_is_the_text_alone(engine: Engine) -> None:
    for text in ("The harbour office has a new roof", "The roof of the shed leaks", "Tea is in the kitchen"):
        put(engine, text)
    assert recalled(engine, "who repairs the roof", Channel.FUSED) == recalled(
        engine, "who repairs the roof", Channel.TEXT
    )


def test_facts_of_others_change_no_score(engine: Engine) -> None:
    for text in ("The harbour office has a new roof", "The roof of the shed leaks"):
        put(engine, text)
    tell(engine, ("Bo", "likes", "coffee"))
    assert recalled(engine, "who repairs the roof", Channel.FUSED) == recalled(
        engine, "who repairs the roof", Channel.TEXT
    )


def test_fused_brings_in_what_only_the_graph_knows(engine: Engine) -> None:
    put(engine, "Ana likes long walks")
    tell(engine, ("Ana", "works at", "Acme"), text="She joined the company in spring")
    found = recalled(engine, "what is known of Ana", Channel.FUSED)
    assert [id for id, _, _ in found] == [1, 2]
    assert found[1][2] == "graph: Ana –works at→ Acme, 1 hop"
    assert found[1][1] <= 0.25 * found[0][1] + 1e-9
    assert [id for id, _, _ in recalled(engine, "what is known of Ana", Channel.TEXT)] == [1]


def test_the_bonus_is_shown_among_the_parts(engine: Engine) -> None:
    tell(engine, ("Ana", "works at", "Acme"))
    (hit,) = engine.recall(OWNER, RecallQuery("where does Ana work")).hits
    assert hit.parts["graph"] == pytest.approx(0.25 * (hit.score - hit.parts["graph"]))
    assert hit.why.endswith("; graph: Ana –works at→ Acme, 1 hop")


def test_two_current_values_of_one_relation_are_one_conflict(engine: Engine) -> None:
    tell(engine, ("部署", "区域", "华南"), topics=("部署",))
    tell(engine, ("部署", "区域", "华东"), topics=("部署",))
    (found,) = engine.fact_conflicts(OWNER)
    assert (found.subject, found.relation) == ("部署", "区域")
    assert found.objects == (("华南", (1,)), ("华东", (2,)))
    assert list(engine.tensions(OWNER)) == ["部署"]
    items = engine.review_items()
    assert [(i.kind.value, i.memory_id, i.rival_id) for i in items] == [("contradiction", 2, 1)]
    assert {m.state.value for m in engine.memory_rows(OWNER, [1, 2])} == {"active"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("Ana", "likes", "tea"), ("Ana", "likes", "coffee")),
        (("用户", "喜欢", "摇滚"), ("用户", "喜欢", "爵士")),
        (("Ana", "knows", "Bo"), ("Ana", "knows", "Cy")),
        (("Ana", "is", "a cook"), ("Ana", "is", "a mother")),
        (("api", "port", "8080"), ("API", "port", "８０８０")),
        (("api", "port", "8080"), ("web", "port", "9090")),
    ],
)
def test_what_can_hold_together_is_no_conflict(engine: Engine, one, other) -> None:
    tell(engine, one)
    tell(engine, other)
    assert engine.fact_conflicts(OWNER) == []


def test_a_superseded_value_is_no_conflict(engine: Engine) -> None:
    old = tell(engine, ("api", "port", "8080"))
    engine.remember(OWNER, Draft("The port is 9090 now", triples=(Triple("api", "port", "9090"),)), replaces=old.ref)
    assert engine.fact_conflicts(OWNER) == []
