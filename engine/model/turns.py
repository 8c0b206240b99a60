"""A turn as callers give it and get it back: the frame, what was recalled for it, the card, its event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from engine.model.enums import Status


@dataclass(frozen=True)
class TagDraft:
    """A tag as an analysis names it (W10); everything but the name may be missing."""

    name: str
    type: str = ""
    definitions: tuple[str, ...] = ()
    dimensions: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()


@dataclass(frozen=True)
class TagTie:
    """A relation between two tags as an analysis names it; `strength` from 0 to 1 (W3)."""

    one: str
    other: str
    strength: float = 0.5


@dataclass(frozen=True)
class Preference:
    """How somebody wants things: a key, its value, how sure it is (0 to 1), and the memory that says so (W55)."""

    key: str
    value: str
    confidence: float = 0.5
    memory: int | None = None
    at_ms: int | None = None


@dataclass(frozen=True)
class Analysis:
    """What somebody made of a turn: the calling agent, a model, or local rules (R16).

    `perception` maps genre, time, scene, emotion, state, context and intent to words (W5). `found` is false when
    nothing could be read of it. `feedback` is confirmed, partial, rejected, ignored or empty and speaks of the card
    before.
    """

    perception: Mapping[str, str] = field(default_factory=dict)
    scene: str = ""
    scene_sub: str = ""
    route: str = ""
    injection: str = ""
    context_summary: str = ""
    tags: tuple[TagDraft, ...] = ()
    summary: str = ""
    overview: str = ""
    preferences: tuple[Preference, ...] = ()
    relations: tuple[TagTie, ...] = ()
    feedback: str = ""
    found: bool = False


class Analyst(Protocol):
    """The seam for a language model; each call may take seconds and may return anything, which is read tolerantly."""

    def perceive(self, text: str, history: str) -> str:
        """Return the JSON of a full analysis of what a user said; `history` lists the last cards (W7, W9)."""
        ...

    def keywords(self, text: str) -> str:
        """Return three to five key words, as JSON or parted by commas; asked when `perceive` brought no tag (W7)."""
        ...

    def conclude(self, user_input: str, response: str, history: str) -> str:
        """Return the JSON of a full analysis of a completed turn (W44)."""
        ...


@dataclass(frozen=True)
class Recollection:
    """One memory that a turn brought back, in as many parts as were asked for (W52, W53).

    `confidence` from 0 to 1 says how well it fits. `parts` are (name, text): summary, overview, original.
    """

    memory: int
    ref: str
    card: str
    parts: tuple[tuple[str, str], ...]
    tags: tuple[str, ...]
    confidence: float
    preferences: tuple[Preference, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class Frame:
    """The answer to the beginning of a turn: the pending card and what was recalled for it.

    `card` and `ref` are empty when nothing of the text can be found again, so that no frame was written (W43).
    `tier` says who analysed: agent, model, keywords or local. `waiting` are tags that begin with the completion, as
    unknown names do (R5). `context` is the text for the model in W54's order.
    """

    card: str
    ref: str
    thread: str
    tier: str
    perception: Mapping[str, str]
    scene: str
    scene_sub: str
    route: str
    injection: str
    tags: tuple[str, ...]
    waiting: tuple[str, ...]
    malformed: tuple[str, ...]
    memory: tuple[Recollection, ...]
    context: str
    context_summary: str
    feedback: str = ""
    notes: tuple[str, ...] = ()

    @property
    def intent(self) -> str:
        """Return what the user is after (W5)."""
        return self.perception.get("intent", "")


@dataclass(frozen=True)
class Card:
    """One turn with every field that the two-phase card has (W3); times are UTC milliseconds.

    `weight` is the one for cleaning (W60); `source_path` leads to the overview under its thread. `full_text` is db, or
    file where `full_text_path` holds what was said (W49).
    """

    id: str
    memory: int
    record_id: str
    event_id: str
    thread: str
    status: Status
    perception: Mapping[str, str]
    scene: str
    scene_sub: str
    content_tags: tuple[str, ...]
    relation_tags: tuple[TagTie, ...]
    summary: str
    overview: str
    preferences: tuple[Preference, ...]
    weight: float
    created_at: int
    last_access_at: int | None
    source_path: str
    feedback: str
    full_text: str = "db"
    full_text_path: str = ""


@dataclass(frozen=True)
class Event:
    """What happened at a moment (W57): `type` chat, file, action, task or system, `level` point or step of `parent`.

    `input` and `response` are the full text, empty where none is kept. `card` is the turn's card, empty for others.
    """

    id: int
    type: str
    level: str
    parent: int | None
    thread: str
    at_ms: int
    card: str
    memory: int | None
    input: str
    response: str
    steps: tuple[str, ...]
    context: str
    status: str
    route: str
    rating: str

    @property
    def said(self) -> str:
        """Return what was said, both sides; empty where no text is kept."""
        sides = (("user", self.input), ("agent", self.response))
        return "\n\n".join(f"{who}: {text}" for who, text in sides if text)


@dataclass(frozen=True)
class EventDraft:
    """An event to be noted beside the turns (W57); a step names its parent."""

    type: str = "action"
    level: str = "point"
    parent: int | None = None
    input: str = ""
    response: str = ""
    steps: tuple[str, ...] = ()
    context: str = ""
    status: str = "completed"
    route: str = ""
    rating: str = ""
    thread: str = ""


@dataclass(frozen=True)
class Nomination:
    """A card whose weight has sunk so far that it may be archived; the owner decides (W61)."""

    memory: int
    summary: str
    weight: float
    age_days: float
    idle_days: float | None


@dataclass(frozen=True)
class JobReport:
    """What became of waiting enrichment: numbers of jobs done, put off after an error, given up, and still waiting."""

    done: int = 0
    failed: int = 0
    given_up: int = 0
    waiting: int = 0
