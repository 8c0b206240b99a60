"""Choosing what answers a question: a search, the gate of relevance, what topics bring along (S15-S18, C18, C20)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from typing import NamedTuple

from engine.context import cues
from engine.context.draft import Candidate
from engine.context.relevance import CANDIDATES, WHOLE_TEXT, Relevance, gate_for
from engine.context.topics import heading_of, topics_named
from engine.model.enums import Mode
from engine.model.memory import Filter, Memory
from engine.model.packs import LeftOut
from engine.recall.candidates import Candidates
from engine.recall.text import TextHit, search_text
from engine.store.rows import load_memories
from engine.store.selection import Selection

SHORTEST_QUESTION = 2
"""A question of fewer characters is not searched for (S14)."""

Choosing = Callable[[Mode, Filter], Selection]
"""Returns the condition under which the caller sees memories in a mode."""


class Choice(NamedTuple):
    """What a question came to: what qualifies, what does past the cap, what does not, and the scores for a log.

    `matches` counts all memories that share a word with the question; `archived` those that would qualify if they
    were not archived, asked only when nothing else does; `dormant` those that would if they were not dormant.
    """

    found: tuple[Candidate, ...] = ()
    beyond: tuple[Memory, ...] = ()
    below: tuple[LeftOut, ...] = ()
    matches: int = 0
    scores: tuple[tuple[int, float], ...] = ()
    archived: int = 0
    dormant: int = 0


class _Judged(NamedTuple):
    memory: Memory
    hit: TextHit
    fit: Relevance
    qualifies: bool

    @property
    def share(self) -> float:
        return max(self.fit.summary, self.fit.passage)


def choose(
    conn: sqlite3.Connection,
    question: str,
    choosing: Choosing,
    *,
    now_ms: int,
    threshold: float,
    most: int,
    expand: bool = False,
    dormant: Selection | None = None,
) -> Choice:
    """Return at most `most` memories that cover at least `threshold` of the question, best first.

    A topic that the question names brings its other memories along (C20); with `expand` so do those of the hits (C18).
    `dormant` selects what is passed over for its age; how much of it would qualify is counted.
    """
    if len(question.strip()) < SHORTEST_QUESTION:
        return Choice()
    matches, judged = _judge(conn, question, choosing(Mode.CURRENT, Filter()), now_ms, threshold)
    named = topics_named(conn, question)
    found = [
        Candidate(j.memory, j.hit.lines, f"{j.hit.field} {j.share:.2f}", heading_of(j.memory, named))
        for j in judged
        if j.qualifies
    ]
    topics = [*named, *(topic for c in found for topic in c.memory.topics)] if expand else named
    if topics:
        chosen = choosing(Mode.CURRENT, Filter(topics=tuple(dict.fromkeys(topics))))
        found += _siblings(conn, chosen, topics, {c.memory.id for c in found}, most)
    archived = 0
    if not found and cues.asks_own_history(question):
        _, old = _judge(conn, question, choosing(Mode.ARCHIVED, Filter()), now_ms, threshold)
        archived = sum(j.qualifies for j in old)
    asleep = _judge(conn, question, dormant, now_ms, threshold)[1] if dormant else []
    taken = {c.memory.id for c in found}
    return Choice(
        found=tuple(found[:most]),
        beyond=tuple(c.memory for c in found[most:] if not c.sibling),
        below=tuple(
            LeftOut(j.memory.id, "relevance", f"{j.share:.2f} < {needed(j.share, threshold):.2f}")
            for j in judged
            if j.memory.id not in taken
        ),
        matches=matches,
        scores=tuple((j.memory.id, round(j.share, 4)) for j in judged),
        archived=archived,
        dormant=sum(j.qualifies for j in asleep),
    )


def needed(share: float, threshold: float) -> float:
    """Return what a memory below the gate would have had to cover: by its body alone, more than a summary must."""
    return threshold if share < threshold else WHOLE_TEXT


def _judge(
    conn: sqlite3.Connection, question: str, chosen: Selection, now_ms: int, threshold: float
) -> tuple[int, list[_Judged]]:
    """Return how many memories match at all, and the best of them with the gate's verdict."""
    where = Candidates(chosen.sql, chosen.values)
    result = search_text(conn, question, where=where, limit=CANDIDATES, now_ms=now_ms, quick=True)
    rows = conn.execute(
        "SELECT vid, memory_id FROM versions WHERE vid IN (SELECT value FROM json_each(?))",
        (json.dumps([hit.vid for hit in result.hits]),),
    )
    ids = dict(rows.fetchall())
    memories = {memory.id: memory for memory in load_memories(conn, list(ids.values()))}
    pairs = [(hit, memories[ids[hit.vid]]) for hit in result.hits if ids.get(hit.vid) in memories]
    gate = gate_for(conn, question)
    fits = [gate.judge(conn, hit.vid, hit.lines) for hit, _ in pairs]
    verdicts = gate.admit(fits, threshold)
    return result.total, [
        _Judged(memory, hit, fit, ok) for (hit, memory), fit, ok in zip(pairs, fits, verdicts, strict=True)
    ]


def _siblings(
    conn: sqlite3.Connection, chosen: Selection, topics: Sequence[str], taken: set[int], most: int
) -> list[Candidate]:
    rows = conn.execute(
        f"SELECT v.memory_id FROM versions v WHERE {chosen.sql} ORDER BY v.valid_from DESC, v.memory_id DESC LIMIT ?",
        (*chosen.values, most + len(taken)),
    )
    ids = [id_ for (id_,) in rows if id_ not in taken][:most]
    return [Candidate(m, None, "via topic", heading_of(m, topics), sibling=True) for m in load_memories(conn, ids)]
