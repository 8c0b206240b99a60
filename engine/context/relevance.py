"""Which memories are relevant enough to be put before an agent unasked (S15, S16, S18).

The measure is the share of the question's weight that a text covers, `Σ idf(hit) / Σ idf(question)`, with
`idf = ln(1 + (N - n + 0.5) / (n + 0.5))` over the summaries of current versions: common words alone do not qualify.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from engine.recall.analyse import letters
from engine.recall.words import STOP_WORDS
from engine.rules.stem import stem
from engine.rules.terms import bigrams, index_terms, is_unspaced, tokens
from engine.store.index_reader import live_versions

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
    """The weight of each term of one question."""

    weights: Mapping[str, float]
    letters: int

    def share(self, *texts: str) -> float:
        """Return how much of the question's weight the texts cover together, from 0 to 1."""
        total = sum(self.weights.values())
        if not total:
            return 0.0
        held = {term for text in texts for term in index_terms(text)}
        return sum(weight for term, weight in self.weights.items() if term in held) / total

    def judge(self, summary: Iterable[str], passage: str) -> Relevance:
        """Return the relevance of a memory by the texts of its summary and its best passage."""
        texts = tuple(summary)
        by_summary = self.share(*texts)
        return Relevance(by_summary, self.share(*texts, passage) if passage else by_summary)

    def admit(self, found: Sequence[Relevance], threshold: float) -> list[bool]:
        """Say of each match whether it qualifies; bodies alone count when no summary does (S16, S18)."""
        by_summary = [r.summary > 0 and r.summary >= threshold for r in found]
        if self.letters < FALLBACK_LETTERS:
            return by_summary
        enough = WHOLE_TEXT if any(by_summary) else threshold
        return [ok or (r.passage > 0 and r.passage >= enough) for ok, r in zip(by_summary, found, strict=True)]


def gate_for(conn: sqlite3.Connection, question: str) -> Gate:
    """Weigh a question's terms by how many summaries hold them; words of every question do not count."""
    terms = question_terms(question)
    total = max(live_versions(conn), SMALLEST_STORE)
    held = _summaries(conn, terms)
    return Gate({term: inverse_frequency(total, held.get(term, 0)) for term in terms}, letters(question))


def question_terms(question: str) -> list[str]:
    """Return the distinct terms of a question, without stop words unless it has nothing else."""
    words = tokens(question)
    telling = [word for word in words if word not in STOP_WORDS] or words
    terms = (term for word in telling for term in (bigrams(word) if is_unspaced(word) else [stem(word)]))
    return list(dict.fromkeys(terms))[:MAX_TERMS]


def inverse_frequency(total: int, count: int) -> float:
    """Return `ln(1 + (N - n + 0.5) / (n + 0.5))` for a term that `count` of `total` summaries hold."""
    return math.log1p((max(total - count, 0) + 0.5) / (count + 0.5))


def _summaries(conn: sqlite3.Connection, terms: Sequence[str]) -> dict[str, int]:
    rows = conn.execute(
        "SELECT t.term, sum(p.summaries) FROM ix_terms t JOIN ix_postings p ON p.tid = t.tid"
        " AND p.block IN (SELECT block FROM ix_blocks) WHERE t.term IN (SELECT value FROM json_each(?))"
        " GROUP BY t.term",
        (json.dumps(terms),),
    )
    return dict(rows.fetchall())
