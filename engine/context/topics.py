"""Topics in a pack: which ones a question names, and under which one a memory stands (C16, C20)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from engine.model.memory import Memory
from engine.rules.textnorm import fold, has_cjk

SHORTEST_NAME = 2


def topics_named(conn: sqlite3.Connection, question: str) -> list[str]:
    """Return the active topics whose name or alias stands in the question, in the order of their names (C20)."""
    asked = fold(question)
    rows = conn.execute("SELECT name, aliases FROM topics WHERE op_to IS NULL AND status = 'active' ORDER BY name")
    return [name for name, aliases in rows if any(_stands_in(word, asked) for word in (name, *json.loads(aliases)))]


def heading_of(memory: Memory, named: Sequence[str]) -> str:
    """Return the topic under which a memory stands: one that the question names, else its first, else none."""
    return next((topic for topic in memory.topics if topic in named), memory.topics[0] if memory.topics else "")


def _stands_in(word: str, asked: str) -> bool:
    """Tell whether a folded question holds a name; in spaced scripts as a whole word."""
    name = fold(word).strip()
    if len(name) < SHORTEST_NAME:
        return False
    at = asked.find(name)
    while at >= 0:
        end = at + len(name)
        if has_cjk(name) or not (asked[at - 1 : at].isalnum() or asked[end : end + 1].isalnum()):
            return True
        at = asked.find(name, at + 1)
    return False
