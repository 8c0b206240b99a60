"""The vocabulary as callers get it: tags with their relations and numbers, plans and reports of merges, maps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.model.enums import TagLevel, TagStatus, TagType
from engine.model.memory import Hit


@dataclass(frozen=True)
class TagLine:
    """One row of a list of tags. `cards` counts current memories; times are UTC milliseconds, None = never.

    `merged_to` is the name of the tag that a merged one leads to. `lacks` names what recall reports as malformed
    (W12): definition, dimensions or form.
    """

    code: str
    name: str
    type: TagType
    status: TagStatus
    source: str
    definition: str
    cards: int
    last_ms: int | None
    merged_to: str = ""
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True)
class TagRelation:
    """A tag's relation to another one."""

    code: str
    name: str
    level: TagLevel
    status: TagStatus


@dataclass(frozen=True)
class TagStats:
    """Numbers of a tag, computed when asked for (W31).

    `hit_count` counts the current memories that carry it, `association_count` the tags it stands beside or is related
    to; `avg_weight` is the mean confidence of those memories, 0.5 without any. Times are UTC milliseconds.
    """

    hit_count: int
    first_seen_ms: int | None
    last_hit_ms: int | None
    association_count: int
    avg_weight: float


@dataclass(frozen=True)
class TagView:
    """A tag in full. `redirects` are names of tags merged into it; `together` pairs (name, memories with both)."""

    code: str
    name: str
    type: TagType
    status: TagStatus
    source: str
    definition: str
    dimensions: tuple[str, ...]
    synonyms: tuple[str, ...]
    merged_to: str
    redirects: tuple[str, ...]
    relations: tuple[TagRelation, ...]
    together: tuple[tuple[str, int], ...]
    cards: int
    stats: TagStats
    lacks: tuple[str, ...]
    created_ms: int | None
    updated_ms: int | None


@dataclass(frozen=True)
class TagResult:
    """The answer to a change of the vocabulary; `op` is None when nothing changed, `review` an item that waits."""

    code: str
    name: str
    status: TagStatus
    op: int | None
    notes: tuple[str, ...] = ()
    review: int | None = None


@dataclass(frozen=True)
class RelationChange:
    """What a merge does with one relation of a source: `how` is moved, collapsed or dropped; `level` the one after."""

    source: str
    other: str
    how: str
    level: TagLevel | None


@dataclass(frozen=True)
class QueryEffect:
    """A recent question and the memories that the tags channel finds for it before and after a merge, best first."""

    query: str
    before: tuple[int, ...]
    after: tuple[int, ...]

    @property
    def changes(self) -> bool:
        """Tell whether the merge makes a difference to the question."""
        return self.before != self.after


@dataclass(frozen=True)
class MergePlan:
    """What merging tags would do, as of now; nothing is written (R6).

    `revision` stands for everything that the plan rests on: when any of it changes, the plan is stale. `moves` are
    memories that get the target's tag in place of a source's, `keeps` those that carry the target already.
    `tags_before` and `tags_after` map a number of tags to how many of these memories have so many. `redirects` are
    names that led to a source. `rules` and `tasks` name those that speak of the tags. `queries` are the recent
    questions that would be answered differently, of `queries_tried`.
    """

    confirm: str
    revision: str
    sources: tuple[TagLine, ...]
    target: TagLine
    moves: tuple[int, ...]
    keeps: tuple[int, ...]
    tags_before: Mapping[int, int]
    tags_after: Mapping[int, int]
    relations: tuple[RelationChange, ...]
    redirects: tuple[str, ...]
    rules: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    queries: tuple[QueryEffect, ...] = ()
    queries_tried: int = 0


@dataclass(frozen=True)
class MergeReport:
    """What a merge did: `op` can be taken back while nothing was built on it; `snapshot` was made before it."""

    op: int
    snapshot: str
    sources: tuple[str, ...]
    target: str
    moved: int
    kept: int
    relations: Mapping[str, int]
    redirects: int


@dataclass(frozen=True)
class ActionResult:
    """What became of one action of a batch; `code` is an error code when it was refused (W27)."""

    number: int
    action: str
    ok: bool
    code: str = ""
    message: str = ""
    review: int | None = None


@dataclass(frozen=True)
class Evolution:
    """What became of a batch of actions: one operation, None when nothing changed (W27)."""

    op: int | None
    results: tuple[ActionResult, ...]


@dataclass(frozen=True)
class EgoNode:
    """A tag in the surroundings of another, `hops` relations away."""

    code: str
    name: str
    status: TagStatus
    cards: int
    hops: int


@dataclass(frozen=True)
class EgoGraph:
    """The surroundings of a tag: nodes by distance, then name; edges as pairs of codes with their level.

    `more` counts nodes that were left out because the graph would be too large to draw.
    """

    center: str
    nodes: tuple[EgoNode, ...]
    edges: tuple[tuple[str, str, TagLevel], ...]
    more: int = 0


@dataclass(frozen=True)
class Star:
    """A tag on the star map: `brightness` from 0 to 1 grows with its mentions and fades with time (T48)."""

    code: str
    name: str
    status: TagStatus
    mentions: int
    last_ms: int | None
    brightness: float


@dataclass(frozen=True)
class TagMap:
    """All recallable tags, the most mentioned first, and the relations between them with the time each was made."""

    stars: tuple[Star, ...]
    edges: tuple[tuple[str, str, TagLevel, int | None], ...] = field(default=())


@dataclass(frozen=True)
class GovernReport:
    """What a round of upkeep of the vocabulary did and proposed, with the name of its run (R24)."""

    run: str | None
    op: int | None
    snapshot: str | None
    deprecated: tuple[str, ...]
    proposed: tuple[tuple[str, str, TagLevel], ...]
    malformed: tuple[str, ...]


@dataclass(frozen=True)
class TagCards:
    """What tags find: the cards, best first, the codes that were searched, and the names that are no tags.

    `missing` are unknown names, `dropped` deprecated ones, `malformed` tags that lack a definition or dimensions (W12).
    """

    hits: tuple[Hit, ...]
    codes: tuple[str, ...]
    missing: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    malformed: tuple[str, ...] = ()
