"""What SQLite's planner is told of a store from the first day."""

from __future__ import annotations

PLANNER_SQL = """
ANALYZE;
DELETE FROM sqlite_stat1;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('states', 'states_state', '1000000 200000 1'), ('versions', 'versions_by_type', '1000000 250000 1');
ANALYZE sqlite_schema;
"""
"""Statistics as of a large store: how many rows there are, and how many share one state or one type.

Without them every equality passes for selective, and a join begins with all memories that are active.
"""
