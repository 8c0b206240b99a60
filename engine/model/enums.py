"""The closed vocabularies of a memory and of the doors it comes through."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Origin(StrEnum):
    """The door a write came through; fixed by code, never by the caller's words (C10)."""

    TUI = "tui"
    CLI = "cli"
    AGENT = "agent"
    FILE = "file"
    IMPORT = "import"
    SYSTEM = "system"


OWNER_ORIGINS = frozenset({Origin.TUI, Origin.CLI})


class Authority(IntEnum):
    """How much a claim weighs against another (design: doors, claims and authority)."""

    EXTERNAL = 1
    INFERRED = 2
    OBSERVED = 3
    IMPORTED = 4
    REPORTED = 5
    HUMAN = 6


class Kind(StrEnum):
    """What a memory is: a statement, a turn, a Markdown note, a correction or a reflection."""

    FACT = "fact"
    EPISODE = "episode"
    NOTE = "note"
    CORRECTION = "correction"
    REFLECTION = "reflection"


class Type(StrEnum):
    """What a memory is about (S3)."""

    USER = "user"
    FEEDBACK = "feedback"
    PROJECT = "project"
    REFERENCE = "reference"


class State(StrEnum):
    """Where a memory stands; only `active` and `superseded` are read by default, by their validity."""

    ACTIVE = "active"
    QUARANTINED = "quarantined"
    SUPERSEDED = "superseded"
    MERGED = "merged"
    ARCHIVED = "archived"
    DELETED = "deleted"


class Status(StrEnum):
    """How far an episode got (W45)."""

    PENDING = "pending"
    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


class Scope(StrEnum):
    """Where a memory applies (C9)."""

    GLOBAL = "global"
    WORKSPACE = "workspace"
    SESSION = "session"


class SaidBy(StrEnum):
    """Who is claimed to have said it, as an agent names it; folds source and speculation."""

    USER = "user"
    TOOL = "tool"
    ME = "me"
    GUESS = "guess"
    OUTSIDE = "outside"


class Mode(StrEnum):
    """Which memories recall looks at, before any scoring (C3)."""

    CURRENT = "current"
    ASSOCIATIVE = "associative"
    ARCHIVED = "archived"


class Channel(StrEnum):
    """How recall scores what the time mode let through; each runs alone, `fused` takes them together (R11)."""

    FUSED = "fused"
    TEXT = "text"
    TAGS = "tags"
    GRAPH = "graph"


class TagType(StrEnum):
    """What a tag speaks of (W14)."""

    CONTENT = "content"
    RELATION = "relation"
    SCENE = "scene"
    TASK = "task"
    CONSTRAINT = "constraint"
    INTENT = "intent"
    SKILL = "skill"
    SPECIAL = "special"


class TagStatus(StrEnum):
    """Where a tag stands: the first two are recalled, a merged one leads to another, a deprecated one is not (W23)."""

    UNEXAMINED = "unexamined"
    ACTIVE = "active"
    DEPRECATED = "deprecated"
    MERGED = "merged"


class TagLevel(StrEnum):
    """How close two tags are, strongest first (W21)."""

    SYNONYM = "synonym"
    RELATED = "related"
    LOOSE = "loose"


class ReviewKind(StrEnum):
    """What waits for the owner (design: one queue)."""

    QUARANTINE = "quarantine"
    HELD_BACK = "held_back"
    AUTHORITY = "authority"
    NEAR_DUPLICATE = "near_duplicate"
    CONTRADICTION = "contradiction"
    PRIVILEGE = "privilege"
    TOPIC_PROPOSAL = "topic_proposal"
    FORGET_REQUEST = "forget_request"
    TAG_MERGE = "tag_merge"
    TAG_RELATION = "tag_relation"


class ReviewState(StrEnum):
    """Where a review item stands."""

    OPEN = "open"
    DEFERRED = "deferred"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class Verb(StrEnum):
    """What the owner can do with a review item."""

    ACCEPT = "accept"
    REJECT = "reject"
    DEFER = "defer"
    SKIP = "skip"
