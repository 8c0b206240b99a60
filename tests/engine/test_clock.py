"""The local time zone: the same as the zone's own table, in every hour of the year, the doubled one included."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from engine.model.clock import LOCAL

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@pytest.fixture(params=["Europe/Berlin", "Asia/Shanghai", "America/St_Johns", "UTC"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[ZoneInfo]:
    """Set the machine's zone for one test."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield ZoneInfo(request.param)
    monkeypatch.undo()
    time.tzset()


def test_every_hour_of_a_year_is_the_zones_own(zone: ZoneInfo) -> None:
    for hour in range(366 * 24):
        moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hour)
        ours, theirs = moment.astimezone(LOCAL), moment.astimezone(zone)
        assert (ours.replace(tzinfo=None), ours.fold) == (theirs.replace(tzinfo=None), theirs.fold)
        assert ours - EPOCH == moment - EPOCH


def test_a_local_midnight_is_the_zones_own(zone: ZoneInfo) -> None:
    for day in range(366):
        midnight = datetime(2026, 1, 1) + timedelta(days=day)
        assert midnight.replace(tzinfo=LOCAL) - EPOCH == midnight.replace(tzinfo=zone) - EPOCH
