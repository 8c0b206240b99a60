"""Two time axes: what was true when, and what was known when (C1, C2, C3, C6, R23)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.facade import Engine, open_engine
from engine.model.clock import FixedClock
from engine.model.enums import Kind, Mode, State
from engine.model.errors import MemdeckError
from engine.model.memory import NOW, AsOf, Draft, Filter, RecallQuery
from tests.engine.kit import DAY_MS, OWNER, agent, day, found, put, rows, text_at

OCTOBER, NOVEMBER, DECEMBER = day("2026-10-10"), day("2026-11-10"), day("2026-12-10")


def test_validity_is_half_open(engine: Engine) -> None:
    put(engine, "The stand at the fair is booked", valid_from=day("2026-10-01"), valid_to=day("2026-11-01"))
    first, last, end = day("2026-10-01"), day("2026-11-01") - 1000, day("2026-11-01")
    assert found(engine, "stand fair", at_ms=first) == [1]
    assert found(engine, "stand fair", at_ms=first - 1) == []
    assert found(engine, "stand fair", at_ms=last) == [1]
    assert found(engine, "stand fair", at_ms=end - 1) == [1]
    assert found(engine, "stand fair", at_ms=end) == []
    for moment, ids in ((last, [1]), (end, [])):
        assert list(engine.memory_ids(OWNER, as_of=AsOf(valid_ms=moment))) == ids


def test_what_ends_as_it_begins_is_refused(engine: Engine) -> None:
    with pytest.raises(MemdeckError, match="ends before it begins"):
        put(engine, "Open for no time at all", valid_from=NOVEMBER, valid_to=NOVEMBER)


def test_superseding_keeps_the_old_memory_and_closes_its_validity(engine: Engine, store_dir: Path) -> None:
    old = put(engine, "Production runs in the south region", valid_from=OCTOBER)
    before = rows(store_dir, "SELECT description, body FROM versions WHERE memory_id = 1")
    engine.remember(OWNER, Draft("Production runs in the east region", valid_from=NOVEMBER), replaces=old.ref)
    was, now = engine.get(OWNER, "mem-1"), engine.get(OWNER, "mem-2")
    assert (was.description, was.state, was.target) == ("Production runs in the south region", State.SUPERSEDED, 2)
    assert (was.valid_from, was.valid_to, now.valid_from, now.valid_to) == (OCTOBER, NOVEMBER, NOVEMBER, None)
    assert set(rows(store_dir, "SELECT description, body FROM versions WHERE memory_id = 1")) == set(before)
    assert [m.valid_to for m in engine.history(OWNER, "mem-1")] == [None, NOVEMBER]


def test_what_was_superseded_is_not_superseded_again(engine: Engine) -> None:
    put(engine, "The standup is at nine")
    engine.remember(OWNER, Draft("The standup is at ten"), replaces="mem-1")
    with pytest.raises(MemdeckError, match=r"superseded by mem-2") as refused:
        engine.remember(OWNER, Draft("The standup is at eleven"), replaces="mem-1")
    assert "mem-2" in refused.value.hint


@pytest.fixture
def region(engine: Engine, clock: FixedClock) -> Engine:
    """Return a store that learnt 华南 in October and 华东 in November, and is asked at the end of November."""
    clock.at_ms = OCTOBER
    put(engine, "部署区域是华南", agent(), subject="部署区域", said_by="user")
    clock.at_ms = NOVEMBER
    engine.remember(agent(), Draft("部署区域是华东", subject="部署区域", said_by="user"), replaces="mem-1")  # type: ignore[arg-type]
    clock.at_ms = day("2026-11-29")
    return engine


def test_true_now(region: Engine) -> None:
    assert found(region, "部署区域", agent()) == [2]


def test_true_then(region: Engine) -> None:
    assert found(region, "部署区域", agent(), at_ms=OCTOBER + DAY_MS) == [1]


def test_believed_then(region: Engine) -> None:
    assert found(region, "部署区域", agent(), known_ms=OCTOBER + DAY_MS) == [1]
    seen = region.get(agent(), "mem-1", as_of=AsOf(known_ms=OCTOBER + DAY_MS))
    assert (seen.state, seen.valid_to, seen.target) == (State.ACTIVE, None, None), "the change was not known yet"
    with pytest.raises(MemdeckError, match="does not exist"):
        region.get(agent(), "mem-2", as_of=AsOf(known_ms=OCTOBER + DAY_MS))


def test_regardless_of_time(region: Engine) -> None:
    assert found(region, "部署区域", agent(), mode=Mode.ASSOCIATIVE) == [1, 2]


def test_nothing_was_known_before_the_first_operation(region: Engine) -> None:
    assert found(region, "部署区域", known_ms=OCTOBER - 1) == []
    assert list(region.memory_ids(OWNER, as_of=AsOf(known_ms=OCTOBER - 1))) == []


def test_a_correction_in_december_about_october(engine: Engine, clock: FixedClock) -> None:
    clock.at_ms = OCTOBER
    put(engine, "The contract is signed by Mara")
    clock.at_ms = DECEMBER
    answer = engine.remember(OWNER, Draft("The contract is signed by Lena"), replaces="mem-1", was="wrong")
    assert answer.ref == "mem-1@2", "a correction is a version of the same memory"
    assert found(engine, "contract signed", at_ms=OCTOBER) == [1]
    assert text_at(engine, "mem-1") == "The contract is signed by Lena"
    assert text_at(engine, "mem-1", OCTOBER) == "The contract is signed by Mara"
    page = engine.recall(OWNER, RecallQuery("contract signed", at_ms=OCTOBER))
    assert [hit.memory.description for hit in page.hits] == ["The contract is signed by Lena"]
    page = engine.recall(OWNER, RecallQuery("contract signed", known_ms=OCTOBER))
    assert [hit.memory.description for hit in page.hits] == ["The contract is signed by Mara"]
    assert engine.get(OWNER, "mem-1").kind is Kind.CORRECTION


def test_a_manual_correction_is_a_version_with_its_history(engine: Engine, clock: FixedClock) -> None:
    put(engine, "The server room is on floor 2", topics=("office",))
    clock.at_ms += DAY_MS
    answer = engine.edit(
        OWNER, "mem-1@1",
        {"description": "The server room is on floor 3", "topics": ["building"], "valid_from": OCTOBER}, reason="moved",
    )  # fmt: skip
    now = engine.get(OWNER, "mem-1")
    assert (answer.ref, now.manually_corrected, now.topics, now.valid_from) == ("mem-1@2", True, ("building",), OCTOBER)
    first, second = engine.history(OWNER, "mem-1")
    assert (first.description, first.manually_corrected, first.topics) == (
        "The server room is on floor 2", False, ("office",),
    )  # fmt: skip
    assert second.description == "The server room is on floor 3"
    operation, changes = engine.operation(answer.op or 0)
    assert (operation.kind, operation.reason, operation.objects[0]) == ("edit", "moved", "mem-1")
    assert {c.table for c in changes} == {"versions", "memory_topics", "topics"}
    version = next(c for c in changes if c.table == "versions")
    assert version.before and version.before["description"] == "The server room is on floor 2"
    assert version.after and version.after["description"] == "The server room is on floor 3"


def test_an_edit_that_changes_nothing_is_refused(engine: Engine) -> None:
    put(engine, "The bell rings at eight", topics=("school",), tags=("bell",))
    for changes in ({"description": "The bell rings at eight"}, {"topics": ["school"]}, {"tags": ["BELL"]}):
        with pytest.raises(MemdeckError, match="nothing would change"):
            engine.edit(OWNER, "mem-1@1", changes)
    assert len(engine.log()) == 1


def test_tags_and_topics_are_read_as_known_then(engine: Engine, clock: FixedClock) -> None:
    put(engine, "Lantern renders books", tags=("reader",), topics=("books",))
    then = clock.at_ms
    clock.at_ms += DAY_MS
    engine.edit(OWNER, "mem-1@1", {"tags": ["viewer"], "topics": ["reading"]})
    seen = engine.get(OWNER, "mem-1", as_of=AsOf(known_ms=then))
    assert (seen.tags, seen.topics) == (("reader",), ("books",))
    assert list(engine.memory_ids(OWNER, Filter(tags=("reader",)), as_of=AsOf(known_ms=then))) == [1]
    assert list(engine.memory_ids(OWNER, Filter(tags=("reader",)))) == []
    assert list(engine.memory_ids(OWNER, Filter(topics=("reading",)))) == [1]


def test_a_conflict_mark_is_read_as_known_then(engine: Engine, clock: FixedClock) -> None:
    put(engine, "The office closes at six", subject="office")
    clock.at_ms += DAY_MS
    before = clock.at_ms - 1
    assert engine.remember(agent(), Draft("The office closes at seven"), replaces="mem-1").state == "pending"
    assert engine.get(OWNER, "mem-1").conflict == (2,)
    assert engine.get(OWNER, "mem-1", as_of=AsOf(known_ms=before)).conflict == ()


def test_a_clock_that_freezes_repeats_and_goes_back(engine: Engine, clock: FixedClock) -> None:
    put(engine, "Rent is paid on the first")
    engine.edit(OWNER, "mem-1@1", {"description": "Rent is paid on the second"})
    noon = clock.at_ms
    assert text_at(engine, "mem-1", noon) == "Rent is paid on the second", "the last operation of that moment"
    clock.at_ms = noon - DAY_MS
    engine.edit(OWNER, "mem-1@2", {"description": "Rent is paid on the third"})
    assert [o.op for o in engine.log()] == [3, 2, 1]
    assert text_at(engine, "mem-1") == "Rent is paid on the third"
    assert text_at(engine, "mem-1", noon - DAY_MS) == "Rent is paid on the third"
    with pytest.raises(MemdeckError):
        text_at(engine, "mem-1", noon - DAY_MS - 1)


def test_a_moment_is_asked_for_in_lists_too(engine: Engine, clock: FixedClock) -> None:
    put(engine, "One mug is blue")
    put(engine, "Two plates are red")
    then = clock.at_ms
    clock.at_ms += DAY_MS
    engine.forget(OWNER, ["mem-1"])
    assert list(engine.memory_ids(OWNER)) == [2]
    assert list(engine.memory_ids(OWNER, as_of=AsOf(known_ms=then))) == [2, 1]
    assert [m.state for m in engine.memory_rows(OWNER, [1], as_of=AsOf(known_ms=then))] == [State.ACTIVE]
    assert [m.state for m in engine.memory_rows(OWNER, [1], as_of=NOW)] == [State.DELETED]


SCRIPT = """
import sys
from pathlib import Path
from engine.facade import open_engine
from engine.model.clock import FixedClock
from engine.model.enums import Origin
from engine.model.memory import Caller, Draft
with open_engine(Path(sys.argv[1]), clock=FixedClock(1795953600000), env={}) as engine:
    engine.remember(Caller(Origin.CLI, "owner"), Draft("Times are stored in UTC", valid_to=1795953600001))
    memory = engine.get(Caller(Origin.CLI, "owner"), "mem-1")
    print(memory.valid_from, memory.valid_to, memory.recorded_ms, memory.known_from_ms)
"""


def test_stored_times_are_the_same_in_every_time_zone(tmp_path: Path) -> None:
    said = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT, str(tmp_path / zone.replace("/", "-"))],
            env={**os.environ, "TZ": zone, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True, text=True, check=True,
        ).stdout
        for zone in ("UTC", "Asia/Shanghai")
    ]  # fmt: skip
    assert said == ["1795953600000 1795953600001 1795953600000 1795953600000\n"] * 2


def test_everything_is_there_after_a_restart(engine: Engine, store_dir: Path, clock: FixedClock) -> None:
    put(engine, "Minh prefers tea", tags=("drinks",), topics=("home",), aliases=("trà",))
    written = engine.get(OWNER, "mem-1")
    engine.close()
    with open_engine(store_dir, clock=clock, env={}) as again:
        assert again.get(OWNER, "mem-1") == written
        assert found(again, "what does Minh drink, tea", agent()) == [1]
