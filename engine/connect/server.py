"""The command that an agent starts to talk to memdeck, as its settings name it."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

PROGRAM = "memdeck"


@dataclass(frozen=True)
class Server:
    """A command with arguments and the variables that it needs besides; every path in it is absolute."""

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)


def installed_server(store: Path) -> Server:
    """Return how this very installation serves a store from any folder: `memdeck mcp --store DIR`.

    A checkout that is not installed is started as a module, with the variable that lets Python find it.
    """
    args = ("mcp", "--store", str(store.absolute()))
    script = _script()
    if script:
        return Server(str(script), args)
    checkout = Path(__file__).parents[2]
    return Server(str(Path(sys.executable).absolute()), ("-m", "tui.cli", *args), {"PYTHONPATH": str(checkout)})


@dataclass(frozen=True)
class HookCommand:
    """How our hooks are started: the words of the program, the directory of the store, whether turns are kept (W68)."""

    program: tuple[str, ...]
    store: str
    turns: bool = False


def installed_hooks(store: Path, *, turns: bool = False) -> HookCommand:
    """Return how this very installation answers hooks, from any folder."""
    script = _script()
    if script:
        return HookCommand((str(script),), str(store.absolute()), turns)
    # An agent gives its hooks no variables of their own.
    env = shutil.which("env") or "/usr/bin/env"
    checkout = Path(__file__).parents[2]
    program = (env, f"PYTHONPATH={checkout}", str(Path(sys.executable).absolute()), "-m", "tui")
    return HookCommand(program, str(store.absolute()), turns)


def _script() -> Path | None:
    """Return the installed command: the one that runs now, else the one beside this Python."""
    beside = Path(sysconfig.get_path("scripts")) / PROGRAM
    for path in (Path(sys.argv[0]).absolute(), beside):
        if path.name == PROGRAM and path.is_file() and os.access(path, os.X_OK):
            return path
    return None
