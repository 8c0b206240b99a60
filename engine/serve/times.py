"""Times as agents write them, read in the words of the parameter that carried them."""

from __future__ import annotations

from engine.model.clock import LOCAL
from engine.model.errors import MemdeckError, invalid
from engine.rules.bitemporal import parse_when

_FORM = "a date or time: 2026-05-01, 2026-05-01T14:00, 2026-05, yesterday"


def start_of(name: str, text: str, now_ms: int) -> int | None:
    """Return where the named period begins, in UTC milliseconds; None for an empty text."""
    return _read(name, text, now_ms)[0] if text else None


def end_of(name: str, text: str, now_ms: int) -> int | None:
    """Return the last millisecond of the named period: what was so on a day is what was so when it ended."""
    if not text:
        return None
    start, end = _read(name, text, now_ms)
    return start if end is None else max(start, end - 1)


def _read(name: str, text: str, now_ms: int) -> tuple[int, int | None]:
    try:
        return parse_when(text, now_ms=now_ms, tz=LOCAL)
    except MemdeckError:
        raise invalid(f"{name} is not understood", f"give {name} as {_FORM}", parameter=name) from None
