"""Days and moments as files write them, to UTC milliseconds (R23)."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, tzinfo

MOMENT = re.compile(
    r"(\d{4})-(\d\d?)-(\d\d?)"
    r"(?:[T ]+(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?[ ]?(Z|UTC|[+-]\d\d(?::?\d\d)?)?)?",
    re.I,
)
CHINESE_DAY = re.compile(r"(\d{4})年(\d\d?)月(\d\d?)日")
DAY_IN_NAME = re.compile(r"(\d{4}-\d\d-\d\d)(?!\d)")
SECONDS = range(100_000_000, 10_000_000_000)
MILLISECONDS = range(100_000_000_000, 10_000_000_000_000)


def to_ms(value: object, zone: tzinfo | None = None) -> int | None:
    """Return the moment that a value names, or None when it names none; a day is its local midnight.

    `zone` is the local time zone (None = the machine's). Numbers are seconds or milliseconds since 1970.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        whole = int(value)
        return int(value * 1000) if whole in SECONDS else whole if whole in MILLISECONDS else None
    text = str(value).strip()
    found = MOMENT.fullmatch(text) or CHINESE_DAY.fullmatch(text)
    if not found:
        return None
    parts = [*found.groups(), *[None] * 5][:8]
    year, month, day, hour, minute, second = (int(part or 0) for part in parts[:6])
    micro = int((parts[6] or "0")[:6].ljust(6, "0"))
    try:
        moment = datetime(year, month, day, hour, minute, second, micro)
        return round(aware(moment, parts[7], zone).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None


def aware(moment: datetime, offset: str | None, zone: tzinfo | None) -> datetime:
    """Give a moment the offset that was written, else the local time zone."""
    if not offset:
        return moment.replace(tzinfo=zone) if zone else moment.astimezone()
    if offset.upper() in ("Z", "UTC"):
        return datetime.fromisoformat(f"{moment.isoformat()}+00:00")
    digits = offset[1:].replace(":", "").ljust(4, "0")
    shift = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    ahead = datetime.fromisoformat(f"{moment.isoformat()}+00:00")
    return ahead - shift if offset[0] == "+" else ahead + shift


def day_in_name(stem: str, zone: tzinfo | None = None) -> int | None:
    """Return the day at the start of a file's name (a daily note); a day inside a name is text."""
    found = DAY_IN_NAME.match(stem)
    return to_ms(found.group(1), zone) if found else None
