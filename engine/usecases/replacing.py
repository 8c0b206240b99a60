"""Replacing a memory: putting right what was wrong (C6), and what is true from now on (C2)."""

from __future__ import annotations

from dataclasses import replace

from engine.model.enums import Kind, Scope, State
from engine.model.memory import Caller, Memory, WriteResult
from engine.store.facts import close_facts, close_reworded
from engine.store.memories import (
    new_version,
    set_state,
)
from engine.store.tags import set_links, tags_of
from engine.store.transaction import Tx
from engine.usecases.beginning import attach_topics, begin, counted, state_facts
from engine.usecases.desk import Desk, reload
from engine.usecases.drafts import Prepared
from engine.usecases.tag_links import tag_memory


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
