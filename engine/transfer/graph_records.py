"""The records of a knowledge graph file: entities and relations in the spellings that programs give them.

The reference form is one JSON object a line (or one object with both lists). Variants name the keys otherwise, leave
out the type, write times as seconds, or give observations as objects. Nothing here knows what becomes of a record.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path

from engine.model.errors import invalid
from engine.rules.textnorm import clean_input
from engine.transfer.dates import to_ms
from engine.transfer.decoding import UTF16, decode
from engine.transfer.plan import Problem, Progress
from engine.transfer.walk import reason

WHOLE_LIMIT = 64 * 1024 * 1024
"""A file that is one JSON value has to be read in one piece; lines are read one by one."""

EVERY = 1_000
_DECODER = json.JSONDecoder()

FROM = ("from", "from_entity", "fromEntity", "source", "subject")
TO = ("to", "to_entity", "toEntity", "target", "object")
WORD = ("relationType", "relation_type", "relation", "predicate")
KIND = ("entityType", "entity_type")
TEXT = ("text", "content", "contents", "observation", "value")
MADE = ("timestamp", "createdAt", "created_at", "created", "date", "_savedAt")
BEGINS = ("validFrom", "valid_from")
ENDS = ("validTo", "valid_to")
_OWN_WORDS = frozenset(("type", "_type"))


@dataclass(frozen=True, slots=True)
class Told:
    """One observation and when it was made."""

    text: str
    at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class RawEntity:
    """An entity as one record gives it."""

    line: int
    name: str
    type: str
    observations: tuple[Told, ...]
    made_ms: int | None = None
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RawRelation:
    """A relation as one record gives it; times are UTC milliseconds."""

    line: int
    subject: str
    relation: str
    end: str
    made_ms: int | None = None
    valid_from: int | None = None
    valid_to: int | None = None
    weight: float | None = None
    extra: Mapping[str, object] = field(default_factory=dict)


Record = RawEntity | RawRelation


def read_records(
    path: Path, problems: list[Problem], *, whole: bool, zone: tzinfo | None, progress: Progress | None
) -> Iterator[Record]:
    """Yield the records of a file in its order; what is no record leaves a line in `problems`.

    `whole` reads the file as one JSON value. Raises invalid_argument when the file cannot be read at all.
    """
    try:
        values = _whole(path) if whole else _by_line(path, problems, progress)
        for line, value in values:
            record = _record(line, value, zone) if isinstance(value, dict) else None
            if record is None:
                problems.append(Problem(path.name, line, "skipped", "neither an entity nor a relation"))
            else:
                yield record
    except OSError as error:
        raise invalid(f"{path.name} cannot be read: {reason(error)}", "check the permissions") from error


def _whole(path: Path) -> Iterator[tuple[int, object]]:
    size = path.stat().st_size
    if size > WHOLE_LIMIT:
        raise invalid(f"{path.name} is one JSON value of {size:,} bytes", "write it as JSON lines, one object a line")
    try:
        value = json.loads(decode(path.read_bytes()).text)
    except (ValueError, RecursionError) as error:
        raise invalid(f"{path.name} is no whole JSON: {str(error)[:120]}", "save or export it again") from error
    lists = [value] if isinstance(value, list) else [value.get("entities"), value.get("relations")]
    for records in lists:
        for record in records if isinstance(records, list) else ():
            yield 0, record


def _by_line(path: Path, problems: list[Problem], progress: Progress | None) -> Iterator[tuple[int, object]]:
    size = path.stat().st_size
    read = 0
    for number, (text, length) in enumerate(_lines(path), 1):
        read += length
        if progress and number % EVERY == 0:
            progress(read, size)
        found, broken = _objects(text)
        if len(found) > 1:
            problems.append(
                Problem(path.name, number, "glued_objects", f"{len(found)} objects in one line", "each was taken")
            )
        if broken:
            problems.append(Problem(path.name, number, "unreadable", "no JSON object", "the other lines were taken"))
        yield from ((number, value) for value in found)
    if progress:
        progress(size, size)


def _lines(path: Path) -> Iterator[tuple[str, int]]:
    with path.open("rb") as file:
        if file.read(2) in (mark for mark, _ in UTF16):
            file.seek(0)
            for line in decode(file.read()).text.split("\n"):
                yield line, 2 * len(line)
            return
        file.seek(0)
        for raw in file:
            yield decode(raw.rstrip(b"\r\n")).text, len(raw)


def _objects(text: str) -> tuple[list[object], bool]:
    """Return the JSON values that stand one after the other in a line, and whether something else does too."""
    found: list[object] = []
    at = 0
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        if at >= len(text):
            return found, False
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return found, True
        found.append(value)


def _record(line: int, value: Mapping[str, object], zone: tzinfo | None) -> Record | None:
    subject, end = _text(value, FROM), _text(value, TO)
    if subject and end:
        return _relation(line, value, subject, end, zone)
    name = _text(value, ("name",))
    if not name:
        return None
    kind = _text(value, KIND)
    if not kind and isinstance(value.get("type"), str) and value["type"] != "entity":
        kind = _text(value, ("type",))
    given = value.get("observations")
    made = _moment(value, MADE, zone)
    told = tuple(_told(item, zone) for item in (given if isinstance(given, list) else [given]) if item is not None)
    taken = {"name", "observations", *KIND, *_OWN_WORDS}
    return RawEntity(line, name, kind, tuple(t for t in told if t.text), made, _rest(value, taken))


def _relation(line: int, value: Mapping[str, object], subject: str, end: str, zone: tzinfo | None) -> RawRelation:
    word = _text(value, WORD)
    if not word and value.get("type") != "relation":
        word = _text(value, ("type",))
    weight = value.get("weight")
    number = float(weight) if isinstance(weight, int | float) and not isinstance(weight, bool) else None
    return RawRelation(
        line, subject, word, end, _moment(value, MADE, zone), _moment(value, BEGINS, zone),
        _moment(value, ENDS, zone), number if number is None or math.isfinite(number) else None,
        _rest(value, {*FROM, *TO, *WORD, *BEGINS, *ENDS, *_OWN_WORDS, "weight"}),
    )  # fmt: skip


def _told(item: object, zone: tzinfo | None) -> Told:
    if isinstance(item, dict):
        return Told(_text(item, TEXT), _moment(item, MADE, zone))
    return Told(" ".join(clean_input(str(item)).split(" ")).strip())


def _text(value: Mapping[str, object], keys: tuple[str, ...]) -> str:
    for key in keys:
        found = value.get(key)
        if isinstance(found, str | int | float) and not isinstance(found, bool):
            return clean_input(str(found)).strip()
    return ""


def _moment(value: Mapping[str, object], keys: tuple[str, ...], zone: tzinfo | None) -> int | None:
    return next((ms for key in keys if (ms := to_ms(value.get(key), zone)) is not None), None)


def _rest(value: Mapping[str, object], taken: set[str]) -> dict[str, object]:
    """Return what a record says besides, so that nothing of it is lost."""
    return {str(key): item for key, item in value.items() if key not in taken and item is not None}
