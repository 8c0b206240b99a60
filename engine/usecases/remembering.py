"""Remembering: a fact that is new, seen again, replaces another, or has to wait for the owner."""

from __future__ import annotations

import hashlib
import json

from engine.model.enums import Origin, ReviewKind, State
from engine.model.errors import MemdeckError, invalid
from engine.model.memory import Caller, Draft, Memory, WriteResult
from engine.rules.authority import may_override
from engine.store.facts import Added
from engine.store.journal import cancelled
from engine.store.memories import (
    Found,
    find_same,
    fingerprint,
    new_version,
    set_state,
)
from engine.store.rows import dump
from engine.store.transaction import Tx
from engine.usecases.beginning import (
    attach_topics,
    begin,
    counted,
    note_blocked,
    note_sighting,
    quarantine,
    refuse_forgotten,
    state_facts,
    text_or_none,
    waits_already,
)
from engine.usecases.desk import Desk, check_revision, current, reload, resolve
from engine.usecases.drafts import Prepared, gate, is_deduplicated, prepare
from engine.usecases.replacing import correct, supersede
from engine.usecases.rivals import propose_exclusions, propose_rivals


def remember(
    desk: Desk, by: Caller, draft: Draft, *, replaces: str | None = None, was: str = "outdated", key: str | None = None
) -> WriteResult:
    """Store a fact, or what replaces one: `was` outdated supersedes it (C2), wrong corrects it (C6).

    The answer's state is active, pending (the owner decides) or quarantined. A repeated `key` of the same client
    returns the first answer. Raises refused_noise, refused_secret, invalid_argument, stale_revision, locked or
    needs_human.
    """
    if was not in ("outdated", "wrong"):
        raise invalid(f"was={was!r} is not known", "say outdated (it changed) or wrong (it never was true)")
    prepared = prepare(draft, by, gate(desk.settings, by), desk.store.clock.now_ms())
    target = None
    if replaces is not None:
        ref = resolve(desk, by, replaces)
        target = current(desk, by, ref)
        check_revision(target, ref.revision)
    try:
        with desk.store.write(by, "remember", source=prepared.standing.source) as tx:
            again = _answered(tx, by, key, _digest(tx, prepared, replaces, was))
            if again is not None:
                raise _Repeated(again)
            result = _store(desk, tx, by, prepared, target, was)
            _answer(tx, by, key, _digest(tx, prepared, replaces, was), result)
    except _Repeated as repeated:
        return repeated.result
    except MemdeckError as error:
        if error.code == "needs_human":
            note_blocked(desk, str(error.params["fingerprint"]), by)
        raise
    return result


class _Repeated(Exception):
    """The key was answered before; leaves the write block so that nothing is written."""

    def __init__(self, result: WriteResult) -> None:
        super().__init__("answered before")
        self.result = result


def _digest(tx: Tx, prepared: Prepared, replaces: str | None, was: str) -> str:
    """Return what a key stands for: the same request gives the same answer, another one is an error."""
    return f"{fingerprint(tx, prepared.text, prepared.body).hex()}:{replaces or ''}:{was if replaces else ''}"


def _answered(tx: Tx, by: Caller, key: str | None, digest: str) -> WriteResult | None:
    """Return the answer that a key got before, unless what it did was taken back since.

    Raises invalid_argument when the key was used for another request.
    """
    if not key:
        return None
    row = tx.conn.execute(
        "SELECT op, answer FROM idempotency WHERE actor = ? AND key = ?", (by.actor, key_of(key))
    ).fetchone()
    if row is None or row[0] in cancelled(tx.conn):
        return None
    stored = json.loads(row[1])
    if stored.pop("digest") != digest:
        raise invalid("this key was used for another text", "take a new key for each thing to remember")
    return WriteResult(
        **{**stored, "notes": (*stored["notes"], "answered before: same key"), "warnings": tuple(stored["warnings"])}
    )


def _answer(tx: Tx, by: Caller, key: str | None, digest: str, result: WriteResult) -> None:
    if key:
        tx.conn.execute(
            "INSERT OR REPLACE INTO idempotency (actor, key, op, at, answer) VALUES (?, ?, ?, ?, ?)",
            (by.actor, key_of(key), tx.op, tx.at, dump({**result.__dict__, "digest": digest})),
        )


def key_of(key: str) -> str:
    """Return what is kept of a client's key: a client may put anything into it."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _store(desk: Desk, tx: Tx, by: Caller, prepared: Prepared, target: Memory | None, was: str) -> WriteResult:
    print_ = fingerprint(tx, prepared.text, prepared.body)
    refuse_forgotten(tx, by, print_)
    prepared.columns["fingerprint"] = print_
    if prepared.verdict.check == "injection":
        return quarantine(tx, by, prepared, "injection", ReviewKind.QUARANTINE, target=target, was=was)
    if by.origin is Origin.AGENT and desk.settings.word("review.agents") == "all":
        return quarantine(tx, by, prepared, "review", ReviewKind.QUARANTINE, target=target, was=was)
    if target is not None:
        return _replace(desk, tx, by, prepared, target, was)
    if is_deduplicated(prepared.draft):
        columns = prepared.columns
        same = find_same(
            tx,
            print_,
            prepared.draft.subject,
            str(columns["scope"]),
            text_or_none(columns["scope_key"]),
            prepared.draft.valid_from,
            prepared.draft.valid_to,
        )
        if same is not None:
            return _seen_again(tx, by, prepared, same)
    stronger = propose_rivals(desk, tx, by, prepared)
    if stronger is not None:
        return quarantine(tx, by, prepared, "authority", ReviewKind.AUTHORITY, target=stronger, was="outdated")
    return _insert(desk, tx, by, prepared)


def _insert(desk: Desk, tx: Tx, by: Caller, prepared: Prepared) -> WriteResult:
    memory_id, added, said = begin(tx, prepared, State.ACTIVE, "")
    notes = [*prepared.notes, *said, *attach_topics(tx, by, memory_id, prepared.draft.topics)]
    if added.relations:
        propose_exclusions(tx, by, memory_id, prepared.text)
    tx.describe(prepared.text[:120])
    result = WriteResult(f"mem-{memory_id}@1", memory_id, 1, "active", tx.op, tuple(notes))
    return counted(result, prepared, added)


def _seen_again(tx: Tx, by: Caller, prepared: Prepared, same: Found) -> WriteResult:
    notes = ["seen again: no second memory was made"]
    if same.state is State.QUARANTINED:
        return waits_already(tx, by, prepared, same)
    note_sighting(tx, by, prepared, same)
    revision = same.revision
    changes: dict[str, object] = {}
    added = state_facts(tx, same.id, prepared) if prepared.draft.triples else Added()
    if prepared.standing.authority > same.authority:
        changes |= {"authority": int(prepared.standing.authority), "source": prepared.columns["source"]}
        notes.append("its authority was lifted")
    if same.speculative and not prepared.standing.speculative:
        changes |= {"speculative": 0, "confidence": prepared.columns["confidence"]}
    if changes and new_version(tx, same.id, changes):
        revision = reload(tx, same.id, bodies=False).revision
    if same.state is State.ARCHIVED:
        set_state(tx, same.id, State.ACTIVE, "seen again")
        notes.append("it was archived and is active again")
    tx.describe(f"mem-{same.id} seen again")
    result = WriteResult(f"mem-{same.id}@{revision}", same.id, revision, "active", tx.op, tuple(notes), seen_again=True)
    return counted(result, prepared, added)


def _replace(desk: Desk, tx: Tx, by: Caller, prepared: Prepared, target: Memory, was: str) -> WriteResult:
    now = reload(tx, target.id)
    check_revision(now, target.revision)
    # What ends only later is still true; and what was wrong can be put right in what is over, too.
    lasting = now.valid_to is not None and now.valid_to > tx.at
    if now.state is not State.ACTIVE and not (now.state is State.SUPERSEDED and (lasting or was == "wrong")):
        where = f" by mem-{now.target}" if now.target else ""
        raise invalid(
            f"mem-{now.id} is {now.state.value}{where}",
            f"replace mem-{now.target}" if now.target else "remember it without `replaces`",
        )
    if now.locked and not by.is_owner:
        raise MemdeckError("locked", f"mem-{now.id} is locked by the owner", "tell the owner what should change")
    if not may_override(prepared.standing.authority, now.authority, prepared.standing.speculative):
        return quarantine(tx, by, prepared, "authority", ReviewKind.AUTHORITY, target=now, was=was)
    return correct(tx, by, prepared, now) if was == "wrong" else supersede(desk, tx, by, prepared, now)
