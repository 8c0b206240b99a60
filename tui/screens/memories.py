"""The memories tab: every memory of the store in one list, narrowed as you type, with a preview beside it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from textual import on
from textual.containers import Container
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from engine.model.memory import Filter, Memory
from engine.model.records import Named
from tui import chips
from tui.actions import ACTIONS, shown_key
from tui.asking import Asking
from tui.deck import OWNER
from tui.i18n import t
from tui.modals.dialogs import ChooseDialog
from tui.text import visible
from tui.timetravel import TimeTravel
from tui.verbs import MemoryVerbs
from tui.widgets.bars import StatusLine
from tui.widgets.card import MemoryCard
from tui.widgets.memory_table import MemoryTable
from tui.widgets.row_table import RowTable
from tui.widgets.time_bar import TimeBar

ORDERS = ("newest", "oldest", "changed", "name")
TYPING_PAUSE = 0.1
"""Seconds without a key before the filter is asked."""

PREVIEW_PAUSE = 0.05
"""Seconds that the cursor rests before the preview is asked."""

WRITERS_OF = 1000
"""Memories that are looked at for the names of writers, spread over the whole list."""

SIZES = (30, 40, 50, 60, 70)
"""Shares of the window in percent that the preview can take."""


class MemoriesScreen(Asking, TimeTravel, MemoryVerbs):
    """List, filter, chips, questions, preview and all verbs on memories."""

    NAME = "memories"
    TAB = "memories"

    def __init__(self) -> None:
        super().__init__()
        state = self.deck.state
        self.filter = chips.from_state(state.get("filter", {}))
        self.order = state.get("order", ORDERS[0])
        self._pause: Timer | None = None
        self._rest: Timer | None = None

    def body(self) -> Iterable[Widget]:
        """Return filter line, chips, list and preview."""
        yield Static(id="past", markup=False)
        yield Input(
            self.filter.text,
            placeholder=t("app.filter.placeholder"),
            id="filter",
            select_on_focus=False,
            max_length=500,
        )
        yield Static(id="chips", markup=False)
        with Container(id="main"):
            yield MemoryTable(id="memories")
            yield MemoryCard(id="preview")
            yield Static(id="welcome", markup=False)
        yield TimeBar()

    def on_mount(self) -> None:
        """Begin with the list in focus."""
        self.query_one("#filter").display = bool(self.filter.text)
        self.query_one("#preview").display = self.deck.state.get("preview", True)
        self._resize_preview(0)
        for id in ("#welcome", "#time-bar"):
            self.query_one(id).display = False
        self.show_moment()
        self.table.focus()

    @property
    def table(self) -> MemoryTable:
        """The list."""
        return self.query_one("#memories", MemoryTable)

    # -- reading ---------------------------------------------------------------------------------------------------

    def reload(self) -> None:
        """Ask for the ids again."""
        if self.question:
            self.ask(self._listed)
            return
        flt, as_of, order = self.filter, self.deck.as_of, self.order
        self.read("ids", lambda: self.deck.engine.memory_ids(OWNER, flt, as_of=as_of, order=order), self._listed)

    def _listed(self, ids: array[int]) -> None:
        line = self.query_one("#chips", Static)
        text = " · ".join(part for part in (self.asked(), chips.describe(self.filter)) if part)
        line.update(text)
        line.display = bool(text)
        keep = self.wanted or self.table.current_id or self.deck.state.get("cursor", 0)
        self.wanted = None
        self.table.show(ids, keep=keep or None)
        self._welcome(not ids and not self.question and self.filter == Filter() and self.deck.as_of.is_now)
        self.place()

    @on(RowTable.RowsWanted)
    def _rows_wanted(self, wanted: RowTable.RowsWanted) -> None:
        as_of = self.deck.as_of
        self.read(
            f"rows {wanted.page}",
            lambda: self.deck.engine.memory_rows(OWNER, wanted.ids, as_of=as_of),
            partial(self.table.fill, wanted),
        )

    @on(RowTable.CursorMoved)
    def _cursor_moved(self) -> None:
        self.place()
        if self._rest is not None:
            self._rest.stop()
        if self.query_one("#preview").display:
            self._rest = self.set_timer(PREVIEW_PAUSE, self._preview)

    def _preview(self) -> None:
        id, as_of = self.table.current_id, self.deck.as_of
        if id is None:
            self.query_one(MemoryCard).show(None)
            return
        self.read(
            "preview",
            lambda: self.deck.engine.memory_rows(OWNER, [id], as_of=as_of, bodies=True),
            lambda rows: self.query_one(MemoryCard).show(rows[0] if rows else None, *self.answer(id)),
        )

    @on(RowTable.MarksChanged)
    def place(self) -> None:
        """Say which row of how many this is, and how many are marked."""
        table = self.table
        at = table.cursor + 1 if table.ids else 0
        text = t("app.place", at=at, of=len(table.ids))
        if table.marks:
            text = t("app.marked", n=len(table.marks)) + " · " + text
        if self.order != ORDERS[0] and not self.question:
            text = t(f"app.order.{self.order}") + " · " + text
        self.query_one(StatusLine).place(text)
        if table.current_id is not None:
            self.deck.state.set("cursor", table.current_id)
        self.show_keys()

    # -- what the verbs aim at -------------------------------------------------------------------------------------

    def targets(self) -> Sequence[int]:
        """Return the marked memories, or the one under the cursor."""
        if self.table.marks:
            return sorted(self.table.marks)
        return [] if self.table.current_id is None else [self.table.current_id]

    def current_id(self) -> int | None:
        """Return the number under the cursor."""
        return self.table.current_id

    def acted(self) -> None:
        """Unmark what was acted on."""
        self.table.clear_marks()

    def do_list_open(self) -> None:
        """Open the memory with its history."""
        if self.table.current_id is not None:
            self.deck.open_memory(self.table.current_id)

    def listed_filter(self) -> Filter:
        """Return what the list is narrowed to."""
        return self.filter

    # -- filter and chips ------------------------------------------------------------------------------------------

    def do_browse_filter(self) -> None:
        """Type to narrow the list."""
        line = self.query_one("#filter", Input)
        line.display = True
        line.focus()

    @on(Input.Changed, "#filter")
    def _typed(self, event: Input.Changed) -> None:
        if self._pause is not None:
            self._pause.stop()
        self._pause = self.set_timer(TYPING_PAUSE, partial(self.narrow, text=event.value.strip()))

    @on(Input.Submitted, "#filter")
    def _kept(self, event: Input.Submitted) -> None:
        event.input.display = bool(event.value)
        self.table.focus()

    def narrow(self, **changes: object) -> None:
        """Change the filter and list again."""
        wanted = replace(self.filter, **changes)  # type: ignore[arg-type]
        if wanted != self.filter:
            self.filter = wanted
            self.deck.state.set("filter", chips.to_state(wanted))
            self.reload()

    def show_only(self, flt: Filter) -> None:
        """Replace the whole filter, as another tab asks for."""
        if self.question:
            self.end_asking()
        self.query_one("#filter", Input).value = flt.text
        self.narrow(**vars(flt))

    def do_app_back(self) -> None:
        """Undo the narrowing step by step: the filter line, then marks, then the question, then chips."""
        line = self.query_one("#filter", Input)
        if line.has_focus or line.value:
            line.value = ""
            line.display = False
            self.narrow(text="")
            self.table.focus()
        elif self.table.marks or self.table.range_from is not None:
            self.table.clear_marks()
        elif self.question:
            self.end_asking()
        elif self.filter != Filter():
            self.narrow(**vars(Filter()))

    def do_browse_chips(self) -> None:
        """Choose types, states, tags, topics and sources to list."""
        engine = self.deck.engine

        def call() -> tuple[list[Named], list[Named], list[str]]:
            ids = engine.memory_ids(OWNER)
            sample = engine.memory_rows(OWNER, ids[:: max(1, len(ids) // WRITERS_OF)])
            return engine.topics(), engine.tags(), sorted({row.actor for row in sample if row.actor})

        self.read("chips", call, self._choose_chips)

    def _choose_chips(self, known: tuple[list[Named], list[Named], list[str]]) -> None:
        topics, tags, writers = known
        options = chips.options(topics, tags, sorted({*writers, *self.filter.actors}))
        dialog = ChooseDialog(t("app.filter.chips"), options, chosen=chips.chosen(self.filter), many=True)
        self.app.push_screen(dialog, lambda ids: self.narrow(**chips.changes(ids or ())))

    def do_browse_order(self) -> None:
        """Go to the next order."""
        self.order = ORDERS[(ORDERS.index(self.order) + 1) % len(ORDERS)] if self.order in ORDERS else ORDERS[0]
        self.deck.state.set("order", self.order)
        self.reload()

    def do_browse_same(self) -> None:
        """Mark every listed memory that shares a topic, else a tag, with this one."""
        self.with_memory(self._mark_alike)

    def _mark_alike(self, row: Memory) -> None:
        if not (row.topics or row.tags):
            self.deck.say(t("app.refused.no_tags"), severity="warning")
            return
        alike = Filter(topics=row.topics) if row.topics else Filter(tags=row.tags)
        flt = replace(self.filter, topics=alike.topics, tags=alike.tags)
        self.read("same", lambda: self.deck.engine.memory_ids(OWNER, flt, as_of=self.deck.as_of), self.table.mark_ids)

    # -- preview ---------------------------------------------------------------------------------------------------

    def do_browse_preview(self) -> None:
        """Show or hide the preview."""
        pane = self.query_one("#preview")
        pane.display = not pane.display
        self.deck.state.set("preview", pane.display)
        if pane.display:
            self._preview()

    def do_browse_grow(self) -> None:
        """Give the preview more room."""
        self._resize_preview(1)

    def do_browse_shrink(self) -> None:
        """Give the list more room."""
        self._resize_preview(-1)

    def _resize_preview(self, step: int) -> None:
        at = max(0, min(self.deck.state.get("preview_size", 1) + step, len(SIZES) - 1))
        self.deck.state.set("preview_size", at)
        pane = self.query_one("#preview")
        pane.set_classes(f"-share-{SIZES[at]}")

    # -- first run -------------------------------------------------------------------------------------------------

    def _welcome(self, empty: bool) -> None:
        """Greet an empty store with three things to do, and offer what other tools hold on this machine."""
        empty = empty and not any((self.deck.counts.by_state if self.deck.counts else {}).values())
        self.query_one("#welcome").display = empty
        self.table.display = not empty
        self.query_one("#preview").display = not empty and self.deck.state.get("preview", True)
        if not empty:
            if self.focused is None:
                self.table.focus()
            return
        self.read("places", self.deck.engine.found_memories, self._greet)

    def _greet(self, places: list[Any]) -> None:
        lines = [t("screen.welcome.title"), ""]
        for action in ("browse.import", "browse.connect", "memory.new"):
            key = shown_key(self.deck.keymap.get(action, ACTIONS[action].keys)[0])
            lines += [f"  {key}   {t('screen.welcome.' + action.split('.')[1])}"]
            if action == "browse.import" and places:
                lines += [
                    f"      {t('screen.welcome.found')}",
                    *(f"        {_place(place)}" for place in places[:5]),
                ]
            lines.append("")
        self.query_one("#welcome", Static).update("\n".join(lines))

    def do_browse_import(self) -> None:
        """Import memories."""
        self.deck.ask_import()

    def do_browse_connect(self) -> None:
        """Say how to connect an agent."""
        self.deck.show_connect()


def _place(place: Any) -> str:
    return visible(t("screen.import.place", tool=place.title, n=place.files, path=place.path))
