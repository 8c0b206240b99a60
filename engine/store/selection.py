"""Which memories a reader may see at a point in time: one SQL condition for lists, recall and counts.

Time modes and states filter first, before anything is scored or cut (C3, W39). A condition speaks of versions `v`.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from engine.model.enums import Mode, Scope, State
from engine.model.ids import workspace_names
from engine.model.memory import Caller, Filter
from engine.rules.tagging import tag_key
from engine.rules.textnorm import fold
from engine.store.ageing import DORMANT, Silent
from engine.store.rows import dump, marks, open_at

READ_STATES = (State.ACTIVE, State.SUPERSEDED)
"""Superseded memories were true in their time: their closed validity keeps them out of the present, not their state."""

HIDDEN_FROM_AGENTS = (State.DELETED, State.QUARANTINED)


@dataclass
class Condition:
    """A growing WHERE clause with its values."""

    parts: list[str] = field(default_factory=list)
    values: list[object] = field(default_factory=list)

    def add(self, sql: str, *values: object) -> None:
        """Add one condition."""
        self.parts.append(sql)
        self.values += values

    def any_of(self, column: str, choices: Sequence[object]) -> None:
        """Add `column IN (choices)`; no choices mean no condition."""
        if choices:
            self.add(f"{column} IN ({marks(len(choices))})", *choices)

    @property
    def sql(self) -> str:
        """Return the clause, true when empty."""
        return " AND ".join(self.parts) or "1"


@dataclass(frozen=True)
class Selection:
    """A condition on versions `v` as SQL and values, for what was known at operation `known` (None = now)."""

    sql: str
    values: tuple[object, ...]
    known: int | None


ALL_HEARD = Silent()


def recall_selection(
    by: Caller,
    mode: Mode,
    flt: Filter,
    *,
    valid_ms: int,
    known: int | None,
    moved: bool,
    everywhere: bool,
    silent: Silent = ALL_HEARD,
) -> Selection:
    """Return what recall may score: every one of `recall_rules` holds."""
    rules = recall_rules(
        by, mode, flt, valid_ms=valid_ms, known=known, moved=moved, everywhere=everywhere, silent=silent
    )
    return joined(rules, known)


def joined(rules: Mapping[str, Condition], known: int | None) -> Selection:
    """Return the condition under which every rule holds."""
    parts = [rule for rule in rules.values() if rule.parts]
    sql = " AND ".join([open_at("v", known), *(rule.sql for rule in parts)])
    return Selection(sql, tuple(value for rule in parts for value in rule.values), known)


def recall_rules(
    by: Caller,
    mode: Mode,
    flt: Filter,
    *,
    valid_ms: int,
    known: int | None,
    moved: bool,
    everywhere: bool,
    silent: Silent = ALL_HEARD,
) -> dict[str, Condition]:
    """Return by name what has to hold for a memory to be scored: time mode, state, scope, chips of the filter.

    `moved` is true when the question names another moment on either axis; archived memories then count too (R8).
    `silent` is what the strict present passes over besides.
    """
    rules = {name: Condition() for name in RULES}
    if mode is Mode.ARCHIVED:
        _states(rules["state"], [State.ARCHIVED], flt.locked, known)
    else:
        states = [*READ_STATES, *([State.ARCHIVED] if moved or mode is Mode.ASSOCIATIVE else [])]
        _states(rules["state"], states, flt.locked, known)
        if mode is Mode.CURRENT:
            rules["validity"].add("v.valid_from <= ? AND (v.valid_to IS NULL OR v.valid_to > ?)", valid_ms, valid_ms)
    rules["status"].add("v.status = 'completed'")
    _hidden_since(rules["hidden"], known)
    _scope(rules["scope"], by, everywhere)
    _filter(rules, flt, known)
    _tags(rules["tags"], flt.tags, known, "AND g.status <> 'deprecated'")
    if mode is Mode.CURRENT and not moved:
        if silent.rejected:
            rules["rejected"].add("v.memory_id NOT IN (SELECT u.memory_id FROM usage u WHERE u.feedback = 'rejected')")
        if silent.ageing:
            rules["dormant"].add(f"NOT ({DORMANT})", *silent.ageing)
    return rules


CHIPS = ("types", "kinds", "origins", "actors", "scopes", "topics", "text", "tags")
RULES = ("state", "validity", "status", "hidden", "scope", *CHIPS, "rejected", "dormant")
"""Names of what can keep a memory from being scored, in the order in which it is asked."""


def list_selection(by: Caller, flt: Filter, *, valid_ms: int | None, known: int | None) -> Selection:
    """Return what a list shows: the owner sees every scope and, when asked for, every state."""
    where = Condition()
    states = flt.states or (State.ACTIVE,)
    if not by.is_owner:
        states = tuple(s for s in states if s not in HIDDEN_FROM_AGENTS)
        where.add("v.status = 'completed'")
        _hidden_since(where, known)
        _scope(where, by, False)
    elif valid_ms is not None and not flt.states:
        states = (*READ_STATES, State.ARCHIVED)
    if known is None and flt.locked is None and State.ACTIVE in states:
        _all_but(where, [s for s in State if s not in states])
    else:
        _states(where, states, flt.locked, known)
    if valid_ms is not None:
        where.add("v.valid_from <= ? AND (v.valid_to IS NULL OR v.valid_to > ?)", valid_ms, valid_ms)
    chips = {name: Condition() for name in CHIPS}
    _filter(chips, flt, known)
    _tags(chips["tags"], flt.tags, known)
    for chip in chips.values():
        where.parts += chip.parts
        where.values += chip.values
    return Selection(f"{open_at('v', known)} AND {where.sql}", tuple(where.values), known)


def _hidden_since(where: Condition, known: int | None) -> None:
    """Leave out of the past what was forgotten, or set apart, since."""
    if known is not None:
        where.add(
            "NOT EXISTS (SELECT 1 FROM states c WHERE c.memory_id = v.memory_id AND c.op_to IS NULL"
            f" AND c.state IN ({marks(len(HIDDEN_FROM_AGENTS))}))",
            *[s.value for s in HIDDEN_FROM_AGENTS],
        )


def _states(where: Condition, states: Sequence[State], locked: bool | None, known: int | None) -> None:
    inner = Condition()
    inner.any_of("s.state", [s.value for s in states])
    if not states:
        inner.add("0")
    if locked is not None:
        inner.add("s.locked = ?", int(locked))
    if known is None and State.ACTIVE not in states:
        # Few memories are in any other state: begin with those.
        where.add(
            f"v.memory_id IN (SELECT s.memory_id FROM states s WHERE s.op_to IS NULL AND {inner.sql})", *inner.values
        )
        return
    where.add(
        f"EXISTS (SELECT 1 FROM states s WHERE s.memory_id = v.memory_id AND {open_at('s', known)} AND {inner.sql})",
        *inner.values,
    )


def _all_but(where: Condition, states: Sequence[State]) -> None:
    """Leave out a few memories instead of asking for the state of each; for lists that go through all of them."""
    if states:
        where.add(
            "v.memory_id NOT IN (SELECT s.memory_id FROM states s INDEXED BY states_state WHERE s.op_to IS NULL"
            f" AND s.state IN ({marks(len(states))}))",
            *[s.value for s in states],
        )


def _scope(where: Condition, by: Caller, everywhere: bool) -> None:
    if everywhere and by.is_owner:
        return
    if everywhere:
        where.add("(v.scope <> ? OR v.scope_key IS ?)", Scope.SESSION.value, by.session)
        return
    names = workspace_names(by.workspace)
    where.add(
        f"(v.scope = ? OR (v.scope = ? AND v.scope_key IN ({marks(len(names))}))"
        " OR (v.scope = ? AND v.scope_key IS ?))",
        Scope.GLOBAL.value,
        Scope.WORKSPACE.value,
        *names,
        Scope.SESSION.value,
        by.session,
    )


def _filter(chips: Mapping[str, Condition], flt: Filter, known: int | None) -> None:
    chips["types"].any_of("v.type", [t.value for t in flt.types])
    chips["kinds"].any_of("v.kind", [k.value for k in flt.kinds])
    chips["origins"].any_of("v.origin", [o.value for o in flt.origins])
    chips["actors"].any_of("v.actor", list(flt.actors))
    chips["scopes"].any_of("v.scope", [s.value for s in flt.scopes])
    if flt.topics:
        chips["topics"].add(
            "v.memory_id IN (SELECT l.memory_id FROM memory_topics l JOIN topics t ON t.topic_id = l.topic_id AND"
            f" {open_at('t', known)} WHERE {open_at('l', known)} AND t.folded IN ({marks(len(flt.topics))}))",
            *[fold(n) for n in flt.topics],
        )
    for word in fold(flt.text).split():
        pattern = "%" + word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        chips["text"].add(
            "(v.name LIKE ? ESCAPE '\\' OR v.aliases LIKE ? ESCAPE '\\' OR v.subject LIKE ? ESCAPE '\\' OR EXISTS"
            " (SELECT 1 FROM texts x WHERE x.hash IN (v.description, v.body) AND x.text LIKE ? ESCAPE '\\'))",
            pattern, pattern, pattern, pattern,
        )  # fmt: skip


def _tags(where: Condition, names: Sequence[str], known: int | None, recalled: str = "") -> None:
    """Admit what carries a tag by name or synonym; a merged tag stands for its target (W17, W20).

    `recalled` narrows the tags `g` that count: recall leaves deprecated ones out (W23), a list shows them.
    """
    if not names:
        return
    keys = dump([tag_key(name) for name in names])
    wanted = "(SELECT value FROM json_each(?))"
    synonyms = (
        "SELECT tag_id FROM tag_names WHERE key IN"
        if known is None
        else (f"SELECT s.tag_id FROM tags s, json_each(s.synonyms) n WHERE {open_at('s', known)} AND n.key IN")
    )
    where.add(
        f"v.memory_id IN (SELECT l.memory_id FROM memory_tags l WHERE {open_at('l', known)} AND l.tag_id IN"
        " (SELECT g.tag_id FROM tags t JOIN tags g ON g.tag_id = coalesce(t.merged_to, t.tag_id)"
        f" AND {open_at('g', known)} {recalled} WHERE {open_at('t', known)}"
        f" AND (t.folded IN {wanted} OR t.tag_id IN ({synonyms} {wanted}))))",
        keys, keys,
    )  # fmt: skip


ORDERS = {
    "newest": "v.memory_id DESC",
    "oldest": "v.memory_id",
    "name": "v.name COLLATE NOCASE, v.memory_id",
    "changed": "v.op_from DESC, v.memory_id DESC",
}


def memory_ids(conn: sqlite3.Connection, selection: Selection, order: str = "newest") -> array[int]:
    """Return the ids of a selection as an array of 64-bit integers, in one of ORDERS."""
    rows = conn.execute(
        f"SELECT v.memory_id FROM versions v WHERE {selection.sql} ORDER BY {ORDERS[order]}", selection.values
    )
    return array("q", chain.from_iterable(rows))


def count(conn: sqlite3.Connection, selection: Selection) -> int:
    """Return how many memories a selection holds."""
    row = conn.execute(f"SELECT count(*) FROM versions v WHERE {selection.sql}", selection.values).fetchone()
    return int(row[0])
