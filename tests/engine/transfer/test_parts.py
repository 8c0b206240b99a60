"""The parts of the reader by themselves: dates, links, indexes, types, and that no text makes them fail."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.transfer.content import Source
from engine.transfer.dates import day_in_name, to_ms
from engine.transfer.decoding import decode, looks_binary
from engine.transfer.fields import type_of, words
from engine.transfer.forms import form_of
from engine.transfer.frontmatter import parse
from engine.transfer.index import is_index, read_index
from engine.transfer.links import Resolver, Target, find_links, without_code
from engine.transfer.markdown import read_memory

CHINA = timezone(timedelta(hours=8))
MARKS = "[|]|(|)|[[|]]|![[|.md|#|a|值|`|```|~~~|- |* |1. |: |**|<!--|-->|> |\n|---|{|}|../|2026-01-01"
KEYS = ["|", "name: ", "tags: ", "type: ", "updated: ", "supersedes: "]
TEXTS = st.lists(st.sampled_from([*MARKS.split("|"), *KEYS]), max_size=40).map("".join)


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2026-09-30", datetime(2026, 9, 30, tzinfo=CHINA)),
        ("2026-9-3", datetime(2026, 9, 3, tzinfo=CHINA)),
        ("2026年9月3日", datetime(2026, 9, 3, tzinfo=CHINA)),
        ("2026-09-30 07:05", datetime(2026, 9, 30, 7, 5, tzinfo=CHINA)),
        ("2026-09-30T07:05:06Z", datetime(2026, 9, 30, 7, 5, 6, tzinfo=UTC)),
        ("2026-09-30T07:05:06.789123Z", datetime(2026, 9, 30, 7, 5, 6, 789123, tzinfo=UTC)),
        ("2026-09-30T07:05+02:00", datetime(2026, 9, 30, 5, 5, tzinfo=UTC)),
        ("2026-09-30T07:05:00-0330", datetime(2026, 9, 30, 10, 35, tzinfo=UTC)),
        (1790000000, datetime.fromtimestamp(1790000000, UTC)),
        (1790000000123, datetime.fromtimestamp(1790000000.123, UTC)),
    ],
)
def test_dates_that_can_be_read(written: object, moment: datetime) -> None:
    assert to_ms(written, CHINA) == round(moment.timestamp() * 1000)


@pytest.mark.parametrize(
    "written",
    [
        "",
        None,
        True,
        7,
        "soon",
        "2026-13-01",
        "2026-02-30",
        "2026/05/16",
        "16.06.2026",
        "2026-09-30 or later",
        [],
        "9999",
    ],
)
def test_dates_that_cannot(written: object) -> None:
    assert to_ms(written, CHINA) is None


def test_a_day_counts_at_the_start_of_a_name_only() -> None:
    assert day_in_name("2026-03-19-0512", CHINA) == to_ms("2026-03-19", CHINA)
    assert day_in_name("2026-03-22-机型比较", CHINA) is not None
    for name in ("notes-2026-03-19", "2026-03-190", "project_bugs_2026_05_09", "2026-13-45"):
        assert day_in_name(name, CHINA) is None


def test_a_day_is_midnight_where_the_reader_is(monkeypatch: pytest.MonkeyPatch) -> None:
    local = datetime(2026, 9, 30).astimezone()
    assert to_ms("2026-09-30") == round(local.timestamp() * 1000)


def test_code_keeps_its_place_but_not_its_links() -> None:
    text = "a `[[b]]` [[c]]\n\n~~~\n[[d]]\n```\n~~~\n[[e]] ``x ` [[f]]`` [[g\\|h]]\n```py\n[[i]]"
    plain = without_code(text)
    assert len(plain) == len(text) and plain.count("\n") == text.count("\n")
    assert [(link.target, link.line) for link in find_links(plain, 10)] == [("c", 10), ("e", 16), ("g", 16)]


def test_markdown_links_to_files_only() -> None:
    text = "[a](a.md) [b](b%20c.md#x) [c](<d e.md>) [d](https://x.org/e.md) [e](f.png) ![g](h.md) [i](j k.md)"
    assert [(link.form, link.target) for link in find_links(text, 1)] == [
        ("markdown", "a.md"),
        ("markdown", "b c.md#x"),
        ("markdown", "d e.md"),
        ("embed", "h.md"),
        ("markdown", "j k.md"),
    ]


def test_order_of_resolution() -> None:
    """Stem here, name here, stem without prefix here, then the other directories."""
    resolver = Resolver(
        [
            Target("x/user_one.md", "two"),
            Target("x/two.md", "three"),
            Target("x/feedback_four.md", "one"),
            Target("y/one.md", "five"),
            Target("y/only-here.md", "six"),
        ]
    )
    assert resolver.find("two", "x/a.md") == "x/two.md"
    assert resolver.find("one", "x/a.md") == "x/feedback_four.md"
    assert resolver.find("ONE", "y/a.md") == "y/one.md"
    assert resolver.find("four", "x/a.md") == "x/feedback_four.md"
    assert resolver.find("only_here.md#part|shown", "x/a.md") == "y/only-here.md"
    assert resolver.find("y/one", "x/a.md") == "y/one.md"
    assert resolver.find("../y/one", "x/a.md") == "y/one.md"
    assert resolver.find("../../y/one", "x/a.md") is None
    assert resolver.find("#part", "x/a.md") == "x/a.md"
    assert resolver.find("seven", "x/a.md") is None


def test_an_index_does_not_confuse_names_that_end_alike() -> None:
    resolver = Resolver([Target("x_a.md", "x")])
    assert resolver.find_path("a.md", "") is None


@pytest.mark.parametrize(
    ("row", "entry"),
    [
        ("- [T](a.md) — hook", ("T", "a.md", "hook")),
        ("- [T](a.md) - hook - more", ("T", "a.md", "hook - more")),
        ("* [T](a.md): hook", ("T", "a.md", "hook")),
        ("1. [T](a.md)", ("T", "a.md", "")),
        ("- **[T](a.md)** – hook", ("T", "a.md", "hook")),
        ("- [T [x] y](a.md) — hook", ("T [x] y", "a.md", "hook")),
        ("- [T](a.md#L12) — hook", ("T", "a.md", "hook")),
        ("- [T](a%20b.md) — hook", ("T", "a b.md", "hook")),
        ("- [T](<a (b).md>) — hook", ("T", "a (b).md", "hook")),
        ("- [[a]] — hook", ("a", "a", "hook")),
        ("| **T** | hook | [a.md](a.md) |", ("T", "a.md", "hook")),
        ("- [T](https://x.org/a.md) — hook", None),
        ("- [T](folder/) — hook", None),
        ("- a.md: words", None),
        ("- [ ] a task", None),
        ("Text with a [link](a.md).", None),
    ],
)
def test_rows_of_an_index(row: str, entry: tuple[str, str, str] | None) -> None:
    index = read_index(row, "MEMORY.md")
    found = [(item.title, item.target, item.hook) for item in index.entries]
    assert found == ([entry] if entry else [])
    assert len(index.prose) == (0 if entry else 1)


def test_lines_and_sections_of_an_index() -> None:
    text = (
        "# Index\n\n## Rules\n\n- always ask\n\n## 偏好\n- 先听结论\n<!-- open:\n- point\n-->\n| a | b |\n|---|---|\n"
    )
    index = read_index(text, "MEMORY.md", first_line=11)
    assert [(piece.line, piece.section, piece.what) for piece in index.prose] == [
        (15, "Rules", "rule"),
        (18, "偏好", "preference"),
        (19, "", "comment"),
    ]


def test_content_is_no_index() -> None:
    content = "# Long-term\n\n- likes tea\n- lives in Oslo\n- see [notes](notes.md)\n- has a cat\n"
    assert not is_index(read_index(content, "MEMORY.md"), "MEMORY.md", content)
    listing = "- [a](a.md)\n- [b](b.md)\n- [c](c.md)\n"
    assert is_index(read_index(listing, "memory.md"), "memory.md", listing)
    assert not is_index(read_index(listing, "index.md"), "index.md", listing)
    assert is_index(read_index(listing, "index.md"), "index.md", f"# Index\n{listing}")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("user", ("user", True)),
        ("Feedback", ("feedback", True)),
        ("", ("reference", True)),
        ("Technique", ("reference", False)),
        ("decision", ("project", False)),
        ("用户", ("user", False)),
        ("procedural", ("feedback", False)),
        ("whatever", ("reference", False)),
    ],
)
def test_types(word: str, expected: tuple[str, bool]) -> None:
    assert type_of(word) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a, b", ["a", "b"]),
        ("甲、乙，丙", ["甲", "乙", "丙"]),
        ("#a #b", ["#a", "#b"]),
        ("ren falk", ["ren falk"]),
        (["a", 7, True, None], ["a", "7", "true", "null"]),
        ([{"c": None}, {"d": "e"}], ["c:", "d: e"]),
        ([["page"]], ["page"]),
        (None, []),
        (["", " "], []),
    ],
)
def test_words_of_a_value(value: object, expected: list[str]) -> None:
    assert words(value) == expected


def test_encodings() -> None:
    text = "# 值班表\n\n每周一换。\n"
    assert decode(text.encode("utf-16")).text == text
    assert decode(text.encode("gb18030")).encoding == "gb18030"
    assert decode("café, déjà vu".encode("latin-1")).text == "café, déjà vu"
    damaged = text.encode() * 5 + b"a \xa1\xaa b \xff"
    assert decode(damaged).text == text * 5 + "a — b \ufffd" and decode(damaged).raw == damaged
    assert looks_binary("\x01\x02\x03abc") and not looks_binary("Text\twith\n\0 one zero byte")


@pytest.mark.parametrize(
    ("head", "form"),
    [
        ('{"type":"entity","name":"x","entityType":"y","observations":[]}\n', "graph-jsonl"),
        ('{"entities": [], "relations": []}', "graph-json"),
        ('[{"mapping": {"a": {"parent": null, "children": []}}}]', "chatgpt-conversations"),
        ('{"format": "memdeck-store", "schema": 1, "entities": [], "relations": []}', "memdeck-json"),
        ("{}", "json"),
        ("[]", "json"),
        ("[link](a.md)", ""),
        ("plain text", ""),
        ("", ""),
    ],
)
def test_forms(head: str, form: str) -> None:
    assert form_of(head) == form


@given(TEXTS)
@settings(deadline=None)
def test_no_text_makes_a_memory_fail(text: str) -> None:
    document = parse(text.encode(), "projects/x/memory/a.md")
    item, problems = read_memory(document, Source("projects/x/memory/a.md", vault=True))
    assert item.body == document.body and item.name and item.description
    assert all(problem.file == "projects/x/memory/a.md" for problem in problems)


@given(TEXTS)
@settings(deadline=None)
def test_every_row_of_an_index_is_an_entry_or_prose(text: str) -> None:
    index = read_index(text, "MEMORY.md")
    told = {entry.line for entry in index.entries} | {piece.line for piece in index.prose}
    for line, row in enumerate(text.split("\n"), 1):
        if line in told or not any(char.isalnum() for char in row):
            continue
        inside = any(piece.what == "comment" and piece.line <= line for piece in index.prose)
        assert inside or row.lstrip().startswith(("#", "|")), row
