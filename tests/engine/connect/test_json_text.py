"""Single members of JSON texts: put in, changed, taken out, and not a character elsewhere."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.connect.faults import BadSettings
from engine.connect.json_text import drop, load, put

PATH = ("mcpServers", "memdeck")
ENTRY = {"command": "memdeck", "args": ["mcp"]}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            '{\n  "theme": "dark"\n}\n',
            '{\n  "theme": "dark",\n  "mcpServers": {\n    "memdeck": {\n      "command": "memdeck",\n'
            '      "args": [\n        "mcp"\n      ]\n    }\n  }\n}\n',
        ),
        (
            '{\n\t"mcpServers": {\n\t\t"git": {"command": "g"}\n\t}\n}',
            '{\n\t"mcpServers": {\n\t\t"git": {"command": "g"},\n\t\t"memdeck": {\n\t\t\t"command": "memdeck",\n'
            '\t\t\t"args": [\n\t\t\t\t"mcp"\n\t\t\t]\n\t\t}\n\t}\n}',
        ),
        ('{"a":1}', '{"a":1,"mcpServers":{"memdeck":{"command":"memdeck","args":["mcp"]}}}'),
        ('{"a": [1, 2]}', '{"a": [1, 2], "mcpServers": {"memdeck": {"command": "memdeck", "args": ["mcp"]}}}'),
        (
            '{\n    "mcpServers": {}\n}\n',
            '{\n    "mcpServers": {\n        "memdeck": {\n            "command": "memdeck",\n'
            '            "args": [\n                "mcp"\n            ]\n        }\n    }\n}\n',
        ),
        (
            '{\n  "mcpServers": {"git": {}}\n}\n',
            '{\n  "mcpServers": {"git": {}, "memdeck": {"command": "memdeck", "args": ["mcp"]}}\n}\n',
        ),
    ],
)
def test_an_entry_takes_the_style_of_its_surroundings(before: str, after: str) -> None:
    assert put(before, PATH, ENTRY) == after
    assert json.loads(after)["mcpServers"]["memdeck"] == ENTRY
    assert put(after, PATH, ENTRY) == after


@pytest.mark.parametrize(
    "before", ["", "\n", "{}", "{ }", "{\n}\n", '{"a":1}', '{\n  "a": {"b": [1, "}"]}\n}', '\n{"a": 1\n}']
)
def test_a_member_that_was_put_in_is_taken_out_again(before: str) -> None:
    inside = put(before, ("x",), 1)
    assert load(inside)["x"] == 1
    assert load(drop(inside, ("x",))) == load(before)
    if before.strip() and before != "{ }" and before != "{\n}\n":
        assert drop(inside, ("x",)) == before


def test_remarks_stay_with_what_they_are_about() -> None:
    before = '{\n  // who\n  "a": 1, // one\n  "b": 2 /* two */ // really\n  // the end\n}\n'
    after = put(before, ("c",), True, comments=True)
    assert after == '{\n  // who\n  "a": 1, // one\n  "b": 2, /* two */ // really\n  // the end\n  "c": true\n}\n'
    assert drop(after, ("c",), comments=True) == before
    assert drop(after, ("a",), comments=True) == (
        '{\n  // who // one\n  "b": 2, /* two */ // really\n  // the end\n  "c": true\n}\n'
    )


def test_a_trailing_comma_is_kept_and_not_doubled() -> None:
    before = '{\n  "a": 1,\n}\n'
    after = put(before, ("b",), 2, comments=True)
    assert after == '{\n  "a": 1,\n  "b": 2\n}\n'
    assert load(drop('{"a": [1,], "b": 2,}', ("b",), comments=True), comments=True) == {"a": [1]}


def test_a_line_comment_never_swallows_the_closing_brace() -> None:
    text = '{\n  "a": 1, // one\n  "b": 2}'
    assert load(drop(text, ("b",), comments=True), comments=True) == {"a": 1}


def test_windows_line_ends_are_kept() -> None:
    after = put('{\r\n  "a": 1\r\n}\r\n', PATH, ENTRY)
    assert after.count("\n") == after.count("\r\n") == 11


def test_strings_that_look_like_structure_are_no_structure() -> None:
    text = '{"// a": "/* b */ } , ]", "mcpServers": {"quote \\" {": "\\\\"}}'
    after = put(text, PATH, 1, comments=True)
    assert load(after, comments=True) == {**json.loads(text), "mcpServers": {'quote " {': "\\", "memdeck": 1}}


def test_the_last_of_a_repeated_key_counts_and_all_of_them_go() -> None:
    assert load(put('{"a": 1, "a": 2}', ("a",), 3)) == {"a": 3}
    assert drop('{"a": 1, "b": 0, "a": 2}', ("a",)) == '{ "b": 0}'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{\n  "a": 1,\n}', 3),
        ('{\n  "a": 1\n  "b": 2\n}', 3),
        ("[]", 1),
        ('"text"', 1),
        ('{\n  // remark\n  "a": 1\n}', 2),
        ("{" * 100_000, 1),
        ('{"a": ' * 100_000, 1),
        ('{\n"a": "line\nbreak"}', 2),
    ],
)
def test_what_is_no_json_object_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(BadSettings) as refused:
        put(text, PATH, ENTRY)
    assert refused.value.line == line


def test_something_else_on_the_way_is_refused_with_its_line() -> None:
    with pytest.raises(BadSettings) as refused:
        put('{\n  "a": 1,\n  "mcpServers": null\n}', PATH, ENTRY)
    assert refused.value.line == 3
    assert drop('{"mcpServers": [1]}', PATH) == '{"mcpServers": [1]}'


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
objects = st.dictionaries(st.text(max_size=5), values, max_size=4)


@given(objects, st.sampled_from([None, 1, 2, "\t"]), st.text(max_size=5), values)
def test_any_object_gets_and_loses_a_member(document: dict, indent: int | str | None, key: str, value: object) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    after = put(text, (key,), value)
    assert json.loads(after) == {**document, key: value}
    gone = drop(after, (key,))
    assert json.loads(gone) == {k: v for k, v in document.items() if k != key}
    if key not in document:
        assert gone == text
