"""When maintenance runs next: a day of the week or month at an hour, whatever the calendar does (W62)."""

from __future__ import annotations

from calendar import monthrange
from datetime import datetime, timedelta

from engine.model.errors import invalid

EVERY = ("manual", "daily", "weekly", "monthly")


def next_run(now: datetime, every: str = "manual", *, hour: int = 3, weekday: int = 1, day: int = 1) -> datetime | None:
    """Return the first run after `now`, in its time zone; None for manual.

    `weekday` counts from 1 (Monday) to 7, `day` from 1 to 31; a month that is shorter runs on its last day. A run that
    is due at this very moment counts as done. Raises invalid_argument for values outside the calendar.
    """
    if every not in EVERY:
        raise invalid(f"schedule {every!r} is not known", f"one of: {', '.join(EVERY)}")
    for name, value, low, high in (("hour", hour, 0, 23), ("weekday", weekday, 1, 7), ("day", day, 1, 31)):
        if not low <= value <= high:
            raise invalid(f"{name}={value} is not between {low} and {high}", "leave it out for the default")
    if every == "manual":
        return None
    today = now.replace(hour=hour, minute=0, second=0, microsecond=0)
    if every == "daily":
        return today if today > now else today + timedelta(days=1)
    if every == "weekly":
        due = today + timedelta(days=(weekday - today.isoweekday()) % 7)
        return due if due > now else due + timedelta(days=7)
    due = _in_month(today, today.year, today.month, day)
    if due <= now:
        year, month = (today.year + 1, 1) if today.month == 12 else (today.year, today.month + 1)
        due = _in_month(today, year, month, day)
    return due


def _in_month(at: datetime, year: int, month: int, day: int) -> datetime:
    return at.replace(year=year, month=month, day=min(day, monthrange(year, month)[1]))
