"""One table of a TOML text: put in, changed, taken out, and not a character elsewhere."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.connect.faults import BadSettings
from engine.connect.toml_text import drop, put, shown

PATH = ("mcp_servers", "memdeck")
ENTRY = {"command": "/my tools/memdeck", "args": ["mcp", "--store", "记忆"]}
SECTION = '[mcp_servers.memdeck]\ncommand = "/my tools/memdeck"\nargs = ["mcp", "--store", "记忆"]\n'

FULL = '''# my settings
model = "o4"   # the good one
prompt = """
[mcp_servers.memdeck]
not = "a header" """
list = [
  "a", # ] not the end
  [1, 2],
]

[mcp_servers.git]
command = 'C:\\git'
args = []

[tui]   # last
theme = "dark"
'''


@pytest.mark.parametrize("before", ["", FULL, "a = 1\n", "[x]\n\n[[y]]\nz = 1\n", "# only a remark\n", "\n"])
def test_a_section_is_appended_and_taken_out(before: str) -> None:
    after = put(before, PATH, ENTRY)
    assert after.startswith(before) and after.endswith(SECTION)
    assert tomllib.loads(after)["mcp_servers"]["memdeck"] == ENTRY
    assert put(after, PATH, ENTRY) == after
    assert drop(after, PATH) == before


def test_a_last_line_without_an_end_gets_one() -> None:
    assert put("a = 1", PATH, ENTRY) == f"a = 1\n\n{SECTION}"


def test_windows_line_ends_are_kept() -> None:
    before = FULL.replace("\n", "\r\n")
    after = put(before, PATH, ENTRY)
    assert after.count("\n") == after.count("\r\n")
    assert drop(after, PATH) == before


def test_an_old_entry_is_brought_up_to_date_in_its_place() -> None:
    text = (
        "[mcp_servers.memdeck]   # mine\n"
        'default_tools_approval_mode = "approve"\n'
        'command = "/old/memdeck" # moved\n'
        'args = [\n  "mcp", # serve\n]\n'
        "# a remark\n"
        "[mcp_servers.memdeck.tools.recall]\napproval = 1\n\n"
        "[tui]\n"
    )
    after = put(text, PATH, ENTRY)
    assert after == text.replace('"/old/memdeck"', '"/my tools/memdeck"').replace(
        '[\n  "mcp", # serve\n]', '["mcp", "--store", "记忆"]'
    )
    assert drop(after, PATH) == "# a remark\n\n[tui]\n"


def test_a_missing_key_is_added_under_the_header() -> None:
    after = put('[mcp_servers.memdeck]\ncommand = "x"', PATH, ENTRY)
    assert tomllib.loads(after)["mcp_servers"]["memdeck"] == ENTRY
    assert after.startswith("[mcp_servers.memdeck]\nargs = ")
    bare = put("[mcp_servers.memdeck]", PATH, ENTRY)
    assert tomllib.loads(bare)["mcp_servers"]["memdeck"] == ENTRY


@pytest.mark.parametrize(
    "text",
    [
        '[mcp_servers]\nmemdeck = { command = "x", startup_timeout_sec = 20 }\ngit.command = "g"\n',
        '[mcp_servers]\nmemdeck.command = "x"\nmemdeck.startup_timeout_sec = 20\ngit = { command = "g" }\n',
        'mcp_servers.memdeck.command = "x"\nmcp_servers."memdeck".startup_timeout_sec = 20\n'
        'mcp_servers.git.command = "g"\n',
    ],
)
def test_an_entry_in_another_form_becomes_a_section_and_loses_nothing(text: str) -> None:
    after = tomllib.loads(put(text, PATH, ENTRY))["mcp_servers"]
    assert after == {"memdeck": {**ENTRY, "startup_timeout_sec": 20}, "git": {"command": "g"}}
    assert tomllib.loads(drop(text, PATH))["mcp_servers"] == {"git": {"command": "g"}}


@pytest.mark.parametrize(
    ("text", "line"),
    [("a = 1\nb = \n", 2), ("a = 1\na = 2\n", 2), ('x = "open', 1), ("[t]\nmcp = 1\n\n[t", 4)],
)
def test_what_is_no_toml_is_refused_with_its_line(text: str, line: int) -> None:
    for edit in (lambda: put(text, PATH, ENTRY), lambda: drop(text, PATH)):
        with pytest.raises(BadSettings) as refused:
            edit()
        assert refused.value.line == line


def test_a_closed_inline_table_is_refused_with_its_line() -> None:
    with pytest.raises(BadSettings) as refused:
        put('a = 1\nmcp_servers = { git = { command = "g" } }\n', PATH, ENTRY)
    assert refused.value.line == 2


scalars = st.booleans() | st.integers(-(2**60), 2**60) | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@given(
    st.recursive(
        scalars,
        lambda v: (
            st.lists(v, max_size=3)
            | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), v, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_every_value_is_written_as_it_is_read(value: object) -> None:
    assert tomllib.loads(f"x = {shown(value)}")["x"] == value
