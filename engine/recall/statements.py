"""Statements and entities as a reader may see them, on both time axes.

A statement is seen when it was known at the moment asked for and its memory is among those that the caller's condition
admits; so time, state, scope and filters work here as they do for texts, and nothing hidden is ever read out.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.model.graph import Entity
from engine.recall.candidates import EVERYTHING, Candidates
from engine.rules.triples import DEFAULT_TYPE, normal_relation
from engine.store.facts import DECLARED, MADE_UP
from engine.store.rows import open_at

TYPES_READ = 4
"""Statements with a type that are read of one entity, the oldest first."""


@dataclass(frozen=True)
class View:
    """What a reader may see: facts known at operation `known` (None = now) of the versions that `where` admits.

    `since_ms` and `session` limit relations, not entities (T12).
    """

    where: Candidates = EVERYTHING
    known: int | None = None
    since_ms: int | None = None
    session: str | None = None


@dataclass(frozen=True)
class Fact:
    """One seen statement; `object_id` None says only that the memory describes the subject."""

    vid: int
    memory: int
    version: int
    subject_id: int
    object_id: int | None
    subject: str
    relation: str
    object: str
    confidence: float
    speculative: bool
    weight: float | None
    at_ms: int
    session: str | None
    turn: int | None

    @property
    def key(self) -> tuple[int, str, int | None]:
        """Return what makes two statements the same relation."""
        return self.subject_id, normal_relation(self.relation), self.object_id


_COLUMNS = (
    "f.vid, f.memory_id, f.subject_id, f.object_id, f.subject, f.relation, f.object, f.confidence, f.speculative,"
    " f.weight"
)


def read_facts(
    conn: sqlite3.Connection, view: View, entities: Iterable[int], share: int, most: int
) -> tuple[list[Fact], int, bool]:
    """Read the newest statements of each entity, at most `share` of it as subject and as object, and `most` in all.

    Returns those that the reader may see, newest first and each once, how many were read, and whether some were not.
    """
    rows: dict[int, tuple[object, ...]] = {}
    read, cut = 0, False
    for number in entities:
        if read >= most:
            return _seen(conn, view, list(rows.values())), read, True
        for column in ("subject_id", "object_id"):
            found = conn.execute(
                f"SELECT {_COLUMNS} FROM facts f WHERE f.{column} = ? AND {open_at('f', view.known)}"
                " ORDER BY f.op_from DESC, f.vid DESC LIMIT ?",
                (number, share),
            ).fetchall()
            cut |= len(found) == share
            read += len(found)
            rows |= {row[0]: row for row in found}
    return _seen(conn, view, list(rows.values())), read, cut


def _seen(conn: sqlite3.Connection, view: View, rows: Sequence[tuple[object, ...]]) -> list[Fact]:
    """Return the statements whose memories the reader may see, newest first."""
    if not rows:
        return []
    condition = view.where.sql or open_at("v", view.known)
    versions = {
        memory: (vid, dated, seq)
        for memory, vid, dated, seq in conn.execute(
            "SELECT v.memory_id, v.vid, v.dated_at, v.seq FROM versions AS v"
            f" WHERE v.memory_id IN (SELECT value FROM json_each(?)) AND ({condition})",
            (json.dumps(sorted({int(str(row[1])) for row in rows})), *view.where.params),
        )
    }
    admitted = [row for row in rows if row[1] in versions]
    # The operation in which a statement was first made: undo and redo only bring its row back.
    made = {
        vid: (at, session)
        for vid, at, session in conn.execute(
            "SELECT f.vid, o.at, o.session FROM json_each(?) j JOIN facts f ON f.vid = j.value JOIN operations o"
            " ON o.op = (SELECT min(x.op_from) FROM facts x WHERE x.fact_id = f.fact_id)",
            (json.dumps([row[0] for row in admitted]),),
        )
    }
    facts = []
    for row in sorted(admitted, key=lambda row: -int(str(row[0]))):
        version, dated, seq = versions[row[1]]
        at, session = made[row[0]]
        facts.append(_fact(row, version, at if dated is None else dated, session, seq))
    return facts


def _fact(row: Sequence[object], version: int, at_ms: int, session: str | None, turn: int | None) -> Fact:
    vid, memory, subject_id, object_id, subject, relation, object, confidence, speculative, weight = row
    return Fact(
        int(str(vid)), int(str(memory)), version, int(str(subject_id)),
        None if object_id is None else int(str(object_id)), str(subject), str(relation), str(object),
        float(str(confidence)), bool(speculative), None if weight is None else float(str(weight)), at_ms, session, turn,
    )  # fmt: skip


def alone(conn: sqlite3.Connection, view: View, entities: Sequence[int]) -> set[int]:
    """Return those entities that an import declared and no fact of any time speaks of: nothing about them is hidden."""
    rows = conn.execute(
        f"SELECT e.entity_id FROM json_each(?) j JOIN entities e ON e.entity_id = j.value"
        f" WHERE {open_at('e', view.known)} AND e.stated = ?"
        " AND NOT EXISTS (SELECT 1 FROM facts f WHERE f.subject_id = e.entity_id)"
        " AND NOT EXISTS (SELECT 1 FROM facts f WHERE f.object_id = e.entity_id)",
        (json.dumps(list(entities)), DECLARED),
    )
    return {number for (number,) in rows}


def mentions_of(conn: sqlite3.Connection, entities: Iterable[int]) -> dict[int, int]:
    """Return how often each entity is mentioned; none for those that are not."""
    rows = conn.execute(
        "SELECT m.entity_id, m.count FROM json_each(?) j JOIN ix_mentions m ON m.entity_id = j.value",
        (json.dumps(list(entities)),),
    )
    return dict(rows.fetchall())


def entities_of(conn: sqlite3.Connection, view: View, depths: Mapping[int, int]) -> tuple[Entity, ...]:
    """Return entities by number and depth as a reader sees them: by depth, then the most mentioned (T2)."""
    wanted = json.dumps(list(depths))
    counts = mentions_of(conn, depths)
    types = _types(conn, view, wanted)
    rows = conn.execute(
        "SELECT e.entity_id, e.name, e.type, e.stated, e.extra,"
        " (SELECT o.at FROM operations o WHERE o.op = (SELECT min(x.op_from) FROM entities x"
        "  WHERE x.entity_id = e.entity_id)),"
        " (SELECT o.at FROM operations o WHERE o.op = max("
        "  coalesce((SELECT max(f.op_from) FROM facts f WHERE f.subject_id = e.entity_id), 0),"
        "  coalesce((SELECT max(f.op_from) FROM facts f WHERE f.object_id = e.entity_id), 0), e.op_from))"
        f" FROM json_each(?) j JOIN entities e ON e.entity_id = j.value AND {open_at('e', view.known)}",
        (wanted,),
    ).fetchall()
    found = [
        Entity(
            number, name, declared or types.get(number, DEFAULT_TYPE), counts.get(number, 0), depths[number], created,
            updated, stated == MADE_UP, json.loads(extra),
        )
        for number, name, declared, stated, extra, created, updated in rows
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda e: (e.depth, -e.mentions, e.name, e.id)))


def _types(conn: sqlite3.Connection, view: View, wanted: str) -> dict[int, str]:
    """Return the first type but the default one that a seen statement gives each entity, of its first statements."""
    condition = view.where.sql or open_at("v", view.known)
    found: dict[int, tuple[int, str]] = {}
    for end in ("subject", "object"):
        rows = conn.execute(
            f"SELECT j.value, f.fact_id, f.{end}_type FROM json_each(?) j JOIN facts f ON f.vid IN"
            f" (SELECT x.vid FROM facts x WHERE x.{end}_id = j.value AND {open_at('x', view.known)}"
            f"  AND x.{end}_type <> '' AND x.{end}_type <> ? ORDER BY x.vid LIMIT ?)"
            f" JOIN versions v ON v.memory_id = f.memory_id AND ({condition})",
            (wanted, DEFAULT_TYPE, TYPES_READ, *view.where.params),
        )
        for number, fact, type_ in rows:
            if number not in found or fact < found[number][0]:
                found[number] = fact, type_
    return {number: type_ for number, (_, type_) in found.items()}
