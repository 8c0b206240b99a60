"""The text channel: which memories say what a question asks, best first, with an exact total."""

from __future__ import annotations

import heapq
import math
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as default

from engine.recall.analyse import Query, analyse
from engine.recall.candidates import EVERYTHING, Candidates, admitted
from engine.store.postings import (
    WEIGHT,
    Corpus,
    Postings,
    corpus,
    find_terms,
    find_terms_from,
    postings,
    spans,
)

SATURATION = 0.6
"""BM25's k1: how soon a repeated term stops counting."""


@dataclass(frozen=True)
class TextHit:
    """One version that matches: `lines` is the best paragraph of its body, counted from 1, None for the summary.

    `field` says where the best match stands: summary, body or about (only the subject or the date).
    `parts` holds the addends of `score`, for receipts.
    """

    vid: int
    score: float
    field: str
    terms: tuple[str, ...]
    lines: tuple[int, int] | None
    parts: Mapping[str, float] = default(default_factory=dict)


@dataclass(frozen=True)
class TextResult:
    """A page of hits, best first, and how many versions match in all."""

    total: int
    hits: tuple[TextHit, ...]


def search_text(
    conn: sqlite3.Connection,
    query: str,
    *,
    where: Candidates = EVERYTHING,
    limit: int = 10,
    offset: int = 0,
    now_ms: int = 0,
) -> TextResult:
    """Return the versions that match `query`, among those that `where` admits; never raises for any text."""
    asked = analyse(query)
    names = {tid: term for term, tid in _resolve(conn, asked).items()}
    if not names:
        return TextResult(0, ())
    found = postings(conn, names)
    idf = {tid: inverse_frequency(corpus(conn), rows.live) for tid, rows in found.items()}
    scores: dict[int, float] = {}
    for tid, rows in found.items():
        _accumulate(scores, rows, idf[tid])
    allowed = admitted(conn, where, scores)
    ranked = [(score, vid) for vid, score in scores.items() if vid in allowed]
    page = heapq.nsmallest(offset + limit, ranked, key=lambda pair: (-pair[0], -pair[1]))[offset:]
    return TextResult(len(ranked), tuple(_hit(conn, vid, score, found, names, idf) for score, vid in page))


def _resolve(conn: sqlite3.Connection, asked: Query) -> dict[str, int]:
    if asked.prefix:
        return find_terms_from(conn, asked.prefix)
    return find_terms(conn, asked.terms)


def inverse_frequency(stats: Corpus, count: int) -> float:
    """Return ln(1 + (N - n + 0.5) / (n + 0.5)) for a term that `count` of N current versions hold."""
    return math.log1p((max(stats.live - count, 0) + 0.5) / (count + 0.5))


def _accumulate(scores: dict[int, float], rows: Postings, idf: float) -> None:
    gain = [idf * weight * (SATURATION + 1) / (weight + SATURATION) for weight in WEIGHT]
    get = scores.get
    for vid, weight in zip(rows.vids, rows.weights, strict=True):
        scores[vid] = get(vid, 0.0) + gain[weight]


def _hit(
    conn: sqlite3.Connection,
    vid: int,
    score: float,
    found: Mapping[int, Postings],
    names: Mapping[int, str],
    idf: Mapping[int, float],
) -> TextHit:
    matched = tuple(tid for tid, rows in found.items() if rows.weight(vid))
    best, lines, where = 0.0, None, "about"
    for span in spans(conn, vid):
        gain = sum(idf[tid] for tid in matched if tid in span.tids)
        if gain > best:
            best, lines = gain, (span.first, span.last) if span.first else None
            where = "body" if span.first else "summary"
    return TextHit(vid, score, where, tuple(names[tid] for tid in matched), lines, {"own": score})
