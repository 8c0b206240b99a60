"""The statements that every write and every list runs stay cheap in a large store, whatever the planner is told."""

from __future__ import annotations

import sqlite3

import pytest

from engine.facade import Engine
from engine.model.memory import Draft, RecallQuery
from tests.engine.kit import OWNER, agent, put

BEGINS_WITH_ALL = ("SEARCH s USING INDEX states_state (state=?)", "USING INDEX versions_by_type (type=?)")
"""What no statement that looks for something else may begin with: all active memories, or all of a type."""


@pytest.fixture
def said(engine: Engine) -> list[str]:
    """Return the list that every statement of the engine is added to."""
    statements: list[str] = []
    with engine._desk.store.exclusive() as conn:
        conn.set_trace_callback(statements.append)
    with engine._desk.store.read() as conn:
        conn.set_trace_callback(statements.append)
    return statements


def test_no_write_or_recall_begins_with_all_that_is_active(engine: Engine, said: list[str]) -> None:
    put(engine, "The gate is blue", subject="gate", tags=("a",), topics=("t",))
    put(engine, "The gate is blue", agent(), subject="gate")
    engine.remember(agent(), Draft("The gate is green"), replaces="mem-1")
    engine.edit(OWNER, "mem-1", {"description": "The gate is red"}, expect_revision=1)
    engine.recall(agent(), RecallQuery("gate"))
    engine.context(agent(), "which colour has the gate")
    engine.tags(), engine.topics(), engine.log()
    with engine._desk.store.read() as conn:
        bad = [(sql, plan) for sql in said for plan in _plan(conn, sql) if plan.endswith(BEGINS_WITH_ALL)]
    assert bad == []


def _plan(conn: sqlite3.Connection, sql: str) -> list[str]:
    if not sql.lstrip().startswith(("SELECT v", "SELECT t", "SELECT s")):
        return []
    return [str(row[3]) for row in conn.execute(f"EXPLAIN QUERY PLAN {sql}")]


@pytest.mark.parametrize("order", ("newest", "oldest", "name", "changed"))
def test_a_list_of_everything_is_read_from_an_index_in_order(engine: Engine, said: list[str], order: str) -> None:
    put(engine, "The gate is blue")
    said.clear()
    engine.memory_ids(OWNER, order=order)
    (sql,) = [s for s in said if s.startswith("SELECT v.memory_id")]
    with engine._desk.store.read() as conn:
        plan = _plan(conn, sql)
    assert plan[0].startswith("SCAN v USING INDEX versions_") and not any("TEMP B-TREE" in step for step in plan)
