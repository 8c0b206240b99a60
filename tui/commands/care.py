"""Commands that look after the store: snapshot, doctor, expunge, cleanup."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from engine.model.records import Finding, SnapshotInfo
from tui.commands import base
from tui.commands.base import flat, t
from tui.commands.times import local

if TYPE_CHECKING:
    from engine.facade import CleanupReport, ExpungeReport


def confirmed(question: str, *, yes: bool) -> None:
    """Go on when the owner says so: by --yes, or by answering at the terminal."""
    if yes:
        return
    if not base.has_terminal():
        raise click.UsageError(t("cli.need_yes"))
    click.confirm(question, abort=True, err=True)


# --- snapshots ---


@base.group("snapshot", help="cli.snapshot.help")
def snapshot_command() -> None:
    """Verified copies of the store."""


def snapshot_line(info: SnapshotInfo) -> str:
    """Show a snapshot on one line."""
    good = {True: t("cli.snapshot.good"), False: t("cli.snapshot.bad"), None: ""}[info.good]
    size = f"{info.bytes / 1024:,.0f} KiB"
    return (
        f"{info.name}  {info.kind:<10} {local(info.at_ms)}  {info.memories:>7}  {size:>12}  {good} {flat(info.reason)}"
    )


@snapshot_command.command("list", cls=base.Command, help="cli.snapshot.list")
def list_snapshots() -> None:
    """List what there is, newest first."""
    with base.opened() as engine:
        infos = engine.snapshots()
        base.answer(infos, [snapshot_line(info) for info in infos] or [t("cli.snapshot.none")])


@snapshot_command.command("create", cls=base.Command, help="cli.snapshot.create")
@base.option("--reason", default="", help="cli.snapshot.reason")
def create_snapshot(reason: str) -> None:
    """Make one now."""
    by = base.require_owner()
    with base.opened() as engine:
        info = engine.create_snapshot(by, reason=reason)
        base.answer(info, [snapshot_line(info)])


@snapshot_command.command("verify", cls=base.Command, help="cli.snapshot.verify")
@click.argument("names", nargs=-1)
def verify_snapshots(names: tuple[str, ...]) -> None:
    """Check the given ones, or all; exit code 1 when one is bad."""
    with base.opened() as engine:
        infos = [engine.verify_snapshot(name) for name in names or [info.name for info in engine.snapshots()]]
        base.answer(infos, map(snapshot_line, infos))
    if any(info.good is False for info in infos):
        click.get_current_context().exit(1)


@snapshot_command.command("restore", cls=base.Command, help="cli.snapshot.restore")
@click.argument("name")
@base.option("--yes", is_flag=True, help="cli.option.yes")
def restore_snapshot(name: str, yes: bool) -> None:
    """Put a snapshot in place of the store, after a protection snapshot; a damaged database is set aside (C41)."""
    by = base.require_owner()
    confirmed(t("cli.snapshot.sure", name=name), yes=yes)
    if damage():
        from engine.facade import recover_store

        aside = recover_store(base.store_dir(), name)
        base.answer({"damaged": aside}, [t("cli.snapshot.recovered", name=name, path=aside)])
        return
    with base.opened() as engine:
        report = engine.restore_snapshot(by, name)
        done = t("cli.snapshot.restored", name=name, n=report.memories, protection=report.protection)
        base.answer(report, [done])


@snapshot_command.command("delete", cls=base.Command, help="cli.snapshot.delete")
@click.argument("name")
@base.option("--yes", is_flag=True, help="cli.option.yes")
def delete_snapshot(name: str, yes: bool) -> None:
    """Delete one for good, with what only it still holds."""
    by = base.require_owner()
    with base.opened() as engine:
        for known in engine.snapshots():
            if known.name == name:
                confirmed(
                    base.safe(t("cli.snapshot.sure_delete", name=name, n=known.memories, why=flat(known.reason))),
                    yes=yes,
                )
        info = engine.delete_snapshot(by, name)
        base.answer(info, [t("cli.snapshot.deleted", name=name)])


def damage() -> list[Finding]:
    """Return what keeps the store from being opened; empty when nothing does."""
    from engine.facade import examine_store

    return examine_store(base.require_store())


# --- doctor ---


@base.command("doctor", help="cli.doctor.help")
@base.option("--fix", is_flag=True, help="cli.doctor.fix")
@base.option("--reindex", is_flag=True, help="cli.doctor.reindex")
@base.option("--quick", is_flag=True, help="cli.doctor.quick")
def doctor_command(fix: bool, reindex: bool, quick: bool) -> None:
    """Check everything; exit code 1 when an error is left."""
    if fix or reindex:
        base.require_owner()
    findings = damage()
    if not findings:
        with base.opened() as engine:
            findings = engine.doctor(fix=fix, deep=not quick, reindex=reindex)
    base.answer(findings, finding_lines(findings))
    if any(finding.level == "error" and not finding.fixed for finding in findings):
        click.get_current_context().exit(1)


def finding_lines(findings: list[Finding]) -> Iterator[str]:
    """Show each finding with how to mend it, or that it was mended."""
    for finding in findings:
        fixed = f" [{t('cli.doctor.fixed')}]" if finding.fixed else ""
        yield f"{t(f'cli.doctor.{finding.level}'):<8} {finding.check}{fixed}: {flat(finding.message)}"
        if finding.mend and not finding.fixed:
            yield f"         → {flat(finding.mend)}"


# --- expunge, cleanup ---


@base.command("expunge", help="cli.expunge.help")
@click.argument("ref")
@base.option("--yes", is_flag=True, help="cli.option.yes")
def expunge_command(ref: str, yes: bool) -> None:
    """Really erase one memory; there is no undo."""
    by = base.require_owner()
    with base.opened() as engine:
        memory = engine.get(by, ref)
        confirmed(base.safe(t("cli.expunge.sure", ref=f"mem-{memory.id}", text=flat(memory.description))), yes=yes)
        report = engine.expunge(by, ref)
        base.answer(report, expunge_lines(report))


def expunge_lines(report: ExpungeReport) -> Iterator[str]:
    """Show what was erased and where the memory may still stand."""
    yield t("cli.expunge.done", ref=f"mem-{report.id}", rows=report.rows)
    if report.snapshots_left:
        yield t("cli.expunge.left", names=", ".join(report.snapshots_left))
    if report.pending:
        yield t("cli.expunge.pending")


@base.command("cleanup", help="cli.cleanup.help")
@base.option("--apply", is_flag=True, help="cli.cleanup.apply")
@base.option("--yes", is_flag=True, help="cli.option.yes")
def cleanup_command(apply: bool, yes: bool) -> None:
    """Remove what was forgotten more than 90 days ago; without --apply only say what that would be."""
    by = base.require_owner()
    with base.opened() as engine:
        if apply:
            confirmed(t("cli.cleanup.sure"), yes=yes)
        report = engine.cleanup(by, dry_run=not apply)
        base.answer(report, [cleanup_line(report)])


def cleanup_line(report: CleanupReport) -> str:
    """Show how many memories were or would be removed."""
    key = "cli.cleanup.planned" if report.dry_run else "cli.cleanup.done"
    return t(key, n=len(report.memories), snapshot=report.snapshot or "-")
