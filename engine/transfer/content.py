"""What the text of a memory says: headings, a first sentence, tags, links, observations, parts."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from typing import NamedTuple

from engine.transfer.fields import Fields, words
from engine.transfer.frontmatter import Document
from engine.transfer.links import find_links, without_code
from engine.transfer.plan import Link, Observation, Part, Problem

HEADING = re.compile(r"^[ ]{0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t\r]*$", re.M)
TAG_IN_TEXT = re.compile(r"(?<![\w&/#\[(])#([\w/-]*[^\W\d_][\w/-]*)")
OBSERVATION = re.compile(r"^- \[([^\[\]\n]{2,40})\] ([^\n]+)$", re.M)
CONTEXT = re.compile(r"\(([^()]*)\)\s*$")
RELATION = re.compile(r"^- ([^\[\]\n]*?)[ ]*\[\[")
ATTRIBUTE = re.compile(r"^[ \t]*(?:[-*][ ]+)?\*\*([^*\n]{1,40}?)[:：]?\*\*[ ]*[:：]?[ ]*([^\n]+)$", re.M)
MARKS = re.compile(r"^(?:>[ ]?|[-*+][ ]+(?:\[[\w ?!-]{1,20}\][ ]+)?|\d+[.)][ ]+)+")
SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=[。！？])")
LONGEST_DESCRIPTION = 200


@dataclass(frozen=True, slots=True)
class Source:
    """Where a file comes from: path in the import, workspace, modification time (ms), zone, and whether in a vault."""

    path: str
    workspace: str | None = None
    mtime_ms: int = 0
    zone: tzinfo | None = None
    vault: bool = False

    @property
    def base(self) -> str:
        """The file's name."""
        return posixpath.basename(self.path)

    @property
    def stem(self) -> str:
        """The file's name without `.md`, composed (NFC)."""
        return unicodedata.normalize("NFC", self.base[:-3])


@dataclass(slots=True)
class Report:
    """Collects the problems of one file."""

    file: str
    lines: dict[str, int]
    problems: list[Problem] = field(default_factory=list)

    def add(self, kind: str, message: str, recovered: str = "", key: str = "", line: int = 0) -> None:
        """Add a line about a key, a line of the file or the whole file."""
        self.problems.append(Problem(self.file, line or self.lines.get(key, 0), kind, message, recovered))


class Heading(NamedTuple):
    """A heading: its text, its level and where it begins in the body."""

    text: str
    level: int
    start: int


@dataclass(frozen=True, slots=True)
class Reader:
    """One file while it is read: its text without code, its headings, its keys and its report."""

    document: Document
    source: Source
    plain: str
    headings: tuple[Heading, ...]
    fields: Fields
    report: Report

    @property
    def has_header(self) -> bool:
        """True when the file has a frontmatter with keys."""
        return bool(self.document.header)

    def line_at(self, start: int) -> int:
        """Return the line of the file on which a place in the body stands."""
        return self.document.body_line + self.plain.count("\n", 0, start)


def open_reader(document: Document, source: Source) -> Reader:
    """Prepare a document for reading."""
    plain = without_code(document.body)
    headings = tuple(Heading(it.group(2), len(it.group(1)), it.start()) for it in HEADING.finditer(plain))
    report = Report(source.path, dict(document.lines or {}), list(document.problems))
    return Reader(document, source, plain, headings, Fields(document.header), report)


def first_heading(body: str, headings: tuple[Heading, ...]) -> str:
    """Return the heading that titles a text: its first line, or its first heading of the top level."""
    if headings and not body[: headings[0].start].strip():
        return headings[0].text
    return next((heading.text for heading in headings if heading.level == 1), "")


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


def read_parts(reader: Reader) -> tuple[Part, ...]:
    """Return the second-level sections that could be memories of their own (S72).

    They are those that begin with the same word and a colon, or all of a MEMORY.md that is content.
    """
    second = [heading for heading in reader.headings if heading.level == 2]
    if reader.source.base.lower() != "memory.md":
        labelled = [heading for heading in second if ": " in heading.text]
        second = [heading for heading in labelled if label(heading) == label(labelled[0])]
    if len(second) < 2:
        return ()
    parts = tuple(Part(reader.line_at(heading.start), heading.text) for heading in second)
    why = f"{len(parts)} parts in one file"
    reader.report.add("multi", why, "one memory, offered for splitting", line=parts[0].line)
    return parts


def label(heading: Heading) -> str:
    """Return the word before the colon of a heading."""
    return heading.text.partition(": ")[0]


def read_attributes(reader: Reader, persona: bool) -> tuple[tuple[str, str], ...]:
    """Return the `**key**: value` lines of a file about a person or a persona."""
    if not persona and reader.source.base != "USER.md":
        return ()
    found = ATTRIBUTE.finditer(reader.document.body)
    return tuple((item.group(1).strip(), item.group(2).strip()) for item in found)


def tags_in_text(reader: Reader) -> list[str]:
    """Return the #tags in the text of a vault's note; a heading line holds none."""
    if not reader.source.vault:
        return []
    rows = [row for row in reader.plain.split("\n") if not HEADING.match(row)]
    return TAG_IN_TEXT.findall("\n".join(rows))


def read_links(reader: Reader) -> tuple[Link, ...]:
    """Read the links in the text and in `related`; in a Relations section each has the word before it."""
    links = list(find_links(reader.plain, reader.document.body_line))
    for item in reader.fields.every("related", "relatedto", "seealso"):
        at = reader.report.lines.get(item.key, 0)
        reader.fields.keep(item.key)
        names = (word.strip("[] ") for word in words(item.value))
        links += [Link(name, at, "related") for name in names if name]
    if has_section(reader, "relations"):
        rows = reader.plain.split("\n")
        links = [with_relation(link, rows, reader.document.body_line) for link in links]
    for link in links:
        if link.form == "embed":
            reader.report.add("embed", f"{link.target} is shown in the text", "not imported", line=link.line)
    return tuple(links)


def has_section(reader: Reader, name: str) -> bool:
    """Tell whether a text has a heading of this name."""
    return any(heading.text.strip().casefold() == name for heading in reader.headings)


def with_relation(link: Link, rows: list[str], first_line: int) -> Link:
    """Add the word of a `- part_of [[x]]` line to its link."""
    index = link.line - first_line
    found = RELATION.match(rows[index]) if link.form == "wiki" and 0 <= index < len(rows) else None
    return replace(link, relation=found.group(1).strip()) if found else link


def read_observations(reader: Reader) -> tuple[Observation, ...]:
    """Return the `- [category] text #tag (context)` lines of a note with an Observations section."""
    if not has_section(reader, "observations"):
        return ()
    observations = []
    for found in OBSERVATION.finditer(reader.plain):
        text = found.group(2).strip()
        context = CONTEXT.search(text)
        text = text[: context.start()].strip() if context else text
        tags = tuple(TAG_IN_TEXT.findall(text))
        sentence = TAG_IN_TEXT.sub("", text).strip()
        aside = context.group(1).strip() if context else ""
        observations.append(Observation(reader.line_at(found.start()), found.group(1), sentence, tags, aside))
    return tuple(observations)
