"""The schema: four classes of tables, and triggers that make history append-only.

Every journalled table is an *interval table*: a row holds from operation `op_from` (included) to `op_to`
(excluded; NULL = still), so the table is its own journal. "Before" and "after" of an operation N are the rows
that end at N and begin at N. Triggers refuse any other way of writing, whichever code path tries it: an insert
must begin at the newest operation, the only update closes an open row at the newest operation, and a delete is
possible only while an erasure is under way. Undo, as-of reading and the audit log all rest on this.
"""

from __future__ import annotations

from dataclasses import dataclass

APPLICATION_ID = 0x6D64656B
"""Marks the file as a memdeck store in its header ("mdek")."""


@dataclass(frozen=True)
class Table:
    """An interval table: `key` names one object's row, `columns` are its payload, in order.

    `label` is the prefix under which the journal shows the object and `owner` the column that counts there.
    `touching` is False for evidence, which never stands in the way of an undo. `revision` names a column that
    grows with each row of a key.
    """

    name: str
    key: tuple[str, ...]
    columns: tuple[str, ...]
    label: str
    owner: str
    touching: bool = True
    revision: str | None = None
    types: tuple[tuple[str, str], ...] = ()

    @property
    def all_columns(self) -> tuple[str, ...]:
        """Key and payload, without the row id and the two operation numbers."""
        return self.key + self.columns


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
    ("memory_id", "subject", "relation", "object", "confidence", "speculative"),
    "mem",
    "memory_id",
)
TAGS = Table(
    "tags",
    ("tag_id",),
    ("code", "name", "folded", "type", "definition", "dimensions", "synonyms", "source", "status", "merged_to"),
    "tag",
    "tag_id",
    touching=False,
)
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

JOURNALLED: tuple[Table, ...] = (
    VERSIONS, STATES, MEMORY_TAGS, MEMORY_TOPICS, FACTS, TAGS, TOPICS, REVIEW, TOMBSTONES, SIGHTINGS, SETTINGS,
)  # fmt: skip
"""Interval tables. Beside them `memories` (identities) and `texts` (by content hash) only ever grow."""

CONTENT = ("memories", "texts")
CONTROL = ("meta", "operations", "undone", "counters", "idempotency", "jobs", "cursors", "past_journal", "erased")
EPHEMERAL = ("usage", "recall_log", "ledger", "blocked")

_INTEGER = frozenset(
    """memory_id revision valid_from valid_to dated_at seq authority speculative manually_corrected baseline
    baseline_priority checksum target locked tag_id topic_id fact_id merged_to item_id rival_id defer_until
    opened_at sighting_id at""".split()
)
_REAL = frozenset({"confidence"})
_BLOB = frozenset({"description", "body", "fingerprint"})


def _column_type(table: Table, column: str) -> str:
    if table is TOPICS and column == "description":
        return "TEXT"
    if column in _INTEGER:
        return "INTEGER"
    if column in _REAL:
        return "REAL"
    return "BLOB" if column in _BLOB else "TEXT"


def _interval_sql(table: Table) -> str:
    name = table.name
    columns = ", ".join(f"{c} {_column_type(table, c)}" for c in table.all_columns)
    key = ", ".join(table.key)
    frozen = ", ".join(("vid", "op_from", *table.all_columns))
    newest = "(SELECT max(op) FROM operations)"
    return f"""
CREATE TABLE {name} (vid INTEGER PRIMARY KEY, op_from INTEGER NOT NULL, op_to INTEGER, {columns});
CREATE UNIQUE INDEX {name}_open ON {name} ({key}) WHERE op_to IS NULL;
CREATE INDEX {name}_key ON {name} ({key}, op_from);
CREATE INDEX {name}_from ON {name} (op_from);
CREATE INDEX {name}_to ON {name} (op_to) WHERE op_to IS NOT NULL;
CREATE TRIGGER {name}_insert BEFORE INSERT ON {name}
WHEN NEW.op_to IS NOT NULL OR NEW.op_from IS NOT {newest}
BEGIN SELECT RAISE(ABORT, 'append-only: a row begins at the newest operation'); END;
CREATE TRIGGER {name}_freeze BEFORE UPDATE OF {frozen} ON {name}
BEGIN SELECT RAISE(ABORT, 'append-only: a row never changes'); END;
CREATE TRIGGER {name}_close BEFORE UPDATE OF op_to ON {name}
WHEN OLD.op_to IS NOT NULL OR NEW.op_to IS NOT {newest}
BEGIN SELECT RAISE(ABORT, 'append-only: a row ends once, at the newest operation'); END;
CREATE TRIGGER {name}_delete BEFORE DELETE ON {name}
WHEN NOT EXISTS (SELECT 1 FROM meta WHERE key = 'erasing')
BEGIN SELECT RAISE(ABORT, 'append-only: rows go only by expunge or cleanup'); END;
"""


_FIXED_SQL = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE operations (
  op INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, kind TEXT NOT NULL, origin TEXT NOT NULL,
  actor TEXT NOT NULL DEFAULT '', session TEXT, workspace TEXT, source TEXT NOT NULL DEFAULT '',
  reason TEXT NOT NULL DEFAULT '', summary TEXT NOT NULL DEFAULT '', run TEXT);
CREATE INDEX operations_at ON operations (at);
CREATE INDEX operations_run ON operations (run) WHERE run IS NOT NULL;
CREATE TABLE undone (op INTEGER NOT NULL, by_op INTEGER NOT NULL, PRIMARY KEY (op, by_op)) WITHOUT ROWID;
CREATE INDEX undone_by ON undone (by_op);
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE idempotency (
  actor TEXT NOT NULL, key TEXT NOT NULL, op INTEGER NOT NULL, at INTEGER NOT NULL, answer TEXT NOT NULL,
  PRIMARY KEY (actor, key)) WITHOUT ROWID;
CREATE TABLE jobs (
  job INTEGER PRIMARY KEY, kind TEXT NOT NULL, payload TEXT NOT NULL, state TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0, next_at INTEGER, error TEXT NOT NULL DEFAULT '');
CREATE TABLE cursors (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE past_journal (epoch INTEGER NOT NULL, op INTEGER NOT NULL, record TEXT NOT NULL, PRIMARY KEY (epoch, op));
CREATE TABLE erased (uid TEXT PRIMARY KEY, memory_id INTEGER NOT NULL, at INTEGER NOT NULL, fingerprint BLOB) WITHOUT ROWID;
CREATE TABLE memories (id INTEGER PRIMARY KEY, uid TEXT NOT NULL UNIQUE, op INTEGER NOT NULL, recorded_at INTEGER NOT NULL);
CREATE TABLE texts (hash BLOB PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TRIGGER texts_freeze BEFORE UPDATE ON texts BEGIN SELECT RAISE(ABORT, 'append-only: a text never changes'); END;
CREATE TRIGGER texts_delete BEFORE DELETE ON texts WHEN NOT EXISTS (SELECT 1 FROM meta WHERE key = 'erasing')
BEGIN SELECT RAISE(ABORT, 'append-only: texts go only by expunge or cleanup'); END;
CREATE TRIGGER memories_delete BEFORE DELETE ON memories WHEN NOT EXISTS (SELECT 1 FROM meta WHERE key = 'erasing')
BEGIN SELECT RAISE(ABORT, 'append-only: memories go only by expunge or cleanup'); END;
CREATE TABLE usage (
  memory_id INTEGER PRIMARY KEY, injected INTEGER NOT NULL DEFAULT 0, read INTEGER NOT NULL DEFAULT 0,
  used INTEGER NOT NULL DEFAULT 0, recalls INTEGER NOT NULL DEFAULT 0, last_recall INTEGER, feedback TEXT);
CREATE TABLE recall_log (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, actor TEXT NOT NULL, query TEXT NOT NULL, hits TEXT NOT NULL);
CREATE TABLE ledger (session TEXT NOT NULL, memory_id INTEGER NOT NULL, bytes INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (session, memory_id)) WITHOUT ROWID;
CREATE TABLE blocked (fingerprint BLOB PRIMARY KEY, times INTEGER NOT NULL, last_at INTEGER NOT NULL, origin TEXT NOT NULL) WITHOUT ROWID;
"""

_INDEX_SQL = """
CREATE INDEX versions_fingerprint ON versions (fingerprint) WHERE op_to IS NULL;
CREATE INDEX versions_source ON versions (json_extract(extra, '$.source_path')) WHERE op_to IS NULL;
CREATE INDEX versions_name ON versions (name) WHERE op_to IS NULL;
CREATE INDEX versions_thread ON versions (thread, seq) WHERE thread IS NOT NULL;
CREATE INDEX versions_texts ON versions (body);
CREATE INDEX versions_descriptions ON versions (description);
CREATE INDEX states_state ON states (state) WHERE op_to IS NULL;
CREATE INDEX memory_tags_tag ON memory_tags (tag_id) WHERE op_to IS NULL;
CREATE INDEX memory_topics_topic ON memory_topics (topic_id) WHERE op_to IS NULL;
CREATE INDEX tags_folded ON tags (folded) WHERE op_to IS NULL;
CREATE INDEX topics_folded ON topics (folded) WHERE op_to IS NULL;
CREATE INDEX facts_memory ON facts (memory_id) WHERE op_to IS NULL;
CREATE INDEX facts_pair ON facts (subject, relation) WHERE op_to IS NULL;
CREATE INDEX review_dedupe ON review_items (dedupe) WHERE op_to IS NULL;
CREATE INDEX review_state ON review_items (state) WHERE op_to IS NULL;
CREATE INDEX review_memory ON review_items (memory_id) WHERE op_to IS NULL;
CREATE INDEX sightings_memory ON sightings (memory_id) WHERE op_to IS NULL;
"""


def initial_sql() -> str:
    """Return the statements of the first schema, without the derived search index."""
    return _FIXED_SQL + "".join(_interval_sql(t) for t in JOURNALLED) + _INDEX_SQL
