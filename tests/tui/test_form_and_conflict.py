"""Writing and editing by form, what happens when somebody else was faster, and the history of a memory."""

from __future__ import annotations

import pytest

from engine.model.enums import Type
from tests.tui.harness import CLAUDE, OWNER, walking

pytestmark = pytest.mark.anyio


async def test_a_new_memory_with_every_field(desk):
    desk.say("something else")
    async with walking(desk.engine) as walk:
        await walk.press("n")
        await walk.type("部署区域是华南")
        await walk.press("tab")
        await walk.type("deploy-region")
        await walk.press("tab")
        await walk.type("部署区域")
        await walk.press("tab")
        await walk.type("部署, 生产")
        await walk.press("tab")
        await walk.type("区域 #cn")
        await walk.press("tab", "tab")
        await walk.type("2026-05-01")
        await walk.press("ctrl+s")
        memory = desk.memory(walk.screen.table.current_id)
        assert memory.description == "部署区域是华南"
        assert memory.name == "deploy-region"
        assert memory.subject == "部署区域"
        assert memory.topics == ("部署", "生产")
        assert memory.tags == ("区域", "cn")
        assert desk.kinds()[0] == "remember"


async def test_an_edit_is_the_next_version_and_keeps_the_rest(desk):
    id = desk.say("The build runs at noon", tags=("ci",), body="# Why\n\nIt is quiet then.", type=Type.PROJECT)
    async with walking(desk.engine) as walk:
        await walk.press("e")
        await walk.type(" and at six")
        await walk.press("ctrl+s")
        memory = desk.memory(id)
        assert memory.description == "The build runs at noon and at six"
        assert (memory.revision, memory.manually_corrected) == (2, True)
        assert (memory.tags, memory.body, memory.type) == (("ci",), "# Why\n\nIt is quiet then.", Type.PROJECT)
        await walk.press("u")
        assert desk.memory(id).description == "The build runs at noon"


async def test_a_bad_date_keeps_the_form_and_what_was_typed(desk):
    id = desk.say("text")
    async with walking(desk.engine) as walk:
        await walk.press("e", "tab", "tab", "tab", "tab", "tab", "tab")
        walk.screen.query_one("#valid_from").value = "sometime"
        await walk.press("ctrl+s")
        assert walk.screen.NAME == "form"
        assert "is no date" in walk.said()
        assert desk.memory(id).revision == 1


async def test_leaving_keeps_a_draft_that_comes_back(desk):
    id = desk.say("text")
    async with walking(desk.engine) as walk:
        await walk.press("e")
        await walk.type(" 未完成")
        await walk.press("escape")
        assert walk.screen.NAME == "memories"
        assert desk.memory(id).revision == 1
        await walk.press("e")
        assert walk.screen.query_one("#description").value == "text 未完成"
        await walk.press("ctrl+s")
        assert desk.memory(id).description == "text 未完成"
        await walk.press("e")
        assert walk.screen.query_one("#description").value == "text 未完成"
        assert not walk.app.state.get("drafts", {})


async def test_what_an_agent_changed_meanwhile_is_merged_by_field(desk):
    id = desk.say("The build runs at noon", CLAUDE, tags=("ci",), subject="build")
    async with walking(desk.engine) as walk:
        await walk.press("e")
        await walk.type(" sharp")
        desk.engine.edit(CLAUDE, f"mem-{id}@1", {"subject": "the build", "description": "The build runs at one"})
        await walk.settle(0.7)
        assert walk.screen.query_one("#banner").display
        await walk.press("ctrl+s")
        assert walk.screen.NAME == "conflict"
        sides = {row.field: row.side for row in walk.screen._rows}
        assert sides == {"description": "", "subject": "theirs"}
        await walk.press("a")
        assert "choose a side" in walk.said()
        await walk.press("l", "a")
        memory = desk.memory(id)
        assert (memory.description, memory.subject) == ("The build runs at noon sharp", "the build")
        assert memory.revision == 3
        assert walk.screen.NAME == "memories"


async def test_taking_theirs_writes_nothing(desk):
    id = desk.say("one", CLAUDE)
    async with walking(desk.engine) as walk:
        await walk.press("e")
        await walk.type(" mine")
        desk.engine.edit(CLAUDE, f"mem-{id}@1", {"description": "theirs"})
        await walk.press("ctrl+s", "h", "a")
        assert desk.memory(id).description == "theirs"
        assert desk.memory(id).revision == 2


async def test_it_changes_once_more_while_the_conflict_is_open(desk):
    id = desk.say("one", CLAUDE)
    async with walking(desk.engine) as walk:
        await walk.press("e")
        await walk.type(" mine")
        desk.engine.edit(CLAUDE, f"mem-{id}@1", {"description": "theirs"})
        await walk.press("ctrl+s", "l")
        desk.engine.edit(CLAUDE, f"mem-{id}@2", {"description": "theirs again"})
        await walk.press("a")
        assert walk.screen.NAME == "conflict"
        await walk.press("l", "a")
        assert desk.memory(id).description == "one mine"
        assert desk.memory(id).revision == 4


async def test_the_detail_shows_every_version_and_who_wrote_it(desk):
    id = desk.say("部署区域是华南", CLAUDE)
    desk.engine.edit(OWNER, f"mem-{id}@1", {"description": "部署区域是华东"}, reason="moved")
    async with walking(desk.engine) as walk:
        await walk.press("enter")
        assert list(walk.screen.table.ids) == [2, 1]
        text = str(walk.screen.query_one("#change-text").render())
        assert "部署区域是华南东" in text
        assert "moved" in text
        await walk.press("left_square_bracket")
        assert walk.screen.table.current_id == 1
        assert "claude-code" in str(walk.screen.query_one("#change-text").render())
        await walk.press("right_square_bracket", "x")
        assert desk.kinds()[0] == "archive"
        await walk.press("escape")
        assert walk.screen.NAME == "memories"


async def test_a_paste_that_would_hold_everything_up_is_refused(desk):
    async with walking(desk.engine) as walk:
        await walk.press("n")
        body = walk.screen.query_one("#body")
        body.focus()
        await walk.settle()
        walk.paste("部署\n" * 100_000)
        await walk.settle()
        assert body.text == ""
        assert "at once" in walk.said()
        walk.paste("部署\n" * 100)
        await walk.settle()
        assert body.text == "部署\n" * 100
