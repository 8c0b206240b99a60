"""Commands about why memories are found: explain, feedback, rehearse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from engine.model.enums import Channel, Mode, Type
from engine.model.memory import Filter, RecallQuery
from engine.model.receipts import FEEDBACK
from tui.commands import base
from tui.commands.base import flat, t
from tui.commands.reading import default_limit, memory_line
from tui.commands.times import UNTIL

if TYPE_CHECKING:
    from engine.model.receipts import ChannelReceipt, DormantMemory, Explanation, Rehearsal

# --- explain ---


@base.command("explain", help="cli.explain.help")
@click.argument("query", nargs=-1, required=True)
@click.argument("ref")
@base.option("--limit", type=click.IntRange(1, 1000), default=None, help="cli.recall.limit")
@base.option("--at", type=UNTIL, metavar="DATE", help="cli.recall.at")
@base.option("--known-at", type=UNTIL, metavar="DATE", help="cli.recall.known_at")
@base.option("--mode", type=base.choice(Mode), default="current", help="cli.recall.mode")
@base.option("--channel", type=base.choice(Channel), default="fused", help="cli.explain.channel")
@base.option("--type", "types", type=base.choice(Type), multiple=True, help="cli.recall.type")
@base.option("--tag", "tags", multiple=True, help="cli.recall.tag")
@base.option("--topic", "topics", multiple=True, help="cli.recall.topic")
def explain_command(
    query: tuple[str, ...],
    ref: str,
    limit: int | None,
    at: int | None,
    known_at: int | None,
    mode: str,
    channel: str,
    types: tuple[str, ...],
    tags: tuple[str, ...],
    topics: tuple[str, ...],
) -> None:
    """Say why a question finds a memory, or why not."""
    by = base.caller()
    with base.opened() as engine:
        asked = RecallQuery(
            text=" ".join(query),
            mode=Mode(mode),
            at_ms=at,
            known_ms=known_at,
            filter=Filter(types=tuple(map(Type, types)), tags=tags, topics=topics),
            everywhere=by.is_owner,
            limit=limit or default_limit(engine),
            channel=Channel(channel),
        )
        told = engine.explain(by, asked, ref)
        base.answer(told, explanation_lines(told))


def explanation_lines(told: Explanation) -> Iterator[str]:
    """Show the verdict, then every rule, channel and part of the score, then what ageing makes of the memory."""
    yield memory_line(told.memory)
    yield t("cli.explain.found" if told.found else "cli.explain.not_found", why=flat(told.why))
    if told.terms:
        yield t("cli.explain.terms", terms=flat(", ".join(told.terms)))
    yield from (f"  {refusal.rule}: {flat(refusal.detail)}" for refusal in told.filtered)
    for channel in told.channels:
        yield from channel_lines(channel)
    yield t("cli.explain.gate", share=f"{told.share:.2f}", gate=f"{told.gate:.2f}")
    asleep = t("cli.explain.dormant") if told.dormant else ""
    yield t(
        "cli.explain.use",
        activation=f"{told.activation:.3f}",
        days=f"{told.idle_days:.0f}",
        recalls=told.recalls,
        feedback=told.feedback or "-",
        dormant=asleep,
    )


def channel_lines(channel: ChannelReceipt) -> Iterator[str]:
    """Show a channel's rank and score, and what they are made of."""
    if channel.rank is None:
        yield t("cli.explain.silent", channel=channel.name, total=channel.total)
        return
    yield f"  {channel.name} {channel.rank}/{channel.total} {channel.score or 0.0:.3f}  {flat(channel.why)}"
    for name, part in channel.parts.items():
        shown = f"{part:.3f}" if isinstance(part, float) else flat(part)
        yield f"    {name}: {shown}"


# --- feedback ---


@base.command("feedback", help="cli.feedback.help")
@click.argument("ref", required=False)
@click.argument("word", type=click.Choice([*FEEDBACK, "reset"]), required=False)
def feedback_command(ref: str | None, word: str | None) -> None:
    """Say what became of a memory; without arguments list what was said."""
    if ref is None:
        by = base.require_owner()
        with base.opened() as engine:
            kept = engine.feedback(by)
            rows = {m.id: m for m in engine.memory_rows(by, list(kept))}
            lines = [f"{kept[id_]:<9} {memory_line(rows[id_])}" for id_ in kept if id_ in rows]
            base.answer({f"mem-{id_}": told for id_, told in kept.items()}, lines or [t("cli.feedback.none")])
        return
    if word is None:
        raise click.UsageError(t("cli.feedback.which", words=", ".join([*FEEDBACK, "reset"])))
    by = base.caller()
    with base.opened() as engine:
        told = engine.report_feedback(by, ref, word)
        key = "cli.feedback.kept" if told else "cli.feedback.reset"
        base.answer({"ref": ref, "feedback": told}, [t(key, ref=flat(ref), word=told)])


# --- rehearse, dormant ---


@base.command("rehearse", help="cli.rehearse.help")
@click.argument("changes", metavar="SETTING=VALUE...", nargs=-1, required=True)
@base.option("--limit", type=click.IntRange(1, 1000), default=50, help="cli.rehearse.limit")
def rehearse_command(changes: tuple[str, ...], limit: int) -> None:
    """Show what changed settings would change of recent answers; nothing is set."""
    pairs: dict[str, object] = {}
    for change in changes:
        name, equals, value = change.partition("=")
        if not equals:
            raise click.UsageError(t("cli.rehearse.form", given=flat(change)))
        pairs[name.strip()] = value.strip()
    by = base.require_owner()
    with base.opened() as engine:
        told = engine.rehearse(by, pairs, limit)
        base.answer(told, rehearsal_lines(told))


def rehearsal_lines(told: Rehearsal) -> Iterator[str]:
    """Show each question with another result, with what goes and what comes."""
    for one in told.changed:
        yield f"{one.kind} {flat(one.actor)}: {flat(one.text)[:200]}"
        yield from (f"  - mem-{id_}" for id_ in one.goes)
        yield from (f"  + mem-{id_}" for id_ in one.comes)
    yield t("cli.rehearse.total", n=told.replayed, changed=len(told.changed), goes=told.goes, comes=told.comes)


def dormant_lines(found: list[DormantMemory]) -> Iterator[str]:
    """Show memories that nobody touched for long, each with the reason."""
    for one in found:
        yield f"mem-{one.id:<6} {flat(one.reason)}  {flat(one.description)}"
    if not found:
        yield t("cli.status.no_dormant")
