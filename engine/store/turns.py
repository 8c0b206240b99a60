"""The repository of turns: events in full, preferences, feedback on cards, and the jobs that enrich them later."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from engine.model.clock import LOCAL
from engine.model.turns import Event, Preference
from engine.rules.textnorm import fold
from engine.store.ephemeral import set_feedback as set_feedback
from engine.store.rows import dump, put_text
from engine.store.schema import EVENTS, PREFERENCES
from engine.store.transaction import Tx

CARD, RECORD, EVENT, OVERVIEW = "认知_", "记录_", "事件_", "概览_"
"""How the ids of a turn begin; what follows is the suffix that its card, routing record and event share (W4)."""

LEASE_MS = 60_000
"""How long a job belongs to the process that took it; then another one may take it."""
RETRY_MS = 30_000
MOST_ATTEMPTS = 5


# ------------------------------------------------------------------ ids


def new_suffix(tx: Tx, memory_id: int) -> str:
    """Return the suffix of a turn that begins now: its local second, and the memory's number if that is taken (W4)."""
    second = datetime.fromtimestamp(tx.at / 1000, LOCAL).strftime("%Y%m%d_%H%M%S")
    taken = tx.conn.execute("SELECT 1 FROM events WHERE suffix = ? LIMIT 1", (second,)).fetchone()
    return f"{second}_{memory_id}" if taken else second


def suffix_of(text: str) -> str | None:
    """Return the suffix of the id of a card, routing record or event, or of an overview's path, else None (R22)."""
    if text.startswith("threads/"):
        text = text.rpartition("/")[2].removesuffix(".md")
    for head in (CARD, RECORD, EVENT, OVERVIEW):
        if text.startswith(head):
            return text[len(head) :]
    return None


def memory_of(conn: sqlite3.Connection, suffix: str) -> int | None:
    """Return the memory of a turn's suffix."""
    row = conn.execute(
        "SELECT memory_id FROM events WHERE suffix = ? AND memory_id IS NOT NULL LIMIT 1", (suffix,)
    ).fetchone()
    return None if row is None else int(row[0])


# ------------------------------------------------------------------ events


def open_event(tx: Tx, values: Mapping[str, object], *, user_input: str = "", response: str = "") -> int:
    """Begin an event; `values` are columns of `events`, the texts are kept as they are given and NULL when empty."""
    number = tx.next_id("event")
    row = {
        "type": "chat", "level": "point", "steps": "[]", "context": "", "status": "completed", "route": "",
        "rating": "", "thread": "", "at": tx.at, "session": tx.by.session,
    } | dict(values)  # fmt: skip
    row |= {"event_id": number, "input": _text(tx, user_input), "response": _text(tx, response)}
    tx.open(EVENTS, row)
    return number


def _text(tx: Tx, text: str) -> bytes | None:
    return put_text(tx.conn, text) if text else None


def finish_event(
    tx: Tx, event_id: int, *, status: str, user_input: str | None, response: str, keep: bool, rating: str = ""
) -> None:
    """Write the answer and the status to a turn's event; `user_input` None leaves the one from its beginning (W44)."""
    changes: dict[str, object] = {"status": status, "rating": rating}
    if not keep:
        changes |= {"input": None, "response": None}
    else:
        changes["response"] = _text(tx, response)
        if user_input is not None:
            changes["input"] = _text(tx, user_input)
    tx.replace(EVENTS, (event_id,), changes)


_EVENT = (
    "SELECT e.event_id, e.type, e.level, e.parent, e.thread, e.at, e.suffix, e.memory_id, i.text, r.text, e.steps,"
    " e.context, e.status, e.route, e.rating FROM events e LEFT JOIN texts i ON i.hash = e.input"
    " LEFT JOIN texts r ON r.hash = e.response WHERE e.op_to IS NULL AND "
)


def events_where(conn: sqlite3.Connection, condition: str, *values: object) -> list[Event]:
    """Return the events `e` that meet a condition, in the order of time."""
    rows = conn.execute(f"{_EVENT}{condition} ORDER BY e.at, e.event_id", values)
    return [
        Event(
            id=r[0], type=r[1], level=r[2], parent=r[3], thread=r[4], at_ms=r[5], card=CARD + r[6] if r[6] else "",
            memory=r[7], input=r[8] or "", response=r[9] or "", steps=tuple(json.loads(r[10])), context=r[11],
            status=r[12], route=r[13], rating=r[14],
        )
        for r in rows
    ]  # fmt: skip


def event_of(conn: sqlite3.Connection, memory_id: int) -> Event | None:
    """Return the event of a turn."""
    found = events_where(conn, "e.memory_id = ? AND e.level = 'point'", memory_id)
    return found[0] if found else None


def day_bounds(day: str) -> tuple[int, int]:
    """Return the first millisecond of a local day (`2026-11-29`) and of the next; raises ValueError for no date."""
    begins = datetime.fromisoformat(day).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=LOCAL)
    ends = (begins.replace(tzinfo=None) + timedelta(days=1)).replace(tzinfo=LOCAL)
    return int(begins.timestamp() * 1000), int(ends.timestamp() * 1000)


def close_events(tx: Tx, events: Iterable[Event]) -> int:
    """End events, which leaves the lists; returns how many."""
    return sum(tx.close(EVENTS, event.id) is not None for event in events)


# ------------------------------------------------------------------ cards


def previous_card(conn: sqlite3.Connection, thread: str, session: str | None, before: int | None = None) -> int | None:
    """Return the memory of the newest completed turn of a thread, in this session where one is known (W56)."""
    row = conn.execute(
        "SELECT e.memory_id FROM events e JOIN states s ON s.memory_id = e.memory_id AND s.op_to IS NULL AND"
        " s.state = 'active' WHERE e.op_to IS NULL AND e.thread = ? AND e.session IS ? AND e.status = 'completed'"
        " AND e.type = 'chat' AND e.event_id < ? ORDER BY e.event_id DESC LIMIT 1",
        (thread, session, before if before is not None else 1 << 62),
    ).fetchone()
    return None if row is None else int(row[0])


def pending_card(conn: sqlite3.Connection, session: str) -> int | None:
    """Return the memory of the newest turn of a session that has no end yet."""
    row = conn.execute(
        "SELECT memory_id FROM events WHERE op_to IS NULL AND status = 'pending' AND session = ?"
        " AND memory_id IS NOT NULL ORDER BY event_id DESC LIMIT 1",
        (session,),
    ).fetchone()
    return None if row is None else int(row[0])


def feedback_of(conn: sqlite3.Connection, ids: Sequence[int]) -> dict[int, str]:
    """Return the feedback on memories that have any."""
    rows = conn.execute(
        "SELECT memory_id, feedback FROM usage WHERE feedback IS NOT NULL"
        " AND memory_id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(ids)),),
    )
    return dict(rows.fetchall())


# ------------------------------------------------------------------ preferences


def put_preferences(tx: Tx, memory_id: int, found: Iterable[Preference]) -> bool:
    """Write what a turn says of preferences; True when anything changed (W55)."""
    changed = False
    for preference in found:
        key = fold(preference.key)
        values = {"name": preference.key, "value": preference.value, "confidence": preference.confidence}
        if tx.current(PREFERENCES, memory_id, key):
            changed |= tx.replace(PREFERENCES, (memory_id, key), values)
        else:
            tx.open(PREFERENCES, {"memory_id": memory_id, "folded": key, "at": tx.at, **values})
            changed = True
    return changed


def preferences_of(conn: sqlite3.Connection, ids: Sequence[int]) -> dict[int, tuple[Preference, ...]]:
    """Return what turns say of preferences, by memory."""
    rows = conn.execute(
        "SELECT memory_id, name, value, confidence, at FROM preferences WHERE op_to IS NULL"
        " AND memory_id IN (SELECT value FROM json_each(?)) ORDER BY vid",
        (json.dumps(list(ids)),),
    )
    found: dict[int, tuple[Preference, ...]] = {}
    for memory_id, name, value, confidence, at in rows:
        found[memory_id] = (*found.get(memory_id, ()), Preference(name, value, confidence, memory_id, at))
    return found


def preferences_where(conn: sqlite3.Connection, condition: str, values: Sequence[object]) -> list[Preference]:
    """Return the newest value of each key among the versions `v` that a condition admits, by key (W55)."""
    rows = conn.execute(
        "SELECT p.folded, p.name, p.value, p.confidence, p.memory_id, p.at FROM preferences p"
        f" JOIN versions v ON v.memory_id = p.memory_id WHERE p.op_to IS NULL AND {condition} ORDER BY p.at, p.vid",
        values,
    )
    last = {r[0]: Preference(r[1], r[2], r[3], r[4], r[5]) for r in rows}
    return [last[key] for key in sorted(last)]


# ------------------------------------------------------------------ jobs


@dataclass(frozen=True)
class Job:
    """A piece of work that waits in the store: its number, what it is about, and how often it was tried."""

    number: int
    payload: Mapping[str, object]
    attempts: int


def queue_job(conn: sqlite3.Connection, payload: Mapping[str, object], at: int) -> None:
    """Put work aside as part of the operation that makes it necessary: either both are there or none (W51)."""
    conn.execute(
        "INSERT INTO jobs (kind, payload, state, next_at) VALUES ('enrich', ?, 'waiting', ?)", (dump(dict(payload)), at)
    )


def has_jobs(conn: sqlite3.Connection, now: int) -> bool:
    """Tell whether work waits that can be done now."""
    return conn.execute(
        "SELECT 1 FROM jobs WHERE kind = 'enrich' AND state <> 'failed' AND next_at <= ? LIMIT 1", (now,)
    ).fetchone() is not None  # fmt: skip


def take_job(conn: sqlite3.Connection, now: int) -> Job | None:
    """Take the oldest job that nobody is at, for LEASE_MS; what a killed process had taken comes back then."""
    row = conn.execute(
        "UPDATE jobs SET state = 'running', attempts = attempts + 1, next_at = ? WHERE job = (SELECT job FROM jobs"
        " WHERE kind = 'enrich' AND state <> 'failed' AND next_at <= ? ORDER BY job LIMIT 1)"
        " RETURNING job, payload, attempts",
        (now + LEASE_MS, now),
    ).fetchone()
    return None if row is None else Job(row[0], json.loads(row[1]), row[2])


def end_job(conn: sqlite3.Connection, number: int) -> None:
    """Remove a job that is done; part of the operation that did it."""
    conn.execute("DELETE FROM jobs WHERE job = ?", (number,))


def put_off_job(conn: sqlite3.Connection, job: Job, now: int, error: str) -> bool:
    """Note why a job failed and when it is tried again; False when it is given up."""
    again = job.attempts < MOST_ATTEMPTS
    conn.execute(
        "UPDATE jobs SET state = ?, next_at = ?, error = ? WHERE job = ?",
        ("waiting" if again else "failed", now + RETRY_MS * 4 ** (job.attempts - 1), error[:200], job.number),
    )
    return again


def waiting_jobs(conn: sqlite3.Connection) -> int:
    """Return how many jobs are not done and not given up."""
    return int(conn.execute("SELECT count(*) FROM jobs WHERE kind = 'enrich' AND state <> 'failed'").fetchone()[0])
