"""One Markdown file to a `ParsedMemory`: what its header says, before any other file is looked at."""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from engine.model.enums import Kind, Type
from engine.transfer.content import (
    Reader,
    Source,
    first_heading,
    first_sentence,
    open_reader,
    read_attributes,
    read_links,
    read_observations,
    read_parts,
    tags_in_text,
)
from engine.transfer.dates import day_in_name, to_ms
from engine.transfer.fields import (
    KIND_WORDS,
    MAX_ALIAS,
    MAX_ALIASES,
    MAX_TAG,
    MAX_TAGS,
    TRUE,
    Found,
    is_true,
    limited,
    line,
    type_of,
    words,
)
from engine.transfer.frontmatter import Document, render
from engine.transfer.plan import ParsedMemory, Planned, Problem

PERSONA_FILES = frozenset({"soul.md", "identity.md", "user_persona.md", "persona.md"})
UPDATED = (
    *("modified", "updated", "lastupdated", "updatedat", "dateupdated"),
    *("datemodified", "lastmodified", "modifiedat"),
)
SEEN = ("lastverified", "lastreviewed", "date", "archived", "archivedat")
CREATED = ("created", "createdat", "datecreated", "creationdate")
ARCHIVED_WORDS = frozenset({"archived", "已归档", "归档"})
SUPERSEDED_WORDS = frozenset({"superseded", "replaced", "已取代", "被取代"})
NO = frozenset({"", "false", "no", "0", "null", "none"})


class Typed(NamedTuple):
    """What a header says about the type; the names are those of `ParsedMemory`, as in the tuples below."""

    type: Type
    type_word: str
    kind: Kind
    persona: bool


class Worded(NamedTuple):
    """Name, title and description, and which of them the file does not state."""

    name: str
    title: str
    description: str
    made_up: tuple[str, ...]


class Labels(NamedTuple):
    """Tags, aliases and baseline."""

    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    baseline: bool
    baseline_priority: int | None


class Dates(NamedTuple):
    """Moments in UTC milliseconds, and where `dated_at` comes from: a key, `name` or `file`."""

    created_at: int | None
    updated_at: int | None
    valid_from: int | None
    valid_to: int | None
    dated_at: int
    dated_by: str


class Standing(NamedTuple):
    """Status, archive and supersession as written."""

    state: Planned
    state_reason: str
    status: str
    supersedes: tuple[str, ...]
    superseded_by: str | None


def read_memory(document: Document, source: Source) -> tuple[ParsedMemory, list[Problem]]:
    """Make a memory of a document; links and supersession hold targets as written, the state is a first guess."""
    reader = open_reader(document, source)
    typed = read_type(reader)
    memory = ParsedMemory(
        source_path=source.path,
        workspace=source.workspace,
        body=document.body,
        **typed._asdict(),
        **read_words(reader)._asdict(),
        **read_labels(reader)._asdict(),
        **read_dates(reader)._asdict(),
        **read_standing(reader)._asdict(),
        links=read_links(reader),
        headings=tuple(heading.text for heading in reader.headings),
        observations=read_observations(reader),
        parts=read_parts(reader),
        attributes=read_attributes(reader, typed.persona),
        extra=reader.fields.rest(),
        header_text=document.header_text,
        body_line=document.body_line,
        eol=document.eol,
        bom=document.bom,
        encoding=document.encoding,
        raw=document.raw,
        sha256=hashlib.sha256(render(document)).hexdigest(),
        file_mtime=source.mtime_ms,
    )
    return memory, reader.report.problems


def read_type(reader: Reader) -> Typed:
    """Read the type: top level before the metadata block, a fifth word mapped to one of the four and kept (S3)."""
    base = reader.source.base
    persona = base.lower() in PERSONA_FILES
    stated = [item for item in reader.fields.every("type") if item.value not in (None, "", [])]
    if not stated:
        if reader.has_header:
            reader.report.add("no_type", "no type is stated", "reference")
        return Typed(Type.USER if base == "USER.md" else Type.REFERENCE, "", Kind.NOTE, persona)
    word = line(stated[0].value)
    others = [line(item.value) for item in stated[1:] if line(item.value).casefold() != word.casefold()]
    if others:
        reader.report.add("type_conflict", "the type is stated twice", f"{word}, not {', '.join(others)}", "type")
    mapped, own = type_of(word)
    if not own:
        why = f"{word} is none of the four types"
        reader.report.add("mapped", why, f"{mapped.value}, the word is kept", "type")
    known = word.casefold()
    return Typed(mapped, word, KIND_WORDS.get(known, Kind.NOTE), persona or known == "persona")


def read_words(reader: Reader) -> Worded:
    """Read name, title and description; what is not stated comes from the first heading, the file name, the text."""
    title = reader.fields.first("title")
    titled = line(title.value) if title else first_heading(reader.document.body, reader.headings)
    name = reader.fields.first("name")
    description = reader.fields.first("description", "summary")
    sentence = line(description.value) if description else first_sentence(reader.document.body)
    if reader.has_header and description is None:
        reader.report.add("no_description", "no description is stated", sentence)
    return Worded(
        line(name.value) if name else titled or reader.source.stem,
        titled,
        sentence or titled or reader.source.stem,
        (() if name or title else ("name",)) + (() if description else ("description",)),
    )


def read_labels(reader: Reader) -> Labels:
    """Read tags, aliases and baseline; in a vault the #tags of the text count as well (S4, S5, S6)."""
    fields, report = reader.fields, reader.report
    stated = [word.lstrip("#") for item in fields.every("tags", "tag") for word in words(item.value)]
    tags, tags_cut = limited(stated + tags_in_text(reader), MAX_TAGS, MAX_TAG)
    names = [word for item in fields.every("aliases", "alias") for word in words(item.value)]
    aliases, aliases_cut = limited(names, MAX_ALIASES, MAX_ALIAS)
    if tags_cut:
        report.add("cut", f"more than {MAX_TAGS} tags, or one over {MAX_TAG} characters", ", ".join(tags), "tags")
    if aliases_cut:
        limit = f"more than {MAX_ALIASES} aliases, or one over {MAX_ALIAS} characters"
        report.add("cut", limit, ", ".join(aliases), "aliases")
    baseline = fields.first("baseline")
    priority = fields.first("baselinepriority")
    number = whole(priority.value) if priority else None
    if priority and number is None:
        report.add("value", f"{priority.key} is no whole number", "kept as text", priority.key)
        fields.keep(priority.key)
    return Labels(tags, aliases, baseline is not None and is_true(baseline.value), number)


def whole(value: object) -> int | None:
    """Return a whole number of a few digits, or None."""
    text = str(value).strip()
    return int(text) if re.fullmatch(r"-?[0-9]{1,6}", text) else None


def read_dates(reader: Reader) -> Dates:
    """Read the dates: a key wins, then the day at the start of the file's name, then the file's time (R23)."""
    source = reader.source
    updated, updated_key = read_moment(reader, UPDATED)
    seen, seen_key = read_moment(reader, SEEN)
    created, created_key = read_moment(reader, CREATED)
    valid_from, _ = read_moment(reader, ("validfrom",))
    valid_to, _ = read_moment(reader, ("validto", "validuntil"))
    dated_at, dated_by = source.mtime_ms, "file"
    day = day_in_name(source.stem, source.zone)
    for at, by in ((day, "name"), (created, created_key), (seen, seen_key), (updated, updated_key)):
        if at is not None:
            dated_at, dated_by = at, by
    if valid_from is not None and valid_to is not None and valid_to <= valid_from:
        reader.report.add("date", "valid_to is not after valid_from", "the end is left open", "valid_to")
        valid_to = None
    return Dates(created, updated, valid_from, valid_to, dated_at, dated_by)


def read_moment(reader: Reader, names: tuple[str, ...]) -> tuple[int | None, str]:
    """Return the first readable moment under some keys, and its key; the others are kept, unreadable ones listed."""
    best: tuple[int | None, str] = (None, "")
    for item in reader.fields.every(*names):
        read = to_ms(item.value, reader.source.zone)
        if read is None and not may_be_no_date(item):
            why = f"{item.key} is no date that can be read"
            reader.report.add("date", why, f"text: {line(item.value)}", item.key)
        if read is not None and best[0] is None:
            best = (read, item.key)
        else:
            reader.fields.keep(item.key)
    return best


def may_be_no_date(item: Found) -> bool:
    """Tell whether a date key may hold something else: nothing, or `archived: true`."""
    return item.value in (None, "", []) or (
        item.key.casefold() == "archived" and line(item.value).casefold() in NO | TRUE
    )


def read_standing(reader: Reader) -> Standing:
    """Read status, archive and supersession; targets are resolved later."""
    fields = reader.fields
    status = fields.first("status")
    word = line(status.value) if status else ""
    archived = fields.first("archived", "archivedat")
    folders = [part.casefold() for part in reader.source.path.split("/")[:-1]]
    older = fields.every("supersedes", "supersedeslist", "replaces")
    newer = fields.every("supersededby", "replacedby")
    supersedes = dict.fromkeys(target for item in older for target in words(item.value))
    successors = [target for item in newer for target in words(item.value)]
    state, reason = Planned.ACTIVE, ""
    if word.casefold() in SUPERSEDED_WORDS or successors:
        state, reason = Planned.SUPERSEDED, "the file says so"
    elif word.casefold() in ARCHIVED_WORDS or (archived and line(archived.value).casefold() not in NO):
        state, reason = Planned.ARCHIVED, "the file says so"
    elif "archive" in folders or "archived" in folders:
        state, reason = Planned.ARCHIVED, "it lies in an archive folder"
    return Standing(state, reason, word, tuple(supersedes), successors[0] if successors else None)
