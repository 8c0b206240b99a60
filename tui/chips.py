"""Filter chips: OR inside a group, AND between groups (S64); as options to choose, as a line, as saved state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from engine.model.enums import Kind, Origin, State, Type
from engine.model.memory import Filter
from engine.model.records import Named
from tui.i18n import t
from tui.text import visible

_ENUMS: Mapping[str, tuple[str, type[Type] | type[Kind] | type[State] | type[Origin]]] = {
    "type": ("types", Type),
    "kind": ("kinds", Kind),
    "state": ("states", State),
    "origin": ("origins", Origin),
}
_NAMES = {"topic": "topics", "tag": "tags", "actor": "actors"}


def options(topics: Sequence[Named], tags: Sequence[Named], actors: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Return every chip as (`group:value`, label), the closed groups first."""
    closed = [
        (f"{group}:{member.value}", group, _word(group, member.value))
        for group, (_, enum) in _ENUMS.items()
        for member in enum
    ]
    named = [
        (f"{group}:{item.name}", group, f"{item.name} ({item.count})")
        for group, items in (("topic", topics), ("tag", tags))
        for item in items
    ]
    written = [(f"actor:{actor}", "actor", actor) for actor in actors]
    return [(id, f"{t(f'app.chip.{group}')}: {label}") for id, group, label in closed + named + written]


def chosen(flt: Filter) -> list[str]:
    """Return the chips of a filter as `group:value`."""
    closed = [f"{group}:{value.value}" for group, (field, _) in _ENUMS.items() for value in getattr(flt, field)]
    return closed + [f"{group}:{value}" for group, field in _NAMES.items() for value in getattr(flt, field)]


def changes(ids: Iterable[str]) -> dict[str, object]:
    """Return the filter's fields that these chips set; groups without a chip are emptied, unknown chips dropped."""
    groups: dict[str, list[str]] = {}
    for id in ids:
        group, _, value = id.partition(":")
        groups.setdefault(group, []).append(value)
    fields: dict[str, object] = {field: tuple(groups.get(group, ())) for group, field in _NAMES.items()}
    for group, (field, enum) in _ENUMS.items():
        known = {member.value: member for member in enum}
        fields[field] = tuple(known[value] for value in groups.get(group, ()) if value in known)
    return fields


def describe(flt: Filter) -> str:
    """Return the chips as one line, `type project or user · tag x`; empty without chips."""
    groups: dict[str, list[str]] = {}
    for id in chosen(flt):
        group, _, value = id.partition(":")
        groups.setdefault(group, []).append(_word(group, value))
    either = f" {t('app.filter.or')} "
    return " · ".join(f"{t(f'app.chip.{group}')} {either.join(words)}" for group, words in groups.items())


def to_state(flt: Filter) -> dict[str, Any]:
    """Return a filter as JSON values."""
    return {"text": flt.text, "chips": chosen(flt)}


def from_state(saved: Mapping[str, Any]) -> Filter:
    """Return a saved filter; whatever it does not understand is left out."""
    kept = saved.get("chips")
    fields = changes(id for id in kept if isinstance(id, str)) if isinstance(kept, list) else {}
    text = saved.get("text")
    return Filter(text=text if isinstance(text, str) else "", **fields)  # type: ignore[arg-type]


def _word(group: str, value: str) -> str:
    return t(f"app.{group}.{value}") if group in _ENUMS else visible(value)
