"""The owner's own editor for a text: the app steps aside until it ends."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from engine.model.errors import invalid


def edit_outside(app: App[Any], name: str, text: str) -> str:
    """Return what the editor of $VISUAL or $EDITOR made of `text`; raises `invalid_argument` when it fails.

    The text lies in a private directory while it is edited and is removed afterwards.
    """
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory(prefix="memdeck-") as place:
        path = Path(place) / f"{name}.md"
        path.write_bytes(text.encode("utf-8"))
        try:
            with app.suspend():
                ended = subprocess.run([*command, str(path)], check=False)
        except SuspendNotSupported:
            raise invalid("this terminal cannot step aside for an editor", "use the form (e)") from None
        except OSError as error:
            raise invalid(
                f"{command[0]} cannot be started: {error.strerror}", "set EDITOR, or use the form (e)"
            ) from None
        if ended.returncode:
            raise invalid(f"{command[0]} ended with {ended.returncode}; nothing was changed", "")
        try:
            return path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError):
            raise invalid("the edited text cannot be read as UTF-8; nothing was changed", "") from None
