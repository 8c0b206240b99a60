"""What a question to recall comes down to: its moments on both axes, its tags, and who may be scored at all."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import NamedTuple

from engine.model.enums import Channel, Mode
from engine.model.errors import invalid
from engine.model.memory import Caller, Filter, RecallQuery
from engine.recall.candidates import Candidates
from engine.recall.graph import MAX_DEPTH
from engine.recall.tags import Cue, cue_of
from engine.store import journal, selection
from engine.store.ageing import Silent
from engine.store.vocabulary import Vocabulary
from engine.usecases.ageing import silent
from engine.usecases.desk import Desk

MAX_LIMIT = 1000


class Asked(NamedTuple):
    """A question taken apart: `known` is the operation at which things were known (None = now), `valid_ms` the moment
    that is asked about, `cue` what it says of tags."""

    query: RecallQuery
    by: Caller
    known: int | None
    valid_ms: int
    cue: Cue
    silent: Silent

    @property
    def filter(self) -> Filter:
        """Return the chips that filter; the tags channel scores its tags instead."""
        flt = self.query.filter
        return replace(flt, tags=()) if self.query.channel is Channel.TAGS else flt

    def rules(self) -> dict[str, selection.Condition]:
        """Return by name what has to hold for a memory to be scored."""
        query = self.query
        return selection.recall_rules(
            self.by, query.mode, self.filter, valid_ms=self.valid_ms, known=self.known,
            moved=query.at_ms is not None or query.known_ms is not None,
            everywhere=query.everywhere or self.by.is_owner, silent=self.silent,
        )  # fmt: skip

    def candidates(self) -> Candidates:
        """Return the condition under which a memory is scored: every rule holds."""
        chosen = selection.joined(self.rules(), self.known)
        return Candidates(chosen.sql, chosen.values)


def ask(desk: Desk, conn: sqlite3.Connection, by: Caller, query: RecallQuery) -> Asked:
    """Take a question apart; raises invalid_argument for one that cannot be answered."""
    if not 1 <= query.limit <= MAX_LIMIT:
        raise invalid(f"limit={query.limit} is not between 1 and {MAX_LIMIT}", "leave it out for ten")
    if query.mode is not Mode.CURRENT and query.at_ms is not None:
        raise invalid(f"`at` has no meaning with mode={query.mode.value}", "leave one of them out")
    check_walk(query.hops, query.days)
    known = None if query.known_ms is None else journal.operation_at(conn, query.known_ms)
    moments = (query.at_ms, query.known_ms, desk.store.clock.now_ms())
    valid = next(ms for ms in moments if ms is not None)
    return Asked(query, by, known, valid, cue_of(Vocabulary(conn, known), query), silent(desk))


def check_walk(hops: int, days: float | None) -> None:
    """Raise invalid_argument for bounds of a walk of the graph that have no meaning (T11, T12)."""
    if not 0 <= hops <= MAX_DEPTH:
        raise invalid(f"hops={hops} is not between 0 and {MAX_DEPTH}", "leave it out for two")
    if days is not None and not 0 < days <= 1_000_000:
        raise invalid(f"days={days} is no number of days", "give how many days back, or leave it out")
