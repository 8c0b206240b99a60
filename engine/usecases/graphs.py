"""The graph as the owner and agents may see it: walks, a session's part, archived facts, and facts that conflict."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import islice

from engine.model.enums import Mode, State
from engine.model.graph import ArchivedFact, FactConflict, GraphResult, Introspection
from engine.model.memory import NOW, AsOf, Caller, Filter
from engine.recall.candidates import Candidates
from engine.recall.fuse import since_of
from engine.recall.graph import search_graph
from engine.recall.statements import View, entities_of
from engine.rules.textnorm import fold
from engine.rules.triples import SINGLE_VALUED, exclude_each_other, normal_relation
from engine.store import journal
from engine.store.rows import load_memories, marks
from engine.store.selection import Selection, recall_selection
from engine.usecases.asking import check_walk
from engine.usecases.desk import Desk

SHOWN = 50
HOTSPOTS = 10
ARCHIVED_MOST = 200
CONFLICTS_MOST = 200


def graph(
    desk: Desk,
    by: Caller,
    query: str = "",
    *,
    seeds: Sequence[str] = (),
    depth: int = 2,
    days: float | None = None,
    session: str | None = None,
    mode: Mode = Mode.CURRENT,
    as_of: AsOf = NOW,
    everywhere: bool = False,
) -> GraphResult:
    """Return what lies within `depth` relations of the entities that a question or `seeds` name (T9 to T13).

    `days` and `session` limit relations. Only what recall would show is seen, at the moment of `as_of` on either axis.
    Raises invalid_argument for a depth outside 0 to 5.
    """
    check_walk(depth, days)
    now = desk.store.clock.now_ms()
    with desk.store.read() as conn:
        chosen, valid = _selection(conn, by, mode, as_of, now, everywhere)
        view = View(Candidates(chosen.sql, chosen.values), chosen.known, since_of(days, valid), session)
        return search_graph(conn, query, view=view, seeds=seeds, depth=depth)


def _selection(
    conn: sqlite3.Connection, by: Caller, mode: Mode, as_of: AsOf, now: int, everywhere: bool
) -> tuple[Selection, int]:
    known = None if as_of.known_ms is None else journal.operation_at(conn, as_of.known_ms)
    valid = next(ms for ms in (as_of.valid_ms, as_of.known_ms, now) if ms is not None)
    chosen = recall_selection(
        by, mode, Filter(), valid_ms=valid, known=known, moved=not as_of.is_now, everywhere=everywhere or by.is_owner
    )
    return chosen, valid


def introspect(desk: Desk, by: Caller, session: str | None = None) -> Introspection:
    """Return a session's entities, how many relations of which types it stated, and its most mentioned entities (T15).

    Without a session it is the whole graph, with the first 50 entities.
    """
    with desk.store.read() as conn:
        chosen, _ = _selection(conn, by, Mode.CURRENT, NOW, desk.store.clock.now_ms(), False)
        spoken, values = "", list[object]()
        if session is not None:
            spoken = (
                " AND f.fact_id IN (SELECT x.fact_id FROM operations o JOIN facts x ON x.op_from = o.op WHERE"
                " o.session = ? AND NOT EXISTS"
                " (SELECT 1 FROM facts y WHERE y.fact_id = x.fact_id AND y.op_from < x.op_from))"
            )
            values.append(session)
        rows = conn.execute(
            "SELECT DISTINCT f.subject_id, f.relation, f.object_id FROM facts f JOIN versions v"
            f" ON v.memory_id = f.memory_id AND ({chosen.sql}) WHERE f.op_to IS NULL{spoken}",
            (*chosen.values, *values),
        ).fetchall()
        relations = {(one, normal_relation(word), other): word for one, word, other in rows if other is not None}
        ends = {end for one, _, other in rows for end in (one, other) if end is not None}
        view = View(Candidates(chosen.sql, chosen.values))
        entities = entities_of(conn, view, dict.fromkeys(_most_mentioned(conn, ends), 0))
    types = Counter(relations.values())
    return Introspection(session, entities, len(relations), dict(types.most_common()), entities[:HOTSPOTS])


def _most_mentioned(conn: sqlite3.Connection, entities: set[int]) -> list[int]:
    counts = dict(conn.execute("SELECT entity_id, count FROM ix_mentions").fetchall())
    return sorted(entities, key=lambda number: (-counts.get(number, 0), number))[:SHOWN]


def archived_facts(
    desk: Desk, by: Caller, *, days: float | None = None, keyword: str = "", limit: int = ARCHIVED_MOST
) -> list[ArchivedFact]:
    """Return relations of archived memories, the newest archived first, at most 200 (T20).

    `days` is how long ago they were archived at most; `keyword` stands in a name or relation.
    """
    check_walk(0, days)
    since = since_of(days, desk.store.clock.now_ms())
    word = fold(keyword.strip())
    with desk.store.read() as conn:
        chosen, _ = _selection(conn, by, Mode.ARCHIVED, NOW, desk.store.clock.now_ms(), False)
        rows = conn.execute(
            "SELECT f.subject, f.relation, f.object, f.memory_id, o.at FROM states s"
            " JOIN operations o ON o.op = s.op_from"
            f" JOIN versions v ON v.memory_id = s.memory_id AND ({chosen.sql})"
            " JOIN facts f ON f.memory_id = s.memory_id AND f.op_to IS NULL AND f.object_id IS NOT NULL"
            " WHERE s.op_to IS NULL AND s.state = ? AND o.at >= ? ORDER BY s.op_from DESC, f.vid DESC",
            (*chosen.values, State.ARCHIVED.value, since or 0),
        )
        found = (ArchivedFact(*row) for row in rows)
        wanted = (f for f in found if not word or any(word in fold(p) for p in (f.subject, f.relation, f.object)))
        return list(islice(wanted, min(limit, ARCHIVED_MOST)))


def fact_conflicts(desk: Desk, by: Caller) -> list[FactConflict]:
    """Return current facts that exclude each other (C14), by subject; they are listed and never settled here."""
    with desk.store.read() as conn:
        chosen, _ = _selection(conn, by, Mode.CURRENT, NOW, desk.store.clock.now_ms(), False)
        stated = conn.execute("SELECT DISTINCT relation FROM facts WHERE op_to IS NULL").fetchall()
        single = [word for (word,) in stated if normal_relation(word) in SINGLE_VALUED]
        rows = conn.execute(
            "SELECT f.subject_id, f.subject, f.relation, f.object, f.memory_id FROM facts f JOIN versions v"
            f" ON v.memory_id = f.memory_id AND ({chosen.sql}) WHERE f.op_to IS NULL"
            f" AND f.relation IN ({marks(len(single))}) ORDER BY f.fact_id",
            (*chosen.values, *single),
        ).fetchall()
        groups: dict[tuple[int, str], list[tuple[str, str, str, int]]] = defaultdict(list)
        for subject_id, *told in rows:
            groups[subject_id, normal_relation(told[1])].append((told[0], told[1], told[2], told[3]))
        found = [conflict for group in groups.values() if (conflict := _conflict(group))][:CONFLICTS_MOST]
        return [_with_topics(conn, conflict) for conflict in found]


def _conflict(told: Sequence[tuple[str, str, str, int]]) -> FactConflict | None:
    """Return the objects of one subject and relation that exclude another of them, or nothing."""
    objects: dict[str, tuple[str, list[int]]] = {}
    for _, _, object, memory in told:
        objects.setdefault(fold(object), (object, []))[1].append(memory)
    relation = told[0][1]
    names = [name for name, _ in objects.values()]
    clash = [
        (name, tuple(dict.fromkeys(ids)))
        for name, ids in objects.values()
        if any(exclude_each_other(relation, name, other) for other in names)
    ]
    return FactConflict(told[0][0], relation, tuple(clash)) if clash else None


def _with_topics(conn: sqlite3.Connection, conflict: FactConflict) -> FactConflict:
    ids = [memory for _, memories in conflict.objects for memory in memories]
    topics = dict.fromkeys(topic for m in load_memories(conn, ids, bodies=False) for topic in m.topics)
    return FactConflict(conflict.subject, conflict.relation, conflict.objects, tuple(topics))


def tensions(conflicts: Sequence[FactConflict]) -> dict[str, list[FactConflict]]:
    """Group conflicts by topic (C17); those of no topic stand under the empty name."""
    grouped: dict[str, list[FactConflict]] = defaultdict(list)
    for conflict in conflicts:
        for topic in conflict.topics or ("",):
            grouped[topic].append(conflict)
    return dict(sorted(grouped.items()))
