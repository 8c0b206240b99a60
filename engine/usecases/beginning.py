"""Beginning a memory: its rows, topics and facts, the wait for the owner, and what stays forgotten."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from engine.model.enums import ReviewKind, State
from engine.model.errors import MemdeckError
from engine.model.memory import Caller, Memory, WriteResult
from engine.store.facts import Added, add_facts
from engine.store.memories import (
    Found,
    find_same,
    insert_memory,
    make_topic,
    set_topics,
    topic_id,
)
from engine.store.review import open_item
from engine.store.schema import SIGHTINGS, TOMBSTONES
from engine.store.transaction import Tx
from engine.usecases.desk import Desk
from engine.usecases.drafts import Prepared
from engine.usecases.tag_links import tag_memory

WAITS = "the owner decides; trying again is useless"


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
        uid=text_or_none(identity.get("uid")),
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
        text_or_none(prepared.columns["scope_key"]),
        None,
        None,
    )
    if same is not None and same.state is State.QUARANTINED:
        tx.describe(f"mem-{same.id} seen again while it waits")
        return waits_already(tx, by, prepared, same)
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


def text_or_none(value: object) -> str | None:
    return None if value is None else str(value)


def note_sighting(tx: Tx, by: Caller, prepared: Prepared, same: Found) -> None:
    """Record that the same content was said again: evidence, not a second memory."""
    tx.open(
        SIGHTINGS,
        {
            "sighting_id": tx.next_id("sighting"), "memory_id": same.id, "revision": same.revision, "at": tx.at,
            "origin": by.origin.value, "actor": by.actor, "session": by.session,
            "source": prepared.standing.source, "authority": int(prepared.standing.authority),
        },
    )  # fmt: skip


def waits_already(tx: Tx, by: Caller, prepared: Prepared, same: Found) -> WriteResult:
    """Answer what was said again while it waits for the owner: one more sighting, no second memory."""
    note_sighting(tx, by, prepared, same)
    notes = (f"it waits already: {WAITS}",)
    return WriteResult(
        f"mem-{same.id}@{same.revision}", same.id, same.revision, "pending", tx.op, notes, seen_again=True
    )
