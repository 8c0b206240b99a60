"""Checking the derived search index against itself and against the stored versions (for doctor)."""

from __future__ import annotations

import sqlite3
from array import array
from collections import defaultdict

from engine.store.index_reader import live_versions


def check(conn: sqlite3.Connection) -> list[str]:
    """Return what is wrong with the index, one sentence each; reads all of it."""
    live: dict[int, bool] = dict(conn.execute("SELECT vid, live FROM ix_docs"))
    problems: list[str] = []
    expected: dict[int, list[int]] = defaultdict(list)
    for vid, tids in conn.execute("SELECT vid, tids FROM ix_passages ORDER BY vid"):
        if vid not in live:
            problems.append(f"passages of version {vid} have no entry")
        for tid in array("I", tids):
            own = expected[tid]
            if not own or own[-1] != vid:
                own.append(vid)
    problems += _wrong_postings(conn, expected, live)
    if (counted := live_versions(conn)) != sum(live.values()):
        problems.append(f"the blocks count {counted} current versions instead of {sum(live.values())}")
    return problems + _wrong_versions(conn, live)


def _wrong_postings(conn: sqlite3.Connection, expected: dict[int, list[int]], live: dict[int, bool]) -> list[str]:
    problems: list[str] = []
    held: dict[int, list[int]] = defaultdict(list)
    counts: dict[int, int] = defaultdict(int)
    rows = conn.execute("SELECT tid, live, vids, weights FROM ix_postings ORDER BY block")
    for tid, count, vids, weights in rows:
        own = array("I", vids)
        held[tid] += own
        counts[tid] += count
        if len(weights) != len(own):
            problems.append(f"postings of term {tid} have weights for other versions")
    for tid in held.keys() | expected.keys():
        if held[tid] != expected[tid]:
            problems.append(f"postings of term {tid} differ from the passages")
        elif counts[tid] != sum(live.get(vid, False) for vid in expected[tid]):
            problems.append(f"the statistics of term {tid} are wrong")
    named = {tid for (tid,) in conn.execute("SELECT tid FROM ix_terms")}
    return problems + [f"term {tid} has no name" for tid in held.keys() - named]


def _wrong_versions(conn: sqlite3.Connection, indexed: dict[int, bool]) -> list[str]:
    if not conn.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'versions'").fetchone():
        return []
    stored = {vid for (vid,) in conn.execute("SELECT vid FROM versions")}
    problems = [f"version {vid} is not indexed" for vid in sorted(stored - indexed.keys())]
    return problems + [f"version {vid} is indexed but not stored" for vid in sorted(indexed.keys() - stored)]
