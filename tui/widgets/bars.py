"""The lines around every tab: tabs with counts above, status and keys below."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.widget import Widget

from engine.model.records import Counts
from tui.i18n import t
from tui.text import visible
from tui.words import REVIEW_TAB


class TabBar(Widget):
    """The six tabs with their keys, what they hold and what waits there."""

    def __init__(self, tabs: Sequence[str], active: str) -> None:
        super().__init__(id="tab-bar")
        self._tabs = tabs
        self._active = active
        self._counts: Counts | None = None
        self._ends: list[int] = []

    def show(self, counts: Counts | None) -> None:
        """Show other counts."""
        self._counts = counts
        self.refresh()

    def render(self) -> Content:
        """Draw names and counts as far as they fit: first the counts of other tabs go, then their names."""
        ways = [self._draw(names=names, counts=counts) for names, counts in ((True, True), (True, False))]
        fitting = [way for way in ways if way.cell_length <= self.size.width]
        return fitting[0] if fitting else self._draw(names=False, counts=False)

    def _draw(self, *, names: bool, counts: bool) -> Content:
        parts = []
        for number, tab in enumerate(self._tabs, 1):
            active = tab == self._active
            name = f" {t(f'app.tab.{tab}')}" if names or active else ""
            look = "bold reverse" if active else ""
            held = self._number(tab) if counts or active else self._waits(tab)
            text = Content.assemble(" ", (str(number), "$accent"), name, held, " ")
            parts.append(text.stylize(look))
        self._ends = list(accumulate(part.cell_length for part in parts))
        return Content("").join(parts)

    async def on_click(self, event: events.Click) -> None:
        """Go to the clicked tab."""
        at = bisect_right(self._ends, event.x)
        if at < len(self._tabs):
            await self.run_action(f"app.tab('{self._tabs[at]}')")

    def _waits(self, tab: str) -> Content:
        by_kind = self._counts.review_by_kind if self._counts else {}
        waits = sum(n for kind, n in by_kind.items() if REVIEW_TAB.get(kind, "memories") == tab)
        return Content.styled(f" !{waits}", "$warning") if waits else Content("")

    def _number(self, tab: str) -> Content:
        counts = self._counts
        if counts is None:
            return Content("")
        held = {
            "memories": counts.memories, "topics": counts.topics, "tasks": counts.tasks, "playbook": counts.rules,
            "tags": counts.tags,
        }.get(tab)  # fmt: skip
        number = Content.styled(f" {held}", "$text-muted") if held is not None else Content("")
        return Content.assemble(number, self._waits(tab))


class StatusLine(Widget):
    """One line of numbers that equal what the lists show (C51), and on the right where the owner is."""

    def __init__(self) -> None:
        super().__init__(id="status-line")
        self._counts: Counts | None = None
        self._right = ""
        self._alarm = ""
        self._warning = ""

    def show(self, counts: Counts | None) -> None:
        """Show other counts."""
        self._counts = counts
        self.refresh()

    def place(self, right: str) -> None:
        """Say on the right what is listed and marked."""
        self._right = visible(right)
        self.refresh()

    def alarm(self, text: str) -> None:
        """Show a lasting trouble instead of the counts; an empty text ends it."""
        self._alarm = visible(text)
        self.refresh()

    def warn(self, text: str) -> None:
        """Show in place of the counts what the store's last check found; an empty text ends it."""
        self._warning = visible(text)
        self.refresh()

    def render(self) -> Content:
        """Draw counts, a gap, and the place, which yields first."""
        if self._alarm:
            return Content.styled(self._alarm, "$error bold")
        if self._warning:
            gap = self.size.width - cell_len(self._warning) - cell_len(self._right)
            right = " " * gap + self._right if gap >= 2 else ""
            return Content.assemble((self._warning, "$warning bold"), right)
        left = status_text(self._counts)
        gap = self.size.width - cell_len(left) - cell_len(self._right)
        return Content(left) if gap < 2 else Content(left + " " * gap + self._right)


def status_text(counts: Counts | None) -> str:
    """Return the owner's numbers in words: `Memories 9 · Topics 3 · To-dos 0 · Rules 5` (C51)."""
    if counts is None:
        return t("app.loading")
    text = t("app.status", memories=counts.memories, topics=counts.topics, tasks=counts.tasks, rules=counts.rules)
    return text + (" · " + t("app.waiting", n=counts.review) if counts.review else "")


class KeyLine(Widget):
    """The most useful keys of the screen, as many as fit; what cannot be done now is dim."""

    def __init__(self) -> None:
        super().__init__(id="key-line")
        self._keys: list[tuple[str, str, str, bool]] = []
        self._ends: list[tuple[int, str]] = []

    def show(self, keys: list[tuple[str, str, str, bool]]) -> None:
        """Show (action id, key, label, possible), the most important first."""
        if keys != self._keys:
            self._keys = keys
            self.refresh()

    def render(self) -> Content:
        """Draw keys until the line is full."""
        parts: list[Content] = []
        self._ends = []
        used = 0
        for id, key, label, possible in self._keys:
            text = Content.assemble((key, "$accent bold"), f" {label}  ")
            if used + text.cell_length > self.size.width:
                continue
            used += text.cell_length
            self._ends.append((used, id))
            parts.append(text if possible else text.stylize("dim"))
        return Content("").join(parts)

    async def on_click(self, event: events.Click) -> None:
        """Do what was clicked."""
        for end, id in self._ends:
            if event.x - 1 < end:
                await self.run_action(f"screen.act('{id}')")
                return
