"""Connect an agent: what would be written into its settings, then, on a key, the writing or the exact removal."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from textual import on
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from engine.model.errors import MemdeckError
from tui.connecting import AGENTS, connect
from tui.deck import DeckScreen
from tui.errors import explain
from tui.i18n import t
from tui.modals.dialogs import ConfirmDialog
from tui.text import visible_block
from tui.widgets.row_table import Cell, RowTable

_LOOKS = {"+": "$success", "-": "$error", "@": "$accent"}


class AgentTable(RowTable[tuple[int, str]]):
    """The agents by the line."""

    def row_id(self, row: tuple[int, str]) -> int:
        """Return the agent's place."""
        return row[0]

    def cells(self, row: tuple[int, str]) -> Sequence[Cell]:
        """Return the agent's name."""
        return (Cell(row[1], 0),)


class ConnectScreen(DeckScreen):
    """Agents on the left, the difference that connecting would make on the right."""

    NAME = "connect"
    TAB = "settings"

    def body(self) -> Iterable[Widget]:
        """Return title, agents and difference."""
        yield Static(t("screen.connect.title"), id="title", markup=False)
        with Container(id="main"):
            yield AgentTable(id="agents")
            with VerticalScroll(id="changes", can_focus=False):
                yield Static(id="change-text")
        yield Static(t("screen.connect.note"), id="note", markup=False)

    def on_mount(self) -> None:
        """Begin in the list."""
        self.table.show(array("q", range(len(AGENTS))))
        self.table.focus()

    @on(RowTable.RowsWanted)
    def _rows_wanted(self, wanted: RowTable.RowsWanted) -> None:
        self.table.fill(wanted, [(id, AGENTS[id]) for id in wanted.ids])

    @property
    def _agent(self) -> str:
        return AGENTS[self.table.cursor]

    @on(RowTable.CursorMoved)
    def _cursor_moved(self) -> None:
        store, agent = self.deck.engine.store_dir, self._agent
        self._show(t("screen.connect.looking"))
        self.read("plan", lambda: connect(store, agent, "--dry-run"), self._show, self._refused)
        self.show_keys()

    def _show(self, text: str) -> None:
        lines = [Content.styled(line, _LOOKS.get(line[:1], "")) for line in visible_block(text).split("\n")]
        self.query_one("#change-text", Static).update(Content("\n").join(lines))

    def _refused(self, error: MemdeckError) -> None:
        self._show(explain(error))

    def do_list_open(self) -> None:
        """Connect the agent."""
        self.action_act("connect.write")

    def do_connect_write(self) -> None:
        """Write the entry into the agent's settings, after a question."""
        self._ask("screen.connect.ask")

    def do_connect_remove(self) -> None:
        """Take the entry out again, after a question."""
        self._ask("screen.connect.ask_remove", "--remove")

    def _ask(self, question: str, *options: str) -> None:
        store, agent = self.deck.engine.store_dir, self._agent

        def run(sure: bool | None) -> None:
            if sure:
                self._show(t("screen.connect.looking"))
                self.write(lambda: connect(store, agent, *options), self._show, self._refused)

        self.app.push_screen(ConfirmDialog(t(question, agent=agent)), run)
