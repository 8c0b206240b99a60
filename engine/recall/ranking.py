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
from engine.recall.pool import REACH, SATURATION, Lookup, Pool, local_day
from engine.recall.words import STOP_WORDS
from engine.store import index_reader as index
from engine.store.index_reader import Doc, Postings
from engine.store.passages import CONCEPT, DAY, MONTH, QUESTION, SUBJECT, TIMED, WEIGHT

PARTS = ("terms", "characters", "echo", "group", "field", "subject", "date", "when", "length", "question")
"""Names of the addends of a score, in the order in which they are made."""

SHARES = {0: 1.0, -1: 0.4, -2: 0.3, -3: 0.2, -4: 0.1, 1: 0.3, 2: 0.2, 3: 0.1, 4: 0.1}
"""What a term counts that stands so many places after (-) or before (+) in the thread: the neighbour's offset."""

CHARACTERS = 0.6
"""Weight of single characters of unspaced scripts."""

GROUP, GROUP_BEST = 0.3, 3
"""Weight of the group that a memory belongs to: the mean of its best memories' scores."""

FIELD, FIELD_IN_MESSAGE = 0.25, 0.7
"""Weight of a shared field of life; talk is vaguer than questions."""

SUBJECT_WEIGHT = 2.0
DATE_WEIGHT = 5.0
WHEN_WEIGHT = 1.0
LENGTH_WEIGHT = 0.5
QUESTION_WEIGHT = -0.5

ECHO, ECHO_BEST, ECHO_TERMS = 0.2, 4, 20
"""A message's best answers add the terms that say most: weight, memories that are read, terms that are taken."""

ECHO_FEWEST, ECHO_SHARE = 6, 0.25
"""Such a term is held by so many memories at least, and by such a share of all at most."""

Scores = dict[int, float]


def rank(
    conn: sqlite3.Connection, asked: Query, found: Lookup, pool: Pool, dates: list[DateSpan]
) -> dict[int, dict[str, float]]:
    """Return the addends of the score of every version of the pool."""
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
    base = _sum(pool, parts.values())
    if asked.is_message:
        parts["echo"] = _echo(conn, base, found, near)
        base = _sum(pool, parts.values())
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
    parts["length"] = {vid: LENGTH_WEIGHT * math.log1p(doc.length) for vid, doc in pool.docs.items()}
    parts["question"] = {vid: QUESTION_WEIGHT for vid, doc in pool.docs.items() if doc.marks & QUESTION}
    return {vid: {name: own[vid] for name, own in parts.items() if own.get(vid)} for vid in pool.docs}


class _Neighbours:
    """Which versions of the pool a version lends its terms to, and at what share."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.scope = set(pool.around)
        self._places: dict[tuple[int, int], list[int]] = defaultdict(list)
        for doc in pool.docs.values():
            if doc.thread is not None and doc.seq is not None:
                self._places[doc.thread, doc.seq].append(doc.vid)
        self._lends: dict[int, list[tuple[int, float]]] = {}

    def lends(self, vid: int) -> list[tuple[int, float]]:
        """Return (version of the pool, share) for every version that `vid` is context of, itself included."""
        known = self._lends.get(vid)
        if known is None:
            known = self._lends[vid] = self._find(self.pool.around[vid])
        return known

    def _find(self, doc: Doc) -> list[tuple[int, float]]:
        own = [(doc.vid, 1.0)] if doc.vid in self.pool.docs else []
        if doc.thread is None or doc.seq is None:
            return own
        for step in range(-REACH, REACH + 1):
            if step:
                for other in self._places.get((doc.thread, doc.seq - step), ()):
                    own.append((other, SHARES[step]))
        return own


def _in_context(words: Iterable[tuple[Postings, float]], near: _Neighbours) -> Scores:
    """Return the saturated gains of terms whose frequency includes what the neighbours lend."""
    scores: Scores = defaultdict(float)
    for rows, weight in words:
        frequency: Scores = defaultdict(float)
        for vid, byte in rows.among(near.scope):
            for other, share in near.lends(vid):
                frequency[other] += share * WEIGHT[byte]
        for vid, value in frequency.items():
            scores[vid] += weight * value * (SATURATION + 1) / (value + SATURATION)
    return scores


def _own(words: Iterable[tuple[Postings, float]], pool: Pool) -> Scores:
    """Return the saturated gains of terms that the versions hold themselves."""
    scores: Scores = defaultdict(float)
    vids = set(pool.docs)
    for rows, weight in words:
        for vid, byte in rows.among(vids):
            scores[vid] += weight * WEIGHT[byte] * (SATURATION + 1) / (WEIGHT[byte] + SATURATION)
    return scores


def _sum(pool: Pool, parts: Iterable[Mapping[int, float]]) -> Scores:
    total = dict.fromkeys(pool.docs, 0.0)
    for part in parts:
        for vid, value in part.items():
            total[vid] += value
    return total


def _echo(conn: sqlite3.Connection, base: Scores, found: Lookup, near: _Neighbours) -> Scores:
    """Return the gains of terms that the best answers so far have in common with others of the store."""
    best = heapq.nlargest(ECHO_BEST, base, key=base.__getitem__)
    held = Counter(tid for vid in best for span in index.spans(conn, vid)[:3] for tid in span.tids)
    names = index.term_names(conn, held)
    asked = found.terms.keys() | found.vague.keys() | STOP_WORDS
    new = [tid for tid, term in names.items() if term not in asked and len(term) > 1 and term[0] not in _NO_WORDS]
    counts = index.live_counts(conn, new)
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
    means = {group: sum(heapq.nlargest(GROUP_BEST, own)) / GROUP_BEST for group, own in members.items()}
    return {vid: GROUP * means[doc.group] for vid, doc in pool.docs.items() if doc.group is not None}


def _subjects(found: Lookup, pool: Pool) -> Scores:
    scores: Scores = defaultdict(float)
    for rows in found.subjects.values():
        for vid, _ in rows.among(pool.docs):
            scores[vid] += SUBJECT_WEIGHT * math.log1p(found.live / max(rows.live, 1))
    return scores


def _closeness(doc: Doc, dates: Iterable[DateSpan]) -> float:
    day: date | None = None if doc.dated_ms is None else local_day(doc.dated_ms)
    return 0.0 if day is None else max(span.closeness(day) for span in dates)
