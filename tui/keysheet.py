"""The key sheet of README, made from the registry: `python -m tui.keysheet [en|zh]` prints Markdown."""

from __future__ import annotations

import sys

from tui.actions import ACTIONS, Action, shown_key
from tui.i18n import choose_language, set_language, t

BEGIN, END = "<!-- keys: made by python -m tui.keysheet -->", "<!-- /keys -->"
"""The lines in README between which the sheet stands."""


def key_sheet() -> str:
    """Return one Markdown table per scope in the language in use."""
    tables = []
    for scope in dict.fromkeys(action.scope for action in ACTIONS.values()):
        head = f"### {t(f'screen.help.scope.{scope}')}\n\n| | | |\n|---|---|---|"
        rows = [_row(action) for action in ACTIONS.values() if action.scope == scope]
        tables.append("\n".join([head, *rows]))
    return "\n\n".join(tables) + "\n"


def _row(action: Action) -> str:
    keys = " ".join(f"`{shown_key(key)}`" if shown_key(key) != "|" else "`\\|`" for key in action.keys)
    return f"| {keys} | {action.label} | {action.help} |"


if __name__ == "__main__":
    set_language(choose_language(sys.argv[1] if len(sys.argv) > 1 else None))
    sys.stdout.write(f"{BEGIN}\n\n{key_sheet()}\n{END}\n")
