"""Markdown memories as other systems leave them, seen through recall."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.model.enums import Type
from tests.acceptance.conftest import OWNER, Desk, ms

CASES = Path(__file__).parents[1] / "cases"


def one(desk: Desk, folder, text: str | bytes, name: str = "note"):
    """Import one file and return its memory."""
    desk.engine.run_import(OWNER, folder(**{name: text}))
    return desk.engine.get(OWNER, "mem-1")


def test_fields_below_metadata_count(desk: Desk, folder) -> None:
    below = "metadata:\n  type: project\n  updated: 2026-09-30T00:00:00Z\n"
    memory = one(desk, folder, f"---\nname: plan\ndescription: The plan for the shed\n{below}---\nx\n")
    assert (memory.name, memory.description, memory.type) == ("plan", "The plan for the shed", Type.PROJECT)
    assert memory.dated_at == ms("2026-09-30")


@pytest.mark.parametrize(
    ("name", "header", "expected"),
    [
        ("note", "", Type.REFERENCE),
        ("user_note", "type: feedback\n", Type.FEEDBACK),
        ("note", "type: user\n", Type.USER),
        ("note", "type: project\n", Type.PROJECT),
    ],
)
def test_a_stated_type_wins_and_none_is_a_reference(desk: Desk, folder, name: str, header: str, expected: Type) -> None:
    assert one(desk, folder, f"---\n{header}description: A description of things\n---\nText.\n", name).type is expected


def test_a_memory_told_without_a_type_is_a_reference(desk: Desk) -> None:
    desk.tell("The shed is behind the house")
    assert desk.engine.get(OWNER, "mem-1").type is Type.REFERENCE


@pytest.mark.parametrize("form", ["[{}]", "{}", "\n  - {}"])
def test_tags_are_at_most_twenty_of_forty_characters(desk: Desk, folder, form: str) -> None:
    names = [f"tag{n}" for n in range(24)]
    names.insert(0, "x" * 60)
    joined = ("\n  - " if form.startswith("\n") else ", ").join(names)
    memory = one(desk, folder, f"---\ndescription: Many labels\ntags: {form.format(joined)}\n---\nText.\n")
    assert len(memory.tags) == 20 and "x" * 40 in memory.tags


def test_an_alias_is_a_way_to_be_found(desk: Desk, folder) -> None:
    one(desk, folder, "---\ndescription: What is left to do this week\naliases: [待办, todo]\n---\nPaint the door.\n")
    assert desk.texts("我有什么待办") == ["What is left to do this week"]


def test_without_the_alias_it_is_not_found(desk: Desk, folder) -> None:
    one(desk, folder, "---\ndescription: What is left to do this week\n---\nPaint the door.\n")
    assert desk.texts("我有什么待办") == []


@pytest.mark.parametrize(
    ("word", "expected"), [('"Yes"', True), ("TRUE", True), ("'1'", True), ("on", False), ("no", False)]
)
def test_what_counts_as_baseline(desk: Desk, folder, word: str, expected: bool) -> None:
    plan = desk.engine.plan_import(
        folder(note=f"---\ndescription: A rule of the house\nbaseline: {word}\n---\nText.\n")
    )
    assert plan.memories[0].baseline is expected


def test_a_folder_of_an_agents_memories_keeps_types_and_unknown_keys(desk: Desk, folder) -> None:
    desk.engine.run_import(OWNER, CASES / "en-lantern")
    types = {memory.type for memory in desk.engine.memory_rows(OWNER, desk.ids())}
    assert types == {Type.USER, Type.FEEDBACK, Type.PROJECT, Type.REFERENCE}


def test_an_unknown_key_is_kept(desk: Desk, folder) -> None:
    memory = one(desk, folder, "---\ndescription: A thing with more keys\nmood: calm\nshelf: 4\n---\nText.\n")
    assert "mood" in str(memory.extra) and "calm" in str(memory.extra)


def test_what_was_forgotten_does_not_come_back_by_import(desk: Desk, folder) -> None:
    root = folder(note="---\ndescription: The shed key is under the pot\n---\nThe blue pot.\n")
    desk.engine.run_import(OWNER, root)
    desk.engine.forget(OWNER, ["mem-1"], reason="moved")
    report = desk.engine.run_import(OWNER, root)
    assert (report.created, report.blocked) == (0, 1)
    assert desk.texts("shed key") == []
