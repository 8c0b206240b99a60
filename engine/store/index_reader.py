"""Reading the derived search index: terms, postings, entries and passages."""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

_T = TypeVar("_T")
_PART = 500
"""Values bound to one statement."""
_SAMPLE_BLOCKS = 4


@dataclass(frozen=True)
class Postings:
    """All versions that hold a term, ascending, each with its weight byte; the counts are of current ones."""

    tid: int
    live: int
    summaries: int
    vids: array[int]
    weights: bytes

    def weight(self, vid: int) -> int:
        """Return the weight byte of a version, 0 when it does not hold the term."""
        at = bisect_left(self.vids, vid)
        return self.weights[at] if at < len(self.vids) and self.vids[at] == vid else 0

    def among(self, vids: Collection[int]) -> list[tuple[int, int]]:
        """Return those of `vids` that hold the term with their weight bytes; `vids` is best a set."""
        if len(self.vids) > 8 * len(vids):
            own, weights, size = self.vids, self.weights, len(self.vids)
            places = [(vid, bisect_left(own, vid)) for vid in vids]
            return [(vid, weights[at]) for vid, at in places if at < size and own[at] == vid]
        return [pair for pair in zip(self.vids, self.weights, strict=True) if pair[0] in vids]


class Doc(NamedTuple):
    """What the index knows of a version beside its terms; thread and group are numbers that stand for names."""

    vid: int
    thread: int | None
    seq: int | None
    group: int | None
    dated_ms: int | None
    length: int
    marks: int


@dataclass(frozen=True)
class Span:
    """A passage of a version: its lines (0-0 is the summary), length and terms with their weight bytes."""

    first: int
    last: int
    length: int
    tids: Mapping[int, int]


_DOC = "SELECT vid, thread, seq, grp, dated_ms, length, marks FROM ix_docs WHERE "


def live_versions(conn: sqlite3.Connection) -> int:
    """Return how many current versions the index holds."""
    return int(conn.execute("SELECT coalesce(sum(live), 0) FROM ix_blocks").fetchone()[0])


def statistic(conn: sqlite3.Connection, name: str) -> float | None:
    """Return a stored statistic of the whole index."""
    found = conn.execute("SELECT value FROM ix_stats WHERE name = ?", (name,)).fetchone()
    return None if found is None else float(found[0])


def find_terms(conn: sqlite3.Connection, terms: Iterable[str]) -> dict[str, int]:
    """Return the ids of those terms that some version holds."""
    found: dict[str, int] = {}
    for part in in_parts(list(terms)):
        query = f"SELECT term, tid FROM ix_terms WHERE term IN {slots(part)}"
        found.update(conn.execute(query, part).fetchall())
    return found


def term_names(conn: sqlite3.Connection, tids: Iterable[int]) -> dict[int, str]:
    """Return the terms of term ids."""
    found: dict[int, str] = {}
    for part in in_parts(list(tids)):
        query = f"SELECT tid, term FROM ix_terms WHERE tid IN {slots(part)}"
        found.update(conn.execute(query, part).fetchall())
    return found


def estimated_counts(conn: sqlite3.Connection, tids: Iterable[int]) -> dict[int, float]:
    """Return about how many current versions hold each term: exact in a small store, else from a few blocks of it."""
    blocks = conn.execute("SELECT block, live FROM ix_blocks WHERE live > 0 ORDER BY block").fetchall()
    sample = blocks[:: 1 + len(blocks) // _SAMPLE_BLOCKS]
    scale = sum(live for _, live in blocks) / max(sum(live for _, live in sample), 1)
    found: Counter[int] = Counter()
    for part in in_parts(list(tids)):
        for block, _ in sample:
            query = f"SELECT tid, live FROM ix_postings WHERE block = ? AND tid IN {slots(part)}"
            found.update(dict(conn.execute(query, (block, *part)).fetchall()))
    return {tid: count * scale for tid, count in found.items()}


def postings(conn: sqlite3.Connection, tids: Iterable[int]) -> dict[int, Postings]:
    """Return the postings of each term id that some version holds."""
    found: dict[int, Postings] = {}
    for tid in tids:
        if rows := conn.execute(_POSTINGS, (tid,)).fetchall():
            live, summaries, vids, weights = zip(*rows, strict=True)
            found[tid] = Postings(tid, sum(live), sum(summaries), array("I", b"".join(vids)), b"".join(weights))
    return found


_POSTINGS = (
    "SELECT p.live, p.summaries, p.vids, p.weights FROM ix_blocks AS b"
    " CROSS JOIN ix_postings AS p ON p.block = b.block AND p.tid = ? ORDER BY b.block"
)


def docs(conn: sqlite3.Connection, vids: Iterable[int]) -> list[Doc]:
    """Return the entries of version ids."""
    found: list[Doc] = []
    for part in in_parts(list(vids)):
        found += map(Doc._make, conn.execute(f"{_DOC} vid IN {slots(part)}", part))
    return found


def places_in(conn: sqlite3.Connection, thread: int, first: int, last: int) -> list[tuple[int, int]]:
    """Return (version, position) for a stretch of a thread, both ends included."""
    query = "SELECT vid, seq FROM ix_docs WHERE thread = ? AND seq BETWEEN ? AND ?"
    return conn.execute(query, (thread, first, last)).fetchall()


def spans(conn: sqlite3.Connection, vid: int) -> list[Span]:
    """Return the passages of a version, the summary first."""
    rows = conn.execute("SELECT first, last, length, tids, weights FROM ix_passages WHERE vid = ? ORDER BY n", (vid,))
    return [
        Span(first, last, length, dict(zip(array("I", tids), weights, strict=True)))
        for first, last, length, tids, weights in rows
    ]


def in_parts(values: Sequence[_T]) -> Iterator[Sequence[_T]]:
    """Yield values in parts that fit into one statement."""
    for start in range(0, len(values), _PART):
        yield values[start : start + _PART]


def slots(values: Sequence[object]) -> str:
    """Return `(?, ?, ...)` with a slot for each value."""
    return f"({','.join('?' * len(values))})"
