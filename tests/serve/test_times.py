"""Dates of agents in the machine's zone, summer times included."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from engine.model.errors import MemdeckError
from engine.serve.times import end_of, start_of

NOW = int(datetime(2026, 12, 1, tzinfo=UTC).timestamp() * 1000)


@pytest.fixture(params=["Europe/Berlin", "America/New_York", "Asia/Shanghai", "UTC"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("day", ["2026-01-15", "2026-07-15", "2026-03-29", "2026-10-25", "2026-03-08", "2026-11-01"])
def test_a_day_begins_at_local_midnight_in_summer_and_winter(zone: str, day: str) -> None:
    midnight = int(datetime.fromisoformat(day).astimezone().timestamp() * 1000)
    assert start_of("since", day, NOW) == midnight
    following = datetime.fromisoformat(day).replace(hour=23, minute=59, second=59, microsecond=999000)
    assert end_of("at", day, NOW) == int(following.astimezone().timestamp() * 1000)


def test_today_is_the_local_day(zone: str) -> None:
    local = datetime.fromtimestamp(NOW / 1000)
    assert start_of("since", "today", NOW) == start_of("since", local.date().isoformat(), NOW)


def test_a_moment_is_itself_at_both_ends() -> None:
    moment = int(datetime(2026, 5, 1, 12, tzinfo=UTC).timestamp() * 1000)
    assert start_of("at", "2026-05-01T12:00:00+00:00", NOW) == end_of("at", "2026-05-01T12:00:00Z", NOW) == moment


@pytest.mark.parametrize("text", ["whenever", "2026-13-01", "99999-01-01", "-5", "2026-02-30", "\0", "9" * 400])
def test_what_is_no_time_is_refused_in_the_parameters_name(text: str) -> None:
    with pytest.raises(MemdeckError, match="known_at is not understood") as found:
        end_of("known_at", text, NOW)
    assert "2026-05-01" in found.value.hint


def test_nothing_given_is_nothing_asked() -> None:
    assert start_of("since", "", NOW) is None and end_of("at", "", NOW) is None
