"""The first stage of a search: which versions match, and which of them are worth a closer look.

Every version that holds a term of the question matches and counts in the total. The best of them, their neighbours in
the thread and what a named date or field of life adds are the pool that `ranking` puts in order.
"""

from __future__ import annotations

import heapq
import math
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from engine.recall.analyse import Query
from engine.recall.candidates import Admission, Candidates
from engine.recall.dates import DateSpan
from engine.store import index_reader as index
from engine.store.cohesion import COHESION
from engine.store.index_reader import Doc, Postings
from engine.store.passages import CONCEPT, DAY, MONTH, SUBJECT, WEIGHT

SATURATION = 0.6
"""BM25's k1: how soon a repeated term stops counting."""

HEAD = 200
"""Matching versions that are looked at closely; the rest keep the order of the first stage."""

REACH = 4
"""Neighbours on either side in a thread that count as context."""

COHESIVE = 1.4
"""Neighbours count when they are so many times as similar as strangers."""

COMMON_SUBJECT = 0.02
"""A subject of a larger share of all memories is a name to prefer by, not a word to search for."""

MAX_DAYS = 62
"""A longer time is looked up by months."""

WEAK_LIMIT = 50_000
"""A field or character that more versions share is no sign at all."""


@dataclass(frozen=True)
class Lookup:
    """The postings of a question's terms by kind, and the number of current versions."""

    live: int
    terms: Mapping[str, Postings]
    vague: Mapping[str, Postings]
    characters: Mapping[str, Postings]
    fields: Mapping[str, Postings]
    subjects: Mapping[str, Postings]
    days: Mapping[str, Postings]

    def idf(self, rows: Postings) -> float:
        """Return ln(1 + (N - n + 0.5) / (n + 0.5)) over current versions."""
        return math.log1p((max(self.live - rows.live, 0) + 0.5) / (rows.live + 0.5))

    def is_name(self, term: str) -> bool:
        """True when a term of the question names a subject of many memories."""
        rows = self.subjects.get(term)
        return rows is not None and rows.live >= COMMON_SUBJECT * self.live


@dataclass(frozen=True)
class Pool:
    """All matches with the score of the first stage, and the versions to be ranked with what surrounds them."""

    scores: Mapping[int, float]
    docs: Mapping[int, Doc]
    around: Mapping[int, Doc]


def look_up(conn: sqlite3.Connection, asked: Query, dates: Iterable[DateSpan]) -> Lookup:
    """Read the postings of everything that a question names."""
    wanted = [
        {term: term for term in asked.terms},
        {term: term for term in asked.vague},
        {char: char for char in asked.characters},
        {field: CONCEPT + field for field in asked.fields},
        {term: SUBJECT + term for term in (*asked.terms, *asked.vague)},
        {term: term for span in dates for term in _date_terms(span)},
    ]
    tids = index.find_terms(conn, {stored for part in wanted for stored in part.values()})
    rows = index.postings(conn, tids.values())
    found = [{name: rows[tids[stored]] for name, stored in part.items() if tids.get(stored) in rows} for part in wanted]
    return Lookup(index.live_versions(conn), *found)


def _date_terms(span: DateSpan) -> list[str]:
    """Return the terms of the UTC days that may lie in a span of local days and the day after, or of its months."""
    size = (span.last - span.first).days + 1
    if size <= MAX_DAYS:
        days = [span.first + timedelta(days=n) for n in range(-1, size + 1) if _in_calendar(span.first, n)]
        return [f"{DAY}{day:%Y%m%d}" for day in days]
    months = {(span.first + timedelta(days=n)).strftime("%Y%m") for n in range(0, size, 15)}
    return [MONTH + month for month in sorted(months)]


def _in_calendar(day: date, days: int) -> bool:
    return 2 < day.toordinal() + days < date.max.toordinal()


def gather(
    conn: sqlite3.Connection,
    asked: Query,
    found: Lookup,
    dates: list[DateSpan],
    where: Candidates,
    admission: Admission,
) -> Pool:
    """Find all matches and choose the versions to be ranked."""
    scores = _matches(asked, found, dates)
    allowed = admission.admitted(where, scores)
    if len(allowed) < len(scores):
        scores = {vid: scores[vid] for vid in allowed}
    head = set(heapq.nlargest(HEAD, scores, key=scores.__getitem__))
    extra = _by_date(found, dates) if dates else {}
    if len(head) < HEAD:
        for vid, gain in _by_weak_signs(found).items():
            extra[vid] = extra.get(vid, 0.0) + gain
    if extra:
        best = heapq.nlargest(HEAD, extra.keys() - head, key=lambda vid: extra[vid] + scores.get(vid, 0.0))
        head.update(admission.admitted(where, best))
    docs = {doc.vid: doc for doc in index.docs(conn, head)}
    around = dict(docs)
    if (index.statistic(conn, COHESION) or 1.0) >= COHESIVE:
        around = _surroundings(conn, docs)
        new = around.keys() - docs.keys()
        seen = set(admission.admitted(where, new)) | docs.keys()
        around = {vid: doc for vid, doc in around.items() if vid in seen}
        docs |= _within_reach(docs.values(), around)
    return Pool(scores, docs, around)


def _matches(asked: Query, found: Lookup, dates: list[DateSpan]) -> dict[int, float]:
    """Return every version that holds a term of the question, with the sum of its gains."""
    scores: dict[int, float] = {}
    names = {term for term in found.terms if found.is_name(term)}
    telling = {term: rows for term, rows in found.terms.items() if term not in names}
    rare = {term: rows for term, rows in found.subjects.items() if not found.is_name(term)}
    for term, rows in telling.items():
        add_gains(scores, rows, asked.terms[term] * found.idf(rows))
    for rows in rare.values():
        add_gains(scores, rows, found.idf(rows))
    if scores:
        return scores
    if dates and (on_date := _by_date(found, dates)):
        return on_date
    for term in names:
        for kind in (found.terms, found.subjects):
            add_gains(scores, kind[term], found.idf(kind[term]))
    if not scores:
        for rows in found.characters.values():
            add_gains(scores, rows, found.idf(rows))
    return scores


def add_gains(scores: dict[int, float], rows: Postings, weight: float) -> None:
    """Add the saturated gain of one term to the score of every version that holds it."""
    gain = [weight * frequency * (SATURATION + 1) / (frequency + SATURATION) for frequency in WEIGHT]
    get = scores.get
    for vid, byte in zip(rows.vids, rows.weights, strict=True):
        scores[vid] = get(vid, 0.0) + gain[byte]


def _by_date(found: Lookup, dates: list[DateSpan]) -> dict[int, float]:
    best = max(span.sure for span in dates)
    return {vid: best for rows in found.days.values() for vid in rows.vids}


def _by_weak_signs(found: Lookup) -> dict[int, float]:
    """Return versions that share a field of life or a character with the question."""
    scores: dict[int, float] = {}
    for rows in (*found.fields.values(), *found.characters.values()):
        if len(rows.vids) <= WEAK_LIMIT:
            add_gains(scores, rows, found.idf(rows))
    return scores


def _surroundings(conn: sqlite3.Connection, docs: Mapping[int, Doc]) -> dict[int, Doc]:
    """Return the docs and all that stands near enough to them in a thread to matter to them or their neighbours."""
    places: dict[int, list[int]] = defaultdict(list)
    for doc in docs.values():
        if doc.thread is not None and doc.seq is not None:
            places[doc.thread].append(doc.seq)
    around = dict(docs)
    for thread, seqs in places.items():
        for first, last in _ranges(seqs, 2 * REACH):
            around.update((doc.vid, doc) for doc in index.docs_of_thread(conn, thread, first, last))
    return around


def _ranges(seqs: list[int], reach: int) -> list[tuple[int, int]]:
    """Return the stretches that lie within `reach` of a position, merged where they touch."""
    found: list[tuple[int, int]] = []
    for seq in sorted(seqs):
        if found and seq - reach <= found[-1][1] + 1:
            found[-1] = (found[-1][0], seq + reach)
        else:
            found.append((seq - reach, seq + reach))
    return found


def _within_reach(centre: Collection[Doc], around: Mapping[int, Doc]) -> dict[int, Doc]:
    places = {
        (doc.thread, doc.seq + step)
        for doc in centre
        if doc.thread is not None and doc.seq is not None
        for step in range(-REACH, REACH + 1)
    }
    return {vid: doc for vid, doc in around.items() if (doc.thread, doc.seq) in places}


def local_day(moment_ms: int) -> date | None:
    """Return the local day of a moment; None outside the calendar."""
    try:
        return datetime.fromtimestamp(moment_ms / 1000).date()
    except (OverflowError, ValueError, OSError):
        return None
