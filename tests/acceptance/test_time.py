"""Two time axes: true then, believed then, and a history that nobody rewrites."""

from __future__ import annotations

import time

import pytest

from engine.model.enums import State
from engine.model.memory import AsOf
from tests.acceptance.conftest import OWNER, Desk, ms


def test_validity_is_half_open(desk: Desk) -> None:
    desk.tell("The stall is open", valid_from=ms("2026-10-01"), valid_to=ms("2026-11-01"))
    last, end = ms("2026-10-31T23:59:59"), ms("2026-11-01T00:00:00")
    assert desk.texts("stall", at_ms=last) == ["The stall is open"]
    assert desk.texts("stall", at_ms=end) == []
    assert desk.ids(as_of=AsOf(valid_ms=last)) == [1]
    assert desk.ids(as_of=AsOf(valid_ms=ms("2026-09-30T23:59:59"))) == []


def test_superseding_closes_the_old_and_deletes_nothing(desk: Desk) -> None:
    old = desk.tell("The office is in Harbour Street", body="Second floor.", valid_from=ms("2026-10-01"))
    desk.at("2026-11-10").tell("The office is in Mill Lane", replaces=old.ref, valid_from=ms("2026-11-01"))
    before, after = desk.engine.history(OWNER, "mem-1")
    assert (before.id, before.uid, before.description, before.body) == (
        after.id,
        after.uid,
        after.description,
        after.body,
    )
    assert (before.valid_to, after.valid_to) == (None, ms("2026-11-01"))
    assert (after.state, after.target, after.known_to) == (State.SUPERSEDED, 2, None)
    assert before.known_to == after.known_from


@pytest.fixture
def region(desk: Desk) -> Desk:
    """Recorded in October, replaced in November: the region of a team."""
    desk.at("2026-10-05").tell("团队负责的区域是华南", valid_from=ms("2026-10-01"))
    desk.at("2026-11-10").tell("团队负责的区域是华东", replaces="mem-1@1", valid_from=ms("2026-11-01"))
    return desk.at("2026-11-15")


def test_four_questions_about_one_fact(region: Desk) -> None:
    south, east = "团队负责的区域是华南", "团队负责的区域是华东"
    assert region.texts("区域") == [east]
    assert region.texts("区域", at_ms=ms("2026-10-15")) == [south]
    assert region.texts("区域", known_ms=ms("2026-10-20")) == [south]
    assert region.everything("区域") == [south, east]
    # What was believed in October does not know yet that it would end.
    assert region.engine.get(OWNER, "mem-1", as_of=AsOf(known_ms=ms("2026-10-20"))).valid_to is None


def test_a_correction_of_the_past_leaves_what_was_believed(region: Desk) -> None:
    south, middle = "团队负责的区域是华南", "团队负责的区域是华中"
    region.at("2026-12-03").engine.edit(OWNER, "mem-1@2", {"description": middle}, reason="it was the middle")
    assert region.texts("区域", at_ms=ms("2026-10-15")) == [middle]
    assert region.texts("区域", known_ms=ms("2026-10-20")) == [south]
    assert region.texts("区域") == ["团队负责的区域是华东"]


def test_a_manual_correction_is_marked_and_forges_nothing(desk: Desk) -> None:
    desk.tell("The alarm code is changed in May", topics=("house",))
    changes = {
        "description": "The alarm code is changed in June",
        "topics": ["security"],
        "valid_from": ms("2026-06-01"),
    }
    result = desk.at("2026-10-06").engine.edit(OWNER, "mem-1@1", changes)
    first, second = desk.engine.history(OWNER, "mem-1")
    assert (first.description, first.manually_corrected) == ("The alarm code is changed in May", False)
    assert (second.description, second.manually_corrected) == ("The alarm code is changed in June", True)
    assert (first.topics, second.topics) == (("house",), ("security",))
    assert second.valid_from == ms("2026-06-01") and second.known_from_ms == ms("2026-10-06")
    operation, changed = desk.engine.operation(result.op or 0)
    assert operation.origin == "cli" and {"versions mem-1"} <= {f"{c.table} {c.key}" for c in changed}


def test_known_time_goes_on_when_the_clock_goes_back(desk: Desk) -> None:
    desk.at("2026-10-05").tell("Written first")
    desk.at("2026-10-04").tell("Written second, by a clock that went back")
    first, second = (desk.engine.get(OWNER, ref) for ref in ("mem-1", "mem-2"))
    assert first.known_from < second.known_from


@pytest.mark.parametrize("zone", ["UTC", "Asia/Shanghai", "America/St_Johns"])
def test_times_are_stored_alike_in_every_zone(desk: Desk, folder, zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        text = (
            "---\nname: clock\ndescription: The clock stands in the hall\nupdated: 2026-09-30T12:00:00Z\n---\nTick.\n"
        )
        desk.engine.run_import(OWNER, folder(clock=text))
        memory = desk.engine.get(OWNER, "mem-1")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert (memory.dated_at, memory.recorded_ms) == (ms("2026-09-30T12:00:00"), ms("2026-10-05"))
