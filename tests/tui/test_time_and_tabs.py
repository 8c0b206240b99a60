"""The past, the other tabs, the journal, import, settings, help and palette."""

from __future__ import annotations

import pytest

from engine.model.enums import State
from engine.model.errors import MemdeckError
from tests.tui.harness import CLAUDE, OWNER, walking

pytestmark = pytest.mark.anyio

DAY = 86_400_000


async def test_the_past_is_read_only_and_unmissable(desk):
    old = desk.say("部署区域是华南")
    desk.clock.at_ms += 10 * DAY
    new = desk.say("部署区域是华东", replaces=f"mem-{old}@1")
    desk.clock.at_ms += 10 * DAY
    async with walking(desk.engine) as walk:
        assert list(walk.screen.table.ids) == [new]
        await walk.press("t", "minus", *["left"] * 2)
        await walk.settle(0.12)
        assert list(walk.screen.table.ids) == [old]
        assert "THE PAST" in str(walk.screen.query_one("#past").render())
        await walk.press("escape", "x")
        assert "this is the past" in walk.said()
        assert desk.memory(old).state is State.SUPERSEDED
        await walk.press("T")
        assert list(walk.screen.table.ids) == [new]
        assert not walk.screen.query_one("#past").display


async def test_two_moments_compared(desk):
    gone = desk.say("gone soon")
    changed = desk.say("部署在华南")
    desk.clock.at_ms += 10 * DAY
    desk.engine.forget(OWNER, [f"mem-{gone}"])
    desk.engine.edit(OWNER, f"mem-{changed}@1", {"description": "部署在华东"})
    come = desk.say("new")
    desk.clock.at_ms += 5 * DAY
    async with walking(desk.engine) as walk:
        await walk.press("t", "minus", "left", "left")
        await walk.settle(0.12)
        await walk.press("b", "full_stop")
        await walk.settle(0.12)
        await walk.press("b")
        assert walk.screen.NAME == "difference"
        assert {id: pair.sign for id, pair in walk.screen._pairs.items()} == {gone: "-", changed: "~", come: "+"}


async def test_typing_a_date_and_a_wrong_one(desk):
    desk.say("text")
    desk.clock.at_ms += 10 * DAY
    async with walking(desk.engine) as walk:
        await walk.press("t", "enter")
        await walk.type("whenever")
        await walk.press("enter")
        assert "is no date" in walk.said()
        await walk.press("enter")
        await walk.type("2026-01-01")
        await walk.press("enter")
        await walk.settle(0.12)
        assert list(walk.screen.table.ids) == []
        assert walk.screen.table.display


async def test_topics_and_tags_lead_to_their_memories(desk):
    desk.say("one", topics=("部署",), tags=("a",))
    two = desk.say("two", topics=("部署",), tags=("b",))
    three = desk.say("three", tags=("b",))
    async with walking(desk.engine) as walk:
        await walk.press("2")
        assert walk.screen._current().count == 2
        await walk.press("5", "slash")
        await walk.type("b")
        await walk.press("enter")
        assert [row.line.name for row in map(walk.screen._rows.get, walk.screen.names.ids)] == ["b"]
        await walk.press("enter")
        await walk.settle()
        assert walk.app.current_mode == "memories"
        assert list(walk.screen.table.ids) == [three, two]
        await walk.press("minus")
        assert walk.app.current_mode == "tags"


@pytest.mark.parametrize("key", ["3", "4"])
async def test_empty_tabs_say_so(desk, key):
    async with walking(desk.engine) as walk:
        await walk.press(key)
        assert "stores none" in str(walk.screen.query_one("#empty").render())


async def test_status_line_equals_the_queries(desk):
    for n in range(9):
        desk.say(f"text {n}", topics=(f"t{n % 3}",))
    async with walking(desk.engine, lang="zh") as walk:
        assert "记忆 9 · 主题 3 · 待办 0 · 准则 0" in str(walk.screen.query_one("#status-line").render())
        assert len(desk.engine.memory_ids(OWNER)) == 9
        assert len(desk.engine.topics()) == 3


async def test_any_operation_is_taken_back_from_the_journal(desk):
    one, two = desk.say("one"), desk.say("two", CLAUDE)
    async with walking(desk.engine) as walk:
        await walk.press("at")
        assert walk.screen.table.current.actor == "claude-code"
        await walk.press("x")
        with pytest.raises(MemdeckError):
            desk.memory(two)
        assert desk.memory(one)
        await walk.press("m")
        assert {walk.screen._operations[op].origin for op in walk.screen.table.ids} == {OWNER.origin}


async def test_where_later_changes_rest_on_it_the_rest_is_offered(desk):
    ids = [desk.say("one"), desk.say("two")]
    desk.engine.forget(OWNER, [f"mem-{id}" for id in ids], how="archive")
    desk.engine.forget(OWNER, [f"mem-{ids[0]}"], how="restore")
    async with walking(desk.engine) as walk:
        await walk.press("at", "j", "x", "y")
        assert [desk.memory(id).state for id in ids] == [State.ACTIVE, State.ACTIVE]


async def test_settings_are_checked_and_take_effect(desk):
    async with walking(desk.engine) as walk:
        await walk.press("6")
        names = [line.item.name for line in walk.screen._lines if hasattr(line.item, "choices")]
        await walk.press(*["j"] * names.index("recall.limit"), "e", "ctrl+u")
        await walk.type("999")
        await walk.press("enter")
        assert desk.engine.setting("recall.limit").value == 10
        await walk.press("e", "ctrl+u")
        await walk.type("12")
        await walk.press("enter")
        assert desk.engine.setting("recall.limit").value == 12
        await walk.press("u")
        assert desk.engine.setting("recall.limit").value == 10


async def test_a_setting_that_needs_a_restart_shows_both_values(desk):
    async with walking(desk.engine) as walk:
        await walk.press("6")
        names = [line.item.name for line in walk.screen._lines if hasattr(line.item, "choices")]
        await walk.press(*["j"] * names.index("writer.deadline_ms"), "e", "ctrl+u")
        await walk.type("700")
        await walk.press("enter")
        assert "5000 now, 700 after a restart" in walk.said()


async def test_snapshot_doctor_and_restore(desk):
    desk.say("before")
    async with walking(desk.engine) as walk:
        await walk.press("6", "n")
        await walk.type("今天")
        await walk.press("enter")
        (snapshot,) = desk.engine.snapshots()
        assert snapshot.reason == "今天"
        await walk.press("d")
        assert walk.screen._findings
        late = desk.say("after")
        await walk.press("g")
        at = next(line.at for line in walk.screen._lines if line.item == snapshot)
        await walk.press(*["j"] * at, "r")
        await walk.type("restore 1")
        await walk.press("enter")
        assert late not in desk.engine.memory_ids(OWNER)
        assert len(desk.engine.snapshots()) == 2


async def test_import_with_a_dry_run_first(desk, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "one.md").write_text("---\nname: one\ndescription: 第一条\ntype: project\n---\n\nbody\n", encoding="utf-8")
    (notes / "two.md").write_text("---\nname: two\ndescription: second\ntype: user\n---\n\nbody\n", encoding="utf-8")
    async with walking(desk.engine) as walk:
        walk.app._choose_place([])
        await walk.settle()
        await walk.type(str(notes))
        await walk.press("enter")
        assert walk.screen.NAME == "import"
        assert desk.engine.counts(OWNER).memories == 0
        await walk.press("a")
        assert desk.engine.counts(OWNER).memories == 2
        await walk.press("a")
        assert "imported already" in walk.said()
        await walk.press("escape", "u")
        assert desk.engine.counts(OWNER).memories == 0


async def test_a_path_that_is_not_there(desk, tmp_path):
    async with walking(desk.engine) as walk:
        walk.app._choose_place([])
        await walk.settle()
        await walk.type(str(tmp_path / "nowhere"))
        await walk.press("enter")
        assert walk.screen.NAME == "memories"
        assert "\n" not in walk.said()
        assert walk.said()


async def test_help_is_searchable_and_the_palette_acts(desk):
    id = desk.say("text")
    async with walking(desk.engine, lang="zh") as walk:
        await walk.press("question_mark")
        await walk.type("归档")
        rows = walk.screen.query_one("#help-text").content.row_count
        assert rows < 8
        await walk.press("escape", "colon")
        await walk.type("归档")
        await walk.settle(0.3)
        await walk.press("enter", "enter")
        await walk.settle(0.3)
        assert desk.memory(id).state is State.ARCHIVED


async def test_the_other_language_at_once(desk):
    desk.say("text")
    async with walking(desk.engine) as walk:
        await walk.press("2", "1", "f2")
        assert "记忆 1" in str(walk.screen.query_one("#status-line").render())
        assert desk.engine.setting("lang").value == "zh"
        await walk.press("2")
        assert "主题" in str(walk.screen.query_one("#title").render())


async def test_own_keys(desk):
    id = desk.say("text")
    (desk.engine.store_dir / "keymap.yaml").write_text("memory.archive: z\nmemory.fly: k\n", encoding="utf-8")
    async with walking(desk.engine) as walk:
        assert "no action memory.fly" in walk.said()
        await walk.press("x")
        assert desk.memory(id).state is State.ACTIVE
        await walk.press("z")
        assert desk.memory(id).state is State.ARCHIVED


@pytest.mark.parametrize("size", [(80, 24), (40, 10), (20, 5)])
async def test_any_window_size_and_every_screen(desk, size):
    desk.say("部署区域是华南" * 20, body="# x\n" * 200, tags=("a", "b"))
    async with walking(desk.engine, size=size) as walk:
        for key in (
            "2",
            "3",
            "4",
            "5",
            "6",
            "1",
            "t",
            "escape",
            "T",
            "enter",
            "escape",
            "at",
            "escape",
            "w",
            "escape",
            "n",
        ):
            await walk.press(key)
        await walk.pilot.resize_terminal(120, 36)
        await walk.settle()
        assert walk.screen.NAME == "form"


async def test_a_store_that_vanishes_is_said_once_and_does_not_end_the_app(desk, monkeypatch):
    desk.say("text")
    async with walking(desk.engine) as walk:

        def gone():
            raise MemdeckError("internal", "the store is gone", "bring it back")

        monkeypatch.setattr(desk.engine, "change_token", gone)
        await walk.settle(0.7)
        assert "the store is gone" in str(walk.screen.query_one("#status-line").render())
        monkeypatch.undo()
        await walk.settle(0.7)
        assert "Memories 1" in str(walk.screen.query_one("#status-line").render())


async def test_connecting_shows_the_difference_writes_it_and_takes_it_out(desk, tmp_path, monkeypatch):
    home = tmp_path / "home"
    (home / ".codex").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    settings = home / ".codex" / "config.toml"
    settings.write_text('model = "o4"\n', encoding="utf-8")
    async with walking(desk.engine) as walk:
        await walk.press("C", "j")
        await walk.settle(0.2)
        assert "mcp_servers" in str(walk.screen.query_one("#change-text").render())
        assert settings.read_text(encoding="utf-8") == 'model = "o4"\n'
        await walk.press("a", "y")
        await walk.settle(0.2)
        assert "memdeck" in settings.read_text(encoding="utf-8")
        await walk.press("x", "y")
        await walk.settle(0.2)
        assert settings.read_text(encoding="utf-8") == 'model = "o4"\n'


async def test_the_other_language_stays_in_the_past(desk):
    desk.say("text")
    desk.clock.at_ms += 10 * DAY
    async with walking(desk.engine) as walk:
        await walk.press("t", "left", "escape", "f2")
        assert "过去" in str(walk.screen.query_one("#past").render())
        assert walk.screen.query_one("#past").display


async def test_clicks_do_what_keys_do(desk):
    first = desk.say("the first of two")
    desk.say("something quite different")
    async with walking(desk.engine) as walk:
        await walk.pilot.click("#tab-bar", offset=(20, 0))
        await walk.settle()
        assert walk.app.current_mode == "topics"
        await walk.pilot.click("#tab-bar", offset=(3, 0))
        await walk.settle()
        await walk.pilot.click("#memories", offset=(20, 1))
        await walk.settle()
        assert walk.screen.table.current_id == first
        await walk.pilot.click("#memories", offset=(20, 1), times=2)
        await walk.settle()
        assert walk.screen.NAME == "detail"
        line = str(walk.screen.query_one("#key-line").render())
        await walk.pilot.click("#key-line", offset=(line.index("archive") + 2, 0))
        await walk.settle()
        assert desk.memory(first).state is State.ARCHIVED


async def test_a_tag_shows_its_relations_and_proposed_merges_wait_at_its_tab(desk):
    desk.say("one", tags=("部署", "生产"))
    desk.engine.relate(OWNER, "部署", "生产", "related")
    async with walking(desk.engine) as walk:
        await walk.press("5", "slash")
        await walk.type("部署")
        await walk.settle()
        drawn = [(line.node.name, line.level) for line in walk.screen.graph.lines]
        assert drawn == [("部署", None), ("生产", "related")]
        desk.engine.propose_tag_merge(CLAUDE, ["生产"], "部署", reason="the same")
        await walk.settle(0.7)
        assert "5 Tags 2 !1" in str(walk.screen.query_one("#tab-bar").render())
        await walk.press("escape", "w")
        assert [item.kind for item in walk.screen._items.values()] == ["tag_merge"]
