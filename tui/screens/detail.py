"""One memory with all its versions, what changed in each, who wrote it, and its operations."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from textual import on
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from engine.model.memory import Memory
from engine.model.records import Operation
from tui.deck import OWNER
from tui.diff import difference
from tui.fields import FIELDS, as_text
from tui.i18n import t
from tui.text import moment, visible
from tui.verbs import MemoryVerbs
from tui.widgets.bars import StatusLine
from tui.widgets.card import card
from tui.widgets.row_table import Cell, RowTable
from tui.words import door, operation_word


class VersionTable(RowTable[Memory]):
    """Versions by the line, newest first."""

    def row_id(self, row: Memory) -> int:
        """Return the version's revision."""
        return row.revision

    def cells(self, row: Memory) -> Sequence[Cell]:
        """Return revision, when it became known, who wrote it, its text."""
        look = "" if row.known_to is None else "row--dim"
        return (
            Cell(f"@{row.revision} ", 5, "row--accent"),
            Cell(moment(row.known_from_ms) + " ", 17, "row--dim"),
            Cell((row.actor or door(row.origin)) + " ", 13, "row--dim"),
            Cell(row.description, 0, look),
        )


class DetailScreen(MemoryVerbs):
    """Versions on the left; the chosen one on the right with its differences to the one before."""

    NAME = "detail"
    TAB = "memories"

    def __init__(self, id: int) -> None:
        super().__init__()
        self._number = id
        self._versions: dict[int, Memory] = {}
        self._operations: list[Operation] = []

    def body(self) -> Iterable[Widget]:
        """Return title, versions and the chosen version."""
        yield Static(t("screen.detail.title", ref=f"mem-{self._number}"), id="title", markup=False)
        with Container(id="main"):
            yield VersionTable(id="versions")
            with VerticalScroll(id="changes", can_focus=False):
                yield Static(id="change-text")

    def on_mount(self) -> None:
        """Begin in the list of versions."""
        self.table.focus()

    def reload(self) -> None:
        """Read all versions and the operations that touched the memory."""
        engine, ref = self.deck.engine, f"mem-{self._number}"
        self.read("history", lambda: (engine.history(OWNER, ref), engine.log(memory=self._number)), self._take)

    def _take(self, found: tuple[list[Memory], list[Operation]]) -> None:
        versions, self._operations = found
        newest_before = max(self._versions, default=0)
        self._versions = {version.revision: version for version in versions}
        newest = max(self._versions, default=0)
        self.table.show(
            array("q", sorted(self._versions, reverse=True)), keep=newest if newest != newest_before else None
        )
        self.query_one(StatusLine).place(t("screen.detail.versions", n=len(versions)))

    @on(RowTable.RowsWanted)
    def _rows_wanted(self, wanted: RowTable.RowsWanted) -> None:
        self.table.fill(wanted, [self._versions[id] for id in wanted.ids if id in self._versions])

    @on(RowTable.CursorMoved)
    def _cursor_moved(self) -> None:
        version = self._versions.get(self.table.current_id or 0)
        if version is None:
            return
        lines = [card(version)]
        if before := self._versions.get(version.revision - 1):
            lines += [Content(""), *_changes(before, version)]
        lines += [Content(""), Content.styled(t("screen.detail.operations"), "bold $primary")]
        lines += [_operation(operation) for operation in self._operations]
        self.query_one("#change-text", Static).update(Content("\n").join(lines))
        self.show_keys()

    def targets(self) -> Sequence[int]:
        """Return the one memory that is shown."""
        return [self._number]

    def current_id(self) -> int | None:
        """Return its number: verbs act on its newest version, whichever is shown."""
        return self._number

    def do_detail_older(self) -> None:
        """Show the version before."""
        self.table.cursor += 1

    def do_detail_newer(self) -> None:
        """Show the version after."""
        self.table.cursor -= 1


def _changes(before: Memory, after: Memory) -> list[Content]:
    """Return a title and each changed field with its difference."""
    lines = [Content.styled(t("screen.detail.changed", before=before.revision, after=after.revision), "bold $primary")]
    for field in FIELDS:
        was, now = as_text(before, field), as_text(after, field)
        if was != now:
            lines.append(Content.assemble((t(f"screen.field.{field}") + "  ", "$text-muted"), difference(was, now)))
    return lines


def _operation(operation: Operation) -> Content:
    who = operation.actor or door(operation.origin)
    undone = f" ({t('app.journal.undone')})" if operation.undone_by else ""
    text = f"{moment(operation.at_ms)}  {operation_word(operation.kind)} · {who}{undone}"
    reason = f" · {operation.reason}" if operation.reason else ""
    return Content.assemble((f"{operation.op:>6}  ", "$accent"), visible(text + reason))
