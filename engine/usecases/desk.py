"""What every use case needs at hand: the open store and the settings in effect."""

from __future__ import annotations

import json
from dataclasses import dataclass

from engine.model.enums import Scope, State
from engine.model.errors import MemdeckError, invalid, not_found
from engine.model.ids import Ref, parse_ref
from engine.model.memory import Caller, Memory
from engine.rules.textnorm import fold
from engine.settings import Settings
from engine.store.connection import Store
from engine.store.ephemeral import Backlog
from engine.store.rows import load_memories
from engine.store.transaction import Tx


@dataclass(frozen=True)
class Desk:
    """The store, its settings and what waits to be counted, shared by all use cases of one engine."""

    store: Store
    settings: Settings
    backlog: Backlog


def stored_settings(store: Store) -> dict[str, object]:
    """Return what the owner set, name to value."""
    with store.read() as conn:
        rows = conn.execute("SELECT name, value FROM settings WHERE op_to IS NULL").fetchall()
    return {name: json.loads(value) for name, value in rows}


def resolve(desk: Desk, by: Caller, text: str) -> Ref:
    """Return the memory that a reference names: `mem-7`, `mem-7@3`, a uid, a name, an imported file or a turn (R22).

    Agents never resolve what is hidden from them. Raises not_found, or invalid_argument when a name is not unique.
    """
    from engine.store.turns import memory_of, suffix_of  # a hook resolves nothing and has no time to load it

    text = text.strip()
    ref = parse_ref(text)
    with desk.store.read() as conn:
        if ref is not None:
            found = [ref.id] if conn.execute("SELECT 1 FROM versions WHERE memory_id = ?", (ref.id,)).fetchone() else []
        elif (suffix := suffix_of(text)) is not None and (turn := memory_of(conn, suffix)) is not None:
            found = [turn]
        else:
            stem = text.removesuffix(".md")
            found = [
                r[0]
                for r in conn.execute(
                    "SELECT m.id FROM memories m JOIN versions v ON v.memory_id = m.id AND v.op_to IS NULL"
                    " WHERE m.uid = ?"
                    " UNION SELECT v.memory_id FROM versions v WHERE v.op_to IS NULL AND v.name IN (?, ?)"
                    " UNION SELECT v.memory_id FROM versions v WHERE v.op_to IS NULL AND"
                    " json_extract(v.extra, '$.source_path') IN (?, ?)",
                    (text, text, stem, text, f"{stem}.md"),
                )
            ]
        seen = [m for m in load_memories(conn, found, bodies=False) if may_see(by, m)]
        # A name belongs to who weighs most: nobody takes one away from the owner by using it as well.
        heaviest = [m for m in seen if m.authority == max(n.authority for n in seen)]
        visible = [m.id for m in (heaviest if len(heaviest) == 1 else seen)]
        if ref is not None and found and by.is_owner:
            visible = found
    if not visible:
        raise not_found(
            text[:120] or "an empty reference", "list what there is with `memdeck recall`, or check the number"
        )
    if len(visible) > 1:
        shown = ", ".join(f"mem-{i}" for i in visible[:5])
        raise invalid(f"{fold(text)[:80]!r} names {len(visible)} memories: {shown}", "use one of these references")
    return Ref(visible[0], ref.revision if ref else None)


def may_see(by: Caller, memory: Memory) -> bool:
    """Tell whether a caller may see a memory by its reference.

    Agents see nothing forgotten or waiting, nor what belongs to another session. Another workspace's memory can be
    read by its number, as `everywhere` would find it.
    """
    if by.is_owner:
        return True
    if memory.state in (State.DELETED, State.QUARANTINED):
        return False
    return memory.scope is not Scope.SESSION or memory.scope_key == by.session


def current(desk: Desk, by: Caller, ref: Ref) -> Memory:
    """Return a memory as it is now, or raise not_found."""
    with desk.store.read() as conn:
        found = load_memories(conn, [ref.id])
    if not found or not may_see(by, found[0]):
        raise not_found(f"mem-{ref.id}", "it may have been taken back; see `memdeck history`")
    return found[0]


def require_whole(memory: Memory) -> Memory:
    """Return a memory whose text is whole; raises internal when it is damaged, so that nobody builds on it (C41)."""
    if memory.damaged:
        raise MemdeckError(
            "internal",
            f"the text of mem-{memory.id} is damaged",
            "`memdeck doctor` names the newest snapshot that is good",
        )
    return memory


def reload(tx: Tx, memory_id: int, *, bodies: bool = True) -> Memory:
    """Return a memory as it is inside an operation, or raise not_found: somebody may have taken it back meanwhile."""
    found = load_memories(tx.conn, [memory_id], bodies=bodies)
    if not found:
        raise not_found(f"mem-{memory_id}", "it was taken back or erased meanwhile; see `memdeck log`")
    return found[0]


def check_revision(memory: Memory, expected: int | None) -> None:
    """Raise `stale_revision`, with the memory as it is now, when it is not at the revision the caller read (S39)."""
    if expected is not None and expected != memory.revision:
        raise MemdeckError(
            "stale_revision",
            f"mem-{memory.id} is at revision {memory.revision}, not {expected}",
            f"read mem-{memory.id} again and repeat the change with mem-{memory.id}@{memory.revision}",
            theirs=memory,
            expected=expected,
        )
