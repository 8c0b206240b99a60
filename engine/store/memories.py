"""The repository of memories: beginning them, their next versions, states and topics."""

from __future__ import annotations

import hashlib
import hmac
import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.model.enums import State
from engine.model.ids import new_uid
from engine.rules.textnorm import fingerprint_text, fold
from engine.store.rows import dump, put_text
from engine.store.schema import MEMORY_TOPICS, STATES, TOPICS, VERSIONS
from engine.store.transaction import Tx, Values


@dataclass(frozen=True)
class Found:
    """A current memory that holds the same content."""

    id: int
    revision: int
    state: State
    authority: int
    speculative: bool


def fingerprint(tx: Tx, text: str, body: str) -> bytes:
    """Return the keyed fingerprint of "the same content": without the store's key it says nothing of the text."""
    return fingerprint_in(tx.conn, text, body)


def fingerprint_in(conn: sqlite3.Connection, text: str, body: str) -> bytes:
    """Return the same where nothing is written."""
    key = conn.execute("SELECT value FROM meta WHERE key = 'fingerprint_key'").fetchone()[0]
    canon = "\x1f".join(fingerprint_text(part) for part in (text, body))
    return hmac.new(key, canon.encode("utf-8", "surrogatepass"), hashlib.sha256).digest()[:16]


def insert_memory(
    tx: Tx,
    values: Mapping[str, object],
    *,
    text: str,
    body: str,
    state: State,
    cause: str = "",
    uid: str | None = None,
    number: int | None = None,
) -> int:
    """Begin a memory with its first version and state; returns its number. `values` are columns of `versions`."""
    memory_id = number if number is not None else tx.next_id("memory")
    tx.conn.execute(
        "INSERT INTO memories (id, uid, op, recorded_at) VALUES (?, ?, ?, ?)",
        (memory_id, uid or new_uid(), tx.op, tx.at),
    )
    row = dict(values, memory_id=memory_id, revision=1)
    row["description"] = put_text(tx.conn, text)
    row["body"] = put_text(tx.conn, body)
    tx.open(STATES, {"memory_id": memory_id, "state": state.value, "cause": cause, "target": None, "locked": 0})
    tx.open(VERSIONS, row)
    return memory_id


def new_version(tx: Tx, memory_id: int, changes: Mapping[str, object]) -> bool:
    """Close the current version and begin the next; `description` and `body` are given as text.

    Returns False, and writes nothing, when nothing differs.
    """
    values: Values = dict(changes)
    for column in ("description", "body"):
        if column in values:
            values[column] = put_text(tx.conn, str(values[column]))
    return tx.replace(VERSIONS, (memory_id,), values)


def set_state(tx: Tx, memory_id: int, state: State, cause: str = "", target: int | None = None) -> bool:
    """Move a memory to a state; `target` is what replaced it. False when it is there already."""
    return tx.replace(STATES, (memory_id,), {"state": state.value, "cause": cause, "target": target})


def set_locked(tx: Tx, memory_id: int, locked: bool) -> bool:
    """Pin or release a memory (S49); False when nothing changed."""
    return tx.replace(STATES, (memory_id,), {"locked": int(locked)})


def find_same(
    tx: Tx, print_: bytes, subject: str, scope: str, scope_key: str | None, valid_from: int | None, valid_to: int | None
) -> Found | None:
    """Return a current memory with the same content, subject and scope, unless another validity is asked for."""
    rows = tx.conn.execute(
        "SELECT v.memory_id, v.revision, s.state, v.authority, v.speculative, v.valid_from, v.valid_to, v.subject"
        " FROM versions v JOIN states s ON s.memory_id = v.memory_id AND s.op_to IS NULL"
        " WHERE v.fingerprint = ? AND v.op_to IS NULL AND v.scope = ? AND v.scope_key IS ?"
        " AND s.state IN ('active', 'archived', 'quarantined') ORDER BY v.memory_id",
        (print_, scope, scope_key),
    ).fetchall()
    for memory_id, revision, state, authority, speculative, begins, ends, about in rows:
        if fold(about) != fold(subject):
            continue
        if valid_from is not None and valid_from != begins:
            continue
        if ends is not None and (valid_to is None or valid_to != ends) and ends <= tx.at:
            continue
        return Found(memory_id, revision, State(state), authority, bool(speculative))
    return None


def topic_id(tx: Tx, name: str) -> int | None:
    """Return the topic of a name or alias in any case or width, or None."""
    wanted = fold(name)
    row = tx.conn.execute(
        "SELECT topic_id FROM topics WHERE op_to IS NULL AND folded = ? ORDER BY topic_id LIMIT 1", (wanted,)
    ).fetchone()
    if row:
        return int(row[0])
    rows = tx.conn.execute(
        "SELECT topic_id, aliases FROM topics WHERE op_to IS NULL AND aliases <> '[]' ORDER BY topic_id"
    )
    return next((int(number) for number, aliases in rows if wanted in map(fold, json.loads(aliases))), None)


def make_topic(tx: Tx, name: str, description: str = "", aliases: Sequence[str] = ()) -> int:
    """Begin a topic; topics are made by the owner only (C15). One of that name that was taken back comes back."""
    row = tx.conn.execute(
        "SELECT topic_id FROM topics t WHERE folded = ? AND NOT EXISTS"
        " (SELECT 1 FROM topics o WHERE o.topic_id = t.topic_id AND o.op_to IS NULL) ORDER BY vid LIMIT 1",
        (fold(name),),
    ).fetchone()
    number = int(row[0]) if row else tx.next_id("topic")
    tx.open(
        TOPICS,
        {
            "topic_id": number, "code": f"topic-{number}", "name": name, "folded": fold(name),
            "description": description, "aliases": dump(list(aliases)), "status": "active",
        },
    )  # fmt: skip
    return number


def set_topics(tx: Tx, memory_id: int, ids: Iterable[int]) -> bool:
    """Give a memory exactly these topics; True when anything changed."""
    wanted = set(ids)
    rows = tx.conn.execute("SELECT topic_id FROM memory_topics WHERE memory_id = ? AND op_to IS NULL", (memory_id,))
    have = {int(r[0]) for r in rows}
    for gone in have - wanted:
        tx.close(MEMORY_TOPICS, memory_id, gone)
    for new in sorted(wanted - have):
        tx.open(MEMORY_TOPICS, {"memory_id": memory_id, "topic_id": new})
    return have != wanted

