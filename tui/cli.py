"""The memdeck command: the only place that puts engine, servers and application together (design: command line)."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

import click

from engine.model.errors import MemdeckError
from tui.commands import base

COMMANDS: dict[str, str] = {
    "recall": "reading",
    "context": "context",
    "read": "reading",
    "history": "reading",
    "explain": "receipts",
    "status": "journal",
    "log": "journal",
    "remember": "writing",
    "edit": "editing",
    "forget": "writing",
    "feedback": "receipts",
    "lock": "writing",
    "unlock": "writing",
    "undo": "journal",
    "redo": "journal",
    "review": "review",
    "connect": "connect",
    "import": "transfer",
    "export": "transfer",
    "snapshot": "care",
    "doctor": "care",
    "expunge": "care",
    "cleanup": "care",
    "settings": "preferences",
    "rehearse": "receipts",
    "profile": "preferences",
    "call": "agents",
    "mcp": "agents",
    "hook": "hook",
    "do": "actions",
}
"""Every command and the module of tui.commands that holds it, in the order of the help."""


class Memdeck(base.Group):
    """The root command; a module is imported when one of its commands is asked for."""

    is_root = True

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command and return it."""
        module = COMMANDS.get(cmd_name)
        return getattr(import_module(f"tui.commands.{module}"), f"{cmd_name}_command") if module else None


@click.command(cls=Memdeck, invoke_without_command=True, help="cli.help")
@base.option("--demo", is_flag=True, help="cli.option.demo")
@base.option("--serve", is_flag=True, help="cli.option.serve")
@base.option("--socket", metavar="PATH", help="cli.option.socket")
@base.option("--tools", metavar="PROFILE", help="cli.option.tools")
@click.pass_context
def cli(context: click.Context, demo: bool, serve: bool, socket: str | None, tools: str | None) -> None:
    """Start the application, or the server with --serve, when no command is named."""
    if demo:
        given = base.options()
        if context.invoked_subcommand or serve or socket or tools or given.store or given.profile:
            raise click.UsageError(base.t("cli.demo_alone"))
        require_screen()
        from tui.commands.demo import run_demo

        run_demo()
    elif context.invoked_subcommand is None:
        if serve:
            run_server(socket, tools)
        else:
            run_app(socket or tools)
    elif serve or socket or tools:
        raise click.UsageError(base.t("cli.serve_alone"))


def run_server(socket: str | None, tools: str | None = None) -> None:
    """Serve agents on a socket until SIGTERM or ctrl+c."""
    from tui.commands.agents import serve

    serve(socket, tools or "core")


def run_app(server_option: str | None) -> None:
    """Open the application; without a terminal there is nothing to draw on, and an option of the server has no use."""
    if server_option:
        raise click.UsageError(base.t("cli.socket_needs_serve"))
    require_screen()
    with base.opened(make=True) as engine:
        from tui.app import MemdeckApp

        MemdeckApp(engine, lang=base.language()).run()


def require_screen() -> None:
    """Refuse to open the application where there is nothing to draw on."""
    if not (base.has_terminal() and sys.stdout.isatty()):
        raise click.UsageError(base.t("cli.no_terminal"))


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and end the process: 0 done, 1 refused, 2 wrongly called, 130 interrupted."""
    # What the terminal's encoding lacks is shown as an escape instead of ending the command.
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        code = run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has gone; without this Python would complain once more while it shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code; an error becomes one line and a hint on stderr."""
    base.start()
    try:
        code = cli.main(list(arguments), prog_name="memdeck", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "memdeck"
        base.note(f"memdeck: {base.flat(error.format_message())}", f"  → {base.t('cli.see_help', command=path)}")
        return 2
    except click.ClickException as error:
        base.note(f"memdeck: {base.flat(error.format_message())}")
        return 1
    except MemdeckError as error:
        base.note(base.shown_error(error))
        return 1
    except (click.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        raise
    except Exception as error:
        if os.environ.get("MEMDECK_DEBUG") == "1":
            raise
        base.note(base.shown_error(MemdeckError("internal", f"{type(error).__name__}: {error}", base.t("cli.debug"))))
        return 1


if __name__ == "__main__":
    main()
