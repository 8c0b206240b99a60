"""Asking recall in the memories tab with its receipts, and the preview of what an agent would be given."""

from __future__ import annotations

import re

import pytest
from textual.content import Content

from engine.model.memory import Hit, RecallQuery
from tests.tui.factories import memory
from tests.tui.harness import CLAUDE, OWNER, walking
from tui.receipt import marked, matched, receipt

pytestmark = pytest.mark.anyio

DAY = 86_400_000


@pytest.fixture
def ferries(desk):
    desk.say("The ferry to the island leaves at seven", tags=("渡轮",))
    desk.say("轮渡周三停航检修", tags=("渡轮",))
    desk.say("Flour comes from the mill on Mondays")
    desk.say("The last ferry back leaves at nine in the evening")
    return desk


def card_text(walk):
    return str(walk.screen.query_one("#card-text").render())


# -- recall ----------------------------------------------------------------------------------------------------------


async def test_answers_stand_in_their_rank_with_the_receipt_beside(ferries):
    page = ferries.engine.recall(OWNER, RecallQuery("when does the last ferry leave", everywhere=True, limit=100))
    async with walking(ferries.engine) as walk:
        whole = list(walk.screen.table.ids)
        await walk.press("G", "a")
        await walk.type("when does the last ferry leave")
        await walk.press("enter")
        await walk.settle(0.1)
        assert list(walk.screen.table.ids) == [hit.memory.id for hit in page.hits]
        assert list(walk.screen.table.ids) != whole
        assert "question: when does the last ferry leave" in str(walk.screen.query_one("#chips").render())
        text = card_text(walk)
        assert text.startswith("#1  score ") and "summary: " in text and "words" in text
        assert f"{page.hits[0].score:.2f}" in text
        await walk.press("j")
        await walk.settle(0.1)
        assert card_text(walk).startswith("#2 ")
        await walk.press("escape")
        assert list(walk.screen.table.ids) == whole
        await walk.settle(0.1)
        assert not card_text(walk).startswith("#")


async def test_asking_respects_chips_and_the_moment_and_an_empty_question_ends_it(ferries):
    async with walking(ferries.engine) as walk:
        await walk.press("a")
        await walk.type("ferry")
        await walk.press("enter")
        assert len(walk.screen.table.ids) >= 2
        walk.screen.narrow(tags=("渡轮",))
        await walk.settle()
        rows = ferries.engine.memory_rows(OWNER, walk.screen.table.ids)
        assert rows and all("渡轮" in row.tags for row in rows)
        walk.screen.narrow(tags=())
        await walk.press("a", "ctrl+u", "enter")
        assert len(walk.screen.table.ids) == 4


async def test_a_question_without_an_answer_shows_an_empty_list_not_the_welcome(ferries):
    async with walking(ferries.engine) as walk:
        await walk.press("a")
        await walk.type("xylophone")
        await walk.press("enter")
        assert "question: xylophone · 0 of 0" in str(walk.screen.query_one("#chips").render())
        assert not walk.screen.query_one("#welcome").display
        await walk.press("escape")
        assert len(walk.screen.table.ids) == 4


async def test_verbs_act_on_answers(ferries):
    async with walking(ferries.engine) as walk:
        await walk.press("a")
        await walk.type("flour mill")
        await walk.press("enter", "x")
        assert ferries.memory(3).state.value == "archived"
        await walk.settle(0.7)
        assert 3 not in list(walk.screen.table.ids)


def test_words_are_marked_where_they_begin_in_any_script():
    spans = marked(Content("Ferry, ferries, inferior; 轮渡停航"), ("fer", "轮渡")).spans
    assert [(span.start, span.end) for span in spans] == [(0, 3), (7, 10), (26, 28)]


@pytest.mark.parametrize(
    ("parts", "why", "words"),
    [
        ({"matched": ["ferry", "last"], "terms": 2.5}, "", ("ferry", "last")),
        ({"matched": [], "terms": 0.0}, "tags: 渡轮", ()),
        ({}, "context", ()),
    ],
)
def test_matched_words_come_from_the_receipt(parts, why, words):
    assert matched(Hit(memory(1, "text"), 1.0, why, parts=parts)) == words


def test_a_receipt_names_lines_paths_and_parts_largest_first():
    hit = Hit(memory(1, "text"), 3.5, "tags: b (through a, synonym)", (2, 4), parts={"terms": 1.0, "tags": 2.5})
    lines = str(receipt(hit, 3)).splitlines()
    assert lines[0] == "#3  score 3.50" and "through a, synonym" in lines[1] and "2-4" in lines[2]
    assert [re.sub(r"\s+#*\s*", " ", line) for line in lines[3:]] == ["tags 2.5", "words 1"]


# -- what an agent would be given ------------------------------------------------------------------------------------


async def test_the_preview_is_what_an_agent_is_given_and_counts_nothing(ferries):
    by = CLAUDE
    async with walking(ferries.engine) as walk:
        await walk.press("A")
        await walk.type("When does the last ferry leave?")
        await walk.press("enter")
        await walk.settle()
        pack = ferries.engine.context(by, "When does the last ferry leave?", preview=True)
        shown = str(walk.screen.query_one("#pack").render())
        assert "The last ferry back leaves at nine" in shown
        assert shown.splitlines()[0] == pack.text.splitlines()[0]
        assert {row.memory.id for row in walk.screen._judged if row.inside} == set(pack.injected)
        bars = str(walk.screen.query_one("#budgets").render())
        for part in pack.parts:
            if part.name != "status":
                assert f"{part.used}/{part.cap}" in bars
        await walk.press("enter")
        assert walk.screen.NAME == "detail"
    assert ferries.engine.sessions() == []
    assert all(use.injected == 0 for use in ferries.engine.usage([1, 2, 3, 4]).values())


async def test_it_can_be_looked_at_as_a_session_that_was_given_things_before(ferries):
    ferries.engine.context(CLAUDE, "When does the last ferry leave?")
    async with walking(ferries.engine) as walk:
        await walk.press("A")
        await walk.type("When does the last ferry leave?")
        await walk.press("enter", "s")
        await walk.type("claude")
        await walk.press("enter")
        await walk.settle()
        assert "claude-code · s1" in str(walk.screen.query_one("#title").render())
        assert "answered just before" in str(walk.screen.query_one("#budgets").render())
        await walk.press("escape")
        assert walk.screen.NAME == "memories"


async def test_an_empty_store_would_give_nothing(desk):
    async with walking(desk.engine) as walk:
        walk.screen.do_browse_context()
        await walk.settle()
        assert "Nothing would be given" in str(walk.screen.query_one("#pack").render())
        await walk.press("escape")
        assert walk.screen.NAME == "memories"


async def test_what_was_left_out_says_why(desk):
    for number in range(12):
        desk.say(f"ferry timetable of month {number} " + "and more of it " * number)
    async with walking(desk.engine) as walk:
        await walk.press("A")
        await walk.type("ferry timetable")
        await walk.press("enter")
        await walk.settle()
        out = [row for row in walk.screen._judged if not row.inside]
        assert out and all(row.why for row in out)
