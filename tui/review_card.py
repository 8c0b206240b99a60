"""One review item in full: who asks, what was seen, what accepting and rejecting would change, the rival beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from textual.content import Content

from engine.model.enums import ReviewKind
from engine.model.memory import Memory
from engine.model.records import ReviewItem
from tui.diff import difference
from tui.i18n import has, t
from tui.markdown import render
from tui.text import moment, visible
from tui.widgets.card import badges, interval
from tui.words import door, review_kind

CONFLICTS = frozenset({ReviewKind.CONTRADICTION})
"""Kinds with four ways out: keep the old, take the new, each in its time, one merged text."""


def review_card(item: ReviewItem, memory: Memory | None, rival: Memory | None) -> Content:
    """Return the card of an item; `memory` is what waits, `rival` what it stands against."""
    lines = [
        Content.assemble((f"review-{item.id}", "bold $accent"), "  ", (review_kind(item.kind), "bold")),
        Content.styled(visible(f"{item.actor or '-'} · {door(item.origin)} · {moment(item.opened_ms)}"), "$text-muted"),
        Content(""),
        Content.styled(visible(item.title), "bold"),
        Content(""),
        Content.styled(t("review.would"), "bold $primary"),
        Content(visible(_would(item, memory, rival))),
    ]
    seen = [(key, value) for key, value in item.evidence.items() if value not in ("", None, [])]
    if seen:
        lines += [Content(""), Content.styled(t("review.seen"), "bold $primary")]
        lines += [Content.assemble((word("evidence", key) + "  ", "$text-muted"), _shown(value)) for key, value in seen]
    if memory is not None:
        lines += [Content(""), *_side("review.waiting", memory, rival)]
    if rival is not None:
        lines += [Content(""), *_side("review.rival", rival, None)]
    return Content("\n").join(lines)


def _side(title: str, memory: Memory, other: Memory | None) -> list[Content]:
    text = difference(other.description, memory.description) if other else Content(visible(memory.description))
    lines = [
        Content.assemble((t(title) + "  ", "bold $primary"), (memory.ref, "$accent"), " ", badges(memory)),
        text,
        Content.styled(f"{t('app.card.valid')} {interval(memory.valid_from, memory.valid_to)}", "$text-muted"),
    ]
    return [*lines, render(memory.body)] if memory.body else lines


def _would(item: ReviewItem, memory: Memory | None, rival: Memory | None) -> str:
    """Return in words what accepting and rejecting does; a kind without its own text shows its proposal."""
    key = f"review.effect.{item.kind.value}"
    if not has(key):
        return ", ".join(f"{name}: {value}" for name, value in item.proposal.items()) or "-"
    mine = f"mem-{item.memory_id}" if item.memory_id else "-"
    other = f"mem-{item.rival_id}" if item.rival_id else "-"
    if item.kind is ReviewKind.QUARANTINE and item.proposal.get("replaces"):
        key = "review.effect.replaces"
        other = f"mem-{item.proposal['replaces']}"
    more: Mapping[ReviewKind, Callable[[], object]] = {
        ReviewKind.TOPIC_PROPOSAL: lambda: item.proposal.get("topic", item.title),
        ReviewKind.FORGET_REQUEST: lambda: _count(item.proposal.get("ids")),
        ReviewKind.TAG_RELATION: lambda: f"{item.title}, {word('level', str(item.proposal.get('level', '')))}",
        ReviewKind.TAG_MERGE: lambda: item.title,
        ReviewKind.PRIVILEGE: lambda: ", ".join(f"{name} = {value}" for name, value in item.proposal.items()),
    }
    return t(key, mine=mine, rival=other, what=more.get(item.kind, lambda: "")())


def _count(ids: object) -> int:
    return len(ids) if isinstance(ids, list) else 0


def word(group: str, name: str) -> str:
    """Return the interface's word for a name of the engine, else the name itself."""
    key = f"review.{group}.{name}"
    return t(key) if has(key) else name.replace("_", " ")


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(_shown(part) for part in value[:20]) + (" ..." if len(value) > 20 else "")
    if isinstance(value, Mapping):
        return " ".join(_shown(part) for part in value.values())
    return visible(str(value))
