"""Twenty writers of one file at once (S42)."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from engine.facade import open_engine
from engine.model.enums import Origin
from engine.model.memory import Caller, Draft

ME = Caller(Origin.CLI, "owner")


def test_twenty_exports_to_one_file_all_succeed_and_leave_nothing_beside_it(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with open_engine(tmp_path / "store") as engine:
        for number in range(30):
            engine.remember(ME, Draft(f"the locker {number} is kept by the harbour office"))
        with ThreadPoolExecutor(20) as pool:
            counts = list(pool.map(lambda _: engine.export(out / "all.json"), range(20)))
    assert counts == [30] * 20
    assert [p.name for p in out.iterdir()] == ["all.json"]
    assert len(json.loads((out / "all.json").read_text("utf-8"))["tables"]["memories"]["rows"]) == 30


def test_twenty_writes_to_one_store_at_once_all_land(tmp_path: Path) -> None:
    with open_engine(tmp_path / "store") as engine:
        engine.remember(ME, Draft("the locker is kept by the harbour office"))

        def tell(number: int) -> None:
            engine.remember(ME, Draft(f"locker note {number} of the harbour office"), key=f"k{number}")

        with ThreadPoolExecutor(20) as pool:
            list(pool.map(tell, range(20)))
        assert engine.counts(ME).memories == 21
    assert not list((tmp_path / "store").rglob("*.tmp*"))
