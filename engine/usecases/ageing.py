"""What strict recall and packs pass over, and which memories nobody has touched for long (C4, R8, R9, W37)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from engine.model.enums import Mode
from engine.model.errors import invalid
from engine.model.memory import Caller, Filter
from engine.model.receipts import DormantMemory
from engine.rules.decay import DAY_MS, activation, longevity
from engine.store.ageing import DORMANT, Ageing, Idle, Silent, dormant_among
from engine.store.rows import dump, load_memories
from engine.store.selection import Selection, recall_selection
from engine.usecases.desk import Desk

POLICY, AFTER_DAYS = "ageing.policy", "ageing.dormant_after_days"
MOST = 1_000


def silent(desk: Desk) -> Silent:
    """Return what the strict present passes over: rejected memories, and dormant ones under the policy auto."""
    return Silent(rejected=True, ageing=ageing(desk) if desk.settings.word(POLICY) == "auto" else None)


def ageing(desk: Desk) -> Ageing:
    """Return what makes a memory dormant today."""
    return Ageing.at(desk.store.clock.now_ms(), desk.settings.number(AFTER_DAYS))


def asleep(desk: Desk, by: Caller) -> Selection | None:
    """Return what packs pass over for its age, None where the policy passes nothing over."""
    age = silent(desk).ageing
    if age is None:
        return None
    chosen = _current(desk, by, everywhere=False)
    return Selection(f"{chosen.sql} AND {DORMANT}", (*chosen.values, *age), None)


def dormant_of(desk: Desk, conn: sqlite3.Connection, ids: Sequence[int]) -> dict[int, Idle]:
    """Return those of some memories that strict recall passes over for their age."""
    age = silent(desk).ageing
    if age is None or not ids:
        return {}
    condition = "v.op_to IS NULL AND v.memory_id IN (SELECT value FROM json_each(?))"
    return {one.memory_id: one for one in dormant_among(conn, age, condition, (dump(list(ids)),))}


def _current(desk: Desk, by: Caller, *, everywhere: bool) -> Selection:
    now = desk.store.clock.now_ms()
    return recall_selection(
        by, Mode.CURRENT, Filter(), valid_ms=now, known=None, moved=False, everywhere=everywhere,
        silent=Silent(rejected=True),
    )  # fmt: skip


def dormant(desk: Desk, by: Caller, limit: int = 100) -> list[DormantMemory]:
    """Return the current memories that nobody has touched for long, longest first, each with the reason.

    Under the policy report they are candidates, under auto strict recall passes them over, and off lists none. Nothing
    is moved or written. Raises invalid_argument for a limit outside 1 to MOST.
    """
    if not 1 <= limit <= MOST:
        raise invalid(f"limit={limit} is not between 1 and {MOST}", "leave it out for a hundred")
    if desk.settings.word(POLICY) == "off":
        return []
    now, age = desk.store.clock.now_ms(), ageing(desk)
    chosen = _current(desk, by, everywhere=by.is_owner)
    with desk.store.read() as conn:
        idle = dormant_among(conn, age, chosen.sql, chosen.values)[:limit]
        memories = {m.id: m for m in load_memories(conn, [one.memory_id for one in idle], bodies=False)}
    return [_reported(one, age, now, memories[one.memory_id].description) for one in idle if one.memory_id in memories]


def _reported(one: Idle, age: Ageing, now_ms: int, description: str) -> DormantMemory:
    days = (now_ms - one.touched_ms) / DAY_MS
    limit = age.after_days * longevity(one.recalls)
    said = f"{one.recalls} recall{'s' if one.recalls != 1 else ''}" if one.recalls else "no recall"
    return DormantMemory(
        id=one.memory_id,
        description=description,
        idle_days=round(days, 1),
        limit_days=round(limit, 1),
        recalls=one.recalls,
        last_recall_ms=one.last_recall_ms,
        activation=round(activation(days * 24, one.recalls), 6),
        reason=f"untouched for {days:.0f} days, {said}; dormant after {limit:.0f}",
    )
