"""What a recall brings along when asked to expand: the other memories of its hits' topics (C18)."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from engine.model.memory import Hit
from engine.store.rows import load_memories
from engine.usecases.asking import Asked

MOST_TOPICS = 20


def with_siblings(conn: sqlite3.Connection, asked: Asked, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return hits followed by at most as many others of their topics as a page holds, the newest first.

    Every rule of the question holds for them, too; what they match is not asked, so that their score is 0.
    """
    chips = asked.query.filter.topics
    named = [topic for hit in hits for topic in hit.memory.topics if not chips or topic in chips]
    topics = tuple(dict.fromkeys(named))[:MOST_TOPICS]
    if not topics:
        return tuple(hits)
    query = replace(asked.query, filter=replace(asked.query.filter, topics=topics))
    where = asked._replace(query=query).candidates()
    rows = conn.execute(
        f"SELECT v.memory_id FROM versions v WHERE {where.sql} ORDER BY v.valid_from DESC, v.memory_id DESC LIMIT ?",
        (*where.params, query.limit + len(hits)),
    )
    known = {hit.memory.id for hit in hits}
    ids = [id_ for (id_,) in rows if id_ not in known][: query.limit]
    brought = load_memories(conn, ids, known=asked.known)
    via = {m.id: next((topic for topic in topics if topic in m.topics), topics[0]) for m in brought}
    return (*hits, *(Hit(m, 0.0, f"via topic {via[m.id]}") for m in brought))
