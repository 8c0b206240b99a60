"""The first stage of a search: which versions match, and which of them are worth a closer look.

Every version that holds a term of the question matches and counts in the total. The best of them, their neighbours in
the thread and what a named date or field of life adds are the pool that `ranking` puts in order.
"""

from __future__ import annotations

import heapq
import math
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from engine.recall.analyse import Query
from engine.recall.dates import DateSpan
from engine.store import index_reader as index
from engine.store.cohesion import COHESION
from engine.store.index_reader import Doc, Postings
from engine.store.passages import CONCEPT, DAY, MONTH, SUBJECT, WEIGHT

SATURATION = 0.6
"""BM25's k1: how soon a repeated term stops counting."""


def saturated(frequency: float) -> float:
    """Return what a term of that length-normalised frequency counts, 1 at frequency 1."""
    return frequency * (SATURATION + 1) / (frequency + SATURATION)


GAIN = tuple(map(saturated, WEIGHT))
"""What a term counts by its weight byte."""

QUICK = 1_000
"""Matches that a quick search judges at most."""

HEAD = 100
"""Matching versions that are looked at closely; the rest keep the order of the first stage."""

NEAR = 20
"""The best of them whose neighbours in the thread are looked at too."""

REACH = 4
"""Neighbours on either side in a thread that count as context."""

COHESIVE = 1.4
"""Neighbours count when they are so many times as similar as strangers."""

COMMON_SUBJECT = 0.02
"""A subject of a larger share of all memories is a name to prefer by, not a word to search for."""

MAX_DAYS = 62
"""A longer time is looked up by months."""

FEW = 2_000
"""Versions that cost nothing to look at."""

MOST_TERMS, MOST_HINTS, HINT_SHARE = 40, 24, 0.15
"""Terms and hints (vague words, characters, fields of life) of a long message that are read, the rarest; a hint that a
larger share of all memories holds tells nothing."""

COMMON_SHARE, RARE_ENOUGH = 0.005, 4
"""Terms held by a larger share only order, when a question has so many rarer ones."""

WEAK_LIMIT = 50_000
"""A field or character that more versions share finds nothing alone."""


Admits = Callable[[Collection[int]], Collection[int]]
"""Returns those of some versions that a search may return."""

Place = tuple[int, int]
"""A thread and a position in it."""


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
    """All matches with the score of the first stage, the versions to be ranked, and the places of all around them."""

    scores: Mapping[int, float]
    docs: Mapping[int, Doc]
    around: Mapping[int, Place]


def look_up(conn: sqlite3.Connection, asked: Query, dates: Iterable[DateSpan]) -> Lookup:
    """Read the postings of everything that a question names."""
    parts = [
        {term: term for term in asked.terms},
        {term: term for term in asked.vague},
        {char: char for char in asked.characters},
        {field: CONCEPT + field for field in asked.fields},
        {term: SUBJECT + term for term in (*asked.terms, *asked.vague)},
        {term: term for span in dates for term in _date_terms(span)},
    ]
    live = index.live_versions(conn)
    tids = index.find_terms(conn, {stored for part in parts for stored in part.values()})
    ids = [{name: tids[stored] for name, stored in part.items() if stored in tids} for part in parts]
    words, hints = set(ids[0].values()), {tid for part in ids[1:4] for tid in part.values()}
    if live > FEW:
        counts = index.estimated_counts(conn, words | hints)
        words = _rarest(words, counts, MOST_TERMS, live)
        hints = _rarest(hints, counts, MOST_HINTS, max(HINT_SHARE * live, FEW))
    rows = index.postings(conn, words | hints | {tid for part in ids[4:] for tid in part.values()})
    return Lookup(live, *({name: rows[tid] for name, tid in part.items() if tid in rows} for part in ids))


def _rarest(tids: set[int], counts: Mapping[int, float], number: int, most: float) -> set[int]:
    """Return the terms that the fewest memories hold, as the others would cost more to read than they tell."""
    told = [tid for tid in sorted(tids) if counts.get(tid, 0.0) <= most]
    return set(heapq.nsmallest(number, told, key=lambda tid: counts.get(tid, 0.0)))


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


def gather(conn: sqlite3.Connection, asked: Query, found: Lookup, dates: list[DateSpan], admits: Admits) -> Pool:
    """Find all matches and choose the versions to be ranked."""
    scores = _matches(asked, found, dates)
    allowed = admits(scores)
    if len(allowed) < len(scores):
        scores = {vid: scores[vid] for vid in allowed}
    head = set(heapq.nlargest(HEAD, scores, key=scores.__getitem__))
    extra = _by_date(found, dates) if dates else {}
    if len(head) < HEAD:
        for vid, gain in _by_weak_signs(found).items():
            extra[vid] = extra.get(vid, 0.0) + gain
    if extra:
        best = heapq.nlargest(HEAD, extra.keys() - head, key=lambda vid: extra[vid] + scores.get(vid, 0.0))
        head.update(admits(best))
    docs = {doc.vid: doc for doc in index.docs(conn, head)}
    places = {doc.vid: (doc.thread, doc.seq) for doc in docs.values() if doc.thread is not None and doc.seq is not None}
    if (index.statistic(conn, COHESION) or 1.0) < COHESIVE:
        return Pool(scores, docs, {})
    nearest = set(heapq.nlargest(NEAR, docs, key=lambda vid: scores.get(vid, 0.0) + extra.get(vid, 0.0)))
    around = _surroundings(conn, places, nearest)
    admitted = set(admits(around.keys() - docs.keys()))
    around = {vid: place for vid, place in around.items() if vid in admitted or vid in docs}
    beside = _within_reach((places[vid] for vid in nearest if vid in places), around) - docs.keys()
    docs.update((doc.vid, doc) for doc in index.docs(conn, beside))
    return Pool(scores, docs, around)


def best_of(vids: Collection[int], most: int = QUICK) -> Collection[int]:
    """Return the best of versions that come with a score, all of others."""
    if not isinstance(vids, dict) or len(vids) <= most:
        return vids
    return heapq.nlargest(most, vids, key=vids.__getitem__)


def _matches(asked: Query, found: Lookup, dates: list[DateSpan]) -> dict[int, float]:
    """Return every version that holds a term of the question, with the sum of its gains.

    Without a term that tells something, what is dated then matches, then what is about a name, then characters.
    """
    scores: dict[int, float] = {}
    names = {term for term in found.terms if found.is_name(term)}
    telling = {term: rows for term, rows in found.terms.items() if term not in names}
    most = max(COMMON_SHARE * found.live, FEW)
    rare = {term: rows for term, rows in telling.items() if len(rows.vids) <= most}
    for term, rows in (rare if len(rare) >= RARE_ENOUGH else telling).items():
        add_gains(scores, rows, asked.terms[term] * found.idf(rows))
    for term, rows in found.subjects.items():
        if not found.is_name(term):
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
    get = scores.get
    for vid, byte in zip(rows.vids, rows.weights, strict=True):
        scores[vid] = get(vid, 0.0) + weight * GAIN[byte]


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


def _surroundings(conn: sqlite3.Connection, places: Mapping[int, Place], nearest: Collection[int]) -> dict[int, Place]:
    """Return the versions and what stands near enough to matter to them, and to the neighbours of the nearest."""
    stretches: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for vid, (thread, seq) in places.items():
        reach = 2 * REACH if vid in nearest else REACH
        stretches[thread].append((seq - reach, seq + reach))
    around = dict(places)
    for thread, own in stretches.items():
        for first, last in _merged(own):
            around.update((vid, (thread, seq)) for vid, seq in index.places_in(conn, thread, first, last))
    return around


def _merged(stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return stretches of positions joined where they touch."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(stretches):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return found


def _within_reach(centres: Iterable[Place], around: Mapping[int, Place]) -> set[int]:
    near = {(thread, seq + step) for thread, seq in centres for step in range(-REACH, REACH + 1)}
    return {vid for vid, place in around.items() if place in near}


def local_day(moment_ms: int) -> date | None:
    """Return the local day of a moment; None outside the calendar."""
    try:
        return datetime.fromtimestamp(moment_ms / 1000).date()
    except (OverflowError, ValueError, OSError):
        return None
