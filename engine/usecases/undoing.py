"""Undo and redo: the owner's own last operation, any operation, or a whole run (design: undo is compensating)."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from dataclasses import dataclass

from engine.model.enums import OWNER_ORIGINS, Origin
from engine.model.errors import MemdeckError, invalid, not_found
from engine.model.memory import Caller
from engine.store.journal import cancelled
from engine.store.rows import dump
from engine.store.transaction import Tx
from engine.store.undo import FINAL_KINDS, apply_undo, check_undoable, plan_undo
from engine.usecases.changing import require_owner
from engine.usecases.desk import Desk

# Only the owner can start an import, so its operations are the owner's own.
_OWNER = ", ".join(f"'{o.value}'" for o in sorted({*OWNER_ORIGINS, Origin.IMPORT}))


@dataclass(frozen=True)
class UndoResult:
    """What an undo did: its own operation, those it took back, the objects it changed, and those it left alone."""

    op: int
    undone: tuple[int, ...]
    objects: tuple[str, ...]
    left: tuple[str, ...]


def undo(desk: Desk, by: Caller, op: int | None = None, *, run: str | None = None, rest: bool = False) -> UndoResult:
    """Take back an operation, a run, or (by default) the owner's own last operation.

    Refused with `exists` when a later operation touched the same objects; the error lists them in `left`, and
    `rest=True` takes back everything else.
    """
    require_owner(by, "undo")
    with desk.store.write(by, "undo") as tx:
        if op is None and run is None:
            op = _last(tx.conn, redo=False)
            run = tx.conn.execute("SELECT run FROM operations WHERE op = ?", (op,)).fetchone()[0]
        if run is not None:
            rows = tx.conn.execute("SELECT op FROM operations WHERE run = ? ORDER BY op", (run,)).fetchall()
            gone = cancelled(tx.conn)
            ops: Collection[int] = [r[0] for r in rows if r[0] not in gone]
            if not ops:
                raise not_found(f"run {run!r} with anything to take back", "see `memdeck log`")
        else:
            ops = [op or 0]
        ops = [*ops, *_enrichments(tx.conn, ops)]
        return _take_back(tx, ops, rest, f"took back run {run}" if run else f"took back operation {next(iter(ops))}")


def _enrichments(conn: sqlite3.Connection, ops: Collection[int]) -> list[int]:
    """Return what was added to the turns of some operations after the answer: it goes with them and never blocks."""
    rows = conn.execute(
        "WITH chosen AS (SELECT value AS op FROM json_each(?)), touched AS (SELECT memory_id FROM versions"
        " WHERE op_from IN (SELECT op FROM chosen) AND kind = 'episode') SELECT DISTINCT o.op FROM touched t"
        " JOIN (SELECT memory_id, op_from FROM versions UNION SELECT memory_id, op_from FROM memory_tags) c"
        " ON c.memory_id = t.memory_id JOIN operations o ON o.op = c.op_from WHERE o.kind = 'enrich'",
        (dump(list(ops)),),
    ).fetchall()
    gone = cancelled(conn)
    return [op for (op,) in rows if op not in gone and op not in ops]


def redo(desk: Desk, by: Caller) -> UndoResult:
    """Take back the owner's newest undo that still stands."""
    require_owner(by, "redo")
    with desk.store.write(by, "redo") as tx:
        op = _last(tx.conn, redo=True)
        return _take_back(tx, [op], False, f"redid what operation {op} had taken back")


def _take_back(tx: Tx, ops: Collection[int], rest: bool, summary: str) -> UndoResult:
    check_undoable(tx, ops)
    plan = plan_undo(tx, ops)
    if plan.left and not (rest and _can_be_split(plan.left)):
        shown = ", ".join(plan.left[:8]) + (" …" if len(plan.left) > 8 else "")
        raise MemdeckError(
            "exists",
            f"later changes rest on it: {shown}",
            "take those back first" + (", or take back the rest only (--rest)" if _can_be_split(plan.left) else ""),
            left=plan.left,
            objects=plan.objects,
        )
    if not plan.ends and not plan.begins:
        raise MemdeckError("not_found", "there is nothing left of it to take back", "see `memdeck log`")
    apply_undo(tx, ops, plan)
    tx.describe(summary)
    return UndoResult(tx.op, tuple(sorted(ops)), plan.objects, plan.left)


def _can_be_split(left: Collection[str]) -> bool:
    """Tell whether the rest can be taken back alone: half of a change of the vocabulary would leave tags astray."""
    return not any(label.startswith("tag-") for label in left)


def _last(conn: sqlite3.Connection, *, redo: bool) -> int:
    """Return the owner's newest operation that can be taken back, or (for redo) the undo that stands on top."""
    gone = cancelled(conn)
    newest = conn.execute("SELECT max(op) FROM operations").fetchone()[0]
    if redo:
        for op, kind in conn.execute(
            f"SELECT op, kind FROM operations WHERE origin IN ({_OWNER}) AND op < ? ORDER BY op DESC LIMIT 1000",
            (newest,),
        ):
            if kind == "undo" and op not in gone:
                return int(op)
            if kind not in ("undo", "redo"):
                break
        raise not_found("an undo to take back", "redo follows an undo directly")
    final: tuple[int, str] | None = None
    for op, kind in conn.execute(
        f"SELECT op, kind FROM operations WHERE origin IN ({_OWNER}) AND kind NOT IN ('undo', 'redo') AND op < ?"
        " ORDER BY op DESC",
        (newest,),
    ):
        if op in gone:
            continue
        if kind not in FINAL_KINDS:
            if final is None:
                return int(op)
            raise invalid(
                f"the last thing you did, {final[1]} (operation {final[0]}), is final",
                f"the snapshot made before it leads back; `memdeck undo {op}` takes back what you did before it",
            )
        final = final or (int(op), str(kind))
    raise not_found("an operation of yours to take back", "see `memdeck log` for what others did")
