"""Forgetting, archiving and restoring, one memory or many, all or nothing (C13, R7); and what really erases."""

from __future__ import annotations

import hashlib
import hmac
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.model.enums import Authority, Origin, ReviewKind, State
from engine.model.errors import MemdeckError, invalid, not_found
from engine.model.ids import require_ref
from engine.model.memory import Caller, Memory, WriteResult
from engine.rules.bitemporal import parse_when
from engine.rules.textnorm import fold
from engine.store.erase import erase_memory
from engine.store.memories import set_state
from engine.store.review import close_items_of, open_item
from engine.store.rows import load_memories
from engine.store.schema import TOMBSTONES, VERSIONS
from engine.store.snapshots import holding, make_snapshot
from engine.store.transaction import Tx
from engine.usecases.changing import require_owner
from engine.usecases.desk import Desk, check_revision, current, may_see, reload, resolve

AGENT_BULK = 20
"""An agent that forgets or archives more than this at once waits for the owner."""
CLEANUP_DAYS = 90
DAY_MS = 86_400_000
CRITERIA = ("source", "topic", "subject", "relation", "object", "before")
HOWS = ("forget", "archive", "restore")


@dataclass(frozen=True)
class MatchPlan:
    """What a match found, and the code that confirms exactly this set."""

    confirm: str
    refs: tuple[str, ...]
    total: int
    how: str


@dataclass(frozen=True)
class ExpungeReport:
    """What an erasure did: rows removed, snapshots that still hold the memory, and whether a reader delays the rest."""

    id: int
    rows: int
    snapshots_left: tuple[str, ...]
    pending: bool


@dataclass(frozen=True)
class CleanupReport:
    """What a clean-up did or would do: tombstoned memories older than 90 days, and the snapshot made before."""

    dry_run: bool
    memories: tuple[int, ...]
    snapshot: str | None


def forget(desk: Desk, by: Caller, refs: Sequence[str], *, how: str = "forget", reason: str = "") -> list[WriteResult]:
    """Forget, archive or restore memories in one operation; nothing changes when one of them is refused.

    Agents give a reason. More than AGENT_BULK at once, or a memory that weighs more, waits for the owner as one
    review item. Raises invalid_argument, not_found, locked, stale_revision, refused_authority.
    """
    if how not in HOWS:
        raise invalid(f"how={how!r} is not known", "say forget, archive or restore")
    if not refs:
        raise invalid("no memory is named", 'give refs, for example ["mem-7"]')
    if not by.is_owner and not reason.strip():
        raise invalid("a reason is missing", "say in a few words why")
    memories = _resolve_all(desk, by, refs, how)
    if how == "restore":
        return _restore(desk, by, memories, reason)
    for memory in memories:
        _check_removable(memory, how)
    weighty = [m for m in memories if not by.is_owner and m.authority > Authority.REPORTED]
    if weighty or (not by.is_owner and len(memories) > AGENT_BULK):
        return _ask(desk, by, memories, how, reason)
    return take_away(desk, by, memories, how, reason)


def _check_removable(memory: Memory, how: str) -> None:
    if memory.state is (State.DELETED if how == "forget" else State.ARCHIVED):
        raise MemdeckError("exists", f"mem-{memory.id} is {memory.state.value} already", "nothing to do")
    if memory.locked:
        hint = f"its owner first unlocks it: memdeck unlock mem-{memory.id}"
        raise MemdeckError("locked", f"mem-{memory.id} is locked", hint)
    if how == "archive" and memory.state is not State.ACTIVE:
        raise invalid(f"mem-{memory.id} is {memory.state.value}", "only an active memory can be archived")


def _resolve_all(desk: Desk, by: Caller, refs: Sequence[str], how: str) -> list[Memory]:
    found: dict[int, Memory] = {}
    for text in refs:
        if how == "restore" and not by.is_owner:
            memory = _own_forgotten(desk, by, text)
        else:
            ref = resolve(desk, by, text)
            memory = current(desk, by, ref)
            check_revision(memory, ref.revision)
        found[memory.id] = memory
    return list(found.values())


def take_away(desk: Desk, by: Caller, memories: Sequence[Memory], how: str, reason: str) -> list[WriteResult]:
    """Carry out a forget or archive that was decided; one operation."""
    state = State.DELETED if how == "forget" else State.ARCHIVED
    with desk.store.write(by, how, reason=reason) as tx:
        for memory in memories:
            now = reload(tx, memory.id, bodies=False)
            check_revision(now, memory.revision)
            _check_removable(now, how)
            remove_rows(tx, now, state, reason or ("forgotten" if how == "forget" else "manual"))
        named = ", ".join(f"mem-{m.id}" for m in memories[:5])
        tx.describe(f"{'forgot' if how == 'forget' else 'archived'} {named}{' …' if len(memories) > 5 else ''}")
    return [WriteResult(m.ref, m.id, m.revision, state.value, tx.op) for m in memories]


def remove_rows(tx: Tx, memory: Memory, state: State, reason: str) -> None:
    """Move a memory to archived or deleted; a deleted one leaves a tombstone that blocks the same content."""
    set_state(tx, memory.id, state, reason)
    if state is State.DELETED:
        bury(tx, memory.id, reason)
        close_items_of(tx, memory.id, "forgotten")


def bury(tx: Tx, memory_id: int, reason: str) -> None:
    """Leave a tombstone under the keyed fingerprint of a memory's current content."""
    row = tx.current(VERSIONS, memory_id)
    if row and row["fingerprint"] and not tx.current(TOMBSTONES, row["fingerprint"]):
        tx.open(TOMBSTONES, {"fingerprint": row["fingerprint"], "memory_id": memory_id, "reason": reason[:200]})


def _ask(desk: Desk, by: Caller, memories: Sequence[Memory], how: str, reason: str) -> list[WriteResult]:
    with desk.store.write(by, "ask", reason=reason) as tx:
        digest = hashlib.sha256(",".join(str(m.id) for m in memories).encode()).hexdigest()[:12]
        item = open_item(
            tx, ReviewKind.FORGET_REQUEST, f"{how}:{digest}", title=f"{how} {len(memories)} memories: {reason[:120]}",
            memory_id=memories[0].id if len(memories) == 1 else None, evidence={"reason": reason, "asked_by": by.actor},
            proposal={"how": how, "ids": [m.id for m in memories]},
        )  # fmt: skip
        tx.describe(f"asked to {how} {len(memories)} memories")
    note = f"review-{item}: the owner decides; trying again is useless"
    return [WriteResult(m.ref, m.id, m.revision, "pending", tx.op, (note,), review=item) for m in memories]


def _own_forgotten(desk: Desk, by: Caller, text: str) -> Memory:
    """Return what this very agent forgot or archived; anything else stays out of its sight."""
    ref = require_ref(text)
    with desk.store.read() as conn:
        found = load_memories(conn, [ref.id])
        row = conn.execute(
            "SELECT o.origin, o.actor FROM states s JOIN operations o ON o.op = s.op_from"
            " WHERE s.memory_id = ? AND s.op_to IS NULL",
            (ref.id,),
        ).fetchone()
    if not found or not (row and row[0] == Origin.AGENT.value and row[1] == by.actor):
        raise MemdeckError(
            "not_found", f"mem-{ref.id} does not exist", "an agent can restore only what it forgot itself"
        )
    return found[0]


def _restore(desk: Desk, by: Caller, memories: Sequence[Memory], reason: str) -> list[WriteResult]:
    for memory in memories:
        if memory.state not in (State.DELETED, State.ARCHIVED, State.MERGED):
            raise invalid(
                f"mem-{memory.id} is {memory.state.value}; there is nothing to restore", "see `memdeck history`"
            )
    with desk.store.write(by, "restore_memory", reason=reason) as tx:
        for memory in memories:
            _bring_back(tx, reload(tx, memory.id, bodies=False))
            row = tx.current(VERSIONS, memory.id)
            if row and row["fingerprint"]:
                tx.close(TOMBSTONES, row["fingerprint"])
        tx.describe(f"restored {', '.join(f'mem-{m.id}' for m in memories[:5])}")
        now = [reload(tx, m.id, bodies=False) for m in memories]
    return [WriteResult(m.ref, m.id, m.revision, m.state.value, tx.op) for m in now]


def _bring_back(tx: Tx, memory: Memory) -> None:
    """Make a memory active again; one that was outdated when it was forgotten is outdated again."""
    before = tx.conn.execute(
        "SELECT b.state, b.target FROM states s JOIN states b ON b.memory_id = s.memory_id AND b.op_to = s.op_from"
        " WHERE s.memory_id = ? AND s.op_to IS NULL ORDER BY b.vid DESC LIMIT 1",
        (memory.id,),
    ).fetchone()
    if memory.state is State.DELETED and before and before[0] == State.SUPERSEDED.value:
        set_state(tx, memory.id, State.SUPERSEDED, "restored", before[1])
    else:
        set_state(tx, memory.id, State.ACTIVE, "restored")


def match(desk: Desk, by: Caller, criteria: Mapping[str, str], *, how: str = "forget") -> MatchPlan:
    """List the current memories that meet every criterion, and a code that confirms this very set (T16).

    No criterion, or one that matches nothing, matches no memory. `before` is a date as a person writes it.
    """
    unknown = [name for name in criteria if name not in CRITERIA]
    if unknown:
        raise invalid(f"{unknown[0]!r} is no criterion", f"one of: {', '.join(CRITERIA)}")
    if how not in ("forget", "archive"):
        raise invalid(f"how={how!r} cannot be matched", "say forget or archive")
    given = {k: v for k, v in criteria.items() if str(v).strip()}
    if not given:
        return MatchPlan("", (), 0, how)
    with desk.store.read() as conn:
        where, values = _criteria_sql(given, desk.store.clock.now_ms())
        ids = [
            r[0]
            for r in conn.execute(
                "SELECT v.memory_id FROM versions v JOIN states s ON s.memory_id = v.memory_id AND s.op_to IS NULL"
                f" AND s.state = 'active' WHERE v.op_to IS NULL AND {where} ORDER BY v.memory_id",
                values,
            )
        ]
        memories = [m for m in load_memories(conn, ids, bodies=False) if may_see(by, m)]
        refs = tuple(m.ref for m in memories)
        confirm = _confirm_code(
            conn.execute("SELECT value FROM meta WHERE key = 'fingerprint_key'").fetchone()[0], how, refs
        )
    return MatchPlan(confirm if refs else "", refs, len(refs), how)


def _criteria_sql(given: Mapping[str, str], now: int) -> tuple[str, list[object]]:
    parts, values = [], list[object]()
    for name, value in given.items():
        if name == "source":
            parts.append("(v.source = ? OR v.kind = ? OR v.actor = ?)")
            values += [value, value, value]
        elif name == "topic":
            parts.append(
                "EXISTS (SELECT 1 FROM memory_topics l JOIN topics t ON t.topic_id = l.topic_id AND t.op_to IS NULL"
                " WHERE l.memory_id = v.memory_id AND l.op_to IS NULL AND t.folded = ?)"
            )
            values.append(fold(value))
        elif name == "before":
            parts.append("v.valid_from < ?")
            values.append(parse_when(value, now_ms=now)[0])
        else:
            # A subject may be the memory's own or that of one of its statements; the other two are statements only.
            own = " OR v.subject = ?" if name == "subject" else ""
            parts.append(
                "(EXISTS (SELECT 1 FROM facts f WHERE f.memory_id = v.memory_id AND f.op_to IS NULL"
                f" AND f.{name} = ?){own})"
            )
            values += [value] * (2 if own else 1)
    return " AND ".join(parts), values


def _confirm_code(key: bytes, how: str, refs: Sequence[str]) -> str:
    return hmac.new(key, f"{how}:{','.join(refs)}".encode(), hashlib.sha256).hexdigest()[:12]


def forget_matched(
    desk: Desk, by: Caller, criteria: Mapping[str, str], confirm: str, *, how: str = "forget", reason: str = ""
) -> list[WriteResult]:
    """Carry out a match whose code is given; refused when the set changed since."""
    plan = match(desk, by, criteria, how=how)
    if not plan.refs:
        return []
    if not hmac.compare_digest(plan.confirm, confirm):
        raise MemdeckError(
            "stale_revision",
            "what matches has changed since the code was given",
            "match again and confirm the new code",
        )
    return forget(desk, by, plan.refs, how=how, reason=reason)


def lift_tombstone(desk: Desk, by: Caller, fingerprint: str) -> int:
    """Allow forgotten content to come back; returns the operation."""
    require_owner(by, "lift a tombstone")
    try:
        print_ = bytes.fromhex(fingerprint)
    except ValueError:
        raise invalid("a tombstone is named by its fingerprint", "see `memdeck do tombstones`") from None
    with desk.store.write(by, "lift_tombstone") as tx:
        if tx.close(TOMBSTONES, print_) is None:
            raise MemdeckError("not_found", "there is no such tombstone", "see `memdeck do tombstones`")
        tx.describe("lifted a tombstone")
    return tx.op


def expunge(desk: Desk, by: Caller, ref_text: str) -> ExpungeReport:
    """Really erase one memory: rows, journal images, index and log; then vacuum and empty the write-ahead log.

    Snapshots made before still hold it and are named in the report. `pending` is true while another reader keeps the
    write-ahead log from being emptied; `doctor` finishes it.
    """
    require_owner(by, "expunge a memory")
    ref = resolve(desk, by, ref_text)
    with desk.store.write(by, "expunge", summary=f"expunged mem-{ref.id}") as tx:
        row = tx.conn.execute(
            "SELECT m.uid, v.fingerprint FROM memories m JOIN versions v ON v.memory_id = m.id WHERE m.id = ?"
            " ORDER BY v.revision DESC LIMIT 1",
            (ref.id,),
        ).fetchone()
        if row is None:
            raise not_found(f"mem-{ref.id}", "it was erased meanwhile")
        uid, print_ = row
        rows = erase_memory(tx.conn, ref.id)
        tx.conn.execute(
            "INSERT OR REPLACE INTO erased (uid, memory_id, at, fingerprint) VALUES (?, ?, ?, ?)",
            (uid, ref.id, tx.at, print_),
        )
        if print_ and not tx.current(TOMBSTONES, print_):
            tx.open(TOMBSTONES, {"fingerprint": print_, "memory_id": None, "reason": "expunged"})
        _note_wipe(tx.conn, pending=True)
    pending = not wipe_free_space(desk)
    return ExpungeReport(ref.id, rows, holding(desk.store, uid), pending)


def _note_wipe(conn: sqlite3.Connection, *, pending: bool) -> None:
    conn.execute(
        "INSERT INTO cursors (name, value) VALUES ('wipe_pending', ?)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (json.dumps(pending),),
    )


def wipe_free_space(desk: Desk) -> bool:
    """Vacuum and empty the write-ahead log, so that removed bytes leave the files; False while a reader holds it."""
    with desk.store.exclusive() as conn:
        conn.execute("VACUUM")
        busy, _, _ = conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        _note_wipe(conn, pending=bool(busy))
    return not busy


def cleanup(desk: Desk, by: Caller, *, dry_run: bool = True) -> CleanupReport:
    """Remove memories that were forgotten more than 90 days ago, after a snapshot (T21); a dry run only lists them."""
    require_owner(by, "clean up")
    limit = desk.store.clock.now_ms() - CLEANUP_DAYS * DAY_MS
    with desk.store.read() as conn:
        ids = tuple(
            r[0]
            for r in conn.execute(
                "SELECT s.memory_id FROM states s JOIN operations o ON o.op = s.op_from WHERE s.op_to IS NULL"
                " AND s.state = 'deleted' AND o.at < ? ORDER BY s.memory_id",
                (limit,),
            )
        )
    if dry_run or not ids:
        return CleanupReport(dry_run, ids, None)
    snapshot = make_snapshot(desk.store, kind="protection", reason="before clean-up")
    with desk.store.write(by, "cleanup", summary=f"removed {len(ids)} forgotten memories") as tx:
        still = [
            r[0]
            for r in tx.conn.execute(
                "SELECT memory_id FROM states WHERE op_to IS NULL AND state = 'deleted'"
                " AND memory_id IN (SELECT value FROM json_each(?))",
                (json.dumps(ids),),
            )
        ]
        for memory_id in still:
            erase_memory(tx.conn, memory_id, keep_tombstones=True)
    return CleanupReport(False, tuple(still), snapshot.name)
