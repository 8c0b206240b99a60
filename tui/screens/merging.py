"""Merging tags: a dry run of everything that would change, then, on a typed word, the merge and what it did."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence

from textual import on
from textual.containers import Container, VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from engine.facade import UndoResult
from engine.model.errors import MemdeckError
from engine.model.memory import Memory
from engine.model.tags import MergePlan, MergeReport
from tui.deck import OWNER, DeckScreen
from tui.errors import explain
from tui.i18n import t
from tui.merge_card import changes_between, plan_card, report_card
from tui.modals.dialogs import TypedConfirmDialog
from tui.text import visible
from tui.widgets.bars import StatusLine
from tui.widgets.row_table import Cell, RowTable


class CardTable(RowTable[Memory]):
    """The memories that a merge touches, each with the tags that go and come."""

    plan: MergePlan | None = None

    def row_id(self, row: Memory) -> int:
        """Return the memory's number."""
        return row.id

    def cells(self, row: Memory) -> Sequence[Cell]:
        """Return the reference, the text, the tags that go and the one that comes."""
        sources = {line.name for line in self.plan.sources} if self.plan else set()
        target = self.plan.target.name if self.plan else ""
        gone = [f"-{tag}" for tag in row.tags if tag in sources]
        come = [] if target in row.tags or not gone else [f"+{target}"]
        width = max(16, self.size.width // 3)
        return (
            Cell(f"mem-{row.id} ", 10, "row--accent"),
            Cell(row.description, 0),
            Cell(" " + " ".join([*come, *gone]), width, "row--warn"),
        )


class MergeScreen(DeckScreen):
    """Plans anew whenever the store changes; applies nothing but the plan that was shown."""

    NAME = "merge"
    TAB = "tags"

    def __init__(self, sources: Sequence[str], target: str, merged: Callable[[], None]) -> None:
        super().__init__()
        self._sources = tuple(sources)
        self._target = target
        self._merged = merged
        self._plan: MergePlan | None = None
        self._report: MergeReport | None = None
        self._applying = False

    def body(self) -> Iterable[Widget]:
        """Return title, what changed meanwhile, the cards, and the plan or report."""
        yield Static(t("screen.merge.planning"), id="title", markup=False)
        yield Static(id="banner", markup=False)
        with Container(id="main"):
            yield CardTable(id="cards")
            with VerticalScroll(id="changes"):
                yield Static(id="change-text")

    def on_mount(self) -> None:
        """Begin in the list of cards."""
        self.query_one("#banner").display = False
        self.cards.focus()

    @property
    def cards(self) -> CardTable:
        """The list of memories."""
        return self.query_one("#cards", CardTable)

    # -- planning --------------------------------------------------------------------------------------------------

    def reload(self) -> None:
        """Plan, unless the merge is done or under way."""
        if self._report is None and not self._applying:
            engine, sources, target = self.deck.engine, self._sources, self._target
            self.read("plan", lambda: engine.plan_tag_merge(OWNER, sources, target), self._planned, self._impossible)

    def _planned(self, plan: MergePlan) -> None:
        if self._report is not None or self._applying:
            return
        before, self._plan = self._plan, plan
        if before is not None and before.revision != plan.revision:
            self._warn(changes_between(before, plan))
        names = ", ".join(line.name for line in plan.sources)
        self._title(f"{names} > {plan.target.name}")
        self.query_one("#change-text", Static).update(plan_card(plan))
        self.cards.plan = plan
        self.cards.show(array("q", (*plan.moves, *plan.keeps)))
        self.show_keys()

    def _impossible(self, error: MemdeckError) -> None:
        self._plan = None
        self._warn(explain(error))
        self.show_keys()

    def _title(self, text: str) -> None:
        self.query_one("#title", Static).update(visible(text))

    def _warn(self, text: str) -> None:
        banner = self.query_one("#banner", Static)
        banner.display = bool(text)
        banner.update(visible(text))

    @on(RowTable.RowsWanted)
    def _rows_wanted(self, wanted: RowTable.RowsWanted) -> None:
        self.read(
            f"rows {wanted.page}",
            lambda: self.deck.engine.memory_rows(OWNER, wanted.ids),
            lambda rows: self.cards.fill(wanted, rows),
        )

    @on(RowTable.CursorMoved)
    def _cursor_moved(self) -> None:
        cards = self.cards
        at = cards.cursor + 1 if cards.ids else 0
        self.query_one(StatusLine).place(t("app.place", at=at, of=len(cards.ids)))

    def do_list_open(self) -> None:
        """Open the memory under the cursor."""
        if (id := self.cards.current_id) is not None:
            self.deck.open_memory(id)

    def do_merge_pane(self) -> None:
        """Go to the other pane."""
        self.focus_next()

    # -- applying --------------------------------------------------------------------------------------------------

    def refusal(self, id: str) -> str:
        """Refuse to apply what is not planned or done already."""
        if why := super().refusal(id):
            return why
        if id == "merge.apply" and self._report is not None:
            return t("screen.merge.is_done")
        return t("screen.merge.no_plan") if id == "merge.apply" and self._plan is None else ""

    def do_merge_apply(self) -> None:
        """Ask for the number of cards that change, then merge."""
        plan = self._plan
        if plan is None:
            return
        names = ", ".join(visible(line.name) for line in plan.sources)
        count = len(plan.moves) + len(plan.keeps)
        question = t("screen.merge.ask", sources=names, target=visible(plan.target.name), n=count)

        def run(sure: bool | None) -> None:
            if sure:
                self._applying = True
                self.write(lambda: self.deck.engine.apply_tag_merge(OWNER, plan), self._done, self._refused)

        self.app.push_screen(TypedConfirmDialog(question, f"merge {count}"), run)

    def _done(self, report: MergeReport) -> None:
        self._applying = False
        self._report = report
        self._warn("")
        self._title(t("screen.merge.done", sources=", ".join(report.sources), target=report.target))
        self.query_one("#change-text", Static).update(report_card(report))
        self.cards.plan = None
        self.cards.forget_rows()
        self.deck.say(t("screen.merge.done_short", n=report.moved), undoable=True)
        self.show_keys()
        self._merged()

    def _refused(self, error: MemdeckError) -> None:
        self._applying = False
        self.deck.fail(error)
        self.reload()

    def do_app_undo(self) -> None:
        """Take this merge back; before it is done there is nothing here to take back."""
        report = self._report
        if report is None:
            self.deck.say(t("screen.merge.nothing_done"), severity="warning")
            return
        self.write(lambda: self.deck.engine.undo(OWNER, report.op), self._undone)

    def _undone(self, result: UndoResult) -> None:
        self._report = None
        self.deck.undone(result)
        self.reload()
