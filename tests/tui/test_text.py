"""Text on the cell grid, dates, differences, Markdown, chips, fields and the saved state."""

from __future__ import annotations

import json
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from engine.model.enums import Origin, State, Type
from engine.model.errors import MemdeckError
from engine.model.memory import Filter
from tests.tui.factories import memory
from tui import chips, fields
from tui.dates import parse_moment
from tui.diff import difference
from tui.markdown import LONGEST, render
from tui.state import AppState
from tui.text import clip, visible, visible_block

NOW = int(datetime(2026, 11, 29, 12, 30).timestamp() * 1000)


@given(st.text(), st.integers(0, 60))
def test_clip_fills_exactly_the_cells_it_is_given(text, cells):
    assert cell_len(clip(visible(text), cells)) == cells


@given(st.text())
def test_visible_text_is_one_line_without_controls(text):
    shown = visible(text)
    assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in shown)
    assert "\u200d" not in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("部署区域\n华南", "部署区域 华南"),
        ("\x1b[31mred", "\ufffd[31mred"),
        ("👨‍👩‍👧 ok", "👨 ok"),
        ("🇻🇳", "VN"),
        ("⚠️", "⚠"),
        ("👍🏽", "👍"),
        ("a\u202egnp.exe", "agnp.exe"),
        ("Tiếng Việt", "Tiếng Việt"),
        ("한국어 日本語", "한국어 日本語"),
    ],
)
def test_visible(text, shown):
    assert visible(text) == shown


def test_a_block_keeps_its_lines():
    assert visible_block("a\r\nb\tc\x07") == "a\nb    c\ufffd"


def test_a_cut_wide_character_leaves_no_half():
    assert clip("部署区域", 6) == "部署 ~"
    assert clip("部署", 6) == "部署  "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-05-01", datetime(2026, 5, 1)),
        ("2026年5月1日", datetime(2026, 5, 1)),
        ("2026-05", datetime(2026, 5, 1)),
        ("2026-05-01 14:30", datetime(2026, 5, 1, 14, 30)),
        ("3d", datetime(2026, 11, 26, 12, 30)),
        ("3天前", datetime(2026, 11, 26, 12, 30)),
        ("2w ago", datetime(2026, 11, 15, 12, 30)),
        ("1m", datetime(2026, 10, 29, 12, 30)),
        ("9m", datetime(2026, 2, 28, 12, 30)),
        ("1年前", datetime(2025, 11, 29, 12, 30)),
        ("yesterday", datetime(2026, 11, 28)),
        ("昨天", datetime(2026, 11, 28)),
        ("上周一", datetime(2026, 11, 16)),
    ],
)
def test_dates_as_people_type_them(text, expected):
    assert parse_moment(text, NOW) == int(expected.timestamp() * 1000)


@pytest.mark.parametrize("text", ["soon", "2026-13-01", "2026-02-30", "99999y", "", "上周八"])
def test_what_is_no_date_is_refused_in_one_line(text):
    with pytest.raises(MemdeckError) as refused:
        parse_moment(text, NOW)
    assert refused.value.code == "invalid_argument"


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_difference_holds_all_of_the_new_text(old, new):
    plain = difference(old, new).plain
    rest = iter(plain)
    assert all(char in rest for char in visible_block(new))


def test_a_difference_of_chinese_goes_by_the_character():
    assert difference("部署区域是华南", "部署区域是华东").plain == "部署区域是华南东"


@given(st.text(max_size=300))
def test_markdown_never_raises(text):
    render(text)


def test_markdown_keeps_the_words_and_cuts_what_is_endless():
    text = "# 标题\n\n- **粗** `code` [[link]]\n1. one\n> quote\n```\n**raw**\n```\n| a | b |"
    plain = render(text).plain
    assert all(word in plain for word in ("标题", "粗", "code", "link", "one", "quote", "**raw**", "| a | b |"))
    assert "# " not in plain
    assert render("x" * (LONGEST + 5)).plain.endswith("...")


def test_chips_are_any_within_a_group_and_all_between_groups():
    changes = chips.changes(["type:user", "type:project", "tag:部署", "state:archived", "nonsense:x", "type:odd"])
    flt = Filter(**changes)
    assert flt == Filter(types=(Type.USER, Type.PROJECT), tags=("部署",), states=(State.ARCHIVED,))
    assert chips.describe(flt) == "type user or project · state archived · tag 部署"
    assert chips.from_state(json.loads(json.dumps(chips.to_state(flt)))) == flt
    assert chips.from_state({"text": 7, "chips": [None, "type:nothing"]}) == Filter()


def test_a_form_sends_only_what_was_changed():
    base = memory(7, "old text", tags=("a", "b"), topics=("x",), type=Type.USER, valid_from=NOW)
    texts = {field: fields.as_text(base, field) for field in fields.FIELDS}
    assert fields.changes(base, texts, NOW) == {}
    texts |= {"description": "new text", "tags": "a b，c", "valid_to": "yesterday", "baseline": "yes"}
    assert fields.changes(base, texts, NOW) == {
        "description": "new text",
        "tags": ("a", "b", "c"),
        "valid_to": int(datetime(2026, 11, 28).timestamp() * 1000),
        "baseline": True,
    }


def test_three_way_merges_what_does_not_overlap():
    base = memory(7, "text", tags=("a",), subject="s")
    theirs = memory(7, "their text", revision=2, tags=("a",), subject="t", origin=Origin.AGENT)
    texts = {field: fields.as_text(base, field) for field in fields.FIELDS}
    texts |= {"description": "my text", "tags": "a, b"}
    sides = {row.field: row.side for row in fields.three_way(base, theirs, texts)}
    assert sides == {"description": "", "subject": "theirs", "tags": "yours"}


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[1, 2]", b'{"tab": 5}'])
def test_a_damaged_state_file_counts_as_none(tmp_path, content):
    path = tmp_path / "app-state.json"
    path.write_bytes(content)
    state = AppState(path)
    assert state.get("tab", "memories") == "memories"
    state.set("tab", "标签")
    state.save()
    assert AppState(path).get("tab", "") == "标签"


def test_a_state_that_cannot_be_written_is_given_up_quietly(tmp_path):
    state = AppState(tmp_path / "missing" / "app-state.json")
    state.set("tab", "x")
    state.save()
    assert not (tmp_path / "missing").exists()
