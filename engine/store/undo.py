"""Undo as a compensating operation: it ends what operations began and begins again what they ended."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from engine.model.errors import MemdeckError, invalid, not_found
from engine.store.journal import cancelled, changed_rows, row_label
from engine.store.schema import JOURNALLED, MEMORY_TAGS, MEMORY_TOPICS, STATES, TAGS, TOPICS, VERSIONS, Table
from engine.store.transaction import Tx, Values

FINAL_KINDS = frozenset({"expunge", "cleanup", "restore"})
"""Operations that no undo takes back; the snapshot made before them is the way back."""

_LINKS = {TAGS: MEMORY_TAGS, TOPICS: MEMORY_TOPICS}


@dataclass(frozen=True)
class Plan:
    """What an undo will do: rows to end, rows to begin, the objects touched, and those that stay as they are."""

    ends: tuple[tuple[Table, tuple[object, ...]], ...]
    begins: tuple[tuple[Table, Values], ...]
    objects: tuple[str, ...]
    left: tuple[str, ...]


def check_undoable(tx: Tx, ops: Collection[int]) -> None:
    """Raise when an operation does not exist, is final, or was taken back already."""
    gone = cancelled(tx.conn)
    for op in sorted(ops):
        row = tx.conn.execute("SELECT kind FROM operations WHERE op = ?", (op,)).fetchone()
        if row is None or op == tx.op:
            raise not_found(f"operation {op}", "see `memdeck log`")
        if row[0] in FINAL_KINDS:
            raise invalid(f"operation {op} ({row[0]}) is final", "restore the snapshot that was made before it")
        if op in gone:
            raise MemdeckError(
                "exists", f"operation {op} was taken back already by {gone[op]}", f"undo {gone[op]} to redo it"
            )


def plan_undo(tx: Tx, ops: Collection[int]) -> Plan:
    """Work out how to take back a set of operations as a unit.

    An object that a later operation touched stays as it is and is listed in `left`. Evidence never stands in the
    way, nor do later operations that were taken back, nor the undos that did so.
    """
    gone = cancelled(tx.conn)
    neutral = set(gone) | set(gone.values())
    touched: dict[str, list[tuple[Table, tuple[object, ...], Values | None, Values | None]]] = {}
    blocked: dict[str, None] = {}
    for table in JOURNALLED:
        keys: dict[tuple[object, ...], str] = {}
        for column in ("op_from", "op_to"):
            for row in changed_rows(tx.conn, table, ops, column):
                keys[tuple(row[k] for k in table.key)] = row_label(table, row)
        for key, label in keys.items():
            history = _history(tx, table, key)
            first = min(n for row in history for n in (row["op_from"], row["op_to"]) if n in ops)  # type: ignore[type-var]
            later = {
                n
                for row in history
                for n in (row["op_from"], row["op_to"])
                if isinstance(n, int) and n > int(str(first)) and n not in ops and n not in neutral
            }
            if later and table.touching:
                blocked[label] = None
            before = next(
                (
                    r
                    for r in history
                    if int(str(r["op_from"])) < int(str(first))
                    and (r["op_to"] is None or int(str(r["op_to"])) >= int(str(first)))
                ),
                None,
            )
            now = next((r for r in history if r["op_to"] is None), None)
            touched.setdefault(label, []).append((table, key, now, before))
    ends: list[tuple[Table, tuple[object, ...]]] = []
    begins: list[tuple[Table, Values]] = []
    for label, rows in touched.items():
        if label in blocked:
            continue
        for table, key, now, before in rows:
            if now is not None and before is not None and all(now[c] == before[c] for c in table.all_columns):
                continue
            if now is not None:
                ends.append((table, key))
            if before is not None:
                begins.append((table, {c: before[c] for c in table.all_columns}))
    return Plan(tuple(ends), tuple(begins), tuple(n for n in touched if n not in blocked), tuple(blocked))


def apply_undo(tx: Tx, ops: Collection[int], plan: Plan) -> None:
    """Carry out a plan in the operation `tx` and record which operations it takes back."""
    vocabulary = [(table, key) for table, key in plan.ends if table in _LINKS]
    for table, key in plan.ends:
        if table not in _LINKS:
            tx.close(table, *key)
    for table, key in vocabulary:
        # A tag or topic that the operation made may carry other memories by now; then it stays.
        link = _LINKS[table]
        if not tx.conn.execute(f"SELECT 1 FROM {link.name} WHERE {table.owner} = ? AND op_to IS NULL", key).fetchone():
            tx.close(table, *key)
    for table, values in plan.begins:
        if table.revision:
            values[table.revision] = tx.next_revision(table, tuple(values[k] for k in table.key))
        tx.open(table, values)
    tx.conn.executemany("INSERT INTO undone (op, by_op) VALUES (?, ?)", [(op, tx.op) for op in sorted(ops)])


def _history(tx: Tx, table: Table, key: tuple[object, ...]) -> list[Values]:
    names = ("vid", "op_from", "op_to", *table.all_columns)
    where = " AND ".join(f"{c} = ?" for c in table.key)
    rows = tx.conn.execute(f"SELECT {', '.join(names)} FROM {table.name} WHERE {where} ORDER BY vid", key)
    return [dict(zip(names, row, strict=True)) for row in rows]


def memories_of(plan: Plan) -> tuple[int, ...]:
    """Return the numbers of the memories whose version or state an undo changes."""
    keys = [key[0] for table, key in plan.ends if table in (VERSIONS, STATES)]
    keys += [values["memory_id"] for table, values in plan.begins if table in (VERSIONS, STATES)]
    return tuple(dict.fromkeys(int(str(k)) for k in keys))
