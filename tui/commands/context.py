"""The command that shows what an agent would be given, with budgets and reasons, and gives nothing."""

from __future__ import annotations

from collections.abc import Iterator

import click

from engine.model.records import ContextPack, PackSection
from tui.commands import base
from tui.commands.base import t

BAR = 20


@base.command("context", help="cli.context.help")
@click.argument("question", nargs=-1)
@base.option("--session", help="cli.context.session")
@base.option("--max-tokens", type=click.IntRange(1), help="cli.context.max_tokens")
@base.option("--bare", is_flag=True, help="cli.context.bare")
def context_command(question: tuple[str, ...], session: str | None, max_tokens: int | None, bare: bool) -> None:
    """Show what an agent would be given for a question."""
    by = base.agent(session)
    with base.opened() as engine:
        pack = engine.context(by, " ".join(question), max_tokens=max_tokens, preview=True)
        base.answer(pack, [pack.text.rstrip("\n")] if bare else context_lines(pack))


def context_lines(pack: ContextPack) -> Iterator[str]:
    """Show the pack's text, a bar for each section, the session's bytes, and what is in or out and why."""
    yield pack.text.rstrip("\n") or t("cli.context.nothing")
    yield ""
    yield t("cli.context.tokens", n=pack.tokens)
    yield from map(section_line, pack.parts)
    if pack.budget:
        yield t("cli.context.budget", before=pack.budget.before, after=pack.budget.after, cap=pack.budget.cap)
    yield from (t("cli.context.inside", ref=f"mem-{id_}", why=why) for id_, why in pack.reasons.items())
    for left in pack.left_out:
        why = t(f"cli.context.reason.{left.reason}")
        yield t("cli.context.omitted", ref=f"mem-{left.id}", why=f"{why} {left.detail}".rstrip())


def section_line(section: PackSection) -> str:
    """Show how much of its cap a section uses: name, bar, figures."""
    filled = min(BAR, round(BAR * section.used / section.cap)) if section.cap else BAR
    return f"  {section.name:<11} {'█' * filled}{'░' * (BAR - filled)} {section.used}/{section.cap} {section.unit}"
