"""The tag relations tab: lists, graph, single keys on one or many, and every way that a merge can go."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.model.enums import TagLevel, TagStatus
from engine.model.tags import EgoGraph, EgoNode, QueryEffect
from tests.tui.harness import CLAUDE, OWNER, walking
from tui.modals.dialogs import TypedConfirmDialog
from tui.widgets.tag_graph import lay_out

pytestmark = pytest.mark.anyio


@pytest.fixture
def vocabulary(desk):
    """Six tags with one to three memories each; 日程 is unexamined, because an agent brought it."""
    for number in range(3):
        desk.say(f"会议 {number} 的安排", tags=("会议",))
    desk.say("每周一的会议改到十点", tags=("会议", "schedule"))
    desk.say("The calendar is printed in June", tags=("schedule", "calendar"))
    desk.say("印刷机周五保养", CLAUDE, tags=("日程",))
    desk.say("放假三天", tags=("假期",))
    return desk


def status(desk, name):
    return desk.engine.tag(OWNER, name).status


def names(walk):
    return [walk.screen._rows[number].line.name for number in walk.screen.names.ids]


async def go(walk, name):
    """Put the list's cursor on a tag."""
    walk.screen.names.cursor = names(walk).index(name)
    await walk.settle()


def level(desk, one, other):
    relations = desk.engine.tag(OWNER, one).relations
    return next((relation.level for relation in relations if relation.name == other), None)


# -- list ------------------------------------------------------------------------------------------------------------


async def test_the_list_counts_by_status_and_shows_one_status_at_a_time(vocabulary):
    vocabulary.engine.deprecate(OWNER, "假期", "an old one")
    async with walking(vocabulary.engine) as walk:
        await walk.press("5")
        assert len(names(walk)) == vocabulary.engine.counts(OWNER).tags == 4
        views = str(walk.screen.query_one("#views").render())
        assert "in use 4" in views and "unexamined 1" in views and "deprecated 1" in views
        seen = {}
        for _ in range(6):
            await walk.press("f")
            seen[walk.screen._view] = names(walk)
        assert seen["unexamined"] == ["日程"] and seen["deprecated"] == ["假期"] and seen["merged"] == []
        assert len(seen["all"]) > 5  # the system's own, too


async def test_typing_narrows_by_synonyms_too_an_exact_match_first(vocabulary):
    vocabulary.engine.edit_tag(OWNER, "会议", {"synonyms": ["schedules"]})
    async with walking(vocabulary.engine) as walk:
        await walk.press("5", "slash")
        await walk.type("schedule")
        assert names(walk) == ["schedule", "会议"]
        await walk.press("escape")
        assert len(names(walk)) == 5


async def test_a_card_shows_everything_and_enter_lists_its_memories(vocabulary):
    vocabulary.engine.edit_tag(OWNER, "schedule", {"definition": "when things happen", "synonyms": ["timetable"]})
    async with walking(vocabulary.engine) as walk:
        await walk.press("5")
        await go(walk, "schedule")
        text = str(walk.screen.query_one("#change-text").render())
        for part in ("when things happen", "timetable", "calendar (1)", "会议 (1)", "carried by 2 memories"):
            assert part in text
        await walk.press("enter")
        await walk.settle()
        assert walk.app.current_mode == "memories"
        assert {row.tags for row in vocabulary.engine.memory_rows(OWNER, walk.screen.table.ids)} == {
            ("会议", "schedule"), ("schedule", "calendar"),
        }  # fmt: skip


async def test_an_empty_vocabulary_says_what_to_do(desk):
    async with walking(desk.engine) as walk:
        await walk.press("5", "x", "m")
        assert "No tags here" in str(walk.screen.query_one("#change-text").render())
        assert walk.screen.NAME == "tags"


# -- graph -----------------------------------------------------------------------------------------------------------


def test_the_tree_draws_every_tag_once_and_names_the_other_relations():
    def node(name, hops):
        return EgoNode(name, name, TagStatus.ACTIVE, 1, hops)

    graph = EgoGraph(
        "a",
        (node("a", 0), node("b", 1), node("c", 1), node("d", 2)),
        (
            ("a", "b", TagLevel.LOOSE), ("a", "c", TagLevel.SYNONYM), ("b", "d", TagLevel.LOOSE),
            ("c", "d", TagLevel.RELATED), ("b", "c", TagLevel.RELATED),
        ),
    )  # fmt: skip
    drawn = [(line.stem, line.node.name, line.parent, [name for _, name in line.also]) for line in lay_out(graph)]
    assert drawn == [
        ("", "a", None, []),
        ("╞══ ", "c", 0, []),
        ("│   └── ", "d", 1, []),
        ("└╌╌ ", "b", 0, ["d", "c"]),
    ]
    assert lay_out(EgoGraph("gone", (), ())) == []


async def test_the_graph_is_walked_by_arrows_and_enter_and_left_by_minus(vocabulary):
    engine = vocabulary.engine
    engine.relate(OWNER, "会议", "日程", "synonym")
    engine.relate(OWNER, "会议", "假期", "loose")
    engine.relate(OWNER, "日程", "schedule", "related")
    async with walking(engine) as walk:
        await walk.press("5")
        await go(walk, "会议")
        graph = walk.screen.graph
        assert [line.node.name for line in graph.lines] == ["会议", "日程", "schedule", "假期"]
        await walk.press("right", "right")
        assert graph.branch.node.name == "schedule"
        await walk.press("left")
        assert graph.branch.node.name == "日程"
        await walk.press("enter")
        assert walk.screen.shown.name == "日程"
        await walk.press("down", "enter")
        trail = [walk.screen.shown.name]
        await walk.press("minus")
        trail.append(walk.screen.shown.name)
        await walk.press("minus")
        trail.append(walk.screen.shown.name)
        assert trail[1:] == ["日程", "会议"] and trail[0] != "日程"
        await walk.press("escape", "minus")
        assert walk.app.current_mode == "memories"


# -- single keys -----------------------------------------------------------------------------------------------------


async def test_relate_raise_and_end_a_relation(vocabulary):
    async with walking(vocabulary.engine) as walk:
        await walk.press("5")
        await go(walk, "会议")
        await walk.press("l")
        await walk.type("日程")
        await walk.press("enter")
        await walk.type("loose")
        await walk.press("enter")
        assert level(vocabulary, "会议", "日程") is TagLevel.LOOSE
        assert vocabulary.kinds()[0] == "tag_relate"
        await walk.press("right", "plus")
        assert level(vocabulary, "会议", "日程") is TagLevel.RELATED
        await walk.press("plus")
        await walk.press("plus")
        assert level(vocabulary, "会议", "日程") is TagLevel.SYNONYM
        assert "the closest" in walk.said()
        await walk.press("X")
        assert level(vocabulary, "会议", "日程") is None
        await walk.press("u")
        assert level(vocabulary, "会议", "日程") is TagLevel.SYNONYM


async def test_a_weaker_level_changes_nothing_and_says_so(vocabulary):
    vocabulary.engine.relate(OWNER, "会议", "日程", "related")
    before = vocabulary.kinds()
    async with walking(vocabulary.engine) as walk:
        await walk.press("5")
        await go(walk, "会议")
        await walk.press("l")
        await walk.type("日程")
        await walk.press("enter")
        await walk.type("loose")
        await walk.press("enter")
        assert "nothing changed" in walk.said()
    assert vocabulary.kinds() == before


async def test_activate_deprecate_with_a_reason_and_bring_back(vocabulary):
    async with walking(vocabulary.engine) as walk:
        await walk.press("5")
        await go(walk, "日程")
        await walk.press("a")
        assert status(vocabulary, "日程") is TagStatus.ACTIVE
        await walk.press("x", "escape")
        assert status(vocabulary, "日程") is TagStatus.ACTIVE
        await walk.press("x")
        await walk.type("说得太宽")
        await walk.press("enter")
        assert status(vocabulary, "日程") is TagStatus.DEPRECATED
        assert vocabulary.engine.log()[0].reason == "说得太宽"
        walk.screen._view = "deprecated"
        walk.screen._list()
        await walk.settle()
        await walk.press("r")
        assert status(vocabulary, "日程") is TagStatus.ACTIVE


async def test_a_marked_set_is_one_operation(vocabulary):
    before = len(vocabulary.kinds())
    async with walking(vocabulary.engine) as walk:
        await walk.press("5", "asterisk", "x")
        await walk.type("clearing up")
        await walk.press("enter")
        assert {status(vocabulary, name) for name in ("会议", "schedule", "日程")} == {TagStatus.DEPRECATED}
        assert len(vocabulary.kinds()) == before + 1
        assert not walk.screen.names.marks
        await walk.press("u")
        assert status(vocabulary, "会议") is TagStatus.ACTIVE
        assert status(vocabulary, "日程") is TagStatus.UNEXAMINED


async def test_of_a_marked_set_what_is_refused_is_named(vocabulary):
    async with walking(vocabulary.engine) as walk:
        await walk.press("5", "asterisk", "a")
        assert status(vocabulary, "日程") is TagStatus.ACTIVE
        assert "1 done" in walk.said() and "4 refused" in walk.said()


async def test_define_synonyms_and_a_new_tag(vocabulary):
    async with walking(vocabulary.engine) as walk:
        await walk.press("5")
        await go(walk, "会议")
        await walk.press("e")
        await walk.type("多人一起商量")
        await walk.press("enter")
        assert vocabulary.engine.tag(OWNER, "会议").definition == "多人一起商量"
        await walk.press("s")
        await walk.type("meeting，例会")
        await walk.press("enter")
        assert set(vocabulary.engine.tag(OWNER, "会议").synonyms) == {"meeting", "例会"}
        await walk.press("s", "ctrl+u")
        await walk.type("例会")
        await walk.press("enter")
        assert vocabulary.engine.tag(OWNER, "会议").synonyms == ("例会",)
        await walk.press("n")
        await walk.type("!!")
        await walk.press("enter")
        assert vocabulary.kinds()[0] == "tag_edit"
        await walk.press("n")
        await walk.type("客人")
        await walk.press("enter")
        assert status(vocabulary, "客人") is TagStatus.ACTIVE


# -- merging ---------------------------------------------------------------------------------------------------------


async def to_plan(walk, *sources, target):
    """Mark the sources, set the target, and open the dry run."""
    await walk.press("5")
    for name in sources:
        await go(walk, name)
        await walk.press("space")
    await go(walk, target)
    await walk.press("greater_than_sign", "m")


async def confirm(walk, words):
    await walk.press("a")
    assert isinstance(walk.screen, TypedConfirmDialog)
    await walk.type(words)
    await walk.press("enter")


async def test_a_merge_wants_sources_and_a_target(vocabulary):
    async with walking(vocabulary.engine) as walk:
        await walk.press("5", "m")
        assert "mark tags" in walk.said()
        await go(walk, "会议")
        await walk.press("space", "m")
        assert walk.screen.NAME == "tags"


async def test_the_dry_run_shows_all_and_writes_nothing(vocabulary):
    engine = vocabulary.engine
    engine.relate(OWNER, "日程", "假期", "related")
    engine.relate(OWNER, "schedule", "会议", "synonym")
    before = vocabulary.kinds()
    async with walking(engine) as walk:
        await to_plan(walk, "日程", "schedule", target="会议")
        text = str(walk.screen.query_one("#change-text").render())
        assert "2 get the target's tag · 1 have it already" in text
        assert "moved 1 · collapsed 0 · dropped 1" in text
        assert "日程 - 假期" in text
        assert len(walk.screen.cards.ids) == 3
        await walk.press("escape")
        assert walk.screen.NAME == "tags" and len(walk.screen.names.marks) == 2
    assert vocabulary.kinds() == before


async def test_the_dry_run_answers_recent_questions_before_and_after(vocabulary, monkeypatch):
    plan = vocabulary.engine.plan_tag_merge(OWNER, ["日程"], "会议")
    effects = (QueryEffect("周一有什么安排", (1, 2), (1, 5)),)
    foreseen = replace(plan, queries=effects, queries_tried=3)
    monkeypatch.setattr(vocabulary.engine, "plan_tag_merge", lambda *given: foreseen)
    async with walking(vocabulary.engine) as walk:
        await to_plan(walk, "日程", target="会议")
        text = str(walk.screen.query_one("#change-text").render())
        assert "1 of 3 would be answered differently" in text
        assert "mem-1 mem-2" in text and "mem-1 +mem-5" in text


async def test_a_merge_is_applied_reported_and_undone(vocabulary):
    engine = vocabulary.engine
    async with walking(engine) as walk:
        await to_plan(walk, "日程", "schedule", target="会议")
        await confirm(walk, "merge 3")
        assert vocabulary.kinds()[0] == "tag_merge"
        assert status(vocabulary, "schedule") is TagStatus.MERGED
        assert engine.tag(OWNER, "会议").cards == 6
        text = str(walk.screen.query_one("#change-text").render())
        assert engine.snapshots()[0].name in text and str(engine.log()[0].op) in text
        await walk.press("a")
        assert "it is done" in walk.said()
        await walk.press("u")
        assert vocabulary.kinds()[0] == "undo"
        assert status(vocabulary, "schedule") is TagStatus.ACTIVE
        assert engine.tag(OWNER, "会议").cards == 4
        assert "2 get the target's tag" in str(walk.screen.query_one("#change-text").render())
        await walk.press("escape")
        assert not walk.screen.names.marks and walk.screen.target() is None


@pytest.mark.parametrize("words", ["", "merge", "merge 4", "yes"])
async def test_nothing_but_the_words_merges(vocabulary, words):
    before = vocabulary.kinds()
    async with walking(vocabulary.engine) as walk:
        await to_plan(walk, "日程", "schedule", target="会议")
        await confirm(walk, words)
        if words:
            assert isinstance(walk.screen, TypedConfirmDialog)
            await walk.press("escape")
        assert walk.screen.NAME == "merge"
    assert vocabulary.kinds() == before


async def test_neither_paste_nor_a_key_held_down_types_the_words(vocabulary):
    before = vocabulary.kinds()
    async with walking(vocabulary.engine) as walk:
        await to_plan(walk, "日程", "schedule", target="会议")
        await walk.press("a")
        walk.paste("merge 3")
        await walk.settle()
        field = walk.screen.query_one("Input")
        assert field.value == ""
        await walk.type("aaaa")
        assert field.value == "a"
        await walk.press("backspace", "enter")
        assert walk.screen.NAME == "merge"
    assert vocabulary.kinds() == before


async def test_a_plan_that_became_stale_is_refused_and_made_anew(vocabulary):
    async with walking(vocabulary.engine) as walk:
        await to_plan(walk, "日程", "schedule", target="会议")
        await walk.press("a")
        vocabulary.say("机房周三停电", CLAUDE, tags=("日程",))
        await walk.type("merge 3")
        await walk.press("enter")
        assert "tag_merge" not in vocabulary.kinds()
        await walk.settle(0.7)
        assert status(vocabulary, "日程") is not TagStatus.MERGED
        assert "memories +1 -0" in str(walk.screen.query_one("#banner").render())
        assert "3 get the target's tag" in str(walk.screen.query_one("#change-text").render())
        await confirm(walk, "merge 4")
        assert status(vocabulary, "日程") is TagStatus.MERGED


async def test_a_merge_that_became_impossible_says_why(vocabulary):
    async with walking(vocabulary.engine) as walk:
        await to_plan(walk, "日程", target="会议")
        vocabulary.engine.deprecate(OWNER, "会议", "no longer")
        await walk.settle(0.7)
        assert "deprecated" in str(walk.screen.query_one("#banner").render())
        await walk.press("a")
        assert "no plan" in walk.said()
        assert walk.screen.NAME == "merge"


async def test_a_merge_that_was_built_on_stays(vocabulary):
    engine = vocabulary.engine
    async with walking(engine) as walk:
        await to_plan(walk, "日程", "schedule", target="会议")
        await confirm(walk, "merge 3")
        engine.apply_tag_merge(OWNER, engine.plan_tag_merge(OWNER, ["会议"], "假期"))
        await walk.press("u")
        assert "later changes rest on it" in walk.said()
        assert status(vocabulary, "schedule") is TagStatus.MERGED
