"""The context pack as callers see it; apart from other records, because a hook loads little else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class PackSection:
    """One section of a pack with how much of its cap it uses; `unit` is chars, bytes, tokens or notes."""

    name: str
    text: str
    used: int
    cap: int
    unit: str


@dataclass(frozen=True)
class LeftOut:
    """A memory that a pack could have held.

    `reason` is budget (of the session), size (of the pack), number (of notes), baseline (number of those), repeat,
    off or relevance; `detail` compares figures: `0.04 < 0.10`.
    """

    id: int
    reason: str
    detail: str = ""


@dataclass(frozen=True)
class PackBudget:
    """The bytes of a session: its cap, the pools of bodies and gap cards, and what is spent before and after (S22)."""

    cap: int
    body_pool: int
    card_pool: int
    before: int
    after: int


@dataclass(frozen=True)
class ContextPack:
    """What an agent should read now, in sections of a fixed order with their sizes in tokens (R12).

    `parts` are the sections with text and caps, `reasons` say why a memory is in, `left_out` why one is not; `omitted`
    names those that matched and found no place. `repeated` tells that the question was answered just before (S21);
    `request` says why it is answered once more: verification, correction or basis (S26).
    """

    text: str
    sections: tuple[tuple[str, int], ...]
    injected: tuple[int, ...]
    omitted: tuple[tuple[int, str], ...]
    tokens: int
    parts: tuple[PackSection, ...] = ()
    reasons: Mapping[int, str] = field(default_factory=dict)
    left_out: tuple[LeftOut, ...] = ()
    budget: PackBudget | None = None
    repeated: bool = False
    request: str = ""
