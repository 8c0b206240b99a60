"""A list of any length drawn line by line over an array of ids; its rows are hydrated by the page on demand."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.text import clip, visible

PAGE = 128
"""Rows that are asked for at once."""

PAGES_ASKED = 40
"""Pages that count as fetched; fewer than are kept, so that a fetched page's rows are there."""

ROWS_KEPT = 48 * PAGE
"""Rows that stay in memory."""

Row = TypeVar("Row")


@dataclass(frozen=True)
class Cell:
    """A piece of a line: `width` 0 takes what is left; `look` names a component class."""

    text: str
    width: int
    look: str = ""


class RowTable(ScrollView, Generic[Row], can_focus=True, inherit_bindings=False):
    """The virtual list: subclasses say how a row looks and which number it has."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "row--plain",
        "row--cursor",
        "row--dim",
        "row--good",
        "row--warn",
        "row--bad",
        "row--accent",
        "row--marked",
    }

    cursor: reactive[int] = reactive(0, init=False)
    """The index of the line under the cursor."""

    class RowsWanted(Message):
        """Rows on or near the window are missing."""

        def __init__(self, table: RowTable[Any], page: int, ids: Sequence[int], epoch: int) -> None:
            super().__init__()
            self.table = table
            self.page = page
            self.ids = ids
            self.epoch = epoch

        @property
        def control(self) -> RowTable[Any]:
            """The table that asks."""
            return self.table

    class CursorMoved(Message):
        """Another row is under the cursor, or the same row was hydrated anew."""

        def __init__(self, table: RowTable[Any]) -> None:
            super().__init__()
            self.table = table

        @property
        def control(self) -> RowTable[Any]:
            """The table whose cursor moved."""
            return self.table

        def can_replace(self, message: Message) -> bool:
            """Only the newest move of a burst counts."""
            return isinstance(message, RowTable.CursorMoved) and message.table is self.table

    class Opened(Message):
        """The row under the cursor was clicked a second time."""

    class MarksChanged(Message):
        """Rows were marked or unmarked."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.ids: array[int] = array("q")
        self.marks: set[int] = set()
        self.range_from: int | None = None
        self._rows: OrderedDict[int, Row] = OrderedDict()
        self._asked: OrderedDict[int, None] = OrderedDict()
        self._epoch = 0
        self._strips: dict[tuple[int, int, bool], Strip] = {}

    def cells(self, row: Row) -> Sequence[Cell]:
        """Return the cells of a row's line, from left to right."""
        raise NotImplementedError

    def row_id(self, row: Row) -> int:
        """Return a row's number as it stands in `ids`."""
        raise NotImplementedError

    # -- what it shows ---------------------------------------------------------------------------------------------

    def show(self, ids: array[int], *, keep: int | None = None) -> None:
        """Show other ids; the cursor stays on the id `keep` (or its present one) if it is still there."""
        wanted = self.current_id if keep is None else keep
        line = self.scroll_offset.y
        old = self.cursor
        self.ids = ids
        self.range_from = None
        self.forget_rows()
        self.virtual_size = Size(0, len(ids))
        at = _find(ids, wanted, old) if wanted is not None else 0
        moved = at - old
        self.set_reactive(RowTable.cursor, max(0, min(at, len(ids) - 1)))
        if moved and old - line < self.size.height:
            self.scroll_to(y=max(0, line + moved), animate=False)
        self._keep_in_view()
        self.row_at(self.cursor)
        self.refresh()
        self.post_message(self.CursorMoved(self))

    def forget_rows(self) -> None:
        """Ask for every visible row again; until it comes the one that is known stays on the screen."""
        self._epoch += 1
        self._asked.clear()
        self._strips.clear()
        self.refresh()

    def fill(self, wanted: RowsWanted, rows: Iterable[Row]) -> None:
        """Take the rows that `wanted` asked for."""
        for row in rows:
            self._rows[self.row_id(row)] = row
            self._rows.move_to_end(self.row_id(row))
        while len(self._rows) > ROWS_KEPT:
            self._rows.popitem(last=False)
        self._strips.clear()
        self.refresh()
        if wanted.epoch == self._epoch and self.cursor // PAGE == wanted.page:
            self.post_message(self.CursorMoved(self))

    def row_at(self, index: int) -> Row | None:
        """Return the hydrated row of a line; its page is asked for once, None stands for it until it comes."""
        if not 0 <= index < len(self.ids):
            return None
        page = index // PAGE
        row = self._rows.get(self.ids[index])
        if page not in self._asked:
            self._asked[page] = None
            if len(self._asked) > PAGES_ASKED:
                self._asked.popitem(last=False)
            ids = list(self.ids[page * PAGE : (page + 1) * PAGE])
            self.post_message(self.RowsWanted(self, page, ids, self._epoch))
        return row

    @property
    def current_id(self) -> int | None:
        """The id under the cursor; None in an empty list."""
        return self.ids[self.cursor] if self.cursor < len(self.ids) else None

    @property
    def current(self) -> Row | None:
        """The hydrated row under the cursor."""
        return self.row_at(self.cursor)

    # -- marks -----------------------------------------------------------------------------------------------------

    def toggle_mark(self) -> None:
        """Mark or unmark the row under the cursor and go to the next one."""
        if self.current_id is not None:
            self.marks ^= {self.current_id}
            self._marks_changed()
            self.cursor += 1

    def mark_range(self) -> None:
        """Begin a range here, or mark every row from its beginning to the cursor."""
        if self.range_from is None:
            self.range_from = self.cursor
        else:
            first, last = sorted((self.range_from, self.cursor))
            self.marks |= set(self.ids[first : last + 1])
            self.range_from = None
        self._marks_changed()

    def mark_ids(self, ids: Iterable[int]) -> None:
        """Mark these ids as well."""
        self.marks |= set(ids)
        self._marks_changed()

    def clear_marks(self) -> None:
        """Unmark everything and give up a begun range."""
        self.marks.clear()
        self.range_from = None
        self._marks_changed()

    def _marks_changed(self) -> None:
        self._strips.clear()
        self.refresh()
        self.post_message(self.MarksChanged())

    # -- cursor ----------------------------------------------------------------------------------------------------

    def validate_cursor(self, cursor: int) -> int:
        """Keep the cursor on a line that exists."""
        return max(0, min(cursor, len(self.ids) - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        """Repaint the two lines and keep the cursor in the window."""
        for index in (old, new):
            self.refresh(Region(0, index - self.scroll_offset.y, self.size.width, 1))
        if self.range_from is not None:
            self._strips.clear()
            self.refresh()
        self._keep_in_view()
        self.row_at(new)
        self.post_message(self.CursorMoved(self))

    def page_rows(self) -> int:
        """Return how many lines a page key moves."""
        return max(1, self.size.height - 1)

    def _keep_in_view(self) -> None:
        top, height = self.scroll_offset.y, max(1, self.size.height)
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False)
        elif self.cursor >= top + height:
            self.scroll_to(y=self.cursor - height + 1, animate=False)

    def on_resize(self) -> None:
        """Keep the cursor's line visible in the new height."""
        self._strips.clear()
        self._keep_in_view()

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the clicked line; a second click opens it."""
        index = self.scroll_offset.y + event.y
        if index >= len(self.ids):
            return
        if event.chain > 1 and index == self.cursor:
            self.post_message(self.Opened())
        self.cursor = index

    # -- drawing ---------------------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """Draw one line of the window."""
        index = self.scroll_offset.y + y
        width = self.scrollable_content_region.width
        base = self._look("row--plain")
        if index >= len(self.ids):
            return Strip.blank(width, base)
        here = index == self.cursor
        row = self.row_at(index)
        if row is None:
            return Strip([Segment(clip("  ...", width), base + self._look("row--dim"))], width)
        key = (index, width, here and self.has_focus)
        if here or key not in self._strips:
            strip = self._draw(row, index, width, here, base)
            if here:
                return strip
            if len(self._strips) > 512:
                self._strips.clear()
            self._strips[key] = strip
        return self._strips[key]

    def _draw(self, row: Row, index: int, width: int, here: bool, base: Style) -> Strip:
        number = self.row_id(row)
        marked = number in self.marks or self._in_range(index)
        cells = [Cell(">" if here else " ", 1), Cell("*" if marked else " ", 1, "row--marked"), *self.cells(row)]
        rest = max(0, width - sum(cell.width for cell in cells))
        segments: list[Segment] = []
        for cell in cells:
            style = base + self._look(cell.look) if cell.look else base
            if marked:
                style += self._look("row--marked")
            if here:
                style += self._look("row--cursor")
            segments.append(Segment(clip(visible(cell.text), cell.width or rest), style))
        return Strip(segments).adjust_cell_length(width, base)

    def _in_range(self, index: int) -> bool:
        if self.range_from is None:
            return False
        first, last = sorted((self.range_from, self.cursor))
        return first <= index <= last

    def _look(self, name: str) -> Style:
        return self.get_component_rich_style(name, partial=name != "row--plain")


def _find(ids: array[int], wanted: int, near: int) -> int:
    """Return where `wanted` stands in `ids`, looking around `near` first; `near` when it is gone."""
    for index in range(max(0, near - 64), min(len(ids), near + 64)):
        if ids[index] == wanted:
            return index
    try:
        return ids.index(wanted)
    except ValueError:
        return near
