"""One operation on the store: the only way in which rows of interval tables begin and end."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Self

from engine.model.errors import MemdeckError, not_found
from engine.model.memory import Caller
from engine.rules.secrets import find_secrets, redact
from engine.store import mentions, postings
from engine.store.rows import checksum, index_entry
from engine.store.schema import FACTS, MEMORY_TAGS, SIGHTINGS, STATES, VERSIONS, Table

Values = dict[str, object]


class Tx:
    """An operation under way: its number is the known-time of everything that it writes."""

    def __init__(self, conn: sqlite3.Connection, op: int, at: int, by: Caller) -> None:
        self.conn = conn
        self.op = op
        self.at = at
        self.by = by
        self._opened: list[int] = []
        self._closed: list[int] = []
        self._retagged: set[int] = set()
        self._restated: set[int] = set()

    @classmethod
    def begin(
        cls,
        conn: sqlite3.Connection,
        at: int,
        by: Caller,
        kind: str,
        *,
        reason: str = "",
        source: str = "",
        run: str | None = None,
        summary: str = "",
    ) -> Self:
        """Record the operation and return it; a transaction is open on `conn`.

        Raises refused_secret when the reason or the caller's own names hold a secret: they stand in the journal, the
        audit log and the snapshots, where no gate for memories would look (C7).
        """
        for said in (reason, by.actor, by.session, by.workspace, source):
            if said and find_secrets(said):
                raise MemdeckError(
                    "refused_secret",
                    "the reason or the caller's name holds a secret, so nothing was done",
                    "leave the secret out",
                )
        cursor = conn.execute(
            "INSERT INTO operations (at, kind, origin, actor, session, workspace, source, reason, summary, run)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (at, kind, by.origin.value, by.actor, by.session, by.workspace, source, reason, summary, run),
        )
        op = cursor.lastrowid
        assert op is not None
        return cls(conn, op, at, by)

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Run a part of the operation that leaves nothing behind when it raises; the rest can go on."""
        begun = (list(self._opened), list(self._closed), set(self._retagged), set(self._restated))
        self.conn.execute("SAVEPOINT attempt")
        try:
            yield
        except BaseException:
            self.conn.execute("ROLLBACK TO attempt")
            self._opened, self._closed, self._retagged, self._restated = begun
            raise
        finally:
            self.conn.execute("RELEASE attempt")

    def describe(self, summary: str) -> None:
        """Set the line under which the journal lists this operation."""
        shown = redact(summary, find_secrets(summary))
        self.conn.execute("UPDATE operations SET summary = ? WHERE op = ?", (shown, self.op))

    def next_id(self, counter: str) -> int:
        """Return the next number of a counter; numbers are never used twice, not even after a restore."""
        row = self.conn.execute(
            "INSERT INTO counters (name, value) VALUES (?, 1)"
            " ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value",
            (counter,),
        ).fetchone()
        return int(row[0])

    def current(self, table: Table, *key: object) -> Values | None:
        """Return the open row of a key, with `vid`, `op_from` and `op_to`, or None."""
        where = " AND ".join(f"{c} = ?" for c in table.key)
        columns = ("vid", "op_from", "op_to", *table.all_columns)
        row = self.conn.execute(
            f"SELECT {', '.join(columns)} FROM {table.name} WHERE {where} AND op_to IS NULL", key
        ).fetchone()
        return dict(zip(columns, row, strict=True)) if row else None

    def open(self, table: Table, values: Mapping[str, object]) -> int:
        """Begin a row; missing columns are NULL. Returns its row id."""
        filled: Values = {c: values.get(c) for c in table.all_columns}
        if table is VERSIONS:
            filled["checksum"] = checksum(filled)
        columns = ("op_from", *filled)
        cursor = self.conn.execute(
            f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})",
            (self.op, *filled.values()),
        )
        vid = cursor.lastrowid
        assert vid is not None
        self._note(table, filled, self._opened, vid)
        return vid

    def close(self, table: Table, *key: object) -> Values | None:
        """End the open row of a key and return it; None when there is none."""
        row = self.current(table, *key)
        if row is None:
            return None
        self.conn.execute(f"UPDATE {table.name} SET op_to = ? WHERE vid = ?", (self.op, row["vid"]))
        self._note(table, row, self._closed, int(str(row["vid"])))
        return row

    def _note(self, table: Table, row: Values, changed: list[int], vid: int) -> None:
        """Remember what the search index and the counts have to follow."""
        if table is VERSIONS:
            changed.append(vid)
        elif table is MEMORY_TAGS:
            self._retagged.add(int(str(row["memory_id"])))
        elif table in (FACTS, STATES, SIGHTINGS):
            self._restated.add(int(str(row["memory_id"])))

    def replace(self, table: Table, key: tuple[object, ...], changes: Mapping[str, object]) -> bool:
        """End the open row of a key and begin one with `changes`; False when nothing differs.

        Raises not_found when there is none (somebody else took it back meanwhile).
        """
        row = self.current(table, *key)
        if row is None:
            raise not_found(table.label_of(dict(zip(table.key, key, strict=True))), "it was taken back or erased")
        if all(row[column] == value for column, value in changes.items()):
            return False
        self.close(table, *key)
        merged = {c: changes.get(c, row[c]) for c in table.all_columns}
        if table.revision:
            merged[table.revision] = self.next_revision(table, key)
        self.open(table, merged)
        return True

    def next_revision(self, table: Table, key: tuple[object, ...]) -> int:
        """Return one more than the highest revision that a key ever had."""
        where = " AND ".join(f"{c} = ?" for c in table.key)
        row = self.conn.execute(f"SELECT max({table.revision}) FROM {table.name} WHERE {where}", key).fetchone()
        return int(row[0] or 0) + 1

    def finish(self) -> None:
        """Bring index and counts in step with what began and ended and seal the operation; runs before the commit."""
        begun = dict.fromkeys(self._opened)
        for vid in self._closed:
            if vid not in begun:
                postings.set_current(self.conn, vid, False)
        for memory_id in self._retagged:
            row = self.current(VERSIONS, memory_id)
            if row is not None:
                begun[int(str(row["vid"]))] = None
        postings.index_many(self.conn, ((vid, index_entry(self.conn, vid)) for vid in begun))
        mentions.follow(self.conn, self.op, sorted(self._restated))
        self.conn.execute("UPDATE operations SET done = 1 WHERE op = ?", (self.op,))
