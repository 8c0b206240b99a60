"""The app starts, lists, and takes back what was done, over a store in memory."""

from __future__ import annotations

import pytest

from tests.tui.fakes import FakeEngine
from tui.app import MemdeckApp


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.mark.anyio
async def test_archive_and_undo(tmp_path):
    engine = FakeEngine(tmp_path, [f"text {n}" for n in range(300)])
    app = MemdeckApp(engine)
    async with app.run_test(size=(120, 36)) as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.screen.table.current_id == 300
        await pilot.press("j", "x")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert engine.memories[299].state == "archived"
        await pilot.press("u")
        await app.workers.wait_for_complete()
        assert engine.memories[299].state == "active"
        await pilot.press("@")
        await pilot.pause()
        assert app.screen.NAME == "journal"
