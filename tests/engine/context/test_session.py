"""A session's ledger: what is given once, what is not repeated, what is counted, and when all that begins anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.context.budget import pools
from engine.facade import Engine, open_engine
from engine.model.clock import FixedClock
from engine.model.enums import Kind, Type
from engine.usecases import contexts
from tests.engine.context.conftest import NOON, OWNER, agent, put


@pytest.mark.parametrize(
    ("cap", "body", "card"), [(61_440, 58_368, 3_072), (4_096, 3_072, 1_024), (524_288, 520_192, 4_096)]
)
def test_a_session_has_two_pools(cap: int, body: int, card: int) -> None:
    assert pools(cap) == (body, card)


def test_the_same_question_twice_in_a_row_is_answered_once(engine: Engine) -> None:
    put(engine, "The anchor weighs two tons")
    put(engine, "The rudder is made of oak")
    asked = ["how heavy is the anchor"] * 2 + ["what is the rudder made of", "how heavy is the  ANCHOR"]
    packs = [engine.context(agent(), question) for question in asked]
    assert [bool(pack.text) for pack in packs] == [True, False, True, True]
    assert [pack.repeated for pack in packs] == [False, True, False, False]


def test_another_session_and_no_session_know_nothing_of_it(engine: Engine) -> None:
    put(engine, "The anchor weighs two tons")
    for by in (agent("a"), agent("b"), agent(None), agent(None)):
        assert "two tons" in engine.context(by, "how heavy is the anchor").text


def test_a_changed_memory_is_no_repetition(engine: Engine) -> None:
    put(engine, "The anchor weighs two tons")
    engine.context(agent(), "how heavy is the anchor")
    engine.edit(OWNER, "mem-1@1", {"description": "The anchor weighs three tons"})
    assert "three tons" in engine.context(agent(), "how heavy is the anchor").text


@pytest.mark.parametrize(
    ("question", "request_"),
    [
        ("上次决定用 A 方案对吧", "verification"),
        ("不用 A 方案了", "correction"),
        ("之前为什么没选 A 方案", "basis"),
        ("we settled on plan A last time, right?", "verification"),
        ("we are not using plan A any more", "correction"),
        ("why did we not pick plan A before", "basis"),
    ],
)
def test_explicit_requests_always_get_the_original(engine: Engine, question: str, request_: str) -> None:
    put(engine, "决定用 A 方案 (plan A)")
    first, second = (engine.context(agent(), question) for _ in range(2))
    assert "plan A" in first.text and "plan A" in second.text
    assert second.request == request_ and not second.repeated


@pytest.mark.parametrize("question", ["A 方案的内容", "tell me about plan A", "plan A"])
def test_what_cannot_be_judged_is_not_judged(engine: Engine, question: str) -> None:
    put(engine, "决定用 A 方案的内容 (plan A)")
    assert engine.context(agent(), question).text and not engine.context(agent(), question).text


def test_baseline_comes_once_a_session_by_priority_then_name(engine: Engine) -> None:
    for name, priority in (("c", 0), ("b", 5), ("a", 0)):
        put(engine, f"Always {name}", name=name, baseline=True, baseline_priority=priority, subject=name)
    text = engine.context(agent()).text
    assert [text.index(f"Always {name}") for name in "bac"] == sorted(text.index(f"Always {name}") for name in "bac")
    assert engine.context(agent(), "anything else").text == ""
    assert "Always a" in engine.context(agent("s2")).text


def test_only_eight_baseline_memories_are_given(engine: Engine) -> None:
    for number in range(11):
        put(engine, f"Rule {number}", name=f"r{number:02}", baseline=True, subject=str(number))
    pack = engine.context(agent())
    assert len(pack.injected) == 8
    assert [(left.id, left.reason) for left in pack.left_out] == [(n, "baseline") for n in (9, 10, 11)]


def test_baseline_counts_as_given_only_when_it_was(engine: Engine) -> None:
    put(engine, "The anchor weighs two tons")
    assert engine.context(agent(), "how heavy is the anchor").text
    put(engine, "Always look at the sky", baseline=True)
    assert "look at the sky" in engine.context(agent(), "what about the mast").text
    assert "look at the sky" not in engine.context(agent(), "and the anchor, how heavy").text


def test_core_comes_once_a_session(engine: Engine) -> None:
    put(engine, "The user drinks tea", type=Type.USER)
    assert "drinks tea" in engine.context(agent()).text
    assert engine.context(agent(), "the weather").text == ""
    assert "drinks tea" in engine.context(agent(), "the weather", fresh=True).text


def large(engine: Engine, number: int, **fields: object) -> None:
    put(engine, f"The chart of bay {number}", body=f"Bay {number}. " + "depth " * 210, subject=str(number), **fields)


def test_at_the_cap_no_body_is_given_but_the_card_is(engine: Engine) -> None:
    engine.set_setting(OWNER, "context.session_bytes", 4_096)
    for number in range(3):
        large(engine, number)
    pack = engine.context(agent(), "chart of the bay")
    assert len(pack.injected) == 1 and [reason for _, reason in pack.omitted] == ["budget", "budget"]
    assert "因预算省略 2 " in pack.text
    after = engine.context(agent(), "the bay and its chart")
    assert after.injected == () and "## Not shown\n3 more matching notes, 3 for budget" in after.text
    assert pack.budget and pack.budget.after <= pack.budget.cap


def test_a_baseline_memory_that_is_asked_for_passes_the_cap(engine: Engine) -> None:
    engine.set_setting(OWNER, "context.session_bytes", 4_096)
    put(engine, "The siren is tested on Mondays", body="Mondays. " + "test " * 250, baseline=True)
    large(engine, 1)
    large(engine, 2)
    engine.context(agent(), "chart of the bay")
    pack = engine.context(agent(), "when is the siren tested")
    assert 1 in pack.injected and pack.budget and pack.budget.after > pack.budget.body_pool
    assert "over the pool of bodies" in pack.text


def test_after_a_compaction_all_begins_anew(engine: Engine) -> None:
    put(engine, "The anchor weighs two tons")
    put(engine, "Always look at the sky", baseline=True)
    first = engine.context(agent(), "how heavy is the anchor").text
    assert not engine.context(agent(), "how heavy is the anchor").text
    contexts.reset_session(engine._desk, agent())
    assert engine.context(agent(), "how heavy is the anchor").text == first
    assert engine.context(agent(), "how heavy is the anchor", fresh=True).text == first


def test_a_card_is_shown_once_and_again_after_a_compaction(engine: Engine) -> None:
    asked = "我上次定的端口是多少"
    card = engine.context(agent(), asked).text
    assert "0 notes match (global + harbour)" in card
    assert engine.context(agent(), "我上次定的密码是什么").text == ""
    assert engine.context(agent(), asked, fresh=True).text == card


@pytest.mark.parametrize(
    "question", ["今天天气", "what is the weather", "run the tests before we deploy", "do we need a lock?"]
)
def test_nothing_found_is_silent(engine: Engine, question: str) -> None:
    assert engine.context(agent(), question).text == ""


@pytest.mark.parametrize(
    "question",
    ["我上次定的端口是多少", "我们之前怎么决定的", "还记得我的生日吗", "which port did I choose?",
     "what is my dog called", "do you remember the name of the boat", "what did we decide last week"],
)  # fmt: skip
def test_own_history_that_is_not_found_is_said(engine: Engine, question: str) -> None:
    pack = engine.context(agent(), question)
    card = next(part for part in pack.parts if part.name == "gap")
    assert len(card.text.encode()) <= 512 and "alias" in card.text


def test_an_archived_match_is_told_without_its_text(engine: Engine) -> None:
    put(engine, "The port of the old crane is 5433")
    engine.forget(OWNER, ["mem-1"], how="archive", reason="old")
    text = engine.context(agent(), "which port did I give the old crane?").text
    assert "1 archived note would match" in text and "5433" not in text and "mode=archived" in text


def test_a_pack_states_its_numbers(engine: Engine) -> None:
    put(engine, "The anchor weighs two tons")
    pack = engine.context(agent(), "how heavy is the anchor")
    assert pack.text.endswith(f"(memdeck: 1 notes · session {len(pack.text.encode())}/61440 bytes)\n")
    assert pack.budget and pack.budget.after == len(pack.text.encode())


def test_tokens_are_counted_by_session_and_agent(engine: Engine) -> None:
    put(engine, "The anchor weighs two tons")
    given = sum(engine.context(agent(s), "how heavy is the anchor").tokens for s in ("a", "b"))
    assert [(s.session, s.agent, s.packs) for s in sorted(engine.sessions(), key=lambda s: s.session)] == [
        ("a", "claude-code", 1), ("b", "claude-code", 1)
    ]  # fmt: skip
    assert engine.status(OWNER, "session")["injected_tokens_by_agent"] == {"claude-code": given}
    assert engine.status(agent("a"), "session")["injected_tokens"] == given // 2


def test_a_preview_and_the_owner_count_for_nothing(engine: Engine) -> None:
    put(engine, "The anchor weighs two tons")
    for _ in range(2):
        assert engine.context(agent(), "how heavy is the anchor", preview=True).text
        assert engine.context(OWNER, "how heavy is the anchor").text
    assert engine.sessions() == [] and engine.usage([1])[1].injected == 0
    assert engine.context(agent(), "how heavy is the anchor").text


def test_the_ledger_outlives_the_process(store: Path) -> None:
    for expected in (True, False):
        with open_engine(store, clock=FixedClock(NOON)) as engine:
            put(engine, "The anchor weighs two tons")
            assert bool(engine.context(agent(), "how heavy is the anchor").text) is expected


def test_a_read_only_store_gives_a_pack_and_still_does_not_repeat(store: Path) -> None:
    with open_engine(store, clock=FixedClock(NOON)) as engine:
        put(engine, "Anchors are cast at the pier", kind=Kind.CORRECTION)
    with open_engine(store, clock=FixedClock(NOON), read_only=True) as engine:
        assert [bool(engine.context(agent(), "anchors at the pier").text) for _ in range(2)] == [True, False]


def test_an_alias_is_the_remedy_where_words_do_not_meet(engine: Engine) -> None:
    put(engine, "The vessel weighs anchor at dawn")
    card = engine.context(agent(), "when did we set sail")
    assert card.injected == () and "add your words to the note as an alias" in card.text
    engine.edit(OWNER, "mem-1@1", {"aliases": ("set sail",)})
    assert engine.context(agent(), "when did we set sail").injected == (1,)


def test_the_environment_sizes_a_pack(store: Path) -> None:
    env = {
        "MEMDECK_CONTEXT_MEMORIES": "2", "MEMDECK_CONTEXT_BASELINE": "1", "MEMDECK_CONTEXT_MAX_CHARS": "200",
        "MEMDECK_CONTEXT_STALE_DAYS": "0", "MEMDECK_CONTEXT_SESSION_BYTES": "8192", "MEMDECK_CONTEXT_MAX_TOKENS": "900",
    }  # fmt: skip
    with open_engine(store, clock=FixedClock(NOON), env=env) as engine:
        for number in range(4):
            put(engine, f"The chart of bay {number}", body="depth " * 100, subject=str(number))
            put(engine, f"Mind rule {number}", baseline=True, subject=f"r{number}")
        pack = engine.context(agent(), "chart of the bay")
    sizes = {part.name: (part.used, part.cap) for part in pack.parts}
    assert len(pack.injected) == 3 and sizes["baseline"] == (1, 1) and sizes["relevant"][1] == 900
    assert pack.text.count("（截断）") == 2 and pack.text.count("（保存于 0 天前）") == 3
    assert pack.budget and (pack.budget.cap, pack.budget.card_pool) == (8_192, 1_024)
