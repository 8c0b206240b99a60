"""The repository of entities and facts: the statements that memories make, and whom they speak of (T1 to T4).

A fact belongs to a memory and is as current and as visible as that: forgetting, superseding or archiving the memory
hides it and restoring brings it back, without a row of its own.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from engine.model.memory import Triple
from engine.rules.textnorm import fold
from engine.rules.triples import exclude_each_other, normal_relation
from engine.store.rows import dump, marks
from engine.store.schema import ENTITIES, FACTS
from engine.store.transaction import Tx

MENTIONED, DECLARED, MADE_UP = "mentioned", "declared", "made_up"


@dataclass(frozen=True)
class Added:
    """What statements brought: relations that no current memory stated before, and entities not spoken of before."""

    relations: int = 0
    entities: int = 0

    def __add__(self, other: Added) -> Added:
        return Added(self.relations + other.relations, self.entities + other.entities)


@dataclass(frozen=True)
class Declared:
    """An entity as an importer found it; `extra` keeps what its file says besides, `made_up` that it is only named."""

    name: str
    type: str = ""
    extra: Mapping[str, object] = field(default_factory=dict)
    made_up: bool = False


def add_facts(
    tx: Tx,
    memory_id: int,
    triples: Iterable[Triple],
    *,
    types: Mapping[str, str] | None = None,
    mentions: Iterable[str] = (),
    confidence: float,
    speculative: bool,
) -> Added:
    """Project statements from a memory (T1): each once in a memory, however it is spelled.

    A type given with the triple wins over `types` (T4); one that comes later is added to a statement without (T2).
    """
    named = {fold(name): type_ for name, type_ in (types or {}).items()}
    known = _facts_of(tx, memory_id)
    added = Added()
    for triple in triples:
        subject_id, new_subject = entity_id(tx, triple.subject)
        object_id, new_object = entity_id(tx, triple.object)
        guess = speculative or triple.speculative
        values: dict[str, object] = {
            "subject_type": triple.subject_type or named.get(fold(triple.subject), ""),
            "object_type": triple.object_type or named.get(fold(triple.object), ""),
            "confidence": min(confidence, 0.6) if guess else confidence,
            "speculative": int(guess),
            "weight": triple.weight,
        }
        key = (subject_id, normal_relation(triple.relation), object_id)
        if key in known:
            _complete(tx, known[key], values)
            continue
        added += Added(not _is_stated(tx, *key), new_subject + new_object)
        known[key] = _open(
            tx, memory_id, subject_id=subject_id, object_id=object_id, subject=triple.subject,
            relation=triple.relation, object=triple.object, **values,
        )  # fmt: skip
    for name in mentions:
        subject_id, new = entity_id(tx, name)
        if (subject_id, "", None) not in known:
            known[subject_id, "", None] = _open(
                tx, memory_id, subject_id=subject_id, subject=name, relation="", object="", object_type="",
                subject_type=named.get(fold(name), ""), confidence=confidence, speculative=int(speculative),
            )  # fmt: skip
            added += Added(0, int(new))
    return added


_Key = tuple[int, str, int | None]


def _facts_of(tx: Tx, memory_id: int) -> dict[_Key, int]:
    rows = tx.conn.execute(
        "SELECT subject_id, relation, object_id, fact_id FROM facts WHERE memory_id = ? AND op_to IS NULL", (memory_id,)
    )
    return {(subject, normal_relation(relation), object): fact for subject, relation, object, fact in rows}


def _open(tx: Tx, memory_id: int, **values: object) -> int:
    number = tx.next_id("fact")
    tx.open(FACTS, {"fact_id": number, "memory_id": memory_id, **values})
    return number


def _complete(tx: Tx, fact_id: int, values: Mapping[str, object]) -> None:
    """Add to a statement what it lacks when it is made again: types, a weight, and that it is no guess."""
    row = tx.current(FACTS, fact_id) or {}
    changes = {k: values[k] for k in ("subject_type", "object_type") if values[k] and not row[k]}
    if values["weight"] is not None:
        changes["weight"] = values["weight"]
    if row["speculative"] and not values["speculative"]:
        changes |= {"speculative": 0, "confidence": values["confidence"]}
    tx.replace(FACTS, (fact_id,), changes)


def _is_stated(tx: Tx, subject_id: int, relation: str, object_id: int) -> bool:
    rows = tx.conn.execute(
        "SELECT DISTINCT f.relation FROM facts f JOIN states s ON s.memory_id = f.memory_id AND s.op_to IS NULL"
        " AND s.state = 'active' WHERE f.subject_id = ? AND f.object_id = ? AND f.op_to IS NULL",
        (subject_id, object_id),
    )
    return any(normal_relation(stated) == relation for (stated,) in rows)


def entity_id(tx: Tx, name: str) -> tuple[int, bool]:
    """Return the entity of a name in any case or width, and whether it had to be made (T2).

    A name that was spoken of before keeps its number, so that undo and redo meet the same entity. Its first spelling
    is shown; that of a mention which does not count any more, or not yet, gives way.
    """
    folded = fold(name)
    row = tx.conn.execute(
        "SELECT e.entity_id, e.name, e.stated, e.op_from, m.count FROM entities e"
        " LEFT JOIN ix_mentions m ON m.entity_id = e.entity_id WHERE e.folded = ? AND e.op_to IS NULL",
        (folded,),
    ).fetchone()
    if row is not None:
        number, shown, stated, begun, count = row
        if shown != name and stated == MENTIONED and begun != tx.op and not count:
            tx.replace(ENTITIES, (number,), {"name": name})
        return int(number), False
    before = tx.conn.execute("SELECT entity_id FROM entities WHERE folded = ? LIMIT 1", (folded,)).fetchone()
    number = int(before[0]) if before else tx.next_id("entity")
    tx.open(
        ENTITIES,
        {"entity_id": number, "folded": folded, "name": name, "type": "", "stated": MENTIONED, "extra": "{}"},
    )
    return number, True


def declare(tx: Tx, entities: Iterable[Declared]) -> int:
    """Record what an import says of its entities; returns how many rows began. An end made up never hides more."""
    changed = 0
    for entity in entities:
        if entity.made_up and _open_entity(tx.conn, entity.name):
            continue
        number, new = entity_id(tx, entity.name)
        stated = MADE_UP if entity.made_up else DECLARED
        values = {"name": entity.name, "type": entity.type, "stated": stated, "extra": dump(dict(entity.extra))}
        changed += tx.replace(ENTITIES, (number,), values) or new
    return changed


def undeclared(conn: sqlite3.Connection, entities: Iterable[Declared]) -> list[Declared]:
    """Return those entities of which an import says something new."""
    found = []
    for entity in entities:
        row = _open_entity(conn, entity.name)
        if row is None or (
            not entity.made_up and row != (entity.name, entity.type, DECLARED, dump(dict(entity.extra)))
        ):
            found.append(entity)
    return found


def _open_entity(conn: sqlite3.Connection, name: str) -> tuple[object, ...] | None:
    row: tuple[object, ...] | None = conn.execute(
        "SELECT name, type, stated, extra FROM entities WHERE folded = ? AND op_to IS NULL", (fold(name),)
    ).fetchone()
    return row


def close_facts(tx: Tx, memory_id: int, *, keep: Iterable[Triple] = (), mentions: Iterable[str] | None = None) -> int:
    """End the statements of a memory that are not among `keep`; returns how many. `mentions` None keeps them all."""
    kept = {(fold(t.subject), normal_relation(t.relation), fold(t.object)) for t in keep}
    if mentions is not None:
        kept |= {(fold(name), "", "") for name in mentions}
    rows = tx.conn.execute(
        "SELECT fact_id, subject, relation, object FROM facts WHERE memory_id = ? AND op_to IS NULL", (memory_id,)
    ).fetchall()
    gone = [
        fact for fact, subject, relation, object in rows
        if (relation or mentions is not None)
        and (fold(subject), normal_relation(relation), fold(object)) not in kept
    ]  # fmt: skip
    for fact in gone:
        tx.close(FACTS, fact)
    return len(gone)


def close_reworded(tx: Tx, memory_id: int, before: str, after: str) -> int:
    """End the statements of a memory that its new text does not bear out: an end that the old text named is gone."""
    old, new = fold(before), fold(after)
    rows = tx.conn.execute(
        "SELECT fact_id, subject, object FROM facts WHERE memory_id = ? AND op_to IS NULL", (memory_id,)
    ).fetchall()
    gone = [fact for fact, *ends in rows if any(fold(end) in old and fold(end) not in new for end in ends)]
    for fact in gone:
        tx.close(FACTS, fact)
    return len(gone)


def move_facts(tx: Tx, source: int, target: int) -> None:
    """Hand the statements of one memory to another; what the other states already stays where it was."""
    known = _facts_of(tx, target)
    for key, fact in _facts_of(tx, source).items():
        if key not in known:
            tx.replace(FACTS, (fact,), {"memory_id": target})


def rivals_of(tx: Tx, memory_id: int, admitted: str, values: Sequence[object]) -> list[int]:
    """Return the other memories whose current facts exclude one of this memory's (C14), oldest first.

    `admitted` is a condition over `versions v` with its values.
    """
    own = tx.conn.execute(
        "SELECT subject_id, relation, object FROM facts WHERE memory_id = ? AND op_to IS NULL AND object_id NOT NULL",
        (memory_id,),
    ).fetchall()
    rivals: set[int] = set()
    for subject_id, relation, object in own:
        if not exclude_each_other(relation, object, ""):
            continue
        spellings = spellings_of(tx.conn, normal_relation(relation))
        rows = tx.conn.execute(
            f"SELECT f.memory_id, f.object FROM facts f JOIN versions v ON v.memory_id = f.memory_id AND ({admitted})"
            f" WHERE f.op_to IS NULL AND f.relation IN ({marks(len(spellings))}) AND f.subject_id = ?"
            " AND f.memory_id <> ?",
            (*values, *spellings, subject_id, memory_id),
        )
        rivals |= {other for other, stated in rows if exclude_each_other(relation, object, stated)}
    return sorted(rivals)


def spellings_of(conn: sqlite3.Connection, relation: str) -> list[str]:
    """Return the ways in which facts spell a normal relation."""
    rows = conn.execute("SELECT DISTINCT relation FROM facts WHERE op_to IS NULL AND relation <> ''")
    return [stated for (stated,) in rows if normal_relation(stated) == relation]


def ends_of(conn: sqlite3.Connection, memory_id: int) -> set[int]:
    """Return the entities of which a memory ever spoke."""
    rows = conn.execute("SELECT subject_id, object_id FROM facts WHERE memory_id = ?", (memory_id,))
    return {end for ends in rows for end in ends if end is not None}


def erase_orphans(conn: sqlite3.Connection, entities: Iterable[int]) -> None:
    """Remove those entities of which no fact of any time speaks any more; inside an erasure (T17)."""
    conn.executemany(
        "DELETE FROM entities WHERE entity_id = ?1 AND NOT EXISTS (SELECT 1 FROM facts WHERE subject_id = ?1)"
        " AND NOT EXISTS (SELECT 1 FROM facts WHERE object_id = ?1)",
        [(entity,) for entity in sorted(entities)],
    )
