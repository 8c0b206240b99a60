"""Which versions a search may return: the caller's condition, asked of the store and kept while nothing changes."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Candidates:
    """A SQL condition over `versions AS v` with its parameters; it holds for the versions that may be returned.

    A condition with sub-queries is fine: it is part of `SELECT v.vid FROM versions AS v WHERE ...`.
    """

    sql: str = ""
    params: tuple[object, ...] = ()


EVERYTHING = Candidates()

ASK_ALL = 0.5
"""Once searches had so many versions judged one by one, as a share of the store, all are judged and the answer kept."""

_KEPT = 8
_Key = tuple[str, tuple[object, ...]]


@dataclass(frozen=True)
class _Answer:
    """One byte per version id, right as long as the clock stands in `since <= now < until`."""

    allowed: bytearray
    since: int
    until: float


@dataclass
class Admission:
    """Judges versions by a condition on one connection, and remembers answers until the store changes.

    A parameter that equals the time of the search is taken for the clock: as it moves on, an answer stays right until
    the next validity of any version begins or ends.
    """

    conn: sqlite3.Connection
    _state: tuple[int, int] = (-1, -1)
    _known: dict[_Key, _Answer] = field(default_factory=dict)
    _asked: Counter[_Key] = field(default_factory=Counter)

    def admitted(self, where: Candidates, vids: Collection[int], now_ms: int) -> Collection[int]:
        """Return those of `vids` that the condition admits."""
        if not where.sql or not vids:
            return vids
        key = where.sql, tuple("now" if value == now_ms else value for value in where.params)
        answer = self._kept(key, now_ms)
        if answer is None:
            last = int(self.conn.execute("SELECT coalesce(max(vid), 0) FROM versions").fetchone()[0])
            self._asked[key] += len(vids)
            if self._asked[key] <= ASK_ALL * last:
                return self._ask(where, vids)
            answer = self._ask_all(where, key, now_ms, last)
        allowed, size = answer.allowed, len(answer.allowed)
        return [vid for vid in vids if vid < size and allowed[vid]]

    def _kept(self, key: _Key, now_ms: int) -> _Answer | None:
        state = (int(self.conn.execute("PRAGMA data_version").fetchone()[0]), self.conn.total_changes)
        if state != self._state:
            self._state = state
            self._known.clear()
            self._asked.clear()
        answer = self._known.get(key)
        return answer if answer is not None and answer.since <= now_ms < answer.until else None

    def _ask(self, where: Candidates, vids: Collection[int]) -> list[int]:
        rows = self.conn.execute(
            f"SELECT v.vid FROM versions AS v WHERE v.vid IN (SELECT value FROM json_each(?)) AND ({where.sql})",
            (json.dumps(list(vids)), *where.params),
        )
        return [vid for (vid,) in rows]

    def _ask_all(self, where: Candidates, key: _Key, now_ms: int, last: int) -> _Answer:
        allowed = bytearray(last + 1)
        for (vid,) in self.conn.execute(f"SELECT v.vid FROM versions AS v WHERE {where.sql}", where.params):
            allowed[vid] = 1
        until = float("inf")
        if "now" in key[1]:
            bounds = self.conn.execute(
                "SELECT min(CASE WHEN valid_from > ?1 THEN valid_from END),"
                " min(CASE WHEN valid_to > ?1 THEN valid_to END)"
                " FROM versions",
                (now_ms,),
            ).fetchone()
            until = min((bound for bound in bounds if bound is not None), default=until)
        if len(self._known) >= _KEPT:
            self._known.pop(next(iter(self._known)))
        answer = self._known[key] = _Answer(allowed, now_ms, until)
        return answer


_of_thread = threading.local()


def admission_of(conn: sqlite3.Connection) -> Admission:
    """Return what this thread remembers of a connection; the last connection asked about is the one remembered."""
    known: Admission | None = getattr(_of_thread, "admission", None)
    if known is None or known.conn is not conn:
        known = _of_thread.admission = Admission(conn)
    return known
