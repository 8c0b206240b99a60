"""Frontmatter: any bytes are readable, nothing is lost, every YAML reader gets what was written (S2, S8, S9)."""

from __future__ import annotations

import codecs

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.transfer.decoding import decode
from engine.transfer.frontmatter import Document, edit, parse, render
from engine.transfer.header import core, read_header
from engine.transfer.quoting import BREAK, REMOVED, SURROGATE

MARKS = """: | #|# |- |  |"|'|[|]|{|}|{{x}}|>-|…|值|&a|*a|...|------|[[link]]|```|? |!!python/name:os.system """
KEYS = ["name: ", "description: ", "metadata:\n", "  type: user\n", "tags: [a, b]\n", "---\n"]
BREAKS = ["\n", "\r\n", "\r", "\t", "\0", "\ufeff", "\u2028", "\x85", "|"]
PIECES = st.sampled_from([*MARKS.split("|"), *KEYS, *BREAKS])
SCALARS = ["null", "~", "true", "Yes", "1", "1.5", "-", "", " a", "a ", "2026-09-30", "0x1f", "1e3", "=", "<<"]
TEXTS = st.lists(PIECES, max_size=40).map("".join)
NAMES = st.from_regex(r"[a-zéж部][a-z0-9_-]{0,8}", fullmatch=True)
VALUES = st.one_of(
    st.text(max_size=40),
    st.lists(PIECES, max_size=6).map("".join),
    st.sampled_from(
        ["null", "~", "true", "Yes", "1", "1.5", "-", "", " a", "a ", "2026-09-30", "0x1f", "1e3", "=", "<<"]
    ),
)


def header_of(*lines: str) -> dict[str, object]:
    return parse("\n".join(["---", *lines, "---", "", "Body."]).encode()).header


@given(st.one_of(st.binary(max_size=300), TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass"))))
@example(codecs.BOM_UTF16_LE + "---\nname: x\n---\n".encode("utf-16-le"))
@example(codecs.BOM_UTF8 + b"---\r\nname: x\r\n---\r\n\r\nBody\r\n")
@example("---\nname: 值班\n---\n正文，一行。\n".encode("gb18030"))
@example("caf\u00e9 au lait".encode("latin-1"))
@example("值班表，值班表，值班表\n".encode() + b"\xff" + "值班表\n".encode())
@settings(deadline=None)
def test_any_bytes_are_read_and_given_back(data: bytes) -> None:
    document = parse(data)
    assert render(document) == data
    assert document.header_text + document.body == decode(data).text


@given(TEXTS, TEXTS)
@settings(deadline=None)
def test_no_body_is_lost(header: str, body: str) -> None:
    text = f"---\n{header}\n---\n\nBEGIN {body} END"
    document = parse(text.encode("utf-8", "replace"))
    assert document.body.endswith("END") or "END" in document.header_text
    assert "BEGIN" in document.body or "\n---\n" not in document.header_text.partition("---\n")[2]


@given(
    st.dictionaries(
        NAMES,
        st.one_of(VALUES, st.integers(-999, 999), st.booleans(), st.none(), st.lists(VALUES, max_size=4)),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from([None, '"', "'"]),
    st.booleans(),
)
@settings(deadline=None)
def test_what_a_yaml_writer_wrote_is_read_alike(values: dict[str, object], style: str | None, flow: bool) -> None:
    """Against PyYAML as the oracle; its own resolution of days and 1.1 words is left out."""
    dumped = "".join(written(key, value, style, flow) for key, value in values.items())
    if "? " in dumped or "!!" in dumped or any(mark in dumped for mark in "\x85\u2028\u2029"):
        return
    reading = read_header(dumped.rstrip("\n").split("\n"))
    expected = yaml.load(dumped, Loader=yaml.BaseLoader)
    assert {key: as_text(value) for key, value in reading.values.items()} == {
        key: as_text(value) for key, value in expected.items()
    }


def written(key: str, value: object, style: str | None, flow: bool) -> str:
    """Write one key with PyYAML; a list in brackets when `flow` is true."""
    if flow and isinstance(value, list):
        return f"{key}: {yaml.dump(value, allow_unicode=True, default_style=style, default_flow_style=True)}"
    return yaml.dump({key: value}, allow_unicode=True, default_style=style, default_flow_style=False)


def as_text(value: object) -> object:
    """Make values comparable to those of a loader that leaves all scalars text."""
    if isinstance(value, list):
        return [as_text(item) for item in value]
    if isinstance(value, str):
        value = core(value)
    return "" if value is None else str(value).lower()


@given(
    VALUES,
    st.sampled_from(["reason: old", 'reason: "old"', "reason: 'old'", "reason:", "reason: >-\n  old\n  text", "x: 1"]),
)
@example("理由: 过期 # 附带", "reason: old")
@example("first\narchived_reason: x", "reason: old")
@example("", 'reason: "old"')
@settings(deadline=None)
def test_a_written_value_is_read_back_as_one_key(value: str, before: str) -> None:
    document = parse(f"---\nname: n\n{before}\nlast: kept\n---\n\nBody.\n".encode())
    again = parse(render(edit(document, {"reason": value})))
    folded = SURROGATE.sub("\ufffd", BREAK.sub(" ", value))
    assert again.header["reason"] == folded
    assert set(again.header) == {*document.header, "reason"}
    assert (again.header["name"], again.header["last"], again.body) == ("n", "kept", "Body.\n")
    strict = yaml.load(again.header_text.split("---")[1] if "---" not in folded else "{}", Loader=yaml.BaseLoader)
    if strict:
        assert strict["reason"] == folded.replace("\t", "\t")


@given(st.lists(VALUES.filter(lambda text: text.strip() == text and text), min_size=1, max_size=4))
@pytest.mark.parametrize("before", ["tags: [a]", "tags:\n  - a", "tags:\n- a", "tags:"])
@settings(deadline=None)
def test_a_written_list_is_read_back(before: str, items: list[str]) -> None:
    document = parse(f"---\n{before}\nlast: kept\n---\n".encode())
    again = parse(render(edit(document, {"tags": items})))
    assert again.header["tags"] == [SURROGATE.sub("\ufffd", BREAK.sub(" ", item)) for item in items]
    assert again.header["last"] == "kept"


def test_an_empty_value_is_written_as_two_quotes() -> None:
    document = edit(parse(b"---\nname: n\n---\n"), {"reason": ""})
    assert "reason: ''\n" in document.header_text


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("k: a: b: c", "a: b: c"),
        ("k: a:", "a:"),
        ("k: 7", 7),
        ("k: 007", "007"),
        ("k: 1.50", "1.50"),
        ("k: 1_000", "1_000"),
        ("k: 12:30", "12:30"),
        ("k: on", "on"),
        ("k: 2026-09-30", "2026-09-30"),
        ("k: null", None),
        ("k: ~", None),
        ("k:", None),
        ("k: # a remark", None),
        ("k: project  # a remark", "project"),
        ("k: issue #12", "issue #12"),
        ("k: '#1'", "#1"),
        ("k: 'it''s'", "it's"),
        ('k: "a\\tb"', "a\tb"),
        ('k: "a" # remark', "a"),
        ('k: "a" b', '"a" b'),
        ('k: "never closed', '"never closed'),
        ("k: @x", "@x"),
        ("k: `code`", "`code`"),
        ("k: %x", "%x"),
        ("k: *star*", "*star*"),
        ("k: &anchor x", "&anchor x"),
        ("k: !!python/name:os.system x", "!!python/name:os.system x"),
        ("k: {{x}}", "{{x}}"),
        ("k: {}", {}),
        ("k: {a: 1}", {"a": 1}),
        ("k: []", []),
        ("k: [a, 'b, c', \"d\"]", ["a", "b, c", "d"]),
        ("k: [a, b", "[a, b"),
        ("k: [[page]]", [["page"]]),
        ("k: [[a]], [[b]]", "[[a]], [[b]]"),
        ("k: - x", "- x"),
        ("k : x", "x"),
        ('"k": x', "x"),
    ],
)
def test_one_line(line: str, value: object) -> None:
    assert header_of(line) == {"k": value}


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        (["k: one", "  two", "  - three"], "one two - three"),
        (["k:", "  one", "  two"], "one two"),
        (["k: |", "  one", "  two"], "one\ntwo"),
        (["k: >-", "  one", "  two"], "one two"),
        (["k: |", "  ```yaml", "  a: b", "  ```"], "```yaml\na: b\n```"),
        (['k: "one', '  two"'], "one two"),
        (["k: [a,", "  b]"], ["a", "b"]),
        (["k:", "- a", "- b"], ["a", "b"]),
        (["k:", "  - a", "  - 'b: c'", "  -"], ["a", "b: c", None]),
        (["k:", "  - a", "    more"], ["a more"]),
        (["k:", "  - url: x", "    day: 1"], [{"url": "x", "day": 1}]),
        (["k:", "  - a: b: c"], ["a: b: c"]),
        (["k:", "  a: 1", "  b:", "    c: 2"], {"a": 1, "b": {"c": 2}}),
        (["k:", "\ta: 1"], {"a": 1}),
        (["# remark", "k: one", "# remark"], "one"),
    ],
)
def test_several_lines(lines: list[str], value: object) -> None:
    assert header_of(*lines) == {"k": value}


def test_a_description_that_goes_on_without_indent() -> None:
    assert header_of("description: one", "two", "type: user") == {"description": "one two", "type": "user"}


def test_unreadable_lines_cost_only_themselves() -> None:
    document = parse(b"---\nname: n\n%%%\n]]\ntype: user\n---\n\nBody.\n", "a.md")
    assert document.header == {"name": "n %%% ]]", "type": "user"}  # a name may go on in the next line
    assert parse(b"---\ntype: user\n]]\n---\n").header == {"type": "user"}
    assert [(it.file, it.line, it.kind) for it in document.problems] == [("a.md", 3, "yaml"), ("a.md", 4, "yaml")]


def test_tight_and_full_width_colons_of_known_keys() -> None:
    document = parse("---\nname:n\ntype：user\n---\n".encode())
    assert document.header == {"name": "n", "type": "user"}
    assert len(document.problems) == 2


@pytest.mark.parametrize("depth", [30, 5000])
@pytest.mark.parametrize("piece", ["[", "{a: ", "- ", "? "])
def test_deep_nesting_is_text(piece: str, depth: int) -> None:
    document = parse(f"---\nk:\n  - {piece * depth}\nname: n\n---\nBody.".encode())
    assert document.header["name"] == "n" and document.body == "Body."


def test_deep_mappings_are_text() -> None:
    lines = "\n".join(f"{' ' * level}k{level}:" for level in range(200))
    document = parse(f"---\n{lines}\nname: n\n---\nBody.".encode())
    assert document.header["name"] == "n" and document.body == "Body."


def test_aliases_do_not_multiply() -> None:
    bomb = "a: [&x [1, 1], *x, *x]"
    assert header_of(bomb) == {"a": "[&x [1, 1], *x, *x]"}


def test_windows_file_stays_one() -> None:
    """CR LF stays on every line of an edited file (S8)."""
    data = b"\xef\xbb\xbf---\r\nname: y\r\ntype: user\r\n---\r\n\r\nBody.\r\n"
    document = parse(data)
    assert (document.header["name"], document.eol, document.bom) == ("y", "\r\n", True)
    assert render(edit(document, {"type": "project"})) == data.replace(b"user", b"project")
    assert render(edit(document, {}, body="New.\nText.\n")) == data.replace(b"Body.", b"New.\r\nText.")


def test_mixed_line_ends_stay_where_lines_do() -> None:
    document = parse(b"---\nname: y\n---\n\none\r\ntwo\r\nthree\n")
    assert render(edit(document, {}, body="one\ntwo b\nthree\n")) == b"---\nname: y\n---\n\none\r\ntwo b\nthree\n"


def test_gb18030_file_is_edited_in_its_own_encoding() -> None:
    data = "---\nname: 值班\n---\n\n正文也是同一种编码。\n".encode("gb18030")
    document = parse(data)
    assert document.encoding == "gb18030"
    assert render(edit(document, {"name": "门后"})) == data.replace("值班".encode("gb18030"), "门后".encode("gb18030"))


@pytest.mark.parametrize(
    ("before", "changes", "after"),
    [
        ("name: a\ntype: user", {"name": "b"}, "name: b\ntype: user"),
        ('name: "a"\nx: 1', {"name": "b"}, 'name: "b"\nx: 1'),
        ("name: 'a'", {"name": "it's"}, "name: 'it''s'"),
        ("metadata: \n  type: user\n  x: 1", {"metadata.type": "project"}, "metadata: \n  type: project\n  x: 1"),
        ("metadata:\n    type: user\nz: 1", {"metadata.y": 2}, "metadata:\n    type: user\n    y: 2\nz: 1"),
        ("a: 1", {"metadata.y": 2}, "a: 1\nmetadata:\n  y: 2"),
        ("a: 1\nb: 2", {"a": REMOVED}, "b: 2"),
        ("a: 1\n\n# remark\nb: 2", {"a": REMOVED}, "\n# remark\nb: 2"),
        ("tags: a, b", {"tags": ["a", "c"]}, "tags: a, c"),
        ("tags: [a, b]", {"tags": ["a", "c"]}, "tags: [a, c]"),
        ("tags:\n  - a\nz: 1", {"tags": ["b", "c"]}, "tags:\n  - b\n  - c\nz: 1"),
        ("d: |\n  one\n  two\nz: 1", {"d": "three"}, "d: three\nz: 1"),
        ("a: 1\na: 2", {"a": 3}, "a: 1\na: 3"),
    ],
)
def test_only_the_lines_of_a_key_change(before: str, changes: dict[str, object], after: str) -> None:
    document = edit(parse(f"---\n{before}\n---\n\nBody.\n".encode()), changes)
    assert render(document).decode() == f"---\n{after}\n---\n\nBody.\n"


def test_a_file_without_header_gets_one() -> None:
    document = edit(parse(b"Body.\n"), {"name": "new"})
    assert render(document) == b"---\nname: new\n---\n\nBody.\n"
    assert isinstance(document, Document) and document.header == {"name": "new"}


def test_a_header_that_never_closes_can_be_edited() -> None:
    document = edit(parse(b"---\nname: n\n\n# Heading\n"), {"type": "user"})
    assert render(document) == b"---\nname: n\ntype: user\n\n# Heading\n"


@pytest.mark.parametrize(
    "text",
    ["---\n", "---\n\nNo keys.\n\n---\n", "----\nname: x\n----\n", "---\n------\n", "--- a\nname: x\n---\n"],
)
def test_a_rule_is_no_header(text: str) -> None:
    assert parse(text.encode()).header == {}
    assert parse(text.encode()).body == text


def test_a_heading_underlined_with_dashes_closes_nothing() -> None:
    document = parse(b"---\nname: n\n\nA heading\n---------\n\nText.\n")
    assert document.header == {"name": "n"} and document.body.startswith("A heading\n---------")
