"""Where a version stands in each channel of one question, for receipts and for explaining why not."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import NamedTuple

from engine.model.enums import Channel
from engine.model.memory import RecallQuery
from engine.model.receipts import ChannelReceipt
from engine.recall.candidates import Candidates
from engine.recall.fuse import Voice, fused, voices_of
from engine.recall.tags import Cue
from engine.recall.text import Ranking, TextHit, rank_text, text_hits


class Standing(NamedTuple):
    """Everything that one question ranks: the text, what other channels say, and both together as far as asked for."""

    channel: Channel
    text: Ranking | None
    voices: Mapping[str, Voice]
    fused: Ranking | None

    def channels(self, conn: sqlite3.Connection, vid: int) -> tuple[ChannelReceipt, ...]:
        """Return what each channel that the question listens to says of a version, the one that decides first."""
        found = [
            _of_ranking(conn, name, ranking, vid)
            for name, ranking in (("fused", self.fused), ("text", self.text))
            if ranking is not None
        ]
        return (*found, *(_of_voice(name, voice, vid) for name, voice in self.voices.items()))

    def at(self, rank: int) -> tuple[int, float] | None:
        """Return version and score of a rank, counted from 1."""
        ranking = self.fused or self.text
        if ranking is not None:
            page = ranking.page(1, rank - 1)
            return (page[0][1], page[0][0]) if page else None
        hits = self.voices[self.channel.value].hits if self.channel.value in self.voices else ()
        return (hits[rank - 1].vid, hits[rank - 1].score) if rank <= len(hits) else None


def standing(
    conn: sqlite3.Connection, query: RecallQuery, *, where: Candidates, known: int | None, now_ms: int, cue: Cue
) -> Standing:
    """Rank everything that a question finds among the versions that `where` admits."""
    heard = [] if query.channel is Channel.TEXT else voices_of(
        conn, query, where=where, known=known, now_ms=now_ms, cue=cue
    )  # fmt: skip
    voices = {voice.name: voice for voice in heard}
    if query.channel in (Channel.TAGS, Channel.GRAPH):
        return Standing(query.channel, None, voices, None)
    text = rank_text(conn, query.text, where=where, now_ms=now_ms)
    together = fused(conn, query.text, heard, where=where, now_ms=now_ms) if query.channel is Channel.FUSED else None
    return Standing(query.channel, text, voices, together)


def place_of(ranking: Ranking, vid: int) -> tuple[int, float] | None:
    """Return rank, counted from 1, and score of a version; None when it does not match."""
    for rank, (score, other) in enumerate(ranking.head, 1):
        if other == vid:
            return rank, score
    own = ranking.matches.get(vid)
    if own is None:
        return None
    ranked = {other for _, other in ranking.head}
    before = sum(
        (-score, other) < (-own, vid) for other, score in ranking.matches.items() if other not in ranked
    )  # fmt: skip
    return len(ranked) + before + 1, min(own, ranking.head[-1][0] if ranking.head else own)


def _of_ranking(conn: sqlite3.Connection, name: str, ranking: Ranking, vid: int) -> ChannelReceipt:
    place = place_of(ranking, vid)
    if place is None:
        return ChannelReceipt(name, None, ranking.count)
    rank, score = place
    (hit,) = text_hits(conn, ranking, 1, rank - 1)
    parts: dict[str, object] = {"matched": list(hit.terms), "field": hit.field, **hit.parts}
    if hit.lines:
        parts["lines"] = list(hit.lines)
    return ChannelReceipt(name, rank, ranking.count, score, _said(hit), parts)


def _said(hit: TextHit) -> str:
    return f"{hit.field}: {', '.join(hit.terms[:6])}" if hit.terms else hit.field


def _of_voice(name: str, voice: Voice, vid: int) -> ChannelReceipt:
    for rank, hit in enumerate(voice.hits, 1):
        if hit.vid == vid:
            return ChannelReceipt(name, rank, len(voice.hits), hit.score, hit.why, dict(hit.parts))
    return ChannelReceipt(name, None, len(voice.hits))
