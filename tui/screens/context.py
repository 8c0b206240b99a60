"""What an agent would be given for a question: the very text, its budgets, what is in it and what was left out."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import on
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from engine.model.enums import Origin
from engine.model.memory import Caller, Memory
from engine.model.records import ContextPack, PackBudget, PackSection, SessionUse
from tui.deck import OWNER, DeckScreen
from tui.i18n import has, t
from tui.modals.dialogs import ChooseDialog
from tui.text import clip, moment, visible, visible_block
from tui.widgets.bars import StatusLine
from tui.widgets.row_table import Cell, RowTable

BAR = 10
"""Cells of a full bar."""

TYPING_PAUSE = 0.25
"""Seconds without a key before the pack is made anew."""


@dataclass(frozen=True)
class Judged:
    """One memory that the pack holds or could have held, and why."""

    at: int
    memory: Memory
    inside: bool
    why: str


class JudgedTable(RowTable[Judged]):
    """What is in the pack and what is not, by the line."""

    reasons = 0
    """Cells that the longest reason takes."""

    def row_id(self, row: Judged) -> int:
        """Return the line's place."""
        return row.at

    def cells(self, row: Judged) -> Sequence[Cell]:
        """Return the sign, the reference, why, and the text."""
        width = min(self.reasons + 1, max(14, self.size.width // 2))
        return (
            Cell("+" if row.inside else "-", 2, "row--good" if row.inside else "row--bad"),
            Cell(f"mem-{row.memory.id} ", 9, "row--accent"),
            Cell(row.why + " ", width, "row--dim"),
            Cell(row.memory.description, 0),
        )


class ContextScreen(DeckScreen):
    """Asks for previews only, so nothing is counted against a session."""

    NAME = "context"
    TAB = "memories"

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question
        self._as: SessionUse | None = None
        self._judged: list[Judged] = []
        self._pause: Timer | None = None

    def body(self) -> Iterable[Widget]:
        """Return title, question, the pack's text, budgets, and the memories that it weighs."""
        yield Static(id="title", markup=False)
        yield Input(self._question, placeholder=t("screen.context.ask"), id="question", select_on_focus=False)
        with Container(id="main"):
            with VerticalScroll(id="preview"):
                yield Static(id="pack", markup=False)
            with Vertical(id="weighed"):
                yield Static(id="budgets")
                yield JudgedTable(id="judged")

    def on_mount(self) -> None:
        """Begin where a question is typed, or in the list when there is one already."""
        (self.table if self._question else self.query_one("#question")).focus()

    @property
    def judged(self) -> JudgedTable:
        """The list of what was weighed."""
        return self.query_one(JudgedTable)

    def caller(self) -> Caller:
        """Return the agent in whose place the pack is made: a new one, or the chosen session."""
        if self._as is None:
            return Caller(Origin.AGENT, "preview")
        return Caller(Origin.AGENT, self._as.agent, self._as.session, self._as.workspace)

    def reload(self) -> None:
        """Make the pack anew."""
        engine, by, question = self.deck.engine, self.caller(), self.query_one("#question", Input).value.strip()

        def call() -> tuple[ContextPack, list[Memory]]:
            pack = engine.context(by, question, preview=True)
            ids = dict.fromkeys([*pack.injected, *(left.id for left in pack.left_out)])
            return pack, engine.memory_rows(OWNER, list(ids))

        self.read("pack", call, lambda found: self._show(*found))

    def _show(self, pack: ContextPack, memories: list[Memory]) -> None:
        by_id = {memory.id: memory for memory in memories}
        weighed = [(id, True, _reason(pack.reasons.get(id, ""))) for id in pack.injected]
        # What stands in the pack for one reason is not left out for another.
        out = [left for left in pack.left_out if left.id not in pack.injected]
        weighed += [(left.id, False, _left(left.reason, left.detail)) for left in out]
        known = [entry for entry in weighed if entry[0] in by_id]
        self._judged = [Judged(at, by_id[id], inside, why) for at, (id, inside, why) in enumerate(known)]
        self.judged.reasons = max((cell_len(row.why) for row in self._judged), default=0)
        who = f"{self._as.agent} · {self._as.session}" if self._as else t("screen.context.new_session")
        self.query_one("#title", Static).update(visible(t("screen.context.title", who=who)))
        self.query_one("#pack", Static).update(visible_block(pack.text.rstrip("\n")) or t("screen.context.nothing"))
        self.query_one("#budgets", Static).update(budgets(pack))
        self.table.show(array("q", range(len(self._judged))), keep=self.table.current_id or 0)
        text = t("screen.context.counts", inside=len(pack.injected), out=len(out), tokens=pack.tokens)
        self.query_one(StatusLine).place(text)

    @on(RowTable.RowsWanted)
    def _rows_wanted(self, wanted: RowTable.RowsWanted) -> None:
        self.table.fill(wanted, [self._judged[at] for at in wanted.ids if at < len(self._judged)])

    @on(Input.Changed, "#question")
    def _typed(self) -> None:
        if self._pause is not None:
            self._pause.stop()
        self._pause = self.set_timer(TYPING_PAUSE, self.reload)

    @on(Input.Submitted, "#question")
    def _asked(self) -> None:
        self.reload()
        self.table.focus()

    def do_context_ask(self) -> None:
        """Type another question."""
        self.query_one("#question").focus()

    def do_context_session(self) -> None:
        """Choose in whose place the pack is made: what a session was given already counts."""
        self.read("sessions", self.deck.engine.sessions, self._choose)

    def _choose(self, sessions: list[SessionUse]) -> None:
        def run(chosen: tuple[str, ...] | None) -> None:
            if chosen is not None:
                self._as = next((use for use in sessions if use.session == chosen[0]), None)
                self.reload()

        options = [("", t("screen.context.new_session"))]
        options += [(use.session, f"{use.agent} · {use.session} · {moment(use.at_ms)}") for use in sessions]
        self.app.push_screen(ChooseDialog(t("screen.context.as_whom"), options), run)

    def do_list_open(self) -> None:
        """Open the memory under the cursor."""
        row = self.table.current
        if row is not None:
            self.deck.open_memory(row.memory.id)

    def do_app_back(self) -> None:
        """Leave the question line, then the view."""
        if self.query_one("#question").has_focus and self._judged:
            self.table.focus()
        else:
            self.deck.leave(self)


def budgets(pack: ContextPack) -> Content:
    """Return a bar per section with used and cap, the pack's tokens and the session's bytes."""
    lines = [_bar(section) for section in pack.parts]
    lines.append(Content(t("screen.context.tokens", n=pack.tokens)))
    if pack.budget:
        lines.append(_session(pack.budget))
    if pack.repeated:
        lines.append(Content.styled(t("screen.context.repeated"), "$warning"))
    return Content("\n").join(lines)


def _bar(section: PackSection) -> Content:
    share = min(1.0, section.used / section.cap) if section.cap else 1.0
    full = round(BAR * share)
    name = f"screen.context.section.{section.name}"
    return Content.assemble(
        (clip(t(name) if has(name) else section.name, 14), "$text-muted"),
        ("#" * full, "$warning" if share >= 1 else "$primary"),
        ("." * (BAR - full) + "  ", "$text-muted"),
        f"{section.used}/{section.cap} {t(f'screen.context.unit.{section.unit}')}",
    )


def _session(budget: PackBudget) -> Content:
    text = t("screen.context.session", before=budget.before, after=budget.after, cap=budget.cap)
    return Content.styled(text, "$text-muted")


def _reason(why: str) -> str:
    """Return why a memory is in: the section or field by its word, with the figure behind it."""
    name, _, figure = why.partition(" ")
    key = f"screen.context.in.{name}"
    return f"{t(key)} {figure}".rstrip() if has(key) else why


def _left(reason: str, detail: str) -> str:
    key = f"screen.context.out.{reason}"
    return f"{t(key) if has(key) else reason} {detail}".rstrip()
