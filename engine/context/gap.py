"""The gap card: what was not shown and the one thing to do about it, said only when there is a gap (S24)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from engine.context.fence import quoted
from engine.model.memory import Memory

MAX_BYTES = 512
HEADING = "## Not shown\n"
CLUE_CHARS = 80
PLACE_CHARS = 60


class Gap(NamedTuple):
    """What a pack leaves out: notes that match and were not shown, best first, and how many of them for budget.

    `asked` is true when nothing matched although somebody asks after their own history; `archived` counts what would
    match among archived memories, `dormant` what would among those that strict recall passes over (R8); `place` says
    where was looked.
    """

    left_out: Sequence[Memory]
    for_budget: int = 0
    asked: bool = False
    archived: int = 0
    place: str = "global"
    dormant: int = 0


def card(gap: Gap) -> str:
    """Return the card, at most MAX_BYTES of UTF-8, or an empty text when there is no gap to speak of."""
    place = quoted(gap.place, PLACE_CHARS)
    if gap.left_out:
        best = gap.left_out[0]
        count = f"{len(gap.left_out)} more matching note{'s' if len(gap.left_out) > 1 else ''}"
        budget = f", {gap.for_budget} for budget" if gap.for_budget else ""
        action = f" [mem-{best.id}]. Next: read mem-{best.id}, or recall with your own words.\n"
        return _within(f"{HEADING}{count}{budget} ({place}). Best: ", _clue(best), action + _dormant(gap.dormant))
    if gap.dormant:
        return _within(f"{HEADING}{_dormant(gap.dormant)}", "", "")
    if not gap.asked:
        return ""
    if gap.archived:
        found = f"{gap.archived} archived note{'s' if gap.archived > 1 else ''} would match"
        return _within(f"{HEADING}0 current notes match ({place}); {found}. Next: recall with mode=archived.\n", "", "")
    hint = "Next: recall with other words; if that finds it, add your words to the note as an alias."
    return _within(f"{HEADING}0 notes match ({place}). {hint}\n", "", "")


def _dormant(count: int) -> str:
    if not count:
        return ""
    matches = "note matches" if count == 1 else "notes match"
    return f"{count} dormant {matches}, untouched for long. Next: recall with mode=associative.\n"


def signature(text: str) -> str:
    """Return by what the same card is known again."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _clue(memory: Memory) -> str:
    return quoted(memory.description or memory.name, CLUE_CHARS)


def _within(before: str, clue: str, after: str) -> str:
    """Return the parts as one text; a clue too long in bytes gives way at its end."""
    room = MAX_BYTES - len((before + after).encode())
    short = clue.encode()[: max(room, 0)].decode("utf-8", "ignore")
    return f"{before}{short}{after}"
