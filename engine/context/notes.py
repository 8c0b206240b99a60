"""One memory as it stands in a pack: heading with lines and age, its sentence, the passage in a fence (S19, S28)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from engine.context.fence import CUT, cut, fenced, harmless, quoted
from engine.model.enums import State
from engine.model.memory import Memory

NAME_CHARS = 80
SENTENCE_CHARS = 500
"""A description is one sentence; an imported one may be a page."""


class Depth(StrEnum):
    """How much of each memory a pack shows: nothing, its sentence, the best passage, or its text (W52, W53)."""

    OFF = "off"
    SUMMARY = "summary"
    DETAIL = "detail"
    FULL = "full"


def note(
    memory: Memory,
    lines: tuple[int, int] | None,
    *,
    depth: Depth,
    max_chars: int,
    stale_days: int,
    now_ms: int,
    why: str = "",
) -> str:
    """Return a memory as a block of a pack; without `lines` its text is shown from the start (S19).

    The heading names the lines that are really shown, counted from 1, and where a cut text is read on (C12).
    """
    passage, shown = "", None
    if depth is not Depth.SUMMARY and memory.body.strip():
        passage, shown = _passage(memory.body, lines if depth is Depth.DETAIL else None, max_chars)
    where = f":{shown[0]}-{shown[1]}" if shown else ""
    name = quoted(memory.name, NAME_CHARS) or f"mem-{memory.id}"
    spilled = f" (chars={len(memory.body)}, ref=mem-{memory.id})" if passage.endswith(CUT) else ""
    age = age_mark(memory, stale_days, now_ms)
    head = f"### {name}{where} [{memory.ref}]{age}{marks(memory, why)}{spilled}\n"
    return f"{head}> {sentence(memory)}\n{fenced(passage) if passage else ''}"


def sentence(memory: Memory, limit: int = SENTENCE_CHARS) -> str:
    """Return a memory's description on one line; a speculation says so (T7)."""
    return ("[推测] " if memory.speculative else "") + quoted(memory.description, limit)


def age_mark(memory: Memory, stale_days: int, now_ms: int) -> str:
    """Return `（保存于 N 天前）` from `stale_days` on; days begin at local midnight, the future is 0 (S28)."""
    dated = memory.dated_at if memory.dated_at is not None else memory.known_from_ms
    try:
        age = (datetime.fromtimestamp(now_ms / 1000).date() - datetime.fromtimestamp(dated / 1000).date()).days
    except (OverflowError, OSError, ValueError):  # a date outside the calendar tells no age
        return ""
    age = max(age, 0)
    return f"（保存于 {age} 天前）" if age >= stale_days else ""


def marks(memory: Memory, why: str = "") -> str:
    """Return what a reader has to know of a memory beside its text: conflicts, state, confidence, why it is there."""
    found = []
    if memory.conflict:
        found.append(f"in conflict with {', '.join(f'mem-{id_}' for id_ in memory.conflict)}; the owner decides")
    if memory.state is not State.ACTIVE:
        found.append(memory.state.value)
    if memory.confidence < 1:
        found.append(f"confidence {memory.confidence:.0%}")
    if why:
        found.append(why)
    return "".join(f" ({text})" for text in found)


def _passage(body: str, lines: tuple[int, int] | None, max_chars: int) -> tuple[str, tuple[int, int]]:
    """Return a piece of a body within `max_chars` with the lines that it covers."""
    first, last = lines or (1, None)
    text = "\n".join(body.split("\n")[first - 1 : last]).rstrip("\n")
    short = cut(harmless(text), max_chars)
    return short, (first, first + short.removesuffix(CUT).rstrip("\n").count("\n"))
