"""Reading the journal: operations, what each changed, and which of them were taken back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence

from engine.model.enums import Origin
from engine.model.records import Change, Operation
from engine.store.rows import batches, marks
from engine.store.schema import JOURNALLED, Table

_OP_COLUMNS = "op, at, kind, origin, actor, session, workspace, reason, summary, run"


def operation_at(conn: sqlite3.Connection, known_ms: int) -> int:
    """Return the last operation not later than a moment; 0 when there was none (C1)."""
    row = conn.execute("SELECT max(op) FROM operations WHERE at <= ?", (known_ms,)).fetchone()
    return int(row[0] or 0)


def newest(conn: sqlite3.Connection) -> int:
    """Return the newest operation number; 0 in an empty store."""
    return int(conn.execute("SELECT coalesce(max(op), 0) FROM operations").fetchone()[0])


def cancelled(conn: sqlite3.Connection) -> dict[int, int]:
    """Return {operation: the operation that took it back} for all that are taken back at this moment.

    An undo that was itself undone (a redo) takes nothing back.
    """
    pairs = conn.execute("SELECT op, by_op FROM undone ORDER BY by_op DESC").fetchall()
    gone: dict[int, int] = {}
    for op, by_op in pairs:
        if by_op not in gone:
            gone[op] = by_op
    return gone


def changed_rows(
    conn: sqlite3.Connection, table: Table, ops: Collection[int], column: str
) -> Iterator[dict[str, object]]:
    """Yield the rows of a table that began (`op_from`) or ended (`op_to`) in one of the operations."""
    names = ("vid", "op_from", "op_to", *table.all_columns)
    for batch in batches(sorted(ops)):
        for row in conn.execute(
            f"SELECT {', '.join(names)} FROM {table.name} WHERE {column} IN ({marks(len(batch))}) ORDER BY vid", batch
        ):
            yield dict(zip(names, row, strict=True))


def changes(conn: sqlite3.Connection, op: int) -> list[Change]:
    """Return what an operation changed, row by row, with the values before and after; texts are shown in full.

    What an operation began and ended itself, or replaced by the same, is no change.
    """
    result = []
    for table in JOURNALLED:
        before = {_key(table, r): r for r in changed_rows(conn, table, [op], "op_to") if r["op_from"] != op}
        after = {_key(table, r): r for r in changed_rows(conn, table, [op], "op_from") if r["op_to"] != op}
        for key in dict.fromkeys([*before, *after]):
            old, new = before.get(key), after.get(key)
            if old and new and all(old[c] == new[c] for c in table.all_columns):
                continue
            label = table.label_of(new or old or {})
            result.append(Change(table.name, label, _shown(conn, table, old), _shown(conn, table, new)))
    return result


def _key(table: Table, row: Mapping[str, object]) -> tuple[object, ...]:
    return tuple(row[column] for column in table.key)


def _shown(conn: sqlite3.Connection, table: Table, row: dict[str, object] | None) -> dict[str, object] | None:
    if row is None:
        return None
    shown: dict[str, object] = {}
    for column in table.all_columns:
        value = row[column]
        if isinstance(value, bytes):
            if column not in ("description", "body"):
                continue
            found = conn.execute("SELECT text FROM texts WHERE hash = ?", (value,)).fetchone()
            value = found[0] if found else "[erased]"
        if column != "checksum":
            shown[column] = value
    return shown


OBJECTS_SHOWN = 12


def objects(conn: sqlite3.Connection, ops: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """Return the objects that each operation touched, at most OBJECTS_SHOWN of each, memories first."""
    names: dict[int, dict[str, None]] = {op: {} for op in ops}
    for batch in batches(ops):
        for table in JOURNALLED:
            shown = tuple(dict.fromkeys((table.owner, table.key[0])))
            for column in ("op_from", "op_to"):
                rows = conn.execute(
                    f"SELECT o.op, {', '.join(f't.{c}' for c in shown)} FROM operations o"
                    f" JOIN {table.name} t ON t.vid IN"
                    f" (SELECT vid FROM {table.name} WHERE {column} = o.op ORDER BY vid LIMIT {OBJECTS_SHOWN})"
                    f" WHERE o.op IN ({marks(len(batch))})",
                    batch,
                )
                for op, *values in rows:
                    names[op][table.label_of(dict(zip(shown, values, strict=True)))] = None
    return {op: tuple(found)[:OBJECTS_SHOWN] for op, found in names.items()}


def operations(
    conn: sqlite3.Connection,
    *,
    limit: int = 50,
    before: int | None = None,
    memory_id: int | None = None,
    origins: Sequence[Origin] = (),
) -> list[Operation]:
    """Return operations, newest first, older than `before`, of one memory or of some doors where asked."""
    where, values = ["1"], list[object]()
    if before is not None:
        where.append("op < ?")
        values.append(before)
    if origins:
        where.append(f"origin IN ({marks(len(origins))})")
        values += [o.value for o in origins]
    if memory_id is not None:
        parts = [
            f"SELECT {column} FROM {t.name} WHERE {t.owner} = ?"
            for t in JOURNALLED
            if t.label == "mem"
            for column in ("op_from", "op_to")
        ]
        where.append(f"op IN ({' UNION '.join(parts)})")
        values += [memory_id] * len(parts)
    rows = conn.execute(
        f"SELECT {_OP_COLUMNS} FROM operations WHERE {' AND '.join(where)} ORDER BY op DESC LIMIT ?", (*values, limit)
    ).fetchall()
    gone = cancelled(conn)
    undoes: dict[int, int] = {}
    for op, by_op in conn.execute("SELECT max(op), by_op FROM undone GROUP BY by_op"):
        undoes[by_op] = op
    touched = objects(conn, [row[0] for row in rows])
    return [_operation(row, gone, undoes, touched) for row in rows]


def _operation(
    row: Sequence[object], gone: dict[int, int], undoes: dict[int, int], touched: Mapping[int, tuple[str, ...]]
) -> Operation:
    op = int(str(row[0]))
    return Operation(
        op=op,
        at_ms=int(str(row[1])),
        kind=str(row[2]),
        origin=Origin(str(row[3])),
        actor=str(row[4]),
        session=None if row[5] is None else str(row[5]),
        workspace=None if row[6] is None else str(row[6]),
        reason=str(row[7]),
        summary=str(row[8]),
        run=None if row[9] is None else str(row[9]),
        undoes=undoes.get(op),
        undone_by=gone.get(op),
        objects=touched[op],
    )


_MEMORIES_OF = (
    "(SELECT memory_id FROM versions WHERE op_from = :op OR op_to = :op"
    " UNION SELECT memory_id FROM states WHERE op_from = :op OR op_to = :op LIMIT 100)"
)
_AROUND = "x.op_from <= :op AND (x.op_to IS NULL OR x.op_to >= :op)"


def audit_line(conn: sqlite3.Connection, operation: Operation) -> str:
    """Render an operation as one JSON line of the audit log: fingerprints of content, never content (C39)."""
    at = {"op": operation.op}
    prints = conn.execute(
        f"SELECT DISTINCT x.fingerprint FROM versions x WHERE x.memory_id IN {_MEMORIES_OF} AND {_AROUND}"
        " AND x.fingerprint IS NOT NULL",
        at,
    )
    topics = conn.execute(
        "SELECT DISTINCT t.code FROM memory_topics x JOIN topics t ON t.topic_id = x.topic_id AND t.op_to IS NULL"
        f" WHERE x.memory_id IN {_MEMORIES_OF} AND {_AROUND} LIMIT 20",
        at,
    )
    source = conn.execute("SELECT source FROM operations WHERE op = :op", at).fetchone()[0]
    return json.dumps(
        {
            "op": operation.op, "at": operation.at_ms, "kind": operation.kind, "ids": list(operation.objects),
            "topics": [row[0] for row in topics], "fingerprints": [row[0].hex() for row in prints], "source": source,
            "channel": operation.origin.value, "actor": operation.actor, "session": operation.session,
            "run": operation.run,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )  # fmt: skip
