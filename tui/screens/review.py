"""Everything that waits for the owner, of every kind: evidence, what would change, and a decision per key."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from textual import on
from textual.containers import Container, VerticalScroll
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from engine.model.enums import ReviewKind, ReviewState, Verb
from engine.model.errors import MemdeckError
from engine.model.memory import Memory
from engine.model.records import ReviewItem
from tui.dates import parse_moment
from tui.deck import OWNER, DeckScreen
from tui.errors import explain
from tui.i18n import t
from tui.modals.dialogs import ChooseDialog, ConfirmDialog, PromptDialog
from tui.review_card import CONFLICTS, review_card
from tui.text import day, moment, visible
from tui.verbs import MANY
from tui.widgets.bars import StatusLine
from tui.widgets.row_table import Cell, RowTable
from tui.words import door, review_kind

MOST = 20_000
"""Items that are read at once."""

BURST = 0.15
"""Seconds without a change before the queue is read again."""

DAY_MS = 86_400_000
DEFERRALS = {"tomorrow": 1, "week": 7, "month": 30}
"""How many days each choice of `defer` puts an item off."""

_GLYPHS = {
    ReviewState.OPEN: (" ", ""),
    ReviewState.ACCEPTED: ("+", "row--good"),
    ReviewState.REJECTED: ("x", "row--bad"),
    ReviewState.DEFERRED: ("~", "row--warn"),
}
SETTLED = (ReviewState.ACCEPTED, ReviewState.REJECTED)
_AFTER = {Verb.ACCEPT: ReviewState.ACCEPTED, Verb.REJECT: ReviewState.REJECTED, Verb.DEFER: ReviewState.DEFERRED}


class ItemTable(RowTable[ReviewItem]):
    """Review items by the line; a decided one stays, dim, so that nothing jumps."""

    def row_id(self, row: ReviewItem) -> int:
        """Return the item's number."""
        return row.id

    def cells(self, row: ReviewItem) -> Sequence[Cell]:
        """Return state, kind, text, who asked and when."""
        glyph, look = _GLYPHS[row.state]
        text_look = "" if row.state is ReviewState.OPEN else "row--dim"
        cells = [
            Cell(glyph, 2, look),
            Cell(review_kind(row.kind) + " ", 15, text_look or "row--accent"),
            Cell(row.title, 0, text_look),
        ]
        if self.size.width >= 52:
            cells.append(Cell(" " + (row.actor or door(row.origin)), 13, "row--dim"))
        if self.size.width >= 76:
            cells.append(Cell(" " + day(row.opened_ms), 11, "row--dim"))
        return cells


class ReviewScreen(DeckScreen):
    """The queue: one item or the marked ones are decided in one operation that `u` takes back."""

    NAME = "review"

    def __init__(self, kinds: Sequence[ReviewKind] = ()) -> None:
        super().__init__()
        self._kinds = tuple(kinds)
        self._items: dict[int, ReviewItem] = {}
        self._on_the_way: set[int] = set()
        self._soon: Timer | None = None

    def body(self) -> Iterable[Widget]:
        """Return title, list and card."""
        yield Static(id="title", markup=False)
        with Container(id="main"):
            yield ItemTable(id="items")
            with VerticalScroll(id="changes", can_focus=False):
                yield Static(id="change-text")

    def on_mount(self) -> None:
        """Begin in the list."""
        self.table.focus()

    @property
    def table(self) -> ItemTable:
        """The list of items."""
        return self.query_one(ItemTable)

    # -- reading ---------------------------------------------------------------------------------------------------

    def reload(self) -> None:
        """Read what is open; what was decided in this sitting stays in its place."""
        kinds = self._kinds
        self.read("items", lambda: self.deck.engine.review_items(kinds=kinds, limit=MOST), self._take)

    def store_changed(self) -> None:
        """Read again once a burst of decisions is over."""
        if self._soon is not None:
            self._soon.stop()
        self._soon = self.set_timer(BURST, super().store_changed)

    def _take(self, items: list[ReviewItem]) -> None:
        found = {item.id: item for item in items if item.id not in self._on_the_way}
        settled = {
            id: item for id, item in self._items.items() if id not in found and item.state is not ReviewState.OPEN
        }
        self._items = dict(sorted((settled | found).items()))
        self.table.show(array("q", self._items))
        self._title()

    def _title(self) -> None:
        by_kind = self.deck.counts.review_by_kind if self.deck.counts else {}
        kinds = " · ".join(f"{review_kind(kind)} {n}" for kind, n in by_kind.items() if n)
        shown = t("review.only", kinds=", ".join(review_kind(kind) for kind in self._kinds)) if self._kinds else ""
        text = " · ".join(part for part in (t("review.title"), shown, kinds) if part)
        self.query_one("#title", Static).update(text)
        states = [item.state for item in self._items.values()]
        done = "  ".join(
            f"{_GLYPHS[state][0]}{states.count(state)}" for state in _GLYPHS if state is not ReviewState.OPEN
        )
        left = t("review.left", n=states.count(ReviewState.OPEN))
        marked = t("app.marked", n=len(self.table.marks)) + " · " if self.table.marks else ""
        self.query_one(StatusLine).place(f"{marked}{left}  {done}")

    def counts_changed(self) -> None:
        """Show the counts per kind as well."""
        super().counts_changed()
        self._title()

    @on(RowTable.MarksChanged)
    def _marked(self) -> None:
        self._title()

    @on(RowTable.RowsWanted)
    def _rows_wanted(self, wanted: RowTable.RowsWanted) -> None:
        self.table.fill(wanted, [self._items[id] for id in wanted.ids if id in self._items])

    @on(RowTable.CursorMoved)
    def _cursor_moved(self) -> None:
        item = self._current()
        self.show_keys()
        if item is None:
            self.query_one("#change-text", Static).update(t("review.empty"))
            return
        ids = [id for id in (item.memory_id, item.rival_id) if id is not None]
        self.read(
            "card",
            lambda: self.deck.engine.memory_rows(OWNER, ids, bodies=True),
            lambda memories: self._show(item, {memory.id: memory for memory in memories}),
        )

    def _show(self, item: ReviewItem, memories: Mapping[int, Memory]) -> None:
        mine, rival = memories.get(item.memory_id or 0), memories.get(item.rival_id or 0)
        self.query_one("#change-text", Static).update(review_card(item, mine, rival))

    def _current(self) -> ReviewItem | None:
        return self._items.get(self.table.current_id or 0)

    def _targets(self) -> list[int]:
        here = self.table.current_id
        wanted = self.table.marks or (set() if here is None else {here})
        return [id for id in sorted(wanted) if id in self._items and self._items[id].state not in SETTLED]

    def refusal(self, id: str) -> str:
        """Refuse also to decide what is decided."""
        if why := super().refusal(id):
            return why
        if not id.startswith("review.") or id == "review.kind":
            return ""
        item = self._current()
        if item is None:
            return t("review.empty")
        if id == "review.source":
            return "" if item.memory_id else t("review.no_memory")
        if id.startswith("review.way") and item.kind not in CONFLICTS:
            return t("review.no_conflict")
        if id != "review.skip" and not self._targets():
            return t("review.decided")
        return ""

    # -- deciding --------------------------------------------------------------------------------------------------

    def _decide(
        self,
        verb: Verb,
        ids: Sequence[int] | None = None,
        *,
        reason: str = "",
        changes: Mapping[str, object] | None = None,
        defer_until: int | None = None,
    ) -> None:
        """Show the decision at once, go on, and let the engine follow; what it refuses opens again."""
        wanted = self._targets() if ids is None else list(ids)
        before = {id: self._items[id] for id in wanted}
        self._on_the_way |= before.keys()
        for id in wanted:
            self._items[id] = replace(self._items[id], state=_AFTER[verb])
        self.table.clear_marks()
        self.table.forget_rows()
        self._go_on()
        self._title()

        def done(result: object) -> None:
            self._on_the_way -= before.keys()
            decided, refused = set(result.decided), result.refused  # type: ignore[attr-defined]
            for id, why in refused:
                self._items[id] = before.get(id, self._items[id])
                self.deck.say(visible(f"review-{id}: {why}"), severity="warning")
            self.deck.say(t(f"review.done.{verb.value}", n=len(decided)), undoable=bool(decided))
            self.table.forget_rows()

        def failed(error: MemdeckError) -> None:
            self._on_the_way -= before.keys()
            self._items |= before
            self.table.forget_rows()
            self._title()
            self.deck.fail(error)

        engine = self.deck.engine
        self.write(
            lambda: engine.decide(OWNER, wanted, verb.value, reason=reason, changes=changes, defer_until=defer_until),
            done,
            failed,
        )

    def _go_on(self) -> None:
        """Go to the next undecided item below, else to the first above."""
        ids = self.table.ids
        here = self.table.cursor
        order = [*range(here, len(ids)), *range(here)]
        self.table.cursor = next((i for i in order if self._items[ids[i]].state is ReviewState.OPEN), here)

    def _ask_many(self, verb: Verb, ids: Sequence[int], *, always: bool = False) -> None:
        if len(ids) > MANY or always:
            question = ConfirmDialog(t(f"review.ask.{verb.value}", n=len(ids)))
            self.app.push_screen(question, lambda sure: self._decide(verb, ids) if sure else None)
        else:
            self._decide(verb, ids)

    def do_review_accept(self) -> None:
        """Accept; a conflict is never accepted blind, its ways out are named."""
        item = self._current()
        if item is not None and item.kind in CONFLICTS and not self.table.marks:
            ways = [(way, t(f"review.way.{way}")) for way in ("keep", "new", "split", "merge")]
            self.app.push_screen(ChooseDialog(t("review.ways"), ways), self._way)
        else:
            self._ask_many(Verb.ACCEPT, self._targets())

    def _way(self, chosen: tuple[str, ...] | None) -> None:
        for way in chosen or ():
            {"keep": self.do_review_way_keep, "new": self.do_review_way_new, "split": self.do_review_way_split,
             "merge": self.do_review_edit}[way]()  # fmt: skip

    def do_review_way_keep(self) -> None:
        """The old one stands."""
        self._decide(Verb.REJECT)

    def do_review_way_new(self) -> None:
        """The new one is right from where it begins; the old one ends there."""
        self._decide(Verb.ACCEPT)

    def do_review_way_split(self) -> None:
        """Each is true in its own time: ask where the new one begins."""
        item = self._current()
        if item is None or item.memory_id is None:
            return
        ref = f"mem-{item.memory_id}"
        self.read("split", lambda: self.deck.engine.get(OWNER, ref), lambda memory: self._split(item, memory))

    def _split(self, item: ReviewItem, memory: Memory) -> None:
        engine = self.deck.engine

        def wrong(text: str) -> str:
            try:
                parse_moment(text or "now", engine.now_ms())
            except MemdeckError as error:
                return explain(error)
            return ""

        def run(text: str | None) -> None:
            if not text:
                return
            changes = {"valid_from": parse_moment(text, engine.now_ms())}
            if moment(changes["valid_from"]) == moment(memory.valid_from):
                self._decide(Verb.ACCEPT, [item.id])
                return
            self.write(lambda: engine.edit(OWNER, memory.ref, changes), lambda _: self._decide(Verb.ACCEPT, [item.id]))

        self.app.push_screen(PromptDialog(t("review.since_when"), moment(memory.valid_from), check=wrong), run)

    def do_review_way_merge(self) -> None:
        """Write one text that is right."""
        self.do_review_edit()

    def do_review_reject(self) -> None:
        """Reject."""
        self._ask_many(Verb.REJECT, self._targets())

    def do_review_reject_why(self) -> None:
        """Reject with a reason that the journal keeps."""
        ids = self._targets()

        def run(reason: str | None) -> None:
            if reason is not None:
                self._decide(Verb.REJECT, ids, reason=reason)

        self.app.push_screen(PromptDialog(t("review.why", n=len(ids))), run)

    def do_review_edit(self) -> None:
        """Edit the waiting text, then accept it."""
        item = self._current()
        if item is None or item.memory_id is None:
            self.deck.say(t("review.no_memory"), severity="warning")
            return
        ref = f"mem-{item.memory_id}"
        self.read("edit", lambda: self.deck.engine.get(OWNER, ref), lambda memory: self._edit(item, memory))

    def _edit(self, item: ReviewItem, memory: Memory) -> None:
        def run(text: str | None) -> None:
            if text:
                changes = {"description": text} if text != memory.description else None
                self._decide(Verb.ACCEPT, [item.id], changes=changes)

        self.app.push_screen(PromptDialog(t("review.edit"), memory.description), run)

    def do_review_defer(self) -> None:
        """Put off."""
        ids = self._targets()

        def run(chosen: tuple[str, ...] | None) -> None:
            if chosen:
                until = self.deck.engine.now_ms() + DEFERRALS[chosen[0]] * DAY_MS
                self._decide(Verb.DEFER, ids, defer_until=until)

        choices = [(name, t(f"review.defer.{name}")) for name in DEFERRALS]
        self.app.push_screen(ChooseDialog(t("review.defer_until", n=len(ids)), choices), run)

    def do_review_skip(self) -> None:
        """Leave it and go on to the next undecided one."""
        table = self.table
        table.cursor = (table.cursor + 1) % max(1, len(table.ids))
        self._go_on()

    def do_review_accept_kind(self) -> None:
        """Accept every open item of this kind from this writer; asks with the number."""
        here = self._current()
        if here is not None:
            alike = [
                item.id
                for item in self._items.values()
                if item.state is ReviewState.OPEN and (item.kind, item.actor) == (here.kind, here.actor)
            ]
            self._ask_many(Verb.ACCEPT, alike, always=True)

    def do_review_kind(self) -> None:
        """List the next kind that has items, after the last one all."""
        by_kind = self.deck.counts.review_by_kind if self.deck.counts else {}
        kinds = [ReviewKind(kind) for kind, n in by_kind.items() if n]
        here = kinds.index(self._kinds[0]) if len(self._kinds) == 1 and self._kinds[0] in kinds else -1
        self._kinds = (kinds[here + 1],) if here + 1 < len(kinds) else ()
        self._items = {}
        self.reload()

    def do_review_source(self) -> None:
        """Open the memory."""
        item = self._current()
        if item is not None and item.memory_id is not None:
            self.deck.open_memory(item.memory_id)

    def do_list_open(self) -> None:
        """Open the memory."""
        self.action_act("review.source")
