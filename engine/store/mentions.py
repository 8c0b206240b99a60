"""How often each entity is mentioned (T2): a derived count that follows every operation.

A mention is a standing fact of a memory that is active, superseded or archived, and each time that the memory was seen
again. What waits or was forgotten does not count. Everything here can be rebuilt from the facts.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator

from engine.store.rows import open_at

SCHEMA = """
CREATE TABLE IF NOT EXISTS ix_mentions (entity_id INTEGER PRIMARY KEY, count INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS ix_mentions_count ON ix_mentions (count);
"""

COUNTED = "('active', 'superseded', 'archived')"

_ALL = f"""
SELECT f.entity_id, sum(1 + coalesce(n.times, 0)) AS count FROM (
  SELECT memory_id, subject_id AS entity_id FROM facts WHERE op_to IS NULL
  UNION ALL
  SELECT memory_id, object_id FROM facts WHERE op_to IS NULL AND object_id <> subject_id) f
JOIN states s ON s.memory_id = f.memory_id AND s.op_to IS NULL AND s.state IN {COUNTED}
LEFT JOIN (SELECT memory_id, count(*) AS times FROM sightings WHERE op_to IS NULL GROUP BY memory_id) n
  ON n.memory_id = f.memory_id
GROUP BY f.entity_id"""


def follow(conn: sqlite3.Connection, op: int, memory_ids: Iterable[int]) -> None:
    """Bring the counts in step with what an operation changed of these memories; part of its transaction."""
    change: Counter[int] = Counter()
    for memory_id in memory_ids:
        if conn.execute("SELECT 1 FROM facts WHERE memory_id = ? LIMIT 1", (memory_id,)).fetchone():
            change.update(_of(conn, memory_id, None))
            change.subtract(_of(conn, memory_id, op - 1))
    _add(conn, change)


def forget(conn: sqlite3.Connection, memory_id: int) -> None:
    """Take a memory's mentions out of the counts before its rows are erased."""
    change: Counter[int] = Counter()
    change.subtract(_of(conn, memory_id, None))
    _add(conn, change)


def rebuild(conn: sqlite3.Connection) -> None:
    """Count everything anew; part of the caller's transaction."""
    conn.execute("DELETE FROM ix_mentions")
    conn.execute(f"INSERT INTO ix_mentions (entity_id, count) {_ALL}")


def check(conn: sqlite3.Connection) -> Iterator[str]:
    """Yield what is wrong with the counts."""
    stored = "SELECT entity_id, count FROM ix_mentions"
    wrong = conn.execute(
        f"SELECT count(DISTINCT entity_id) FROM (SELECT * FROM ({_ALL} EXCEPT {stored})"
        f" UNION ALL SELECT * FROM ({stored} EXCEPT {_ALL}))"
    ).fetchone()[0]
    if wrong:
        yield f"{wrong} entities have a wrong count of mentions"


def _of(conn: sqlite3.Connection, memory_id: int, known: int | None) -> Counter[int]:
    """Return how often a memory mentions each entity, as known at an operation."""
    counted = conn.execute(
        f"SELECT 1 FROM states s WHERE s.memory_id = ? AND {open_at('s', known)} AND s.state IN {COUNTED}",
        (memory_id,),
    ).fetchone()
    found: Counter[int] = Counter()
    if counted is None:
        return found
    again = conn.execute(
        f"SELECT count(*) FROM sightings s WHERE s.memory_id = ? AND {open_at('s', known)}", (memory_id,)
    ).fetchone()[0]
    for ends in conn.execute(
        f"SELECT f.subject_id, f.object_id FROM facts f WHERE f.memory_id = ? AND {open_at('f', known)}", (memory_id,)
    ):
        for entity in {end for end in ends if end is not None}:
            found[entity] += 1 + again
    return found


def _add(conn: sqlite3.Connection, change: Counter[int]) -> None:
    changed = [(entity, count) for entity, count in change.items() if count]
    conn.executemany(
        "INSERT INTO ix_mentions (entity_id, count) VALUES (?, ?)"
        " ON CONFLICT (entity_id) DO UPDATE SET count = count + excluded.count",
        changed,
    )
    conn.executemany("DELETE FROM ix_mentions WHERE entity_id = ? AND count = 0", [(entity,) for entity, _ in changed])
