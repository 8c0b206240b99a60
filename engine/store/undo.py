"""Undo as a compensating operation: it ends what operations began and begins again what they ended."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine.model.errors import MemdeckError, invalid, not_found
from engine.store.journal import cancelled, changed_rows
from engine.store.rows import BATCH, batches, marks
from engine.store.schema import (
    ENTITIES,
    FACTS,
    JOURNALLED,
    MEMORY_TAGS,
    MEMORY_TOPICS,
    TAG_RELATIONS,
    TAGS,
    TOPICS,
    Table,
)  # fmt: skip
from engine.store.transaction import Tx, Values

FINAL_KINDS = frozenset({"expunge", "cleanup", "restore"})
"""Operations that no undo takes back; the snapshot made before them is the way back."""

_LINKS = {
    TAGS: ((MEMORY_TAGS, "tag_id"), (TAG_RELATIONS, "low_id"), (TAG_RELATIONS, "high_id"), (TAGS, "merged_to")),
    TOPICS: ((MEMORY_TOPICS, "topic_id"),),
    ENTITIES: ((FACTS, "subject_id"), (FACTS, "object_id")),
}
"""Vocabulary that other rows may have come to use since, with the columns that name it."""


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


@dataclass(frozen=True)
class _Touched:
    """One row of an object that the operations changed: as it is now, and as it was before the first of them."""

    table: Table
    key: tuple[object, ...]
    now: Values | None
    before: Values | None


def plan_undo(tx: Tx, ops: Collection[int]) -> Plan:
    """Work out how to take back a set of operations as a unit.

    An object that a later operation touched stays as it is and is listed in `left`. Evidence never stands in the
    way, nor do later operations that were taken back, nor the undos that did so. What was erased meanwhile is gone.
    A shared row that the operations made and others changed since stays; when nothing else is left, it is in `left`.
    """
    taken_back = _TakenBack(tx)
    touched: dict[str, list[_Touched]] = {}
    blocked: dict[str, None] = {}
    kept: dict[str, None] = {}
    for table in JOURNALLED:
        keys: dict[tuple[object, ...], str] = {}
        for column in ("op_from", "op_to"):
            for row in changed_rows(tx.conn, table, ops, column):
                keys[tuple(row[k] for k in table.key)] = table.label_of(row)
        for key, history in _histories(tx, table, list(keys)):
            label = keys[key]
            numbers = {n for row in history for n in _numbers(row)}
            first = min(n for n in numbers if n in ops)
            later = {n for n in numbers if n > first and n not in ops}
            before = next((r for r in history if _holds_before(r, first)), None)
            now = next((r for r in history if r["op_to"] is None), None)
            if table.touching and any(taken_back.stands(n, label, numbers, first) for n in later):
                if table.shared and (before is None or _ended(history, ops)):
                    kept[label] = None
                    continue
                blocked[label] = None
            touched.setdefault(label, []).append(_Touched(table, key, now, before))
    if not touched:
        return Plan((), (), (), tuple(kept))
    for label in _erased(tx, touched):
        del touched[label]
    free = {label: rows for label, rows in touched.items() if label not in blocked}
    if blocked and not any(_counts(row) for rows in free.values() for row in rows):
        free = {}  # what is left is only evidence, or a tag that the objects left alone carry
    differing = [row for rows in free.values() for row in rows if not _same(row)]
    return Plan(
        tuple((row.table, row.key) for row in differing if row.now is not None),
        tuple(
            (row.table, {c: row.before[c] for c in row.table.all_columns})
            for row in differing
            if row.before is not None
        ),
        tuple(free),
        tuple(label for label in blocked if label in touched),
    )


def _numbers(row: Values) -> tuple[int, ...]:
    begins, ends = row["op_from"], row["op_to"]
    assert isinstance(begins, int)
    return (begins, ends) if isinstance(ends, int) else (begins,)


def _holds_before(row: Values, op: int) -> bool:
    begins, *ends = _numbers(row)
    return begins < op and (not ends or ends[0] >= op)


def _ended(history: Sequence[Values], ops: Collection[int]) -> bool:
    """Tell whether a row ended in the operations and none began in its place."""
    last = max(n for row in history for n in _numbers(row) if n in ops)
    return all(row["op_from"] != last for row in history)


def _counts(row: _Touched) -> bool:
    """Tell whether taking back a row is worth an undo of its own: evidence is not, nor a tag made in passing."""
    return row.table.touching and not (row.table.shared and row.before is None)


def _same(row: _Touched) -> bool:
    now, before = row.now, row.before
    return now is before or (
        now is not None and before is not None and all(now[c] == before[c] for c in row.table.all_columns)
    )


class _TakenBack:
    """Which operations have no effect any more on an object: those taken back, and the undos that did so."""

    def __init__(self, tx: Tx) -> None:
        self._gone = cancelled(tx.conn)
        self._targets: dict[int, set[int]] = {}
        for op, by_op in self._gone.items():
            self._targets.setdefault(by_op, set()).add(op)
        self._left = {(op, name) for op, name in tx.conn.execute("SELECT by_op, object FROM undone_left")}

    def stands(self, op: int, label: str, numbers: Collection[int], first: int) -> bool:
        """Tell whether `op`, which changed an object after the operation `first`, still has an effect on it.

        An undo may have left the object out. An undo itself counts when it took back what came before `first`.
        """
        by_op = self._gone.get(op)
        if by_op is not None:
            return (by_op, label) in self._left
        targets = self._targets.get(op)
        return targets is None or any(n <= first for n in targets if n in numbers)


def _erased(tx: Tx, labels: Iterable[str]) -> list[str]:
    """Return the memories among the labels whose rows were erased; tombstones may still speak of them."""
    numbers = [int(label.removeprefix("mem-")) for label in labels if label.startswith("mem-")]
    there = {
        row[0]
        for batch in batches(numbers)
        for row in tx.conn.execute(f"SELECT id FROM memories WHERE id IN ({marks(len(batch))})", batch)
    }
    return [f"mem-{number}" for number in numbers if number not in there]


def apply_undo(tx: Tx, ops: Collection[int], plan: Plan) -> None:
    """Carry out a plan in the operation `tx` and record which operations it takes back."""
    vocabulary = [(table, key) for table, key in plan.ends if table in _LINKS]
    for table, key in plan.ends:
        if table not in _LINKS:
            tx.close(table, *key)
    changed = {(table, tuple(values[k] for k in table.key)) for table, values in plan.begins}
    for table, key in vocabulary:
        # A tag, topic or entity that the operation made may carry other memories by now; then it stays.
        if (table, key) in changed or not any(
            tx.conn.execute(f"SELECT 1 FROM {link.name} WHERE {column} = ? AND op_to IS NULL", key).fetchone()
            for link, column in _LINKS[table]
        ):
            tx.close(table, *key)
    for table, values in plan.begins:
        if table.revision:
            values[table.revision] = tx.next_revision(table, tuple(values[k] for k in table.key))
        tx.open(table, values)
    for table, values in plan.begins:
        _revive(tx, table, values)
    tx.conn.executemany("INSERT INTO undone (op, by_op) VALUES (?, ?)", [(op, tx.op) for op in sorted(ops)])
    tx.conn.executemany(
        "INSERT INTO undone_left (by_op, object) VALUES (?, ?)", [(tx.op, label) for label in plan.left]
    )


def _revive(tx: Tx, table: Table, values: Values) -> None:
    """Begin again the shared rows that a row leads to: they went when nothing led to them any more."""
    for shared, links in _LINKS.items():
        for link, column in links:
            number = values.get(column) if link is table else None
            if number is None or tx.current(shared, number) is not None:
                continue
            last = next((rows[-1] for _, rows in _histories(tx, shared, [(number,)])), None)
            if last is not None:
                tx.open(shared, {c: last[c] for c in shared.all_columns})


def _histories(
    tx: Tx, table: Table, keys: Sequence[tuple[object, ...]]
) -> Iterator[tuple[tuple[object, ...], list[Values]]]:
    """Yield each key with all its rows, oldest first."""
    names = ("vid", "op_from", "op_to", *table.all_columns)
    columns = f"SELECT {', '.join(names)} FROM {table.name} WHERE "
    if len(table.key) == 1:
        for start in range(0, len(keys), BATCH):
            batch = [key[0] for key in keys[start : start + BATCH]]
            found: dict[object, list[Values]] = {}
            for row in tx.conn.execute(f"{columns}{table.key[0]} IN ({marks(len(batch))}) ORDER BY vid", batch):
                values: Values = dict(zip(names, row, strict=True))
                found.setdefault(values[table.key[0]], []).append(values)
            yield from (((key,), rows) for key, rows in found.items())
        return
    where = " AND ".join(f"{c} = ?" for c in table.key)
    for key in keys:
        rows = tx.conn.execute(f"{columns}{where} ORDER BY vid", key)
        yield key, [dict(zip(names, row, strict=True)) for row in rows]
