"""Rows to values and back: checksums, texts by content hash, and the `Memory` that callers see."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from engine.model.enums import Authority, Kind, Origin, Scope, State, Status, Type
from engine.model.memory import Memory
from engine.store.postings import IndexEntry
from engine.store.schema import VERSIONS

_CHECKED = tuple(c for c in VERSIONS.all_columns if c != "checksum")
DAMAGED = "[damaged: its text does not match its hash; see `memdeck doctor`]"
BATCH = 500
"""How many values one IN list carries; SQLite allows more, but plans are reused when the count repeats."""


def text_hash(text: str) -> bytes:
    """Return the content hash of a text: SHA-256 of its UTF-8 bytes, cut to 20 bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:20]


def damaged_texts(conn: sqlite3.Connection) -> Iterator[bytes]:
    """Yield the hash of every text that does not match it (C41)."""
    for digest, text in conn.execute("SELECT hash, text FROM texts"):
        if not isinstance(text, str) or text_hash(text) != digest:
            yield digest


def put_text(conn: sqlite3.Connection, text: str) -> bytes:
    """Store a text once and return its hash."""
    digest = text_hash(text)
    conn.execute("INSERT OR IGNORE INTO texts (hash, text) VALUES (?, ?)", (digest, text))
    return digest


def checksum(values: Mapping[str, object]) -> int:
    """Return the row checksum of a version: CRC-32 over its columns (C41)."""
    parts = [values[c].hex() if isinstance(values[c], bytes) else values[c] for c in _CHECKED]  # type: ignore[attr-defined]
    return zlib.crc32(json.dumps(parts, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass"))


def dump(value: object) -> str:
    """Render a value as compact JSON for a column."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def marks(count: int) -> str:
    """Return `?, ?, …` for an IN list."""
    return ", ".join("?" * count)


def batches(ids: Sequence[int]) -> Iterable[Sequence[int]]:
    """Cut ids into pieces that one IN list can carry."""
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]


def index_entry(conn: sqlite3.Connection, vid: int) -> IndexEntry:
    """Return what the search index needs to know of one version."""
    row = conn.execute(
        "SELECT v.name, d.text, b.text, v.aliases, v.subject, v.thread, v.seq, coalesce(v.dated_at, v.valid_from),"
        " v.memory_id, v.extra, v.op_to FROM versions v JOIN texts d ON d.hash = v.description"
        " JOIN texts b ON b.hash = v.body WHERE v.vid = ?",
        (vid,),
    ).fetchone()
    # A version that ended keeps the tags that it had at its end.
    known = None if row[10] is None else row[10] - 1
    tags = [
        r[0]
        for r in conn.execute(
            f"SELECT t.name FROM memory_tags m JOIN tags t ON t.tag_id = m.tag_id AND {open_at('t', known)}"
            f" WHERE m.memory_id = ? AND {open_at('m', known)} ORDER BY t.name",
            (row[8],),
        )
    ]
    extra = json.loads(row[9]) if row[9] else {}
    return IndexEntry(
        name=row[0],
        description=row[1],
        body=row[2],
        aliases=tuple(json.loads(row[3]) + list(extra.get("hooks", []))),
        tags=tuple(tags),
        subject=row[4],
        thread=row[5],
        seq=row[6],
        dated_ms=row[7],
        memory_id=row[8],
        current=known is None,
    )


_MEMORY_COLUMNS = (
    "v.memory_id, m.uid, v.revision, v.name, d.text, {body}, v.kind, v.type, v.aliases, v.subject, v.valid_from,"
    " v.valid_to, v.op_from, v.op_to, o.at, e.at, m.recorded_at, v.dated_at, v.scope, v.scope_key, v.thread, v.seq,"
    " v.source, v.origin, v.actor, v.authority, v.confidence, v.speculative, v.manually_corrected, v.status, s.state,"
    " s.cause, s.target, s.locked, v.baseline, v.baseline_priority, v.scene, v.scene_sub, v.perception, v.extra,"
    " v.description, v.body"
)
_MEMORY_FROM = (
    " FROM versions v JOIN memories m ON m.id = v.memory_id JOIN texts d ON d.hash = v.description"
    " JOIN texts b ON b.hash = v.body JOIN operations o ON o.op = v.op_from LEFT JOIN operations e ON e.op = v.op_to"
)


def open_at(alias: str, known: int | None) -> str:
    """Return the SQL condition "this row was known at operation `known`" (None = is known now)."""
    if known is None:
        return f"{alias}.op_to IS NULL"
    return f"{alias}.op_from <= {int(known)} AND ({alias}.op_to IS NULL OR {alias}.op_to > {int(known)})"


def load_memories(
    conn: sqlite3.Connection, ids: Sequence[int], *, known: int | None = None, bodies: bool = True
) -> list[Memory]:
    """Return the memories of `ids` as known at an operation, in the order of `ids`; unknown ids are left out."""
    found: dict[int, Memory] = {}
    for batch in batches(ids):
        rows = conn.execute(
            f"SELECT {_MEMORY_COLUMNS.format(body='b.text' if bodies else chr(39) * 2)}{_MEMORY_FROM}"
            f" JOIN states s ON s.memory_id = v.memory_id AND {open_at('s', known)}"
            f" WHERE v.memory_id IN ({marks(len(batch))}) AND {open_at('v', known)}",
            batch,
        ).fetchall()
        found.update(_build(conn, rows, known))
    return [found[i] for i in ids if i in found]


def load_versions(conn: sqlite3.Connection, memory_id: int) -> list[Memory]:
    """Return every version of a memory, oldest first, each with the state, tags and topics that it had at its end."""
    rows = conn.execute(
        f"SELECT {_MEMORY_COLUMNS.format(body='b.text')}{_MEMORY_FROM}"
        " LEFT JOIN states s ON s.memory_id = v.memory_id AND s.op_from <= coalesce(v.op_to - 1, 1 << 62)"
        "  AND (s.op_to IS NULL OR s.op_to >= coalesce(v.op_to, 1 << 62))"
        " WHERE v.memory_id = ? ORDER BY v.revision",
        (memory_id,),
    ).fetchall()
    found: dict[int, Memory] = {}
    for row in rows:
        # Tags and topics as they were at the version's end, like its state.
        known = None if row[13] is None else row[13] - 1
        for memory in _build(conn, [row], known).values():
            found[memory.revision] = memory
    return [found[r] for r in sorted(found)]


def _names(
    conn: sqlite3.Connection, link: str, table: str, key: str, ids: Sequence[int], known: int | None
) -> dict[int, list[str]]:
    rows = conn.execute(
        f"SELECT l.memory_id, t.name FROM {link} l JOIN {table} t ON t.{key} = l.{key} AND {open_at('t', known)}"
        f" WHERE l.memory_id IN ({marks(len(ids))}) AND {open_at('l', known)} ORDER BY l.vid",
        ids,
    )
    names: dict[int, list[str]] = {}
    for memory_id, name in rows:
        names.setdefault(memory_id, []).append(name)
    return names


def _build(conn: sqlite3.Connection, rows: Sequence[Sequence[object]], known: int | None) -> dict[int, Memory]:
    ids = [int(str(r[0])) for r in rows]
    if not ids:
        return {}
    tags = _names(conn, "memory_tags", "tags", "tag_id", ids, known)
    topics = _names(conn, "memory_topics", "topics", "topic_id", ids, known)
    seen = dict(
        conn.execute(
            f"SELECT memory_id, count(*) FROM sightings WHERE memory_id IN ({marks(len(ids))}) AND"
            f" {open_at('sightings', known)} GROUP BY memory_id",
            ids,
        ).fetchall()
    )
    rivals: dict[int, list[int]] = {}
    for one, other in conn.execute(
        f"SELECT memory_id, rival_id FROM review_items WHERE {open_at('review_items', known)}"
        " AND state IN ('open', 'deferred') AND kind IN ('authority', 'contradiction')"
        f" AND rival_id IN ({marks(len(ids))}) ORDER BY item_id",
        ids,
    ):
        rivals.setdefault(other, []).append(one)
    return {int(str(r[0])): _memory(r, tags, topics, seen, rivals) for r in rows}


def _memory(
    row: Sequence[object],
    tags: Mapping[int, list[str]],
    topics: Mapping[int, list[str]],
    seen: Mapping[int, int],
    rivals: Mapping[int, list[int]],
) -> Memory:
    r: Sequence[Any] = row
    # A text that does not match its hash is never shown as if it were what somebody wrote (C41).
    damaged = text_hash(r[4]) != r[40] or (bool(r[5]) and text_hash(r[5]) != r[41])
    description, body = (DAMAGED, "") if damaged else (r[4], r[5])
    return Memory(
        id=r[0], uid=r[1], revision=r[2], name=r[3], description=description, body=body, kind=Kind(r[6]),
        type=Type(r[7]),
        aliases=tuple(json.loads(r[8])), tags=tuple(tags.get(r[0], ())), topics=tuple(topics.get(r[0], ())),
        subject=r[9], valid_from=r[10], valid_to=r[11], known_from=r[12], known_to=r[13], known_from_ms=r[14],
        known_to_ms=r[15], recorded_ms=r[16], dated_at=r[17], scope=Scope(r[18]), scope_key=r[19], thread=r[20],
        seq=r[21], source=r[22], origin=Origin(r[23]), actor=r[24], authority=Authority(r[25]), confidence=r[26],
        speculative=bool(r[27]), manually_corrected=bool(r[28]), status=Status(r[29]),
        state=State(r[30] or "deleted"), cause=r[31] or "", target=r[32], locked=bool(r[33]), baseline=bool(r[34]),
        baseline_priority=r[35], scene=r[36], scene_sub=r[37], perception=json.loads(r[38]),
        extra=json.loads(r[39]), seen_again=seen.get(r[0], 0), conflict=tuple(rivals.get(r[0], ())), damaged=damaged,
    )  # fmt: skip
