"""The pack: its sections in order, their caps, and how a memory stands in it."""

from __future__ import annotations

import re

import pytest

from engine.context.notes import age_mark
from engine.context.sections import PLAYBOOK, fill
from engine.facade import Engine
from engine.model.clock import FixedClock
from engine.model.enums import Kind, Origin, SaidBy, Type
from engine.model.memory import Caller, Draft
from engine.store.schema import TOPICS
from engine.usecases import contexts
from tests.engine.context.conftest import DAY_MS, NOON, OWNER, agent, put

NOBODY = agent(None)


def test_sections_stand_in_the_order_of_the_pack(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(contexts.PROVIDERS, "tasks", lambda asking: ["sweep the quay"])
    monkeypatch.setitem(contexts.PROVIDERS, "persona", lambda asking: ["calm, brief"])
    monkeypatch.setitem(contexts.PROVIDERS, "playbook", lambda asking: ["knots first"])
    put(engine, "Write dates as 2026-11-29", kind=Kind.CORRECTION)
    put(engine, "The quay is closed at night", baseline=True)
    for number in range(12):
        put(engine, f"The crane lifts {number} tons", subject=str(number))
    pack = engine.context(agent(), "crane lifts tons")
    names = [name for name, _ in pack.sections]
    assert names == ["discipline", "persona", "playbook", "core", "baseline", "relevant", "tasks", "gap", "status"]
    assert [part.name for part in pack.parts] == names
    assert pack.text == "\n".join(part.text for part in pack.parts)


def test_the_same_question_gives_the_same_bytes_all_day(engine: Engine, clock: FixedClock) -> None:
    put(engine, "The crane lifts ten tons", body="Ten.\n\nNever more.", topics=("quay", "loads"))
    put(engine, "The crane is blue")
    clock.at_ms += 3 * DAY_MS
    first = engine.context(NOBODY, "crane tons").text
    clock.at_ms += 3 * 3_600_000
    assert engine.context(NOBODY, "crane tons").text == first and "3 天前" in first


def test_every_injection_begins_with_the_discipline(engine: Engine) -> None:
    put(engine, "The crane lifts ten tons")
    text = engine.context(agent(), "what does the crane lift").text
    assert text.startswith("# Using remembered notes\n")
    assert "exist" in text and "grep" in text and "old date" in text
    assert engine.context(agent(), "weather").text == ""


def test_corrections_come_first_and_core_memory_is_small(engine: Engine) -> None:
    for number in range(200):
        put(engine, f"The user likes harbour number {number} best of all", type=Type.USER, subject=f"s{number}")
    put(engine, "Boats are named in lower case", kind=Kind.CORRECTION)
    pack = engine.context(NOBODY)
    core = next(part for part in pack.parts if part.name == "core")
    assert len(core.text) == core.used <= 400
    assert core.text.splitlines()[1] == "- Boats are named in lower case [mem-201]"


def test_a_correction_is_tagged_and_pinned_before_newer_memories(engine: Engine, clock: FixedClock) -> None:
    put(engine, "Boats are named in lower case", kind=Kind.CORRECTION)
    clock.at_ms += DAY_MS
    put(engine, "The user likes tea", type=Type.USER)
    core = engine.context(NOBODY).text.split("## Core\n")[1].splitlines()
    assert core[0].startswith("- Boats are named")


def test_the_playbook_keeps_its_cap_and_counts_the_rest_exactly() -> None:
    rules = [f"{number:02} {'r' * 57}" for number in range(20)]
    text, taken = fill(PLAYBOOK, rules)
    assert len(text) <= 600
    assert text.startswith("## Playbook\n") and text.endswith(f"另有 {20 - len(taken)} 条准则因预算省略\n")
    assert taken == list(range(len(taken))) and len(taken) >= 8


def test_rules_come_every_time_and_memories_only_in_number(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(contexts.PROVIDERS, "playbook", lambda asking: [f"rule {n}" for n in range(5)])
    engine.set_setting(OWNER, "context.memories", 4)
    for number in range(50):
        put(engine, f"The ferry carries {number} cars", subject=str(number))
    for question in ("ferry cars", "ferry cars", "ferry carries"):
        pack = engine.context(agent(), question)
        assert all(f"- rule {n}\n" in pack.text for n in range(5))
        assert len(pack.injected) <= 4


def test_a_passage_has_its_exact_lines_and_its_description(engine: Engine) -> None:
    body = "\n".join(
        ["# Deploying", "", "Nothing here.", "", "Staging listens on 5433,", "production on 6000.", "", "End."]
    )
    put(engine, "How the service is deployed", name="deploying", body=body)
    text = engine.context(NOBODY, "which port does staging listen on").text
    assert "### deploying:5-6 [mem-1@1]\n> How the service is deployed\n```text\nStaging listens on 5433,\n" in text
    assert "Nothing here" not in text


def test_a_body_is_cut_at_1500_characters(engine: Engine) -> None:
    put(engine, "The long log", name="log", body="长" * 1501)
    put(engine, "The other log", name="fits", body="短" * 1500)
    text = engine.context(NOBODY, "the long log and the other log", max_tokens=20_000).text
    assert f"\n{'长' * 1500}…（截断）\n" in text and f"\n{'短' * 1500}\n" in text
    engine.set_setting(OWNER, "context.max_chars", 200)
    assert f"\n{'短' * 200}…（截断）\n" in engine.context(NOBODY, "the other log").text


def test_a_long_body_spills_into_its_size_and_a_reference(engine: Engine) -> None:
    put(engine, "The log of the crane", body="The crane was oiled today. " * 186)
    pack = engine.context(NOBODY, "log of the crane")
    assert f"(chars={186 * 27}, ref=mem-1)" in pack.text and pack.tokens <= 600
    put(engine, "The crane is blue", body="Sky blue.")
    assert "chars=" not in engine.context(NOBODY, "is the crane blue", depth="full").text.split("### mem-2")[1]


def test_lines_of_a_cut_body_are_those_that_are_shown(engine: Engine) -> None:
    put(engine, "The list of boats", name="boats", body="\n".join(f"boat {n:03} " + "x" * 90 for n in range(100)))
    text = engine.context(NOBODY, "list of boats", max_tokens=20_000).text
    first, last = map(int, re.search(r"### boats:(\d+)-(\d+) ", text).groups())  # type: ignore[union-attr]
    shown = text.split("```text\n")[1].split("…（截断）")[0].rstrip().split("\n")
    assert first == 1 and last == len(shown) == 15


def test_age_is_told_by_the_stated_date_first(engine: Engine, clock: FixedClock) -> None:
    put(engine, "The pier is rotten", dated_at=NOON - 5 * DAY_MS)
    put(engine, "The pier has a lamp")
    assert "（保存于 5 天前）" in engine.context(NOBODY, "is the pier rotten").text
    today = engine.get(OWNER, "mem-2")
    assert age_mark(today, 1, NOON) == "" and age_mark(today, 0, NOON) == "（保存于 0 天前）"
    assert age_mark(today, 0, NOON - 9 * DAY_MS) == "（保存于 0 天前）"
    assert age_mark(today, 1, NOON + 9 * DAY_MS) == "（保存于 9 天前）"


def test_what_a_reader_must_know_stands_beside_a_memory(engine: Engine) -> None:
    put(engine, "The tide turns at six")
    told = Caller(Origin.AGENT, "scribe", session="s9", workspace="/w/harbour")
    engine.remember(told, Draft("The gull nests on the crane", said_by=SaidBy.GUESS))
    engine.remember(told, Draft("The tide turns at seven"), replaces="mem-1")
    assert "> [推测] The gull nests" in (text := engine.context(NOBODY, "where does the gull nest").text)
    assert "(confidence 60%)" in text
    put(engine, "The wall is eight metres high", confidence=0.7047)
    assert "(confidence 70%)" in engine.context(NOBODY, "how high is the wall").text
    tide = engine.context(NOBODY, "when does the tide turn").text
    assert "in conflict with mem-3" in tide and "at seven" not in tide


def test_memories_stand_under_their_topic_and_those_without_last(engine: Engine) -> None:
    put(engine, "The ferry sails at six")
    put(engine, "The ferry is painted green", topics=("paint",))
    put(engine, "The ferry sails twice on Sundays", topics=("timetable",))
    text = engine.context(NOBODY, "when does the ferry sail").text
    headings = re.findall(r"^## Relevant.*$", text, re.M)
    assert set(headings[:-1]) == {"## Relevant: paint", "## Relevant: timetable"} and headings[-1] == "## Relevant"


def test_an_alias_of_a_topic_in_the_question_selects_it(engine: Engine) -> None:
    put(engine, "每周四下午冻结代码", topics=("发布",))
    put(engine, "Freeze on Thursdays", topics=("release",))
    with engine._desk.store.write(OWNER, "topic") as tx:
        tx.replace(TOPICS, (1,), {"aliases": '["发版"]'})
    engine.set_setting(OWNER, "context.relevance", 100)
    assert engine.context(NOBODY, "发版之前要做什么").injected == (1,)
    assert engine.context(NOBODY, "发布之前要做什么").injected == (1,)
    assert engine.context(NOBODY, "what is due before a release").injected == (2,)
    assert engine.context(NOBODY, "what was prereleased").injected == ()


def test_a_memory_can_bring_the_others_of_its_topic(engine: Engine) -> None:
    put(engine, "The ferry sails at six", topics=("ferry",))
    put(engine, "Tickets are sold on board", topics=("ferry",))
    assert engine.context(NOBODY, "when does it sail at six").injected == (1,)
    pack = engine.context(NOBODY, "when does it sail at six", expand=True)
    assert pack.injected == (1, 2) and "(via topic)" in pack.text


def test_depth_says_how_much_of_a_memory_is_shown(engine: Engine) -> None:
    put(engine, "What was said about the mole", body="The question.\n\nThe mole is ninety metres long.")
    shown = {
        d: engine.context(NOBODY, "how long is the mole in metres", depth=d)
        for d in ("off", "summary", "detail", "full")
    }
    assert shown["off"].text == "" and shown["off"].left_out[0].reason == "off"
    assert "said about" in shown["summary"].text and "ninety" not in shown["summary"].text
    assert "ninety" in shown["detail"].text and "The question." not in shown["detail"].text
    assert "ninety" in shown["full"].text and "The question." in shown["full"].text


def test_a_pack_keeps_to_its_size_and_says_what_it_left_out(engine: Engine) -> None:
    for number in range(9):
        put(
            engine, f"The chart of bay {number}", body=f"Depth of the bay: {number} fathoms. " * 30, subject=str(number)
        )
    pack = engine.context(NOBODY, "chart of the bay", max_tokens=500)
    assert 0 < len(pack.injected) < 9 and pack.tokens <= 700
    assert set(pack.injected).isdisjoint(id_ for id_, _ in pack.omitted)
    assert f"因预算省略 {len(pack.omitted)} " in pack.text


@pytest.mark.parametrize(("argument", "value"), [("max_tokens", 0), ("depth", "bottomless")])
def test_a_size_that_cannot_be_is_refused(engine: Engine, argument: str, value: object) -> None:
    from engine.model.errors import MemdeckError

    with pytest.raises(MemdeckError, match=argument):
        engine.context(NOBODY, "x", **{argument: value})  # type: ignore[arg-type]
