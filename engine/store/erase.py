"""Expunge and clean-up: the only code that removes rows, and it leaves no byte of what it removes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from engine.store import mentions, postings
from engine.store.facts import ends_of, erase_orphans
from engine.store.schema import JOURNALLED, TOMBSTONES


@contextmanager
def erasing(conn: sqlite3.Connection) -> Iterator[None]:
    """Allow deletes of journalled rows inside the block, and overwrite what they free; part of a transaction."""
    secure = conn.execute("PRAGMA secure_delete").fetchone()[0]
    conn.execute("PRAGMA secure_delete = ON")
    conn.execute("INSERT INTO meta (key, value) VALUES ('erasing', 1)")
    try:
        yield
    finally:
        conn.execute("DELETE FROM meta WHERE key = 'erasing'")
        conn.execute(f"PRAGMA secure_delete = {int(secure)}")


def erase_memory(conn: sqlite3.Connection, memory_id: int, *, keep_tombstones: bool = False) -> int:
    """Remove every row of one memory: versions, states, links, facts, evidence, review items, index, texts, log lines.

    Returns how many rows went. Texts that another memory shares stay. Its number is not used again. A clean-up keeps
    the tombstones, so that what was forgotten stays forgotten.
    """
    before = conn.total_changes
    versions = conn.execute(
        "SELECT vid, description, body FROM versions WHERE memory_id = ?", (memory_id,)
    ).fetchall()
    kept = conn.execute("SELECT input, response FROM events WHERE memory_id = ?", (memory_id,)).fetchall()
    ops = _operations_of(conn, memory_id)
    entities = ends_of(conn, memory_id)
    with erasing(conn):
        postings.drop_versions(conn, [vid for vid, *_ in versions])
        mentions.forget(conn, memory_id)
        for table in JOURNALLED:
            if "memory_id" in table.all_columns and not (keep_tombstones and table is TOMBSTONES):
                conn.execute(f"DELETE FROM {table.name} WHERE memory_id = ?", (memory_id,))
        erase_orphans(conn, entities)
        conn.execute("DELETE FROM review_items WHERE rival_id = ?", (memory_id,))
        conn.execute("DELETE FROM memories WHERE id = ?", (memory_id,))
        conn.execute("DELETE FROM jobs WHERE json_extract(payload, '$.memory') = ?", (memory_id,))
        for digest in {digest for _, *digests in versions for digest in digests} | {d for pair in kept for d in pair}:
            conn.execute(
                "DELETE FROM texts WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM versions WHERE description = ?1)"
                " AND NOT EXISTS (SELECT 1 FROM versions WHERE body = ?1)"
                " AND NOT EXISTS (SELECT 1 FROM events WHERE input = ?1)"
                " AND NOT EXISTS (SELECT 1 FROM events WHERE response = ?1)",
                (digest,),
            )
        conn.execute("DELETE FROM usage WHERE memory_id = ?", (memory_id,))
        conn.executemany("UPDATE operations SET summary = '[erased]', reason = '' WHERE op = ?", [(o,) for o in ops])
        conn.executemany("DELETE FROM idempotency WHERE op = ?", [(o,) for o in ops])
        _scrub_past_journal(conn, memory_id)
        conn.execute("DELETE FROM recall_log")
    return conn.total_changes - before


def _operations_of(conn: sqlite3.Connection, memory_id: int) -> list[int]:
    """Return the operations whose line in the journal may quote the memory: those that began one of its rows."""
    ops: set[int] = set()
    for table in JOURNALLED:
        if "memory_id" in table.all_columns:
            ops |= {r[0] for r in conn.execute(f"SELECT op_from FROM {table.name} WHERE memory_id = ?", (memory_id,))}
    return sorted(ops)


def _scrub_past_journal(conn: sqlite3.Connection, memory_id: int) -> None:
    """Take the words out of the lines about a memory in the journals that earlier restores left behind."""
    conn.execute(
        "UPDATE past_journal SET record = json_set(record, '$.summary', '[erased]', '$.reason', '')"
        " WHERE EXISTS (SELECT 1 FROM json_each(record, '$.objects') WHERE value = ?)",
        (f"mem-{memory_id}",),
    )
