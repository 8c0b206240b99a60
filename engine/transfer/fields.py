"""What the keys of a header mean: type, tags, dates and the like, whatever their spelling or place (S2–S6)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from engine.model.enums import Kind, Type

MAX_TAGS, MAX_TAG = 20, 40
MAX_ALIASES, MAX_ALIAS = 24, 60
SEPARATORS = re.compile(r"[,，、;；\n]")
TRUE = frozenset({"true", "yes", "1"})

TYPE_WORDS: Mapping[str, Type] = {
    **dict.fromkeys(("user", "persona", "profile", "preference", "preferences", "用户", "偏好"), Type.USER),
    **dict.fromkeys(("feedback", "procedural", "rule", "lesson", "gotcha", "correction", "反馈"), Type.FEEDBACK),
    **dict.fromkeys(("project", "decision", "episodic", "task", "plan", "status", "goal", "项目"), Type.PROJECT),
    **dict.fromkeys(("reference", "semantic", "technique", "note", "fact", "skill", "concept", "参考"), Type.REFERENCE),
}
KIND_WORDS: Mapping[str, Kind] = {
    "episodic": Kind.EPISODE,
    "episode": Kind.EPISODE,
    "correction": Kind.CORRECTION,
    "reflection": Kind.REFLECTION,
}


@dataclass(frozen=True, slots=True)
class Found:
    """A value of a header with the key that holds it."""

    key: str
    value: object


class Fields:
    """A header's values by meaning; what is never asked for stays in `rest`.

    A key at the top level counts before one in the `metadata` block; case, `-` and `_` in keys do not matter.
    """

    def __init__(self, header: Mapping[str, object]) -> None:
        self.header = header
        self.by_meaning: dict[str, list[tuple[str, str]]] = {}
        self.used: set[tuple[str, str]] = set()
        metadata = header.get("metadata")
        self.metadata: Mapping[str, object] = metadata if isinstance(metadata, Mapping) else {}
        for place, keys in (("", header), ("metadata", self.metadata)):
            for key in keys:
                self.by_meaning.setdefault(meaning(key), []).append((place, key))

    def value(self, place: str, key: str) -> object:
        """Return the value of a key at the top or in the metadata block."""
        return (self.metadata if place else self.header)[key]

    def every(self, *names: str) -> list[Found]:
        """Return all values under these names, in the order of the names, top level first."""
        found = []
        for name in names:
            for place, key in self.by_meaning.get(name, ()):
                self.used.add((place, key))
                found.append(Found(key, self.value(place, key)))
        return found

    def first(self, *names: str) -> Found | None:
        """Return the first value under these names that is not empty."""
        return next((item for item in self.every(*names) if item.value not in (None, "", [])), None)

    def keep(self, key: str) -> None:
        """Leave a key in `rest` after all, because its value could not be used."""
        self.used = {place_key for place_key in self.used if place_key[1] != key}

    def rest(self) -> dict[str, object]:
        """Return every key and value that was not used, the metadata block's in its own mapping."""
        rest = {key: value for key, value in self.header.items() if ("", key) not in self.used}
        if self.metadata:
            inner = {key: value for key, value in self.metadata.items() if ("metadata", key) not in self.used}
            rest.pop("metadata", None)
            if inner:
                rest["metadata"] = inner
        return rest


def meaning(key: str) -> str:
    """Make keys comparable: `baselinePriority`, `baseline-priority` and `baseline_priority` are one."""
    return key.casefold().replace("-", "").replace("_", "").replace(" ", "")


def words(value: object) -> list[str]:
    """Return the items of a list, a comma string or a single value as text (S4)."""
    if value is None or value == "":
        return []
    if isinstance(value, Mapping):
        return [f"{key}:" if item is None else f"{key}: {item}" for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [word for item in value for word in ([line(item)] if is_scalar(item) else words(item)) if word]
    text = line(value)
    parts = text.split() if text.startswith("#") and "," not in text else SEPARATORS.split(text)
    return [part.strip() for part in parts if part.strip()]


def is_scalar(value: object) -> bool:
    """Tell whether a value is text, a number, a boolean or nothing."""
    return not isinstance(value, (Mapping, list, tuple))


def line(value: object) -> str:
    """Return a value as one line of text; a list joined, a boolean and null as YAML writes them."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ", ".join(line(item) for item in value)
    return " ".join(str(value).split())


def limited(items: list[str], most: int, longest: int) -> tuple[tuple[str, ...], bool]:
    """Return items without repetition, at most `most`, each cut to `longest` characters, and whether any was cut."""
    kept: dict[str, str] = {}
    cut = False
    for item in items:
        short = item[:longest].strip()
        cut = cut or len(item) > longest
        if short and short.casefold() not in kept:
            kept[short.casefold()] = short
    texts = tuple(kept.values())
    return texts[:most], cut or len(texts) > most


def is_true(value: object) -> bool:
    """Tell whether a value says yes: true, yes or 1 in any case, quoted or not (S6)."""
    return value is not None and str(value).strip().casefold() in TRUE


def type_of(word: str) -> tuple[Type, bool]:
    """Return the type for a written word, and whether that word is one of the four itself (S3)."""
    known = word.strip().casefold()
    mapped = TYPE_WORDS.get(known, Type.REFERENCE)
    return mapped, not known or known == mapped.value
