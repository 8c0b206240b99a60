"""Asking recall from a list of memories: the answers in their rank, each with its receipt, until `esc`."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import replace

from engine.model.memory import Filter, Hit, RecallPage, RecallQuery
from tui.deck import OWNER, DeckScreen
from tui.i18n import t
from tui.modals.dialogs import PromptDialog
from tui.text import visible

ANSWERS = 100
"""Answers that are listed."""


class Asking(DeckScreen):
    """Mixin of a list of memories; while a question stands, the list shows what recall answers."""

    def __init__(self) -> None:
        super().__init__()
        self.question = ""
        self.hits: dict[int, Hit] = {}
        self._total = 0
        self._new = False
        self.wanted: int | None = None

    def listed_filter(self) -> Filter:
        """Return what the list is narrowed to."""
        raise NotImplementedError

    def do_browse_ask(self) -> None:
        """Ask a question; an empty one ends the asking."""

        def run(text: str | None) -> None:
            if text is not None:
                self.question = text
                self._new = True
                self.reload()

        self.app.push_screen(PromptDialog(t("screen.recall.ask"), self.question), run)

    def do_browse_context(self) -> None:
        """Show what an agent would be given."""
        self.deck.open_context(self.question)

    def ask(self, then: Callable[[array[int]], None]) -> None:
        """Recall what the question asks for within filter and moment, and give the ids in rank order to `then`."""
        as_of = self.deck.as_of
        query = RecallQuery(
            self.question, at_ms=as_of.valid_ms, known_ms=as_of.known_ms, everywhere=True, limit=ANSWERS, why=True,
            filter=replace(self.listed_filter(), text=""),
        )  # fmt: skip

        def answered(page: RecallPage) -> None:
            self.hits = {hit.memory.id: hit for hit in page.hits}
            self._total = page.total
            if self._new and page.hits:
                self.wanted = page.hits[0].memory.id
            self._new = False
            then(array("q", self.hits))

        self.read("ids", lambda: self.deck.engine.recall(OWNER, query), answered)

    def end_asking(self) -> None:
        """Return to the whole list."""
        self.question = ""
        self.hits = {}
        self.reload()

    def answer(self, id: int) -> tuple[Hit | None, int]:
        """Return the receipt of a memory with its rank from 1; None and 0 where it is no answer."""
        hit = self.hits.get(id)
        return hit, list(self.hits).index(id) + 1 if hit else 0

    def asked(self) -> str:
        """Return in one line what is asked and how much answers it; empty when nothing is."""
        if not self.question:
            return ""
        return t("screen.recall.asked", question=visible(self.question)[:60], n=len(self.hits), of=self._total)
