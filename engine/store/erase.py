"""Expunge and clean-up: the only code that removes rows, and it leaves no byte of what it removes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from engine.store import mentions, postings
from engine.store.facts import ends_of, erase_orphans
from engine.store.schema import JOURNALLED, MEMORY_TAGS, MEMORY_TOPICS, TAGS, TOMBSTONES, TOPICS, Table


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
    versions = conn.execute("SELECT vid, description, body FROM versions WHERE memory_id = ?", (memory_id,)).fetchall()
    kept = conn.execute("SELECT input, response FROM events WHERE memory_id = ?", (memory_id,)).fetchall()
    ops = _operations_of(conn, memory_id)
    entities = ends_of(conn, memory_id)
    names = _names_of(conn, memory_id)
    with erasing(conn):
        postings.drop_versions(conn, [vid for vid, *_ in versions])
        mentions.forget(conn, memory_id)
        for table in JOURNALLED:
            if "memory_id" in table.all_columns and not (keep_tombstones and table is TOMBSTONES):
                conn.execute(f"DELETE FROM {table.name} WHERE memory_id = ?", (memory_id,))
        erase_orphans(conn, entities)
        _erase_names(conn, names)
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


def _names_of(conn: sqlite3.Connection, memory_id: int) -> list[tuple[Table, Table, int]]:
    """Return the tags and topics that a memory ever had, each with the table that links it."""
    return [
        (words, links, number)
        for words, links in ((TAGS, MEMORY_TAGS), (TOPICS, MEMORY_TOPICS))
        for (number,) in conn.execute(
            f"SELECT DISTINCT {words.owner} FROM {links.name} WHERE memory_id = ?", (memory_id,)
        ).fetchall()
    ]


def _erase_names(conn: sqlite3.Connection, names: Iterable[tuple[Table, Table, int]]) -> None:
    """Remove tags and topics that no other memory ever had and nobody described: their names came with the memory."""
    for words, links, number in names:
        bare = "source <> 'system' AND definition = ''" if words is TAGS else "description = '' AND aliases = '[]'"
        conn.execute(
            f"DELETE FROM {words.name} WHERE {words.owner} = ?1"
            f" AND NOT EXISTS (SELECT 1 FROM {links.name} WHERE {words.owner} = ?1)"
            f" AND NOT EXISTS (SELECT 1 FROM {words.name} WHERE {words.owner} = ?1 AND NOT ({bare}))"
            + (" AND NOT EXISTS (SELECT 1 FROM tag_relations WHERE ?1 IN (low_id, high_id))" if words is TAGS else ""),
            (number,),
        )


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
