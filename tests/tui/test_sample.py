"""The sample store: what the pictures and `--demo` rest on, the same every time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.facade import Engine, open_engine
from engine.model.clock import FixedClock
from engine.model.enums import ReviewKind, State, Type
from engine.model.errors import MemdeckError
from engine.model.memory import Filter, Memory, RecallQuery
from tui.sample import EXPORT, OWNER, SAMPLE_NOW, SampleClock, build_sample
from tui.sample.play import build_export, events

CHINESE, JAPANESE, KOREAN = re.compile("[\u4e00-\u9fff]"), re.compile("[\u3040-\u30ff]"), re.compile("[\uac00-\ud7af]")
WAITING = set(
    map(
        ReviewKind,
        "quarantine held_back authority near_duplicate contradiction topic_proposal forget_request"
        " tag_relation".split(),
    )
)
"""The kinds of review items that writing, importing and forgetting open."""


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    store = tmp_path_factory.mktemp("sample") / "store"
    build_sample(store)
    with open_engine(store, clock=FixedClock(SAMPLE_NOW), env={}) as engine:
        yield engine


@pytest.fixture(scope="module")
def memories(sample: Engine) -> list[Memory]:
    return sample.memory_rows(OWNER, sample.memory_ids(OWNER, Filter(states=tuple(State))), bodies=True)


def test_the_shipped_year_is_what_the_story_plays(tmp_path: Path) -> None:
    played = tmp_path / "year.json"
    build_export(played)
    same = played.read_bytes() == EXPORT.read_bytes()
    assert same, "the story, the engine or the form of the export changed: run `python -m tui.sample.play`"


def test_nothing_is_wrong_with_it(sample: Engine) -> None:
    assert [finding for finding in sample.doctor() if finding.level not in ("ok", "hint")] == []
    assert len(sample.snapshots()) == 2 and all(sample.verify_snapshot(s.name).good for s in sample.snapshots())


def test_it_holds_about_three_hundred_memories_of_every_sort(sample: Engine, memories: list[Memory]) -> None:
    assert 300 <= len(memories) <= 350 and sample.counts(OWNER).memories > 270
    assert {m.type for m in memories} == set(Type)
    states = Counter(m.state for m in memories)
    assert states[State.SUPERSEDED] >= 15 and states[State.ARCHIVED] >= 5 and states[State.QUARANTINED] >= 5
    assert states[State.DELETED] >= 3 and states[State.MERGED] >= 2
    assert sum(m.locked for m in memories) >= 4 and sum(m.seen_again for m in memories) >= 4
    assert sum(m.revision > 1 for m in memories) >= 15 and any(m.manually_corrected for m in memories)
    assert any("|" in m.body for m in memories) and sum(bool(m.body) for m in memories) >= 10
    assert {m.actor for m in memories} == {"owner", "claude-code", "codex-cli", "gemini-cli", "opencode"}
    assert len({m.scope_key for m in memories if m.scope_key}) >= 4
    assert len({op.session for op in sample.log(limit=1000) if op.session}) > 100


def test_it_speaks_both_languages_and_a_little_more(memories: list[Memory]) -> None:
    chinese = sum(bool(CHINESE.search(m.description)) for m in memories)
    assert chinese > 110 and len(memories) - chinese > 110
    assert sum(bool(JAPANESE.search(m.description)) for m in memories) >= 5
    assert sum(bool(KOREAN.search(m.description)) for m in memories) >= 8


def test_every_kind_of_decision_waits(sample: Engine) -> None:
    waiting = Counter(item.kind for item in sample.review_items())
    assert set(waiting) == WAITING
    assert sample.counts(OWNER).review == sum(waiting.values()) <= 30
    assert sample.review_items(states=("deferred",)) and sample.review_items(states=("rejected",))


def test_its_journal_tells_the_year(sample: Engine) -> None:
    log = sample.log(limit=1000)
    kinds = {op.kind for op in log}
    assert {
        "remember",
        "edit",
        "archive",
        "forget",
        "lock",
        "merge",
        "import",
        "undo",
        "redo",
        "review_accept",
    } <= kinds
    assert log[0].at_ms < SAMPLE_NOW and log[-1].at_ms < SAMPLE_NOW - 360 * 86_400_000
    assert any(op.undone_by for op in log) and sample.tombstones() and any(op.run for op in log)


def test_no_path_or_moment_of_the_machine_that_played_it_is_in_it() -> None:
    text = EXPORT.read_text(encoding="utf-8")
    assert "/tmp" not in text and "/root" not in text
    stamps = [int(found) for found in re.findall(r"\b1[789]\d{11}\b", text)]
    assert stamps and max(stamps) < SAMPLE_NOW + 40 * 86_400_000


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("when does Low Tide start", "21:00"),
        ("冬市 哪一天", "十二月十二日"),
        ("トマトの苗", "連休"),
        ("송신기 열쇠", "등대"),
    ],
)
def test_a_question_finds_its_answer(sample: Engine, question: str, part: str) -> None:
    hits = sample.recall(OWNER, RecallQuery(question, limit=3)).hits
    assert any(part in hit.memory.description for hit in hits)


def test_the_story_is_told_in_order_and_in_one_year() -> None:
    times = [event["at"] for event in events()]
    assert times == sorted(times) and times[-1] < SAMPLE_NOW < times[0] + 366 * 86_400_000


def test_two_builds_hold_the_same(tmp_path: Path) -> None:
    for name in ("a", "b"):
        build_sample(tmp_path / name / "store")
        with open_engine(tmp_path / name / "store", clock=FixedClock(SAMPLE_NOW), env={}) as engine:
            engine.export(tmp_path / f"{name}.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes() == EXPORT.read_bytes()


def test_it_tells_how_far_it_is(tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    build_sample(tmp_path / "store", progress=lambda done, of: steps.append((done, of)))
    assert steps == [(1, 3), (2, 3), (3, 3)]


def test_a_store_that_is_there_is_never_touched(tmp_path: Path) -> None:
    build_sample(tmp_path)
    before = (tmp_path / "memory.db").read_bytes()
    with pytest.raises(MemdeckError) as refused:
        build_sample(tmp_path)
    assert refused.value.code == "exists" and (tmp_path / "memory.db").read_bytes() == before


def test_its_clock_runs_on_from_the_end_of_the_year() -> None:
    clock = SampleClock()
    first = clock.now_ms()
    assert SAMPLE_NOW <= first <= clock.now_ms() < SAMPLE_NOW + 60_000
