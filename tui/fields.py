"""The fields of a memory that a person edits: as text in a form, as values for the engine, compared three ways."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from engine.model.enums import Type
from engine.model.memory import Draft, Memory
from tui.dates import parse_moment
from tui.text import moment

FIELDS = (
    "description", "type", "name", "subject", "topics", "tags", "aliases", "valid_from", "valid_to", "baseline", "body",
)  # fmt: skip
"""In the order of the form."""

WORDS = ("topics", "tags", "aliases")
TIMES = ("valid_from", "valid_to")
_COMMA = re.compile(r"\s*[,，、;；]\s*")
_TAGS = re.compile(r"[\s,，、;；#＃]+")


def as_text(memory: Memory | None, field: str) -> str:
    """Return a field of a memory as the form shows it; a new memory's fields are empty."""
    if memory is None:
        return ""
    value = getattr(memory, field)
    if field in WORDS:
        return ", ".join(value)
    if field in TIMES:
        return moment(value)
    if field == "type":
        return value.value if value else ""
    if field == "baseline":
        return "yes" if value else ""
    return str(value)


def as_value(field: str, text: str, now_ms: int) -> object:
    """Return what the engine takes for a field's text; a date that is none raises `invalid_argument`."""
    if field in WORDS:
        return tuple(word for word in (_TAGS if field == "tags" else _COMMA).split(text.strip()) if word)
    if field in TIMES:
        return parse_moment(text, now_ms) if text.strip() else None
    if field == "baseline":
        return bool(text)
    return text if field == "body" else text.strip()


def changes(base: Memory, texts: Mapping[str, str], now_ms: int) -> dict[str, object]:
    """Return the fields whose text differs from `base`, as values for `Engine.edit`."""
    return {
        field: as_value(field, text, now_ms)
        for field, text in texts.items()
        if text != as_text(base, field) and not (field == "type" and not text)
    }


def draft(texts: Mapping[str, str], now_ms: int) -> Draft:
    """Return a new memory from a form's texts."""
    given = {field: as_value(field, text, now_ms) for field, text in texts.items() if text}
    given["text"] = given.pop("description", "")
    if "type" in given:
        given["type"] = Type(str(given["type"]))
    return Draft(**given)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Merged:
    """One field of a write conflict: the three texts and the side that is taken, "" while undecided."""

    field: str
    base: str
    theirs: str
    yours: str
    side: str

    @property
    def result(self) -> str:
        """Return the text of the side that is taken; yours while undecided."""
        return self.theirs if self.side == "theirs" else self.yours


def three_way(base: Memory, theirs: Memory, yours: Mapping[str, str]) -> list[Merged]:
    """Return every field that either side changed; where only one did, its side is taken already."""
    merged = []
    for field in FIELDS:
        was, now = as_text(base, field), as_text(theirs, field)
        mine = yours.get(field, was)
        if was == now == mine:
            continue
        side = "yours" if now in (was, mine) else "theirs" if mine == was else ""
        merged.append(Merged(field, was, now, mine, side))
    return merged
