"""Commands that change memories: remember, forget, lock, unlock."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from engine.model.enums import Kind, SaidBy, Scope, Type
from engine.model.errors import invalid
from engine.model.memory import Draft, Triple, WriteResult
from tui.commands import base
from tui.commands.base import flat, t
from tui.commands.times import SINCE


def write_lines(*results: WriteResult, done: str = "active") -> Iterator[str]:
    """Show what became of each write; `done` is the word for a memory that is current after it."""
    for result in results:
        key = "seen_again" if result.seen_again else done if result.state == "active" else result.state
        yield t(f"cli.wrote.{key}", ref=result.ref)
        if result.review is not None:
            yield t("cli.wrote.review", id=result.review)
        yield from (t("cli.note", text=text) for text in result.notes)
        yield from (t("cli.warning", text=text) for text in result.warnings)


# --- remember ---


@base.command("remember", help="cli.remember.help")
@click.argument("text", nargs=-1)
@base.option("--body", default="", help="cli.remember.body")
@base.option("--body-file", type=click.Path(dir_okay=False, allow_dash=True), help="cli.remember.body_file")
@base.option("--name", default="", help="cli.remember.name")
@base.option("--type", "type_", type=base.choice(Type), help="cli.remember.type")
@base.option("--kind", type=base.choice(Kind), default="fact", help="cli.remember.kind")
@base.option("--said-by", type=base.choice(SaidBy), help="cli.remember.said_by")
@base.option("--tag", "tags", multiple=True, help="cli.remember.tag")
@base.option("--topic", "topics", multiple=True, help="cli.remember.topic")
@base.option("--alias", "aliases", multiple=True, help="cli.remember.alias")
@base.option("--subject", default="", help="cli.remember.subject")
@base.option("--since", type=SINCE, metavar="DATE", help="cli.remember.since")
@base.option("--until", type=SINCE, metavar="DATE", help="cli.remember.until")
@base.option("--scope", type=base.choice(Scope), help="cli.remember.scope")
@base.option("--triple", "triples", nargs=3, multiple=True, metavar="S R O", help="cli.remember.triple")
@base.option("--replaces", metavar="REF", help="cli.remember.replaces")
@base.option("--wrong", is_flag=True, help="cli.remember.wrong")
@base.option("--key", help="cli.remember.key")
def remember_command(
    text: tuple[str, ...],
    body: str,
    body_file: str | None,
    name: str,
    type_: str | None,
    kind: str,
    said_by: str | None,
    tags: tuple[str, ...],
    topics: tuple[str, ...],
    aliases: tuple[str, ...],
    subject: str,
    since: int | None,
    until: int | None,
    scope: str | None,
    triples: tuple[tuple[str, str, str], ...],
    replaces: str | None,
    wrong: bool,
    key: str | None,
) -> None:
    """Remember one fact; `-` reads it from stdin."""
    if body and body_file:
        raise click.UsageError(t("cli.remember.body_twice"))
    if wrong and not replaces:
        raise click.UsageError(t("cli.remember.wrong_what"))
    draft = Draft(
        text=sys.stdin.read() if text == ("-",) else " ".join(text),
        body=text_of(body_file) if body_file else body,
        name=name,
        kind=Kind(kind),
        type=Type(type_) if type_ else None,
        said_by=SaidBy(said_by) if said_by else None,
        tags=tags,
        topics=topics,
        aliases=aliases,
        subject=subject,
        valid_from=since,
        valid_to=until,
        scope=Scope(scope) if scope else None,
        triples=tuple(Triple(*triple) for triple in triples),
    )
    by = base.caller()
    with base.opened(make=True) as engine:
        result = engine.remember(by, draft, replaces=replaces, was="wrong" if wrong else "outdated", key=key)
        base.answer(result, write_lines(result))


def text_of(path: str) -> str:
    """Read a text file (`-` = stdin), or raise `invalid_argument` that says why not."""
    try:
        return sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise invalid(t("cli.cannot_read", path=path, why=flat(error))) from None


# --- forget ---


@base.command("forget", help="cli.forget.help")
@click.argument("refs", nargs=-1)
@base.option("--archive", "how", flag_value="archive", help="cli.forget.archive")
@base.option("--restore", "how", flag_value="restore", help="cli.forget.restore")
@base.option("--reason", default="", help="cli.forget.reason")
@base.option("--match", nargs=2, multiple=True, metavar="FIELD VALUE", help="cli.forget.match")
@base.option("--confirm", metavar="CODE", help="cli.forget.confirm")
def forget_command(
    refs: tuple[str, ...], how: str | None, reason: str, match: tuple[tuple[str, str], ...], confirm: str | None
) -> None:
    """Forget, archive or restore memories; --match lists what is meant and gives the code to confirm it with."""
    if bool(refs) == bool(match) or (confirm and not match):
        raise click.UsageError(t("cli.forget.one_way"))
    by, way, criteria = base.caller(), how or "forget", dict(match)
    with base.opened() as engine:
        if match and not confirm:
            plan = engine.match(by, criteria, how=way)
            meant = t("cli.forget.matched", n=plan.total, code=plan.confirm)
            base.answer(plan, [*plan.refs, meant] if plan.total else [t("cli.forget.none_match")])
            return
        if confirm:
            results = engine.forget_matched(by, criteria, confirm, how=way, reason=reason)
        else:
            results = engine.forget(by, refs, how=way, reason=reason)
        base.answer(results, write_lines(*results, done="restored"))


# --- lock, unlock ---


def _locking(name: str, locked: bool) -> Callable[..., None]:
    @base.command(name, help=f"cli.{name}.help")
    @click.argument("ref")
    def locking(ref: str) -> None:
        by = base.caller()
        with base.opened() as engine:
            result = engine.lock(by, ref, locked)
            base.answer(result, [t(f"cli.wrote.{name}ed", ref=result.ref)])

    return locking


lock_command = _locking("lock", True)
unlock_command = _locking("unlock", False)
