"""The command do: any action of the façade by name, with its arguments as JSON.

The table of actions is made from Engine's own methods, so a new use case is callable the day it exists.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import click
import msgspec

from engine.model.errors import MemdeckError, invalid
from engine.model.memory import Caller
from tui.commands import base
from tui.commands.base import flat, t

PLUMBING = frozenset({"close", "interrupt", "change_token"})
"""Methods that belong to the process, not to the owner."""

OWNERS = frozenset(
    "daily_snapshot doctor export log operation plan_import review_ids review_items review_rows tombstones".split()
)
"""Actions without a caller that show or do what is not an agent's: what was forgotten, what waits, any file."""


MAKERS = frozenset(["add_event", "begin_turn", "remember", "run_import", "save_turn", "set_setting"])
"""Actions that begin a store where there is none; every other one needs what is in it."""


@dataclass(frozen=True)
class Action:
    """One method of the façade: whether it takes a caller, and the struct that reads its other arguments."""

    name: str
    method: Callable[..., Any]
    needs_caller: bool
    arguments: type[msgspec.Struct]

    @property
    def usage(self) -> str:
        """Return the parameters as `name` or `[name]`, in order."""
        fields = msgspec.structs.fields(self.arguments)
        return " ".join(field.name if field.required else f"[{field.name}]" for field in fields)

    @property
    def summary(self) -> str:
        """Return the first sentence of the method's docstring."""
        return flat((self.method.__doc__ or "").strip().partition("\n")[0])


@cache
def actions() -> dict[str, Action]:
    """Return every action of the façade by name."""
    from engine.facade import Engine

    methods = inspect.getmembers(Engine, inspect.isfunction)
    return {name: action(name, method) for name, method in methods if not name.startswith("_") and name not in PLUMBING}


def action(name: str, method: Callable[..., Any]) -> Action:
    """Read one method's signature; `self`, the caller and callbacks are not the owner's to give."""
    parameters = list(inspect.signature(method).parameters.values())[1:]
    hints = parameter_types(method)
    fields: list[Any] = []
    for parameter in parameters:
        hint = readable(hints.get(parameter.name, Any))
        if hint in (Caller, Callable):
            continue
        fields.append((parameter.name, hint, *(() if parameter.default is parameter.empty else (parameter.default,))))
    struct = msgspec.defstruct(f"do_{name}", fields, kw_only=True, forbid_unknown_fields=True, frozen=True)
    return Action(name, method, any(hints.get(p.name) is Caller for p in parameters), struct)


def parameter_types(method: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of a method's parameters; what it returns need not be a type that this Python can spell."""
    written = SimpleNamespace(__annotations__={n: a for n, a in method.__annotations__.items() if n != "return"})
    # A plan has no JSON form: where the façade takes one, the path that it would be made from is given.
    return get_type_hints(written, {**method.__globals__, "ImportPlan": Path})


def readable(hint: Any) -> Any:
    """Return the part of a type that JSON can carry: an optional path is a path, a callback stays a callback."""
    if get_origin(hint) in (Union, UnionType):
        parts = get_args(hint)
        plain = [part for part in parts if part is not NoneType]
        if Path in plain:
            return Path
        if any(get_origin(part) is get_origin(Callable[..., Any]) for part in plain):
            return Callable
    return Callable if get_origin(hint) is get_origin(Callable[..., Any]) else hint


def read_arguments(act: Action, given: Mapping[str, object]) -> dict[str, Any]:
    """Convert JSON into the method's types, or raise `invalid_argument` that names the parameter."""
    try:
        read = msgspec.convert(dict(given), act.arguments, dec_hook=_custom, str_keys=True)
    except (msgspec.ValidationError, MemdeckError, ValueError) as error:
        raise invalid(t("cli.do.bad", action=act.name, why=flat(error)), f"{act.name} {act.usage}") from None
    return {name: getattr(read, name) for name in act.arguments.__struct_fields__ if name in given}


def _custom(kind: type, value: object) -> object:
    """Read what JSON has no type for: a path, or a value whose type the action itself checks."""
    if kind is object:
        return value
    if kind is Path and isinstance(value, str):
        return base.named_path(value)
    raise ValueError(f"{kind.__name__} is not understood")


@base.command("do", help="cli.do.help")
@click.argument("name", metavar="[ACTION]", required=False)
@click.argument("arguments", metavar="[JSON]", required=False, default="")
@base.option("--list", "listing", is_flag=True, help="cli.do.list")
def do_command(name: str | None, arguments: str, listing: bool) -> None:
    """Run an action of the façade and print its result as JSON."""
    if listing:
        table = actions().values()
        rows = [{"action": act.name, "parameters": act.usage, "does": act.summary} for act in table]
        base.answer(rows, list_lines())
        return
    if name is None:
        raise click.UsageError(t("cli.do.which"))
    act = actions().get(name)
    if act is None:
        raise invalid(t("cli.do.unknown", action=name), t("cli.do.unknown_hint"))
    by = base.require_owner() if name in OWNERS else base.caller()
    given = read_arguments(act, base.from_json(arguments))
    with base.opened(make=name in MAKERS) as engine:
        result = act.method(engine, by, **given) if act.needs_caller else act.method(engine, **given)
        click.echo(base.to_json(result))


def list_lines() -> Iterator[str]:
    """Show every action with its parameters and what it does."""
    for act in actions().values():
        yield f"{act.name} {act.usage}"
        yield f"    {act.summary}"
