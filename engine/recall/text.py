"""The text channel: which memories say what a question asks, best first, with an exact total."""

from __future__ import annotations

import heapq
import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from dataclasses import field as default

from engine.recall import pool as stage
from engine.recall.analyse import Query, analyse
from engine.recall.candidates import EVERYTHING, Candidates, admission_of
from engine.recall.dates import dates_in
from engine.recall.ranking import rank, total
from engine.store.index_reader import spans


@dataclass(frozen=True)
class TextHit:
    """One version that matches: `lines` is the best paragraph of its body, counted from 1, None for the summary.

    `field` says where the best match stands: summary, body, or context when only what surrounds the memory matches.
    `parts` holds the addends of `score` by name, `why` what another channel has to say of it, for receipts.
    """

    vid: int
    score: float
    field: str
    terms: tuple[str, ...]
    lines: tuple[int, int] | None
    parts: Mapping[str, object] = default(default_factory=dict)
    why: str = ""


@dataclass(frozen=True)
class TextResult:
    """A page of hits, best first, and how many versions match in all."""

    total: int
    hits: tuple[TextHit, ...]


@dataclass(frozen=True)
class Ranking:
    """All matches of a question: the ranked head, best first, then what else matches by its first score."""

    found: stage.Lookup
    parts: Mapping[str, Mapping[int, float]]
    head: tuple[tuple[float, int], ...]
    matches: Mapping[int, float]

    @property
    def count(self) -> int:
        """Return how many versions match, those that match by their surroundings included."""
        return len(self.matches) + sum(vid not in self.matches for _, vid in self.head)

    def parts_of(self, vid: int) -> dict[str, float]:
        """Return the addends of a version's score by name; none for a version behind the head."""
        return {name: own[vid] for name, own in self.parts.items() if own.get(vid)}

    def page(self, limit: int, offset: int = 0) -> list[tuple[float, int]]:
        """Return (score, version) of a page; scores never rise from one to the next."""
        page = list(self.head[offset : offset + limit])
        more = offset + limit - len(self.head)
        if more > 0:
            ranked = {vid for _, vid in self.head}
            rest = ((-score, vid) for vid, score in self.matches.items() if vid not in ranked)
            lowest = self.head[-1][0] if self.head else 0.0
            tail = heapq.nsmallest(more, rest)[max(offset - len(self.head), 0) :]
            page += [(min(-score, lowest), vid) for score, vid in tail]
        return page


def search_text(
    conn: sqlite3.Connection,
    query: str,
    *,
    where: Candidates = EVERYTHING,
    limit: int = 10,
    offset: int = 0,
    now_ms: int = 0,
    quick: bool = False,
) -> TextResult:
    """Return the versions that match `query`, among those that `where` admits; never raises for any text.

    `now_ms` (UTC milliseconds) is what "last week" is seen from, and the clock where `where` has it as a parameter.
    A `quick` search looks at the best matches of the first stage only and counts no others.
    """
    ranking = rank_text(conn, query, where=where, now_ms=now_ms, quick=quick)
    return TextResult(ranking.count, tuple(text_hits(conn, ranking, limit, offset)))


def rank_text(
    conn: sqlite3.Connection, query: str, *, where: Candidates = EVERYTHING, now_ms: int = 0, quick: bool = False
) -> Ranking:
    """Return all matches in order, without looking for paragraphs; for fusion with other channels.

    A `quick` ranking judges only the best matches of the first stage: for a process that asks one question, judging
    the whole store would cost more than the search.
    """
    asked: Query = analyse(query)
    today = stage.local_day(now_ms)
    dates = [] if today is None else dates_in(query[:1000], today)
    found = stage.look_up(conn, asked, dates)
    admission = admission_of(conn)

    def admits(vids: Collection[int]) -> Collection[int]:
        return admission.admitted(where, stage.best_of(vids) if quick else vids, now_ms)

    pool = stage.gather(conn, asked, found, dates, admits)
    parts = rank(conn, asked, found, pool, dates)
    head = sorted((-score, vid) for vid, score in total(pool, parts.values()).items())
    return Ranking(found, parts, tuple((-score, vid) for score, vid in head), pool.scores)


def text_hits(conn: sqlite3.Connection, ranking: Ranking, limit: int, offset: int = 0) -> list[TextHit]:
    """Return a page of a ranking with the best paragraph of each version."""
    return [_hit(conn, vid, score, ranking) for score, vid in ranking.page(limit, offset)]


def _hit(conn: sqlite3.Connection, vid: int, score: float, ranking: Ranking) -> TextHit:
    found = ranking.found
    matched = {term: rows for term, rows in {**found.terms, **found.vague}.items() if rows.weight(vid)}
    best, lines, where = 0.0, None, "context"
    for span in spans(conn, vid) if matched else ():
        gain = sum(found.idf(rows) for rows in matched.values() if rows.tid in span.tids)
        if gain > best:
            best, lines = gain, (span.first, span.last) if span.first else None
            where = "body" if span.first else "summary"
    return TextHit(vid, score, where, tuple(matched), lines, ranking.parts_of(vid))
