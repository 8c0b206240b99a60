"""The command review: what waits for the owner, and the owner's answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from engine.model.enums import ReviewKind, ReviewState, Verb
from engine.model.records import ReviewItem
from tui.commands import base
from tui.commands.base import flat, t
from tui.commands.times import SINCE, local

if TYPE_CHECKING:
    from engine.facade import DecideResult


@base.group("review", invoke_without_command=True, help="cli.review.help")
@base.option("--kind", "kinds", type=base.choice(ReviewKind), multiple=True, help="cli.review.kind")
@base.option("--state", type=base.choice(ReviewState), default="open", help="cli.review.state")
@base.option("--limit", type=click.IntRange(1, 10_000), default=50, help="cli.review.limit")
@base.option("--full", is_flag=True, help="cli.review.full")
@click.pass_context
def review_command(context: click.Context, kinds: tuple[str, ...], state: str, limit: int, full: bool) -> None:
    """List what waits, when no decision is named."""
    if context.invoked_subcommand is not None:
        return
    base.require_owner()
    with base.opened() as engine:
        chosen = tuple(map(ReviewKind, kinds))
        items = engine.review_items(kinds=chosen, states=(ReviewState(state),), limit=limit)
        base.answer(items, review_lines(items, full=full))


def review_lines(items: list[ReviewItem], *, full: bool) -> Iterator[str]:
    """Show each item on one line and, with --full, its evidence and what would change."""
    if not items:
        yield t("cli.review.none")
    for item in items:
        deferred = f" [{t('cli.review.until', when=local(item.defer_until))}]" if item.defer_until else ""
        about = f"mem-{item.memory_id} " if item.memory_id else ""
        who = f"{item.origin.value}/{flat(item.actor)}"
        yield f"{item.id:>5}  {item.kind.value:<14} {who:<16}{deferred} {about}{flat(item.title)}"
        if full:
            for part in (item.evidence, item.proposal):
                yield from (f"       {name}: {flat(value)}" for name, value in part.items())


def _decision(verb: Verb) -> None:
    @review_command.command(verb.value, cls=base.Command, help=f"cli.review.{verb.value}")
    @click.argument("ids", nargs=-1, required=True, type=click.IntRange(1))
    @base.option("--reason", default="", help="cli.review.reason")
    @base.option("--text", help="cli.review.text", hidden=verb is not Verb.ACCEPT)
    @base.option("--until", type=SINCE, metavar="DATE", help="cli.review.defer_until", hidden=verb is not Verb.DEFER)
    def decide(ids: tuple[int, ...], reason: str, text: str | None, until: int | None) -> None:
        by = base.require_owner()
        changes = {"description": text} if text is not None else None
        with base.opened() as engine:
            result = engine.decide(by, ids, verb.value, reason=reason, changes=changes, defer_until=until)
            base.answer(result, decided_lines(result))
            if result.refused:
                click.get_current_context().exit(1)


for _verb in Verb:
    _decision(_verb)


def decided_lines(result: DecideResult) -> Iterator[str]:
    """Show how many items were decided, and why others were not."""
    yield t("cli.review.decided", n=len(result.decided), op=result.op or "-")
    yield from (t("cli.review.refused", id=id_, why=flat(why)) for id_, why in result.refused)
