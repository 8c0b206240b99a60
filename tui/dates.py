"""Dates as a person types them, in local time: 2026-05-01, 3d, yesterday, 昨天, 上周一."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from engine.model.errors import invalid

_DATE = re.compile(
    r"(\d{4})\s*[-/.年]\s*(\d{1,2})(?:\s*[-/.月]\s*(\d{1,2})\s*日?|月)?(?:[T\s]+(\d{1,2})[:：](\d{2}))?",
    re.IGNORECASE,
)
_AGO = re.compile(r"(\d{1,5})\s*(d|w|m|y|h|天|日|周|星期|个月|月|年|小时)\s*(?:ago|前)?", re.IGNORECASE)
_HOURS = {"h": 1, "小时": 1, "d": 24, "天": 24, "日": 24, "w": 168, "周": 168, "星期": 168}
_MONTHS = {"m": 1, "月": 1, "个月": 1, "y": 12, "年": 12}
_DAYS_BACK = {
    "today": 0, "今天": 0, "yesterday": 1, "昨天": 1, "前天": 2, "last week": 7, "上周": 7, "last month": 30,
    "上个月": 30, "last year": 365, "去年": 365, "tomorrow": -1, "明天": -1, "后天": -2,
}  # fmt: skip
_WEEKDAYS = ("一", "二", "三", "四", "五", "六", "日")


def parse_moment(text: str, now_ms: int) -> int:
    """Return the moment in UTC milliseconds where the named period begins, or raise `invalid_argument`."""
    words = text.strip().casefold()
    now = datetime.fromtimestamp(now_ms / 1000)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        if words in ("now", "现在", "."):
            return now_ms
        if found := _DATE.fullmatch(words):
            year, month, day, hour, minute = (int(part) if part else 0 for part in found.groups())
            return _ms(datetime(year, month, day or 1, hour, minute))
        if words in _DAYS_BACK:
            return _ms(midnight - timedelta(days=_DAYS_BACK[words]))
        if found := _AGO.fullmatch(words):
            return _ms(_back(now, int(found[1]), found[2]))
        if words[:2] in ("上周", "本周") and words[2:].replace("天", "日") in _WEEKDAYS:
            monday = midnight - timedelta(days=now.weekday() + (7 if words[0] == "上" else 0))
            return _ms(monday + timedelta(days=_WEEKDAYS.index(words[2:].replace("天", "日"))))
    except (ValueError, OverflowError):
        pass
    raise invalid(
        f"{text[:40]!r} is no date", "write it as 2026-05-01, 2026-05-01 14:30, 3d or yesterday", text=text[:40]
    )


def _back(now: datetime, number: int, unit: str) -> datetime:
    if unit in _HOURS:
        return now - timedelta(hours=number * _HOURS[unit])
    months = now.year * 12 + now.month - 1 - number * _MONTHS[unit]
    year, month = divmod(months, 12)
    first = now.replace(year=year, month=month + 1, day=1)
    last = (first.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
    return first.replace(day=min(now.day, last.day))


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
