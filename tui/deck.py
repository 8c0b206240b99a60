"""What every screen shares: bars, registry-made bindings, guarded actions, engine calls, live reloading."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from textual import on
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget

from engine.model.enums import Origin
from engine.model.memory import Caller
from tui import actions
from tui.actions import ACTIONS, TABS
from tui.widgets.bars import KeyLine, StatusLine, TabBar
from tui.widgets.row_table import RowTable
from tui.work import Failed

if TYPE_CHECKING:
    from tui.app import MemdeckApp

T = TypeVar("T")

OWNER = Caller(Origin.TUI, "owner")


class DeckScreen(Screen[Any]):
    """A tab or a flow: `NAME` is its row in `actions.SCREENS`, `TAB` the tab that is lit above it."""

    AUTO_FOCUS = ""
    NAME: ClassVar[str]
    TAB: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__()
        self._stale = False
        for binding in actions.bindings(self.NAME, self.deck.keymap):
            self._bindings._add_binding(binding)

    @property
    def deck(self) -> MemdeckApp:
        """The app by its own type."""
        return cast("MemdeckApp", self.app)

    def body(self) -> Iterable[Widget]:
        """Return the widgets between the bars."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """Put the bars around the body."""
        yield TabBar(TABS, self.TAB)
        yield from self.body()
        yield StatusLine()
        yield KeyLine()

    def on_mount(self) -> None:
        """Show what the app knows already and ask for the rest."""
        self.watch(self.app, "counts", self.counts_changed)
        self.query_one(StatusLine).warn(self.deck.unwell)
        self.reload()

    def counts_changed(self) -> None:
        """Show new counts in both bars."""
        self.query_one(TabBar).show(self.deck.counts)
        self.query_one(StatusLine).show(self.deck.counts)

    # -- the live store --------------------------------------------------------------------------------------------

    def reload(self) -> None:
        """Ask the engine again for everything shown; cursor and marks stay."""

    def store_changed(self) -> None:
        """Somebody wrote: reload now if this screen is seen, else when it is next."""
        self._stale = not self.is_current
        if self.is_current:
            self.reload()

    def on_screen_resume(self) -> None:
        """Catch up with what was written while another screen was in front."""
        if self._stale:
            self._stale = False
            self.reload()
        self.show_keys()

    # -- engine calls ----------------------------------------------------------------------------------------------

    def read(self, group: str, call: Callable[[], T], then: Callable[[T], None], failed: Failed | None = None) -> None:
        """Read from the engine in a thread; a newer read of the same group replaces this one."""
        self.deck.work.read(self, group, call, then, failed)

    def write(self, call: Callable[[], T], then: Callable[[T], None], failed: Failed | None = None) -> None:
        """Write through the engine after earlier writes, then look for what changed."""

        def done(answer: T) -> None:
            then(answer)
            self.deck.look()

        self.deck.work.write(call, done, failed)

    # -- actions ---------------------------------------------------------------------------------------------------

    def refusal(self, id: str) -> str:
        """Return why an action cannot be done now; empty when it can."""
        return self.deck.refusal(id) if ACTIONS[id].writes else ""

    def action_act(self, id: str) -> None:
        """Do an action of the registry, or say why not."""
        if why := self.refusal(id):
            self.deck.say(why, severity="warning")
            return
        name = "do_" + id.replace(".", "_")
        handler = getattr(self, name, None) or getattr(self.app, name)
        handler()
        self.show_keys()

    def show_keys(self) -> None:
        """Show the screen's most useful keys, dimming what is refused now."""
        ranked = sorted((a for a in actions.on_screen(self.NAME) if a.footer), key=lambda a: -a.footer)
        keymap = self.deck.keymap
        keys = [(a.id, actions.shown_key(keymap.get(a.id, a.keys)[0]), a.label, not self.refusal(a.id)) for a in ranked]
        self.query_one(KeyLine).show(keys)

    # -- lists -----------------------------------------------------------------------------------------------------

    @property
    def table(self) -> RowTable[Any]:
        """The list that cursor keys move."""
        return self.query_one(RowTable)

    def do_list_down(self) -> None:
        """Go one row down."""
        self.table.cursor += 1

    def do_list_up(self) -> None:
        """Go one row up."""
        self.table.cursor -= 1

    def do_list_page_down(self) -> None:
        """Go one window down."""
        self.table.cursor += self.table.page_rows()

    def do_list_page_up(self) -> None:
        """Go one window up."""
        self.table.cursor -= self.table.page_rows()

    def do_list_first(self) -> None:
        """Go to the first row."""
        self.table.cursor = 0

    def do_list_last(self) -> None:
        """Go to the last row."""
        self.table.cursor = len(self.table.ids) - 1

    def do_list_pane_down(self) -> None:
        """Scroll the pane beside the list."""
        self._scroll_pane(5)

    def do_list_pane_up(self) -> None:
        """Scroll the pane back."""
        self._scroll_pane(-5)

    def _scroll_pane(self, lines: int) -> None:
        for pane in self.query("#preview, #changes"):
            pane.scroll_relative(y=lines, animate=False)

    def do_list_open(self) -> None:
        """Open the row under the cursor."""

    @on(RowTable.Opened)
    def _opened(self) -> None:
        self.action_act("list.open")

    def do_marks_toggle(self) -> None:
        """Mark or unmark the row and go on."""
        self.table.toggle_mark()

    def do_marks_range(self) -> None:
        """Begin or end a range of marks."""
        self.table.mark_range()

    def do_marks_all(self) -> None:
        """Mark everything listed."""
        self.table.mark_ids(self.table.ids)

    def do_marks_clear(self) -> None:
        """Unmark everything."""
        self.table.clear_marks()
