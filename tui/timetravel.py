"""Looking at the past from a list: the time bar, the banner, and the comparison of two moments."""

from __future__ import annotations

import sys

from textual import on
from textual.timer import Timer
from textual.widgets import Static

from engine.model.enums import State
from engine.model.errors import MemdeckError
from engine.model.memory import NOW, AsOf, Filter, Memory
from tui.dates import parse_moment
from tui.deck import OWNER, DeckScreen
from tui.i18n import t
from tui.modals.dialogs import PromptDialog
from tui.text import moment
from tui.widgets.time_bar import TimeBar

SAMPLE = 400
"""Memories whose dates draw the time bar."""

PAUSE = 0.08
"""Seconds that a moment rests before the list is asked."""


class TimeTravel(DeckScreen):
    """Mixin of a screen with a `TimeBar`, a banner `#past` and a list that reads `deck.as_of`."""

    def __init__(self) -> None:
        super().__init__()
        self._settle: Timer | None = None
        self._baseline: AsOf | None = None

    def listed_filter(self) -> Filter:
        """Return what the list is narrowed to."""
        raise NotImplementedError

    def do_time_focus(self) -> None:
        """Open the time bar, with a sample of when memories begin and were recorded."""
        engine = self.deck.engine

        def call() -> list[Memory]:
            ids = engine.memory_ids(OWNER, Filter(states=tuple(State)))
            return engine.memory_rows(OWNER, ids[:: max(1, len(ids) // SAMPLE)])

        self.read("sample", call, self._open_bar)

    def _open_bar(self, sample: list[Memory]) -> None:
        bar = self.query_one(TimeBar)
        bar.display = True
        bar.show(
            self.deck.as_of, self.deck.engine.now_ms(), [row.valid_from for row in sample],
            [row.recorded_ms for row in sample],
        )  # fmt: skip
        bar.focus()

    @on(TimeBar.Moved)
    def _moved(self, moved: TimeBar.Moved) -> None:
        if self._settle is not None:
            self._settle.stop()
        self.deck.as_of = moved.as_of
        self.show_moment()
        self._settle = self.set_timer(PAUSE, self.reload)

    def show_moment(self) -> None:
        """Show the banner and the border of the past, or take them away."""
        as_of = self.deck.as_of
        banner = self.query_one("#past", Static)
        banner.display = not as_of.is_now
        self.set_class(not as_of.is_now, "-past")
        now = t("screen.time.now")
        banner.update(t("screen.time.banner", valid=moment(as_of.valid_ms) or now, known=moment(as_of.known_ms) or now))
        self.show_keys()

    @on(TimeBar.DateWanted)
    def _ask_date(self) -> None:
        def run(text: str | None) -> None:
            if not text:
                return
            try:
                self.query_one(TimeBar).set_moment(parse_moment(text, self.deck.engine.now_ms()))
            except MemdeckError as error:
                self.deck.fail(error)

        self.app.push_screen(PromptDialog(t("screen.time.ask")), run)

    @on(TimeBar.Left)
    def _left(self) -> None:
        bar = self.query_one(TimeBar)
        bar.display = not self.deck.as_of.is_now
        self.table.focus()

    def do_time_leave(self) -> None:
        """Return to now."""
        self.deck.as_of = NOW
        self._baseline = None
        bar = self.query_one(TimeBar)
        bar.as_of = NOW
        bar.display = False
        self.show_moment()
        self.reload()
        self.table.focus()

    @on(TimeBar.Baseline)
    def do_time_baseline(self) -> None:
        """Set this moment as the baseline, or compare the baseline with this moment."""
        here = self.deck.as_of
        if self._baseline is None:
            self._baseline = here
            self.deck.say(t("screen.time.baseline", at=moment(here.valid_ms) or t("screen.time.now")))
        elif self._baseline == here:
            self.deck.say(t("screen.time.same"), severity="warning")
        else:
            before, after = sorted((self._baseline, here), key=lambda as_of: as_of.valid_ms or sys.maxsize)
            self._baseline = None
            self.deck.open_difference(before, after, self.listed_filter())
