"""Two moments compared: which memories came, went or changed between them."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from textual import on
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from engine.model.enums import State
from engine.model.memory import AsOf, Filter, Memory
from tui.deck import OWNER, DeckScreen
from tui.diff import difference
from tui.fields import FIELDS, as_text
from tui.i18n import t
from tui.text import moment
from tui.widgets.card import card
from tui.widgets.row_table import Cell, RowTable

MOST = 5000
"""Memories of either moment that are compared field by field."""

_LOOKS = {"+": "row--good", "-": "row--bad", "~": "row--warn"}


@dataclass(frozen=True)
class Pair:
    """A memory at both moments; None where it was not there."""

    before: Memory | None
    after: Memory | None

    @property
    def sign(self) -> str:
        """Return + come, - gone, ~ changed."""
        return "~" if self.before and self.after else "+" if self.after else "-"

    @property
    def memory(self) -> Memory:
        """Return the memory as it is at the later moment where it was."""
        found = self.after or self.before
        assert found is not None, "a pair has a side"
        return found


class PairTable(RowTable[Pair]):
    """Differences by the line."""

    def row_id(self, row: Pair) -> int:
        """Return the memory's number."""
        return row.memory.id

    def cells(self, row: Pair) -> Sequence[Cell]:
        """Return the sign, the reference and the text."""
        look = _LOOKS[row.sign]
        return (
            Cell(row.sign, 2, look),
            Cell(f"mem-{row.memory.id} ", 12, "row--accent"),
            Cell(row.memory.description, 0),
        )


class DifferenceScreen(DeckScreen):
    """The list of differences with one shown in full."""

    NAME = "difference"
    TAB = "memories"

    def __init__(self, before: AsOf, after: AsOf, flt: Filter) -> None:
        super().__init__()
        self._moments = (before, after)
        self._filter = flt
        self._pairs: dict[int, Pair] = {}

    def body(self) -> Iterable[Widget]:
        """Return title, list and one difference."""
        yield Static(id="title", markup=False)
        with Container(id="main"):
            yield PairTable(id="pairs")
            with VerticalScroll(id="changes", can_focus=False):
                yield Static(id="change-text")

    def on_mount(self) -> None:
        """Begin in the list."""
        self.table.focus()

    def reload(self) -> None:
        """Compare again."""
        engine = self.deck.engine
        flt = self._filter if self._filter.states else replace(self._filter, states=(State.ACTIVE, State.SUPERSEDED))

        def call() -> list[Pair]:
            sides: list[dict[int, Memory]] = []
            for moment_ in self._moments:
                as_of = AsOf(valid_ms=engine.now_ms()) if moment_.is_now else moment_
                ids = engine.memory_ids(OWNER, flt, as_of=as_of)[:MOST]
                sides.append({row.id: row for row in engine.memory_rows(OWNER, ids, as_of=as_of)})
            before, after = sides
            pairs = [Pair(before.get(id), after.get(id)) for id in sorted(before.keys() | after.keys(), reverse=True)]
            return [pair for pair in pairs if _differs(pair)]

        self.read("difference", call, self._take)

    def _take(self, pairs: list[Pair]) -> None:
        self._pairs = {pair.memory.id: pair for pair in pairs}
        signs = [pair.sign for pair in pairs]
        from_, to = (moment(as_of.valid_ms) or t("screen.time.now") for as_of in self._moments)
        title = t(
            "screen.difference.title", from_=from_, to=to, added=signs.count("+"), gone=signs.count("-"),
            changed=signs.count("~"),
        )  # fmt: skip
        self.query_one("#title", Static).update(title)
        self.table.show(array("q", self._pairs))

    @on(RowTable.RowsWanted)
    def _rows_wanted(self, wanted: RowTable.RowsWanted) -> None:
        self.table.fill(wanted, [self._pairs[id] for id in wanted.ids if id in self._pairs])

    @on(RowTable.CursorMoved)
    def _cursor_moved(self) -> None:
        pair = self._pairs.get(self.table.current_id or 0)
        text = t("screen.difference.none") if pair is None else _shown(pair)
        self.query_one("#change-text", Static).update(text)

    def do_list_open(self) -> None:
        """Open the memory with its history."""
        if (id := self.table.current_id) is not None:
            self.deck.open_memory(id)


def _differs(pair: Pair) -> bool:
    if pair.before is None or pair.after is None:
        return True
    return pair.before.revision != pair.after.revision or pair.before.state is not pair.after.state


def _shown(pair: Pair) -> Content:
    lines = [card(pair.memory)]
    if pair.before and pair.after:
        for field in FIELDS:
            was, now = as_text(pair.before, field), as_text(pair.after, field)
            if was != now and field != "body":
                lines.append(Content.assemble((t(f"screen.field.{field}") + "  ", "$text-muted"), difference(was, now)))
    return Content("\n").join(lines)
