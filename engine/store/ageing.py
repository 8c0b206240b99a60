"""Which memories are dormant: untouched for long, computed when asked and never written anywhere (C4, R8)."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from engine.rules.decay import DAY_MS


class Ageing(NamedTuple):
    """The day that counts as today, in days since 1970, and how many days make a memory dormant that nobody recalled.

    Whole days keep the answer to a question the same all day.
    """

    day: int
    after_days: int

    @classmethod
    def at(cls, now_ms: int, after_days: int) -> Ageing:
        """Return the ageing of a moment in UTC milliseconds."""
        return cls(now_ms // DAY_MS, after_days)


class Silent(NamedTuple):
    """What the strict present passes over: what was rejected (W37), and under `ageing` what is dormant (R8)."""

    rejected: bool = False
    ageing: Ageing | None = None


DORMANT = (
    "v.baseline = 0 AND v.kind <> 'correction' AND v.type NOT IN ('user', 'feedback') AND EXISTS (SELECT 1"
    " FROM (SELECT ? AS day, ? AS days) a JOIN memories m LEFT JOIN usage u ON u.memory_id = m.id"
    " WHERE m.id = v.memory_id"
    f" AND m.recorded_at < (a.day - a.days) * {DAY_MS}"
    f" AND a.day * {DAY_MS} - max(m.recorded_at, coalesce(u.last_recall, 0))"
    f" > a.days * {DAY_MS} * longevity(coalesce(u.recalls, 0))"
    " AND NOT EXISTS (SELECT 1 FROM states k WHERE k.memory_id = m.id AND k.op_to IS NULL AND k.locked = 1))"
)
"""Holds for a version `v` that is dormant, with an `Ageing` as its two parameters: `rules.decay.is_dormant` in SQL,
and what is exempt (locked, baseline, types user and feedback, corrections)."""


class Idle(NamedTuple):
    """A dormant memory: when it came, how often and when it was recalled last, in UTC milliseconds."""

    memory_id: int
    recorded_ms: int
    recalls: int
    last_recall_ms: int | None

    @property
    def touched_ms(self) -> int:
        """Return the later of arrival and last recall."""
        return max(self.recorded_ms, self.last_recall_ms or 0)


def dormant_among(conn: sqlite3.Connection, ageing: Ageing, sql: str, values: tuple[object, ...]) -> list[Idle]:
    """Return the dormant memories of a condition on versions `v`, those untouched longest first."""
    rows = conn.execute(
        "SELECT v.memory_id, w.recorded_at, coalesce(n.recalls, 0), n.last_recall FROM versions v"
        " JOIN memories w ON w.id = v.memory_id LEFT JOIN usage n ON n.memory_id = v.memory_id"
        f" WHERE ({sql}) AND {DORMANT} ORDER BY max(w.recorded_at, coalesce(n.last_recall, 0)), v.memory_id",
        (*values, *ageing),
    )
    return [Idle(*row) for row in rows]
