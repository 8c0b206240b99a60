"""Reading the vocabulary: the one way from a name to a tag, and from a tag to those that it is related to."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from engine.model.enums import TagLevel, TagStatus, TagType
from engine.rules.tag_relations import Edges, stronger
from engine.rules.tagging import CODE, is_defined_as, malformations, tag_key
from engine.store.rows import dump, open_at


@dataclass(frozen=True)
class Tag:
    """A row of the vocabulary. `synonyms` maps keys to names; `lacks` says what recall reports as malformed (W12)."""

    id: int
    code: str
    name: str
    key: str
    type: TagType
    definition: str
    dimensions: tuple[str, ...]
    synonyms: Mapping[str, str]
    source: str
    status: TagStatus
    merged_to: int | None
    lacks: tuple[str, ...] = ()

    @property
    def is_recalled(self) -> bool:
        """Tell whether cards are found by this tag itself (W23)."""
        return self.status in (TagStatus.ACTIVE, TagStatus.UNEXAMINED)


_COLUMNS = (
    "t.tag_id, t.code, t.name, t.folded, t.type, t.definition, t.dimensions, t.synonyms, t.source, t.status,"
    " t.merged_to"
)


def _tag(row: Sequence[object]) -> Tag:
    dimensions, synonyms = _read(row[6]), _read(row[7])
    definition = str(row[5] or "")
    return Tag(
        id=int(str(row[0])), code=str(row[1]), name=str(row[2]), key=str(row[3]), type=TagType(str(row[4])),
        definition=definition,
        dimensions=tuple(map(str, dimensions)) if isinstance(dimensions, list) else (),
        synonyms=synonyms if isinstance(synonyms, dict) else {}, source=str(row[8]), status=TagStatus(str(row[9])),
        merged_to=None if row[10] is None else int(str(row[10])), lacks=malformations(definition, dimensions),
    )  # fmt: skip


def _read(value: object) -> object:
    try:
        return json.loads(str(value))
    except ValueError:
        return None


@dataclass(frozen=True)
class Vocabulary:
    """Tags as known at an operation (None = now), and as they would be when some were merged (source to target)."""

    conn: sqlite3.Connection
    known: int | None = None
    merged: Mapping[int, int] = field(default_factory=dict)

    def by_ids(self, ids: Collection[int]) -> dict[int, Tag]:
        """Return tags by number; unknown ones are left out."""
        rows = self.conn.execute(
            f"SELECT {_COLUMNS} FROM tags t WHERE {open_at('t', self.known)}"
            " AND t.tag_id IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(ids)),),
        )
        return {tag.id: tag for tag in map(_tag, rows)}

    def with_statuses(self, statuses: Sequence[str], ids: Collection[int] | None = None) -> list[Tag]:
        """Return the tags of some statuses, among `ids` where given."""
        chosen = "" if ids is None else " AND t.tag_id IN (SELECT value FROM json_each(?2))"
        rows = self.conn.execute(
            f"SELECT {_COLUMNS} FROM tags t WHERE {open_at('t', self.known)}"
            f" AND t.status IN (SELECT value FROM json_each(?1)){chosen}",
            (json.dumps(list(statuses)), *([json.dumps(sorted(ids))] if ids is not None else [])),
        )
        return [_tag(row) for row in rows]

    def find(self, text: str) -> Tag | None:
        """Return the tag that a code or a name stands for (W17)."""
        found = self.by_code(text.strip()) if text.lstrip().startswith(CODE) else None
        return found or self.resolve([text]).get(text)

    def by_code(self, code: str) -> Tag | None:
        """Return the tag of a code."""
        row = self.conn.execute(
            f"SELECT {_COLUMNS} FROM tags t WHERE {open_at('t', self.known)} AND t.code = ?", (code,)
        ).fetchone()
        return _tag(row) if row else None

    def own(self, keys: Iterable[str]) -> dict[str, Tag]:
        """Return the tags whose own names have these keys, merged and deprecated ones included."""
        rows = self.conn.execute(
            f"SELECT {_COLUMNS} FROM tags t WHERE {open_at('t', self.known)}"
            " AND t.folded IN (SELECT value FROM json_each(?)) ORDER BY t.tag_id DESC",
            (dump(list(keys)),),
        )
        return {tag.key: tag for tag in map(_tag, rows)}

    def main(self, keys: Iterable[str]) -> dict[str, list[Tag]]:
        """Return the tags that have a synonym of these keys, the oldest first."""
        wanted = dump(list(keys))
        if self.known is None:
            rows = self.conn.execute(
                f"SELECT n.key, {_COLUMNS} FROM tag_names n JOIN tags t USING (tag_id)"
                " WHERE t.op_to IS NULL AND n.key IN (SELECT value FROM json_each(?)) ORDER BY t.tag_id",
                (wanted,),
            ).fetchall()
        else:
            rows = self.conn.execute(
                f"SELECT n.key, {_COLUMNS} FROM tags t, json_each(t.synonyms) n"
                f" WHERE {open_at('t', self.known)} AND n.key IN (SELECT value FROM json_each(?)) ORDER BY t.tag_id",
                (wanted,),
            ).fetchall()
        found: dict[str, list[Tag]] = defaultdict(list)
        for key, *row in rows:
            found[str(key)].append(_tag(row))
        return found

    def resolve(self, names: Iterable[str]) -> dict[str, Tag]:
        """Return the tag that each name stands for; unknown names are left out (W17, W19, W20).

        A tag's own name comes before a synonym, in any spelling; a merged tag leads to its target in one hop. A
        deprecated tag comes back as it is, for the caller to refuse.
        """
        keys = {name: tag_key(name) for name in names}
        known = self.by_keys(keys.values())
        return {name: known[key] for name, key in keys.items() if key in known}

    def by_keys(self, keys: Iterable[str]) -> dict[str, Tag]:
        """Return the tag that each key stands for, as `resolve` does for names."""
        wanted = set(keys)
        own = self.own(wanted)
        main = self.main(wanted - own.keys()) if len(own) < len(wanted) else {}
        return self._redirected(own | {key: _preferred(tags) for key, tags in main.items()})

    def _redirected(self, found: Mapping[str, Tag]) -> dict[str, Tag]:
        """Follow merges, and then those that are only planned."""
        targets = self.by_ids({tag.merged_to for tag in found.values() if tag.merged_to is not None})
        final = {name: targets.get(tag.merged_to or 0, tag) for name, tag in found.items()}
        planned = self.by_ids(set(self.merged.values())) if self.merged else {}
        return {name: planned.get(self.merged.get(tag.id, 0), tag) for name, tag in final.items()}

    def code_of(self, name: str, dimension: str = "", definitions: Sequence[str] = ()) -> str | None:
        """Return the code of a name; None when it is unknown or deprecated (W17).

        Where a synonym belongs to several tags, the one with the dimension or a fitting definition is meant (W18).
        """
        tag = self.resolve([name]).get(name)
        rivals = self.main([tag_key(name)]).get(tag_key(name), [])
        if len(rivals) > 1 and tag is not None and tag.key != tag_key(name):
            fits = [r for r in rivals if dimension in r.dimensions] if dimension else []
            fits += [r for r in rivals if is_defined_as(r.definition, definitions)]
            tag = next((r for r in fits if r.is_recalled), tag)
        return tag.code if tag is not None and tag.is_recalled else None

    def neighbours(self, ids: Collection[int]) -> Edges:
        """Return the relations of tags to those that are recalled; a synonym that is itself a tag is one (W20)."""
        wanted = {old for old, new in self.merged.items() if new in ids} | set(ids)
        own = self.by_ids(wanted)
        pairs = [(low, high, TagLevel(level)) for low, high, level in self._relation_rows(wanted)]
        pairs += self._by_value(own)
        edges: dict[int, dict[int, TagLevel]] = defaultdict(dict)
        for low, high, level in pairs:
            a, b = self.merged.get(low, low), self.merged.get(high, high)
            for one, other in ((a, b), (b, a)):
                if one in ids and other != one:
                    edges[one][other] = stronger(edges[one].get(other), level)
        live = {id for id, tag in self.by_ids({o for own in edges.values() for o in own}).items() if tag.is_recalled}
        return {one: [(other, level) for other, level in own.items() if other in live] for one, own in edges.items()}

    def _relation_rows(self, ids: Collection[int]) -> list[tuple[int, int, str]]:
        wanted = json.dumps(sorted(ids))
        is_open = open_at("r", self.known)
        return self.conn.execute(
            f"SELECT r.low_id, r.high_id, r.level FROM tag_relations r WHERE {is_open}"
            " AND r.low_id IN (SELECT value FROM json_each(?1))"
            f" UNION SELECT r.low_id, r.high_id, r.level FROM tag_relations r WHERE {is_open}"
            " AND r.high_id IN (SELECT value FROM json_each(?1))",
            (wanted,),
        ).fetchall()

    def _by_value(self, own: Mapping[int, Tag]) -> list[tuple[int, int, TagLevel]]:
        values = {key: id for id, tag in own.items() for key in tag.synonyms}
        named = [(values[key], tag.id, TagLevel.SYNONYM) for key, tag in self.own(values).items()] if values else []
        keys = {tag.key: id for id, tag in own.items()}
        mains = self.main(keys)
        return named + [(keys[key], tag.id, TagLevel.SYNONYM) for key, tags in mains.items() for tag in tags]


def _preferred(tags: Sequence[Tag]) -> Tag:
    """Return the tag that a synonym stands for: the oldest that is recalled."""
    return next((tag for tag in tags if tag.is_recalled), tags[0])
