"""Numbered migrations: each brings the schema one step on, under the lock, after a snapshot."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.model.ids import new_uid
from engine.store import postings
from engine.store.schema import APPLICATION_ID, initial_sql

if TYPE_CHECKING:
    from engine.store.connection import Store


def m001_initial(conn: sqlite3.Connection) -> None:
    """Create all tables of the first schema and the store's identity."""
    _run(conn, initial_sql())
    _run(conn, postings.SCHEMA)
    conn.executemany(
        "INSERT INTO meta (key, value) VALUES (?, ?)",
        [("uid", new_uid()), ("epoch", 1), ("fingerprint_key", secrets.token_bytes(32))],
    )


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (m001_initial,)
LATEST = len(MIGRATIONS)


def migrate(conn: sqlite3.Connection, store: Store) -> None:
    """Bring the schema up to date; the caller holds the lock. Each step is a transaction of its own."""
    version = conn.execute("PRAGMA user_version").fetchone()[0]
    if version == LATEST:
        return
    if version:
        from engine.store.snapshots import make_snapshot

        make_snapshot(store, kind="protection", reason=f"before migration to schema {LATEST}")
    for number in range(version + 1, LATEST + 1):
        conn.execute("BEGIN IMMEDIATE")
        try:
            MIGRATIONS[number - 1](conn)
            conn.execute(f"PRAGMA user_version = {number}")
            conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            conn.execute("COMMIT")
        except BaseException:
            conn.execute("ROLLBACK")
            raise


def create_schema(conn: sqlite3.Connection) -> None:
    """Bring an empty database to the newest schema, outside any store."""
    for number, step in enumerate(MIGRATIONS, 1):
        conn.execute("BEGIN IMMEDIATE")
        step(conn)
        conn.execute(f"PRAGMA user_version = {number}")
        conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        conn.execute("COMMIT")


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
