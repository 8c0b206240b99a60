"""The derived search index: postings by term in blocks of versions, and the passages of each version.

Everything here can be rebuilt from the memories (`rebuild`). Rows are written in the transaction that writes the
version, so a memory can be found as soon as its write is acknowledged. The index covers all versions, for
reading as of another time; its statistics count current ones only.

Postings stand in blocks of `BLOCK` consecutive version ids. A write touches rows of one block only, a search
reads one row per term and block: ascending version ids (4 bytes each) beside their weights (1 byte each).
"""

from __future__ import annotations

import sqlite3
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from engine.store.cohesion import refresh_cohesion
from engine.store.index_check import check
from engine.store.index_reader import find_terms, in_parts, slots
from engine.store.passages import Analysed, IndexEntry, analyse_entry, group_of, key_of

__all__ = ["SCHEMA", "TABLES", "IndexEntry", "check", "drop_versions", "index_many", "index_version", "rebuild",
           "set_current"]  # fmt: skip

SCHEMA = """
CREATE TABLE IF NOT EXISTS ix_terms (tid INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS ix_blocks (block INTEGER PRIMARY KEY, live INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS ix_postings (
    block INTEGER NOT NULL, tid INTEGER NOT NULL, live INTEGER NOT NULL, summaries INTEGER NOT NULL,
    vids BLOB NOT NULL, weights BLOB NOT NULL, PRIMARY KEY (block, tid)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ix_docs (
    vid INTEGER PRIMARY KEY, live INTEGER NOT NULL, thread INTEGER, seq INTEGER, grp INTEGER, dated_ms INTEGER,
    length INTEGER NOT NULL, marks INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS ix_docs_thread ON ix_docs (thread, seq) WHERE thread IS NOT NULL;
CREATE TABLE IF NOT EXISTS ix_passages (
    vid INTEGER NOT NULL, n INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    length INTEGER NOT NULL, tids BLOB NOT NULL, weights BLOB NOT NULL, PRIMARY KEY (vid, n)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ix_stats (name TEXT PRIMARY KEY, value REAL NOT NULL) WITHOUT ROWID;
"""

TABLES = ("ix_terms", "ix_blocks", "ix_postings", "ix_docs", "ix_passages", "ix_stats")
BLOCK = 4096
BATCH, BATCH_CHARS = BLOCK, 4_000_000
"""Entries, and characters of their bodies, that `index_many` writes together; bounds its memory."""

_Row = tuple[int, int, bytes, bytes]
"""The counts of current versions and of their summaries, version ids, weights."""


def index_version(conn: sqlite3.Connection, vid: int, entry: IndexEntry) -> None:
    """Index one version, replacing what stood there; part of the caller's transaction."""
    index_many(conn, [(vid, entry)])


def index_many(conn: sqlite3.Connection, entries: Iterable[tuple[int, IndexEntry]]) -> None:
    """Index many versions; ids that are indexed already are replaced. Part of the caller's transaction."""
    for batch in _batches(entries):
        _write_batch(conn, [analyse_entry(vid, entry) for vid, entry in sorted(batch.items())])
        refresh_cohesion(conn)


def _batches(entries: Iterable[tuple[int, IndexEntry]]) -> Iterator[dict[int, IndexEntry]]:
    batch: dict[int, IndexEntry] = {}
    size = 0
    for vid, entry in entries:
        batch[vid] = entry
        size += len(entry.body)
        if len(batch) >= BATCH or size >= BATCH_CHARS:
            yield batch
            batch, size = {}, 0
    if batch:
        yield batch


def rebuild(conn: sqlite3.Connection, entries: Iterable[tuple[int, IndexEntry]]) -> None:
    """Empty the index and fill it from all versions; part of the caller's transaction."""
    for table in TABLES:
        conn.execute(f"DELETE FROM {table}")
    index_many(conn, entries)


def set_current(conn: sqlite3.Connection, vid: int, current: bool) -> None:
    """Count a version as current or not, when it is closed or opened again; unknown ids are ignored."""
    found = conn.execute("SELECT live FROM ix_docs WHERE vid = ?", (vid,)).fetchone()
    if found is None or bool(found[0]) == current:
        return
    sign, block = (1 if current else -1), vid // BLOCK
    everywhere, summary = _own_terms(conn, vid)
    conn.executemany(
        "UPDATE ix_postings SET live = live + ?, summaries = summaries + ? WHERE block = ? AND tid = ?",
        [(sign, sign * (tid in summary), block, tid) for tid in sorted(everywhere)],
    )
    _count_block(conn, block, sign)
    conn.execute("UPDATE ix_docs SET live = ? WHERE vid = ?", (current, vid))


def drop_versions(conn: sqlite3.Connection, vids: Iterable[int]) -> None:
    """Take versions out of the index so that no byte of their text stays in its tables (expunge).

    Freed space is overwritten; terms that nothing else uses go too. Copies in the write-ahead log live until the
    caller truncates it.
    """
    secure = conn.execute("PRAGMA secure_delete").fetchone()[0]
    conn.execute("PRAGMA secure_delete = ON")
    _drop_unused(conn, _take_out(conn, vids))
    conn.execute(f"PRAGMA secure_delete = {int(secure)}")


def _take_out(conn: sqlite3.Connection, vids: Iterable[int]) -> set[int]:
    """Take versions out of the index; return the terms that a block lost, which may stand nowhere any more."""
    dropped = sorted(set(vids))
    emptied: set[int] = set()
    blocks: dict[int, list[int]] = defaultdict(list)
    for vid in dropped:
        blocks[vid // BLOCK].append(vid)
    for block, own in blocks.items():
        emptied |= _drop_from_block(conn, block, own)
    for table in ("ix_passages", "ix_docs"):
        conn.executemany(f"DELETE FROM {table} WHERE vid = ?", [(vid,) for vid in dropped])
    return emptied


def _drop_unused(conn: sqlite3.Connection, tids: Iterable[int]) -> None:
    """Remove those of some terms that stand nowhere any more; one seek per block and term (hence CROSS JOIN)."""
    conn.executemany(
        "DELETE FROM ix_terms WHERE tid = ? AND NOT EXISTS (SELECT 1 FROM ix_blocks AS b"
        " CROSS JOIN ix_postings AS p ON p.block = b.block AND p.tid = ix_terms.tid)",
        [(tid,) for tid in sorted(tids)],
    )


def _drop_from_block(conn: sqlite3.Connection, block: int, vids: list[int]) -> set[int]:
    """Remove versions from a block's rows; return the terms that the block lost."""
    gone: dict[int, set[int]] = defaultdict(set)
    live: Counter[int] = Counter()
    summaries: Counter[int] = Counter()
    for vid in vids:
        found = conn.execute("SELECT live FROM ix_docs WHERE vid = ?", (vid,)).fetchone()
        everywhere, summary = _own_terms(conn, vid)
        for tid in everywhere:
            gone[tid].add(vid)
        if found and found[0]:
            live.update(everywhere)
            summaries.update(summary)
            _count_block(conn, block, -1)
    emptied: set[int] = set()
    changed: list[tuple[int, int, bytes, bytes, int, int]] = []
    for tid, (held, in_summary, old_vids, weights) in _rows(conn, block, sorted(gone)):
        kept = [pair for pair in zip(array("I", old_vids), weights, strict=True) if pair[0] not in gone[tid]]
        if kept:
            packed = array("I", [vid for vid, _ in kept]).tobytes(), bytes(weight for _, weight in kept)
            changed.append((held - live[tid], in_summary - summaries[tid], *packed, block, tid))
        else:
            emptied.add(tid)
    conn.executemany("DELETE FROM ix_postings WHERE block = ? AND tid = ?", [(block, tid) for tid in emptied])
    conn.executemany(
        "UPDATE ix_postings SET live = ?, summaries = ?, vids = ?, weights = ? WHERE block = ? AND tid = ?", changed
    )
    return emptied


def _own_terms(conn: sqlite3.Connection, vid: int) -> tuple[set[int], set[int]]:
    """Return all term ids of a version, and those of its summary that count in `summaries`."""
    everywhere: set[int] = set()
    summary: set[int] = set()
    for n, tids, weights in conn.execute("SELECT n, tids, weights FROM ix_passages WHERE vid = ?", (vid,)):
        own = array("I", tids)
        everywhere.update(own)
        if n == 0:
            summary = {tid for tid, weight in zip(own, weights, strict=True) if weight}
    return everywhere, summary


def _write_batch(conn: sqlite3.Connection, batch: list[Analysed]) -> None:
    known = _existing(conn, [doc.vid for doc in batch])
    emptied = _take_out(conn, known)
    weights = {doc.vid: doc.weights() for doc in batch}
    terms = {term for found in weights.values() for term in found}
    conn.executemany("INSERT OR IGNORE INTO ix_terms (term) VALUES (?)", [(term,) for term in sorted(terms)])
    tids = find_terms(conn, terms)
    blocks: dict[int, list[Analysed]] = defaultdict(list)
    for doc in batch:
        blocks[doc.vid // BLOCK].append(doc)
    for block, docs in blocks.items():
        _write_block(conn, block, docs, weights, tids)
    conn.executemany(
        "INSERT INTO ix_docs (vid, live, thread, seq, grp, dated_ms, length, marks) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [_doc_row(doc) for doc in batch],
    )
    conn.executemany(
        "INSERT INTO ix_passages (vid, n, first, last, length, tids, weights) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [row for doc in batch for row in _passage_rows(doc, tids)],
    )
    # Most terms of a version that is replaced come back at once.
    _drop_unused(conn, emptied.difference(tids.values()))


def _doc_row(doc: Analysed) -> tuple[object, ...]:
    entry = doc.entry
    thread = None if entry.thread is None else key_of(entry.thread)
    group = None if entry.thread is None else key_of(group_of(entry.thread))
    return doc.vid, entry.current, thread, entry.seq, group, entry.dated_ms, doc.length, doc.marks


def _passage_rows(doc: Analysed, tids: dict[str, int]) -> Iterator[tuple[object, ...]]:
    for n, passage in enumerate(doc.passages):
        own = array("I", map(tids.__getitem__, passage.terms))
        weights = bytes(passage.terms.values())
        if n == 0:
            own.extend(map(tids.__getitem__, doc.special))
            weights += bytes(len(doc.special))
        yield doc.vid, n, passage.first, passage.last, passage.length, own.tobytes(), weights


def _write_block(
    conn: sqlite3.Connection,
    block: int,
    docs: list[Analysed],
    weights: dict[int, dict[str, int]],
    tids: dict[str, int],
) -> None:
    found: dict[str, tuple[list[int], bytearray]] = defaultdict(lambda: ([], bytearray()))
    for doc in docs:
        for term, byte in weights[doc.vid].items():
            vids, packed = found[term]
            vids.append(doc.vid)
            packed.append(byte)
    closed = {doc.vid for doc in docs if not doc.entry.current}
    rows = {tids[term]: _row(vids, packed, closed) for term, (vids, packed) in found.items()}
    for tid, old in _rows(conn, block, sorted(rows)):
        rows[tid] = _merged(old, rows[tid])
    conn.executemany(
        "INSERT OR REPLACE INTO ix_postings (block, tid, live, summaries, vids, weights) VALUES (?, ?, ?, ?, ?, ?)",
        [(block, tid, *rows[tid]) for tid in sorted(rows)],
    )
    _count_block(conn, block, len(docs) - len(closed))


def _row(vids: list[int], packed: bytearray, closed: set[int]) -> _Row:
    current = packed
    if closed:
        current = bytearray(byte for vid, byte in zip(vids, packed, strict=True) if vid not in closed)
    in_summary = sum(map((1).__and__, current))
    return len(current), in_summary, array("I", vids).tobytes(), bytes(packed)


def _merged(old: _Row, new: _Row) -> _Row:
    vids, weights = old[2] + new[2], old[3] + new[3]
    if array("I", old[2])[-1] > array("I", new[2])[0]:
        pairs = sorted(zip(array("I", vids), weights, strict=True))
        vids, weights = array("I", [vid for vid, _ in pairs]).tobytes(), bytes(weight for _, weight in pairs)
    return old[0] + new[0], old[1] + new[1], vids, weights


def _count_block(conn: sqlite3.Connection, block: int, change: int) -> None:
    conn.execute(
        "INSERT INTO ix_blocks (block, live) VALUES (?, ?)"
        " ON CONFLICT (block) DO UPDATE SET live = live + excluded.live",
        (block, change),
    )


def _rows(conn: sqlite3.Connection, block: int, tids: Sequence[int]) -> Iterator[tuple[int, _Row]]:
    for part in in_parts(tids):
        query = "SELECT tid, live, summaries, vids, weights FROM ix_postings WHERE block = ? AND tid IN "
        for tid, *row in conn.execute(query + slots(part), (block, *part)).fetchall():
            yield tid, (row[0], row[1], row[2], row[3])


def _existing(conn: sqlite3.Connection, vids: Sequence[int]) -> list[int]:
    found: list[int] = []
    for part in in_parts(vids):
        found += [vid for (vid,) in conn.execute(f"SELECT vid FROM ix_docs WHERE vid IN {slots(part)}", part)]
    return found
