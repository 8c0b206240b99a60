"""The graph channel: a breadth-first walk over the statements that a reader may see (T9 to T14).

A walk is bounded: it begins at MAX_STARTS entities, reads at most READS statements and returns at most
MAX_RELATIONS relations, the newest of each entity first; `GraphResult.cut` says when that left something out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from engine.model.graph import GraphResult, Relation
from engine.recall import names
from engine.recall.names import MAX_STARTS
from engine.recall.statements import Fact, View, alone, entities_of, mentions_of, read_facts

MAX_DEPTH = 5
MAX_RELATIONS, READS = 500, 1_200
SCAN = 300
"""Statements of one entity that a walk reads at most, the newest first."""

LEAST_SCAN = 20
NEAR = 0.5
"""What a step further counts: a relation of depth d scores confidence · 0.5^(d − 1)."""

BOTH_ENDS = 0.25
"""What a statement gains when the walk began at both of its ends."""


@dataclass(frozen=True)
class Trace:
    """Why the graph finds a memory: `vid` is its version, `score` its strength and `why` one line for a receipt."""

    vid: int
    memory: int
    score: float
    why: str


@dataclass
class _Edge:
    """A relation met on a walk with every statement of it."""

    depth: int
    strength: float
    facts: list[Fact]


@dataclass
class _Walk:
    """A walk under way: what was reached, and how much may still be read."""

    conn: sqlite3.Connection
    view: View
    reads: int = READS
    cut: bool = False
    depth: dict[int, int] = field(default_factory=dict)
    strength: dict[int, float] = field(default_factory=dict)
    edges: dict[tuple[int, str, int | None], _Edge] = field(default_factory=dict)
    described: list[tuple[int, Fact]] = field(default_factory=list)


def search_graph(
    conn: sqlite3.Connection, query: str, *, view: View, seeds: Collection[str] = (), depth: int = 2
) -> GraphResult:
    """Return what lies within `depth` relations (0 to MAX_DEPTH) of the entities that a question or `seeds` name.

    Keywords are split at blanks and commas and match inside names; a whole name inside a question counts too (T9).
    An empty question without seeds gives the 50 most mentioned entities with what relates them (T10).
    """
    return _result(_begin(conn, query, view, seeds, depth))


def trace(
    conn: sqlite3.Connection,
    query: str,
    *,
    view: View,
    seeds: Collection[str] = (),
    depth: int = 2,
    whole: bool = False,
) -> list[Trace]:
    """Return the memories that the graph finds, best first; `whole` begins at whole names and seeds only.

    A memory's score is that of its best statement: confidence · 0.5^(depth − 1), halved where the walk began at a name
    that only holds a keyword, plus 0.25 when the question names both of its ends.
    """
    if whole:
        began = names.whole_names(conn, query, seeds, view.known)
        return _traces(_walk(conn, view, began, depth)) if began else []
    return _traces(_begin(conn, query, view, seeds, depth))


def has_facts(conn: sqlite3.Connection) -> bool:
    """Tell whether there is any graph to walk."""
    return conn.execute("SELECT 1 FROM facts LIMIT 1").fetchone() is not None


# --------------------------------------------------------------------- the walk
def _begin(conn: sqlite3.Connection, query: str, view: View, seeds: Collection[str], depth: int) -> _Walk:
    if not query.strip() and not seeds:
        return _overview(conn, view, depth)
    return _walk(conn, view, names.starts(conn, query, seeds, view.known), depth)


def _walk(conn: sqlite3.Connection, view: View, began: Mapping[int, float], depth: int) -> _Walk:
    walk = _Walk(conn, view)
    facts = _read(walk, began)
    layer = _visible_starts(walk, began, facts)
    for number in layer:
        walk.depth[number], walk.strength[number] = 0, began[number]
    facts = [f for f in facts if f.subject_id in walk.depth or f.object_id in walk.depth]
    for step in range(1, depth + 1):
        layer = _step(walk, facts, step)
        if step == depth or not layer:
            break
        facts = _read(walk, layer)
    if depth == 0:
        walk.described = [(0, f) for f in facts if f.object_id is None]
    return walk


def _visible_starts(walk: _Walk, began: Mapping[int, float], facts: Iterable[Fact]) -> list[int]:
    """Return the starts that the reader may know of: whole names first, then the most mentioned (T10)."""
    seen = {end for fact in facts for end in (fact.subject_id, fact.object_id)}
    seen |= alone(walk.conn, walk.view, [number for number in began if number not in seen])
    shown = [number for number in began if number in seen]
    counts = mentions_of(walk.conn, shown)
    shown.sort(key=lambda number: (-began[number], -counts.get(number, 0), number))
    walk.cut |= len(shown) > MAX_STARTS
    return shown[:MAX_STARTS]


def _step(walk: _Walk, facts: Sequence[Fact], depth: int) -> list[int]:
    """Take in what was read of a layer: its relations have this depth, and the entities behind them come next."""
    reached: dict[int, float] = {}
    layer = {number for number, at in walk.depth.items() if at == depth - 1}
    for fact in facts:
        ends = [e for e in (fact.subject_id, fact.object_id) if e in layer]
        if not ends or not _passes(walk.view, fact):
            continue
        if fact.object_id is None:
            walk.described.append((depth - 1, fact))
            continue
        edge = walk.edges.get(fact.key)
        if edge is not None:
            if edge.depth == depth:
                edge.facts.append(fact)
            continue
        if len(walk.edges) >= MAX_RELATIONS:
            walk.cut = True
            break
        strength = max(walk.strength[e] for e in ends)
        walk.edges[fact.key] = _Edge(depth, strength, [fact])
        for end in (fact.subject_id, fact.object_id):
            if end not in walk.depth:
                reached[end] = max(reached.get(end, 0.0), strength * NEAR)
    for number, strength in sorted(reached.items()):
        walk.depth[number], walk.strength[number] = depth, strength
    return sorted(reached)


def _passes(view: View, fact: Fact) -> bool:
    recent = view.since_ms is None or fact.at_ms >= view.since_ms
    return recent and (view.session is None or fact.session == view.session)


def _overview(conn: sqlite3.Connection, view: View, depth: int) -> _Walk:
    """Return the most mentioned entities, and what relates them to each other when `depth` allows any relation."""
    walk = _Walk(conn, view, reads=2 * READS)
    facts: list[Fact] = []
    ranked = names.most_mentioned(conn)
    while len(walk.depth) < MAX_STARTS and walk.reads > 0 and (batch := list(islice(ranked, MAX_STARTS))):
        read = _read(walk, batch, LEAST_SCAN)
        facts += read
        seen = {end for fact in read for end in (fact.subject_id, fact.object_id)}
        seen |= alone(walk.conn, walk.view, [number for number in batch if number not in seen])
        for number in [n for n in batch if n in seen][: MAX_STARTS - len(walk.depth)]:
            walk.depth[number], walk.strength[number] = 0, names.WHOLE
    if depth > 0:
        inside = {f.vid: f for f in facts if f.subject_id in walk.depth and (f.object_id or f.subject_id) in walk.depth}
        _step(walk, list(inside.values()), 1)
    return walk


def _read(walk: _Walk, entities: Collection[int], most: int = SCAN) -> list[Fact]:
    """Read what can be seen of each entity, as far as the bounds of the walk allow."""
    share = min(most, max(LEAST_SCAN, walk.reads // max(len(entities), 1)))
    facts, read, cut = read_facts(walk.conn, walk.view, entities, share, walk.reads)
    walk.reads -= read
    walk.cut |= cut
    return facts


# --------------------------------------------------------------------- results
def _result(walk: _Walk) -> GraphResult:
    entities = entities_of(walk.conn, walk.view, walk.depth)
    shown = {entity.id: entity.name for entity in entities}
    relations = [_relation(edge, shown) for edge in walk.edges.values()]
    relations.sort(key=lambda r: (r.depth, -r.score, r.subject_id, r.relation, r.object_id))
    return GraphResult(entities, tuple(relations), tuple(t.memory for t in _traces(walk)), walk.cut)


def _relation(edge: _Edge, shown: Mapping[int, str]) -> Relation:
    newest = edge.facts[0]
    best = max(fact.confidence for fact in edge.facts)
    subject, object = newest.subject_id, newest.object_id or 0
    return Relation(
        shown.get(subject, newest.subject), newest.relation, shown.get(object, newest.object), subject, object,
        edge.depth,
        round(best * NEAR ** (edge.depth - 1), 6), best, all(fact.speculative for fact in edge.facts),
        next((fact.weight for fact in edge.facts if fact.weight is not None), None), newest.at_ms, newest.session,
        newest.turn, tuple(dict.fromkeys(fact.memory for fact in edge.facts)),
    )  # fmt: skip


def _traces(walk: _Walk) -> list[Trace]:
    best: dict[int, Trace] = {}
    for edge in walk.edges.values():
        for fact in edge.facts:
            both = walk.depth.get(fact.subject_id) == walk.depth.get(fact.object_id or 0) == 0
            score = fact.confidence * edge.strength + (BOTH_ENDS if both else 0.0)
            hops = "1 hop" if edge.depth == 1 else f"{edge.depth} hops"
            said = f"graph: {fact.subject} –{fact.relation}→ {fact.object}, {hops}"
            _keep(best, Trace(fact.version, fact.memory, round(score, 6), said))
    for depth, fact in walk.described:
        score = fact.confidence * walk.strength[fact.subject_id]
        hops = f", {depth} hop{'s' if depth > 1 else ''}" if depth else ""
        _keep(best, Trace(fact.version, fact.memory, round(score, 6), f"graph: about {fact.subject}{hops}"))
    return sorted(best.values(), key=lambda t: (-t.score, -t.memory))


def _keep(best: dict[int, Trace], found: Trace) -> None:
    known = best.get(found.memory)
    if known is None or found.score > known.score:
        best[found.memory] = found
