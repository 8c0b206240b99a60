"""A memory as callers give it and as they get it back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.model.enums import Authority, Channel, Kind, Mode, Origin, SaidBy, Scope, State, Status, Type

OPEN_END: None = None
"""A validity without an end: true until further notice."""


@dataclass(frozen=True)
class Caller:
    """Who writes or reads, and where: fixed by the connection, never by a model's arguments.

    `workspace` and `session` are opaque names; `actor` is the client's own name ("claude-code", "owner").
    """

    origin: Origin
    actor: str = ""
    session: str | None = None
    workspace: str | None = None

    @property
    def is_owner(self) -> bool:
        """True for the terminal application and the owner's command line."""
        return self.origin in (Origin.TUI, Origin.CLI)


@dataclass(frozen=True)
class Triple:
    """One statement of the graph: subject, relation, object (T2, T3).

    The types of its ends, when it names them, win over `Draft.entity_types` (T4); `speculative` marks a guess of its
    own (T7); `weight` is a number that an importer found beside it.
    """

    subject: str
    relation: str
    object: str
    subject_type: str = ""
    object_type: str = ""
    speculative: bool = False
    weight: float | None = None


@dataclass(frozen=True)
class Draft:
    """What a caller asks to remember; everything but `text` is optional.

    `text` is one sentence (the description); `body` is Markdown. Times are UTC milliseconds, half-open.
    `imported_authority` and `extra` are honoured from importers only. `extra` keeps foreign keys, raw
    header, line ends and byte-order mark. `triples` are statements of the graph, `entity_types` types of entities
    by name, `mentions` entities that the memory describes without relating them.
    """

    text: str
    body: str = ""
    name: str = ""
    kind: Kind = Kind.FACT
    type: Type | None = None
    said_by: SaidBy | None = None
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    subject: str = ""
    valid_from: int | None = None
    valid_to: int | None = None
    dated_at: int | None = None
    scope: Scope | None = None
    scope_key: str | None = None
    thread: str | None = None
    seq: int | None = None
    status: Status = Status.COMPLETED
    confidence: float = 1.0
    baseline: bool = False
    baseline_priority: int = 0
    scene: str = ""
    scene_sub: str = ""
    perception: Mapping[str, object] = field(default_factory=dict)
    triples: tuple[Triple, ...] = ()
    entity_types: Mapping[str, str] = field(default_factory=dict)
    mentions: tuple[str, ...] = ()
    imported_authority: Authority | None = None
    imported_source: str = ""
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Memory:
    """One version of a memory with the state, tags and topics that went with it at the moment asked for.

    `revision` counts versions from 1; `known_from`/`known_to` are operation numbers (None = still known),
    `known_from_ms`/`known_to_ms` their times. `conflict` names current rivals that wait in review.
    """

    id: int
    uid: str
    revision: int
    name: str
    description: str
    body: str
    kind: Kind
    type: Type
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    topics: tuple[str, ...]
    subject: str
    valid_from: int
    valid_to: int | None
    known_from: int
    known_to: int | None
    known_from_ms: int
    known_to_ms: int | None
    recorded_ms: int
    dated_at: int | None
    scope: Scope
    scope_key: str | None
    thread: str | None
    seq: int | None
    source: str
    origin: Origin
    actor: str
    authority: Authority
    confidence: float
    speculative: bool
    manually_corrected: bool
    status: Status
    state: State
    cause: str
    target: int | None
    locked: bool
    baseline: bool
    baseline_priority: int
    scene: str
    scene_sub: str
    perception: Mapping[str, object]
    extra: Mapping[str, object]
    seen_again: int = 0
    conflict: tuple[int, ...] = ()
    damaged: bool = False
    """True when its stored text does not match its hash; the text is not given then."""

    @property
    def ref(self) -> str:
        """Return the reference with its revision: `mem-7@3`."""
        return f"mem-{self.id}@{self.revision}"


@dataclass(frozen=True)
class Filter:
    """Chips of a list or of a recall: OR inside a group, AND between groups (S64)."""

    types: tuple[Type, ...] = ()
    kinds: tuple[Kind, ...] = ()
    states: tuple[State, ...] = ()
    tags: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    origins: tuple[Origin, ...] = ()
    actors: tuple[str, ...] = ()
    scopes: tuple[Scope, ...] = ()
    text: str = ""
    locked: bool | None = None


@dataclass(frozen=True)
class AsOf:
    """A point on both time axes in UTC milliseconds; None means now (C1, C3)."""

    valid_ms: int | None = None
    known_ms: int | None = None

    @property
    def is_now(self) -> bool:
        """True when neither axis is moved."""
        return self.valid_ms is None and self.known_ms is None


NOW = AsOf()


@dataclass(frozen=True)
class RecallQuery:
    """A question to recall; `at` alone means true then, `known_at` alone believed then (C3).

    `channel` is how memories are scored (R11). `seeds`, `hops`, `days` and `session` bound the walk of the graph
    (T9, T12): entities to start from, depth 0 to 5, age of a statement, session that made it. With channel tags the
    filter's tags are what is asked for, in place of those in the text, and a card in `scene` gains (W38). `expand`
    brings other memories of the hits' topics along, behind the first page's (C18).
    """

    text: str
    mode: Mode = Mode.CURRENT
    at_ms: int | None = None
    known_ms: int | None = None
    filter: Filter = field(default_factory=Filter)
    everywhere: bool = False
    limit: int = 10
    cursor: str | None = None
    why: bool = False
    channel: Channel = Channel.FUSED
    seeds: tuple[str, ...] = ()
    hops: int = 2
    days: float | None = None
    session: str | None = None
    scene: str = ""
    scene_sub: str = ""
    expand: bool = False


@dataclass(frozen=True)
class Hit:
    """One answer of recall: the memory, its score and why it is there."""

    memory: Memory
    score: float
    why: str
    lines: tuple[int, int] | None = None
    passage: str = ""
    parts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class RecallPage:
    """A page of hits, best first, with the exact total and the cursor of the next page.

    `missing_tags` are names that no tag has (W11), `malformed_tags` those asked for that lack a definition or
    dimensions (W12).
    """

    hits: tuple[Hit, ...]
    total: int
    next_cursor: str | None
    notes: tuple[str, ...] = ()
    missing_tags: tuple[str, ...] = ()
    malformed_tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class WriteResult:
    """The answer to a write: `state` is active, pending (waits for the owner), quarantined or unchanged.

    `seen_again` is true when the same fact was already there and only gained evidence. `relations` and `entities`
    count what is new in the graph, `skipped` the incomplete triples (T4).
    """

    ref: str
    id: int
    revision: int
    state: str
    op: int | None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    seen_again: bool = False
    review: int | None = None
    relations: int = 0
    entities: int = 0
    skipped: int = 0


@dataclass(frozen=True)
class Page:
    """A piece of a memory's text by line, with the revision it was read at (S33)."""

    ref: str
    part: str
    text: str
    start_line: int
    end_line: int
    total_lines: int
    total_bytes: int
    next_line: int | None
    memory: Memory
