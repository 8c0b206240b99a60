"""Commands about what was done: status, log, undo, redo."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from engine.model.records import Change, Operation
from tui.commands import base
from tui.commands.base import flat, t
from tui.commands.times import local
from tui.commands.waiting import waiting
from tui.words import few

if TYPE_CHECKING:
    from engine.facade import UndoResult


@base.command("status", help="cli.status.help")
@base.option(
    "--view",
    type=click.Choice(["stats", "session", "audit", "conflicts", "topics", "dormant"]),
    default="stats",
    help="cli.status.view",
)
def status_command(view: str) -> None:
    """Show the store in numbers."""
    by = base.caller()
    with base.opened() as engine:
        if view == "dormant":
            from tui.commands.receipts import dormant_lines

            found = engine.dormant(by)
            base.answer(found, dormant_lines(found))
            return
        shown = engine.status(by, view)
        base.answer(shown, status_lines(shown))


def status_lines(shown: object, indent: str = "") -> Iterator[str]:
    """Show nested numbers and lists as an indented outline."""
    pairs = shown.items() if isinstance(shown, dict) else ()
    for name, value in pairs:
        if isinstance(value, dict):
            yield f"{indent}{name}:"
            yield from status_lines(value, indent + "  ")
        elif isinstance(value, list | tuple):
            yield f"{indent}{name}:" + ("" if value else " -")
            yield from (
                f"{indent}  - {flat(base.to_json(item)) if isinstance(item, dict) else flat(item)}" for item in value
            )
        else:
            yield f"{indent}{name}: {flat(value)}"


@base.command("log", help="cli.log.help")
@click.argument("ref", required=False)
@base.option("--limit", type=click.IntRange(1, 10_000), default=20, help="cli.log.limit")
@base.option("--before", type=click.IntRange(1), metavar="OP", help="cli.log.before")
@base.option("--op", type=click.IntRange(1), metavar="OP", help="cli.log.op")
@base.option("--mine", is_flag=True, help="cli.log.mine")
def log_command(ref: str | None, limit: int, before: int | None, op: int | None, mine: bool) -> None:
    """Show what was done to the store, newest first."""
    by = base.require_owner()
    with base.opened() as engine:
        if op is not None:
            operation, changes = engine.operation(op)
            base.answer({"operation": operation, "changes": changes}, operation_lines(operation, changes))
            return
        memory = engine.get(by, ref).id if ref else None
        found = engine.log(limit=limit + 1, before=before, memory=memory, owner_only=mine)
        operations = found[:limit]
        more = [t("cli.log.more", op=operations[-1].op)] if len(found) > limit else []
        base.answer(operations, [*map(operation_line, operations), *more])


def operation_line(operation: Operation) -> str:
    """Show an operation on one line."""
    undone = f" [{t('cli.log.undone', op=operation.undone_by)}]" if operation.undone_by else ""
    who = f"{operation.origin.value}/{flat(operation.actor)}"
    return f"{operation.op:>6}  {local(operation.at_ms)}  {who:<16} {operation.kind}{undone} {flat(operation.summary)}"


def operation_lines(operation: Operation, changes: list[Change]) -> Iterator[str]:
    """Show an operation with each row that it changed, before and after."""
    yield operation_line(operation)
    yield from ([f"        {flat(operation.reason)}"] if operation.reason else [])
    for change in changes:
        yield f"  {change.table} {change.key}"
        before, after = dict(change.before or {}), dict(change.after or {})
        for name in sorted(before.keys() | after.keys()):
            if before.get(name) != after.get(name):
                yield f"    {name}: {flat(before.get(name, '-'))} → {flat(after.get(name, '-'))}"


# --- undo, redo ---


@base.command("undo", help="cli.undo.help")
@click.argument("op", type=click.IntRange(1), required=False)
@base.option("--run", help="cli.undo.run")
@base.option("--rest", is_flag=True, help="cli.undo.rest")
def undo_command(op: int | None, run: str | None, rest: bool) -> None:
    """Take back the owner's last operation, a given one, or a whole run."""
    if op is not None and run:
        raise click.UsageError(t("cli.undo.op_or_run"))
    by = base.require_owner()
    with base.opened() as engine:
        with waiting(t("cli.undo.working")):
            result = engine.undo(by, op, run=run, rest=rest)
        base.answer(result, undo_lines(result))


@base.command("redo", help="cli.redo.help")
def redo_command() -> None:
    """Bring back what the last undo took back."""
    by = base.require_owner()
    with base.opened() as engine:
        with waiting(t("cli.redo.working")):
            result = engine.redo(by)
        base.answer(result, undo_lines(result))


def undo_lines(result: UndoResult) -> Iterator[str]:
    """Show which operations were taken back, what that touched, and what was left as it is."""
    yield t("cli.undo.done", op=result.op, undone=few(result.undone), objects=few(result.objects) or "-")
    if result.left:
        yield t("cli.undo.left", objects=few(result.left))
