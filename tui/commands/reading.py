"""Commands that look at memories: recall, context, read, history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from engine.model.enums import Mode, State, Type
from engine.model.memory import AsOf, Filter, Hit, Memory, Page, RecallPage, RecallQuery
from tui.commands import base
from tui.commands.base import flat, t
from tui.commands.times import UNTIL, local

if TYPE_CHECKING:
    from engine.facade import Engine


def memory_line(memory: Memory) -> str:
    """Show a memory on one line: reference, type, what is unusual about it, description."""
    marks = [] if memory.state is State.ACTIVE else [t(f"app.state.{memory.state.value}")]
    marks += [t("app.badge.locked")] if memory.locked else []
    marks += [t("app.badge.guess")] if memory.speculative else []
    marks += [t("app.badge.conflict")] if memory.conflict else []
    shown = f" [{', '.join(marks)}]" if marks else ""
    return f"{memory.ref:<10} {memory.type.value:<9}{shown} {flat(memory.description)}"


# --- recall ---


@base.command("recall", help="cli.recall.help")
@click.argument("query", nargs=-1, required=True)
@base.option("--limit", type=click.IntRange(1, 1000), default=None, help="cli.recall.limit")
@base.option("--at", type=UNTIL, metavar="DATE", help="cli.recall.at")
@base.option("--known-at", type=UNTIL, metavar="DATE", help="cli.recall.known_at")
@base.option("--mode", type=base.choice(Mode), default="current", help="cli.recall.mode")
@base.option("--type", "types", type=base.choice(Type), multiple=True, help="cli.recall.type")
@base.option("--tag", "tags", multiple=True, help="cli.recall.tag")
@base.option("--topic", "topics", multiple=True, help="cli.recall.topic")
@base.option("--everywhere", is_flag=True, help="cli.recall.everywhere")
@base.option("--cursor", help="cli.recall.cursor")
@base.option("--why", is_flag=True, help="cli.recall.why")
@base.option("--expand", is_flag=True, help="cli.recall.expand")
def recall_command(
    query: tuple[str, ...],
    limit: int | None,
    at: int | None,
    known_at: int | None,
    mode: str,
    types: tuple[str, ...],
    tags: tuple[str, ...],
    topics: tuple[str, ...],
    everywhere: bool,
    cursor: str | None,
    why: bool,
    expand: bool,
) -> None:
    """Find memories that answer a question."""
    by = base.caller()
    with base.opened() as engine:
        page = engine.recall(
            by,
            RecallQuery(
                text=" ".join(query),
                mode=Mode(mode),
                at_ms=at,
                known_ms=known_at,
                filter=Filter(types=tuple(map(Type, types)), tags=tags, topics=topics),
                everywhere=everywhere or by.is_owner,
                limit=limit or default_limit(engine),
                cursor=cursor,
                why=why,
                expand=expand,
            ),
        )
        base.answer(page, recall_lines(page, why=why))


def default_limit(engine: Engine) -> int:
    """Return the setting recall.limit."""
    return int(str(engine.setting("recall.limit").value))


def recall_lines(page: RecallPage, *, why: bool) -> Iterator[str]:
    """Show hits, best first, then how many more there are."""
    for hit in page.hits:
        yield memory_line(hit.memory)
        yield from hit_details(hit, why=why)
    shown = sum(not hit.why.startswith("via topic ") for hit in page.hits)
    if page.total == 0:
        yield t("cli.recall.none")
    elif page.next_cursor:
        yield t("cli.recall.more", n=page.total, shown=shown, cursor=page.next_cursor)
    for remark in page.notes:
        yield t("cli.note", text=remark)


def hit_details(hit: Hit, *, why: bool) -> Iterator[str]:
    """Show the passage that matched and, with --why, the reason and its parts."""
    passage = flat(hit.passage)
    if passage and passage != flat(hit.memory.description):
        where = f"{hit.lines[0]}-{hit.lines[1]}: " if hit.lines else ""
        yield f"           {where}{passage[:200]}"
    if why:
        yield f"           {hit.score:.3f} {flat(hit.why)}"
        yield from (f"           {name}: {flat(part)}" for name, part in hit.parts.items())


# --- read, history ---


@base.command("read", help="cli.read.help")
@click.argument("refs", nargs=-1, required=True)
@base.option("--part", type=click.Choice(["body", "overview", "full", "history"]), default="full", help="cli.read.part")
@base.option("--start-line", type=click.IntRange(1), default=1, help="cli.read.start_line")
@base.option("--max-bytes", type=click.IntRange(1), default=None, help="cli.read.max_bytes")
@base.option("--at", type=UNTIL, metavar="DATE", help="cli.recall.at")
@base.option("--known-at", type=UNTIL, metavar="DATE", help="cli.recall.known_at")
def read_command(
    refs: tuple[str, ...], part: str, start_line: int, max_bytes: int | None, at: int | None, known_at: int | None
) -> None:
    """Read memories by reference, name or file name."""
    by = base.caller()
    with base.opened() as engine:
        size = max_bytes or (1 << 20)
        as_of = AsOf(at, known_at)
        pages = [engine.read(by, ref, part=part, start_line=start_line, max_bytes=size, as_of=as_of) for ref in refs]
        base.answer(pages, (line for page in pages for line in page_lines(page)))


def page_lines(page: Page) -> Iterator[str]:
    """Show a page's text, and where it goes on."""
    yield page.text.rstrip("\n")
    if page.next_line:
        yield t("cli.read.more", ref=page.ref, line=page.next_line, total=page.total_lines)


@base.command("history", help="cli.history.help")
@click.argument("ref")
def history_command(ref: str) -> None:
    """Show every version of a memory, oldest first."""
    by = base.caller()
    with base.opened() as engine:
        versions = engine.history(by, ref)
        base.answer(versions, (line for version in versions for line in version_lines(version)))


def version_lines(memory: Memory) -> Iterator[str]:
    """Show one version: when it was known, when it is true, by whom, and its description."""
    since, until = local(memory.valid_from), local(memory.valid_to)
    valid = t("cli.history.valid", since=since, until=until or "…")
    yield f"{memory.ref:<10} {local(memory.known_from_ms)}  {memory.origin.value}/{flat(memory.actor)}  {valid}"
    yield f"           {memory_line(memory)[len(f'{memory.ref:<10} ') :]}"
