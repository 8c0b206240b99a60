"""Ageing: who is dormant, what each policy does about it, and what ends it (C4 as the design has it, R8, R9)."""

from __future__ import annotations

import pytest

from engine.facade import Engine
from engine.model.clock import FixedClock
from engine.model.enums import Kind, Mode, Type
from engine.model.memory import RecallQuery
from engine.rules.decay import is_dormant, longevity
from tests.engine.kit import DAY_MS, OWNER, agent, found, put

AGENT = agent(session="s1")
QUESTION = "harbour office opens"


def dormant(engine: Engine) -> list[int]:
    return [one.id for one in engine.dormant(OWNER)]


def policy(engine: Engine, word: str) -> None:
    engine.set_setting(OWNER, "ageing.policy", word)


def recalled(engine: Engine, times: int) -> None:
    for _ in range(times):
        engine.recall(AGENT, RecallQuery(QUESTION))
    engine.usage([1])  # what was counted is written


def test_by_default_untouched_memories_are_listed_and_stay(engine: Engine, clock: FixedClock) -> None:
    put(engine, "The harbour office opens at eight", type=Type.PROJECT)
    clock.at_ms += 180 * DAY_MS
    assert dormant(engine) == [] and found(engine, QUESTION) == [1]
    clock.at_ms += DAY_MS
    (one,) = engine.dormant(OWNER)
    assert (one.id, one.idle_days, one.limit_days, one.recalls) == (1, 181.0, 180.0, 0)
    assert one.reason == "untouched for 181 days, no recall; dormant after 180"
    assert found(engine, QUESTION) == [1] and found(engine, QUESTION, AGENT) == [1]


def test_auto_takes_them_out_of_the_strict_present_only(engine: Engine, clock: FixedClock) -> None:
    put(engine, "The harbour office opens at eight", type=Type.PROJECT)
    policy(engine, "auto")
    clock.at_ms += 181 * DAY_MS
    yesterday = clock.at_ms - DAY_MS
    assert found(engine, QUESTION) == [] and engine.context(AGENT, QUESTION).injected == ()
    for how in ({"mode": Mode.ASSOCIATIVE}, {"at_ms": yesterday}, {"known_ms": yesterday}):
        (hit,) = engine.recall(OWNER, RecallQuery(QUESTION, **how)).hits  # type: ignore[arg-type]
        assert hit.memory.id == 1 and "dormant" in hit.why
    policy(engine, "report")
    (hit,) = engine.recall(OWNER, RecallQuery(QUESTION)).hits
    assert "dormant" not in hit.why


def test_off_lists_and_moves_nothing(engine: Engine, clock: FixedClock) -> None:
    put(engine, "The harbour office opens at eight", type=Type.PROJECT)
    policy(engine, "off")
    clock.at_ms += 900 * DAY_MS
    assert dormant(engine) == [] and found(engine, QUESTION) == [1]


def test_the_gap_card_says_that_a_dormant_memory_matches(engine: Engine, clock: FixedClock) -> None:
    put(engine, "The harbour office opens at eight", type=Type.PROJECT)
    clock.at_ms += 181 * DAY_MS
    assert "dormant" not in engine.context(AGENT, QUESTION, preview=True).text
    policy(engine, "auto")
    assert "1 dormant note matches" in engine.context(AGENT, QUESTION, preview=True).text
    assert "dormant" not in engine.context(AGENT, "beekeeping", preview=True).text
    put(engine, "The harbour office opens at nine", type=Type.PROJECT)
    pack = engine.context(AGENT, QUESTION, preview=True)
    assert pack.injected == (2,) and "1 dormant note matches" in pack.text


def test_a_recall_ends_dormancy(engine: Engine, clock: FixedClock) -> None:
    put(engine, "The harbour office opens at eight", type=Type.PROJECT)
    policy(engine, "auto")
    clock.at_ms += 181 * DAY_MS
    assert dormant(engine) == [1]
    assert found(engine, QUESTION, AGENT, mode=Mode.ASSOCIATIVE) == [1]
    engine.usage([1])
    assert dormant(engine) == [] and found(engine, QUESTION) == [1]


@pytest.mark.parametrize("recalls", [0, 1, 5])
def test_often_recalled_memories_last_longer(engine: Engine, clock: FixedClock, recalls: int) -> None:
    put(engine, "The harbour office opens at eight", type=Type.PROJECT)
    recalled(engine, recalls)
    limit = 180 * longevity(recalls)
    for days in (180, int(limit), int(limit) + 2):
        at = clock.at_ms
        clock.at_ms += days * DAY_MS
        since_midnight = days - 0.5  # it came at noon, and days count from midnight
        assert (dormant(engine) == [1]) == is_dormant(since_midnight, recalls, after_days=180)
        clock.at_ms = at


def test_the_cut_off_is_a_setting(engine: Engine, clock: FixedClock) -> None:
    put(engine, "The harbour office opens at eight", type=Type.PROJECT)
    engine.set_setting(OWNER, "ageing.dormant_after_days", 30)
    clock.at_ms += 31 * DAY_MS
    assert dormant(engine) == [1]


def test_what_is_exempt_never_sleeps(engine: Engine, clock: FixedClock) -> None:
    put(engine, "The harbour office opens at eight", type=Type.USER)
    put(engine, "The harbour office opens at nine", type=Type.FEEDBACK)
    put(engine, "The harbour office opens at ten", type=Type.PROJECT, kind=Kind.CORRECTION)
    put(engine, "The harbour office opens at eleven", type=Type.PROJECT, baseline=True)
    engine.lock(OWNER, f"mem-{put(engine, 'The harbour office opens at noon', type=Type.PROJECT).id}")
    awake = put(engine, "The harbour office opens at one", type=Type.PROJECT).id
    policy(engine, "auto")
    clock.at_ms += 900 * DAY_MS
    assert dormant(engine) == [awake]
    assert found(engine, QUESTION) == [1, 2, 3, 4, 5]


def test_the_longest_untouched_comes_first_and_hidden_ones_never(engine: Engine, clock: FixedClock) -> None:
    for number, text in enumerate(("The crane lifts ten tons", "The quay is closed", "The tug is red")):
        put(engine, text, type=Type.PROJECT)
        clock.at_ms += (number + 1) * DAY_MS
    engine.forget(OWNER, ["mem-2"])
    clock.at_ms += 200 * DAY_MS
    assert dormant(engine) == [1, 3] and [one.id for one in engine.dormant(AGENT, limit=1)] == [1]
