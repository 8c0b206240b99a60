"""Links between memories: found in text outside of code, and resolved to files of one import."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from engine.transfer.plan import Link

WIKI = re.compile(r"(!?)\[\[([^\[\]\n|]{1,300})(?:\|[^\[\]\n]{0,300})?\]\]")
MARKDOWN = re.compile(r"(!?)\[([^\[\]\n]{0,300})\]\((<[^<>\n]+>|[^()<>\n]*?\.md(?:#[^()\s]*)?|[^()\s]+)\)")
FENCE = re.compile(r"[ \t]{0,3}(?:>[ ]?)*[ \t]{0,3}(`{3,}|~{3,})(.*)", re.S)
SPAN = re.compile(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
PREFIX = re.compile(r"(?:user|feedback|project|reference)[-_]", re.I)
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)


@dataclass(frozen=True, slots=True)
class Target:
    """A file that links can mean: its path in the import, and its name."""

    path: str
    name: str


def without_code(text: str) -> str:
    """Blank out fenced blocks and code spans, keeping the length and the line ends."""
    if "`" not in text and "~~~" not in text:
        return text
    lines = text.split("\n")
    fence = ""
    for index, line in enumerate(lines):
        found = FENCE.fullmatch(line)
        if fence:
            closes = found and found.group(1).startswith(fence) and not found.group(2).strip()
            lines[index] = " " * len(line)
            fence = "" if closes else fence
        elif found and "`" not in found.group(2):
            fence = found.group(1)
            lines[index] = " " * len(line)
        elif "`" in line:
            lines[index] = SPAN.sub(lambda span: " " * len(span.group()), line)
    return "\n".join(lines)


def find_links(plain: str, first_line: int) -> Iterator[Link]:
    """Yield the links of a text without code; `first_line` is the line of its first character."""
    if "](" not in plain and "[[" not in plain:
        return
    for form, pattern in (("wiki", WIKI), ("markdown", MARKDOWN)):
        line, at = first_line, 0
        for found in pattern.finditer(plain):
            line += plain.count("\n", at, found.start())
            at = found.start()
            target = found.group(2).rstrip("\\") if form == "wiki" else markdown_target(found.group(3))
            if target:
                yield Link(target.strip(), line, "embed" if found.group(1) else form)


def markdown_target(written: str) -> str:
    """Return the file that the round part of a Markdown link names; nothing for other addresses."""
    target = unquote(written.strip("<>").strip())
    path = target.partition("#")[0]
    return target if path.lower().endswith(".md") and not SCHEME.match(path) else ""


def page(target: str) -> str:
    """Cut `#heading`, `|alias` and `.md` off a link's target."""
    name = target.partition("|")[0].partition("#")[0].strip()
    return name[:-3] if name.lower().endswith(".md") else name


def fold(name: str) -> str:
    """Make names comparable: Unicode form, case and `-`/`_` do not matter."""
    return unicodedata.normalize("NFC", name).casefold().replace("_", "-")


class Resolver:
    """Finds the file that a link means: stem in the same directory, name, stem without its prefix, then elsewhere."""

    def __init__(self, targets: Iterable[Target]) -> None:
        self.paths: dict[str, str] = {}
        self.near: dict[tuple[str, str], list[str | None]] = {}
        self.far: dict[str, list[str | None]] = {}
        for target in sorted(targets, key=lambda item: item.path):
            directory, file = posixpath.split(target.path)
            stem = file[:-3]
            self.paths.setdefault(unicodedata.normalize("NFC", target.path), target.path)
            self.paths.setdefault(fold(target.path), target.path)
            for rank, name in enumerate((stem, target.name, PREFIX.sub("", stem, count=1))):
                key = fold(name)
                for slots in (
                    self.near.setdefault((directory, key), [None, None, None]),
                    self.far.setdefault(key, [None, None, None]),
                ):
                    slots[rank] = slots[rank] or target.path

    def find(self, target: str, source: str) -> str | None:
        """Return the path that a link in the file `source` means, or None."""
        name = page(target)
        directory = posixpath.dirname(source)
        if not name:
            return source if target.startswith("#") else None
        if "/" in name:
            return self.find_upwards(f"{name}.md", directory)
        key = fold(name)
        for slots in (self.near.get((directory, key)), self.far.get(key)):
            for path in slots or ():
                if path is not None:
                    return path
        return None

    def find_upwards(self, path: str, directory: str) -> str | None:
        """Return the file at a path relative to a directory or one above it, the nearest first."""
        while True:
            found = self.find_path(path, directory)
            if found is not None or not directory:
                return found
            directory = posixpath.dirname(directory)

    def find_path(self, path: str, directory: str) -> str | None:
        """Return the file at a path relative to a directory of the import, or None; a path that leaves it is None."""
        joined = posixpath.normpath(posixpath.join(directory, path.partition("#")[0]))
        if joined.startswith(("../", "/")):
            return None
        return self.paths.get(unicodedata.normalize("NFC", joined)) or self.paths.get(fold(joined))
