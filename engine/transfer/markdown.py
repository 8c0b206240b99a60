"""One Markdown file to a `ParsedMemory`: what its header and its text say, before anything else is looked at."""

from __future__ import annotations

import hashlib
import posixpath
import re
import unicodedata
from dataclasses import dataclass, field, replace
from datetime import tzinfo

from engine.model.enums import Kind, Type
from engine.transfer.dates import day_in_name, to_ms
from engine.transfer.fields import (
    KIND_WORDS,
    MAX_ALIAS,
    MAX_ALIASES,
    MAX_TAG,
    MAX_TAGS,
    Fields,
    Found,
    is_true,
    limited,
    line,
    type_of,
    words,
)
from engine.transfer.frontmatter import Document, render
from engine.transfer.links import find_links, without_code
from engine.transfer.plan import Link, Observation, ParsedMemory, Part, Planned, Problem

HEADING = re.compile(r"^[ ]{0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t\r]*$", re.M)
TAG_IN_TEXT = re.compile(r"(?<![\w&/#\[(])#([\w/-]*[^\W\d_][\w/-]*)")
OBSERVATION = re.compile(r"^- \[([^\[\]\n]{2,40})\] ([^\n]+)$", re.M)
CONTEXT = re.compile(r"\(([^()]*)\)\s*$")
RELATION = re.compile(r"^- ([^\[\]\n]*?)[ ]*\[\[")
ATTRIBUTE = re.compile(r"^[ \t]*(?:[-*][ ]+)?\*\*([^*\n]{1,40}?)[:：]?\*\*[ ]*[:：]?[ ]*([^\n]+)$", re.M)
MARKS = re.compile(r"^(?:>[ ]?|[-*+][ ]+(?:\[[\w ?!-]{1,20}\][ ]+)?|\d+[.)][ ]+)+")
SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=[。！？])")
LONGEST_DESCRIPTION = 200

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


@dataclass(frozen=True, slots=True)
class Source:
    """Where a file comes from: path in the import, workspace, modification time (ms), zone, and whether in a vault."""

    path: str
    workspace: str | None = None
    mtime_ms: int = 0
    zone: tzinfo | None = None
    vault: bool = False

    @property
    def stem(self) -> str:
        """The file's name without `.md`, composed (NFC)."""
        return unicodedata.normalize("NFC", posixpath.basename(self.path)[:-3])


@dataclass(slots=True)
class Report:
    """Collects the problems of one file."""

    file: str
    lines: dict[str, int]
    problems: list[Problem] = field(default_factory=list)

    def add(self, kind: str, message: str, recovered: str = "", key: str = "", line: int = 0) -> None:
        """Add a line about a key, a line of the file or the whole file."""
        self.problems.append(Problem(self.file, line or self.lines.get(key, 0), kind, message, recovered))


def read_memory(document: Document, source: Source) -> tuple[ParsedMemory, list[Problem]]:
    """Make a memory of a document; links and supersession still hold targets as written, the state is a first guess."""
    report = Report(source.path, dict(document.lines or {}), list(document.problems))
    fields = Fields(document.header)
    plain = without_code(document.body)
    headings = tuple((found.group(2), len(found.group(1)), found.start()) for found in HEADING.finditer(plain))
    memory = ParsedMemory(
        source_path=source.path,
        workspace=source.workspace,
        name="",
        description="",
        body=document.body,
        type=Type.REFERENCE,
        headings=tuple(text for text, _, _ in headings),
        persona=posixpath.basename(source.path).lower() in PERSONA_FILES,
        header_text=document.header_text,
        body_line=document.body_line,
        eol=document.eol,
        bom=document.bom,
        encoding=document.encoding,
        raw=document.raw,
        sha256=hashlib.sha256(render(document)).hexdigest(),
        file_mtime=source.mtime_ms,
    )
    memory = with_type(memory, fields, report, bool(document.header))
    memory = with_words(memory, fields, report, source, headings, bool(document.header))
    memory = with_labels(memory, fields, report, plain if source.vault else "")
    memory = with_dates(memory, fields, report, source)
    memory = with_state(memory, fields, source)
    memory = with_links(memory, fields, report, plain)
    return replace(memory, extra=fields.rest()), report.problems


def with_type(memory: ParsedMemory, fields: Fields, report: Report, has_header: bool) -> ParsedMemory:
    """Read the type: top level before the metadata block, a fifth word mapped to one of the four and kept (S3)."""
    stated = [item for item in fields.every("type") if item.value not in (None, "", [])]
    if not stated:
        user = posixpath.basename(memory.source_path) == "USER.md"
        if has_header:
            report.add("no_type", "no type is stated", "reference")
        return replace(memory, type=Type.USER if user else Type.REFERENCE)
    word = line(stated[0].value)
    others = [line(item.value) for item in stated[1:] if line(item.value).casefold() != word.casefold()]
    if others:
        report.add("type_conflict", "the type is stated twice", f"{word}, not {', '.join(others)}", "type")
    mapped, own = type_of(word)
    if not own:
        report.add("mapped", f"{word} is none of the four types", f"{mapped.value}, the word is kept", "type")
    known = word.casefold()
    persona = memory.persona or known == "persona"
    return replace(memory, type=mapped, type_word=word, kind=KIND_WORDS.get(known, Kind.NOTE), persona=persona)


def with_words(
    memory: ParsedMemory,
    fields: Fields,
    report: Report,
    source: Source,
    headings: tuple[tuple[str, int, int], ...],
    has_header: bool,
) -> ParsedMemory:
    """Read name, title and description; what is not stated comes from the first heading, the file name, the text."""
    title = fields.first("title")
    heading = first_heading(memory.body, headings)
    titled = line(title.value) if title else heading
    name = fields.first("name")
    description = fields.first("description", "summary")
    made_up = tuple(word for word, found in (("name", name or title), ("description", description)) if found is None)
    sentence = line(description.value) if description else first_sentence(memory.body)
    if has_header and description is None:
        report.add("no_description", "no description is stated", sentence)
    found_parts = parts(headings, memory)
    if found_parts:
        count = len(found_parts)
        report.add("multi", f"{count} parts in one file", "one memory, offered for splitting", line=found_parts[0].line)
    return replace(
        memory,
        name=line(name.value) if name else titled or source.stem,
        title=titled,
        description=sentence or titled or source.stem,
        made_up=made_up,
        parts=found_parts,
        attributes=attributes(memory),
    )


def first_heading(body: str, headings: tuple[tuple[str, int, int], ...]) -> str:
    """Return the heading that titles a text: its first line, or its first heading of the top level."""
    if headings and not body[: headings[0][2]].strip():
        return headings[0][0]
    return next((text for text, level, _ in headings if level == 1), "")


def first_sentence(body: str) -> str:
    """Return the first sentence of a text that is no heading, rule, table or code."""
    for row in body.splitlines():
        text = MARKS.sub("", row.strip()).replace("**", "")
        if not text or text[0] in "#|`<~" or not any(char.isalnum() for char in text):
            continue
        sentence = SENTENCE_END.split(text, maxsplit=1)[0].strip()
        short = len(sentence) <= LONGEST_DESCRIPTION
        return sentence if short else f"{sentence[: LONGEST_DESCRIPTION - 1]}…"
    return ""


def parts(headings: tuple[tuple[str, int, int], ...], memory: ParsedMemory) -> tuple[Part, ...]:
    """Return the second-level sections that could be memories of their own (S72).

    They are those that begin with the same word and a colon, or all of a MEMORY.md that is content.
    """
    second = [(text, start) for text, level, start in headings if level == 2]
    labelled = [(text.partition(": ")[0], text, start) for text, start in second if ": " in text]
    if posixpath.basename(memory.source_path).lower() != "memory.md":
        second = [(text, start) for label, text, start in labelled if label == labelled[0][0]]
    if len(second) < 2:
        return ()
    return tuple(Part(memory.body_line + memory.body.count("\n", 0, start), text) for text, start in second)


def attributes(memory: ParsedMemory) -> tuple[tuple[str, str], ...]:
    """Return the `**key**: value` lines of a file about a person or a persona."""
    if not memory.persona and posixpath.basename(memory.source_path) != "USER.md":
        return ()
    return tuple((found.group(1).strip(), found.group(2).strip()) for found in ATTRIBUTE.finditer(memory.body))


def with_labels(memory: ParsedMemory, fields: Fields, report: Report, vault_text: str) -> ParsedMemory:
    """Read tags, aliases and baseline; `vault_text` adds the #tags of a vault's text (S4, S5, S6)."""
    stated = [word.lstrip("#") for item in fields.every("tags", "tag") for word in words(item.value)]
    rows = "\n".join(row for row in vault_text.split("\n") if not row.lstrip().startswith("# "))
    tags, tags_cut = limited(stated + TAG_IN_TEXT.findall(rows), MAX_TAGS, MAX_TAG)
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
    return replace(
        memory,
        tags=tags,
        aliases=aliases,
        baseline=baseline is not None and is_true(baseline.value),
        baseline_priority=number,
    )


def whole(value: object) -> int | None:
    """Return a whole number of a few digits, or None."""
    text = str(value).strip()
    return int(text) if re.fullmatch(r"-?[0-9]{1,6}", text) else None


def with_dates(memory: ParsedMemory, fields: Fields, report: Report, source: Source) -> ParsedMemory:
    """Read the dates: a key wins, then the day at the start of the file's name, then the file's time (R23)."""

    def moment(*names: str) -> tuple[int | None, str]:
        """Return the first readable moment under these keys; unreadable ones are kept as text and reported."""
        best: tuple[int | None, str] = (None, "")
        for item in fields.every(*names):
            read = to_ms(item.value, source.zone)
            if read is None and not may_be_no_date(item):
                report.add("date", f"{item.key} is no date that can be read", f"text: {line(item.value)}", item.key)
            if read is None:
                fields.keep(item.key)
            elif best[0] is None:
                best = (read, item.key)
            else:
                fields.keep(item.key)
        return best

    updated, updated_key = moment(*UPDATED)
    seen, seen_key = moment(*SEEN)
    created, created_key = moment(*CREATED)
    valid_from, _ = moment("validfrom")
    valid_to, _ = moment("validto", "validuntil")
    dated: tuple[int, str] = (source.mtime_ms, "file")
    day = day_in_name(source.stem, source.zone)
    for at, by in ((day, "name"), (created, created_key), (seen, seen_key), (updated, updated_key)):
        if at is not None:
            dated = (at, by)
    if valid_from is not None and valid_to is not None and valid_to <= valid_from:
        report.add("date", "valid_to is not after valid_from", "the end is left open", "valid_to")
        valid_to = None
    return replace(
        memory,
        created_at=created,
        updated_at=updated,
        valid_from=valid_from,
        valid_to=valid_to,
        dated_at=dated[0],
        dated_by=dated[1],
    )


def may_be_no_date(item: Found) -> bool:
    """Tell whether a date key may hold something else: nothing, or `archived: true`."""
    return item.value in (None, "", []) or (item.key.casefold() == "archived" and isinstance(item.value, (bool, str)))


def with_state(memory: ParsedMemory, fields: Fields, source: Source) -> ParsedMemory:
    """Read status, archive and supersession; targets are resolved later."""
    status = fields.first("status")
    word = line(status.value).casefold() if status else ""
    archived = fields.first("archived", "archivedat")
    folders = [part.casefold() for part in source.path.split("/")[:-1]]
    older = fields.every("supersedes", "supersedeslist", "replaces")
    supersedes = [word for item in older for word in words(item.value)]
    successors = [word for item in fields.every("supersededby", "replacedby") for word in words(item.value)]
    state, reason = Planned.ACTIVE, ""
    if word in SUPERSEDED_WORDS or successors:
        state, reason = Planned.SUPERSEDED, "the file says so"
    elif word in ARCHIVED_WORDS or (archived and line(archived.value).casefold() not in NO):
        state, reason = Planned.ARCHIVED, "the file says so"
    elif "archive" in folders or "archived" in folders:
        state, reason = Planned.ARCHIVED, "it lies in an archive folder"
    return replace(
        memory,
        state=state,
        state_reason=reason,
        status=line(status.value) if status else "",
        supersedes=tuple(dict.fromkeys(supersedes)),
        superseded_by=successors[0] if successors else None,
    )


def with_links(memory: ParsedMemory, fields: Fields, report: Report, plain: str) -> ParsedMemory:
    """Read links in the text and in `related`, and the observations and relations of a note that has such sections."""
    links = list(find_links(plain, memory.body_line))
    for item in fields.every("related", "relatedto", "seealso"):
        at = report.lines.get(item.key, 0)
        fields.keep(item.key)
        links += [Link(word.strip("[]").strip(), at, "related") for word in words(item.value) if word.strip("[] ")]
    sections = {text.strip().casefold() for text in memory.headings}
    if "relations" in sections:
        rows = plain.split("\n")
        links = [with_relation(link, rows, memory.body_line) for link in links]
    for link in links:
        if link.form == "embed":
            report.add("embed", f"{link.target} is shown in the text", "not imported", line=link.line)
    observations = tuple(read_observations(plain, memory)) if "observations" in sections else ()
    return replace(memory, links=tuple(links), observations=observations)


def with_relation(link: Link, rows: list[str], first_line: int) -> Link:
    """Add the word of a `- part_of [[x]]` line to its link."""
    index = link.line - first_line
    found = RELATION.match(rows[index]) if link.form == "wiki" and 0 <= index < len(rows) else None
    return replace(link, relation=found.group(1).strip()) if found else link


def read_observations(plain: str, memory: ParsedMemory) -> list[Observation]:
    """Return the `- [category] text #tag (context)` lines of a text."""
    observations = []
    for found in OBSERVATION.finditer(plain):
        text = found.group(2).strip()
        context = CONTEXT.search(text)
        text = text[: context.start()].strip() if context else text
        tags = tuple(TAG_IN_TEXT.findall(text))
        sentence = TAG_IN_TEXT.sub("", text).strip()
        at = memory.body_line + plain.count("\n", 0, found.start())
        observations.append(
            Observation(at, found.group(1), sentence, tags, context.group(1).strip() if context else "")
        )
    return observations
