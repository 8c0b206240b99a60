"""Recall by one channel, or by all of them: the text score with bounded bonuses of the others (R11).

Ranks are not interleaved. A channel adds at most a share of the best text score, so that it can lift what the text
finds near the top and bring in what it does not find, but never push a clear answer down far. Where a channel finds
nothing the result is that of the text alone, to the last bit.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.model.enums import Channel
from engine.model.memory import RecallQuery
from engine.recall.candidates import Candidates
from engine.recall.graph import Trace, has_facts, trace
from engine.recall.statements import View
from engine.recall.tags import NO_CUE, Cue, TagHit, match_cue
from engine.recall.text import Ranking, TextHit, TextResult, rank_text, search_text, text_hits
from engine.store.ephemeral import confirmed_versions
from engine.store.vocabulary import Vocabulary

GRAPH_SHARE = 0.25
"""What the strongest statement of the graph adds, as a share of the best text score."""

TAGS_SHARE = 0.2
"""What a card with all tags of the question gains, as a share of the best text score."""

CONFIRMED, CONFIRMED_SHARE = 0.2, 0.1
"""What a confirmed memory gains: so much of its own score (W37), at most such a share of the best text score."""

COMMON_TAG = 400
"""A tag that more cards carry tells too little to change an order."""

DAY_MS = 86_400_000


def search(
    conn: sqlite3.Connection,
    query: RecallQuery,
    *,
    where: Candidates,
    known: int | None,
    offset: int,
    now_ms: int,
    cue: Cue = NO_CUE,
) -> TextResult:
    """Return a page of what `query` finds by its channel, among the versions that `where` admits.

    `known` is the operation at which statements were known (None = now), `now_ms` the moment that is asked about, `cue`
    what the question says of tags.
    """
    if query.channel is Channel.TEXT:
        return search_text(conn, query.text, where=where, limit=query.limit, offset=offset, now_ms=now_ms)
    voices = voices_of(conn, query, where=where, known=known, now_ms=now_ms, cue=cue)
    if query.channel is not Channel.FUSED:
        found = [hit for voice in voices for hit in voice.hits]
        return TextResult(len(found), tuple(found[offset : offset + query.limit]))
    ranking = fused(conn, query.text, voices, where=where, now_ms=now_ms)
    said: dict[int, list[str]] = defaultdict(list)
    for voice in voices:
        for hit in voice.hits:
            said[hit.vid].append(hit.why)
    hits = text_hits(conn, ranking, query.limit, offset)
    return TextResult(ranking.count, tuple(replace(hit, why="; ".join(said.get(hit.vid, ()))) for hit in hits))


def voices_of(
    conn: sqlite3.Connection, query: RecallQuery, *, where: Candidates, known: int | None, now_ms: int, cue: Cue
) -> list[Voice]:
    """Return what the channels beside the text find that the query listens to."""
    alone = query.channel is not Channel.FUSED
    voices: list[Voice] = []
    if query.channel in (Channel.GRAPH, Channel.FUSED) and has_facts(conn):
        view = View(where, known, since_of(query.days, now_ms), query.session)
        traces = trace(conn, query.text, view=view, seeds=query.seeds, depth=query.hops, whole=not alone)
        voices.append(Voice("graph", GRAPH_SHARE, tuple(_graph_hit(found) for found in traces)))
    if query.channel is Channel.TAGS or (not alone and not query.filter.tags):
        match = match_cue(
            Vocabulary(conn, known), cue, where=where, now_ms=now_ms, scene=query.scene, scene_sub=query.scene_sub,
            most=None if alone else COMMON_TAG,
        )  # fmt: skip
        voices.append(Voice("tags", TAGS_SHARE, tuple(_tag_hit(hit) for hit in match.hits)))
    return [voice for voice in voices if voice.hits]


def fused(conn: sqlite3.Connection, text: str, voices: Sequence[Voice], *, where: Candidates, now_ms: int) -> Ranking:
    """Return the ranking of the text with what the other voices and confirmations add to it (R10)."""
    ranking = rank_text(conn, text, where=where, now_ms=now_ms)
    best = ranking.head[0][0] if ranking.head else 0.0
    for voice in voices:
        ranking = add_channel(ranking, voice.name, {hit.vid: hit.score for hit in voice.hits}, voice.share, best=best)
    scores = {vid: score for score, vid in ranking.head if score > 0}
    confirmed = confirmed_versions(conn, scores)
    if not confirmed or best <= 0:
        return ranking
    most = CONFIRMED_SHARE * best
    strengths = {vid: CONFIRMED * scores[vid] / most for vid in confirmed}
    return add_channel(ranking, "feedback", strengths, CONFIRMED_SHARE, best=best)


@dataclass(frozen=True)
class Voice:
    """What one channel finds beside the text, best first, and the share of the best text score that it may add."""

    name: str
    share: float
    hits: tuple[TextHit, ...]


def since_of(days: float | None, now_ms: int) -> int | None:
    """Return the moment `days` ago in UTC milliseconds."""
    return None if days is None else now_ms - round(days * DAY_MS)


def _graph_hit(found: Trace) -> TextHit:
    return TextHit(found.vid, found.score, "graph", (), None, {"graph": found.score}, found.why)


def _tag_hit(found: TagHit) -> TextHit:
    return TextHit(found.vid, found.score.total, "tags", (), None, found.parts(), found.why)


def add_channel(
    ranking: Ranking, name: str, strengths: Mapping[int, float], share: float, *, best: float | None = None
) -> Ranking:
    """Add a channel's bonus to a ranking: strength (at most 1) · share · best text score, by version.

    A version that the text does not find, or only behind the head, comes in with its bonus as its score. `best` is
    needed once another channel has added to the ranking.
    """
    if best is None:
        best = ranking.head[0][0] if ranking.head else 0.0
    unit = share * best if best > 0 else share
    bonus = {vid: unit * min(strength, 1.0) for vid, strength in strengths.items() if strength > 0}
    scores = {vid: score for score, vid in ranking.head}
    for vid, gain in bonus.items():
        scores[vid] = scores.get(vid, 0.0) + gain
    head = sorted((-score, vid) for vid, score in scores.items())
    return replace(ranking, parts={**ranking.parts, name: bonus}, head=tuple((-score, vid) for score, vid in head))
