"""A round of upkeep of the vocabulary: words that fit everything are deprecated, likeness proposed (W25, W28, R24)."""

from __future__ import annotations

import secrets
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable

from engine.model.clock import iso
from engine.model.enums import OWNER_ORIGINS, TagLevel, TagStatus
from engine.model.memory import Caller
from engine.model.tags import GovernReport
from engine.rules.tag_relations import ALIKE, bigrams, overlap, proposed_level
from engine.rules.tagging import is_generic
from engine.store.snapshots import make_snapshot
from engine.store.tags import change_tag
from engine.store.vocabulary import Tag, Vocabulary
from engine.usecases.desk import Desk
from engine.usecases.tag_links import propose_relation
from engine.usecases.tag_views import RECALLABLE

MOST_PROPOSED = 50
"""Relations that one round proposes, the most alike first: nobody decides more at once."""

COMMON = 200
"""A bigram that more tags share finds no likeness."""


def govern_tags(desk: Desk, by: Caller, *, dry_run: bool = False) -> GovernReport:
    """Deprecate generic tags that the owner did not choose, and propose relations of unexamined ones; report the rest.

    A snapshot comes first, and the round is one operation that can be taken back as a run.
    """
    with desk.store.read() as conn:
        tags = Vocabulary(conn).with_statuses([s.value for s in RECALLABLE])
        chosen = _chosen_by_owner(conn)
        settled = _settled(conn)
    generic = [t for t in tags if is_generic(t.name) and t.source != "system" and t.id not in chosen]
    malformed = tuple(sorted(t.name for t in tags if t.lacks))
    gone = {t.id for t in generic}
    pairs = [
        pair
        for pair in _pairs([t for t in tags if t.id not in gone and t.source != "system"])
        if (pair[0].id, pair[1].id) not in settled
    ]
    if dry_run or not (generic or pairs):
        levels = [(one.name, other.name, level) for one, other, level in pairs[:MOST_PROPOSED]]
        return GovernReport(None, None, None, tuple(t.name for t in generic), tuple(levels), malformed)
    snapshot = make_snapshot(
        desk.store, kind="run", reason="before governing tags", keep=desk.settings.number("snapshots.keep_runs")
    )
    stamp = iso(desk.store.clock.now_ms())[:19].replace(":", "").replace("-", "")
    run = f"govern-{stamp}-{secrets.token_hex(2)}"
    proposed: list[tuple[str, str, TagLevel]] = []
    with desk.store.write(by, "govern", run=run, reason="generic words and names alike") as tx:
        now = Vocabulary(tx.conn)
        for tag in now.by_ids(gone).values():
            if tag.is_recalled:
                change_tag(tx, tag, status=TagStatus.DEPRECATED)
        for one, other, level in pairs:
            if len(proposed) == MOST_PROPOSED:
                break
            value = round(overlap(one.key, other.key), 2)
            if propose_relation(tx, one, other, level=level, evidence={"overlap": value, "run": run}):
                proposed.append((one.name, other.name, level))
        tx.describe(f"{len(generic)} tags deprecated, {len(proposed)} relations proposed")
    return GovernReport(run, tx.op, snapshot.name, tuple(t.name for t in generic), tuple(proposed), malformed)


def _chosen_by_owner(conn: sqlite3.Connection) -> set[int]:
    """Return the tags whose present form the owner wrote: those are not judged by a list of words."""
    origins = ", ".join(f"'{o.value}'" for o in sorted(OWNER_ORIGINS))
    rows = conn.execute(
        "SELECT t.tag_id FROM tags t JOIN operations o ON o.op = t.op_from"
        f" WHERE t.op_to IS NULL AND o.origin IN ({origins})"
    )
    return {row[0] for row in rows}


def _settled(conn: sqlite3.Connection) -> set[tuple[int, int]]:
    """Return the pairs of tags that are related closely enough, that wait, or that were decided."""
    rows = conn.execute("SELECT low_id, high_id FROM tag_relations WHERE op_to IS NULL AND level <> 'loose'")
    items = conn.execute("SELECT dedupe FROM review_items WHERE op_to IS NULL AND kind = 'tag_relation'")
    asked = (dedupe.split(":")[1:] for (dedupe,) in items)
    return {*rows, *((int(low), int(high)) for low, high in asked)}


def _pairs(tags: Iterable[Tag]) -> list[tuple[Tag, Tag, TagLevel]]:
    """Return pairs of tags with names alike, of which one is unexamined, and the level to propose (W28).

    The most alike come first.
    """
    known = {tag.id: tag for tag in tags}
    grams = {id: bigrams(tag.key) for id, tag in known.items()}
    having: dict[str, list[int]] = defaultdict(list)
    for id, own in grams.items():
        for gram in own:
            having[gram].append(id)
    found: dict[tuple[int, int], float] = {}
    for id, tag in known.items():
        if tag.status is not TagStatus.UNEXAMINED:
            continue
        shared = Counter(o for gram in grams[id] if len(having[gram]) <= COMMON for o in having[gram] if o != id)
        for other, count in shared.items():
            value = count / (len(grams[id]) + len(grams[other]) - count)
            if value >= ALIKE:
                found[min(id, other), max(id, other)] = value
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    pairs = ((known[low], known[high]) for (low, high), _ in ranked)
    return [(one, other, level) for one, other in pairs if (level := proposed_level(one.key, other.key))]
