"""Care of the store from the app: upkeep in the background, what a check found, export, clean-up."""

from __future__ import annotations

import pytest

from engine.facade import unpack_store
from engine.model.enums import State
from engine.model.records import Finding
from tests.tui.harness import OWNER, walking
from tui.app import TEND_AFTER, TEND_EVERY

pytestmark = pytest.mark.anyio

DAY = 86_400_000


async def test_upkeep_makes_the_snapshot_and_the_check_of_the_day(desk):
    desk.say("text")
    async with walking(desk.engine) as walk:
        assert desk.engine.last_check() is None
        walk.app.tend()
        await walk.settle()
        assert desk.engine.last_check()[1] == []
        assert len(desk.engine.snapshots()) == 1
        assert "Memories 1" in str(walk.screen.query_one("#status-line").render())


async def test_what_a_check_found_stands_in_the_status_line_of_every_screen_until_it_is_gone(desk, monkeypatch):
    bad = Finding("error", "audit", "a line is missing", "doctor --fix")
    monkeypatch.setattr(desk.engine, "last_check", lambda: (desk.clock.at_ms, [bad]))
    async with walking(desk.engine) as walk:
        assert "found 1 problem: d in the settings tab (6)" in str(walk.screen.query_one("#status-line").render())
        await walk.press("6")
        assert "found 1 problem" in str(walk.screen.query_one("#status-line").render())
        monkeypatch.setattr(desk.engine, "last_check", lambda: (desk.clock.at_ms, []))
        walk.app.tend()
        await walk.settle()
        assert "Memories 0" in str(walk.screen.query_one("#status-line").render())


async def test_upkeep_begins_after_the_start_and_comes_again(desk, monkeypatch):
    planned = []
    async with walking(desk.engine) as walk:
        monkeypatch.setattr(walk.app, "set_interval", lambda seconds, call: planned.append((seconds, call)))
        assert TEND_AFTER in [timer._interval for timer in walk.app._timers]
        walk.app._begin_tending()
        await walk.settle()
        assert planned == [(TEND_EVERY, walk.app.tend)]


async def test_the_store_is_exported_to_a_file(desk, tmp_path):
    desk.say("text")
    target = tmp_path / "all.json"
    async with walking(desk.engine) as walk:
        await walk.press("6", "E", "escape")
        assert not target.exists()
        await walk.press("E", "ctrl+u")
        await walk.type(str(target))
        await walk.press("enter")
        await walk.settle()
        assert "exported: 1 memory" in walk.said()
    assert unpack_store(target, tmp_path / "copy") == 1


async def test_an_export_that_cannot_be_written_says_why(desk, tmp_path):
    async with walking(desk.engine) as walk:
        await walk.press("6", "E", "ctrl+u")
        await walk.type(str(tmp_path / "none" / "all.json"))
        await walk.press("enter")
        await walk.settle()
        assert list(walk.app._notifications)[-1].severity == "error"


async def test_clean_up_counts_first_and_wants_the_words(desk):
    old = desk.say("long forgotten")
    desk.engine.forget(OWNER, [f"mem-{old}"])
    async with walking(desk.engine) as walk:
        await walk.press("6", "c")
        assert "nothing was forgotten" in walk.said()
        desk.clock.at_ms += 100 * DAY
        await walk.press("c", "enter")
        assert desk.engine.cleanup(OWNER).memories == (old,)
        await walk.press("c")
        await walk.type("remove 1")
        await walk.press("enter")
        assert "removed: 1 memory" in walk.said()
        assert desk.engine.cleanup(OWNER).memories == ()
        assert State.DELETED.value not in desk.engine.counts(OWNER).by_state
