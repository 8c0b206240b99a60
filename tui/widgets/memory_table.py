"""The list of memories: state, type, text, tags, who wrote it and when (C56)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.model.enums import State
from engine.model.memory import Memory
from tui.i18n import t
from tui.text import day
from tui.widgets.row_table import Cell, RowTable

STATE_GLYPH = {
    State.ACTIVE: (" ", ""),
    State.QUARANTINED: ("?", "row--warn"),
    State.SUPERSEDED: ("<", "row--dim"),
    State.MERGED: ("&", "row--dim"),
    State.ARCHIVED: ("x", "row--dim"),
    State.DELETED: ("-", "row--bad"),
}
"""One ASCII letter per state, so that nothing rests on colour alone and every terminal agrees on the width."""


class MemoryTable(RowTable[Memory]):
    """Memories by the line; wide windows show who wrote each and its tags."""

    def row_id(self, row: Memory) -> int:
        """Return the memory's number."""
        return row.id

    def cells(self, row: Memory) -> Sequence[Cell]:
        """Return state, type, text, tags, writer and date, as far as the width allows."""
        width = self.size.width
        glyph, look = STATE_GLYPH[row.state]
        if row.conflict:
            glyph, look = "!", "row--bad"
        current = look if row.state is not State.ACTIVE else ""
        cells = [
            Cell(glyph, 2, look),
            Cell(t(f"app.type.{row.type.value}") if row.type else "", 10, "row--accent"),
            Cell(flags(row)[:4], 5, "row--warn"),
            Cell(row.description, 0, current),
        ]
        if width >= 96:
            cells.append(Cell(" " + " ".join(f"#{tag}" for tag in row.tags), width // 5, "row--dim"))
        if width >= 60:
            cells.append(Cell(" " + (row.actor or t(f"app.origin.{row.origin.value}")), 13, "row--dim"))
        if width >= 40:
            cells.append(Cell(" " + day(row.recorded_ms), 11, "row--dim"))
        return cells


def flags(row: Memory) -> str:
    """Return letters for locked, baseline, corrected by hand and guessed."""
    marks = ((row.locked, "L"), (row.baseline, "B"), (row.manually_corrected, "c"), (row.speculative, "g"))
    return "".join(letter for given, letter in marks if given)
