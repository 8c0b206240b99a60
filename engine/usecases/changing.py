"""Changing a memory by hand: edit, lock, merge (C5, C6, S39, S49)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from engine.model.enums import Kind, Scope, State, Status, Type
from engine.model.errors import MemdeckError, invalid
from engine.model.memory import Caller, Draft, Memory, WriteResult
from engine.rules.authority import may_override, standing
from engine.rules.textnorm import clean_input
from engine.store.facts import close_reworded, move_facts
from engine.store.memories import fingerprint, new_version, set_locked, set_state, set_topics
from engine.store.review import close_items_of
from engine.store.rows import dump
from engine.store.tags import set_links, tags_of
from engine.store.transaction import Tx
from engine.usecases.beginning import topics_of
from engine.usecases.desk import Desk, check_revision, current, reload, require_whole, resolve
from engine.usecases.drafts import gate, prepare
from engine.usecases.tag_links import tag_memory

_WORDS: dict[str, type[StrEnum]] = {"type": Type, "kind": Kind, "scope": Scope, "status": Status}
EDITABLE = (
    "description", "body", "name", "type", "kind", "aliases", "tags", "topics", "subject", "valid_from", "valid_to",
    "dated_at", "scope", "status", "baseline", "baseline_priority", "confidence", "scene", "scene_sub",
)  # fmt: skip


def edit(
    desk: Desk,
    by: Caller,
    ref_text: str,
    changes: Mapping[str, object],
    *,
    expect_revision: int | None = None,
    reason: str = "",
) -> WriteResult:
    """Change fields of a memory as the next version of the same memory (C6); `changes` maps EDITABLE names to values.

    The owner states the revision that was read, in the reference or as `expect_revision`. Raises stale_revision with
    both versions, refused_authority when the memory weighs more than the caller, locked, invalid_argument.
    """
    unknown = [name for name in changes if name not in EDITABLE]
    if unknown:
        raise invalid(f"{unknown[0]!r} cannot be edited", f"one of: {', '.join(EDITABLE)}")
    ref = resolve(desk, by, ref_text)
    expected = expect_revision if expect_revision is not None else ref.revision
    if expected is None and by.is_owner:
        raise invalid("an edit states the revision that it read", f"write it as mem-{ref.id}@REVISION")
    old = require_whole(current(desk, by, ref))
    check_revision(old, expected)
    stand = standing(by.origin)
    if not may_override(stand.authority, old.authority):
        raise MemdeckError(
            "refused_authority",
            f"mem-{old.id} weighs more than an edit from here",
            "use remember with replaces: it waits for the owner",
        )
    if old.locked and not by.is_owner:
        raise MemdeckError("locked", f"mem-{old.id} is locked by the owner", "tell the owner what should change")
    draft = _draft(old, changes)
    prepared = prepare(draft, by, gate(desk.settings, by), desk.store.clock.now_ms())
    with desk.store.write(by, "edit", reason=reason, source=stand.source) as tx:
        check_revision(reload(tx, old.id), old.revision)
        columns: dict[str, object] = {
            name: prepared.columns[name]
            for name in changes
            if name in prepared.columns and name not in ("description", "body")
        }
        if {"description", "body"} & changes.keys():
            columns |= {
                "description": prepared.text, "body": prepared.body,
                "fingerprint": fingerprint(tx, prepared.text, prepared.body),
            }  # fmt: skip
        if "scope" in columns:
            columns["scope_key"] = prepared.columns["scope_key"]
        notes = list(prepared.notes)
        changed = _differs(old, columns)
        if changed:
            columns |= {
                "manually_corrected": int(by.is_owner or old.manually_corrected), "source": stand.source,
                "origin": by.origin.value, "actor": by.actor, "authority": int(stand.authority), "speculative": 0,
            }  # fmt: skip
            new_version(tx, old.id, columns)
            close_reworded(tx, old.id, f"{old.description}\n{old.body}", f"{prepared.text}\n{prepared.body}")
        if "tags" in changes:
            tagged = tag_memory(tx, old.id, prepared.draft.tags)
            changed |= tagged.changed
            notes += tagged.notes
        if "topics" in changes:
            ids, said = topics_of(tx, by, old.id, prepared.draft.topics)
            changed |= set_topics(tx, old.id, ids) or bool(said)
            notes += said
        if not changed:
            raise invalid("nothing would change", "give a field another value")
        memory = reload(tx, old.id, bodies=False)
        tx.describe(f"edited mem-{old.id}: {', '.join(changes)}")
    return WriteResult(memory.ref, old.id, memory.revision, memory.state.value, tx.op, tuple(notes))


def _draft(old: Memory, changes: Mapping[str, object]) -> Draft:
    values: dict[str, Any] = {
        "text": old.description, "body": old.body, "name": old.name, "kind": old.kind, "type": old.type,
        "aliases": old.aliases, "tags": old.tags, "topics": old.topics, "subject": old.subject,
        "valid_from": old.valid_from, "valid_to": old.valid_to, "dated_at": old.dated_at, "scope": old.scope,
        "scope_key": old.scope_key, "thread": old.thread, "seq": old.seq, "status": old.status,
        "confidence": old.confidence, "baseline": old.baseline, "baseline_priority": old.baseline_priority,
        "scene": old.scene, "scene_sub": old.scene_sub, "perception": old.perception, "extra": old.extra,
    }  # fmt: skip
    if not {"valid_from", "valid_to"} & changes.keys():
        # What was superseded at the moment it began is true at no time; that is no reason to refuse another change.
        values["valid_to"] = None
    for name, value in changes.items():
        values["text" if name == "description" else name] = _typed(name, value)
    if values["scope"] is not Scope.GLOBAL and "scope" in changes and values["scope"] is not old.scope:
        values["scope_key"] = None
    return Draft(**values)


def _typed(name: str, value: object) -> object:
    if name in _WORDS:
        try:
            return _WORDS[name](str(value))
        except ValueError:
            words = ", ".join(_WORDS[name])
            code = "invalid_status" if name == "status" else "invalid_argument"
            raise MemdeckError(code, f"{name}={value!r} is not known", f"one of: {words}") from None
    if name in ("aliases", "tags", "topics"):
        if isinstance(value, str):
            value = [part for part in value.replace("，", ",").split(",") if part.strip()]
        if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
            raise invalid(f"{name} takes a list of words", f'for example {name}=["one", "two"]')
        return tuple(value)
    if name in ("valid_from", "valid_to", "dated_at"):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise invalid(
                f"{name} takes UTC milliseconds or nothing", "use the command line or the app to write a date"
            )
        return value
    check, shown = _KINDS[name]
    if not check(value):
        raise invalid(f"{name} takes {shown}", "")
    return clean_input(value) if isinstance(value, str) else value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TEXT: tuple[Callable[[object], bool], str] = (lambda v: isinstance(v, str), "text")
_KINDS: dict[str, tuple[Callable[[object], bool], str]] = {
    "description": _TEXT,
    "body": _TEXT,
    "name": _TEXT,
    "subject": _TEXT,
    "scene": _TEXT,
    "scene_sub": _TEXT,
    "baseline": (lambda v: isinstance(v, bool), "true or false"),
    "baseline_priority": (lambda v: isinstance(v, int) and not isinstance(v, bool), "a whole number"),
    "confidence": (_is_number, "a number from 0 to 1"),
}


def _differs(old: Memory, columns: Mapping[str, object]) -> bool:
    now: dict[str, object] = {
        "description": old.description, "body": old.body, "aliases": dump(list(old.aliases)), "kind": old.kind.value,
        "type": old.type.value, "scope": old.scope.value, "status": old.status.value, "baseline": int(old.baseline),
    }  # fmt: skip
    return any(
        value != now.get(name, getattr(old, name, None)) for name, value in columns.items() if name != "fingerprint"
    )


def lock(desk: Desk, by: Caller, ref_text: str, locked: bool) -> WriteResult:
    """Pin or release a memory (S49); the owner only, without touching its text or revision."""
    require_owner(by, "lock a memory")
    memory = current(desk, by, resolve(desk, by, ref_text))
    with desk.store.write(by, "lock" if locked else "unlock") as tx:
        if not set_locked(tx, memory.id, locked):
            raise MemdeckError(
                "exists", f"mem-{memory.id} is {'locked' if locked else 'not locked'} already", "nothing to do"
            )
        tx.describe(f"{'locked' if locked else 'unlocked'} mem-{memory.id}")
    return WriteResult(memory.ref, memory.id, memory.revision, memory.state.value, tx.op)


def merge(desk: Desk, by: Caller, source_text: str, target_text: str) -> WriteResult:
    """Fold one memory into another, which keeps its text; the folded one stays readable and points to it (C5)."""
    require_owner(by, "merge memories")
    source = current(desk, by, resolve(desk, by, source_text))
    target = current(desk, by, resolve(desk, by, target_text))
    if source.id == target.id:
        raise invalid("a memory cannot be merged into itself", "mark two different memories")
    with desk.store.write(by, "merge") as tx:
        source, target = reload(tx, source.id), reload(tx, target.id)
        for memory in (source, target):
            if memory.state is not State.ACTIVE:
                raise invalid(f"mem-{memory.id} is {memory.state.value}", "only active memories can be merged")
        merge_rows(tx, source, target)
        tx.describe(f"merged mem-{source.id} into mem-{target.id}")
    return WriteResult(
        target.ref, target.id, target.revision, "active", tx.op, (f"mem-{source.id} points to mem-{target.id}",)
    )


def merge_rows(tx: Tx, source: Memory, target: Memory) -> None:
    """Move tags, topics and facts of `source` to `target` and mark it merged."""
    set_links(tx, target.id, tags_of(tx.conn, target.id) | tags_of(tx.conn, source.id))
    ids = {
        r[0]
        for r in tx.conn.execute(
            "SELECT topic_id FROM memory_topics WHERE op_to IS NULL AND memory_id IN (?, ?)", (source.id, target.id)
        )
    }
    set_topics(tx, target.id, ids)
    move_facts(tx, source.id, target.id)
    set_state(tx, source.id, State.MERGED, "merged", target.id)
    close_items_of(tx, source.id, f"merged into mem-{target.id}")


def require_owner(by: Caller, what: str) -> None:
    """Raise needs_human unless the call comes through the owner's doors."""
    if not by.is_owner:
        raise MemdeckError("needs_human", f"only the owner can {what}", "propose it to the owner in words")
