"""Which memories are relevant enough to be put before an agent unasked (S15, S16, S18).

The measure is the share of the question's weight that a text covers, `Σ idf(hit) / Σ idf(question)`, with
`idf = ln(1 + (N - n + 0.5) / (n + 0.5))` over the summaries of current versions: common words alone do not qualify.
"""

from __future__ import annotations

import math
import sqlite3
from array import array
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from engine.recall.analyse import letters
from engine.recall.words import STOP_WORDS
from engine.rules.stem import stem
from engine.rules.terms import MAX_TERM, bigrams, is_unspaced, tokens
from engine.store.index_reader import Postings, find_terms, live_versions, postings

CANDIDATES = 50
"""So many of the best matches of a search are judged; what is injected is far fewer (S15)."""

WHOLE_TEXT = 0.5
"""A memory whose summary says too little still qualifies when its passage covers so much of the question."""

FALLBACK_LETTERS = 4
"""A shorter question is not looked for in bodies alone (S18)."""

SMALLEST_STORE = 30
"""A smaller store is weighed as one of so many memories: with two or three, every word that they hold is common."""

MAX_TERMS = 96


class Relevance(NamedTuple):
    """How much of a question a memory covers, from 0 to 1: by its summary, and together with its best passage."""

    summary: float
    passage: float


class Gate(NamedTuple):
    """The weight of each term of one question, and where the terms stand."""

    weights: Mapping[str, float]
    found: Mapping[str, Postings]
    letters: int

    def judge(self, conn: sqlite3.Connection, vid: int, lines: tuple[int, int] | None) -> Relevance:
        """Return the relevance of a version by its summary and by the passage that stands in `lines`."""
        total = sum(self.weights.values())
        bytes_ = {term: rows.weight(vid) for term, rows in self.found.items()}
        # Odd weight bytes belong to terms of the summary.
        summary = sum(self.weights[term] for term, byte in bytes_.items() if byte & 1)
        more = {term for term, byte in bytes_.items() if byte and not byte & 1}
        if not total or not more or lines is None:
            return Relevance(*(summary / total if total else 0.0,) * 2)
        held = _terms_of_passage(conn, vid, lines)
        passage = sum(self.weights[term] for term in more if self.found[term].tid in held)
        return Relevance(summary / total, (summary + passage) / total)

    def admit(self, judged: Sequence[Relevance], threshold: float) -> list[bool]:
        """Say of each match whether it qualifies; bodies alone count when no summary does (S16, S18)."""
        by_summary = [r.summary > 0 and r.summary >= threshold for r in judged]
        if self.letters < FALLBACK_LETTERS:
            return by_summary
        enough = WHOLE_TEXT if any(by_summary) else threshold
        return [ok or (r.passage > 0 and r.passage >= enough) for ok, r in zip(by_summary, judged, strict=True)]


def gate_for(conn: sqlite3.Connection, question: str) -> Gate:
    """Weigh a question's terms by how many summaries hold them; words of every question do not count."""
    terms = question_terms(question)
    tids = find_terms(conn, terms)
    rows = postings(conn, tids.values())
    found = {term: rows[tid] for term, tid in tids.items() if tid in rows}
    total = max(live_versions(conn), SMALLEST_STORE)
    weights = {term: inverse_frequency(total, found[term].summaries if term in found else 0) for term in terms}
    return Gate(weights, found, letters(question))


def question_terms(question: str) -> list[str]:
    """Return the distinct terms of a question, without stop words unless it has nothing else."""
    words = tokens(question)
    telling = [word for word in words if word not in STOP_WORDS] or words
    terms = (term for word in telling for term in (bigrams(word) if is_unspaced(word) else [stem(word[:MAX_TERM])]))
    return list(dict.fromkeys(terms))[:MAX_TERMS]


def inverse_frequency(total: int, count: int) -> float:
    """Return `ln(1 + (N - n + 0.5) / (n + 0.5))` for a term that `count` of `total` summaries hold."""
    return math.log1p((max(total - count, 0) + 0.5) / (count + 0.5))


def _terms_of_passage(conn: sqlite3.Connection, vid: int, lines: tuple[int, int]) -> frozenset[int]:
    row = conn.execute(
        "SELECT tids FROM ix_passages WHERE vid = ? AND first = ? AND last = ?", (vid, *lines)
    ).fetchone()
    return frozenset(array("I", row[0])) if row else frozenset()
