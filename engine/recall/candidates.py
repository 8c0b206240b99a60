"""Which versions a search may return: the caller's condition, asked of the store and kept while nothing changes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Hashable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Candidates:
    """A SQL condition over `versions AS v` with its parameters; it holds for the versions that may be returned.

    A condition with sub-queries is fine: it is part of `SELECT v.vid FROM versions AS v WHERE ...`. `key` names the
    answer for as long as the store is unchanged, where the parameters say more than that (the time now).
    """

    sql: str = ""
    params: tuple[object, ...] = ()
    key: Hashable | None = field(default=None, compare=False)


EVERYTHING = Candidates()

ASK_ALL = 2_000
"""When a search must judge more versions than this, the whole store is judged at once and the answer kept."""

_KEPT = 8


@dataclass
class Admission:
    """Judges versions by a condition on one connection, and remembers answers until the store changes."""

    conn: sqlite3.Connection
    _state: tuple[int, int] = (-1, -1)
    _known: dict[Hashable, bytearray] = field(default_factory=dict)

    def admitted(self, where: Candidates, vids: Collection[int]) -> Collection[int]:
        """Return those of `vids` that the condition admits."""
        if not where.sql or not vids:
            return vids
        allowed = self._kept(where)
        if allowed is None:
            if len(vids) <= ASK_ALL:
                return self._ask(where, vids)
            allowed = self._ask_all(where)
        size = len(allowed)
        return [vid for vid in vids if vid < size and allowed[vid]]

    def _kept(self, where: Candidates) -> bytearray | None:
        state = (int(self.conn.execute("PRAGMA data_version").fetchone()[0]), self.conn.total_changes)
        if state != self._state:
            self._state = state
            self._known.clear()
        return self._known.get(_key(where))

    def _ask(self, where: Candidates, vids: Collection[int]) -> list[int]:
        rows = self.conn.execute(
            f"SELECT v.vid FROM versions AS v WHERE v.vid IN (SELECT value FROM json_each(?)) AND ({where.sql})",
            (json.dumps(list(vids)), *where.params),
        )
        return [vid for (vid,) in rows]

    def _ask_all(self, where: Candidates) -> bytearray:
        last = self.conn.execute("SELECT coalesce(max(vid), 0) FROM versions").fetchone()[0]
        allowed = bytearray(last + 1)
        for (vid,) in self.conn.execute(f"SELECT v.vid FROM versions AS v WHERE {where.sql}", where.params):
            allowed[vid] = 1
        if len(self._known) >= _KEPT:
            self._known.pop(next(iter(self._known)))
        self._known[_key(where)] = allowed
        return allowed


def _key(where: Candidates) -> Hashable:
    return (where.sql, where.params) if where.key is None else (where.sql, where.key)
