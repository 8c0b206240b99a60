"""Half-open intervals in UTC milliseconds, and the words and dates that people name them by (C1, R23)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo

from engine.model.errors import MemdeckError, invalid
from engine.rules.textnorm import clip, fold

Interval = tuple[int, int | None]
"""Start and end in UTC milliseconds; the end is None for a single moment."""

ACCEPTED = (
    "2024-03-01, 2024-03-01T18:30, 2024-03-01T18:30:00+08:00, 2024-03, 2024, 3d, 3 days ago, in 2 weeks, "
    "today, yesterday, last week, 2024年3月1日, 3天前, 昨天, 上周, 上周一"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def contains(start: int | None, end: int | None, moment: int) -> bool:
    """Tell whether `moment` lies in `[start, end)`; None means open on that side (C1)."""
    return (start is None or start <= moment) and (end is None or moment < end)


def overlaps(start: int | None, end: int | None, other_start: int | None, other_end: int | None) -> bool:
    """Tell whether two half-open intervals share a moment; None means open, an empty interval overlaps nothing (C1)."""
    latest_start = max((s for s in (start, other_start) if s is not None), default=None)
    earliest_end = min((e for e in (end, other_end) if e is not None), default=None)
    if _is_empty(start, end) or _is_empty(other_start, other_end):
        return False
    return latest_start is None or earliest_end is None or latest_start < earliest_end


def parse_when(text: str, *, now_ms: int, tz: tzinfo | None = None) -> Interval:
    """Return what `text` names as `(start, end)` in UTC milliseconds, the end None for a moment (C1, R23).

    A date without a time is the whole day in `tz` (None: the machine's zone), a month or year likewise; a time
    without an offset is local; `3d`, `3 days ago` and `3天前` are that local day, hours and minutes are moments.
    Raises `invalid_argument` with the accepted forms for anything else; it never guesses.
    """
    words = " ".join(fold(text).split())
    here = _Here((_EPOCH + timedelta(milliseconds=now_ms)).astimezone(tz), tz)
    try:
        for pattern, read in _FORMS:
            if match := pattern.fullmatch(words):
                return read(match, here)
    except (ValueError, OverflowError, OSError):
        raise _unreadable(text) from None
    raise _unreadable(text)


@dataclass(frozen=True)
class _Here:
    """The moment and the zone in which words such as `yesterday` are meant."""

    now: datetime
    zone: tzinfo | None

    @property
    def today(self) -> date:
        return self.now.date()

    def local(self, naive: datetime) -> int:
        # The machine's zone has its own summer time for each date, which only astimezone knows.
        return _ms(naive.astimezone() if self.zone is None else naive.replace(tzinfo=self.zone))

    def midnight(self, day: date) -> int:
        return self.local(datetime(day.year, day.month, day.day))


def _is_empty(start: int | None, end: int | None) -> bool:
    return start is not None and end is not None and start >= end


def _unreadable(text: str) -> MemdeckError:
    return invalid(f"cannot read {clip(text, 40)!r} as a time", f"accepted: {ACCEPTED}", value=clip(text, 40))


def _ms(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def _days(first: date, after: date, here: _Here) -> Interval:
    return here.midnight(first), here.midnight(after)


def _day(day: date, here: _Here) -> Interval:
    return _days(day, day + timedelta(days=1), here)


def _month(year: int, month: int, here: _Here) -> Interval:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    return _days(date(year, month, 1), date(year + month // 12, month % 12 + 1, 1), here)


def _week(weeks: int, here: _Here) -> Interval:
    monday = here.today - timedelta(days=here.today.weekday()) + timedelta(weeks=weeks)
    return _days(monday, monday + timedelta(weeks=1), here)


def _moment(match: re.Match[str], here: _Here) -> Interval:
    moment = datetime.fromisoformat(f"{match['date']}T{match['time']}{(match['zone'] or '').upper()}")
    return _ms(moment) if moment.tzinfo else here.local(moment), None


def _numbered(match: re.Match[str], here: _Here) -> Interval:
    year = int(match["y"])
    if match["m"] is None:
        return _days(date(year, 1, 1), date(year + 1, 1, 1), here)
    if match["d"] is None:
        return _month(year, date(year, int(match["m"]), 1).month, here)
    return _day(date(year, int(match["m"]), int(match["d"])), here)


def _named_day(match: re.Match[str], here: _Here) -> Interval:
    return _day(here.today + timedelta(days=_DAY_WORDS[match.group()]), here)


def _named_span(match: re.Match[str], here: _Here) -> Interval:
    unit, step = _SPAN_WORDS[match.group()]
    if unit == "w":
        return _week(step, here)
    if unit == "m":
        return _month(here.now.year, here.now.month + step, here)
    return _days(date(here.now.year + step, 1, 1), date(here.now.year + step + 1, 1, 1), here)


def _weekday(match: re.Match[str], here: _Here) -> Interval:
    monday = here.today - timedelta(days=here.today.weekday())
    return _day(monday + timedelta(weeks=_WEEKS[match["week"]], days=_WEEKDAYS[match["day"]]), here)


def _past(match: re.Match[str], here: _Here) -> Interval:
    return _away(-_count(match["n"]), _UNITS[match["unit"]], here)


def _future(match: re.Match[str], here: _Here) -> Interval:
    return _away(_count(match["n"]), _UNITS[match["unit"]], here)


def _away(count: int, unit: str, here: _Here) -> Interval:
    if unit in ("h", "min"):
        return _ms(here.now + (timedelta(hours=count) if unit == "h" else timedelta(minutes=count))), None
    if unit in ("d", "w"):
        return _day(here.today + timedelta(days=count * (7 if unit == "w" else 1)), here)
    return _day(_months_away(here.today, count * (12 if unit == "y" else 1)), here)


def _months_away(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    last = (date(year + (month + 1) // 12, (month + 1) % 12 + 1, 1) - timedelta(days=1)).day
    return date(year, month + 1, min(day.day, last))


def _count(digits: str) -> int:
    return int(digits) if digits.isdigit() else _NUMERALS[digits]


def _this_instant(_: re.Match[str], here: _Here) -> Interval:
    return _ms(here.now), None


_WEEKS = {"上": -1, "本": 0, "这": 0, "這": 0, "下": 1}
_WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
_NUMERALS = {"一": 1, "两": 2, "兩": 2, "a": 1, "an": 1, "one": 1, "two": 2, "three": 3}
_NUMERALS |= {numeral: value for value, numeral in enumerate("二三四五六七八九十", start=2)}
_DAY_WORDS = {
    "today": 0, "yesterday": -1, "tomorrow": 1, "the day before yesterday": -2, "the day after tomorrow": 2,
    "今天": 0, "今日": 0, "昨天": -1, "昨日": -1, "前天": -2, "大前天": -3, "明天": 1, "明日": 1, "后天": 2, "後天": 2,
}  # fmt: skip
_SPAN_WORDS = {
    "this week": ("w", 0), "last week": ("w", -1), "next week": ("w", 1), "this month": ("m", 0),
    "last month": ("m", -1), "next month": ("m", 1), "this year": ("y", 0), "last year": ("y", -1),
    "next year": ("y", 1), "本周": ("w", 0), "这周": ("w", 0), "這週": ("w", 0), "上周": ("w", -1), "上週": ("w", -1),
    "上上周": ("w", -2), "下周": ("w", 1), "下週": ("w", 1), "本月": ("m", 0), "这个月": ("m", 0), "上个月": ("m", -1),
    "上月": ("m", -1), "下个月": ("m", 1), "今年": ("y", 0), "去年": ("y", -1), "前年": ("y", -2), "明年": ("y", 1),
}  # fmt: skip
_UNIT_WORDS = {
    "min": "minutes minute mins min 分钟 分鐘 分",
    "h": "hours hour hrs hr h 小时 小時 个小时",
    "d": "days day d 天 日",
    "w": "weeks week w 周 週 星期 个星期",
    "m": "months month mo 个月 個月",
    "y": "years year y 年",
}
_UNITS = {word: unit for unit, words in _UNIT_WORDS.items() for word in words.split()}
_UNIT = "|".join(_UNITS)
_N = r"(?P<n>\d{1,6}|[一二三四五六七八九十两兩]|an?|one|two|three)"
_ZONE = r"(?P<zone>z|[+-]\d\d:?\d\d)?"

_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], _Here], Interval]], ...] = (
    (re.compile(r"now|现在|現在"), _this_instant),
    (re.compile("|".join(_DAY_WORDS)), _named_day),
    (re.compile("|".join(_SPAN_WORDS)), _named_span),
    (re.compile(rf"(?P<date>\d{{4}}-\d\d-\d\d)[t ](?P<time>\d\d:\d\d(?::\d\d(?:\.\d{{1,6}})?)?) ?{_ZONE}"), _moment),
    (re.compile(r"(?P<y>\d{4})(?:-(?P<m>\d\d?)(?:-(?P<d>\d\d?))?)?"), _numbered),
    (re.compile(r"(?P<y>\d{4})(?P<s>[/.])(?P<m>\d\d?)(?:(?P=s)(?P<d>\d\d?))?"), _numbered),
    (re.compile(r"(?P<y>\d{4}) ?年(?: ?(?P<m>\d\d?) ?月(?: ?(?P<d>\d\d?) ?[日号號])?)?"), _numbered),
    (re.compile(r"(?P<week>[上这本這下])(?:个|個)?(?:周|週|星期|礼拜|禮拜)(?P<day>[一二三四五六日天])"), _weekday),
    (re.compile(rf"{_N} ?(?P<unit>{_UNIT})(?: ago|之?前|以前)?"), _past),
    (re.compile(rf"in {_N} ?(?P<unit>{_UNIT})"), _future),
    (re.compile(rf"{_N} ?(?P<unit>{_UNIT})(?: from now|之?[后後]|以后)"), _future),
)
