"""The second stage of a search: the pool in order, by terms in context and by what else speaks for a memory.

Every addend of a score has a name (see `PARTS`), so that a receipt can show it.
"""

from __future__ import annotations

import heapq
import math
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import date

from engine.recall.analyse import Query
from engine.recall.dates import DateSpan
from engine.recall.pool import GAIN, SATURATION, Lookup, Pool, local_day
from engine.recall.words import STOP_WORDS
from engine.store import index_reader as index
from engine.store.index_reader import Doc, Postings
from engine.store.passages import CONCEPT, DAY, MONTH, QUESTION, SUBJECT, TIMED, WEIGHT

PARTS = ("terms", "characters", "echo", "group", "field", "subject", "date", "when", "length", "question")
"""Names of the addends of a score, in the order in which they are made."""

BEFORE, AFTER = (0.4, 0.3, 0.2, 0.1), (0.3, 0.2, 0.1, 0.1)
"""What a term counts that stands one to four places before a memory in its thread, and after it."""

_STEPS = (*enumerate(BEFORE, 1), *((-step, share) for step, share in enumerate(AFTER, 1)))
"""Where a memory's context is, seen from the neighbour: later places have the neighbour before them."""

CHARACTERS = 0.6
"""Weight of single characters of unspaced scripts."""

GROUP, GROUP_BEST = 0.3, 3
"""Weight of the group that a memory belongs to: the mean of its best memories' scores."""

FIELD, FIELD_IN_MESSAGE = 0.25, 1.0
"""Weight of a shared field of life; talk is vaguer than questions."""

SUBJECT_WEIGHT, NAME_WEIGHT, LATER_NAME = 2.0, 4.0, 0.6
"""Weights of a subject that the question names: a rare one, one of many memories, and those named after the first."""

DATE_WEIGHT = 7.0
WHEN_WEIGHT = 1.5
LENGTH_WEIGHT, ENOUGH = 0.6, 40
"""A memory of few terms tells little; so many are enough."""

QUESTION_WEIGHT = -0.8

ECHO, ECHO_BEST, ECHO_READ, ECHO_TERMS = 0.25, 4, 160, 20
"""A message's best answers add the terms that say most: weight, memories read, terms weighed, terms taken."""

ECHO_FEWEST, ECHO_SHARE = 6, 0.25
"""Such a term is held by so many memories at least, and by such a share of all at most."""

Scores = dict[int, float]


def rank(conn: sqlite3.Connection, asked: Query, found: Lookup, pool: Pool, dates: list[DateSpan]) -> dict[str, Scores]:
    """Return the addends of the score by name, each for the versions of the pool that it lifts or lowers."""
    near = _Neighbours(pool)
    names = {term for term in (*found.terms, *found.vague) if found.is_name(term)}
    words = [
        (rows, weight[term] * found.idf(rows))
        for kind, weight in ((found.terms, asked.terms), (found.vague, asked.vague))
        for term, rows in kind.items()
        if term not in names or len(found.terms) + len(found.vague) == len(names)
    ]
    parts: dict[str, Scores] = {
        "terms": _in_context(words, near),
        "characters": _own([(rows, CHARACTERS * found.idf(rows)) for rows in found.characters.values()], pool),
    }
    base = total(pool, parts.values())
    if asked.is_message:
        parts["echo"] = _echo(conn, base, found, near)
        base = total(pool, parts.values())
    parts["group"] = _groups(base, pool)
    field = FIELD_IN_MESSAGE if asked.is_message else FIELD
    parts["field"] = _own(
        [(rows, field * found.idf(rows) * math.sqrt(asked.fields[name])) for name, rows in found.fields.items()], pool
    )
    parts["subject"] = _subjects(found, pool)
    if dates:
        parts["date"] = {vid: DATE_WEIGHT * _closeness(doc, dates) for vid, doc in pool.docs.items()}
    if asked.asks_when:
        parts["when"] = {vid: WHEN_WEIGHT for vid, doc in pool.docs.items() if doc.marks & TIMED}
    parts["length"] = {vid: LENGTH_WEIGHT * math.log1p(min(doc.length, ENOUGH)) for vid, doc in pool.docs.items()}
    parts["question"] = {vid: QUESTION_WEIGHT for vid, doc in pool.docs.items() if doc.marks & QUESTION}
    return parts


class _Neighbours:
    """Which versions of the pool a version lends its terms to, and at what share."""

    def __init__(self, pool: Pool) -> None:
        self.scope = pool.around.keys() | pool.docs.keys()
        self._pool = pool
        self._places: dict[int, dict[int, int]] = defaultdict(dict)
        for vid in sorted(pool.docs.keys() & pool.around.keys()):
            thread, seq = pool.around[vid]
            self._places[thread][seq] = vid
        self._lends: dict[int, list[tuple[int, float]]] = {}

    def lends(self, vid: int) -> list[tuple[int, float]]:
        """Return (version of the pool, share) for every version that `vid` is context of, itself included."""
        known = self._lends.get(vid)
        if known is None:
            known = self._lends[vid] = self._find(vid)
        return known

    def _find(self, vid: int) -> list[tuple[int, float]]:
        found = [(vid, 1.0)] if vid in self._pool.docs else []
        if vid in self._pool.around:
            thread, seq = self._pool.around[vid]
            at = self._places.get(thread, {}).get
            found += [(other, share) for step, share in _STEPS if (other := at(seq + step)) is not None]
        return found


def _in_context(words: Iterable[tuple[Postings, float]], near: _Neighbours) -> Scores:
    """Return the saturated gains of terms whose frequency includes what the neighbours lend."""
    scores: Scores = defaultdict(float)
    lends, most = near.lends, SATURATION + 1
    for rows, weight in words:
        frequency: Scores = defaultdict(float)
        for vid, byte in rows.among(near.scope):
            own = WEIGHT[byte]
            for other, share in lends(vid):
                frequency[other] += share * own
        weight *= most
        for vid, value in frequency.items():
            scores[vid] += weight * value / (value + SATURATION)
    return scores


def _own(words: Iterable[tuple[Postings, float]], pool: Pool) -> Scores:
    """Return the saturated gains of terms that the versions hold themselves."""
    scores: Scores = defaultdict(float)
    vids = set(pool.docs)
    for rows, weight in words:
        for vid, byte in rows.among(vids):
            scores[vid] += weight * GAIN[byte]
    return scores


def total(pool: Pool, parts: Iterable[Mapping[int, float]]) -> Scores:
    """Return the sum of the addends of every version of the pool."""
    scores = dict.fromkeys(pool.docs, 0.0)
    for part in parts:
        for vid, value in part.items():
            scores[vid] += value
    return scores


def _echo(conn: sqlite3.Connection, base: Scores, found: Lookup, near: _Neighbours) -> Scores:
    """Return the gains of terms that the best answers so far have in common with others of the store."""
    best = heapq.nlargest(ECHO_BEST, base, key=base.__getitem__)
    held = Counter(tid for vid in best for span in index.spans(conn, vid)[:2] for tid in span.tids)
    held = Counter(dict(held.most_common(ECHO_READ)))
    names = index.term_names(conn, held)
    asked = found.terms.keys() | found.vague.keys() | STOP_WORDS
    new = [tid for tid, term in names.items() if term not in asked and len(term) > 1 and term[0] not in _NO_WORDS]
    counts = index.estimated_counts(conn, new)
    most = max(ECHO_SHARE * found.live, ECHO_FEWEST)
    gains = {
        tid: held[tid] * math.log1p((found.live - n + 0.5) / (n + 0.5))
        for tid, n in counts.items()
        if ECHO_FEWEST <= n <= most
    }
    chosen = heapq.nlargest(ECHO_TERMS, gains, key=gains.__getitem__)
    rows = index.postings(conn, chosen)
    return _in_context([(rows[tid], ECHO * found.idf(rows[tid])) for tid in chosen], near)


_NO_WORDS = frozenset((SUBJECT, DAY, MONTH, CONCEPT))


def _groups(base: Scores, pool: Pool) -> Scores:
    members: dict[int, list[float]] = defaultdict(list)
    for vid, doc in pool.docs.items():
        if doc.group is not None:
            members[doc.group].append(base[vid])
    means = {group: sum(sorted(own)[-GROUP_BEST:]) / GROUP_BEST for group, own in members.items()}
    return {vid: GROUP * means[doc.group] for vid, doc in pool.docs.items() if doc.group is not None}


def _subjects(found: Lookup, pool: Pool) -> Scores:
    scores: Scores = defaultdict(float)
    share = 1.0
    for term, rows in found.subjects.items():
        weight = SUBJECT_WEIGHT
        if found.is_name(term):
            weight, share = NAME_WEIGHT * share, LATER_NAME
        for vid, _ in rows.among(pool.docs):
            scores[vid] += weight * math.log1p(found.live / max(rows.live, 1))
    return scores


def _closeness(doc: Doc, dates: Iterable[DateSpan]) -> float:
    day: date | None = None if doc.dated_ms is None else local_day(doc.dated_ms)
    return 0.0 if day is None else max(span.closeness(day) for span in dates)
