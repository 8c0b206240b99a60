"""The command that agents' hooks call, as the help shows it; `tui.__main__` answers it without loading all this."""

from __future__ import annotations

import click

from engine.settings import directory
from tui.commands import base


@base.command("hook", help="cli.hook.help")
@click.argument("event", required=False, default="")
@base.option("--agent", metavar="NAME", help="cli.hook.agent")
def hook_command(event: str, agent: str | None) -> None:
    """Answer an agent's event from its JSON on stdin; always ends with exit code 0."""
    from engine.serve import hook

    given = base.options()
    named = {"--store": given.store, "--profile": given.profile, "--agent": agent}
    if workspace := base.workspace_folder():
        named["--workspace"] = str(directory(str(workspace)))
    hook.main([event, *(f"{name}={value}" for name, value in named.items() if value)])
