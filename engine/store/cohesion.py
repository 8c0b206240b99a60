"""How much neighbours in a thread speak of the same things, compared with memories of different threads.

In a transcript the answer often stands beside the words of the question, so a search lets neighbours count as context.
In a store of unrelated notes that share a thread this would be noise. The ratio tells the two apart.
"""

from __future__ import annotations

import math
import sqlite3
from array import array
from collections import Counter

from engine.store.index_reader import live_versions, statistic

COHESION = "cohesion"
"""Name of the statistic: mean similarity of neighbours over that of strangers; 1 when there are too few to tell."""

_COUNTED = "cohesion_counted"
_SAMPLE = 400
_FEW = 10
_GROWTH = 1.25


def refresh_cohesion(conn: sqlite3.Connection) -> None:
    """Measure anew once the store has grown by a quarter; part of the caller's transaction."""
    live = live_versions(conn)
    counted = statistic(conn, _COUNTED)
    if counted is not None and counted <= live < max(counted * _GROWTH, counted + _FEW):
        return
    conn.executemany(
        "INSERT OR REPLACE INTO ix_stats (name, value) VALUES (?, ?)",
        [(COHESION, _measure(conn)), (_COUNTED, live)],
    )


def _measure(conn: sqlite3.Connection) -> float:
    pairs = _neighbours(conn)
    if len(pairs) < _FEW:
        return 1.0
    terms = {vid: _terms(conn, vid) for pair in pairs for vid in pair[:2]}
    held = Counter(tid for own in terms.values() for tid in own)
    squared = {tid: math.log1p((len(terms) - n + 0.5) / (n + 0.5)) ** 2 for tid, n in held.items()}
    half = len(pairs) // 2
    strangers = [
        (a, b) for (a, _, one), (_, b, other) in zip(pairs, pairs[half:] + pairs[:half], strict=True) if one != other
    ]
    if len(strangers) < _FEW:
        return 1.0
    near = sum(_similarity(terms[a], terms[b], squared) for a, b, _ in pairs) / len(pairs)
    far = sum(_similarity(terms[a], terms[b], squared) for a, b in strangers) / len(strangers)
    return near / max(far, 1e-6)


def _neighbours(conn: sqlite3.Connection) -> list[tuple[int, int, int]]:
    """Return up to a sample of (version, next version in its thread, thread), spread over the store."""
    last = conn.execute("SELECT coalesce(max(vid), 0) FROM ix_docs").fetchone()[0]
    return conn.execute(
        "SELECT a.vid, b.vid, a.thread FROM ix_docs AS a JOIN ix_docs AS b ON b.thread = a.thread AND b.seq = a.seq + 1"
        " WHERE a.live AND b.live AND a.vid % ? = 0 ORDER BY a.vid LIMIT ?",
        (1 + last // _SAMPLE, _SAMPLE),
    ).fetchall()


def _terms(conn: sqlite3.Connection, vid: int) -> set[int]:
    found: set[int] = set()
    for tids, weights in conn.execute("SELECT tids, weights FROM ix_passages WHERE vid = ? AND n < 3", (vid,)):
        found.update(tid for tid, weight in zip(array("I", tids), weights, strict=True) if weight)
    return found


def _similarity(one: set[int], other: set[int], squared: dict[int, float]) -> float:
    size = sum(map(squared.__getitem__, one)) * sum(map(squared.__getitem__, other))
    return sum(squared[tid] for tid in one & other) / math.sqrt(size) if size else 0.0
