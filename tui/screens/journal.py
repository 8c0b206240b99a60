"""The journal: every operation of every door, each of which can be taken back."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from textual import on
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from engine.model.errors import MemdeckError
from engine.model.records import Change, Operation
from tui.deck import OWNER, DeckScreen
from tui.i18n import t
from tui.modals.dialogs import ConfirmDialog
from tui.text import moment, visible
from tui.widgets.bars import StatusLine
from tui.widgets.row_table import Cell, RowTable
from tui.words import door, operation_word

BATCH = 500
"""Operations that are read at once; older ones follow when the cursor comes near the end."""


class OperationTable(RowTable[Operation]):
    """Operations by the line, newest first."""

    def row_id(self, row: Operation) -> int:
        """Return the operation's number."""
        return row.op

    def cells(self, row: Operation) -> Sequence[Cell]:
        """Return number, time, what, who and whether it was undone."""
        undone = row.undone_by is not None
        who = row.actor or door(row.origin)
        return (
            Cell(f"{row.op} ", 6, "row--accent"),
            Cell(moment(row.at_ms)[2:] + " ", 15, "row--dim"),
            Cell(who + " ", 12, "row--dim"),
            Cell("<" if undone else " ", 2, "row--warn"),
            Cell(operation_word(row.kind) + " ", 11, "row--dim" if undone else "row--accent"),
            Cell(row.summary or row.reason or ", ".join(row.objects), 0, "row--dim" if undone else ""),
        )


class JournalScreen(DeckScreen):
    """All operations or only the owner's; one operation or a whole run is undone from here."""

    NAME = "journal"

    def __init__(self) -> None:
        super().__init__()
        self._operations: dict[int, Operation] = {}
        self._mine = False
        self._all_read = False

    def body(self) -> Iterable[Widget]:
        """Return the title, the list and the changes of one operation."""
        yield Static(t("app.journal.title"), id="title", markup=False)
        with Container(id="main"):
            yield OperationTable(id="operations")
            with VerticalScroll(id="changes", can_focus=False):
                yield Static(id="change-text")

    def on_mount(self) -> None:
        """Begin in the list."""
        self.table.focus()

    def reload(self) -> None:
        """Read the newest operations again."""
        self._all_read = False
        self._read(None)

    def _read(self, before: int | None) -> None:
        mine = self._mine
        self.read(
            "log",
            lambda: self.deck.engine.log(limit=BATCH, before=before, owner_only=mine),
            lambda operations: self._take(before, operations),
        )

    def _take(self, before: int | None, operations: list[Operation]) -> None:
        if before is None:
            self._operations = {}
        self._operations |= {operation.op: operation for operation in operations}
        self._all_read = len(operations) < BATCH
        self.table.show(array("q", self._operations))
        self.query_one(StatusLine).place(t("app.journal.count", n=len(self._operations)))

    @on(RowTable.RowsWanted)
    def _rows_wanted(self, wanted: RowTable.RowsWanted) -> None:
        self.table.fill(wanted, [self._operations[op] for op in wanted.ids if op in self._operations])

    @on(RowTable.CursorMoved)
    def _cursor_moved(self) -> None:
        table = self.table
        if not self._all_read and table.cursor > len(table.ids) - 50:
            self._all_read = True
            self._read(min(self._operations))
        if (op := table.current_id) is not None:
            self.read("changes", lambda: self.deck.engine.operation(op), self._show)
        else:
            self.query_one("#change-text", Static).update(t("app.journal.empty"))
        self.show_keys()

    def _show(self, found: tuple[Operation, list[Change]]) -> None:
        operation, changes = found
        lines = [
            Content.assemble((f"{t('app.journal.op')} {operation.op}", "bold $accent"), f"  {moment(operation.at_ms)}"),
            Content(visible(f"{operation_word(operation.kind)} · {operation.actor} · {door(operation.origin)}")),
        ]
        extra = (
            ("app.journal.session", operation.session),
            ("app.journal.workspace", operation.workspace),
            ("app.journal.reason", operation.reason),
            ("app.journal.run", operation.run),
            ("app.journal.undoes", operation.undoes),
            ("app.journal.undone_by", operation.undone_by),
        )
        lines += [
            Content.assemble((t(key) + "  ", "$text-muted"), visible(str(value))) for key, value in extra if value
        ]
        lines.append(Content(visible(operation.summary)))
        lines += change_lines(changes)
        self.query_one("#change-text", Static).update(Content("\n").join(lines))

    def refusal(self, id: str) -> str:
        """Refuse also to undo what is undone already."""
        if why := super().refusal(id):
            return why
        row = self.table.current if self.is_mounted else None
        if id in ("journal.undo", "journal.undo_run"):
            if row is None:
                return t("app.refused.nothing_here")
            if row.undone_by is not None:
                return t("app.refused.undone", op=row.undone_by)
            if id == "journal.undo_run" and row.run is None:
                return t("app.refused.no_run")
        return ""

    def do_journal_undo(self) -> None:
        """Take back the operation under the cursor."""
        if (op := self.table.current_id) is not None:
            self._undo(op, None)

    def do_journal_undo_run(self) -> None:
        """Take back the whole import or upkeep run."""
        row = self.table.current
        if row is not None and row.run:
            self._undo(None, row.run)

    def _undo(self, op: int | None, run: str | None, *, rest: bool = False) -> None:
        """Take back as a unit; where later changes rest on it, offer to take back the rest only."""

        def failed(error: MemdeckError) -> None:
            left = error.params.get("left")
            if not left or rest:
                self.deck.fail(error)
                return
            question = t("app.journal.rest", error=error.message)
            self.app.push_screen(
                ConfirmDialog(visible(question)), lambda sure: self._undo(op, run, rest=True) if sure else None
            )

        self.write(lambda: self.deck.engine.undo(OWNER, op, run=run, rest=rest), self.deck.undone, failed)

    def do_journal_mine(self) -> None:
        """Show only the owner's own operations, or everybody's again."""
        self._mine = not self._mine
        self.reload()


def change_lines(changes: Sequence[Change]) -> list[Content]:
    """Return the changed rows, each field that differs as `before -> after`; at most 40 rows."""
    lines: list[Content] = []
    for change in changes[:40]:
        lines += [Content(""), Content.styled(visible(f"{change.table} {change.key}"), "bold")]
        before, after = change.before or {}, change.after or {}
        for field in [*after, *(name for name in before if name not in after)]:
            was, now = before.get(field), after.get(field)
            if was == now:
                continue
            if change.before is None or was is None:
                lines.append(Content.styled(visible(f"  + {field} {_short(now)}"), "$success"))
            elif change.after is None or now is None:
                lines.append(Content.styled(visible(f"  - {field} {_short(was)}"), "$error"))
            else:
                lines.append(Content(visible(f"  {field} {_short(was)} -> {_short(now)}")))
    if len(changes) > 40:
        lines.append(Content(t("app.journal.more", n=len(changes) - 40)))
    return lines


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 200 else text[:200] + "..."
