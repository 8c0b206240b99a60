"""What every command shares: its options, who calls, the open store, and the two ways to answer."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.model.clock import Clock, clock_from_env
from engine.model.enums import Origin
from engine.model.errors import MemdeckError, invalid
from engine.model.memory import Caller
from engine.settings import default_store, directory

if TYPE_CHECKING:
    from engine.facade import Engine

# Characters that JSON leaves as they are and a terminal acts on: DEL, the C1 controls, direction overrides.
_RAW = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@dataclass
class Options:
    """The options that stand before or after any command; empty text means not given.

    `store_lang` is what the opened store's own setting says; --lang and the environment go before it.
    """

    store: str = ""
    profile: str = ""
    lang: str = ""
    workspace: str = ""
    json: bool = False
    as_owner: bool = False
    store_lang: str = ""


_options = Options()


def options() -> Options:
    """Return the options of this run; they outlive click's context, since an error is shown after it."""
    return _options


def start() -> None:
    """Forget the options of an earlier run in this process."""
    global _options
    _options = Options()


# --- words ---


def t(key: str, /, **params: object) -> str:
    """Return a text in the owner's language; loads the locale files, which agents' commands never need."""
    from tui import i18n

    i18n.set_language(language())
    return i18n.t(key, **params)


def language() -> str:
    """Return the owner's language: --lang, the environment, the store's setting, then the system's."""
    from tui import i18n

    return i18n.choose_language(_options.lang or None, setting=_options.store_lang or None)


# --- the shape of a command ---


def _keep(_: click.Context, parameter: click.Parameter, value: object) -> None:
    if value:
        setattr(_options, str(parameter.name), value)


def _version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        from importlib.metadata import PackageNotFoundError, version

        try:
            click.echo(f"memdeck {version('memdeck')}")
        except PackageNotFoundError:
            click.echo("memdeck, run from a checkout")
        context.exit()


class Option(click.Option):
    """An option whose help is a key of the locale files."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Put the help into the owner's language when it is shown."""
        self.help = t(self.help) if self.help else None
        return super().get_help_record(ctx)


def shared(*, hidden: bool = False) -> list[click.Parameter]:
    """Return the options that every command takes."""
    make = partial(Option, expose_value=False, callback=_keep, hidden=hidden)
    return [
        make(["--store"], metavar="DIR", help="cli.option.store"),
        make(["--profile"], metavar="NAME", help="cli.option.profile"),
        make(["--workspace"], metavar="DIR", help="cli.option.workspace"),
        make(["--lang"], type=click.Choice(["en", "zh"]), is_eager=True, help="cli.option.lang"),
        make(["--json"], is_flag=True, help="cli.option.json"),
        make(["--as-owner"], is_flag=True, help="cli.option.as_owner"),
        Option(
            ["--version"],
            is_flag=True,
            expose_value=False,
            callback=_version,
            is_eager=True,
            hidden=hidden,
            help="cli.option.version",
        ),
    ]


class _Translated(click.Command):
    """A command whose help is a key of the locale files and which takes the shared options."""

    is_root = False

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.params += shared(hidden=not self.is_root)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Put the help into the owner's language when it is shown."""
        self.help = t(self.help or "")
        super().format_help_text(ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Say where the shared options are explained."""
        self.epilog = None if self.is_root else t("cli.epilog")
        super().format_epilog(ctx, formatter)

    def get_short_help_str(self, limit: int = 45) -> str:
        """Return the line that the list of commands shows."""
        return t(self.help or "").partition("\n")[0]


class Command(_Translated):
    """A single command."""


class Group(_Translated, click.Group):
    """A command with commands below it."""


def choice(values: type[StrEnum]) -> click.Choice[str]:
    """Return the values of an enum as what an option may be."""
    return click.Choice([member.value for member in values])


command = partial(click.command, cls=Command)
group = partial(click.group, cls=Group)
option = partial(click.option, cls=Option)


# --- who calls, and where ---


def has_terminal() -> bool:
    """Return whether a person can type here."""
    return sys.stdin is not None and sys.stdin.isatty()


def caller() -> Caller:
    """Return the owner with a terminal on stdin or with --as-owner, and an agent otherwise.

    The journal keeps the two ways of being the owner apart.
    """
    if has_terminal():
        return Caller(Origin.CLI, "owner", workspace=_named_workspace())
    if options().as_owner:
        return Caller(Origin.CLI, "owner --as-owner", workspace=_named_workspace())
    return agent()


def agent(session: str | None = None) -> Caller:
    """Return an agent that works in this directory."""
    from engine.serve.identity import workspace_of

    workspace = _named_workspace() or workspace_of(Path.cwd())
    return Caller(Origin.AGENT, "shell", session=session, workspace=workspace)


def require_owner() -> Caller:
    """Return the owner, or raise `needs_human` for what only an owner may see."""
    by = caller()
    if not by.is_owner:
        raise MemdeckError("needs_human", t("cli.owner_only"), t("cli.owner_only_hint"))
    return by


def named_path(text: str) -> Path:
    """Return the absolute path that an argument names; an empty one, which would mean this directory, is refused."""
    if not text.strip():
        raise invalid(t("cli.no_path"), t("cli.no_path_hint"))
    return Path(text).expanduser().absolute()


def workspace_folder() -> Path | None:
    """Return the folder that --workspace names."""
    return directory(_options.workspace) if _options.workspace else None


def _named_workspace() -> str | None:
    from engine.serve.identity import workspace_of

    folder = workspace_folder()
    return workspace_of(folder, named=True) if folder else None


# --- the store ---


def store_dir() -> Path:
    """Return the store's directory: --store, else the profile's."""
    given = options()
    if given.store and given.profile:
        raise click.UsageError(t("cli.store_or_profile"))
    return directory(given.store) if given.store else default_store(given.profile or "default")


def clock(*, trusted: bool) -> Clock:
    """Return the clock, which MEMDECK_NOW may freeze for the owner; a bad value is `invalid_argument`."""
    try:
        return clock_from_env(trusted=trusted)
    except ValueError:
        raise invalid("MEMDECK_NOW is not an ISO time", "write it as 2026-11-29T08:00:00Z") from None


def require_store() -> Path:
    """Return the store's directory, or raise `not_found` where there is no store: reading must not make one."""
    from engine.facade import has_store

    store = store_dir()
    if not has_store(store):
        raise MemdeckError("not_found", t("cli.no_store", path=store), t("cli.no_store_hint"))
    return store


@contextmanager
def opened(*, trusted: bool | None = None, make: bool = False) -> Iterator[Engine]:
    """Open the store for one command and close it again; only with `make` is one made where there is none."""
    now = clock(trusted=caller().is_owner if trusted is None else trusted)
    store = store_dir() if make else require_store()
    from engine.facade import open_engine

    with open_engine(store, clock=now) as engine:
        _options.store_lang = str(engine.setting("lang").value)
        yield engine


# --- answering ---


def answer(value: object, lines: Iterable[str]) -> None:
    """Print a result for a person, or as JSON when asked for."""
    if options().json:
        click.echo(to_json(value))
        return
    for line in lines:
        say(line)


def say(text: str, *, err: bool = False) -> None:
    """Print text of any origin without letting it act on the terminal."""
    click.echo(safe(text), err=err)


def safe(text: str) -> str:
    """Return text in which nothing can move the cursor, colour or hide."""
    from engine.rules.textnorm import visible

    return visible(text)


def note(*texts: str) -> None:
    """Print remarks on stderr, away from what a pipe reads."""
    for text in texts:
        say(text, err=True)


def flat(text: object) -> str:
    """Return text on one line."""
    return " ".join(str(text).split())


def to_json(value: object) -> str:
    """Return any value of the façade as indented JSON that is safe to show in a terminal."""
    import msgspec

    return escape(msgspec.json.format(msgspec.json.encode(value, enc_hook=_plain), indent=2).decode())


def escape(json: str) -> str:
    """Return JSON with every character escaped that a terminal would act on."""
    return _RAW.sub(lambda found: f"\\u{ord(found[0]):04x}", json)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Iterable):
        return list(value)
    return str(value)


def from_json(text: str) -> dict[str, Any]:
    """Read a JSON object from an argument (`-` = stdin), or raise `invalid_argument`."""
    import msgspec

    text = sys.stdin.read() if text == "-" else text
    try:
        value = msgspec.json.decode(text or "{}")
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise invalid(t("cli.bad_json", why=str(error)), t("cli.bad_json_hint")) from None
    if not isinstance(value, dict):
        raise invalid(t("cli.json_object"), t("cli.bad_json_hint"))
    return value


def shown_error(error: MemdeckError) -> str:
    """Return an error as a person reads it: what is wrong in one line, then what to do about it."""
    from tui import i18n
    from tui.errors import explain

    i18n.set_language(language())
    line = f"memdeck: {flat(explain(MemdeckError(error.code, error.message, '', **error.params)))}"
    return f"{line}\n  → {flat(error.hint)}" if error.hint else line
