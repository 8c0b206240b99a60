"""What the owner sees besides memories: operations, review items, snapshots, findings, counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.model.enums import Origin, ReviewKind, ReviewState
from engine.model.packs import ContextPack as ContextPack
from engine.model.packs import LeftOut as LeftOut
from engine.model.packs import PackBudget as PackBudget
from engine.model.packs import PackSection as PackSection


@dataclass(frozen=True)
class Change:
    """One row that an operation changed: before and after as plain values; None where there was none."""

    table: str
    key: str
    before: Mapping[str, object] | None
    after: Mapping[str, object] | None


@dataclass(frozen=True)
class Operation:
    """One entry of the journal. `op` is the known-time; `run` groups the operations of an import or run."""

    op: int
    at_ms: int
    kind: str
    origin: Origin
    actor: str
    session: str | None
    workspace: str | None
    reason: str
    summary: str
    run: str | None
    undoes: int | None
    undone_by: int | None
    objects: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReviewItem:
    """One thing that waits for the owner, with what was seen and what would change."""

    id: int
    kind: ReviewKind
    state: ReviewState
    memory_id: int | None
    rival_id: int | None
    title: str
    evidence: Mapping[str, object]
    proposal: Mapping[str, object]
    opened_ms: int
    origin: Origin
    actor: str
    defer_until: int | None = None
    reason: str = ""


@dataclass(frozen=True)
class SnapshotInfo:
    """A verified copy of the store. `kind` is automatic, run or protection."""

    name: str
    kind: str
    at_ms: int
    bytes: int
    sha256: str
    memories: int
    op: int
    reason: str
    good: bool | None = None


@dataclass(frozen=True)
class Finding:
    """One result of a check: level ok, hint, warning or error, and how to mend it."""

    level: str
    check: str
    message: str
    mend: str = ""
    fixed: bool = False


@dataclass(frozen=True)
class Counts:
    """The numbers of the status line (C51): equal to what the lists show."""

    memories: int
    topics: int
    tasks: int
    rules: int
    tags: int
    review: int
    by_state: Mapping[str, int] = field(default_factory=dict)
    by_type: Mapping[str, int] = field(default_factory=dict)
    review_by_kind: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Named:
    """A tag or topic with how many current memories carry it."""

    code: str
    name: str
    count: int
    state: str = "active"
    description: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class TombstoneInfo:
    """Content that stays forgotten, and how often it was blocked since."""

    fingerprint: str
    memory_id: int | None
    reason: str
    at_ms: int
    blocked: int


@dataclass(frozen=True)
class SettingInfo:
    """One setting with its value in effect, where that comes from, and its bounds."""

    name: str
    value: object
    origin: str
    default: object
    kind: str
    low: int | None
    high: int | None
    choices: tuple[str, ...]
    env: str
    help: str
    pending: object | None = None


@dataclass(frozen=True)
class ImportReport:
    """What an import did or would do, and each problem with file and line.

    Of a directory every file counts once, of a knowledge graph, which is one file, every statement; `graph` has its
    entities, observations and relations. `by_type` counts what was created.
    """

    run: str | None
    dry_run: bool
    files: int
    created: int
    updated: int
    unchanged: int
    held_back: int
    quarantined: int
    blocked: int
    skipped: int
    by_type: Mapping[str, int]
    problems: tuple[Mapping[str, object], ...]
    snapshot: str | None = None
    graph: Mapping[str, int] = field(default_factory=dict)
    refused: int = 0
    indexes: int = 0

    def counted(self) -> dict[str, int]:
        """Return what became of everything that was read, by name; of a directory the numbers add up to `files`."""
        return {
            "created": self.created, "updated": self.updated, "unchanged": self.unchanged,
            "held_back": self.held_back, "quarantined": self.quarantined, "blocked": self.blocked,
            "refused": self.refused, "skipped": self.skipped, "indexes": self.indexes,
        }  # fmt: skip


@dataclass(frozen=True)
class SessionUse:
    """What a session was given: packs and tokens over its life, bytes since its last reset."""

    session: str
    agent: str
    workspace: str | None
    at_ms: int
    packs: int
    tokens: int
    bytes: int


@dataclass(frozen=True)
class MemoryUse:
    """How often a memory was injected, read, reported as used and recalled; kept apart, never ranked by (S43).

    `feedback` is what became of it last: confirmed, partial, ignored, rejected or empty; that alone counts (R10, W37).
    """

    injected: int = 0
    read: int = 0
    used: int = 0
    recalls: int = 0
    last_recall_ms: int | None = None
    feedback: str = ""
