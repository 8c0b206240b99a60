"""The one place that reads a clock: UTC milliseconds, frozen by MEMDECK_NOW for tests and rehearsals (R23)."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Protocol


class Clock(Protocol):
    """Anything that tells the time."""

    def now_ms(self) -> int:
        """Return the moment in UTC milliseconds since 1970."""
        ...


class SystemClock:
    """The machine's clock."""

    def now_ms(self) -> int:
        """Return the machine's time in UTC milliseconds."""
        return time.time_ns() // 1_000_000


@dataclass
class FixedClock:
    """A clock that stands still until it is moved; for tests, rehearsals and the sample store."""

    at_ms: int

    def now_ms(self) -> int:
        """Return the moment it was set to."""
        return self.at_ms


def clock_from_env(*, trusted: bool = True) -> Clock:
    """Return the clock that MEMDECK_NOW (ISO time) asks for; agents' doors pass `trusted=False`.

    An untrusted door honours the variable only when MEMDECK_TEST=1, so that nobody moves an owner's time
    by accident. A value that is no ISO time raises ValueError.
    """
    text = os.environ.get("MEMDECK_NOW")
    if not text or not (trusted or os.environ.get("MEMDECK_TEST") == "1"):
        return SystemClock()
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.astimezone()
    return FixedClock(int(moment.timestamp() * 1000))


def iso(ms: int) -> str:
    """Render UTC milliseconds as `2026-11-29T08:00:00.000Z`."""
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class LocalZone(tzinfo):
    """The machine's time zone with its summer times; dates without a zone are read in it (R23)."""

    def utcoffset(self, when: datetime | None) -> timedelta | None:
        """Return the offset in force at a local time, as the system knows it."""
        return when.replace(tzinfo=None).astimezone().utcoffset() if when else None

    def dst(self, when: datetime | None) -> None:
        """Say nothing about summer time beyond what the offset says."""
        return None

    def tzname(self, when: datetime | None) -> str | None:
        """Return the zone's short name at a local time."""
        return when.replace(tzinfo=None).astimezone().tzname() if when else None

    def fromutc(self, when: datetime) -> datetime:
        """Return the local time of a moment given in UTC."""
        moment = when.replace(tzinfo=UTC).astimezone()
        local = moment.replace(tzinfo=self)
        # The hour that an autumn night has twice: the fold says which of the two it is.
        return local if local.utcoffset() == moment.utcoffset() else local.replace(fold=1)


LOCAL = LocalZone()
