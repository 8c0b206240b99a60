"""The repository of review items: rows with a kind, a dedupe key, evidence, a state and a defer date (R13)."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Mapping, Sequence

from engine.model.enums import Origin, ReviewKind, ReviewState
from engine.model.records import ReviewItem
from engine.store.rows import dump, marks
from engine.store.schema import REVIEW
from engine.store.transaction import Tx

WAITING = (ReviewState.OPEN, ReviewState.DEFERRED)


def open_item(
    tx: Tx,
    kind: ReviewKind,
    dedupe: str,
    *,
    title: str,
    memory_id: int | None = None,
    rival_id: int | None = None,
    evidence: Mapping[str, object],
    proposal: Mapping[str, object],
) -> int:
    """Open an item, or return the one that waits under the same dedupe key already."""
    row = tx.conn.execute(
        f"SELECT item_id FROM review_items WHERE dedupe = ? AND op_to IS NULL AND state IN ({marks(len(WAITING))})",
        (dedupe, *[s.value for s in WAITING]),
    ).fetchone()
    if row:
        return int(row[0])
    number = tx.next_id("review")
    tx.open(
        REVIEW,
        {
            "item_id": number, "kind": kind.value, "dedupe": dedupe, "memory_id": memory_id, "rival_id": rival_id,
            "title": title, "evidence": dump(dict(evidence)), "proposal": dump(dict(proposal)),
            "state": ReviewState.OPEN.value, "defer_until": None, "reason": "", "opened_at": tx.at,
            "origin": tx.by.origin.value, "actor": tx.by.actor,
        },
    )  # fmt: skip
    return number


def set_item(tx: Tx, item_id: int, state: ReviewState, *, reason: str = "", defer_until: int | None = None) -> bool:
    """Move an item to a state; False when it is there already."""
    return tx.replace(REVIEW, (item_id,), {"state": state.value, "reason": reason, "defer_until": defer_until})


def close_items_of(tx: Tx, memory_id: int, reason: str) -> int:
    """Settle what waits about a memory that is gone or decided elsewhere; returns how many items."""
    rows = tx.conn.execute(
        f"SELECT item_id FROM review_items WHERE op_to IS NULL AND (memory_id = ? OR rival_id = ?)"
        f" AND state IN ({marks(len(WAITING))})",
        (memory_id, memory_id, *[s.value for s in WAITING]),
    ).fetchall()
    for (item_id,) in rows:
        set_item(tx, item_id, ReviewState.REJECTED, reason=reason)
    return len(rows)


def close_item(tx: Tx, dedupe: str, reason: str) -> None:
    """Settle the item that waits under a dedupe key, if there is one."""
    row = tx.conn.execute(
        f"SELECT item_id FROM review_items WHERE dedupe = ? AND op_to IS NULL AND state IN ({marks(len(WAITING))})",
        (dedupe, *[s.value for s in WAITING]),
    ).fetchone()
    if row:
        set_item(tx, int(row[0]), ReviewState.REJECTED, reason=reason)


_COLUMNS = (
    "item_id, kind, state, memory_id, rival_id, title, evidence, proposal, opened_at, origin, actor, defer_until,"
    " reason"
)


def _where(kinds: Sequence[ReviewKind], states: Sequence[str], now_ms: int) -> tuple[str, list[object]]:
    parts, values = ["op_to IS NULL"], list[object]()
    if kinds:
        parts.append(f"kind IN ({marks(len(kinds))})")
        values += [k.value for k in kinds]
    if states:
        plain = [s for s in states if s != ReviewState.OPEN.value]
        choices = [f"state IN ({marks(len(plain))})"] if plain else []
        values += plain
        if ReviewState.OPEN.value in states:
            choices.append("state = 'open' OR (state = 'deferred' AND defer_until IS NOT NULL AND defer_until <= ?)")
            values.append(now_ms)
        parts.append(f"({' OR '.join(choices)})")
    return " AND ".join(parts), values


def item_ids(
    conn: sqlite3.Connection, *, kinds: Sequence[ReviewKind], states: Sequence[str], now_ms: int
) -> array[int]:
    """Return the numbers of items, oldest first; a deferred one counts as open once its date has come."""
    where, values = _where(kinds, states, now_ms)
    rows = conn.execute(f"SELECT item_id FROM review_items WHERE {where} ORDER BY item_id", values)
    return array("q", (r[0] for r in rows))


def load_items(conn: sqlite3.Connection, ids: Sequence[int]) -> list[ReviewItem]:
    """Return review items by number, in that order; unknown numbers are left out."""
    found: dict[int, ReviewItem] = {}
    for start in range(0, len(ids), 500):
        batch = list(ids[start : start + 500])
        for r in conn.execute(
            f"SELECT {_COLUMNS} FROM review_items WHERE op_to IS NULL AND item_id IN ({marks(len(batch))})", batch
        ):
            found[r[0]] = ReviewItem(
                id=r[0], kind=ReviewKind(r[1]), state=ReviewState(r[2]), memory_id=r[3], rival_id=r[4], title=r[5],
                evidence=json.loads(r[6]), proposal=json.loads(r[7]), opened_ms=r[8], origin=Origin(r[9]),
                actor=r[10], defer_until=r[11], reason=r[12],
            )  # fmt: skip
    return [found[i] for i in ids if i in found]


def count_by_kind(conn: sqlite3.Connection, now_ms: int) -> dict[str, int]:
    """Return how many items of each kind wait."""
    where, values = _where((), (ReviewState.OPEN.value,), now_ms)
    return dict(conn.execute(f"SELECT kind, count(*) FROM review_items WHERE {where} GROUP BY kind", values).fetchall())
