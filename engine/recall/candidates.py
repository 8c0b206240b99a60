"""Which versions a search may return: the caller's condition, asked of the store and kept while nothing changes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class Candidates:
    """A SQL condition over `versions AS v` with its parameters; it holds for the versions that may be returned.

    A condition with sub-queries is fine: it is part of `SELECT v.vid FROM versions AS v WHERE ...`.
    """

    sql: str = ""
    params: tuple[object, ...] = ()


EVERYTHING = Candidates()


def admitted(conn: sqlite3.Connection, where: Candidates, vids: Collection[int]) -> Collection[int]:
    """Return those of `vids` that the condition admits."""
    if not where.sql or not vids:
        return vids
    rows = conn.execute(
        f"SELECT v.vid FROM versions AS v WHERE v.vid IN (SELECT value FROM json_each(?)) AND ({where.sql})",
        (json.dumps(list(vids)), *where.params),
    )
    return {vid for (vid,) in rows}
