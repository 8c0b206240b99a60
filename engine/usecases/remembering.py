"""Remembering: a fact that is new, seen again, replaces another, or has to wait for the owner."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from engine.model.enums import Kind, Origin, ReviewKind, Scope, State
from engine.model.errors import MemdeckError, invalid
from engine.model.memory import Caller, Draft, Memory, WriteResult
from engine.rules.authority import may_override
from engine.store.facts import Added, add_facts, close_facts, close_reworded
from engine.store.journal import cancelled
from engine.store.memories import (
    Found,
    find_same,
    fingerprint,
    insert_memory,
    make_topic,
    new_version,
    set_state,
    set_topics,
    topic_id,
)  # fmt: skip
from engine.store.review import open_item
from engine.store.rows import dump
from engine.store.schema import SIGHTINGS, TOMBSTONES
from engine.store.tags import set_links, tags_of
from engine.store.transaction import Tx
from engine.usecases.desk import Desk, check_revision, current, reload, resolve
from engine.usecases.drafts import Prepared, gate, is_deduplicated, prepare
from engine.usecases.rivals import propose_exclusions, propose_rivals
from engine.usecases.tag_links import tag_memory

WAITS = "the owner decides; trying again is useless"


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
            _text(columns["scope_key"]),
            prepared.draft.valid_from,
            prepared.draft.valid_to,
        )
        if same is not None:
            return _seen_again(tx, by, prepared, same)
    stronger = propose_rivals(desk, tx, by, prepared)
    if stronger is not None:
        return quarantine(tx, by, prepared, "authority", ReviewKind.AUTHORITY, target=stronger, was="outdated")
    return _insert(desk, tx, by, prepared)


def refuse_forgotten(tx: Tx, by: Caller, print_: bytes) -> None:
    """What was rejected or forgotten stays so, unless the owner says it again."""
    row = tx.conn.execute(
        "SELECT memory_id FROM tombstones WHERE fingerprint = ? AND op_to IS NULL", (print_,)
    ).fetchone()
    if row is None:
        return
    if by.is_owner:
        tx.close(TOMBSTONES, print_)
        return
    raise MemdeckError(
        "needs_human",
        "this was forgotten or rejected before, so it was not stored again",
        "only the owner can lift that: `memdeck do lift_tombstone`",
        fingerprint=print_.hex(),
    )


def note_blocked(desk: Desk, print_: str, by: Caller) -> None:
    """Count an attempt to bring back what was forgotten, so that the owner sees it."""
    with desk.store.exclusive() as conn:
        conn.execute(
            "INSERT INTO blocked (fingerprint, times, last_at, origin) VALUES (?, 1, ?, ?) ON CONFLICT (fingerprint)"
            " DO UPDATE SET times = times + 1, last_at = excluded.last_at, origin = excluded.origin",
            (bytes.fromhex(print_), desk.store.clock.now_ms(), by.origin.value),
        )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _insert(desk: Desk, tx: Tx, by: Caller, prepared: Prepared) -> WriteResult:
    memory_id, added, said = begin(tx, prepared, State.ACTIVE, "")
    notes = [*prepared.notes, *said, *attach_topics(tx, by, memory_id, prepared.draft.topics)]
    if added.relations:
        propose_exclusions(tx, by, memory_id, prepared.text)
    tx.describe(prepared.text[:120])
    result = WriteResult(f"mem-{memory_id}@1", memory_id, 1, "active", tx.op, tuple(notes))
    return counted(result, prepared, added)


def counted(result: WriteResult, prepared: Prepared, added: Added) -> WriteResult:
    """Add to an answer what its triples brought (T4)."""
    return replace(result, relations=added.relations, entities=added.entities, skipped=prepared.skipped)


class Begun(NamedTuple):
    """A memory that begins: its number, what its triples brought, and what is to be said of its tags."""

    id: int
    added: Added
    notes: tuple[str, ...]


def begin(tx: Tx, prepared: Prepared, state: State, cause: str, **identity: object) -> Begun:
    """Begin a memory with its tags and facts. Topics follow with `attach_topics`."""
    memory_id = insert_memory(
        tx, prepared.columns, text=prepared.text, body=prepared.body, state=state, cause=cause,
        uid=_text(identity.get("uid")),
    )  # fmt: skip
    tagged = tag_memory(tx, memory_id, prepared.draft.tags)
    return Begun(memory_id, state_facts(tx, memory_id, prepared), tagged.notes)


def state_facts(tx: Tx, memory_id: int, prepared: Prepared) -> Added:
    """Add what a draft states to the facts of a memory."""
    draft = prepared.draft
    return add_facts(
        tx, memory_id, draft.triples, types=draft.entity_types, mentions=draft.mentions,
        confidence=float(str(prepared.columns["confidence"])), speculative=prepared.standing.speculative,
    )  # fmt: skip


def attach_topics(tx: Tx, by: Caller, memory_id: int, names: tuple[str, ...]) -> list[str]:
    """Put a memory under topics and return what is to be said about them."""
    ids, notes = topics_of(tx, by, memory_id, names)
    if ids:
        set_topics(tx, memory_id, ids)
    return notes


def topics_of(tx: Tx, by: Caller, memory_id: int, names: tuple[str, ...]) -> tuple[list[int], list[str]]:
    """Return the topics of names, with notes: an unknown one is made by the owner, and proposed by others (C15)."""
    ids, notes = list[int](), list[str]()
    for name in names:
        known = topic_id(tx, name)
        if known is None and by.is_owner:
            known = make_topic(tx, name)
        if known is not None:
            ids.append(known)
            continue
        open_item(
            tx, ReviewKind.TOPIC_PROPOSAL, f"topic:{name.casefold()}:{memory_id}", title=name, memory_id=memory_id,
            evidence={"asked_by": by.actor}, proposal={"topic": name},
        )  # fmt: skip
        notes.append(f"topic {name!r} does not exist yet; it was proposed to the owner")
    return ids, notes


def quarantine(
    tx: Tx,
    by: Caller,
    prepared: Prepared,
    cause: str,
    kind: ReviewKind,
    *,
    target: Memory | None = None,
    was: str = "outdated",
    evidence: Mapping[str, object] | None = None,
) -> WriteResult:
    """Store a write that waits: never recalled, one review item, and the rival stays as it is."""
    same = find_same(
        tx,
        prepared.print_,
        prepared.draft.subject,
        str(prepared.columns["scope"]),
        _text(prepared.columns["scope_key"]),
        None,
        None,
    )
    if same is not None and same.state is State.QUARANTINED:
        _sight(tx, by, prepared, same)
        tx.describe(f"mem-{same.id} seen again while it waits")
        return WriteResult(
            f"mem-{same.id}@{same.revision}",
            same.id,
            same.revision,
            "pending",
            tx.op,
            (f"it waits already: {WAITS}",),
            seen_again=True,
        )
    memory_id, _, said = begin(tx, prepared, State.QUARANTINED, cause)
    seen = {"cause": cause, "check": prepared.verdict.kind, "said_by": prepared.standing.source, **(evidence or {})}
    asked: dict[str, object] = {"topics": list(prepared.draft.topics)}
    if target is not None:
        asked |= {"replaces": target.id, "revision": target.revision, "was": was}
    item = open_item(
        tx, kind, f"{kind.value}:{memory_id}", title=prepared.text[:200], memory_id=memory_id,
        rival_id=target.id if target else None, evidence=seen, proposal=asked,
    )  # fmt: skip
    tx.describe(f"waits ({cause}): {prepared.text[:100]}")
    reason = {
        "injection": "it reads like orders to an agent",
        "review": "every agent write waits for review",
        "secret": "it held a secret, which was taken out",
        "authority": f"mem-{target.id if target else 0} weighs more",
    }[cause]
    state = "quarantined" if cause == "injection" else "pending"
    return WriteResult(
        f"mem-{memory_id}@1", memory_id, 1, state, tx.op, (*prepared.notes, *said, f"{reason}: {WAITS}"), review=item
    )


def _seen_again(tx: Tx, by: Caller, prepared: Prepared, same: Found) -> WriteResult:
    notes = ["seen again: no second memory was made"]
    if same.state is State.QUARANTINED:
        _sight(tx, by, prepared, same)
        return WriteResult(
            f"mem-{same.id}@{same.revision}",
            same.id,
            same.revision,
            "pending",
            tx.op,
            (f"it waits already: {WAITS}",),
            seen_again=True,
        )
    _sight(tx, by, prepared, same)
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


def _sight(tx: Tx, by: Caller, prepared: Prepared, same: Found) -> None:
    tx.open(
        SIGHTINGS,
        {
            "sighting_id": tx.next_id("sighting"), "memory_id": same.id, "revision": same.revision, "at": tx.at,
            "origin": by.origin.value, "actor": by.actor, "session": by.session,
            "source": prepared.standing.source, "authority": int(prepared.standing.authority),
        },
    )  # fmt: skip


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


def correct(tx: Tx, by: Caller, prepared: Prepared, old: Memory) -> WriteResult:
    """Write what was right all along as the next version of the same memory; its validity stays unless given (C6)."""
    draft, columns = prepared.draft, prepared.columns
    changes: dict[str, object] = {
        "description": prepared.text, "body": prepared.body, "fingerprint": columns["fingerprint"],
        "kind": Kind.CORRECTION.value if draft.kind is Kind.FACT else draft.kind.value, "source": columns["source"],
        "origin": columns["origin"], "actor": columns["actor"], "authority": columns["authority"],
        "confidence": columns["confidence"], "speculative": columns["speculative"],
        "manually_corrected": int(by.is_owner or old.manually_corrected),
    }  # fmt: skip
    for column, given in (("type", draft.type), ("valid_from", draft.valid_from), ("valid_to", draft.valid_to)):
        if given is not None:
            changes[column] = columns[column]
    new_version(tx, old.id, changes)
    said: tuple[str, ...] = ()
    if draft.tags:
        said = tag_memory(tx, old.id, draft.tags, keep=tags_of(tx.conn, old.id)).notes
    if draft.triples:
        close_facts(tx, old.id, keep=draft.triples)
    else:
        close_reworded(tx, old.id, f"{old.description}\n{old.body}", f"{prepared.text}\n{prepared.body}")
    added = state_facts(tx, old.id, prepared)
    tx.describe(f"corrected mem-{old.id}: {prepared.text[:90]}")
    memory = reload(tx, old.id, bodies=False)
    result = WriteResult(
        memory.ref,
        old.id,
        memory.revision,
        "active",
        tx.op,
        (*prepared.notes, *said, f"corrected; revision {old.revision} stays readable"),
    )
    return counted(result, prepared, added)


def supersede(desk: Desk, tx: Tx, by: Caller, prepared: Prepared, old: Memory) -> WriteResult:
    """Begin the new fact and close the old one's validity where the new one's begins (C2)."""
    columns = prepared.columns
    columns["type"] = (prepared.draft.type or old.type).value
    if not prepared.draft.subject:
        columns["subject"] = old.subject
    if prepared.draft.scope is None:
        columns["scope"], columns["scope_key"] = old.scope.value, old.scope_key
    inherited = replace(
        prepared,
        draft=replace(
            prepared.draft, topics=prepared.draft.topics or old.topics,
            scope=Scope(str(columns["scope"])),
        ),
    )  # fmt: skip
    memory_id, added, said = begin(tx, inherited, State.ACTIVE, "")
    if not prepared.draft.tags:
        set_links(tx, memory_id, tags_of(tx.conn, old.id))
    notes = [*prepared.notes, *said, *attach_topics(tx, by, memory_id, inherited.draft.topics)]
    close_validity(tx, old, memory_id, int(str(columns["valid_from"])))
    tx.describe(f"mem-{memory_id} supersedes mem-{old.id}: {prepared.text[:80]}")
    result = WriteResult(
        f"mem-{memory_id}@1", memory_id, 1, "active", tx.op, (*notes, f"mem-{old.id} is superseded and stays readable")
    )
    return counted(result, prepared, added)


def close_validity(tx: Tx, old: Memory, successor: int, at: int) -> None:
    """Mark a memory superseded and end its validity at `at`, never before it began."""
    end = max(at, old.valid_from)
    if old.valid_to is None or end < old.valid_to:
        new_version(tx, old.id, {"valid_to": end})
    set_state(tx, old.id, State.SUPERSEDED, "outdated", successor)
