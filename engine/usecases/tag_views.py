"""Looking at the vocabulary: one tag in full, lists, the graph around one, the map of all (W31, W32, W65, T48)."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence

from engine.model.enums import TagLevel, TagStatus
from engine.model.errors import invalid
from engine.model.tags import EgoGraph, EgoNode, Star, TagLine, TagMap, TagRelation, TagStats, TagView
from engine.rules.tag_relations import RANK
from engine.rules.tag_score import brightness
from engine.rules.tagging import tag_key
from engine.store import tag_lists
from engine.store.tag_lists import NOBODY, Use
from engine.store.vocabulary import Tag, Vocabulary
from engine.usecases.desk import Desk
from engine.usecases.tagging import known_tag

RECALLABLE = (TagStatus.ACTIVE, TagStatus.UNEXAMINED)
"""What a list shows unless other statuses are asked for (W65)."""

ORDERS = ("cards", "name", "recent", "created")
MAX_HOPS, MAX_NODES = 4, 120
"""How far and how large the graph around a tag gets; more than this nobody can read in a terminal."""

_DAY_MS = 86_400_000.0


def tag(desk: Desk, name: str) -> TagView:
    """Return a tag by name, synonym or code; a merged or deprecated one by its own name or code. Raises unknown_tag."""
    with desk.store.read() as conn:
        vocabulary = Vocabulary(conn)
        found = vocabulary.own([tag_key(name)]).get(tag_key(name)) or known_tag(vocabulary, name)
        return _view(conn, found)


def code_of(desk: Desk, name: str, dimension: str = "", definitions: Sequence[str] = ()) -> str | None:
    """Return the code of a name; None when it is unknown or deprecated (W17, W18)."""
    with desk.store.read() as conn:
        return Vocabulary(conn).code_of(name, dimension, definitions)


def _view(conn: sqlite3.Connection, found: Tag) -> TagView:
    rows = tag_lists.relations_of(conn, [found.id])
    beside = tag_lists.together(conn, found.id)
    others = {low if high == found.id else high: TagLevel(level) for low, high, level, _ in rows}
    vocabulary = Vocabulary(conn)
    known = vocabulary.by_ids({*others, *(id for id, _ in beside), *([found.merged_to] if found.merged_to else [])})
    redirects = conn.execute(
        "SELECT name FROM tags WHERE op_to IS NULL AND merged_to = ? ORDER BY tag_id", (found.id,)
    ).fetchall()
    use = tag_lists.uses_of(conn, [found.id]).get(found.id, NOBODY)
    began, changed = tag_lists.span(conn, found.id)
    times = tag_lists.times(conn, {began, changed, use.last_op})
    relations = [TagRelation(known[id].code, known[id].name, level, known[id].status) for id, level in others.items()]
    return TagView(
        code=found.code, name=found.name, type=found.type, status=found.status, source=found.source,
        definition=found.definition, dimensions=found.dimensions, synonyms=tuple(found.synonyms.values()),
        merged_to=known[found.merged_to].name if found.merged_to else "", redirects=tuple(row[0] for row in redirects),
        relations=tuple(sorted(relations, key=lambda r: (-RANK[r.level], r.name))),
        together=tuple((known[id].name, count) for id, count in beside if id in known), cards=use.cards,
        stats=TagStats(
            use.cards, times.get(began), times.get(use.last_op), len({*others, *(id for id, _ in beside)}),
            tag_lists.mean_confidence(conn, found.id),
        ),
        lacks=found.lacks, created_ms=times.get(began), updated_ms=times.get(changed),
    )  # fmt: skip


def find_tags(desk: Desk, text: str = "", statuses: Sequence[str] = RECALLABLE, order: str = "cards") -> list[TagLine]:
    """Return tags whose name or synonym holds `text`, an exact match first, in one of ORDERS (W65).

    `statuses` are those to show, by default the recallable ones; none means all.
    """
    if order not in ORDERS:
        raise invalid(f"order={order!r} is not known", f"one of: {', '.join(ORDERS)}")
    try:
        wanted = [TagStatus(s).value for s in statuses or TagStatus]
    except ValueError:
        raise invalid(f"statuses {list(statuses)!r} are not known", f"of: {', '.join(TagStatus)}") from None
    key = tag_key(text)
    if text.strip() and not key:
        return []
    with desk.store.read() as conn:
        found = lines(conn, wanted)
        if key:
            found = {id: line for id, line in found.items() if key in tag_key(line.name)} | {
                id: found[id] for id in _by_synonym(conn, key) if id in found
            }
    ranked = sorted(found.items(), key=lambda pair: (tag_key(pair[1].name) != key, *_place(order, *pair)))
    return [line for _, line in ranked]


def _by_synonym(conn: sqlite3.Connection, key: str) -> list[int]:
    rows = conn.execute("SELECT tag_id FROM tag_names WHERE instr(key, ?) ORDER BY tag_id", (key,))
    return [row[0] for row in rows]


def _place(order: str, id: int, line: TagLine) -> tuple[object, ...]:
    if order == "name":
        return (line.name.casefold(), id)
    if order == "recent":
        return (-(line.last_ms or 0), id)
    return (id,) if order == "created" else (-line.cards, line.name.casefold(), id)


def lines(conn: sqlite3.Connection, statuses: Sequence[str], ids: Collection[int] | None = None) -> dict[int, TagLine]:
    """Return rows of a list of tags by number; with `ids` of these only."""
    found = Vocabulary(conn).with_statuses(statuses, ids)
    use = tag_lists.uses(conn) if ids is None else tag_lists.uses_of(conn, ids)
    times = tag_lists.times(conn, {use[t.id].last_op for t in found if t.id in use})
    targets = tag_lists.names_of(conn, {t.merged_to for t in found if t.merged_to is not None})
    return {t.id: _line(t, use.get(t.id, NOBODY), times, targets) for t in found}


def _line(tag: Tag, use: Use, times: Mapping[int, int], targets: Mapping[int, str]) -> TagLine:
    return TagLine(
        tag.code, tag.name, tag.type, tag.status, tag.source, tag.definition, use.cards, times.get(use.last_op),
        targets.get(tag.merged_to or 0, ""), tag.lacks,
    )  # fmt: skip


def ego_graph(desk: Desk, name: str, hops: int = 2) -> EgoGraph:
    """Return the tags around one, `hops` relations of any level away, and all relations between them."""
    if not 1 <= hops <= MAX_HOPS:
        raise invalid(f"hops={hops} is not between 1 and {MAX_HOPS}", "leave it out for two")
    with desk.store.read() as conn:
        center = known_tag(Vocabulary(conn), name)
        distance, more = _around(conn, center.id, hops)
        shown = lines(conn, list(TagStatus), distance)
        rows = tag_lists.relations_of(conn, distance)
    nodes = [EgoNode(line.code, line.name, line.status, line.cards, distance[id]) for id, line in shown.items()]
    edges = [
        (shown[low].code, shown[high].code, TagLevel(level))
        for low, high, level, _ in rows
        if {low, high} <= shown.keys()
    ]
    return EgoGraph(center.code, tuple(sorted(nodes, key=lambda n: (n.hops, n.name, n.code))), tuple(edges), more)


def _around(conn: sqlite3.Connection, center: int, hops: int) -> tuple[dict[int, int], int]:
    """Return how far each tag is, the closest relations first while there is room, and how many had none."""
    distance = {center: 0}
    left: set[int] = set()
    edge = [center]
    for step in range(1, hops + 1):
        rows = sorted(tag_lists.relations_of(conn, edge), key=lambda row: (-RANK[TagLevel(row[2])], row[0], row[1]))
        following: list[int] = []
        for other in _ends(rows):
            if other in distance:
                continue
            if len(distance) >= MAX_NODES:
                left.add(other)
                continue
            distance[other] = step
            following.append(other)
        edge = following
    return distance, len(left)


def _ends(rows: Iterable[tuple[int, int, str, int]]) -> Iterable[int]:
    for low, high, *_ in rows:
        yield low
        yield high


def tag_map(desk: Desk) -> TagMap:
    """Return all recallable tags, the most mentioned first, with how bright each shines, and their relations (T48)."""
    now = desk.store.clock.now_ms()
    with desk.store.read() as conn:
        found = lines(conn, [s.value for s in RECALLABLE])
        rows = tag_lists.all_relations(conn)
        times = tag_lists.times(conn, {row[3] for row in rows})
    most = max((line.cards for line in found.values()), default=0)
    stars = [
        Star(
            line.code, line.name, line.status, line.cards, line.last_ms,
            brightness(line.cards, most, (now - (line.last_ms or 0)) / _DAY_MS),
        )
        for line in found.values()
    ]  # fmt: skip
    edges = [
        (found[low].code, found[high].code, TagLevel(level), times.get(op))
        for low, high, level, op in rows
        if low in found and high in found
    ]
    return TagMap(tuple(sorted(stars, key=lambda s: (-s.mentions, s.name, s.code))), tuple(edges))
