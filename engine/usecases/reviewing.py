"""Deciding what waits: accept, reject, defer or skip, on one item or on many, in one operation that can be undone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from engine.model.enums import Kind, ReviewKind, ReviewState, State, Verb
from engine.model.errors import MemdeckError, invalid
from engine.model.memory import Caller, Draft, Memory
from engine.model.records import ReviewItem
from engine.rules.admission import Checks
from engine.store.facts import close_reworded, move_facts
from engine.store.memories import fingerprint, make_topic, new_version, set_state, set_topics, topic_id
from engine.store.review import load_items, set_item
from engine.store.rows import load_memories
from engine.store.schema import VERSIONS
from engine.store.snapshots import make_snapshot
from engine.store.tag_merge import carry_out
from engine.store.transaction import Tx
from engine.store.turns import queue_job
from engine.usecases.beginning import attach_topics
from engine.usecases.changing import merge_rows, require_owner
from engine.usecases.desk import Desk
from engine.usecases.drafts import gate, prepare
from engine.usecases.forgetting import bury, remove_rows
from engine.usecases.replacing import close_validity
from engine.usecases.tag_merging import merge_work
from engine.usecases.tagging import read_level, relate_rows


@dataclass(frozen=True)
class DecideResult:
    """Which items were decided in operation `op` (None when none), and why others were not."""

    op: int | None
    decided: tuple[int, ...]
    refused: tuple[tuple[int, str], ...]


class Refused(Exception):
    """One item cannot be decided this way; the others still are."""


def decide(
    desk: Desk,
    by: Caller,
    ids: Sequence[int],
    verb: str,
    *,
    reason: str = "",
    changes: Mapping[str, object] | None = None,
    defer_until: int | None = None,
) -> DecideResult:
    """Decide review items as one operation; an item that cannot be decided is reported, the rest go on.

    `changes` (description, body) edits the waiting memory before it is accepted. `defer_until` is UTC milliseconds.
    Raises needs_human for anybody but the owner, invalid_argument for an unknown verb.
    """
    require_owner(by, "decide review items")
    if verb not in tuple(Verb):
        raise invalid(f"{verb!r} is no decision", f"one of: {', '.join(Verb)}")
    if verb == Verb.SKIP or not ids:
        return DecideResult(None, (), ())
    decided, refused = [], []
    with desk.store.read() as conn:
        items = load_items(conn, list(ids))
    known = {item.id for item in items}
    missing = [(i, "there is no such item") for i in ids if i not in known]
    if not known:
        return DecideResult(None, (), tuple(missing))
    if verb == Verb.ACCEPT and any(i.kind in SNAPSHOT_FIRST for i in items):
        keep = desk.settings.number("snapshots.keep_runs")
        make_snapshot(desk.store, kind="run", reason="before accepting what was proposed", keep=keep)
    with desk.store.write(by, f"review_{verb}", reason=reason) as tx:
        for item in load_items(tx.conn, list(dict.fromkeys(ids))):
            try:
                with tx.attempt():
                    _decide_one(tx, by, item, Verb(verb), reason, changes, defer_until, gate(desk.settings, by))
                decided.append(item.id)
            except Refused as why:
                refused.append((item.id, str(why)))
        if not decided:
            raise MemdeckError("invalid_argument", f"review-{refused[0][0]}: {refused[0][1]}", "see `memdeck review`")
        tx.describe(f"{verb}: " + ", ".join(f"review-{i}" for i in decided[:8]) + (" …" if len(decided) > 8 else ""))
    return DecideResult(tx.op, tuple(decided), (*refused, *missing))


def _decide_one(
    tx: Tx,
    by: Caller,
    item: ReviewItem,
    verb: Verb,
    reason: str,
    changes: Mapping[str, object] | None,
    defer_until: int | None,
    checks: Checks,
) -> None:
    if item.state not in (ReviewState.OPEN, ReviewState.DEFERRED):
        raise Refused(f"it was {item.state.value} already")
    if verb is Verb.DEFER:
        if defer_until is not None and defer_until <= tx.at:
            raise Refused("the date to come back to it lies in the past")
        set_item(tx, item.id, ReviewState.DEFERRED, reason=reason, defer_until=defer_until)
        return
    if changes and verb is Verb.ACCEPT and item.memory_id is not None:
        _edit(tx, by, item.memory_id, changes, checks)
    (_ACCEPT if verb is Verb.ACCEPT else _REJECT)[item.kind](tx, by, item, reason)
    set_item(tx, item.id, ReviewState.ACCEPTED if verb is Verb.ACCEPT else ReviewState.REJECTED, reason=reason)


def _edit(tx: Tx, by: Caller, memory_id: int, changes: Mapping[str, object], checks: Checks) -> None:
    """Change the text of what waits; the owner's own words pass the same checks as everywhere."""
    memory = _load(tx, memory_id)
    text = str(changes.get("description", memory.description))
    body = str(changes.get("body", memory.body))
    if (text, body) == (memory.description, memory.body):
        return
    prepared = prepare(Draft(text, body=body), by, checks, tx.at)
    new_version(
        tx,
        memory_id,
        {
            "description": prepared.text, "body": prepared.body,
            "fingerprint": fingerprint(tx, prepared.text, prepared.body), "manually_corrected": 1,
            "origin": by.origin.value, "actor": by.actor, "authority": 6,
        },
    )  # fmt: skip
    close_reworded(tx, memory_id, f"{memory.description}\n{memory.body}", f"{prepared.text}\n{prepared.body}")


def _load(tx: Tx, memory_id: int | None) -> Memory:
    found = load_memories(tx.conn, [memory_id]) if memory_id is not None else []
    if not found:
        raise Refused("its memory is gone")
    return found[0]


def _accept_waiting(tx: Tx, by: Caller, item: ReviewItem, reason: str) -> None:
    """Let a quarantined memory in, and carry out the replacement that it asked for."""
    memory = _load(tx, item.memory_id)
    if memory.state is not State.QUARANTINED:
        raise Refused(f"mem-{memory.id} is {memory.state.value}")
    replaces = item.proposal.get("replaces")
    if isinstance(replaces, int):
        old = _load(tx, replaces)
        if old.state is not State.ACTIVE:
            raise Refused(f"mem-{old.id}, which it would replace, is {old.state.value}")
        if item.proposal.get("was") == "wrong":
            _correct_from(tx, by, memory, old)
            return
        close_validity(tx, old, memory.id, max(memory.valid_from, old.valid_from))
    set_state(tx, memory.id, State.ACTIVE, "accepted")
    if memory.kind is Kind.EPISODE:
        queue_job(tx.conn, {"memory": memory.id}, tx.at)
    topics = item.proposal.get("topics")
    if isinstance(topics, list):
        attach_topics(tx, by, memory.id, tuple(str(t) for t in topics))


def _correct_from(tx: Tx, by: Caller, memory: Memory, old: Memory) -> None:
    row = tx.current(VERSIONS, memory.id) or {}
    new_version(
        tx,
        old.id,
        {
            "description": memory.description, "body": memory.body, "kind": Kind.CORRECTION.value,
            "fingerprint": row.get("fingerprint"), "manually_corrected": 1, "origin": by.origin.value,
            "actor": memory.actor, "source": memory.source, "authority": max(memory.authority, old.authority),
        },
    )  # fmt: skip
    close_reworded(tx, old.id, f"{old.description}\n{old.body}", f"{memory.description}\n{memory.body}")
    move_facts(tx, memory.id, old.id)
    set_state(tx, memory.id, State.MERGED, "accepted as a correction", old.id)


def _reject_waiting(tx: Tx, by: Caller, item: ReviewItem, reason: str) -> None:
    """Keep a quarantined memory out for good: its content is blocked from coming back."""
    memory = _load(tx, item.memory_id)
    if memory.state is State.QUARANTINED:
        set_state(tx, memory.id, State.DELETED, f"rejected: {reason}" if reason else "rejected")
        bury(tx, memory.id, "rejected")


def _accept_merge(tx: Tx, by: Caller, item: ReviewItem, reason: str) -> None:
    newer, older = _load(tx, item.memory_id), _load(tx, item.rival_id)
    for memory in (newer, older):
        if memory.state is not State.ACTIVE:
            raise Refused(f"mem-{memory.id} is {memory.state.value}")
    merge_rows(tx, newer, older)


def _accept_contradiction(tx: Tx, by: Caller, item: ReviewItem, reason: str) -> None:
    """The newer statement is right from when it began; the older one is closed there."""
    newer, older = _load(tx, item.memory_id), _load(tx, item.rival_id)
    for memory in (newer, older):
        if memory.state is not State.ACTIVE:
            raise Refused(f"mem-{memory.id} is {memory.state.value}")
    close_validity(tx, older, newer.id, newer.valid_from)


def _reject_contradiction(tx: Tx, by: Caller, item: ReviewItem, reason: str) -> None:
    """The older statement stands; the newer one goes, and may not come back."""
    newer = _load(tx, item.memory_id)
    if newer.state is State.ACTIVE:
        remove_rows(tx, newer, State.DELETED, "rejected")


def _accept_topic(tx: Tx, by: Caller, item: ReviewItem, reason: str) -> None:
    name = str(item.proposal.get("topic", item.title))
    number = topic_id(tx, name) or make_topic(tx, name)
    if item.memory_id is not None and load_memories(tx.conn, [item.memory_id], bodies=False):
        rows = tx.conn.execute(
            "SELECT topic_id FROM memory_topics WHERE memory_id = ? AND op_to IS NULL", (item.memory_id,)
        ).fetchall()
        set_topics(tx, item.memory_id, {number, *(r[0] for r in rows)})


def _accept_forget(tx: Tx, by: Caller, item: ReviewItem, reason: str) -> None:
    ids = item.proposal.get("ids")
    state = State.DELETED if item.proposal.get("how") == "forget" else State.ARCHIVED
    for memory in load_memories(tx.conn, [int(i) for i in ids] if isinstance(ids, list) else [], bodies=False):
        if memory.locked:
            raise Refused(f"mem-{memory.id} is locked")
        if memory.state not in (State.DELETED, state):
            remove_rows(tx, memory, state, str(item.evidence.get("reason", "")))


def _accept_privilege(tx: Tx, by: Caller, item: ReviewItem, reason: str) -> None:
    memory = _load(tx, item.memory_id)
    fields = {k: v for k, v in item.proposal.items() if k in ("baseline", "baseline_priority", "type", "authority")}
    new_version(tx, memory.id, fields)


def _accept_relation(tx: Tx, by: Caller, item: ReviewItem, reason: str) -> None:
    asked = item.proposal
    try:
        relate_rows(tx, str(asked.get("one")), str(asked.get("other")), read_level(str(asked.get("level"))))
    except MemdeckError as error:
        raise Refused(error.message) from None


def _accept_tag_merge(tx: Tx, by: Caller, item: ReviewItem, reason: str) -> None:
    sources = item.proposal.get("sources")
    names = [str(code) for code in sources] if isinstance(sources, list) else []
    try:
        carry_out(tx, merge_work(tx.conn, names, str(item.proposal.get("target"))))
    except MemdeckError as error:
        raise Refused(error.message) from None


def _nothing(tx: Tx, by: Caller, item: ReviewItem, reason: str) -> None:
    """The decision itself is all that changes."""


def _bury_held(tx: Tx, by: Caller, item: ReviewItem, reason: str) -> None:
    """A refused secret leaves no fingerprint: only what is stored redacted is buried."""
    if item.memory_id is not None:
        _reject_waiting(tx, by, item, reason)


SNAPSHOT_FIRST = frozenset({ReviewKind.TAG_MERGE})
"""What is bulk work once it is accepted."""

Decision = Callable[[Tx, Caller, ReviewItem, str], None]

_ACCEPT: dict[ReviewKind, Decision] = {
    ReviewKind.QUARANTINE: _accept_waiting,
    ReviewKind.HELD_BACK: _accept_waiting,
    ReviewKind.AUTHORITY: _accept_waiting,
    ReviewKind.NEAR_DUPLICATE: _accept_merge,
    ReviewKind.CONTRADICTION: _accept_contradiction,
    ReviewKind.PRIVILEGE: _accept_privilege,
    ReviewKind.TOPIC_PROPOSAL: _accept_topic,
    ReviewKind.FORGET_REQUEST: _accept_forget,
    ReviewKind.TAG_RELATION: _accept_relation,
    ReviewKind.TAG_MERGE: _accept_tag_merge,
}
_REJECT: dict[ReviewKind, Decision] = {
    ReviewKind.QUARANTINE: _reject_waiting,
    ReviewKind.HELD_BACK: _bury_held,
    ReviewKind.AUTHORITY: _reject_waiting,
    ReviewKind.NEAR_DUPLICATE: _nothing,
    ReviewKind.CONTRADICTION: _reject_contradiction,
    ReviewKind.PRIVILEGE: _nothing,
    ReviewKind.TOPIC_PROPOSAL: _nothing,
    ReviewKind.FORGET_REQUEST: _nothing,
    ReviewKind.TAG_RELATION: _nothing,
    ReviewKind.TAG_MERGE: _nothing,
}
