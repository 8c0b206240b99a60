"""An index file (`MEMORY.md`) to its entries and the prose between them; also tells an index from content (S12)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from engine.transfer.links import SCHEME, WIKI
from engine.transfer.plan import IndexEntry, IndexProse

ITEM = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]+(.*)")
CELL_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((<[^<>]+>|[^()]*?\.md(?:#[^()\s]*)?)\)")
ENTRY = re.compile(rf"(?:\*\*)?{CELL_LINK.pattern}(?:\*\*)?(.*)")
DIVIDER = re.compile(r"[ \t]*\|?[ \t:|-]+\|?[ \t]*")
HEADING = re.compile(r"#{1,6}[ \t]+(.+?)[ \t#]*")
INDEX_TITLE = re.compile(r"\bindex\b|索引|目录", re.I)
RULES = re.compile(r"rule|trigger|quy tắc|规则|触发|规矩", re.I)
PREFERENCES = re.compile(r"preferen|sở thích|偏好|喜好", re.I)
HOOK_EDGES = " \t—–-:：|·*"


@dataclass(frozen=True, slots=True)
class Index:
    """What an index says: its entries in order and everything else."""

    entries: tuple[IndexEntry, ...]
    prose: tuple[IndexProse, ...]


def read_index(text: str, file: str, first_line: int = 1) -> Index:
    """Read the text of an index; `file` is its path in the import."""
    entries: list[IndexEntry] = []
    prose: list[IndexProse] = []
    section = ""
    rows = text.split("\n")
    for line, row in without_comments(rows, first_line, file, prose):
        bare = row.strip()
        heading = HEADING.fullmatch(bare)
        if heading:
            section = heading.group(1)
            continue
        if not bare or set(bare) <= set("-*_ "):
            continue
        entry = read_row(bare, file, line, section)
        if entry:
            entries.append(entry)
        elif not is_table_head(rows, line - first_line) and not DIVIDER.fullmatch(row):
            prose.append(IndexProse(file, line, section, bare, what_it_is(section)))
    return Index(tuple(entries), tuple(sorted(prose, key=lambda item: item.line)))


def without_comments(rows: list[str], first_line: int, file: str, prose: list[IndexProse]) -> Iterator[tuple[int, str]]:
    """Yield (line, row) outside of HTML comments; a comment becomes one piece of prose."""
    comment: list[str] = []
    start = 0
    for line, row in enumerate(rows, first_line):
        if not comment and not row.lstrip().startswith("<!--"):
            yield line, row
            continue
        start = start if comment else line
        comment.append(row)
        if "-->" in row:
            prose.append(IndexProse(file, start, "", "\n".join(comment).strip(), "comment"))
            comment = []
    if comment:
        prose.append(IndexProse(file, start, "", "\n".join(comment).strip(), "comment"))


def read_row(row: str, file: str, line: int, section: str) -> IndexEntry | None:
    """Read one row as an entry: a list item that begins with a link, or a table row that holds one."""
    if row.startswith("|"):
        return read_cells([cell.strip() for cell in row.strip("|").split("|")], file, line, section)
    item = ITEM.fullmatch(row)
    if not item:
        return None
    text = item.group(1)
    link = ENTRY.match(text)
    if link:
        target = target_of(link.group(2))
        return IndexEntry(file, line, link.group(1), target, hook_of(link.group(3)), section) if target else None
    wiki = WIKI.match(text)
    if wiki and not wiki.group(1):
        return IndexEntry(file, line, wiki.group(2), wiki.group(2), hook_of(text[wiki.end() :]), section)
    return None


def read_cells(cells: list[str], file: str, line: int, section: str) -> IndexEntry | None:
    """Read a table row: the cell with the link names the file, the others are the hook."""
    for cell in cells:
        link = CELL_LINK.search(cell) or WIKI.search(cell)
        if link:
            target = target_of(link.group(2)) if link.re is CELL_LINK else link.group(2)
            others = [other.strip("* ") for other in cells if other is not cell and other.strip("* ")]
            title = others[0] if others else link.group(1)
            return IndexEntry(file, line, title, target, " — ".join(others[1:]), section) if target else None
    return None


def target_of(written: str) -> str:
    """Return the path that an entry names, without anchor and percent signs; nothing for web addresses and folders."""
    path = unquote(written.strip("<>").strip()).partition("#")[0].strip()
    return path if path.lower().endswith(".md") and not SCHEME.match(path) else ""


def hook_of(rest: str) -> str:
    """Return the text behind an entry's dash, without the dash and empty backticks."""
    return rest.replace("``", "").strip(HOOK_EDGES).strip()


def is_table_head(rows: list[str], index: int) -> bool:
    """Tell whether a row is the head of a table: the next one is its divider."""
    below = rows[index + 1] if index + 1 < len(rows) else ""
    return rows[index].lstrip().startswith("|") and "-" in below and bool(DIVIDER.fullmatch(below))


def what_it_is(section: str) -> str:
    """Tell what prose under a heading is for: a rule, a preference, or mere text."""
    if RULES.search(section):
        return "rule"
    return "preference" if PREFERENCES.search(section) else "text"


def is_index(index: Index, base_name: str, text: str) -> bool:
    """Tell an index from content: MEMORY.md with as many entries as other rows, another file only when it says so."""
    if base_name.lower() == "memory.md":
        return len(index.entries) > 0 and len(index.entries) * 2 >= len(index.prose)
    first = next((row for row in text.split("\n") if row.strip()), "")
    heading = HEADING.fullmatch(first.strip())
    return bool(heading and INDEX_TITLE.search(heading.group(1))) and len(index.entries) >= max(3, len(index.prose))
