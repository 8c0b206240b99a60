"""The repository of tags: postings, the rows of tags and relations, and the derived table of synonyms."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping

from engine.model.enums import TagLevel, TagStatus, TagType
from engine.rules.tagging import tag_code, tag_key
from engine.store.rows import dump
from engine.store.schema import MEMORY_TAGS, TAG_RELATIONS, TAGS
from engine.store.transaction import Tx
from engine.store.vocabulary import Tag, Vocabulary

# ------------------------------------------------------------------ postings (W30)


def tags_of(conn: sqlite3.Connection, memory_id: int) -> set[int]:
    """Return the tags of a memory (W31)."""
    rows = conn.execute("SELECT tag_id FROM memory_tags WHERE memory_id = ? AND op_to IS NULL", (memory_id,))
    return {row[0] for row in rows}


def set_links(tx: Tx, memory_id: int, tag_ids: Collection[int]) -> bool:
    """Give a memory exactly these tags; True when anything changed. A pair stands once (W30)."""
    wanted, have = set(tag_ids), tags_of(tx.conn, memory_id)
    for gone in sorted(have - wanted):
        tx.close(MEMORY_TAGS, memory_id, gone)
    for new in sorted(wanted - have):
        tx.open(MEMORY_TAGS, {"memory_id": memory_id, "tag_id": new})
    return have != wanted


# ------------------------------------------------------------------ rows


def make_tag(tx: Tx, name: str, kind: TagType, *, source: str, status: TagStatus) -> Tag:
    """Begin a tag. A name that once had a number and a code gets them back, however it is spelled."""
    key = tag_key(name)
    row = tx.conn.execute(
        "SELECT tag_id, code FROM tags WHERE folded = ? ORDER BY tag_id, vid DESC LIMIT 1", (key,)
    ).fetchone()
    if row is None:
        number = tx.next_id("tag")
        row = (number, tag_code(kind, name, number))
    tx.open(
        TAGS,
        {
            "tag_id": row[0], "code": row[1], "name": name, "folded": key, "type": kind.value, "definition": "",
            "dimensions": "[]", "synonyms": "{}", "source": source, "status": status.value,
        },
    )  # fmt: skip
    return Vocabulary(tx.conn).by_ids([row[0]])[row[0]]


def change_tag(
    tx: Tx,
    tag: Tag,
    *,
    status: TagStatus | None = None,
    merged_to: int | None = None,
    type: TagType | None = None,
    definition: str | None = None,
    dimensions: Collection[str] | None = None,
    synonyms: Mapping[str, str] | None = None,
) -> bool:
    """Change what is given of a tag; False when nothing differs. A tag leads elsewhere only while it is merged."""
    changes: dict[str, object] = {}
    if status is not None:
        changes |= {"status": status.value, "merged_to": merged_to}
    if type is not None:
        changes["type"] = type.value
    if definition is not None:
        changes["definition"] = definition
    if dimensions is not None:
        changes["dimensions"] = dump(list(dimensions))
    if synonyms is not None:
        changes["synonyms"] = dump(dict(synonyms))
    return tx.replace(TAGS, (tag.id,), changes)


def level_between(conn: sqlite3.Connection, one: int, other: int) -> TagLevel | None:
    """Return how two tags are related, None when they are not."""
    row = conn.execute(
        "SELECT level FROM tag_relations WHERE low_id = ? AND high_id = ? AND op_to IS NULL",
        (min(one, other), max(one, other)),
    ).fetchone()
    return TagLevel(row[0]) if row else None


def set_level(tx: Tx, one: int, other: int, level: TagLevel | None) -> None:
    """Write the relation of two tags, for both sides at once; None ends it."""
    low, high = sorted((one, other))
    if tx.current(TAG_RELATIONS, low, high):
        tx.close(TAG_RELATIONS, low, high)
    if level is not None:
        tx.open(TAG_RELATIONS, {"low_id": low, "high_id": high, "level": level.value})


def rebuild_names(conn: sqlite3.Connection) -> None:
    """Fill the derived table of synonyms anew; part of the caller's transaction."""
    conn.execute("DELETE FROM tag_names")
    conn.execute(
        "INSERT OR IGNORE INTO tag_names (key, tag_id) SELECT n.key, t.tag_id FROM tags t, json_each(t.synonyms) n"
        " WHERE t.op_to IS NULL"
    )


def check_vocabulary(conn: sqlite3.Connection) -> Iterable[str]:
    """Yield what is wrong with the vocabulary: names and codes that are not unique, redirects and links to nothing."""
    for problem, sql in (
        ("names stand for several tags", "SELECT folded FROM tags WHERE op_to IS NULL GROUP BY 1 HAVING count(*) > 1"),
        ("codes stand for several tags", "SELECT code FROM tags GROUP BY 1 HAVING count(DISTINCT tag_id) > 1"),
        (
            "merged tags lead to no tag that stands",
            "SELECT 1 FROM tags t WHERE t.op_to IS NULL AND t.status = 'merged' AND NOT EXISTS (SELECT 1 FROM tags g"
            " WHERE g.tag_id = t.merged_to AND g.op_to IS NULL AND g.status <> 'merged')",
        ),
        (
            "memories carry tags that are merged or not there",
            "SELECT 1 FROM memory_tags l WHERE l.op_to IS NULL AND NOT EXISTS (SELECT 1 FROM tags t WHERE"
            " t.tag_id = l.tag_id AND t.op_to IS NULL AND t.status <> 'merged')",
        ),
        (
            "relations hold between tags that are merged or not there",
            "SELECT 1 FROM tag_relations r WHERE r.op_to IS NULL AND (SELECT count(*) FROM tags t WHERE t.op_to IS NULL"
            " AND t.status <> 'merged' AND t.tag_id IN (r.low_id, r.high_id)) < 2",
        ),
        (
            "synonyms are not found by name",
            "SELECT n.key, t.tag_id FROM tags t, json_each(t.synonyms) n WHERE t.op_to IS NULL"
            " EXCEPT SELECT key, tag_id FROM tag_names",
        ),
    ):
        count = conn.execute(f"SELECT count(*) FROM ({sql})").fetchone()[0]
        if count:
            yield f"{count} {problem}"
