from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.errors import MemdeckError
from engine.rules.bitemporal import contains, overlaps, parse_when

SHANGHAI = ZoneInfo("Asia/Shanghai")
BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 26, 14, 30, tzinfo=SHANGHAI)  # a Thursday


def ms(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def at(*parts: int, tz: tzinfo = SHANGHAI) -> int:
    return ms(datetime(*parts, tzinfo=tz))  # type: ignore[arg-type]


def when(text: str, tz: tzinfo = SHANGHAI) -> tuple[int, int | None]:
    return parse_when(text, now_ms=ms(NOW), tz=tz)


def test_half_open_at_both_ends() -> None:
    start, end = at(2026, 10, 1), at(2026, 11, 1)
    assert contains(start, end, start)
    assert contains(start, end, at(2026, 10, 31, 23, 59, 59))
    assert not contains(start, end, end)
    assert not contains(start, end, start - 1)
    assert contains(None, end, 0) and contains(start, None, end) and contains(None, None, 5)


def test_overlaps() -> None:
    assert not overlaps(0, 10, 10, 20)
    assert overlaps(0, 11, 10, 20) and overlaps(10, 20, 0, 11)
    assert overlaps(None, None, 5, 6) and overlaps(0, None, 100, None)
    assert not overlaps(None, 5, 5, None)
    assert not overlaps(3, 3, 0, 10)


BOUND = st.none() | st.integers(-5, 5)


@given(BOUND, BOUND, BOUND, BOUND)
def test_overlap_is_a_shared_moment(a: int | None, b: int | None, c: int | None, d: int | None) -> None:
    shared = any(contains(a, b, t) and contains(c, d, t) for t in range(-12, 12))
    assert overlaps(a, b, c, d) == shared == overlaps(c, d, a, b)


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [
        ("2024-03-01", (2024, 3, 1), (2024, 3, 2)),
        ("2024/3/1", (2024, 3, 1), (2024, 3, 2)),
        ("2024.03.01", (2024, 3, 1), (2024, 3, 2)),
        ("2024年3月1日", (2024, 3, 1), (2024, 3, 2)),
        ("２０２４年３月１号", (2024, 3, 1), (2024, 3, 2)),
        ("2024-12", (2024, 12, 1), (2025, 1, 1)),
        ("2024年2月", (2024, 2, 1), (2024, 3, 1)),
        ("2024", (2024, 1, 1), (2025, 1, 1)),
        ("2024年", (2024, 1, 1), (2025, 1, 1)),
        (" Today ", (2026, 11, 26), (2026, 11, 27)),
        ("yesterday", (2026, 11, 25), (2026, 11, 26)),
        ("昨天", (2026, 11, 25), (2026, 11, 26)),
        ("今天", (2026, 11, 26), (2026, 11, 27)),
        ("前天", (2026, 11, 24), (2026, 11, 25)),
        ("明天", (2026, 11, 27), (2026, 11, 28)),
        ("last week", (2026, 11, 16), (2026, 11, 23)),
        ("上周", (2026, 11, 16), (2026, 11, 23)),
        ("上周一", (2026, 11, 16), (2026, 11, 17)),
        ("上周日", (2026, 11, 22), (2026, 11, 23)),
        ("上星期天", (2026, 11, 22), (2026, 11, 23)),
        ("本周四", (2026, 11, 26), (2026, 11, 27)),
        ("下周三", (2026, 12, 2), (2026, 12, 3)),
        ("last month", (2026, 10, 1), (2026, 11, 1)),
        ("next month", (2026, 12, 1), (2027, 1, 1)),
        ("去年", (2025, 1, 1), (2026, 1, 1)),
        ("3d", (2026, 11, 23), (2026, 11, 24)),
        ("3 days ago", (2026, 11, 23), (2026, 11, 24)),
        ("a day ago", (2026, 11, 25), (2026, 11, 26)),
        ("3天前", (2026, 11, 23), (2026, 11, 24)),
        ("三天之前", (2026, 11, 23), (2026, 11, 24)),
        ("2 weeks ago", (2026, 11, 12), (2026, 11, 13)),
        ("两周前", (2026, 11, 12), (2026, 11, 13)),
        ("9 months ago", (2026, 2, 26), (2026, 2, 27)),
        ("两个月前", (2026, 9, 26), (2026, 9, 27)),
        ("1 year ago", (2025, 11, 26), (2025, 11, 27)),
        ("in 3 days", (2026, 11, 29), (2026, 11, 30)),
        ("3天后", (2026, 11, 29), (2026, 11, 30)),
    ],
)
def test_days_and_spans_are_local(text: str, first: tuple[int, ...], after: tuple[int, ...]) -> None:
    assert when(text) == (at(*first), at(*after))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-03-01T18:30", at(2024, 3, 1, 18, 30)),
        ("2024-03-01 18:30:05.250", at(2024, 3, 1, 18, 30, 5, 250_000)),
        ("2024-03-01T18:30:00Z", at(2024, 3, 1, 18, 30, tz=UTC)),
        ("2024-03-01t18:30z", at(2024, 3, 1, 18, 30, tz=UTC)),
        ("2024-03-01T18:30:00+05:30", at(2024, 3, 1, 18, 30, tz=timezone(timedelta(hours=5, minutes=30)))),
        ("2024-03-01 18:30 -0800", at(2024, 3, 1, 18, 30, tz=timezone(timedelta(hours=-8)))),
        ("now", ms(NOW)),
        ("2h", ms(NOW) - 7_200_000),
        ("2小时前", ms(NOW) - 7_200_000),
        ("90 minutes ago", ms(NOW) - 5_400_000),
    ],
)
def test_moments(text: str, moment: int) -> None:
    assert when(text) == (moment, None)


def test_the_zone_decides_what_a_day_is() -> None:
    # 14:30 in Shanghai on the 26th is 07:30 in Berlin; the clocks went back there on 25 October.
    assert when("today", BERLIN) == (at(2026, 11, 26, tz=BERLIN), at(2026, 11, 27, tz=BERLIN))
    start, end = when("2026-10-25", BERLIN)
    assert end is not None and end - start == 25 * 3_600_000
    assert when("2026-03-31T00:30", UTC)[0] - when("2026-03-31T00:30")[0] == 8 * 3_600_000


def test_without_a_zone_the_machines_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        for text in ("2026-07-01", "2026-12-01", "2026-07-01 12:00", "yesterday", "2h"):
            assert parse_when(text, now_ms=ms(NOW)) == when(text, BERLIN)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_short_months_are_clamped() -> None:
    march = datetime(2024, 3, 31, 12, tzinfo=SHANGHAI)
    assert parse_when("1 month ago", now_ms=ms(march), tz=SHANGHAI)[0] == at(2024, 2, 29)


NONSENSE = [
    "", " ", "soon", "today-ish", "2024-13", "2024-02-30", "2024-3-1T9:00", "2024-03-01T25:00", "24-03-01", "3", "3x",
    "03/01/2024", "last monday", "99999 years ago", "9999", "十一天前", "上周八", "2024-03-01T10:00+99:00",
    "yesterday tomorrow",
    "1700000000000", "2024年13月", "-3d", "\ud800", "today\x00",
]  # fmt: skip


@pytest.mark.parametrize("text", NONSENSE)
def test_nonsense_is_refused_with_the_accepted_forms(text: str) -> None:
    with pytest.raises(MemdeckError) as caught:
        when(text)
    assert caught.value.code == "invalid_argument"
    assert "2024-03-01" in caught.value.hint and "昨天" in caught.value.hint


@given(st.text(st.characters(), max_size=30))
def test_no_text_makes_it_raise_anything_else(text: str) -> None:
    try:
        start, end = when(text)
    except MemdeckError:
        return
    assert end is None or start < end


@given(st.datetimes(datetime(1, 1, 2), datetime(9998, 12, 30)))
def test_iso_round_trip(moment: datetime) -> None:
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000, tzinfo=UTC)
    assert when(moment.isoformat(timespec="milliseconds")) == (ms(moment), None)
    assert when(moment.date().isoformat(), UTC)[0] == ms(moment.replace(hour=0, minute=0, second=0, microsecond=0))
