"""A pack while it grows: its sections, what stands in it, what was left out, and how much room there still is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from engine.context import budget
from engine.context.notes import Depth, note
from engine.context.sections import Provider
from engine.model.memory import Memory
from engine.model.packs import LeftOut, PackSection
from engine.rules.tokens import estimate_tokens
from engine.store.ephemeral import Ledger

FOR_BUDGET = ("budget", "size")
"""Reasons of what matched and found no place (S22, S29)."""

TAIL_CHARS = 700
"""Kept free for gap card, status line and mark when a prompt's additions are bounded (W68)."""

STATUS_BYTES, STATUS_TOKENS = 200, 50
"""Kept free for the status line."""


class Limits(NamedTuple):
    """The settings that size a pack.

    `tokens` bounds a pack (what is never refused may exceed it), `most_chars` what a prompt adds besides baseline
    (W68), `memories` the relevant ones (S15, C57), `session_bytes` the session.
    """

    tokens: int
    memories: int = 10
    baseline: int = 8
    max_chars: int = 1_500
    stale_days: int = 1
    session_bytes: int = 61_440
    depth: Depth = Depth.DETAIL
    most_chars: int | None = None


class Candidate(NamedTuple):
    """A memory that answers the question, with its best lines (None = its summary) and why it is there.

    `topic` is the heading under which it stands, empty for none; `sibling` marks what its topic brought along.
    """

    memory: Memory
    lines: tuple[int, int] | None = None
    why: str = "relevant"
    topic: str = ""
    sibling: bool = False

    @property
    def pick(self) -> str:
        """Return what names this choice in a signature (S21)."""
        return f"{self.memory.ref}:{self.lines}"


class Material(NamedTuple):
    """What a pack is made of: all in order, best first; `place` says where was looked.

    `beyond` are qualified memories past the configured number, `below` judged ones that did not qualify, with why.
    """

    question: str
    now_ms: int
    core: Sequence[Memory] = ()
    baseline: Sequence[Memory] = ()
    found: Sequence[Candidate] = ()
    beyond: Sequence[Memory] = ()
    below: Sequence[LeftOut] = ()
    archived: int = 0
    dormant: int = 0
    place: str = "global"
    providers: Mapping[str, Provider] = MappingProxyType({})


class Draft:
    """The sections so far; `whole` are memories of which nothing is missing, so that they need not stand twice."""

    def __init__(self, material: Material, limits: Limits) -> None:
        """Begin with nothing."""
        self.material = material
        self.limits = limits
        self.sections: list[PackSection] = []
        self.reasons: dict[int, str] = {}
        self.whole: set[int] = set()
        self.left_out: list[LeftOut] = []

    def add(self, name: str, text: str, cap: int, unit: str, used: int | None = None) -> None:
        """Add a section unless it is empty; `used` counts in `unit`, characters by default."""
        if text:
            self.sections.append(PackSection(name, text, len(text) if used is None else used, cap, unit))

    def take(self, memory: Memory, why: str, *, whole: bool = True) -> None:
        """Note that a memory stands in the pack."""
        self.reasons.setdefault(memory.id, why)
        if whole:
            self.whole.add(memory.id)

    def leave(self, memories: Sequence[Memory], reason: str, detail: str = "") -> None:
        """Note what does not stand in the pack."""
        self.left_out += [LeftOut(memory.id, reason, detail) for memory in memories]

    def note(
        self, memory: Memory, lines: tuple[int, int] | None = None, *, depth: Depth | None = None, why: str = ""
    ) -> str:
        """Return a memory as a block."""
        return note(
            memory,
            lines,
            depth=depth or self.limits.depth,
            max_chars=self.limits.max_chars,
            stale_days=self.limits.stale_days,
            now_ms=self.material.now_ms,
            why=why,
        )

    def text(self, *, without: str = "") -> str:
        """Return all sections as one text."""
        return "\n".join(section.text for section in self.sections if section.name != without)

    def text_of(self, name: str) -> str:
        """Return one section's text, empty when it is not there."""
        return "".join(section.text for section in self.sections if section.name == name)

    @property
    def for_budget(self) -> set[int]:
        """Return what found no place."""
        return {left.id for left in self.left_out if left.reason in FOR_BUDGET}


class Space:
    """What is left for relevant memories: tokens of this pack, characters of this prompt, bytes of the session."""

    def __init__(self, draft: Draft, ledger: Ledger | None) -> None:
        """Measure what stands already; baseline takes at most half of the tokens from what the question asks for."""
        limits, others = draft.limits, draft.text(without="baseline")
        baseline = min(estimate_tokens(draft.text_of("baseline")), limits.tokens // 2)
        self.tokens = limits.tokens - STATUS_TOKENS - estimate_tokens(others) - baseline
        self.chars = None if limits.most_chars is None else limits.most_chars - TAIL_CHARS - len(others)
        self.session = None
        if ledger is not None:
            spent = ledger.body_bytes + len(draft.text().encode()) + STATUS_BYTES
            self.session = budget.pools(limits.session_bytes).body - spent

    def refuses(self, block: str, *, always: bool) -> str:
        """Return why a block finds no place: `budget` of the session or `size` of the pack; empty when it fits.

        `always` passes the session's budget: a baseline note that the question hits (S23).
        """
        if self.session is not None and len(block.encode()) > self.session and not always:
            return "budget"
        too_long = self.chars is not None and len(block) > self.chars
        return "size" if too_long or estimate_tokens(block) > self.tokens else ""

    def spend(self, block: str) -> None:
        """Take a block's size away."""
        self.tokens -= estimate_tokens(block)
        if self.session is not None:
            self.session -= len(block.encode())
        if self.chars is not None:
            self.chars -= len(block)
