"""Recall by one channel, or by all of them: the text score with bounded bonuses of the others (R11).

Ranks are not interleaved. A channel adds at most a share of the best text score, so that it can lift what the text
finds near the top and bring in what it does not find, but never push a clear answer down far. Where a channel finds
nothing the result is that of the text alone, to the last bit.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import replace

from engine.model.enums import Channel
from engine.model.errors import invalid
from engine.model.memory import RecallQuery
from engine.recall.candidates import Candidates
from engine.recall.graph import Trace, has_facts, trace
from engine.recall.statements import View
from engine.recall.text import Ranking, TextHit, TextResult, rank_text, search_text, text_hits

GRAPH_SHARE = 0.25
"""What the strongest statement of the graph adds, as a share of the best text score."""

DAY_MS = 86_400_000


def search(
    conn: sqlite3.Connection, query: RecallQuery, *, where: Candidates, known: int | None, offset: int, now_ms: int
) -> TextResult:
    """Return a page of what `query` finds by its channel, among the versions that `where` admits.

    `known` is the operation at which statements were known (None = now), `now_ms` the moment that is asked about.
    Raises invalid_argument for a channel that cannot be asked yet.
    """
    if query.channel is Channel.TAGS:
        raise invalid("memories cannot be scored by tags alone yet", "leave channel out, or filter by tags")
    if query.channel is Channel.TEXT or not has_facts(conn):
        if query.channel is Channel.GRAPH:
            return TextResult(0, ())
        return search_text(conn, query.text, where=where, limit=query.limit, offset=offset, now_ms=now_ms)
    view = View(where, known, since_of(query.days, now_ms), query.session)
    whole = query.channel is Channel.FUSED
    traces = trace(conn, query.text, view=view, seeds=query.seeds, depth=query.hops, whole=whole)
    if query.channel is Channel.GRAPH:
        page = traces[offset : offset + query.limit]
        return TextResult(len(traces), tuple(_graph_hit(found) for found in page))
    if not traces:
        return search_text(conn, query.text, where=where, limit=query.limit, offset=offset, now_ms=now_ms)
    ranking = rank_text(conn, query.text, where=where, now_ms=now_ms)
    ranking = add_channel(ranking, "graph", {t.vid: t.score for t in traces}, GRAPH_SHARE)
    reasons = {t.vid: t.why for t in traces}
    hits = text_hits(conn, ranking, query.limit, offset)
    return TextResult(ranking.count, tuple(replace(hit, why=reasons.get(hit.vid, "")) for hit in hits))


def since_of(days: float | None, now_ms: int) -> int | None:
    """Return the moment `days` ago in UTC milliseconds."""
    return None if days is None else now_ms - round(days * DAY_MS)


def _graph_hit(found: Trace) -> TextHit:
    return TextHit(found.vid, found.score, "graph", (), None, {"graph": found.score}, found.why)


def add_channel(ranking: Ranking, name: str, strengths: Mapping[int, float], share: float) -> Ranking:
    """Add a channel's bonus to a ranking: strength (at most 1) · share · best score, by version.

    A version that the text does not find, or only behind the head, comes in with its bonus as its score.
    """
    best = ranking.head[0][0] if ranking.head else 0.0
    unit = share * best if best > 0 else share
    bonus = {vid: unit * min(strength, 1.0) for vid, strength in strengths.items() if strength > 0}
    scores = {vid: score for score, vid in ranking.head}
    for vid, gain in bonus.items():
        scores[vid] = scores.get(vid, 0.0) + gain
    head = sorted((-score, vid) for vid, score in scores.items())
    return replace(ranking, parts={**ranking.parts, name: bonus}, head=tuple((-score, vid) for score, vid in head))
