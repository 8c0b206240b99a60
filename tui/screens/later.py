"""The tabs whose rooms stand empty in this version, which they say plainly."""

from __future__ import annotations

from collections.abc import Iterable

from textual.widget import Widget
from textual.widgets import Static

from tui.deck import DeckScreen
from tui.i18n import t


class EmptyScreen(DeckScreen):
    """Says what will stand here, and what helps until then."""

    def body(self) -> Iterable[Widget]:
        """Return three sentences."""
        yield Static(t(f"screen.{self.NAME}.title"), id="title", markup=False)
        text = f"{t(f'screen.{self.NAME}.empty')}\n\n{t(f'screen.{self.NAME}.meanwhile')}"
        yield Static(text, id="empty", markup=False)


class PlaybookScreen(EmptyScreen):
    """The playbook tab."""

    NAME = "playbook"
    TAB = "playbook"


class TasksScreen(EmptyScreen):
    """The tasks tab."""

    NAME = "tasks"
    TAB = "tasks"
