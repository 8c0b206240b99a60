"""The schema: four classes of tables, and triggers that make history append-only.

Every journalled table is an *interval table*: a row holds from operation `op_from` (included) to `op_to`
(excluded; NULL = still), so the table is its own journal. "Before" and "after" of an operation N are the rows
that end at N and begin at N. Triggers refuse any other way of writing, whichever code path tries it: an insert
must begin in the operation under way, the only update closes an open row in it, and a delete is possible only while
an erasure is under way. Undo, as-of reading and the audit log all rest on this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.rules.tagging import SYSTEM_TAGS, tag_key

APPLICATION_ID = 0x6D64656B
"""Marks the file as a memdeck store in its header ("mdek")."""


@dataclass(frozen=True)
class Table:
    """An interval table: `key` names one object's row, `columns` are its payload, in order.

    `label` is the prefix under which the journal shows the object and `owner` the column that counts there.
    `touching` is False for evidence, which never stands in the way of an undo. Rows that are `shared` are made in
    passing: one that an operation made stays when others use or change it, and only a change of it stands in the way.
    `revision` names a column that grows with each row of a key.
    """

    name: str
    key: tuple[str, ...]
    columns: tuple[str, ...]
    label: str
    owner: str
    touching: bool = True
    revision: str | None = None
    shared: bool = False
    types: tuple[tuple[str, str], ...] = ()

    @property
    def all_columns(self) -> tuple[str, ...]:
        """Key and payload, without the row id and the two operation numbers."""
        return self.key + self.columns

    def label_of(self, row: Mapping[str, object]) -> str:
        """Return the name under which the journal shows a row's object: `mem-7`, `tag-3`, `setting-lang`."""
        owner = row.get(self.owner)
        if owner is not None:
            return f"{self.label}-{owner}"
        key = row[self.key[0]]
        return f"{self.name}-{key.hex()[:8] if isinstance(key, bytes) else key}"


VERSIONS = Table(
    "versions",
    ("memory_id",),
    (
        "revision", "kind", "type", "name", "description", "body", "aliases", "subject", "valid_from", "valid_to",
        "dated_at", "scope", "scope_key", "thread", "seq", "source", "origin", "actor", "authority", "confidence",
        "speculative", "manually_corrected", "status", "baseline", "baseline_priority", "scene", "scene_sub",
        "perception", "extra", "fingerprint", "checksum",
    ),
    "mem",
    "memory_id",
    revision="revision",
)  # fmt: skip
STATES = Table("states", ("memory_id",), ("state", "cause", "target", "locked"), "mem", "memory_id")
MEMORY_TAGS = Table("memory_tags", ("memory_id", "tag_id"), (), "mem", "memory_id")
MEMORY_TOPICS = Table("memory_topics", ("memory_id", "topic_id"), (), "mem", "memory_id")
FACTS = Table(
    "facts",
    ("fact_id",),
    (
        "memory_id", "subject", "relation", "object", "subject_id", "object_id", "subject_type", "object_type",
        "confidence", "speculative", "weight",
    ),
    "mem",
    "memory_id",
)  # fmt: skip
"""Statements that a memory makes; one without relation and object only says whom the memory describes.

A fact is as current and as visible as its memory: states and times are never copied here.
"""
ENTITIES = Table(
    "entities", ("entity_id",), ("folded", "name", "type", "stated", "extra"), "entity", "entity_id", touching=False
)
"""Whom facts speak of, one row per folded name; `stated` is mentioned, declared (by an import) or made_up.

`type` and `extra` are what an import declared; other types come with the facts.
"""
TAGS = Table(
    "tags",
    ("tag_id",),
    ("code", "name", "folded", "type", "definition", "dimensions", "synonyms", "source", "status", "merged_to"),
    "tag",
    "tag_id",
    shared=True,
)
"""The vocabulary: `folded` is the key that all spellings of the name share, and keeps its number for good.

`synonyms` is an object from keys to names, `dimensions` a list; a merged tag's `merged_to` never names a merged one.
"""
TAG_RELATIONS = Table("tag_relations", ("low_id", "high_id"), ("level",), "tag", "low_id")
"""One row for both sides of a relation (W21)."""
TOPICS = Table(
    "topics", ("topic_id",), ("code", "name", "folded", "description", "aliases", "status"), "topic", "topic_id"
)
REVIEW = Table(
    "review_items",
    ("item_id",),
    (
        "kind", "dedupe", "memory_id", "rival_id", "title", "evidence", "proposal", "state", "defer_until",
        "reason", "opened_at", "origin", "actor",
    ),
    "review",
    "item_id",
)  # fmt: skip
TOMBSTONES = Table("tombstones", ("fingerprint",), ("memory_id", "reason"), "mem", "memory_id")
SIGHTINGS = Table(
    "sightings",
    ("sighting_id",),
    ("memory_id", "revision", "at", "origin", "actor", "session", "source", "authority"),
    "mem",
    "memory_id",
    touching=False,
)
SETTINGS = Table("settings", ("name",), ("value",), "setting", "name")
EVENTS = Table(
    "events",
    ("event_id",),
    (
        "memory_id", "type", "level", "parent", "thread", "suffix", "at", "input", "response", "steps", "context",
        "status", "route", "rating", "session",
    ),
    "mem",
    "memory_id",
)  # fmt: skip
"""What happened, in full: `input` and `response` name texts, NULL where none is kept; only turns fill it (R17).

`suffix` is what the ids of a turn's card, routing record and event share (W4).
"""
PREFERENCES = Table(
    "preferences", ("memory_id", "folded"), ("name", "value", "confidence", "at"), "mem", "memory_id"
)
"""What a turn says of how its owner wants things; as visible as its memory, and the newest of a name holds (W55)."""

JOURNALLED: tuple[Table, ...] = (
    VERSIONS, STATES, MEMORY_TAGS, MEMORY_TOPICS, FACTS, ENTITIES, TAGS, TAG_RELATIONS, TOPICS, REVIEW, TOMBSTONES,
    SIGHTINGS, SETTINGS, EVENTS, PREFERENCES,
)  # fmt: skip
"""Interval tables. Beside them `memories` (identities) and `texts` (by content hash) only ever grow."""

CONTENT = ("memories", "texts")
CONTROL = (
    "meta", "operations", "undone", "undone_left", "counters", "idempotency", "jobs", "cursors", "past_journal",
    "erased",
)  # fmt: skip
DERIVED = ("tag_names",)
"""Beside the search index: which tags have a synonym, by its key; triggers follow the rows of `tags`."""
EPHEMERAL = ("usage", "recall_log", "ledger", "blocked")

_INTEGER = frozenset(
    """memory_id revision valid_from valid_to dated_at seq authority speculative manually_corrected baseline
    baseline_priority checksum target locked tag_id topic_id fact_id merged_to low_id high_id item_id rival_id
    defer_until opened_at sighting_id at entity_id subject_id object_id event_id parent""".split()
)
_REAL = frozenset({"confidence", "weight"})
_BLOB = frozenset({"description", "body", "fingerprint", "input", "response"})


def _column_type(table: Table, column: str) -> str:
    if table is TOPICS and column == "description":
        return "TEXT"
    if column in _INTEGER:
        return "INTEGER"
    if column in _REAL:
        return "REAL"
    return "BLOB" if column in _BLOB else "TEXT"


_WRITING = "(SELECT op FROM operations WHERE op = (SELECT max(op) FROM operations) AND NOT done)"
"""The operation under way; NULL between operations, so that nothing can be added to one that was committed."""

_ERASING = "EXISTS (SELECT 1 FROM meta WHERE key = 'erasing')"


def _refusal(name: str, when: str, condition: str, message: str) -> str:
    """Return a trigger that refuses what happens `when`, under a condition."""
    return f"""
CREATE TRIGGER {name} BEFORE {when} WHEN {condition}
BEGIN SELECT RAISE(ABORT, 'append-only: {message}'); END;"""


def _table_sql(table: Table) -> str:
    name = table.name
    columns = ", ".join(f"{c} {_column_type(table, c)}" for c in table.all_columns)
    key = ", ".join(table.key)
    return f"""
CREATE TABLE {name} (vid INTEGER PRIMARY KEY, op_from INTEGER NOT NULL, op_to INTEGER, {columns});
CREATE UNIQUE INDEX {name}_open ON {name} ({key}) WHERE op_to IS NULL;
CREATE INDEX {name}_key ON {name} ({key}, op_from);
CREATE INDEX {name}_from ON {name} (op_from);
CREATE INDEX {name}_to ON {name} (op_to) WHERE op_to IS NOT NULL;"""


def _guards_sql(table: Table) -> str:
    name = table.name
    same = " AND ".join(f"{k} = NEW.{k}" for k in table.key)
    frozen = ", ".join(("vid", "op_from", *table.all_columns))
    # An INSERT OR REPLACE removes the row in its way without asking the delete trigger, hence `taken`.
    taken = (
        f"EXISTS (SELECT 1 FROM {name} WHERE vid = NEW.vid)"
        f" OR EXISTS (SELECT 1 FROM {name} WHERE {same} AND op_to IS NULL)"
    )
    return "".join(
        (
            _refusal(
                f"{name}_insert", f"INSERT ON {name}",
                f"NEW.op_to IS NOT NULL OR NEW.op_from IS NOT {_WRITING}",
                "a row begins in the operation under way",
            ),
            _refusal(f"{name}_taken", f"INSERT ON {name}", taken, "the row before it ends first"),
            _refusal(f"{name}_freeze", f"UPDATE OF {frozen} ON {name}", "1", "a row never changes"),
            _refusal(
                f"{name}_close", f"UPDATE OF op_to ON {name}",
                f"OLD.op_to IS NOT NULL OR NEW.op_to IS NULL OR NEW.op_to IS NOT {_WRITING}",
                "a row ends once, in the operation under way",
            ),
            _refusal(
                f"{name}_delete", f"DELETE ON {name}", f"NOT {_ERASING}", "rows go only by expunge or clean-up"
            ),
        )
    )  # fmt: skip


_FIXED_SQL = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE operations (
  op INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, kind TEXT NOT NULL, origin TEXT NOT NULL,
  actor TEXT NOT NULL DEFAULT '', session TEXT, workspace TEXT, source TEXT NOT NULL DEFAULT '',
  reason TEXT NOT NULL DEFAULT '', summary TEXT NOT NULL DEFAULT '', run TEXT, done INTEGER NOT NULL DEFAULT 0);
CREATE INDEX operations_at ON operations (at);
CREATE INDEX operations_run ON operations (run) WHERE run IS NOT NULL;
CREATE TABLE undone (op INTEGER NOT NULL, by_op INTEGER NOT NULL, PRIMARY KEY (op, by_op)) WITHOUT ROWID;
CREATE INDEX undone_by ON undone (by_op);
CREATE TABLE undone_left (by_op INTEGER NOT NULL, object TEXT NOT NULL, PRIMARY KEY (by_op, object)) WITHOUT ROWID;
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE idempotency (
  actor TEXT NOT NULL, key TEXT NOT NULL, op INTEGER NOT NULL, at INTEGER NOT NULL, answer TEXT NOT NULL,
  PRIMARY KEY (actor, key)) WITHOUT ROWID;
CREATE TABLE jobs (
  job INTEGER PRIMARY KEY, kind TEXT NOT NULL, payload TEXT NOT NULL, state TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0, next_at INTEGER, error TEXT NOT NULL DEFAULT '');
CREATE TABLE cursors (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE past_journal (epoch INTEGER NOT NULL, op INTEGER NOT NULL, record TEXT NOT NULL, PRIMARY KEY (epoch, op));
CREATE TABLE erased (
  uid TEXT PRIMARY KEY, memory_id INTEGER NOT NULL, at INTEGER NOT NULL, fingerprint BLOB) WITHOUT ROWID;
CREATE TABLE memories (
  id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE, op INTEGER NOT NULL, recorded_at INTEGER NOT NULL);
CREATE TABLE texts (hash BLOB PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE usage (
  memory_id INTEGER PRIMARY KEY, injected INTEGER NOT NULL DEFAULT 0, read INTEGER NOT NULL DEFAULT 0,
  used INTEGER NOT NULL DEFAULT 0, recalls INTEGER NOT NULL DEFAULT 0, last_recall INTEGER, feedback TEXT);
CREATE TABLE recall_log (
  id INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, actor TEXT NOT NULL, workspace TEXT,
  query TEXT NOT NULL, hits TEXT NOT NULL);
CREATE TABLE ledger (
  session TEXT PRIMARY KEY, actor TEXT NOT NULL, workspace TEXT, at INTEGER NOT NULL, packs INTEGER NOT NULL,
  tokens INTEGER NOT NULL, body_bytes INTEGER NOT NULL, card_bytes INTEGER NOT NULL, core INTEGER NOT NULL,
  baseline INTEGER NOT NULL, signature TEXT NOT NULL, cards TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE blocked (
  fingerprint BLOB PRIMARY KEY, times INTEGER NOT NULL, last_at INTEGER NOT NULL, origin TEXT NOT NULL) WITHOUT ROWID;
"""

_FIXED_TRIGGERS = "".join(
    (
        _refusal(
            "operations_insert", "INSERT ON operations",
            "NEW.done OR NEW.op <> -1 AND NEW.op <= coalesce((SELECT max(op) FROM operations), 0)",
            "operations are numbered upwards",
        ),
        _refusal(
            "operations_freeze",
            "UPDATE OF op, at, kind, origin, actor, session, workspace, source, run ON operations",
            "1", "an operation never changes",
        ),
        _refusal(
            "operations_describe", "UPDATE OF reason, summary, done ON operations",
            f"OLD.done AND NOT (NEW.done AND {_ERASING})", "an operation is described before it is committed",
        ),
        _refusal("operations_delete", "DELETE ON operations", "1", "an operation never goes"),
        _refusal("undone_insert", "INSERT ON undone", f"NEW.by_op IS NOT {_WRITING}", "an undo is an operation"),
        _refusal("undone_update", "UPDATE ON undone", "1", "an undo never changes"),
        _refusal("undone_delete", "DELETE ON undone", "1", "an undo never goes"),
        _refusal(
            "memories_insert", "INSERT ON memories",
            f"NEW.op IS NOT {_WRITING} OR EXISTS (SELECT 1 FROM memories WHERE id = NEW.id OR uid = NEW.uid)",
            "a memory begins once, in the operation under way",
        ),
        _refusal("memories_update", "UPDATE ON memories", "1", "a memory keeps its identity"),
        _refusal(
            "memories_delete", "DELETE ON memories", f"NOT {_ERASING}", "memories go only by expunge or clean-up"
        ),
        _refusal(
            "texts_insert", "INSERT ON texts",
            "EXISTS (SELECT 1 FROM texts WHERE hash = NEW.hash AND text IS NOT NEW.text)", "a text never changes",
        ),
        _refusal("texts_update", "UPDATE ON texts", "1", "a text never changes"),
        _refusal("texts_delete", "DELETE ON texts", f"NOT {_ERASING}", "texts go only by expunge or clean-up"),
    )
)  # fmt: skip

_INDEX_SQL = """
CREATE INDEX versions_fingerprint ON versions (fingerprint) WHERE op_to IS NULL;
CREATE INDEX versions_source ON versions (json_extract(extra, '$.source_path')) WHERE op_to IS NULL;
CREATE INDEX versions_name ON versions (name) WHERE op_to IS NULL;
CREATE INDEX versions_correction ON versions (valid_from, memory_id) WHERE op_to IS NULL AND kind = 'correction';
CREATE INDEX versions_personal ON versions (valid_from, memory_id)
  WHERE op_to IS NULL AND type IN ('user', 'feedback');
CREATE INDEX versions_baseline ON versions (baseline_priority, memory_id) WHERE op_to IS NULL AND baseline = 1;
CREATE INDEX versions_by_name ON versions (name COLLATE NOCASE, memory_id) WHERE op_to IS NULL;
CREATE INDEX versions_by_change ON versions (op_from, memory_id) WHERE op_to IS NULL;
CREATE INDEX versions_by_type ON versions (type, memory_id) WHERE op_to IS NULL;
CREATE INDEX versions_thread ON versions (thread, seq) WHERE thread IS NOT NULL;
CREATE INDEX versions_texts ON versions (body);
CREATE INDEX versions_descriptions ON versions (description);
CREATE INDEX states_state ON states (state, memory_id) WHERE op_to IS NULL;
CREATE INDEX memory_tags_tag ON memory_tags (tag_id, memory_id, op_from) WHERE op_to IS NULL;
CREATE INDEX tags_status ON tags (status) WHERE op_to IS NULL;
CREATE INDEX tags_merged ON tags (merged_to) WHERE op_to IS NULL AND merged_to IS NOT NULL;
CREATE INDEX tag_relations_high ON tag_relations (high_id) WHERE op_to IS NULL;
CREATE INDEX memory_topics_topic ON memory_topics (topic_id) WHERE op_to IS NULL;
CREATE INDEX tags_folded ON tags (folded, tag_id);
CREATE INDEX topics_folded ON topics (folded) WHERE op_to IS NULL;
CREATE INDEX facts_memory ON facts (memory_id);
CREATE INDEX facts_pair ON facts (subject_id, object_id) WHERE op_to IS NULL;
CREATE INDEX facts_relation ON facts (relation, subject_id) WHERE op_to IS NULL;
CREATE INDEX facts_subject ON facts (subject_id, op_from);
CREATE INDEX facts_object ON facts (object_id, op_from);
CREATE INDEX facts_subject_type ON facts (subject_id) WHERE op_to IS NULL AND subject_type <> '';
CREATE INDEX facts_object_type ON facts (object_id) WHERE op_to IS NULL AND object_type <> '';
CREATE INDEX entities_folded ON entities (folded, entity_id);
CREATE INDEX review_dedupe ON review_items (dedupe) WHERE op_to IS NULL;
CREATE INDEX review_state ON review_items (state) WHERE op_to IS NULL;
CREATE INDEX review_memory ON review_items (memory_id) WHERE op_to IS NULL;
CREATE INDEX review_rival ON review_items (rival_id) WHERE rival_id IS NOT NULL;
CREATE INDEX sightings_memory ON sightings (memory_id);
CREATE INDEX events_memory ON events (memory_id);
CREATE INDEX events_suffix ON events (suffix);
CREATE INDEX events_at ON events (at) WHERE op_to IS NULL;
CREATE INDEX events_session ON events (session, event_id) WHERE op_to IS NULL AND status = 'pending';
CREATE INDEX events_thread ON events (thread, event_id) WHERE op_to IS NULL;
CREATE INDEX events_parent ON events (parent) WHERE op_to IS NULL AND parent IS NOT NULL;
CREATE INDEX events_input ON events (input) WHERE input IS NOT NULL;
CREATE INDEX events_response ON events (response) WHERE response IS NOT NULL;
CREATE INDEX usage_feedback ON usage (feedback, memory_id) WHERE feedback IS NOT NULL;
CREATE INDEX preferences_name ON preferences (folded) WHERE op_to IS NULL;
"""


_NAMES_SQL = """
CREATE TABLE tag_names (key TEXT NOT NULL, tag_id INTEGER NOT NULL, PRIMARY KEY (key, tag_id)) WITHOUT ROWID;
CREATE TRIGGER tags_named AFTER INSERT ON tags WHEN NEW.op_to IS NULL
BEGIN INSERT OR IGNORE INTO tag_names (key, tag_id) SELECT key, NEW.tag_id FROM json_each(NEW.synonyms); END;
CREATE TRIGGER tags_unnamed AFTER UPDATE OF op_to ON tags
BEGIN DELETE FROM tag_names WHERE tag_id = OLD.tag_id AND key IN (SELECT key FROM json_each(OLD.synonyms)); END;
"""


def _begin_sql() -> str:
    """Return the statements that put the system tags into an empty store: known before its first operation (W16)."""
    rows = ",\n".join(
        f"(0, {number}, '{code}', '{name}', '{tag_key(name)}', '{kind.value}', '{definition}', '[\"{dimension}\"]',"
        " '{}', 'system', 'active')"
        for number, (kind, name, code, dimension, definition) in enumerate(SYSTEM_TAGS, 1)
    )
    return f"""
INSERT INTO tags (op_from, tag_id, code, name, folded, type, definition, dimensions, synonyms, source, status) VALUES
{rows};
INSERT INTO counters (name, value) VALUES ('tag', {len(SYSTEM_TAGS)});
"""


def initial_sql() -> str:
    """Return the statements of the first schema, without the derived search index."""
    tables = "".join(map(_table_sql, JOURNALLED))
    guards = "".join(map(_guards_sql, JOURNALLED))
    return _FIXED_SQL + tables + _begin_sql() + guards + _FIXED_TRIGGERS + _NAMES_SQL + _INDEX_SQL
