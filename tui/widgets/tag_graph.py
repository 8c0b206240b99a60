"""The tags around one as a tree in characters: a line per tag, the relation's level by line style and by word."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import on

from engine.model.enums import TagLevel, TagStatus
from engine.model.tags import EgoGraph, EgoNode
from tui.widgets.row_table import Cell, RowTable
from tui.words import tag_level, tag_status

LINES = {TagLevel.SYNONYM: ("╞", "╘", "═"), TagLevel.RELATED: ("├", "└", "─"), TagLevel.LOOSE: ("├", "└", "╌")}
"""For each level: the joint, the last joint, and the line."""

LOOKS = {TagLevel.SYNONYM: "row--good", TagLevel.RELATED: "row--accent", TagLevel.LOOSE: "row--dim"}

_CLOSEST_FIRST = {level: place for place, level in enumerate(TagLevel)}


@dataclass(frozen=True)
class Branch:
    """One line: a tag, how close it is to the line `parent` (None at the centre), and whom else it is related to."""

    at: int
    node: EgoNode
    level: TagLevel | None
    parent: int | None
    stem: str
    also: tuple[tuple[TagLevel, str], ...] = ()


def lay_out(graph: EgoGraph) -> list[Branch]:
    """Return the lines from the centre down; every tag once, under its closest neighbour nearer to the centre.

    Relations that the tree does not draw stand at the later of their two lines.
    """
    nodes = {node.code: node for node in graph.nodes}
    near: dict[str, list[tuple[TagLevel, str]]] = defaultdict(list)
    for one, other, level in graph.edges:
        near[one].append((level, other))
        near[other].append((level, one))
    children: dict[str, list[tuple[TagLevel, str]]] = defaultdict(list)
    for code, node in nodes.items():
        nearer = [(level, other) for level, other in near[code] if nodes[other].hops == node.hops - 1]
        if nearer:
            level, parent = min(nearer, key=lambda found: (_CLOSEST_FIRST[found[0]], nodes[found[1]].name))
            children[parent].append((level, code))
    lines: list[Branch] = []
    places: dict[str, int] = {}

    def grow(code: str, level: TagLevel | None, parent: str | None, stem: str, below: str) -> None:
        also = tuple((how, nodes[other].name) for how, other in near[code] if other in places and other != parent)
        places[code] = len(lines)
        lines.append(Branch(len(lines), nodes[code], level, None if parent is None else places[parent], stem, also))
        ranked = sorted(
            children[code], key=lambda child: (_CLOSEST_FIRST[child[0]], -nodes[child[1]].cards, nodes[child[1]].name)
        )
        for number, (how, child) in enumerate(ranked, 1):
            joint, last, line = LINES[how]
            here = below + (last if number == len(ranked) else joint) + line * 2 + " "
            grow(child, how, code, here, below + ("    " if number == len(ranked) else "│   "))

    if graph.center in nodes:
        grow(graph.center, None, None, "", "")
    return lines


class TagGraph(RowTable[Branch]):
    """The tree with a cursor; the screen moves it and goes to the tag under it."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: list[Branch] = []

    def draw(self, graph: EgoGraph) -> None:
        """Draw the surroundings of a tag; the cursor stays on its tag, else it begins at the closest neighbour."""
        here = self.branch.node.code if self.branch and self._lines[0].node.code == graph.center else ""
        self._lines = lay_out(graph)
        keep = next((line.at for line in self._lines if line.node.code == here), min(1, len(self._lines) - 1))
        self.show(array("q", range(len(self._lines))), keep=keep)

    @property
    def lines(self) -> Sequence[Branch]:
        """Return every line."""
        return self._lines

    @property
    def branch(self) -> Branch | None:
        """Return the line under the cursor."""
        return self._lines[self.cursor] if self.cursor < len(self._lines) else None

    def step_in(self) -> None:
        """Go to the first tag under this one."""
        here = self.cursor
        self.cursor = next((line.at for line in self._lines if line.parent == here), here)

    def step_out(self) -> bool:
        """Go to the tag above this one; False when there is none but the centre."""
        line = self.branch
        if line is None or not line.parent:
            return False
        self.cursor = line.parent
        return True

    def row_id(self, row: Branch) -> int:
        """Return the line's place."""
        return row.at

    def cells(self, row: Branch) -> Sequence[Cell]:
        """Return line, level, name with its count, and what else it is related to."""
        look = LOOKS[row.level] if row.level else "row--marked"
        words = max(cell_len(tag_level(level)) for level in TagLevel) + 1
        status = "" if row.node.status is TagStatus.ACTIVE else f" ({tag_status(row.node.status)})"
        also = " ".join(f"{LINES[level][2]}{name}" for level, name in row.also)
        name = f"{row.node.name} {row.node.cards}{status}"
        cells = [Cell(name, cell_len(name) + 2, "" if row.level else look), Cell(also, 0, "row--dim")]
        if row.level is None:
            return cells
        return [Cell(row.stem, cell_len(row.stem), look), Cell(tag_level(row.level), words, look), *cells]

    @on(RowTable.RowsWanted)
    def _fill(self, wanted: RowTable.RowsWanted) -> None:
        wanted.stop()
        self.fill(wanted, [self._lines[at] for at in wanted.ids if at < len(self._lines)])

    @on(RowTable.CursorMoved)
    def _moved(self, moved: RowTable.CursorMoved) -> None:
        moved.stop()
