"""Tags on memories: what becomes of the names that a writer gives, and which relations new tags suggest.

There is one way from a name to a tag (`Vocabulary.resolve`): its own name in any spelling, else a synonym; a merged tag
leads to its target. Whoever writes a memory is told in notes what became of its tags.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from engine.model.enums import Origin, ReviewKind, TagLevel, TagStatus, TagType
from engine.rules.tag_relations import is_upgrade, overlap, proposed_level
from engine.rules.tagging import MAX_NAME, is_generic, is_name, shown_name, tag_key
from engine.rules.textnorm import clip
from engine.store.review import open_item
from engine.store.tags import change_tag, level_between, make_tag, set_links, tags_of
from engine.store.transaction import Tx
from engine.store.vocabulary import Tag, Vocabulary

MOST_PROPOSED = 3
"""Relations that are proposed for one new tag, the most alike first."""

_SOURCES = {Origin.AGENT: "ai", Origin.SYSTEM: "auto"}


@dataclass(frozen=True)
class Tagged:
    """Whether a memory's tags changed, and what is to be said of the names."""

    changed: bool
    notes: tuple[str, ...]


def tag_memory(tx: Tx, memory_id: int, names: Iterable[str], *, keep: Collection[int] = ()) -> Tagged:
    """Give a memory exactly the tags of `names` and of the numbers `keep`.

    An unknown name becomes a tag: active when the owner gave it, unexamined otherwise, with proposals of what it may
    mean the same as (W28). A deprecated one comes back when the owner uses it, and is left out otherwise, as is a
    word that fits everything (W24, W25); what the memory carries already is not judged again.
    """
    have = tags_of(tx.conn, memory_id)
    found = Vocabulary(tx.conn).resolve(names := list(names))
    ids, made, notes = set(keep), list[Tag](), list[str]()
    for name in names:
        tag = found.get(name) or next((t for t in made if t.key == tag_key(name)), None)
        if tag is None:
            tag = _new_tag(tx, name, notes)
            made += [tag] if tag else []
        elif tag.status is TagStatus.DEPRECATED and tag.id not in have | ids:
            tag = _deprecated(tx, tag, notes)
        elif tag.key != tag_key(name):
            notes.append(f"tag {name!r} stands under {tag.name!r}")
        if tag is not None:
            ids.add(tag.id)
    changed = set_links(tx, memory_id, ids)
    if tx.by.origin is not Origin.IMPORT:
        propose_relations(tx, made)
    return Tagged(changed, tuple(notes))


def _new_tag(tx: Tx, name: str, notes: list[str]) -> Tag | None:
    if not is_name(name):
        notes.append(f"tag {clip(name, MAX_NAME)!r} was left out: it names nothing")
        return None
    if is_generic(name) and tx.by.origin is Origin.AGENT:
        notes.append(f"tag {name!r} was left out: it fits everything; use a word that tells memories apart")
        return None
    return begin_tag(tx, name, TagType.CONTENT)


def begin_tag(tx: Tx, name: str, kind: TagType) -> Tag:
    """Make a tag under the name as it is shown; the owner's are active at once (W28)."""
    status = TagStatus.ACTIVE if tx.by.is_owner else TagStatus.UNEXAMINED
    return make_tag(tx, shown_name(name)[:MAX_NAME], kind, source=_SOURCES.get(tx.by.origin, "user"), status=status)


def _deprecated(tx: Tx, tag: Tag, notes: list[str]) -> Tag | None:
    if tx.by.is_owner:
        change_tag(tx, tag, status=TagStatus.ACTIVE)
        notes.append(f"tag {tag.name!r} was deprecated and is active again")
        return tag
    notes.append(f"tag_deprecated: {tag.name!r} was left out; only the owner can bring it back")
    return None


def propose_relations(tx: Tx, tags: Iterable[Tag]) -> int:
    """Propose relations of new tags to those with names alike; returns how many items were opened (W28)."""
    opened = 0
    for tag in tags:
        alike = sorted(((overlap(tag.key, other.key), other) for other in _alike(tx, tag)), key=lambda p: -p[0])
        for value, other in alike[:MOST_PROPOSED]:
            if level := proposed_level(tag.key, other.key):
                opened += propose_relation(tx, tag, other, level=level, evidence={"overlap": round(value, 2)})
    return opened


def _alike(tx: Tx, tag: Tag) -> list[Tag]:
    """Return the tags that share a bigram and have about the same length; system tags are no words of anybody's."""
    key = tag.key
    bigrams = list({key[i : i + 2] for i in range(len(key) - 1)})[:MAX_NAME]
    if not bigrams:
        return []
    shares = " OR ".join(["instr(folded, ?)"] * len(bigrams))
    rows = tx.conn.execute(
        "SELECT tag_id FROM tags WHERE op_to IS NULL AND status IN ('active', 'unexamined') AND source <> 'system'"
        f" AND tag_id <> ? AND length(folded) BETWEEN ? AND ? AND ({shares})",
        (tag.id, len(key) // 2, 2 * len(key) + 2, *bigrams),
    ).fetchall()
    return list(Vocabulary(tx.conn).by_ids({row[0] for row in rows}).values())


def propose_relation(tx: Tx, one: Tag, other: Tag, *, level: TagLevel, evidence: Mapping[str, object]) -> bool:
    """Open a review item for a relation, unless it holds, waits or was rejected already; True when one was opened."""
    if not is_upgrade(level_between(tx.conn, one.id, other.id), level):
        return False
    low, high = sorted((one, other), key=lambda tag: tag.id)
    dedupe = f"tag_relation:{low.id}:{high.id}"
    if tx.conn.execute(
        "SELECT 1 FROM review_items WHERE dedupe = ? AND op_to IS NULL AND state <> 'accepted'", (dedupe,)
    ).fetchone():
        return False
    open_item(
        tx, ReviewKind.TAG_RELATION, dedupe, title=f"{one.name} – {other.name}",
        evidence={"asked_by": tx.by.actor, **evidence},
        proposal={"one": one.code, "other": other.code, "level": level.value},
    )  # fmt: skip
    return True
