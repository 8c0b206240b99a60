"""Reading the journal: operations, what each changed, and which of them were taken back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence

from engine.model.enums import Origin
from engine.model.records import Change, Operation
from engine.store.rows import marks
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


def row_label(table: Table, values: dict[str, object]) -> str:
    """Return the name under which the journal shows a row's object: `mem-7`, `tag-3`, `setting-lang`."""
    return f"{table.label}-{values[table.owner]}"


def changed_rows(
    conn: sqlite3.Connection, table: Table, ops: Collection[int], column: str
) -> Iterator[dict[str, object]]:
    """Yield the rows of a table that began (`op_from`) or ended (`op_to`) in one of the operations."""
    names = ("vid", "op_from", "op_to", *table.all_columns)
    numbers = sorted(ops)
    for start in range(0, len(numbers), 500):
        batch = numbers[start : start + 500]
        for row in conn.execute(
            f"SELECT {', '.join(names)} FROM {table.name} WHERE {column} IN ({marks(len(batch))}) ORDER BY vid", batch
        ):
            yield dict(zip(names, row, strict=True))


def changes(conn: sqlite3.Connection, op: int) -> list[Change]:
    """Return what an operation changed, row by row, with the values before and after; texts are shown in full."""
    result = []
    for table in JOURNALLED:
        before = {tuple(r[k] for k in table.key): r for r in changed_rows(conn, table, [op], "op_to")}
        after = {
            tuple(r[k] for k in table.key): r for r in changed_rows(conn, table, [op], "op_from") if r["op_to"] != op
        }
        for key in dict.fromkeys([*before, *after]):
            old, new = before.get(key), after.get(key)
            label = row_label(table, new or old or {})
            result.append(Change(table.name, label, _shown(conn, table, old), _shown(conn, table, new)))
    return result


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


def objects(conn: sqlite3.Connection, op: int, limit: int = 12) -> tuple[str, ...]:
    """Return the objects that an operation touched, at most `limit`, memories first."""
    names: dict[str, None] = {}
    for table in JOURNALLED:
        for column in ("op_from", "op_to"):
            rows = conn.execute(
                f"SELECT DISTINCT {table.owner} FROM {table.name} WHERE {column} = ? LIMIT ?", (op, limit)
            )
            for (owner,) in rows:
                if owner is not None:
                    names[f"{table.label}-{owner}"] = None
            if len(names) >= limit:
                return tuple(names)[:limit]
    return tuple(names)


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
    return [_operation(conn, row, gone, undoes) for row in rows]


def _operation(
    conn: sqlite3.Connection, row: Sequence[object], gone: dict[int, int], undoes: dict[int, int]
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
        objects=objects(conn, op),
    )


def audit_line(conn: sqlite3.Connection, operation: Operation) -> str:
    """Render an operation as one JSON line of the audit log: fingerprints of content, never content (C39)."""
    prints = [
        row[0].hex()
        for row in conn.execute(
            "SELECT DISTINCT fingerprint FROM versions WHERE (op_from = ? OR op_to = ?) AND fingerprint IS NOT NULL"
            " LIMIT 100",
            (operation.op, operation.op),
        )
    ]
    topics = [
        row[0]
        for row in conn.execute(
            "SELECT DISTINCT t.name FROM versions v JOIN memory_topics l ON l.memory_id = v.memory_id AND l.op_to IS NULL"
            " JOIN topics t ON t.topic_id = l.topic_id AND t.op_to IS NULL WHERE v.op_from = ? OR v.op_to = ? LIMIT 20",
            (operation.op, operation.op),
        )
    ]
    row = conn.execute("SELECT source FROM operations WHERE op = ?", (operation.op,)).fetchone()
    return json.dumps(
        {
            "op": operation.op, "at": operation.at_ms, "kind": operation.kind, "ids": list(operation.objects),
            "topics": topics, "fingerprints": prints, "source": row[0], "channel": operation.origin.value,
            "actor": operation.actor, "session": operation.session, "run": operation.run,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )  # fmt: skip
