"""Opening a store that is in order waits for nobody, and reading leaves the lock alone."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from engine.facade import open_engine
from engine.model.enums import Origin
from engine.model.errors import MemdeckError
from engine.model.memory import Caller, Draft, RecallQuery

ME = Caller(Origin.CLI, "owner")


def test_a_reader_gets_on_while_somebody_holds_the_lock(tmp_path: Path) -> None:
    with open_engine(tmp_path / "store") as engine:
        engine.remember(ME, Draft("the ferry leaves at seven"))
    held = os.open(tmp_path / "store" / "memory.db.lock", os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)
    try:
        with open_engine(tmp_path / "store", env={"MEMDECK_WRITER_DEADLINE_MS": "300"}) as engine:
            assert engine.recall(ME, RecallQuery("ferry")).total == 1
            with pytest.raises(MemdeckError) as refused:
                engine.remember(ME, Draft("the harbour office opens at nine"))
            assert refused.value.code == "busy"
    finally:
        os.close(held)
    with open_engine(tmp_path / "store") as engine:
        engine.remember(ME, Draft("the harbour office opens at nine"))
        assert engine.counts(ME).memories == 2


def test_a_damaged_file_is_not_taken_for_a_store_in_order(tmp_path: Path) -> None:
    with open_engine(tmp_path / "store") as engine:
        engine.remember(ME, Draft("the ferry leaves at seven"))
    path = tmp_path / "store" / "memory.db"
    path.write_bytes(b"\0" * 100 + path.read_bytes()[100:])
    with pytest.raises(MemdeckError):
        open_engine(tmp_path / "store")
