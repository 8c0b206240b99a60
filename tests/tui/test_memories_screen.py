"""The memories tab: keys change the store and the journal says so."""

from __future__ import annotations

import pytest

from engine.model.enums import State, Type
from tests.tui.harness import CLAUDE, CODEX, OWNER, walking

pytestmark = pytest.mark.anyio


async def test_archive_undo_redo(desk):
    first, second = desk.say("one"), desk.say("two")
    async with walking(desk.engine) as walk:
        assert walk.screen.table.current_id == second
        await walk.press("j", "x")
        assert desk.memory(first).state is State.ARCHIVED
        assert "u undoes it" in walk.said()
        assert list(walk.screen.table.ids) == [second]
        await walk.press("u")
        assert desk.memory(first).state is State.ACTIVE
        await walk.press("U")
        assert desk.memory(first).state is State.ARCHIVED
        assert desk.kinds()[:3] == ["redo", "undo", "archive"]


async def test_verbs_act_on_marks_in_one_operation(desk):
    ids = [desk.say(f"text {n}") for n in range(6)]
    async with walking(desk.engine) as walk:
        await walk.press("space", "space", "j", "v", "j", "v")
        assert walk.screen.table.marks == {ids[5], ids[4], ids[2], ids[1]}
        await walk.press("D")
        assert {id for id in ids if desk.memory(id).state is State.DELETED} == {ids[5], ids[4], ids[2], ids[1]}
        assert desk.kinds()[0] == "forget"
        assert not walk.screen.table.marks
        await walk.press("u")
        assert all(desk.memory(id).state is State.ACTIVE for id in ids)


async def test_more_than_twenty_are_asked_about(desk):
    for n in range(22):
        desk.say(f"text number {n}")
    async with walking(desk.engine) as walk:
        await walk.press("asterisk", "x", "n")
        assert desk.engine.counts(OWNER).memories == 22
        await walk.press("x", "y")
        assert desk.engine.counts(OWNER).memories == 0


async def test_full_width_keys_do_the_same(desk):
    id = desk.say("用中文输入法")
    async with walking(desk.engine, lang="zh") as walk:
        await walk.press("ｘ")
        assert desk.memory(id).state is State.ARCHIVED
        await walk.press("ｕ")
        assert desk.memory(id).state is State.ACTIVE


async def test_the_filter_narrows_as_you_type_and_escape_widens(desk):
    hit = desk.say("部署区域是华南")
    desk.say("the build runs at noon")
    async with walking(desk.engine) as walk:
        await walk.press("slash")
        await walk.type("华南")
        await walk.settle(0.15)
        assert list(walk.screen.table.ids) == [hit]
        await walk.press("enter")
        assert walk.screen.table.has_focus
        assert walk.screen.filter.text == "华南"
        await walk.press("escape")
        await walk.settle(0.15)
        assert len(walk.screen.table.ids) == 2


async def test_chips_are_any_within_and_all_between_groups(desk):
    one = desk.say("a", type=Type.USER, tags=("x",))
    two = desk.say("b", type=Type.PROJECT, tags=("x",))
    desk.say("c", type=Type.PROJECT)
    async with walking(desk.engine) as walk:
        await walk.press("f")
        await walk.type("type: user")
        await walk.press("enter")
        await walk.press(*["backspace"] * 4)
        await walk.type("project")
        await walk.press("enter")
        await walk.press(*["backspace"] * 13)
        await walk.type("tag: x")
        await walk.press("enter", "escape")
        assert list(walk.screen.table.ids) == [two, one]
        await walk.press("escape")
        assert len(walk.screen.table.ids) == 3


async def test_archived_memories_are_found_by_chip_and_restored(desk):
    id = desk.say("away")
    desk.engine.forget(OWNER, [f"mem-{id}"], how="archive")
    desk.say("here")
    async with walking(desk.engine) as walk:
        await walk.press("f")
        await walk.type("state: archived")
        await walk.press("enter", "escape")
        assert list(walk.screen.table.ids) == [id]
        await walk.press("r")
        assert desk.memory(id).state is State.ACTIVE


async def test_lock_and_supersede_and_correct(desk):
    id = desk.say("The release is on Monday", type=Type.PROJECT, tags=("release",))
    async with walking(desk.engine) as walk:
        await walk.press("l")
        assert desk.memory(id).locked
        await walk.press("l")
        assert not desk.memory(id).locked
        await walk.press("s")
        await walk.press(*["backspace"] * 6)
        await walk.type("Tuesday")
        await walk.press("enter")
        newer = walk.screen.table.current_id
        assert newer != id
        assert desk.memory(newer).description == "The release is on Tuesday"
        assert desk.memory(newer).tags == ("release",)
        assert desk.memory(id).state is State.SUPERSEDED
        await walk.press("c")
        await walk.press(*["backspace"] * 7)
        await walk.type("星期五")
        await walk.press("enter")
        assert desk.memory(newer).description == "The release is on 星期五"
        assert desk.memory(newer).revision == 2


async def test_merge_needs_two_marks(desk):
    older, newer = desk.say("the same in words"), desk.say("the same in other words")
    async with walking(desk.engine) as walk:
        await walk.press("m")
        assert "exactly two" in walk.said()
        await walk.press("asterisk", "m", "y")
        assert desk.memory(older).state is State.MERGED
        assert desk.memory(older).target == newer
        await walk.press("u")
        assert desk.memory(older).state is State.ACTIVE


async def test_erasing_wants_the_words_typed(desk):
    id = desk.say("a private matter")
    desk.say("another")
    async with walking(desk.engine) as walk:
        await walk.press("j", "ctrl+x")
        await walk.type("yes")
        await walk.press("enter")
        assert desk.memory(id).state is State.ACTIVE
        await walk.press(*["backspace"] * 3)
        await walk.type(f"erase {id}")
        await walk.press("enter")
        assert list(desk.engine.memory_ids(OWNER)) == [id + 1]
        assert "private" not in str(desk.engine.log())


async def test_what_an_agent_writes_appears_with_cursor_and_marks_kept(desk):
    ids = [desk.say(f"text {n}") for n in range(5)]
    async with walking(desk.engine) as walk:
        await walk.press("j", "space")
        new = desk.say("written by an agent", CLAUDE)
        await walk.settle(0.7)
        table = walk.screen.table
        assert table.ids[0] == new
        assert table.current_id == ids[2]
        assert table.marks == {ids[3]}
        assert walk.app.counts.memories == 6


async def test_the_next_start_returns_to_the_same_place(desk, tmp_path):
    ids = [desk.say("the first", OWNER), desk.say("a second by codex", CODEX), desk.say("last of all", OWNER)]
    state = tmp_path / "state.json"
    async with walking(desk.engine, state=state) as walk:
        await walk.press("o", "k", "p", "f3", "3")
    async with walking(desk.engine, state=state) as walk:
        assert walk.app.current_mode == "playbook"
        assert walk.app.theme == "memdeck-light"
        await walk.press("1")
        assert walk.screen.order == "oldest"
        assert walk.screen.table.current_id == ids[1]
        assert not walk.screen.query_one("#preview").display


async def test_an_empty_store_greets_with_three_things_to_do(desk):
    async with walking(desk.engine) as walk:
        welcome = str(walk.screen.query_one("#welcome").render())
        assert all(word in welcome for word in ("import", "connect", "by hand"))
        await walk.press("n")
        await walk.type("first thing")
        await walk.press("ctrl+s")
        assert desk.engine.counts(OWNER).memories == 1
        assert not walk.screen.query_one("#welcome").display
        assert walk.screen.table.has_focus


async def test_verbs_say_why_they_are_refused(desk):
    async with walking(desk.engine) as walk:
        await walk.press("x")
        assert "nothing is selected" in walk.said()
        await walk.press("u")
        assert walk.said()
        assert desk.kinds() == []


async def test_a_read_only_store_refuses_every_writing_verb(desk, tmp_path):
    from engine.facade import open_engine

    id = desk.say("kept")
    desk.engine.close()
    with open_engine(tmp_path / "store", read_only=True, env={}) as engine:
        async with walking(engine) as walk:
            await walk.press("x", "e", "u")
            assert "reading only" in walk.said()
            assert engine.get(OWNER, f"mem-{id}").state is State.ACTIVE


@pytest.mark.parametrize(
    ("script", "text", "said"),
    [
        ("sed -i s/noon/midnight/", "The build runs at midnight", "saved"),
        ("true", "The build runs at noon", "nothing was changed"),
        ("false", "The build runs at noon", "nothing was changed"),
        ("/no/such/editor", "The build runs at noon", "cannot be started"),
    ],
)
async def test_an_editor_of_ones_own(desk, monkeypatch, script, text, said):
    from contextlib import nullcontext

    from tui.app import MemdeckApp

    monkeypatch.setenv("EDITOR", script)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setattr(MemdeckApp, "suspend", lambda self: nullcontext())
    id = desk.say("The build runs at noon", body="# Why\n\nquiet")
    async with walking(desk.engine) as walk:
        await walk.press("E")
        assert said in walk.said() or "nothing" in walk.said()
        memory = desk.memory(id)
        assert (memory.description, memory.body) == (text, "# Why\n\nquiet")


async def test_who_wrote_it_is_a_chip(desk):
    one = desk.say("written by claude", CLAUDE)
    desk.say("said by the owner himself")
    async with walking(desk.engine) as walk:
        await walk.press("f")
        await walk.type("written by: claude")
        await walk.press("enter", "escape")
        assert list(walk.screen.table.ids) == [one]
        assert "claude-code" in str(walk.screen.query_one("#chips").render())
