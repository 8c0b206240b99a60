"""Numbers over the vocabulary, all derived from its rows: uses, co-occurrence, statistics (W31, W32)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Use:
    """How many current memories carry a tag, and the operation that gave it to the last of them."""

    cards: int
    last_op: int


NOBODY = Use(0, 0)

_OTHER_STATES = ("archived", "deleted", "merged", "quarantined", "superseded")
_ELSEWHERE = (
    "SELECT memory_id FROM states WHERE op_to IS NULL AND state IN (" + ", ".join(f"'{s}'" for s in _OTHER_STATES) + ")"
)


def uses(conn: sqlite3.Connection) -> dict[int, Use]:
    """Return the use of every tag that a memory carries; few memories are not active, so those are taken off."""
    found = {
        tag: Use(cards, last)
        for tag, cards, last in conn.execute(
            "SELECT tag_id, count(*), max(op_from) FROM memory_tags WHERE op_to IS NULL GROUP BY tag_id"
        )
    }
    for tag, cards in conn.execute(
        f"SELECT tag_id, count(*) FROM memory_tags WHERE op_to IS NULL AND memory_id IN ({_ELSEWHERE}) GROUP BY tag_id"
    ):
        found[tag] = Use(found[tag].cards - cards, found[tag].last_op)
    return found


def uses_of(conn: sqlite3.Connection, tag_ids: Collection[int]) -> dict[int, Use]:
    """Return the use of some tags."""
    rows = conn.execute(
        "SELECT l.tag_id, count(s.memory_id), max(l.op_from) FROM memory_tags l LEFT JOIN states s"
        " ON s.memory_id = l.memory_id AND s.op_to IS NULL AND s.state = 'active'"
        " WHERE l.op_to IS NULL AND l.tag_id IN (SELECT value FROM json_each(?)) GROUP BY l.tag_id",
        (json.dumps(sorted(tag_ids)),),
    )
    return {tag: Use(cards, last) for tag, cards, last in rows}


def has_more_cards(conn: sqlite3.Connection, tag_id: int, most: int) -> bool:
    """Tell whether more than `most` memories carry a tag, without counting them all."""
    row = conn.execute(
        "SELECT 1 FROM memory_tags WHERE tag_id = ? AND op_to IS NULL LIMIT 1 OFFSET ?", (tag_id, most)
    ).fetchone()
    return row is not None


def times(conn: sqlite3.Connection, ops: Collection[int]) -> dict[int, int]:
    """Return when operations happened, in UTC milliseconds."""
    rows = conn.execute(
        "SELECT op, at FROM operations WHERE op IN (SELECT value FROM json_each(?))", (json.dumps(sorted(ops)),)
    )
    return dict(rows.fetchall())


def together(conn: sqlite3.Connection, tag_id: int, limit: int = 20) -> list[tuple[int, int]]:
    """Return the tags that stand beside one on current memories, with on how many, most first (W32)."""
    return conn.execute(
        "SELECT b.tag_id, count(*) n FROM memory_tags a JOIN memory_tags b ON b.memory_id = a.memory_id"
        " AND b.op_to IS NULL AND b.tag_id <> a.tag_id JOIN states s ON s.memory_id = a.memory_id AND s.op_to IS NULL"
        " AND s.state = 'active' WHERE a.tag_id = ? AND a.op_to IS NULL GROUP BY b.tag_id ORDER BY n DESC, b.tag_id"
        " LIMIT ?",
        (tag_id, limit),
    ).fetchall()


def mean_confidence(conn: sqlite3.Connection, tag_id: int) -> float:
    """Return the mean confidence of the current memories that carry a tag, 0.5 without any (W31)."""
    row = conn.execute(
        "SELECT avg(v.confidence) FROM memory_tags l JOIN versions v ON v.memory_id = l.memory_id AND v.op_to IS NULL"
        " JOIN states s ON s.memory_id = l.memory_id AND s.op_to IS NULL AND s.state = 'active'"
        " WHERE l.tag_id = ? AND l.op_to IS NULL",
        (tag_id,),
    ).fetchone()
    return 0.5 if row[0] is None else float(row[0])


def span(conn: sqlite3.Connection, tag_id: int) -> tuple[int, int]:
    """Return the operations in which a tag began and in which its present row did."""
    row = conn.execute(
        "SELECT min(op_from), max(CASE WHEN op_to IS NULL THEN op_from END) FROM tags WHERE tag_id = ?", (tag_id,)
    ).fetchone()
    return int(row[0] or 0), int(row[1] or 0)


def relations_of(conn: sqlite3.Connection, tag_ids: Collection[int]) -> list[tuple[int, int, str, int]]:
    """Return every relation that touches some tags: both ends, level and the operation that wrote it."""
    return conn.execute(
        "SELECT low_id, high_id, level, op_from FROM tag_relations WHERE op_to IS NULL"
        " AND (low_id IN (SELECT value FROM json_each(?1)) OR high_id IN (SELECT value FROM json_each(?1)))"
        " ORDER BY low_id, high_id",
        (json.dumps(sorted(tag_ids)),),
    ).fetchall()


def all_relations(conn: sqlite3.Connection) -> list[tuple[int, int, str, int]]:
    """Return all relations: both ends, level and the operation that wrote each."""
    return conn.execute(
        "SELECT low_id, high_id, level, op_from FROM tag_relations WHERE op_to IS NULL ORDER BY low_id, high_id"
    ).fetchall()


def names_of(conn: sqlite3.Connection, tag_ids: Collection[int]) -> Mapping[int, str]:
    """Return the names of tags by number."""
    rows = conn.execute(
        "SELECT tag_id, name FROM tags WHERE op_to IS NULL AND tag_id IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(tag_ids)),),
    )
    return dict(rows.fetchall())
