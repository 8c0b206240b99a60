"""The tag relations tab: the vocabulary by status, one tag in full, and its relations as a graph to walk in."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textual import on
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from engine.model.enums import TagStatus
from engine.model.memory import Filter, Memory
from engine.model.tags import EgoGraph, TagLine, TagView
from tui.deck import OWNER
from tui.i18n import t
from tui.tag_card import tag_card
from tui.tag_verbs import TagVerbs
from tui.text import day, visible
from tui.widgets.bars import StatusLine
from tui.widgets.row_table import Cell, RowTable
from tui.widgets.tag_graph import TagGraph

VIEWS = ("used", *(status.value for status in (TagStatus.ACTIVE, TagStatus.UNEXAMINED)), "deprecated", "merged", "all")
"""What can be listed: tags in use (as the tab counts them), those of one status, or all with unused system tags."""

SHOWN = 12
"""Memories that are shown beside a tag; enter lists them all."""

GLYPHS = {
    TagStatus.ACTIVE: (" ", ""),
    TagStatus.UNEXAMINED: ("?", "row--warn"),
    TagStatus.DEPRECATED: ("x", "row--dim"),
    TagStatus.MERGED: ("&", "row--dim"),
}


@dataclass(frozen=True)
class TagRow:
    """A line of the list with its number, which is the same as long as the app runs."""

    number: int
    line: TagLine


class TagTable(RowTable[TagRow]):
    """Tags by the line."""

    target: int | None = None
    """The number of the tag that others are to be merged into."""

    def row_id(self, row: TagRow) -> int:
        """Return the tag's number."""
        return row.number

    def cells(self, row: TagRow) -> Sequence[Cell]:
        """Return status, count, name, where a merged one leads, and the day it was used last."""
        line = row.line
        glyph, look = GLYPHS[line.status]
        sign = ">>" if row.number == self.target else glyph
        leads = f" > {line.merged_to}" if line.merged_to else ""
        cells = [
            Cell(sign, 3, "row--warn" if row.number == self.target else look),
            Cell(f"{line.cards:>6}  ", 8, "row--accent"),
            Cell(line.name + leads, 0, look if line.status is not TagStatus.UNEXAMINED else ""),
        ]
        return [*cells, Cell(" " + day(line.last_ms), 11, "row--dim")] if self.size.width >= 40 else cells


def listed(line: TagLine, view: str) -> bool:
    """Tell whether a view lists a tag; a tag of the system counts as used once a memory carries it."""
    if view == "all":
        return True
    if line.source == "system" and line.last_ms is None:
        return False
    return line.status in (TagStatus.ACTIVE, TagStatus.UNEXAMINED) if view == "used" else line.status.value == view


class TagsScreen(TagVerbs):
    """List on the left; on the right the tag and its graph, which `right` enters and enter walks."""

    NAME = "tags"
    TAB = "tags"

    def __init__(self) -> None:
        super().__init__()
        self._numbers: dict[str, int] = {}
        self._rows: dict[int, TagRow] = {}
        self._found: list[TagLine] = []
        self._view = VIEWS[0]
        self._code = ""
        self._trail: list[str] = []
        self.shown: TagView | None = None

    def body(self) -> Iterable[Widget]:
        """Return title, views, the narrowing line, the list, and the tag with its graph."""
        yield Static(t("screen.tags.title"), id="title", markup=False)
        yield Static(id="views")
        yield Input(placeholder=t("screen.named.find"), id="find", max_length=200)
        with Container(id="main"):
            yield TagTable(id="names")
            with Vertical(id="tag"):
                with VerticalScroll(id="changes", can_focus=False):
                    yield Static(id="change-text")
                yield Static(id="graph-title", markup=False)
                yield TagGraph(id="graph")

    def on_mount(self) -> None:
        """Begin in the list."""
        self.query_one("#find").display = False
        self.names.focus()

    @property
    def names(self) -> TagTable:
        """The list of tags."""
        return self.query_one("#names", TagTable)

    @property
    def graph(self) -> TagGraph:
        """The graph around the shown tag."""
        return self.query_one("#graph", TagGraph)

    @property
    def table(self) -> RowTable[TagRow]:
        """The list, or the graph while it has the focus: cursor keys move either."""
        return self.graph if self.graph.has_focus else self.names  # type: ignore[return-value]

    # -- the list --------------------------------------------------------------------------------------------------

    def reload(self) -> None:
        """Read the vocabulary again, narrowed to what is typed."""
        text = self.query_one("#find", Input).value
        self.read("names", lambda: self.deck.engine.find_tags(OWNER, text, ()), self._take)

    def _take(self, found: list[TagLine]) -> None:
        self._found = found
        for line in found:
            number = self._numbers.setdefault(line.code, len(self._numbers) + 1)
            self._rows[number] = TagRow(number, line)
        self._list()

    def _list(self) -> None:
        listed_ = array("q", (self._numbers[line.code] for line in self._found if listed(line, self._view)))
        self.names.show(listed_)
        if self._trail:
            self._show(self._code)
        else:
            self._code = ""
        self._show_views()
        self.place()

    def _show_views(self) -> None:
        counts = Counter(view for view in VIEWS for line in self._found if listed(line, view))
        words = [
            Content.styled(
                f" {t(f'screen.tags.view.{view}')} {counts[view]} ",
                "reverse bold" if view == self._view else "$text-muted",
            )
            for view in VIEWS
        ]
        self.query_one("#views", Static).update(Content(" ").join(words))

    @on(RowTable.MarksChanged)
    def place(self) -> None:
        """Say which row this is, how many are marked, and what they would be merged into."""
        names = self.names
        text = t("app.place", at=names.cursor + 1 if names.ids else 0, of=len(names.ids))
        if names.marks:
            text = t("app.marked", n=len(names.marks)) + " · " + text
        if (target := self.target()) is not None:
            text = f"{t('screen.tags.target')} {target.name} · {text}"
        self.query_one(StatusLine).place(text)
        self.show_keys()

    @on(RowTable.RowsWanted, "#names")
    def _rows_wanted(self, wanted: RowTable.RowsWanted) -> None:
        self.names.fill(wanted, [self._rows[id] for id in wanted.ids if id in self._rows])

    @on(RowTable.CursorMoved, "#names")
    def _cursor_moved(self) -> None:
        self.place()
        row = self._rows.get(self.names.current_id or 0)
        if row is None:
            self._code = ""
            self.shown = None
            self.query_one("#change-text", Static).update(t("screen.tags.empty"))
            self._draw(None)
        elif not self._trail and row.line.code != self._code:
            self._show(row.line.code)

    def do_tags_view(self) -> None:
        """List the next status."""
        self._view = VIEWS[(VIEWS.index(self._view) + 1) % len(VIEWS)]
        self._list()

    @on(Input.Changed, "#find")
    def _typed(self) -> None:
        self.reload()

    @on(Input.Submitted, "#find")
    def _kept(self) -> None:
        self.names.focus()

    def do_named_filter(self) -> None:
        """Type to narrow the names."""
        line = self.query_one("#find", Input)
        line.display = True
        line.focus()

    def do_app_back(self) -> None:
        """Leave the graph; then end the narrowing, then the marks, then the target."""
        line, names = self.query_one("#find", Input), self.names
        if self.graph.has_focus:
            self._leave_graph()
        elif line.has_focus or line.value:
            line.value = ""
            line.display = False
            names.focus()
        elif names.marks or names.range_from is not None:
            names.clear_marks()
        else:
            names.target = None
            names.forget_rows()
            self.place()

    # -- one tag ---------------------------------------------------------------------------------------------------

    def _show(self, code: str) -> None:
        self._code = code
        engine = self.deck.engine

        def call() -> tuple[TagView, EgoGraph, int, list[Memory]]:
            view = engine.tag(OWNER, code)
            ids = engine.memory_ids(OWNER, Filter(tags=(view.name,)))
            return view, engine.ego_graph(OWNER, code), len(ids), engine.memory_rows(OWNER, ids[:SHOWN])

        self.read("tag", call, lambda found: self._shown(*found))

    def _shown(self, view: TagView, graph: EgoGraph, count: int, memories: list[Memory]) -> None:
        self.shown = view
        self.query_one("#change-text", Static).update(tag_card(view, count, memories))
        self.query_one("#changes").scroll_home(animate=False)
        self._draw(graph)

    def _draw(self, graph: EgoGraph | None) -> None:
        title, tree = self.query_one("#graph-title", Static), self.graph
        alone = graph is None or len(graph.nodes) < 2
        title.display = graph is not None
        tree.display = not alone
        if graph is None:
            return
        if alone:
            title.update(t("screen.tags.no_relations"))
            self._leave_graph()
            return
        keys = t("screen.tags.graph_keys" if not self._trail else "screen.tags.graph_back")
        more = " · " + t("screen.tags.graph_more", n=graph.more) if graph.more else ""
        title.update(visible(f"{t('screen.tags.graph')} · {keys}{more}"))
        tree.styles.height = min(len(graph.nodes), max(4, self.size.height // 3))
        tree.draw(graph)

    def do_tags_walk(self) -> None:
        """Go into the graph, and in it to the tags under this one."""
        if self.graph.has_focus:
            self.graph.step_in()
        elif self.graph.display:
            self.graph.focus()

    def do_tags_out(self) -> None:
        """In the graph go to the tag above, from its first lines to the list."""
        if self.graph.has_focus and not self.graph.step_out():
            self._leave_graph()

    def _leave_graph(self) -> None:
        back = self._trail[0] if self._trail else ""
        self._trail.clear()
        if self.graph.has_focus:
            self.names.focus()
        if back:
            self._show(back)

    def do_tab_last(self) -> None:
        """In the graph go back to the tag before, else to the tab before."""
        if self._trail:
            self._show(self._trail.pop())
        else:
            self.deck.do_tab_last()

    def do_list_open(self) -> None:
        """In the graph go to the tag under the cursor, in the list show its memories in their tab."""
        if not self.graph.has_focus:
            if row := self._rows.get(self.names.current_id or 0):
                self.deck.show_memories(Filter(tags=(row.line.name,)))
        elif (branch := self.graph.branch) and branch.parent is not None:
            self._trail.append(self._code)
            self._show(branch.node.code)

    # -- what the verbs aim at -------------------------------------------------------------------------------------

    def marked(self) -> list[TagLine]:
        """Return the marked tags by name."""
        rows = (self._rows[number] for number in self.names.marks if number in self._rows)
        return sorted((row.line for row in rows), key=lambda line: line.name)

    def targets(self) -> list[tuple[str, str]]:
        """Return code and name of the marked tags, or of the one under the cursor of list or graph."""
        if marked := self.marked():
            return [(line.code, line.name) for line in marked]
        here = self.under_cursor()
        return [here] if here else []

    def under_cursor(self) -> tuple[str, str] | None:
        """Return code and name of the tag under the cursor of list or graph."""
        if self.graph.has_focus and (branch := self.graph.branch):
            return branch.node.code, branch.node.name
        row = self._rows.get(self.names.current_id or 0)
        return (row.line.code, row.line.name) if row else None

    def target(self) -> TagLine | None:
        """Return the tag that others are to be merged into."""
        row = self._rows.get(self.names.target or 0)
        return row.line if row else None

    def known(self) -> list[TagLine]:
        """Return what a tag can be related to among what was read."""
        standing = (TagStatus.ACTIVE, TagStatus.UNEXAMINED)
        return [row.line for row in self._rows.values() if row.line.status in standing]

    def set_target(self, code: str | None) -> None:
        """Choose what others are merged into; None gives it up."""
        self.names.target = self._numbers.get(code) if code else None
        self.names.forget_rows()
        self.place()

    def acted(self) -> None:
        """Unmark what was acted on."""
        self.names.clear_marks()
