"""The ephemeral tables: usage numbers, recent questions and session ledgers, written in batches off the recall path.

Nothing here bumps a revision or touches a journalled table (S43). What a killed process had not written yet is lost,
and nothing but statistics is lost with it.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from engine.model.errors import MemdeckError
from engine.store.failures import read_uri, translated
from engine.store.locking import WriteLock

USES = ("injected", "read", "used", "recalls")
"""What is counted of a memory: put into a pack, read in full, reported as used, found by a recall (S43)."""

KEPT_QUESTIONS, KEPT_SESSIONS = 1_000, 1_000
PENDING_QUESTIONS = 200
"""Questions that wait to be written; older ones give way."""

MAX_QUESTION = 2_000
"""Characters of a question that are kept."""

FLUSH_AFTER_S = 5.0
LOCK_WAIT_MS = 50
"""How long a flush waits for the store's lock before it leaves its batch to the next one."""


class Ledger(NamedTuple):
    """What a session was given: bytes of bodies and of gap cards since the last reset, tokens and packs over its life.

    `signature` is the last question with its picks (S21), `cards` are the gap cards shown (S24); `core` and `baseline`
    tell whether those sections were given already (S20).
    """

    session: str
    actor: str = ""
    workspace: str | None = None
    at: int = 0
    packs: int = 0
    tokens: int = 0
    body_bytes: int = 0
    card_bytes: int = 0
    core: bool = False
    baseline: bool = False
    signature: str = ""
    cards: tuple[str, ...] = ()


class Question(NamedTuple):
    """One recent question of an agent and the memories that it found; for statistics and rehearsal."""

    at: int
    kind: str
    actor: str
    workspace: str | None
    text: str
    hits: tuple[int, ...]


class Usage(NamedTuple):
    """How often a memory was injected, read, used and recalled, when last, and what became of it (S43, W37)."""

    injected: int = 0
    read: int = 0
    used: int = 0
    recalls: int = 0
    last_recall: int | None = None
    feedback: str | None = None


_LEDGER = "session, actor, workspace, at, packs, tokens, body_bytes, card_bytes, core, baseline, signature, cards"


def read_ledger(conn: sqlite3.Connection, session: str) -> Ledger | None:
    """Return a session's ledger, None when nothing was written for it."""
    row = conn.execute(f"SELECT {_LEDGER} FROM ledger WHERE session = ?", (session,)).fetchone()
    return None if row is None else _ledger(row)


def read_ledgers(conn: sqlite3.Connection, limit: int = 20) -> list[Ledger]:
    """Return the sessions that were given something last, newest first."""
    rows = conn.execute(f"SELECT {_LEDGER} FROM ledger ORDER BY at DESC, session LIMIT ?", (limit,))
    return [_ledger(row) for row in rows]


def tokens_by_actor(conn: sqlite3.Connection) -> dict[str, int]:
    """Return how many tokens each agent was given over the sessions that are kept."""
    return dict(conn.execute("SELECT actor, sum(tokens) FROM ledger GROUP BY actor ORDER BY actor").fetchall())


def read_usage(conn: sqlite3.Connection, ids: Sequence[int]) -> dict[int, Usage]:
    """Return the numbers of those memories that have any."""
    rows = conn.execute(
        "SELECT memory_id, injected, read, used, recalls, last_recall, feedback FROM usage"
        " WHERE memory_id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(ids)),),
    )
    return {row[0]: Usage(*row[1:]) for row in rows}


def set_feedback(conn: sqlite3.Connection, memory_id: int, word: str | None) -> None:
    """Keep what became of a memory, None for nothing; it changes no revision (W37)."""
    conn.execute(
        "INSERT INTO usage (memory_id, feedback) SELECT id, ?2 FROM memories WHERE id = ?1"
        " ON CONFLICT (memory_id) DO UPDATE SET feedback = excluded.feedback",
        (memory_id, word),
    )


def all_feedback(conn: sqlite3.Connection) -> dict[int, str]:
    """Return all that is kept of memories, the newest memory first."""
    rows = conn.execute("SELECT memory_id, feedback FROM usage WHERE feedback IS NOT NULL ORDER BY memory_id DESC")
    return dict(rows.fetchall())


def confirmed_versions(conn: sqlite3.Connection, vids: Iterable[int]) -> list[int]:
    """Return those of some versions whose memory was confirmed."""
    if conn.execute("SELECT 1 FROM usage WHERE feedback = 'confirmed' LIMIT 1").fetchone() is None:
        return []
    rows = conn.execute(
        "SELECT v.vid FROM versions v JOIN usage u ON u.memory_id = v.memory_id AND u.feedback = 'confirmed'"
        " WHERE v.vid IN (SELECT value FROM json_each(?))",
        (json.dumps(list(vids)),),
    )
    return [vid for (vid,) in rows]


def recent_questions(conn: sqlite3.Connection, limit: int = 100) -> list[Question]:
    """Return the questions that agents asked last, newest first."""
    rows = conn.execute(
        "SELECT at, kind, actor, workspace, query, hits FROM recall_log ORDER BY id DESC LIMIT ?", (limit,)
    )
    return [
        Question(at, kind, actor, place, text, tuple(json.loads(hits))) for at, kind, actor, place, text, hits in rows
    ]


def _ledger(row: Sequence[Any]) -> Ledger:
    return Ledger(
        session=row[0], actor=row[1], workspace=row[2], at=row[3], packs=row[4], tokens=row[5], body_bytes=row[6],
        card_bytes=row[7], core=bool(row[8]), baseline=bool(row[9]), signature=row[10],
        cards=tuple(json.loads(row[11])),
    )  # fmt: skip


class _Batch:
    """What waits to be written: one sum per memory and kind of use, the last state of each session, questions."""

    def __init__(self) -> None:
        self.uses: Counter[tuple[int, str]] = Counter()
        self.recalled: dict[int, int] = {}
        self.ledgers: dict[str, Ledger] = {}
        self.questions: list[Question] = []

    def is_empty(self) -> bool:
        return not (self.uses or self.ledgers or self.questions)

    def follow(self, earlier: _Batch, *, sessions_only: bool) -> None:
        """Take up what an earlier batch could not write; of a session the later state counts."""
        self.ledgers = earlier.ledgers | self.ledgers
        if not sessions_only:
            self.uses += earlier.uses
            self.recalled = earlier.recalled | self.recalled
            self.questions = (earlier.questions + self.questions)[-PENDING_QUESTIONS:]


class Backlog:
    """Collects what one process has to write to the ephemeral tables; noting costs microseconds and never fails.

    A batch is written a few seconds after its first note and by `close`. It has a connection of its own and waits
    only briefly for the store's lock: when somebody else holds it, the batch stays for the next time. In a store that
    cannot be written the notes live as long as the process.
    """

    def __init__(self, path: Path, lock: Path, *, writable: bool = True, delay_s: float | None = FLUSH_AFTER_S) -> None:
        """Serve the database at `path`; `delay_s` None leaves every flush to the caller."""
        self._path = path
        self._lock = lock
        self._writable = writable
        self._delay_s = delay_s
        self._waiting = _Batch()
        self._written = _Batch()
        self._guard = threading.Lock()
        self._flushing = threading.Lock()
        self._timer: threading.Timer | None = None

    def count(self, use: str, ids: Iterable[int], at: int) -> None:
        """Count one of USES for each memory."""
        with self._guard:
            for id_ in ids:
                self._waiting.uses[id_, use] += 1
                if use == "recalls":
                    self._waiting.recalled[id_] = at
        self._wake()

    def ask(self, question: Question) -> None:
        """Note a question."""
        with self._guard:
            self._waiting.questions.append(question)
            del self._waiting.questions[:-PENDING_QUESTIONS]
        self._wake()

    def keep(self, ledger: Ledger) -> None:
        """Note the state of a session."""
        with self._guard:
            self._waiting.ledgers[ledger.session] = ledger
        self._wake()

    def ledger(self, conn: sqlite3.Connection, session: str) -> Ledger | None:
        """Return a session's ledger: what waits here, else what is stored."""
        with self._guard:
            found = self._waiting.ledgers.get(session) or self._written.ledgers.get(session)
        return found or read_ledger(conn, session)

    def drop_questions(self) -> None:
        """Forget the questions that wait: one may quote what is being erased."""
        with self._flushing, self._guard:
            self._waiting.questions.clear()

    def flush(self, wait_ms: int = LOCK_WAIT_MS) -> bool:
        """Write what waits, within about `wait_ms` plus the time of a small write; False when it has to wait on."""
        with self._flushing:
            with self._guard:
                batch, self._waiting = self._waiting, _Batch()
                self._written = batch
                self._timer = None
            done = batch.is_empty() or (self._writable and self._try(batch, wait_ms))
            with self._guard:
                self._written = _Batch()
                if not done:
                    # Only sessions still matter where nothing can be written: what was given is not given twice.
                    self._waiting.follow(batch, sessions_only=not self._writable)
            return done

    def close(self) -> None:
        """Write what waits, if the lock is free."""
        with self._guard:
            timer = self._timer
        if timer is not None:
            timer.cancel()
        self.flush()
        with self._guard:
            self._delay_s = None

    def _wake(self) -> None:
        with self._guard:
            if self._timer is not None or self._delay_s is None or not self._writable:
                return
            self._timer = threading.Timer(self._delay_s, self.flush)
            self._timer.daemon = True
            self._timer.start()

    def _try(self, batch: _Batch, wait_ms: int) -> bool:
        """Write a batch; what passes keeps it waiting, a store that cannot be written at all ends that."""
        batch.questions = _without_secrets(batch.questions)  # nobody waits for the lock meanwhile
        try:
            with translated(self._path), WriteLock(self._lock, deadline_ms=wait_ms).held():
                self._write(batch)
        except MemdeckError as error:
            self._writable = error.code in ("busy", "disk_full")
            return False
        return True

    def _write(self, batch: _Batch) -> None:
        uri = read_uri(self._path).replace("mode=ro", "mode=rw")
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0.2)) as conn:
            # Statistics may be lost in a power failure; the next durable write carries them along.
            conn.execute("PRAGMA synchronous = NORMAL")
            conn.execute("BEGIN IMMEDIATE")
            try:
                _write_uses(conn, batch)
                _write_ledgers(conn, batch.ledgers.values())
                _write_questions(conn, batch.questions)
                conn.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    conn.execute("ROLLBACK")
                raise


def _write_uses(conn: sqlite3.Connection, batch: _Batch) -> None:
    for (id_, use), times in sorted(batch.uses.items()):
        conn.execute(
            f"INSERT INTO usage (memory_id, {use}, last_recall) SELECT id, ?2, ?3 FROM memories WHERE id = ?1"
            f" ON CONFLICT (memory_id) DO UPDATE SET {use} = {use} + excluded.{use},"
            " last_recall = coalesce(excluded.last_recall, last_recall)",
            (id_, times, batch.recalled.get(id_) if use == "recalls" else None),
        )


def _write_ledgers(conn: sqlite3.Connection, ledgers: Iterable[Ledger]) -> None:
    rows = [
        (
            e.session, e.actor, e.workspace, e.at, e.packs, e.tokens, e.body_bytes, e.card_bytes, e.core, e.baseline,
            e.signature, json.dumps(e.cards),
        )
        for e in ledgers
    ]  # fmt: skip
    if rows:
        conn.executemany(f"INSERT OR REPLACE INTO ledger ({_LEDGER}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", rows)
        conn.execute(
            "DELETE FROM ledger WHERE session IN (SELECT session FROM ledger ORDER BY at DESC LIMIT -1 OFFSET ?)",
            (KEPT_SESSIONS,),
        )


def _without_secrets(questions: list[Question]) -> list[Question]:
    if not questions:
        return []
    from engine.rules.secrets import find_secrets

    return [question for question in questions if not find_secrets(question.text)]


def _write_questions(conn: sqlite3.Connection, questions: Iterable[Question]) -> None:
    rows = [(q.at, q.kind, q.actor, q.workspace, q.text[:MAX_QUESTION], json.dumps(q.hits)) for q in questions]
    if rows:
        conn.executemany("INSERT INTO recall_log (at, kind, actor, workspace, query, hits) VALUES (?,?,?,?,?,?)", rows)
        conn.execute("DELETE FROM recall_log WHERE id <= (SELECT max(id) FROM recall_log) - ?", (KEPT_QUESTIONS,))
