"""The tab of topics: every name with its count, and the memories that carry it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from textual import on
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from engine.model.memory import Filter, Memory
from engine.model.records import Named
from tui.deck import OWNER, DeckScreen
from tui.i18n import has, t
from tui.text import day, visible
from tui.widgets.bars import StatusLine
from tui.widgets.row_table import Cell, RowTable

SHOWN = 40
"""Memories that are shown beside a name; enter lists them all."""


class NamedTable(RowTable[tuple[int, Named]]):
    """Names by the line, the most used first."""

    def row_id(self, row: tuple[int, Named]) -> int:
        """Return the name's place in the whole list."""
        return row[0]

    def cells(self, row: tuple[int, Named]) -> Sequence[Cell]:
        """Return count, name, state and aliases."""
        named = row[1]
        look = "" if named.state == "active" else "row--dim"
        state = "" if named.state == "active" else _state(named.state) + " "
        also = state + ", ".join(named.aliases)
        return (
            Cell(f"{named.count:>7}  ", 9, "row--accent"),
            Cell(named.name, 0, look),
            Cell(" " + also, 16, "row--dim"),
        )


class TopicsScreen(DeckScreen):
    """Names on the left, the memories of the chosen one on the right; enter filters the memories tab by it."""

    NAME = "topics"
    TAB = "topics"

    def __init__(self) -> None:
        super().__init__()
        self._all: list[Named] = []

    def body(self) -> Iterable[Widget]:
        """Return title, the narrowing line, names and their memories."""
        yield Static(t("screen.named.topics.title"), id="title", markup=False)
        yield Input(placeholder=t("screen.named.find"), id="find")
        with Container(id="main"):
            yield NamedTable(id="names")
            with VerticalScroll(id="changes", can_focus=False):
                yield Static(id="change-text")
        yield Static(t("screen.named.topics.note"), id="note", markup=False)

    def on_mount(self) -> None:
        """Begin in the list."""
        self.query_one("#find").display = False
        self.table.focus()

    def reload(self) -> None:
        """Read the names again."""
        self.read("names", self.deck.engine.topics, self._take)

    def _take(self, names: list[Named]) -> None:
        self._all = sorted(names, key=lambda named: (-named.count, named.name))
        self._narrow(self.query_one("#find", Input).value)

    def _narrow(self, text: str) -> None:
        words = text.casefold().split()
        hits = [
            index
            for index, named in enumerate(self._all)
            if all(word in " ".join((named.name, *named.aliases)).casefold() for word in words)
        ]
        self.table.show(array("q", hits))
        self.query_one(StatusLine).place(t("screen.named.count", n=len(hits)))

    @on(Input.Changed, "#find")
    def _typed(self, event: Input.Changed) -> None:
        self._narrow(event.value)

    @on(Input.Submitted, "#find")
    def _kept(self) -> None:
        self.table.focus()

    @on(RowTable.RowsWanted)
    def _rows_wanted(self, wanted: RowTable.RowsWanted) -> None:
        self.table.fill(wanted, [(id, self._all[id]) for id in wanted.ids if id < len(self._all)])

    def _current(self) -> Named | None:
        at = self.table.current_id
        return self._all[at] if at is not None and at < len(self._all) else None

    @on(RowTable.CursorMoved)
    def _cursor_moved(self) -> None:
        named = self._current()
        if named is None:
            self.query_one("#change-text", Static).update(t("screen.named.topics.empty"))
            return
        engine, flt = self.deck.engine, Filter(topics=(named.name,))

        def call() -> tuple[int, list[Memory]]:
            ids = engine.memory_ids(OWNER, flt)
            return len(ids), engine.memory_rows(OWNER, ids[:SHOWN])

        self.read("carried", call, lambda found: self._show(named, *found))

    def _show(self, named: Named, count: int, memories: list[Memory]) -> None:
        lines = [Content.styled(visible(named.name), "bold $accent")]
        if named.aliases:
            lines.append(Content(visible(f"{t('screen.named.aliases')} {', '.join(named.aliases)}")))
        if named.description:
            lines.append(Content(visible(named.description)))
        lines += [
            Content.styled(f"{t('screen.named.carried', n=count)} · {t('screen.named.enter')}", "$text-muted"),
            Content(""),
        ]
        lines += [
            Content.assemble((day(memory.recorded_ms) + "  ", "$text-muted"), visible(memory.description))
            for memory in memories
        ]
        self.query_one("#change-text", Static).update(Content("\n").join(lines))

    def do_list_open(self) -> None:
        """List the memories of the name in their tab."""
        if (named := self._current()) is not None:
            self.deck.show_memories(Filter(topics=(named.name,)))

    def do_named_filter(self) -> None:
        """Type to narrow the names."""
        line = self.query_one("#find", Input)
        line.display = True
        line.focus()

    def do_app_back(self) -> None:
        """End the narrowing."""
        line = self.query_one("#find", Input)
        line.value = ""
        line.display = False
        self.table.focus()


def _state(state: str) -> str:
    key = f"screen.named.state.{state}"
    return t(key) if has(key) else state
