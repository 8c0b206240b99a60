"""Numbered migrations: each brings the schema one step on, under the lock, after a snapshot."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from engine.model.ids import new_uid
from engine.store import mentions, postings
from engine.store.planner import PLANNER_SQL
from engine.store.schema import APPLICATION_ID, initial_sql

if TYPE_CHECKING:
    from engine.store.connection import Store


def m001_initial(conn: sqlite3.Connection) -> None:
    """Create all tables of the first schema and the store's identity."""
    import secrets  # only the first start of a store needs it

    _run(conn, initial_sql())
    _run(conn, postings.SCHEMA)
    _run(conn, mentions.SCHEMA)
    _run(conn, PLANNER_SQL)
    conn.executemany(
        "INSERT INTO meta (key, value) VALUES (?, ?)",
        [("uid", new_uid()), ("epoch", 1), ("fingerprint_key", secrets.token_bytes(32))],
    )


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (m001_initial,)
LATEST = len(MIGRATIONS)


def migrate(conn: sqlite3.Connection, store: Store) -> None:
    """Bring a store's schema up to date, after a snapshot; the caller holds the lock."""
    version = schema_of(conn)
    if version and version < LATEST:
        from engine.store.snapshots import make_snapshot

        make_snapshot(store, kind="protection", reason=f"before migration to schema {LATEST}")
    upgrade(conn)


def upgrade(conn: sqlite3.Connection) -> None:
    """Run the steps that a database lacks, each as a transaction of its own; an empty one gets the newest schema."""
    for number in range(schema_of(conn) + 1, LATEST + 1):
        conn.execute("BEGIN IMMEDIATE")
        try:
            MIGRATIONS[number - 1](conn)
            conn.execute(f"PRAGMA user_version = {number}")
            conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            conn.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                conn.execute("ROLLBACK")
            raise


def schema_of(conn: sqlite3.Connection) -> int:
    """Return the number of the newest step that a database has; 0 when it is empty."""
    return int(conn.execute("PRAGMA user_version").fetchone()[0])


def _run(conn: sqlite3.Connection, script: str) -> None:
    """Execute a script statement by statement, inside the open transaction (executescript would commit it)."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            conn.execute(statement)
            statement = ""
    if statement.strip():
        conn.execute(statement)
