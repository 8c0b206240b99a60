"""What the graph answers: entities, the relations between them, and the memories that state them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Entity:
    """Something that facts speak of (T2): `depth` is its distance from where a walk began, in relations.

    `mentions` counts the standing facts that name it and how often each was said again. `made_up` marks an end that an
    imported file names without describing it; `extra` keeps what the file says besides.
    """

    id: int
    name: str
    type: str
    mentions: int
    depth: int
    created_ms: int
    updated_ms: int
    made_up: bool = False
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Relation:
    """One statement, however many memories make it (T3): `memories` names them, the newest first.

    `depth` is 1 for what touches the start of a walk. `score` is confidence · 0.5^(depth − 1). `session` and `at_ms`
    are those of the newest memory; `turn` is its place in a thread, if it has one.
    """

    subject: str
    relation: str
    object: str
    subject_id: int
    object_id: int
    depth: int
    score: float
    confidence: float
    speculative: bool
    weight: float | None
    at_ms: int
    session: str | None
    turn: int | None
    memories: tuple[int, ...]


@dataclass(frozen=True)
class GraphResult:
    """A part of the graph: entities by depth and mentions, relations by depth and score.

    `memories` are the numbers of those that state the relations or describe the entities where the walk began, best
    first. `cut` is true when the bounds of a walk left something out.
    """

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    memories: tuple[int, ...] = ()
    cut: bool = False


@dataclass(frozen=True)
class Introspection:
    """What a session put into the graph, or everything when no session is named (T15)."""

    session: str | None
    entities: tuple[Entity, ...]
    relations: int
    relation_types: Mapping[str, int]
    hotspots: tuple[Entity, ...]


@dataclass(frozen=True)
class FactConflict:
    """Current facts that exclude each other (C14): each object with the memories that state it, and their topics."""

    subject: str
    relation: str
    objects: tuple[tuple[str, tuple[int, ...]], ...]
    topics: tuple[str, ...] = ()


@dataclass(frozen=True)
class ArchivedFact:
    """A relation of an archived memory, and when it was archived (T20)."""

    subject: str
    relation: str
    object: str
    memory: int
    archived_ms: int
