"""Merging tags: what it rests on, worked out without writing, and carrying it out as rows of one operation (W26)."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from engine.model.enums import TagLevel, TagStatus
from engine.rules.tag_relations import stronger
from engine.store.schema import MEMORY_TAGS
from engine.store.tags import change_tag, set_level
from engine.store.transaction import Tx
from engine.store.vocabulary import Tag, Vocabulary


@dataclass(frozen=True)
class Edge:
    """One relation of a source: to whom, how close, what becomes of it and how close it is then."""

    source: int
    other: int
    how: str
    level: TagLevel | None


@dataclass(frozen=True)
class MergeWork:
    """What a merge would change, by number. `links` pairs (memory, source); `keeps` are memories with the target.

    `revision` is a digest of all rows that this rests on.
    """

    sources: tuple[Tag, ...]
    target: Tag
    links: tuple[tuple[int, int], ...]
    moves: tuple[int, ...]
    keeps: tuple[int, ...]
    tags_before: Mapping[int, int]
    tags_after: Mapping[int, int]
    edges: tuple[Edge, ...]
    levels: Mapping[int, TagLevel]
    redirects: tuple[Tag, ...]
    revision: str


def work_out(conn: sqlite3.Connection, sources: Sequence[Tag], target: Tag) -> MergeWork:
    """Return what merging `sources` into `target` would change, as of now."""
    ids = {tag.id for tag in sources}
    wanted = json.dumps(sorted(ids))
    links = conn.execute(
        "SELECT memory_id, tag_id, vid FROM memory_tags WHERE op_to IS NULL"
        " AND tag_id IN (SELECT value FROM json_each(?)) ORDER BY memory_id, tag_id",
        (wanted,),
    ).fetchall()
    cards = dict.fromkeys(row[0] for row in links)
    with_target = {
        row[0]
        for row in conn.execute("SELECT memory_id FROM memory_tags WHERE tag_id = ? AND op_to IS NULL", (target.id,))
    }
    before, after = _tags_a_card(conn, Counter(row[0] for row in links), with_target)
    rows = conn.execute(
        "SELECT low_id, high_id, level, vid FROM tag_relations WHERE op_to IS NULL AND (low_id IN (SELECT value FROM"
        " json_each(?1)) OR high_id IN (SELECT value FROM json_each(?1))) ORDER BY low_id, high_id",
        (json.dumps([*sorted(ids), target.id]),),
    ).fetchall()
    edges, levels = _edges(rows, ids, target.id)
    redirects = conn.execute(
        "SELECT tag_id FROM tags WHERE op_to IS NULL AND merged_to IN (SELECT value FROM json_each(?))", (wanted,)
    ).fetchall()
    led = Vocabulary(conn).by_ids({row[0] for row in redirects})
    return MergeWork(
        sources=tuple(sources),
        target=target,
        links=tuple((row[0], row[1]) for row in links),
        moves=tuple(card for card in cards if card not in with_target),
        keeps=tuple(card for card in cards if card in with_target),
        tags_before=before,
        tags_after=after,
        edges=edges,
        levels=levels,
        redirects=tuple(led[id] for id in sorted(led)),
        revision=_digest(conn, [*ids, target.id, *led], [row[2] for row in links], [row[3] for row in rows]),
    )


def _tags_a_card(
    conn: sqlite3.Connection, sources_on: Mapping[int, int], with_target: Collection[int]
) -> tuple[dict[int, int], dict[int, int]]:
    """Return how many of the memories have how many tags, before and after."""
    counts = conn.execute(
        "SELECT memory_id, count(*) FROM memory_tags WHERE op_to IS NULL"
        " AND memory_id IN (SELECT value FROM json_each(?)) GROUP BY memory_id",
        (json.dumps(list(sources_on)),),
    ).fetchall()
    before = Counter(n for _, n in counts)
    after = Counter(n - sources_on[card] + (card not in with_target) for card, n in counts)
    return dict(sorted(before.items())), dict(sorted(after.items()))


def _edges(
    rows: Sequence[tuple[int, int, str, int]], sources: Collection[int], target: int
) -> tuple[tuple[Edge, ...], dict[int, TagLevel]]:
    """Return what becomes of the sources' relations, and the levels that the target has to others afterwards."""
    levels: dict[int, TagLevel] = {}
    own: list[tuple[int, int, TagLevel]] = []
    for low, high, level, _ in rows:
        for one, other in ((low, high), (high, low)):
            if one in sources:
                own.append((one, other, TagLevel(level)))
            elif one == target and other not in sources:
                levels[other] = TagLevel(level)
    edges = []
    for source, other, level in own:
        if other == target or other in sources:
            edges.append(Edge(source, other, "dropped", None))
            continue
        how = "collapsed" if other in levels else "moved"
        levels[other] = stronger(levels.get(other), level)
        edges.append(Edge(source, other, how, levels[other]))
    return tuple(edges), levels


def _digest(conn: sqlite3.Connection, tags: Sequence[int], links: Sequence[int], relations: Sequence[int]) -> str:
    vids = conn.execute(
        "SELECT vid FROM tags WHERE op_to IS NULL AND tag_id IN (SELECT value FROM json_each(?)) ORDER BY vid",
        (json.dumps(sorted(tags)),),
    ).fetchall()
    parts = [[row[0] for row in vids], sorted(links), sorted(relations)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


def carry_out(tx: Tx, work: MergeWork) -> None:
    """Move the cards, rewrite the relations and leave redirects, also from what led to the sources (W17, W26)."""
    for memory_id, source in work.links:
        tx.close(MEMORY_TAGS, memory_id, source)
    for memory_id in work.moves:
        tx.open(MEMORY_TAGS, {"memory_id": memory_id, "tag_id": work.target.id})
    for source, other in {tuple(sorted((edge.source, edge.other))): None for edge in work.edges}:
        set_level(tx, source, other, None)
    for other in dict.fromkeys(edge.other for edge in work.edges if edge.level):
        set_level(tx, work.target.id, other, work.levels[other])
    for tag in (*work.sources, *work.redirects):
        change_tag(tx, tag, status=TagStatus.MERGED, merged_to=work.target.id)
