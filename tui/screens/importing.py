"""An import: first the dry run with every remark, then, on a key, the writing, which is one undo."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from textual import on
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from engine.model.errors import MemdeckError
from engine.model.records import ImportReport
from tui.deck import OWNER, DeckScreen
from tui.i18n import t
from tui.text import visible
from tui.widgets.bars import StatusLine
from tui.widgets.row_table import Cell, RowTable


class RemarkTable(RowTable[tuple[int, tuple[str, int, str, str]]]):
    """What the import met, by the line: file, line, kind, message."""

    def row_id(self, row: tuple[int, tuple[str, int, str, str]]) -> int:
        """Return the remark's place."""
        return row[0]

    def cells(self, row: tuple[int, tuple[str, int, str, str]]) -> Sequence[Cell]:
        """Return kind, file with line, message."""
        file, line, kind, message = row[1]
        where = f"{file}:{line}" if line else file
        return (Cell(kind + " ", 16, "row--warn"), Cell(where + " ", 30, "row--accent"), Cell(message, 0))


class ImportScreen(DeckScreen):
    """Reads a path in a thread, shows what would come in, and writes it when asked."""

    NAME = "import"
    TAB = "settings"

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._plan: Any = None
        self._remarks: list[tuple[str, int, str, str]] = []
        self._state = "reading"
        self._progress = (0, 0)

    def body(self) -> Iterable[Widget]:
        """Return title, remarks and the summary."""
        yield Static(visible(t("screen.import.reading", path=self._path)), id="title", markup=False)
        with Container(id="main"):
            yield RemarkTable(id="remarks")
            with VerticalScroll(id="changes", can_focus=False):
                yield Static(id="change-text")

    def on_mount(self) -> None:
        """Begin to read."""
        self.table.focus()
        self.set_interval(0.2, self._show_progress)
        engine, path = self.deck.engine, self._path

        def call() -> tuple[Any, ImportReport]:
            plan = engine.plan_import(path, progress=self._note)
            return plan, engine.run_import(OWNER, plan, dry_run=True, progress=self._note)

        self.read("plan", call, self._planned, self._failed)

    def _note(self, done: int, of: int) -> None:
        """Note the progress; called in the reading thread."""
        self._progress = (done, of)

    def _show_progress(self) -> None:
        if self._state in ("reading", "writing") and self._progress[1]:
            done, of = self._progress
            self.query_one(StatusLine).place(t("screen.import.progress", done=done, all=of))

    def _failed(self, error: MemdeckError) -> None:
        self._state = "failed"
        self.deck.fail(error)
        self.deck.leave(self)

    def _planned(self, found: tuple[Any, ImportReport]) -> None:
        plan, report = found
        self._plan = plan
        self._state = "planned" if plan.memories else "nothing"
        self._remarks = [
            (str(p["file"]), int(str(p["line"])), str(p["kind"]), str(p["message"])) for p in report.problems
        ]
        self.table.show(array("q", range(len(self._remarks))))
        self.query_one("#title", Static).update(visible(t("screen.import.title", path=self._path)))
        summary = t("screen.import.summary", files=plan.files, memories=len(plan.memories), problems=len(self._remarks))
        self.query_one(StatusLine).place(summary)
        lines = [Content.styled(f"{plan.format}", "bold $accent"), Content(summary), Content("")]
        counted = {t(f"cli.import.{name}"): number for name, number in report.counted().items() if number}
        for key, counts in (("states", counted), ("types", report.by_type)):
            lines.append(Content.styled(t(f"screen.import.{key}"), "bold $primary"))
            lines += [Content(f"{number:>7}  {name}") for name, number in counts.items()]
        if not plan.memories:
            lines.append(Content(t("screen.import.nothing")))
        self.query_one("#change-text", Static).update(Content("\n").join(lines))
        self.show_keys()

    @on(RowTable.RowsWanted)
    def _rows_wanted(self, wanted: RowTable.RowsWanted) -> None:
        self.table.fill(wanted, [(id, self._remarks[id]) for id in wanted.ids if id < len(self._remarks)])

    def refusal(self, id: str) -> str:
        """Refuse to write before the plan stands, twice, or nothing."""
        if id == "import.run" and self._state != "planned":
            return t(
                {"done": "screen.import.finished", "nothing": "screen.import.nothing"}.get(
                    self._state, "screen.import.wait"
                )
            )
        return super().refusal(id)

    def do_import_run(self) -> None:
        """Write what the dry run showed."""
        plan = self._plan
        if plan is None:
            return
        self._state, self._progress = "writing", (0, 0)
        self.query_one("#title", Static).update(t("screen.import.running"))
        self.write(lambda: self.deck.engine.run_import(OWNER, plan, progress=self._note), self._done, self._failed)

    def _done(self, report: ImportReport) -> None:
        self._state = "done"
        text = t(
            "screen.import.done", created=report.created, updated=report.updated, unchanged=report.unchanged,
            held=report.held_back, quarantined=report.quarantined, blocked=report.blocked,
        )  # fmt: skip
        self.query_one("#title", Static).update(text)
        self.deck.say(f"{text} · {t('screen.import.undo_run')}")
        self.show_keys()
