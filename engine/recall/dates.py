"""Dates in a question: absolute ones ("3 June 2023", "5月2号", "in May") and those seen from now ("last week")."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta

_MONTHS = "january february march april may june july august september october november december".split(" ")
_MONTH_NUMBER = {name: n for n, name in enumerate(_MONTHS, 1)} | {name[:3]: n for n, name in enumerate(_MONTHS, 1)}
_MONTH_NUMBER["sept"] = 9
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split(" ")
_WEEKDAY = {name: n for n, name in enumerate(_DAYS)} | {char: n for n, char in enumerate("一二三四五六日")} | {"天": 6}
_MONTH = rf"\b({'|'.join(sorted(_MONTH_NUMBER, key=len, reverse=True))})\b\.?"
_YEAR = r"((?:19|20)\d\d)"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_ZH_NUMBER = {char: n for n, char in enumerate("一二三四五六七八九十", 1)} | {"两": 2}
_N = r"(\d{1,3}|a|an|one|two|three|four|five|six|[一两二三四五六七八九十])"
_WORD_NUMBER = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6} | _ZH_NUMBER


@dataclass(frozen=True)
class DateSpan:
    """The days from `first` to `last`, both included; `sure` says how telling it is that a memory falls into it."""

    first: date
    last: date
    sure: float

    def closeness(self, day: date) -> float:
        """Return 0..1: how well a memory of that day fits; what happened is often told a few days later."""
        if self.first <= day <= self.last:
            return self.sure
        late = (day - self.last).days
        if 0 < late <= 7:
            return 0.4 * self.sure
        if 0 < late <= 14 or 0 < (self.first - day).days <= 2:
            return 0.2 * self.sure
        return 0.0


SURE_DAY, SURE_WEEK, SURE_MONTH, SURE_YEAR = 1.0, 0.85, 0.7, 0.15


def dates_in(text: str, today: date) -> list[DateSpan]:
    """Return the times that a question names; a day or month without a year means the latest one up to today."""
    found = [span for find in (_iso, _english_days, _chinese_days, _relative) for span in find(text, today)]
    if not found:
        found = [*_months(text, today)]
    return found or [*_years(text)]


def _make(year: int | None, month: int, day: int | None, today: date) -> Iterator[DateSpan]:
    try:
        if day is not None:
            exact = date(year or today.year, month, day)
            if year is None and exact > today:
                exact = exact.replace(year=today.year - 1)
            yield DateSpan(exact, exact, SURE_DAY)
        else:
            first = date(year or today.year, month, 1)
            if year is None and first > today:
                first = first.replace(year=today.year - 1)
            yield DateSpan(first, _month_end(first), SURE_MONTH)
    except ValueError:  # the 31st of a month that has 30 days
        return


def _month_end(first: date) -> date:
    return (first.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)


_ISO = re.compile(r"\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\b")


def _iso(text: str, today: date) -> Iterator[DateSpan]:
    for found in _ISO.finditer(text):
        yield from _make(int(found[1]), int(found[2]), int(found[3]), today)


_DAY_FIRST = re.compile(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s*{_YEAR}\b)?", re.IGNORECASE)
_MONTH_FIRST = re.compile(rf"{_MONTH}\s+{_DAY}\b(?:,?\s*{_YEAR}\b)?", re.IGNORECASE)


def _english_days(text: str, today: date) -> Iterator[DateSpan]:
    for found in _DAY_FIRST.finditer(text):
        yield from _make(_number(found[3]), _MONTH_NUMBER[found[2].lower()], int(found[1]), today)
    for found in _MONTH_FIRST.finditer(text):
        yield from _make(_number(found[3]), _MONTH_NUMBER[found[1].lower()], int(found[2]), today)


_CHINESE = re.compile(r"(?:(\d{4})\s*年)?\s*(\d{1,2})\s*月(?:份|\s*(\d{1,2})\s*[日号])?")


def _chinese_days(text: str, today: date) -> Iterator[DateSpan]:
    for found in _CHINESE.finditer(text):
        yield from _make(_number(found[1]), int(found[2]), _number(found[3]), today)


_MONTH_OF_YEAR = re.compile(rf"{_MONTH},?\s*(?:of\s+|in\s+)?{_YEAR}\b", re.IGNORECASE)
_IN_MONTH = re.compile(rf"\b(?:in|during|last|this|since|of|early|late|mid|by|until)[\s-]+{_MONTH}", re.IGNORECASE)


def _months(text: str, today: date) -> Iterator[DateSpan]:
    named = [*_MONTH_OF_YEAR.finditer(text)]
    for found in named:
        yield from _make(int(found[2]), _MONTH_NUMBER[found[1].lower()], None, today)
    for found in [] if named else _IN_MONTH.finditer(text):
        yield from _make(None, _MONTH_NUMBER[found[1].lower()], None, today)


_ANY_YEAR = re.compile(rf"\b{_YEAR}\b|(?<!\d){_YEAR}\s*年")


def _years(text: str) -> Iterator[DateSpan]:
    for found in _ANY_YEAR.finditer(text):
        year = int(found[1] or found[2])
        yield DateSpan(date(year, 1, 1), date(year, 12, 31), SURE_YEAR)


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


# ------------------------------------------------------------------------------------------- seen from now
def _day(back: int) -> Callable[[date, re.Match[str]], DateSpan]:
    def make(today: date, _: re.Match[str]) -> DateSpan:
        day = today - timedelta(days=back)
        return DateSpan(day, day, SURE_DAY)

    return make


def _week(back: int) -> Callable[[date, re.Match[str]], DateSpan]:
    def make(today: date, _: re.Match[str]) -> DateSpan:
        monday = today - timedelta(days=today.weekday() + 7 * back)
        return DateSpan(monday, monday + timedelta(days=6), SURE_WEEK)

    return make


def _month_back(back: int) -> Callable[[date, re.Match[str]], DateSpan]:
    def make(today: date, _: re.Match[str]) -> DateSpan:
        return _months_ago(today, back)

    return make


def _year(back: int) -> Callable[[date, re.Match[str]], DateSpan]:
    def make(today: date, _: re.Match[str]) -> DateSpan:
        return DateSpan(date(today.year - back, 1, 1), date(today.year - back, 12, 31), SURE_YEAR)

    return make


def _months_ago(today: date, back: int) -> DateSpan:
    months = today.year * 12 + today.month - 1 - back
    first = date(max(months // 12, 1), months % 12 + 1, 1)
    return DateSpan(first, _month_end(first), SURE_MONTH)


def _ago(today: date, found: re.Match[str]) -> DateSpan:
    number = int(found[1]) if found[1].isdecimal() else _WORD_NUMBER[found[1].lower()]
    unit = found[2].lower()
    if unit[0] in "d天日":
        day = today - timedelta(days=number)
        return DateSpan(day, day, SURE_DAY)
    if unit[0] in "w周星":
        day = today - timedelta(weeks=number)
        return DateSpan(day - timedelta(days=3), day + timedelta(days=3), SURE_WEEK)
    if unit[0] in "m月":
        return _months_ago(today, number)
    year = max(today.year - number, 1)
    return DateSpan(date(year, 1, 1), date(year, 12, 31), SURE_YEAR)


def _weekday(today: date, found: re.Match[str]) -> DateSpan:
    back = (today.weekday() - _WEEKDAY[found[1].lower()]) % 7 or 7
    day = today - timedelta(days=back)
    return DateSpan(day, day, SURE_DAY)


_FROM_NOW: tuple[tuple[re.Pattern[str], Callable[[date, re.Match[str]], DateSpan]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), make)
    for pattern, make in (
        (r"\btoday\b|\btonight\b|今天|今日|今晚", _day(0)),
        (r"(?<!before )\byesterday\b|昨天|昨日|昨晚", _day(1)),
        (r"\bday before yesterday\b|前天", _day(2)),
        (r"\bthis week\b|本周|这周|这个?星期", _week(0)),
        (r"\b(?:last|past|previous) week(?:end)?\b|上个?(?:周|星期|礼拜)(?![一二三四五六日天])", _week(1)),
        (r"\bthis month\b|这个月|本月", _month_back(0)),
        (r"\b(?:last|past|previous) month\b|上个?月", _month_back(1)),
        (r"\bthis year\b|今年", _year(0)),
        (r"\b(?:last|past|previous) year\b|去年", _year(1)),
        (rf"\b{_N}\s+(days?|weeks?|months?|years?)\s+ago\b", _ago),
        (rf"{_N}\s*个?\s*(天|日|周|星期|月|年)(?:之|以)?前", _ago),
        (rf"\b(?:last|on|this|past)\s+({'|'.join(_DAYS)})\b", _weekday),
        (r"(?:上?个?(?:周|星期|礼拜))([一二三四五六日天])", _weekday),
    )
)


def _relative(text: str, today: date) -> Iterator[DateSpan]:
    for pattern, make in _FROM_NOW:
        for found in pattern.finditer(text):
            try:
                yield make(today, found)
            except (OverflowError, ValueError):
                continue
