"""The command connect: an agent's own settings get an entry for memdeck, which is started once to prove it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.model.errors import MemdeckError
from tui.commands import base
from tui.commands.base import flat, t

if TYPE_CHECKING:
    from engine.connect import Agent, Connection, HookCommand, HookProof, Places, Plan, Proof, Reach, Server


@base.command("connect", help="cli.connect.help")
@click.argument("agent", metavar="[AGENT]", required=False)
@base.option("--dry-run", is_flag=True, help="cli.connect.dry_run")
@base.option("--remove", is_flag=True, help="cli.connect.remove")
@base.option("--scope", type=click.Choice(["user", "project"]), default="user", help="cli.connect.scope")
@base.option("--no-hooks", is_flag=True, help="cli.connect.no_hooks")
@base.option("--list", "listing", is_flag=True, help="cli.connect.list")
def connect_command(agent: str | None, dry_run: bool, remove: bool, scope: str, no_hooks: bool, listing: bool) -> None:
    """Write, show or take out an agent's entry for memdeck, and its hooks."""
    from engine.connect import Places, Reach, agent_named, connections, installed_hooks, installed_server

    places, server = Places.here(base.workspace_folder()), installed_server(base.store_dir())
    if listing:
        found = connections(places)
        base.answer(found, (line for one in found for line in connection_lines(one, server)))
        return
    if agent is None:
        raise click.UsageError(t("cli.connect.which"))
    chosen = agent_named(agent)
    base.require_owner()
    if remove:
        take_out(chosen, places, Reach(scope), dry_run=dry_run)
    else:
        hooks = None if no_hooks else installed_hooks(base.store_dir(), turns=keeps_turns())
        write(chosen, server, hooks, places, Reach(scope), dry_run=dry_run)


def keeps_turns() -> bool:
    """Tell whether the store is there already and keeps turns."""
    if not (base.store_dir() / "memory.db").is_file():
        return False
    with base.opened() as engine:
        return engine.setting("turns.enabled").value is True


def write(
    agent: Agent, server: Server, hooks: HookCommand | None, places: Places, reach: Reach, *, dry_run: bool
) -> None:
    """Carry out or show what connects an agent, then prove what its settings say now."""
    from engine.connect import apply, plan_connect, prove, prove_hooks, read_server

    plan = plan_connect(agent, server, places, reach, hooks=hooks)
    if dry_run:
        show_plan(plan)
        return
    was_here = agent.is_here(places)
    apply(plan)
    written = read_server(agent, plan.edits[0].path)
    proof = prove(written or server, os.environ)
    hook_proofs = prove_hooks(agent, places, reach, os.environ) if hooks and proof.ok else []
    lines = [*written_lines(plan), *proof_lines(agent, proof), *hook_lines(agent, hooks, hook_proofs)]
    if not was_here:
        lines.append(t("cli.connect.not_here", agent=agent.title))
    base.answer({**outcome(plan, dry_run=False), "proof": proof, "hooks": hook_proofs}, lines)
    if not proof.ok:
        raise MemdeckError(
            "internal",
            t("cli.connect.unproven", agent=agent.title, why=flat(proof.why)),
            t("cli.connect.unproven_hint", agent=agent.name),
        )
    for failed in (one for one in hook_proofs if not one.ok):
        raise MemdeckError(
            "internal",
            t("cli.connect.hook_unproven", agent=agent.title, event=failed.event, why=flat(failed.why)),
            t("cli.connect.hook_unproven_hint", agent=agent.name),
        )


def take_out(agent: Agent, places: Places, reach: Reach, *, dry_run: bool) -> None:
    """Carry out or show what takes an agent's entry out again."""
    from engine.connect import apply, plan_removal

    plan = plan_removal(agent, places, reach)
    if dry_run:
        show_plan(plan)
        return
    apply(plan)
    key = "cli.connect.removed" if plan.changes else "cli.connect.nothing_to_remove"
    edits = [edit for edit in plan.edits if edit.changes] or plan.edits[:1]
    base.answer(outcome(plan, dry_run=False), [t(key, agent=agent.title, path=edit.path) for edit in edits])


def show_plan(plan: Plan) -> None:
    """Show what would be written, as a unified difference."""
    nothing = [t("cli.connect.unchanged", agent=plan.agent.title, path=plan.edits[0].path)]
    base.answer(outcome(plan, dry_run=True), plan.difference() if plan.changes else nothing)


def outcome(plan: Plan, *, dry_run: bool) -> dict[str, object]:
    """Return what --json shows of a plan."""
    files = [edit.path for edit in plan.edits]
    return {
        "agent": plan.agent.name, "files": files, "changes": plan.changes, "dry_run": dry_run,
        "difference": plan.difference(),
    }  # fmt: skip


def written_lines(plan: Plan) -> Iterator[str]:
    """Say what was written, and where the earlier state of it is kept."""
    from engine.connect import backup_of

    for edit in plan.edits:
        key = "cli.connect.written" if edit.changes else "cli.connect.unchanged"
        yield t(key, agent=plan.agent.title, path=edit.path)
        backup = backup_of(edit.path)
        if edit.changes and backup.exists():
            yield t("cli.connect.backup", path=backup)


def proof_lines(agent: Agent, proof: Proof) -> Iterator[str]:
    """Say that the entry works, and what is left to do."""
    if proof.ok:
        yield t("cli.connect.proven", seconds=f"{proof.seconds:.1f}", tools=", ".join(proof.tools))
        yield t("cli.connect.next", agent=agent.title)


def hook_lines(agent: Agent, hooks: HookCommand | None, proofs: Sequence[HookProof]) -> Iterator[str]:
    """Say which hooks answered, and what their agent asks its user before it runs them."""
    if agent.hooks is None:
        yield t("cli.connect.hooks_none", agent=agent.title)
    elif hooks is None:
        yield t("cli.connect.hooks_left_out", agent=agent.title)
    for one in proofs:
        if one.ok:
            yield t("cli.connect.hook_proven", event=one.event, seconds=f"{one.seconds:.1f}", chars=one.chars)
    if proofs and agent.hooks and agent.hooks.must_be_trusted:
        yield t("cli.connect.hooks_trust", agent=agent.title)


def connection_lines(one: Connection, server: Server) -> Iterator[str]:
    """Show how one agent stands to memdeck; a project's file only when there is something in it."""
    if one.reach == "project" and one.server is None and not one.problem:
        return
    if one.problem:
        state = t("cli.connect.unreadable", why=flat(one.problem))
    elif one.server is None:
        state = t("cli.connect.open" if one.here else "cli.connect.absent")
    elif one.server == server:
        state = t("cli.connect.connected_hooks" if one.hooks else "cli.connect.connected")
    else:
        state = t("cli.connect.other", command=flat(" ".join((one.server.command, *one.server.args))))
    yield f"{one.agent:<12} {one.reach:<8} {state}"
    yield f"             {_short(one.path)}"


def _short(path: Path) -> str:
    try:
        return f"~/{path.relative_to(Path.home())}"
    except (ValueError, RuntimeError):
        return str(path)
