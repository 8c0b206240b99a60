"""Where a walk of the graph begins: entities whose names a question holds, or whose names hold a keyword (T9)."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Iterator

from engine.recall.words import STOP_WORDS
from engine.rules.textnorm import fold, is_cjk
from engine.store.rows import open_at

MAX_KEYWORDS = 20
"""Keywords of a question that are looked for; the first ones win."""

MAX_STARTS = 50
"""Entities from which a walk begins, the most mentioned first (T10)."""

WHOLE, PART = 1.0, 0.5
"""What a start counts whose whole name was said, or that a keyword only occurs in."""

READ_CHARS = 300
NAME_CHARS, CJK_NAME_CHARS = 40, 12
"""How much of a question is read for names, and how long a name in it may be."""

SENTENCE_WORDS = 4
"""So many words between blanks alone are a sentence: its stop words are no keywords."""

_LIST_RE = re.compile(r"[,，、\n]+")
_SEPARATOR_RE = re.compile(r"[\s,，、]+")


def keywords(text: str) -> list[str]:
    """Split a question at commas and blanks into folded keywords (T9)."""
    found = list(dict.fromkeys(fold(word) for word in _SEPARATOR_RE.split(text.strip()) if word))
    if not _LIST_RE.search(text) and len(found) >= SENTENCE_WORDS:
        found = [word for word in found if word not in STOP_WORDS and (len(word) > 1 or is_cjk(word))] or found
    return found[:MAX_KEYWORDS]


def starts(conn: sqlite3.Connection, text: str, seeds: Iterable[str], known: int | None) -> dict[int, float]:
    """Return the entities from which a walk begins, with what each counts (WHOLE or PART)."""
    words = keywords(text)
    found = whole_names(conn, text, (*seeds, *words), known)
    for number in _holding(conn, words, known):
        found.setdefault(number, PART)
    return found


def whole_names(conn: sqlite3.Connection, text: str, seeds: Iterable[str], known: int | None) -> dict[int, float]:
    """Return the entities that seeds name, or whose whole names stand in a text, each with what it counts."""
    wanted = [" ".join(fold(seed).split()) for seed in seeds]
    return dict.fromkeys([*by_name(conn, wanted, known), *named_in(conn, text, known)], WHOLE)


def by_name(conn: sqlite3.Connection, names: Iterable[str], known: int | None) -> list[int]:
    """Return the entities of folded names."""
    rows = conn.execute(
        f"SELECT DISTINCT e.entity_id FROM json_each(?) j JOIN entities e ON e.folded = j.value WHERE"
        f" {open_at('e', known)} ORDER BY e.entity_id",
        (json.dumps(list(names)),),
    )
    return [number for (number,) in rows]


def named_in(conn: sqlite3.Connection, text: str, known: int | None) -> list[int]:
    """Return the entities whose whole name stands in a text, from word to word; one letter is no name."""
    return by_name(conn, dict.fromkeys(_possible_names(" ".join(fold(text[:READ_CHARS]).split()))), known)


def _possible_names(text: str) -> Iterator[str]:
    edges = [i for i in range(len(text) + 1) if not (0 < i < len(text) and _joined(text[i - 1], text[i]))]
    for at, start in enumerate(edges):
        if not text[start : start + 1].strip():
            continue
        limit = start + (CJK_NAME_CHARS if is_cjk(text[start]) else NAME_CHARS)
        for end in edges[at + 1 :]:
            if end > limit:
                break
            name = text[start:end]
            if len(name) < 2 or name[-1] == " " or name in STOP_WORDS or name.isdecimal():
                continue
            yield name
            if " " in name:
                yield name.replace(" ", "_")
                yield name.replace(" ", "-")


def _joined(one: str, other: str) -> bool:
    """Tell whether two neighbouring characters belong to the same word."""
    return one.isalnum() and other.isalnum() and not is_cjk(one) and not is_cjk(other)


def _holding(conn: sqlite3.Connection, words: list[str], known: int | None) -> list[int]:
    """Return the entities in whose names a keyword occurs, `%` and `_` taken as they are."""
    if not words:
        return []
    holds = " OR ".join(["instr(e.folded, ?) > 0"] * len(words))
    rows = conn.execute(
        f"SELECT e.entity_id FROM entities e LEFT JOIN ix_mentions m ON m.entity_id = e.entity_id"
        f" WHERE {open_at('e', known)} AND ({holds}) ORDER BY coalesce(m.count, 0) DESC, e.entity_id LIMIT ?",
        (*words, 4 * MAX_STARTS),
    )
    return [number for (number,) in rows]


def most_mentioned(conn: sqlite3.Connection) -> Iterator[int]:
    """Yield all entities, the most mentioned first, those of no mention last."""
    yield from (
        number for (number,) in conn.execute("SELECT entity_id FROM ix_mentions ORDER BY count DESC, entity_id")
    )
    yield from (
        number
        for (number,) in conn.execute(
            "SELECT e.entity_id FROM entities e WHERE e.op_to IS NULL AND NOT EXISTS"
            " (SELECT 1 FROM ix_mentions m WHERE m.entity_id = e.entity_id) ORDER BY e.entity_id"
        )
    )
