"""The flows that open over a tab, each built here, so that screens need not know one another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.screen import Screen

from engine.model.enums import ReviewKind
from engine.model.memory import AsOf, Filter, Memory, WriteResult
from tui.i18n import t
from tui.modals.dialogs import ChooseDialog, PromptDialog
from tui.screens.conflict import ConflictScreen
from tui.screens.connecting import ConnectScreen
from tui.screens.context import ContextScreen
from tui.screens.detail import DetailScreen
from tui.screens.difference import DifferenceScreen
from tui.screens.form import FormScreen
from tui.screens.importing import ImportScreen
from tui.screens.journal import JournalScreen
from tui.screens.memories import MemoriesScreen
from tui.screens.merging import MergeScreen
from tui.screens.review import ReviewScreen
from tui.words import REVIEW_TAB

if TYPE_CHECKING:
    from engine.facade import Engine
    from tui.work import Work


class Flows(App[None]):
    """The part of the app that opens journal, review, forms, comparisons and imports."""

    engine: Engine
    work: Work

    def action_tab(self, tab: str) -> None:
        """Go to a tab by its name."""
        raise NotImplementedError

    def do_app_journal(self) -> None:
        """Open the journal."""
        self.open(JournalScreen())

    def open(self, screen: Screen[Any]) -> None:
        """Open a flow over the present screen, unless one of its kind is in front."""
        if type(self.screen) is not type(screen):
            self.push_screen(screen)

    def leave(self, screen: Screen[Any]) -> None:
        """Close a flow that is in front."""
        if self.screen is screen and len(self.screen_stack) > 1:
            self.pop_screen()

    def open_memory(self, id: int) -> None:
        """Open a memory with its history."""
        self.open(DetailScreen(id))

    def open_form(self, memory: Memory | None) -> None:
        """Open the form of a memory, or of a new one."""
        self.open(FormScreen(memory))

    def open_conflict(
        self, base: Memory, theirs: Memory, yours: Mapping[str, str], saved: Callable[[WriteResult], None]
    ) -> None:
        """Open the three-way view of a write conflict."""
        self.open(ConflictScreen(base, theirs, yours, saved))

    def open_difference(self, before: AsOf, after: AsOf, flt: Filter) -> None:
        """Open the comparison of two moments."""
        self.open(DifferenceScreen(before, after, flt))

    def open_merge(self, sources: Sequence[str], target: str, merged: Callable[[], None]) -> None:
        """Open the dry run of a merge of tags; `merged` is called when it is done."""
        self.open(MergeScreen(sources, target, merged))

    def open_context(self, question: str) -> None:
        """Open the view of what an agent would be given for a question."""
        self.open(ContextScreen(question))

    def point_at(self, id: int) -> None:
        """Let the cursor of the memories tab go to a memory as soon as it is listed."""
        for stack in self._screen_stacks.values():
            for screen in stack:
                if isinstance(screen, MemoriesScreen):
                    screen.wanted = id

    def show_memories(self, flt: Filter) -> None:
        """Go to the memories tab and list what a filter lets through."""
        self.action_tab("memories")
        screen = self.screen
        if isinstance(screen, MemoriesScreen):
            screen.call_after_refresh(screen.show_only, flt)

    def do_app_review(self) -> None:
        """Open the review of what the present tab counts; from elsewhere of everything."""
        kinds = [kind for kind in ReviewKind if REVIEW_TAB.get(kind.value) == self.current_mode]
        self.open(ReviewScreen(kinds))

    def ask_import(self) -> None:
        """Ask where to import from, offering what other tools hold on this machine."""
        self.work.read(self, "places", self.engine.found_memories, self._choose_place)

    def _choose_place(self, places: list[Any]) -> None:
        def typed(text: str | None) -> None:
            if text:
                self.open(ImportScreen(Path(text).expanduser()))

        def chosen(ids: tuple[str, ...] | None) -> None:
            if ids == ("",):
                self.push_screen(PromptDialog(t("screen.import.where")), typed)
            elif ids:
                typed(ids[0])

        found = [
            (str(place.path), t("screen.import.place", tool=place.title, n=place.files, path=place.path))
            for place in places
        ]
        options = [*found, ("", t("screen.import.other"))]
        if places:
            self.push_screen(ChooseDialog(t("screen.import.where"), options), chosen)
        else:
            chosen(("",))

    def show_connect(self) -> None:
        """Open the connecting of agents."""
        self.open(ConnectScreen())
