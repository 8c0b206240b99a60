"""A Markdown file with frontmatter to a `Document` and back (S2, S8).

Any bytes are readable, no body is lost, and an unchanged document gives its own bytes again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from engine.transfer.decoding import MIXED, Decoded, decode, encode
from engine.transfer.header import KEY, TIGHT_KEY, Entry, read_header, split_entries
from engine.transfer.plan import Problem
from engine.transfer.quoting import REMOVED, value_lines

CLOSING = re.compile(r"(?:---|\.\.\.)\s*")
LONG_CLOSING = re.compile(r"-{4,}\s*")
MOST_PROBLEMS = 50
"""So many troubles of one header are listed one by one."""
INDENTED = re.compile(r"\s|- ")


@dataclass(frozen=True, slots=True)
class Document:
    """A file in parts: `header_text` + `body` is the whole text, with LF ends unless `eol` is mixed.

    `header_text` holds the fences and the blank lines around them and is empty when there is no frontmatter; `lines`
    gives the line (1-based) of each key; `raw` holds the bytes where the encoding cannot give them back.
    """

    header: dict[str, object]
    header_text: str
    body: str
    eol: str = "\n"
    bom: bool = False
    encoding: str = "utf-8"
    problems: tuple[Problem, ...] = ()
    lines: Mapping[str, int] | None = None
    raw: bytes | None = None

    @property
    def body_line(self) -> int:
        """The line (1-based) on which the body begins."""
        return self.header_text.count("\n") + 1


@dataclass(frozen=True, slots=True)
class Fences:
    """Where a header stands: line indexes of its content, the index of the first body line, and how it ends."""

    first: int
    last: int
    body: int
    why: str = ""


def parse(data: bytes, file: str = "") -> Document:
    """Read any bytes as a document; never raises, and what strict YAML cannot read is recovered and listed (S8)."""
    return parse_text(decode(data), file)


def text_problems(decoded: Decoded, file: str) -> list[Problem]:
    """Return what is odd about the bytes of a text: its encoding, zeros in it."""
    problems = []
    if decoded.encoding in ("gb18030", "cp1252") or decoded.raw is not None:
        how = "read byte by byte" if decoded.raw is not None else f"read as {decoded.encoding}"
        problems.append(Problem(file, 0, "encoding", "the file is not UTF-8", how))
    if "\0" in decoded.text:
        line = decoded.text[: decoded.text.index("\0")].count("\n") + 1
        problems.append(Problem(file, line, "nul_bytes", "zero bytes in the text", "the text is kept whole"))
    return problems


def parse_text(decoded: Decoded, file: str = "") -> Document:
    """Read a text that was decoded before."""
    text = decoded.text
    problems = text_problems(decoded, file)
    lines = text.split("\n")
    fences = find_fences(lines)
    if fences is None:
        return Document({}, "", text, decoded.eol, decoded.bom, decoded.encoding, tuple(problems), {}, decoded.raw)
    reading = read_header([line.rstrip("\r") for line in lines[fences.first : fences.last]], at=fences.first)
    troubles = reading.troubles[:MOST_PROBLEMS]
    found = [Problem(file, item.line + 1, item.kind, item.why, item.recovered) for item in troubles]
    if len(troubles) < len(reading.troubles):
        more = len(reading.troubles) - len(troubles)
        found.append(Problem(file, fences.last + 1, "yaml", f"{more} more lines like these", "kept in the header"))
    if fences.why:
        found.append(Problem(file, fences.last + 1, "yaml", fences.why, "the keys are read, the body is kept"))
    body_index = fences.body
    while body_index < len(lines) - 1 and not lines[body_index].strip():
        body_index += 1
    cut = sum(len(line) + 1 for line in lines[:body_index])
    header_text, body = text[:cut], text[cut:]
    if not body.strip():
        header_text, body = text, ""
    where = {key: line + 1 for key, line in reading.lines.items()}
    return Document(
        reading.values,
        header_text,
        body,
        decoded.eol,
        decoded.bom,
        decoded.encoding,
        (*problems, *found),
        where,
        decoded.raw,
    )


def find_fences(lines: list[str]) -> Fences | None:
    """Find the frontmatter of a file; None when a row of dashes at the top is a mere rule."""
    start = 0
    while start < len(lines) and not lines[start].strip():
        start += 1
    if start == len(lines) or lines[start].rstrip() != "---":
        return None
    content = start + 1
    before = ""
    for index in range(content, len(lines)):
        line = lines[index].rstrip()
        if CLOSING.fullmatch(line) or (LONG_CLOSING.fullmatch(line) and ends_header(before)):
            why = "" if CLOSING.fullmatch(line) else f"closed with {line}"
            held = lines[content:index]
            if not holds_keys(held) or (why and not any(row.strip() for row in held)):
                return None
            return Fences(content, index, index + 1, why)
        before = line
    return open_header(lines, content)


def ends_header(line: str) -> bool:
    """Tell whether a long row of dashes below this line closes a header rather than underlines a heading."""
    return not line or bool(INDENTED.match(line) or KEY.match(line))


def holds_keys(lines: list[str]) -> bool:
    """Tell whether the lines between two rows of dashes are keys: none at all, or the first one that says something."""
    spoken = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not spoken:
        return not any(line.strip() for line in lines)
    return is_key(spoken[0].strip())


def is_key(line: str) -> bool:
    """Tell whether a line begins with a key."""
    return bool(KEY.match(line) or TIGHT_KEY.match(line))


def open_header(lines: list[str], content: int) -> Fences | None:
    """Read a header that never closes: its keys end before the first blank line, heading or line that is no key."""
    index = content
    while index < len(lines):
        line = lines[index]
        if not line.strip() or not (is_key(line) or (index > content and INDENTED.match(line))):
            break
        index += 1
    return Fences(content, index, index, "the second row of dashes is missing") if index > content else None


def render(document: Document) -> bytes:
    """Give the bytes of a document; those of an unchanged one are the bytes that were read."""
    text = document.header_text + document.body
    return encode(Decoded(text, document.eol, document.bom, document.encoding, document.raw))


def file_bytes(
    header_text: str, body: str, eol: str = "\n", bom: bool = False, encoding: str = "utf-8", raw: bytes | None = None
) -> bytes:
    """Give the bytes of a file whose parts were stored separately (see `ParsedMemory`)."""
    return encode(Decoded(header_text + body, eol, bom, encoding, raw))


def edit(document: Document, changes: Mapping[str, object], body: str | None = None) -> Document:
    """Return a document with other values (`REMOVED` drops a key, `metadata.updated` is a nested one) or another body.

    Only the lines of those keys change, and lines that stay keep their ends where the file mixes them (S8, S9).
    """
    header_text = document.header_text
    for key, value in changes.items():
        header_text = change_key(header_text, key, value, document.eol)
    new_body = document.body if body is None else keep_line_ends(document, body)
    if (header_text, new_body) == (document.header_text, document.body):
        return document
    encoding = "utf-8" if document.raw is not None or document.encoding == "cp1252" else document.encoding
    decoded = Decoded(header_text + new_body, document.eol, document.bom, encoding)
    again = parse_text(decoded)
    return replace(again, header_text=header_text, body=new_body)


def keep_line_ends(document: Document, body: str) -> str:
    """Give a new body the line ends of the old one where lines are the same."""
    if document.eol != MIXED:
        return body.replace("\r\n", "\n")
    old = document.body.split("\n")
    new = [line.rstrip("\r") for line in body.split("\n")]
    for tag, first, last, to, _ in SequenceMatcher(
        None, [line.rstrip("\r") for line in old], new, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            new[to : to + last - first] = old[first:last]
    return "\n".join(new)


def change_key(header_text: str, key: str, value: object, eol: str) -> str:
    """Change, add or remove one key in a header, touching no other line."""
    lines = header_text.split("\n")
    fences = find_fences(lines)
    if fences is None:
        if value is REMOVED:
            return header_text
        top, _, nested = key.partition(".")
        content = [f"{top}:", *value_lines(nested, value, "  ")] if nested else value_lines(key, value, "")
        return "\n".join(["---", *content, "---", "", ""])
    block = [line.rstrip("\r") for line in lines[fences.first : fences.last]]
    first, last, new = change_lines(block, key, value)
    if eol == MIXED and lines[max(fences.first - 1, 0)].endswith("\r"):
        new = [line + "\r" for line in new]
    at = fences.first
    return "\n".join([*lines[: at + first], *new, *lines[at + last :]])


def change_lines(block: list[str], key: str, value: object) -> tuple[int, int, list[str]]:
    """Return which header lines (first, last exclusive) to replace, and by which ones."""
    top, _, nested = key.partition(".")
    entries, _ = split_entries(block)
    found = next((entry for entry in reversed(entries) if entry.key in (key, top)), None)
    if found is None:
        if value is REMOVED:
            return len(block), len(block), []
        end = len(block)
        while end and not block[end - 1].strip():
            end -= 1
        return end, end, [f"{top}:", *value_lines(nested, value, "  ")] if nested else value_lines(key, value, "")
    if nested and found.key == top:
        inner = block[found.first + 1 : found.last]
        first, last, new = change_nested(inner, nested, value)
        return found.first + 1 + first, found.first + 1 + last, new
    return found.first, found.last, written_like(found, block, value)


def change_nested(inner: list[str], key: str, value: object) -> tuple[int, int, list[str]]:
    """Do for the lines of a nested block what `change_lines` does for a header."""
    entries, _ = split_entries(inner)
    found = next((entry for entry in reversed(entries) if entry.key == key), None)
    if found is not None:
        return found.first, found.last, written_like(found, inner, value)
    first = next((line for line in inner if line.strip()), "  ")
    indent = first[: len(first) - len(first.lstrip())]
    end = len(inner)
    while end and not inner[end - 1].strip():
        end -= 1
    return end, end, [] if value is REMOVED else value_lines(key, value, indent)


def written_like(entry: Entry, block: list[str], value: object) -> list[str]:
    """Write a new value in the manner of the old one: its indent, spelling of the key, quotes and form of list."""
    line = block[entry.first]
    indent = line[: len(line) - len(line.lstrip())]
    found = KEY.match(line.strip())
    key = found.group(1).strip() if found else entry.key
    return value_lines(key, value, indent, old=entry)
