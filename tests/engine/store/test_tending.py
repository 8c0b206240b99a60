"""What a store needs now and then: the audit log, a snapshot and a check a day (C39, C40, C41)."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from engine.facade import open_engine
from engine.model.clock import FixedClock
from engine.model.enums import Origin
from engine.model.memory import Caller, Draft

ME = Caller(Origin.CLI, "owner")
DAY = 86_400_000


def test_a_day_brings_one_snapshot_and_one_check(tmp_path: Path) -> None:
    clock = FixedClock(1_800_000_000_000)
    with open_engine(tmp_path / "store", clock=clock) as engine:
        engine.remember(ME, Draft("the ferry leaves at seven"))
        assert engine.tend() == [] and engine.tend() == []
        assert [s.kind for s in engine.snapshots()] == ["automatic"]
        assert engine.last_check() == (clock.at_ms, [])
        assert (tmp_path / "store" / "audit.jsonl").read_text().count("\n") == 1

        clock.at_ms += DAY
        engine.tend()
        assert len(engine.snapshots()) == 1, "nothing changed, so nothing is copied"
        assert engine.last_check() == (clock.at_ms, [])

        engine.remember(ME, Draft("the ferry leaves at eight on Sundays"))
        engine.tend()
        assert len(engine.snapshots()) == 2


def test_what_is_wrong_is_found_and_kept(tmp_path: Path) -> None:
    with open_engine(tmp_path / "store") as engine:
        engine.remember(ME, Draft("the ferry leaves at seven"))
    with sqlite3.connect(tmp_path / "store" / "memory.db") as conn:
        guards = conn.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'texts'").fetchall()
        for (name,) in guards:
            conn.execute(f"DROP TRIGGER {name}")
        conn.execute("UPDATE texts SET text = 'the ferry leaves at nine' WHERE text LIKE 'the ferry%'")
    conn.close()
    with open_engine(tmp_path / "store") as engine:
        found = engine.tend()
        assert any(f.level == "error" and "hash" in f.message for f in found)
        assert engine.last_check()[1] == found


def test_a_store_that_is_only_read_is_left_alone(tmp_path: Path) -> None:
    with open_engine(tmp_path / "store") as engine:
        engine.remember(ME, Draft("the ferry leaves at seven"))
    with open_engine(tmp_path / "store", read_only=True) as engine:
        assert engine.tend() == []
        assert engine.snapshots() == [] and engine.last_check() is None
