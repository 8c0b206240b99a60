"""Every key of the app by screen, searchable; and the way to connect an agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Input, Static

from tui.actions import ACTIONS, SCREENS, Action, shown_key
from tui.i18n import t
from tui.modals.dialogs import Dialog


class HelpDialog(Dialog[None]):
    """Keys of the present screen first, then all others; typing narrows by key, word or id."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "scroll(1)", show=False, priority=True),
        Binding("up", "scroll(-1)", show=False, priority=True),
        Binding("pagedown", "scroll(12)", show=False, priority=True),
        Binding("pageup", "scroll(-12)", show=False, priority=True),
    ]

    def __init__(self, screen: str, keymap: Mapping[str, tuple[str, ...]]) -> None:
        super().__init__(t("screen.help.title"))
        self._screen = screen
        self._keymap = keymap

    def box(self) -> ComposeResult:
        """Yield the search line and the list."""
        yield Input(placeholder=t("screen.help.search"))
        with VerticalScroll(id="help-scroll", can_focus=False):
            yield Static(id="help-text")
        yield Static(t("screen.help.esc"), classes="dialog-keys", markup=False)

    def on_mount(self) -> None:
        """Show everything."""
        self._fill("")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._fill(event.value)

    def action_scroll(self, lines: int) -> None:
        """Scroll while the input keeps the focus."""
        self.query_one("#help-scroll").scroll_relative(y=lines, animate=False)

    def _fill(self, text: str) -> None:
        here = SCREENS.get(self._screen, ())
        scopes = [*(scope for scope in here if scope not in ("app", "tab")), "app", "tab"]
        scopes += [scope for scope in dict.fromkeys(action.scope for action in ACTIONS.values()) if scope not in scopes]
        grid = Table.grid(padding=(0, 1))
        colors = self.app.theme_variables
        for scope in scopes:
            actions = [action for action in ACTIONS.values() if action.scope == scope and self._matches(action, text)]
            if actions:
                grid.add_row(
                    "", Text(t(f"screen.help.scope.{scope}"), f"bold {colors['primary']}"), _here(scope in here)
                )
            for action in actions:
                keys = Text(self._keys(action), f"bold {colors['accent']}", justify="right")
                grid.add_row(keys, action.label, action.help)
        self.query_one("#help-text", Static).update(grid)

    def _keys(self, action: Action) -> str:
        return " ".join(shown_key(key) for key in self._keymap.get(action.id, action.keys))

    def _matches(self, action: Action, text: str) -> bool:
        keys = self._keys(action).split()
        if text in keys:
            return True
        hay = f"{action.id} {action.label} {action.help}".casefold()
        return all(word in hay for word in text.casefold().split())


def _here(here: bool) -> str:
    return t("screen.help.here") if here else ""
