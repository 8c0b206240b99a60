"""The lines of a frontmatter to values, key by key, so that an unreadable line costs nothing but itself (S8, S9).

Plain text, quotes, flow lists, block lists and nested mappings are read here, as YAML reads them where YAML can; what
is rarer (escapes, block scalars, flow mappings, lists of mappings) goes through a YAML parser. Days stay text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

MAX_DEPTH = 20
MAX_NODES = 20_000
SHOWN = 200
BLANKS = " \t"
"""What YAML takes for blank; other spaces, such as the full-width one, belong to the text."""

KEY = re.compile(
    r"""("[^"]+"|'[^']+'|[^\s#\-\[\]{}"'&*!|>%@`,?:][^:]{0,79}?|[-?:][^\s:][^:]{0,78}?)"""
    r"""[ \t]*:(?=[ \t]|$)"""
)
TIGHT_KEY = re.compile(r"(name|title|description|type|tags|aliases|updated|created|baseline)\s*[:：]\s*(?=\S)", re.I)
COMMENT = re.compile(r"[ \t]#")
SPOKEN_COMMENT = re.compile(r"[ \t]#(?=[ \t]|$)")
NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?")
DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"([ \t]+#.*)?', re.S)
SINGLE = re.compile(r"'((?:[^']|'')*)'([ \t]+#.*)?", re.S)
TEXT_KEYS = frozenset({"name", "title", "description", "summary"})


class Unreadable(ValueError):
    """Raised when the YAML parser cannot read a piece of a header, or refuses to (anchors, tags, depth)."""


@dataclass(slots=True)
class Entry:
    """One key of a header with its lines: `first` and `last` are line indexes, `last` exclusive."""

    key: str
    text: str
    first: int
    last: int
    indent: int
    more: list[str] = field(default_factory=list)
    tight: bool = False


@dataclass(slots=True)
class Trouble:
    """Something that strict YAML cannot read, or reads as something else."""

    line: int
    kind: str
    why: str
    recovered: str


@dataclass(slots=True)
class Reading:
    """The values of a header, the line index of each key, and what had to be recovered."""

    values: dict[str, object] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    troubles: list[Trouble] = field(default_factory=list)


def read_header(lines: list[str], depth: int = 0, at: int = 0) -> Reading:
    """Read header lines (without the fences); `at` is added to every line index."""
    reading = Reading()
    if depth > MAX_DEPTH:
        raise Unreadable("nested too deeply")
    entries, strays = split_entries(lines)
    for index, line in strays:
        reading.troubles.append(Trouble(at + index, "yaml", "a line that belongs to no key", shown(line)))
    for entry in entries:
        value, whys = read_entry(entry, depth, at, reading)
        if entry.key in reading.values:
            why = f"the key {entry.key} stands twice, the last one counts"
            lost = shown(reading.values[entry.key])
            reading.troubles.append(Trouble(at + entry.first, "duplicate_key", why, f"before: {lost}"))
        for kind, why in dict.fromkeys(whys):
            reading.troubles.append(Trouble(at + entry.first, kind, why, f"{entry.key}: {shown(value)}"))
        reading.values[entry.key] = value
        reading.lines[entry.key] = at + entry.first
    return reading


def split_entries(lines: list[str]) -> tuple[list[Entry], list[tuple[int, str]]]:
    """Cut header lines into keys with their following lines; also return the lines that belong to no key."""
    entries: list[Entry] = []
    strays: list[tuple[int, str]] = []
    base: int | None = None
    for index, line in enumerate(lines):
        stripped = line.strip(BLANKS)
        indent = len(line) - len(line.lstrip(BLANKS))
        current = entries[-1] if entries else None
        if not stripped:
            if current:
                current.more.append("")
            continue
        if base is None:
            base = indent
        item = stripped == "-" or stripped.startswith("- ")
        if current and (indent > base or (item and not is_value(current.text))):
            current.more.append(line)
            current.last = index + 1
            continue
        found = None if item else KEY.match(stripped)
        tight = None if item or found else TIGHT_KEY.match(stripped)
        if match := found or tight:
            key = match.group(1).strip(BLANKS).strip("\"'")
            text = stripped[match.end() :].strip(BLANKS)
            entries.append(Entry(key, text, index, index + 1, indent, tight=bool(tight)))
        elif stripped.startswith("#"):
            continue
        else:
            strays.append((index, line))
            if current and current.key in TEXT_KEYS and is_value(current.text):
                current.more.append(" " + line)
                current.last = index + 1
    return entries, strays


def is_value(text: str) -> bool:
    """Tell whether a key's own line holds a value rather than nothing or a comment."""
    return bool(text) and not text.startswith("# ")


def read_entry(entry: Entry, depth: int, at: int, reading: Reading) -> tuple[object, list[tuple[str, str]]]:
    """Return the value of one key and what was wrong with it; nested troubles go straight to `reading`."""
    whys: list[tuple[str, str]] = [("yaml", "no blank behind the colon")] if entry.tight else []
    more = entry.more
    while more and not more[-1]:
        more = more[:-1]
    if any("\t" in line[: len(line) - len(line.lstrip(BLANKS))] for line in more):
        whys.append(("yaml", "a tab indents the block"))
        more = [line.expandtabs(4) if line[:1] in BLANKS else line for line in more]
    text = entry.text
    if more and not is_value(text):
        return read_block(more, depth, at + entry.first + 1, reading, whys), whys
    if not more:
        return read_scalar(text, entry.key, whys), whys
    if text[0] in "|>":
        return read_block_scalar(text, more, whys), whys
    joined = fold([text, *more])
    if text[0] in "\"'[{" and ('"' in joined or "'" in joined):
        try:
            return load_yaml("\n".join([text, *(f" {line}" for line in more)])), whys
        except Unreadable:
            pass
    return read_scalar(joined, entry.key, whys), whys


def read_block(lines: list[str], depth: int, at: int, reading: Reading, whys: list[tuple[str, str]]) -> object:
    """Read the indented lines under a key: a list, a mapping, or text."""
    indent = min(len(line) - len(line.lstrip(BLANKS)) for line in lines if line)
    lines = [line[indent:] for line in lines]
    first = next(line for line in lines if line)
    if first == "-" or first.startswith("- "):
        return read_list(lines, whys)
    if KEY.match(first):
        try:
            nested = read_header(lines, depth + 1, at)
        except Unreadable:
            whys.append(("yaml", "nested too deeply, kept as text"))
            return "\n".join(lines)
        reading.troubles.extend(nested.troubles)
        reading.lines.update({key: line for key, line in nested.lines.items() if key not in reading.lines})
        return nested.values
    return read_scalar(fold(lines), "", whys)


def read_list(lines: list[str], whys: list[tuple[str, str]]) -> object:
    """Read a block list; items that are mappings or lists go through the YAML parser, and stay text if that fails."""
    rows: list[list[str]] = []
    for line in lines:
        if line == "-" or line.startswith("- "):
            rows.append([line[2:].strip(BLANKS)])
        elif rows and not line.startswith("#"):
            rows[-1].append(line.strip(BLANKS))
    firsts = [row[0] for row in rows]
    if any(first.startswith(("- ", "? ", "|", ">", "{")) or KEY.match(first) for first in firsts):
        try:
            return load_yaml("\n".join(lines))
        except Unreadable:
            whys.append(("yaml", "list items that are no YAML, kept as text"))
            return [fold(row) for row in rows]
    return [read_item(row, whys) for row in rows]


def read_item(rows: list[str], whys: list[tuple[str, str]]) -> object:
    """Read the lines of one item of a list."""
    if rows[0][:1] in ("'", '"') and any(rows[1:]):
        try:
            return load_yaml("\n ".join(rows))
        except Unreadable:
            pass
    return read_scalar(fold(rows), "", whys)


def read_block_scalar(text: str, more: list[str], whys: list[tuple[str, str]]) -> object:
    """Read `|` and `>` scalars."""
    try:
        return load_yaml("\n".join([text, *(f" {line}" if line else "" for line in more)]))
    except Unreadable:
        whys.append(("yaml", "a block scalar that is no YAML, kept as text"))
        return fold(more)


def read_scalar(text: str, key: str, whys: list[tuple[str, str]]) -> object:
    """Read a value that stands on one line (after folding)."""
    if not text:
        return None
    start = text[0]
    if start in "\"'":
        return read_quoted(text, whys)
    if start == "[":
        return read_flow(text, whys)
    if start == "{":
        try:
            return load_yaml(text)
        except Unreadable:
            whys.append(("yaml", "braces that are no YAML, kept as text"))
            return text
    if start == "#" and (text == "#" or text[1] in BLANKS) and key not in TEXT_KEYS:
        return None
    if start in "#@`%*&!|>" or (start in "-?:," and (len(text) == 1 or text[1] in BLANKS)):
        whys.append(("yaml", f"a value that begins with {start}"))
        return text
    return read_plain(text, key, whys)


def read_plain(text: str, key: str, whys: list[tuple[str, str]]) -> object:
    """Read unquoted text: a remark behind ` # ` is cut off unless the key holds prose; a colon cuts nothing (S9)."""
    if "#" in text and COMMENT.search(text):
        spoken = SPOKEN_COMMENT.search(text)
        if spoken and key not in TEXT_KEYS:
            text = text[: spoken.start()].rstrip(BLANKS)
        else:
            whys.append(("yaml", "a blank before # would cut the value"))
    if ": " in text or text.endswith(":"):
        whys.append(("yaml", "an unquoted colon"))
        return text
    return core(text)


def read_quoted(text: str, whys: list[tuple[str, str]]) -> object:
    """Read a quoted value; text behind the closing quote makes the whole line the value."""
    if text[0] == "'":
        found = SINGLE.fullmatch(text)
        if found:
            return found.group(1).replace("''", "'")
    else:
        found = DOUBLE.fullmatch(text)
        if found and "\\" not in found.group(1):
            return found.group(1)
        if found:
            try:
                return load_yaml(f'"{found.group(1)}"')
            except Unreadable:
                whys.append(("yaml", "an escape that is no YAML"))
                return found.group(1)
    whys.append(("yaml", "text after a closing quote" if text.count(text[0]) > 1 else "a quote that never closes"))
    return text


def read_flow(text: str, whys: list[tuple[str, str]]) -> object:
    """Read `[a, b]`; items such as `#x`, `@x` and `c:` are text and are reported."""
    parts = split_flow(text)
    if parts is None:
        try:
            return load_yaml(text)
        except Unreadable:
            whys.append(("yaml", "brackets that are no list, kept as text"))
            return text
    items: list[object] = []
    for part in parts:
        if part[0] in "#@`%*&!|>":
            whys.append(("yaml", f"an item that begins with {part[0]}"))
            items.append(part)
        elif part[0] in "\"'":
            items.append(read_quoted(part, whys))
        elif part.endswith(":") or ": " in part:
            whys.append(("yaml_value", f"{part} is read as a mapping"))
            items.append(part)
        else:
            items.append(core(part))
    return items


def split_flow(text: str) -> list[str] | None:
    """Split a flat flow list at its commas; None when it nests, does not close, or goes on behind the bracket."""
    parts: list[str] = []
    start, index, quote, fresh = 1, 1, "", True
    while index < len(text):
        char = text[index]
        if quote:
            if char == "\\" and quote == '"':
                index += 1
            elif char == quote:
                quote = ""
        elif char in "\"'" and fresh:
            quote = char
        elif char in "[{":
            return None
        elif char in ",]":
            parts.append(text[start:index].strip(BLANKS))
            start = index + 1
            if char == "]":
                rest = text[start:].strip(BLANKS)
                return [part for part in parts if part] if not rest or rest.startswith("#") else None
        fresh = char == "," or (fresh and char in BLANKS)
        index += 1
    return None


def core(text: str) -> object:
    """Convert plain text: null, booleans and numbers only where the text can be given back from the value."""
    if text in ("", "null", "~", "Null", "NULL"):
        return None
    if text in ("true", "false"):
        return text == "true"
    if NUMBER.fullmatch(text):
        number = float(text) if "." in text else int(text)
        return number if str(number) == text else text
    return text


def fold(lines: Iterable[str]) -> str:
    """Join lines to one, as YAML folds plain text: an empty line stays a line break."""
    parts: list[str] = []
    for line in lines:
        word = line.strip(BLANKS)
        if not word:
            parts.append("\n")
        else:
            parts.append(word if not parts or parts[-1].endswith("\n") else f" {word}")
    return "".join(parts).strip(f"{BLANKS}\n")


def shown(value: object) -> str:
    """Put a recovered value into one short line."""
    if isinstance(value, list):
        value = ", ".join(str(item).lstrip("#") for item in value)
    elif isinstance(value, dict):
        value = ", ".join(f"{key}: {item}" for key, item in value.items())
    line = " ".join(str(value).split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"


@lru_cache(maxsize=1)
def yaml_parser() -> tuple[Any, Any]:
    """Import PyYAML on first use; return the module and its fastest loader that builds nothing but events."""
    import yaml

    return yaml, getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def load_yaml(text: str) -> object:
    """Parse one YAML value from events, without recursion, anchors or tags; raise Unreadable otherwise."""
    yaml, loader = yaml_parser()
    try:
        return build(yaml, yaml.parse(text, Loader=loader))
    except (yaml.YAMLError, UnicodeError) as error:
        raise Unreadable(str(error)) from error


def build(yaml: Any, events: Iterable[Any]) -> object:
    """Build the value of the first document of an event stream."""
    stack: list[list[object]] = [[]]
    kinds: list[str] = ["root"]
    for nodes, event in enumerate(events):
        if nodes > MAX_NODES or len(stack) > MAX_DEPTH or getattr(event, "anchor", None):
            raise Unreadable("too deep, too large, or an anchor")
        if isinstance(event, yaml.ScalarEvent):
            stack[-1].append(event.value if event.style or event.tag else core(event.value))
        elif isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
            stack.append([])
            kinds.append("list" if isinstance(event, yaml.SequenceStartEvent) else "map")
        elif isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
            children = stack.pop()
            stack[-1].append(children if kinds.pop() == "list" else pairs(children))
        elif isinstance(event, yaml.DocumentEndEvent) and len(stack[0]) != 1:
            raise Unreadable("not one value")
    if len(stack[0]) != 1:
        raise Unreadable("not one value")
    return stack[0][0]


def pairs(children: list[object]) -> dict[str, object]:
    """Make a mapping of alternating keys and values; a key that is a list or a mapping is refused."""
    keys = children[::2]
    if any(isinstance(key, (list, dict)) for key in keys):
        raise Unreadable("a key that is no text")
    names = ["null" if key is None else str(key).lower() if isinstance(key, bool) else str(key) for key in keys]
    return dict(zip(names, children[1::2], strict=True))
