"""Why a memory is among the answers to a question, or why not; and what a changed setting would change of that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.model.memory import Memory

FEEDBACK = ("confirmed", "partial", "ignored", "rejected")
"""What can become of a memory that was recalled (W37)."""


@dataclass(frozen=True)
class DormantMemory:
    """A current memory that nobody has touched for longer than `limit_days`; `activation` is shown, never ranked by."""

    id: int
    description: str
    idle_days: float
    limit_days: float
    recalls: int
    last_recall_ms: int | None
    activation: float
    reason: str


@dataclass(frozen=True)
class ChannelReceipt:
    """What one channel says of a memory: its rank, counted from 1, among `total`; None when it does not find it."""

    name: str
    rank: int | None
    total: int
    score: float | None = None
    why: str = ""
    parts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Refusal:
    """A rule that keeps a memory from being scored, with what it found: state, validity, scope, a chip, rejected."""

    rule: str
    detail: str


@dataclass(frozen=True)
class Explanation:
    """Why a question finds a memory, or why not (R9, W41).

    `found` tells whether it stands on the first page; `rank` and `score` are those of the query's channel, what they
    would be when `filtered` names rules that leave it out. `last_shown` is the end of the first page as (reference,
    score). `share` is how much of the question the memory covers, which has to reach `gate` to be put into a pack.
    """

    memory: Memory
    found: bool
    why: str
    rank: int | None
    total: int
    score: float | None
    channels: tuple[ChannelReceipt, ...]
    filtered: tuple[Refusal, ...] = ()
    terms: tuple[str, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)
    last_shown: tuple[str, float] | None = None
    share: float = 0.0
    gate: float = 0.0
    feedback: str = ""
    recalls: int = 0
    idle_days: float = 0.0
    activation: float = 1.0
    dormant: bool = False


@dataclass(frozen=True)
class Replayed:
    """A recent question with the memories that it finds now and would not then, or the other way round."""

    kind: str
    actor: str
    text: str
    goes: tuple[int, ...]
    comes: tuple[int, ...]


@dataclass(frozen=True)
class Rehearsal:
    """What changed settings would change: how many questions were asked again, and those with another result."""

    changes: Mapping[str, object]
    replayed: int
    changed: tuple[Replayed, ...]

    @property
    def goes(self) -> int:
        """Return how many results would go."""
        return sum(len(one.goes) for one in self.changed)

    @property
    def comes(self) -> int:
        """Return how many results would come."""
        return sum(len(one.comes) for one in self.changed)
