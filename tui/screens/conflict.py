"""A write conflict: somebody changed the memory meanwhile; base, theirs and yours by field, one result (R13)."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from textual import on
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from engine.model.errors import MemdeckError
from engine.model.memory import Memory, WriteResult
from tui import fields
from tui.deck import OWNER, DeckScreen
from tui.diff import difference
from tui.fields import Merged
from tui.i18n import t
from tui.text import visible, visible_block
from tui.widgets.bars import StatusLine
from tui.widgets.row_table import Cell, RowTable


class FieldTable(RowTable[tuple[int, Merged]]):
    """Changed fields by the line, with the side that is taken."""

    def row_id(self, row: tuple[int, Merged]) -> int:
        """Return the field's place."""
        return row[0]

    def cells(self, row: tuple[int, Merged]) -> Sequence[Cell]:
        """Return the field, what is taken, and the text that results."""
        merged = row[1]
        look = {"": "row--bad", "yours": "row--good", "theirs": "row--accent"}[merged.side]
        word = t(f"screen.conflict.side.{merged.side or 'open'}")
        return (
            Cell(t(f"screen.field.{merged.field}"), 12),
            Cell(word + " ", 14, look),
            Cell(merged.result if merged.side else "", 0, "row--dim"),
        )


class ConflictScreen(DeckScreen):
    """Takes a side for every field; saving compares the revision again."""

    NAME = "conflict"
    TAB = "memories"

    def __init__(
        self, base: Memory, theirs: Memory, yours: Mapping[str, str], saved: Callable[[WriteResult], None]
    ) -> None:
        super().__init__()
        self._theirs = theirs
        self._saved = saved
        self._rows = fields.three_way(base, theirs, yours)

    def body(self) -> Iterable[Widget]:
        """Return what happened, the fields, and the three texts of the chosen one."""
        who, revision = self._theirs.actor, self._theirs.revision
        title = t("screen.conflict.title", who=visible(who), revision=revision)
        yield Static(title, id="title", markup=False)
        with Container(id="main"):
            yield FieldTable(id="conflict-fields")
            with VerticalScroll(id="changes", can_focus=False):
                yield Static(id="change-text")

    def on_mount(self) -> None:
        """Begin at the first undecided field."""
        self._show()
        undecided = [index for index, row in enumerate(self._rows) if not row.side]
        self.table.cursor = undecided[0] if undecided else 0
        self.table.focus()

    def _show(self) -> None:
        self.table.show(array("q", range(len(self._rows))))
        left = sum(not row.side for row in self._rows)
        self.query_one(StatusLine).place(t("screen.conflict.left", n=left))

    @on(RowTable.RowsWanted)
    def _rows_wanted(self, wanted: RowTable.RowsWanted) -> None:
        self.table.fill(wanted, [(id, self._rows[id]) for id in wanted.ids])

    @on(RowTable.CursorMoved)
    def _cursor_moved(self) -> None:
        if (at := self.table.current_id) is None:
            return
        row = self._rows[at]
        parts = (("base", Content(visible_block(row.base))), ("theirs", difference(row.base, row.theirs)),
                 ("yours", difference(row.base, row.yours)))  # fmt: skip
        lines: list[Content] = []
        for side, text in parts:
            taken = " <" if row.side == side else ""
            lines += [Content.styled(t(f"screen.conflict.{side}") + taken, "bold $primary"), text, Content("")]
        self.query_one("#change-text", Static).update(Content("\n").join(lines))
        self.show_keys()

    def refusal(self, id: str) -> str:
        """Refuse to apply while a field is undecided."""
        if id == "conflict.apply" and any(not row.side for row in self._rows):
            return t("screen.conflict.undecided")
        return super().refusal(id)

    def do_conflict_yours(self) -> None:
        """Take your text of this field."""
        self._take("yours")

    def do_conflict_theirs(self) -> None:
        """Take the other text of this field."""
        self._take("theirs")

    def _take(self, side: str) -> None:
        if (at := self.table.current_id) is not None:
            self._rows[at] = replace(self._rows[at], side=side)
            self._show()

    def do_conflict_apply(self) -> None:
        """Save the result over their revision."""
        texts = {row.field: row.result for row in self._rows}
        theirs = self._theirs
        try:
            changes = fields.changes(theirs, texts, self.deck.engine.now_ms())
        except MemdeckError as error:
            self.deck.fail(error)
            return
        if not changes:
            self.deck.say(t("screen.conflict.theirs_kept"))
            self.deck.leave(self)
            return
        self.write(lambda: self.deck.engine.edit(OWNER, theirs.ref, changes), self._applied, self._refused)

    def _applied(self, result: WriteResult) -> None:
        self.deck.leave(self)
        self._saved(result)

    def _refused(self, error: MemdeckError) -> None:
        newer = error.params.get("theirs")
        if error.code == "stale_revision" and isinstance(newer, Memory):
            yours = {row.field: row.result for row in self._rows}
            self._rows = fields.three_way(self._theirs, newer, yours)
            self._theirs = newer
            self._show()
            self.deck.say(t("screen.conflict.again"), severity="warning")
        else:
            self.deck.fail(error)
