"""Commands that bring memories in and out: import, export."""

from __future__ import annotations

from collections.abc import Iterator

import click

from engine.model.records import ImportReport
from tui.commands import base
from tui.commands.base import flat, t
from tui.commands.care import confirmed
from tui.commands.waiting import progress

MANY_PROBLEMS = 50
"""How many problems the human report lists; --json lists all."""


def format_and_path(arguments: tuple[str, ...]) -> tuple[str | None, str]:
    """Split `[FORMAT] PATH`."""
    if len(arguments) not in (1, 2):
        raise click.UsageError(t("cli.import.usage"))
    return (arguments[0] if len(arguments) == 2 else None), arguments[-1]


@base.command("import", help="cli.import.help")
@click.argument("arguments", nargs=-1, metavar="[FORMAT] PATH")
@base.option("--dry-run", is_flag=True, help="cli.import.dry_run")
@base.option("--found", is_flag=True, help="cli.import.found")
@base.option("--yes", is_flag=True, help="cli.option.yes")
def import_command(arguments: tuple[str, ...], dry_run: bool, found: bool, yes: bool) -> None:
    """Bring in a folder or file of memories; the format is detected."""
    if found:
        if arguments:
            raise click.UsageError(t("cli.import.found_alone"))
        import_found(dry_run=dry_run, yes=yes)
        return
    format_, path = format_and_path(arguments)
    source = base.named_path(path)
    by = base.caller()
    with base.opened(make=True) as engine:
        with progress(t("cli.import.title")) as told:
            report = engine.run_import(by, source, dry_run=dry_run, progress=told, format=format_)
        base.answer(report, import_lines(report))


def import_found(*, dry_run: bool, yes: bool) -> None:
    """Bring in what other tools remember on this machine, each directory as a run of its own, once the owner agrees."""
    by = base.require_owner()
    with base.opened(make=True) as engine:
        places = engine.found_memories()
        if not places:
            base.answer([], [t("cli.import.none_found")])
            return
        for place in places:
            base.note(t("cli.import.place", tool=place.title, n=place.files, path=place.path))
        if not dry_run:
            confirmed(t("cli.import.ask", n=len(places)), yes=yes)
        reports = []
        for place in places:
            with progress(str(place.path)) as told:
                reports.append(engine.run_import(by, place.path, dry_run=dry_run, progress=told))
        base.answer(reports, (line for report in reports for line in import_lines(report)))


def import_lines(report: ImportReport) -> Iterator[str]:
    """Show what was or would be done, then each problem with its file and line."""
    yield t("cli.import.planned" if report.dry_run else "cli.import.done", files=report.files, run=report.run or "-")
    yield from ([t("cli.import.graph", **report.graph)] if report.graph else [])
    yield from (f"  {t(f'cli.import.{name}')}: {number}" for name, number in report.counted().items() if number)
    types = ", ".join(f"{name} {number}" for name, number in report.by_type.items())
    yield from ([f"  {t('cli.import.types')}: {types}"] if types else [])
    for problem in report.problems[:MANY_PROBLEMS]:
        line = f":{problem['line']}" if problem.get("line") else ""
        made = f" → {flat(problem['recovered'])}" if problem.get("recovered") else ""
        yield f"  {flat(problem.get('file', '-'))}{line}: {flat(problem.get('message', problem.get('kind', '')))}{made}"
    hidden = len(report.problems) - MANY_PROBLEMS
    yield from ([t("cli.import.hidden", n=hidden)] if hidden > 0 else [])
    if report.snapshot:
        yield t("cli.import.snapshot", name=report.snapshot)
    if report.run and not report.dry_run:
        yield t("cli.import.undo", run=report.run)


@base.command("export", help="cli.export.help")
@click.argument("arguments", nargs=-1, metavar="[FORMAT] PATH")
def export_command(arguments: tuple[str, ...]) -> None:
    """Write the whole store to a file."""
    format_, path = format_and_path(arguments)
    base.require_owner()
    target = base.named_path(path)
    with base.opened() as engine:
        with progress(t("cli.export.title")) as told:
            number = engine.export(target, format=format_ or "json", progress=told)
        base.answer({"path": target, "memories": number}, [t("cli.export.done", n=number, path=target)])
