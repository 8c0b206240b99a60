"""Examples of single promises that no other file walks through, each from outside and on a real store."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from textual.geometry import Size

from engine.model.enums import Origin, State, Type
from engine.model.errors import MemdeckError
from engine.model.memory import Filter, RecallQuery
from engine.serve.dispatch import call_tool
from tests.acceptance.conftest import AGENT, OWNER, Desk
from tests.serve.conftest import ROOT, environment
from tests.tui.factories import memory
from tui.widgets.memory_table import MemoryTable

NETWORK = {"aiohttp", "ftplib", "http", "httpx", "requests", "smtplib", "ssl", "urllib.request", "urllib3"}
"""Modules that speak to other machines."""


# --- lists and rows ---


def test_chips_and_text_narrow_one_list(desk: Desk) -> None:
    desk.tell("The ferry leaves at nine", type=Type.PROJECT, tags=("sea",))
    desk.tell("The ferry is a favourite", type=Type.USER, tags=("sea",))
    desk.tell("The ferry has a bar", type=Type.REFERENCE, tags=("sea",))
    desk.tell("The ferry was late", type=Type.USER, tags=("trip",))
    desk.tell("The lighthouse is white", type=Type.PROJECT, tags=("sea",))
    chosen = Filter(types=(Type.PROJECT, Type.USER), tags=("sea",), text="ferry")
    assert sorted(desk.engine.memory_ids(OWNER, chosen)) == [1, 2]
    counted = {tag.name: tag.count for tag in desk.engine.tags()}
    assert (counted["sea"], counted["trip"]) == (4, 1), "tags are counted over the whole store"


class WideTable(MemoryTable):
    """A table that believes in a window of 120 cells without being shown in one."""

    size = Size(120, 30)


@pytest.mark.parametrize(
    ("state", "glyph"),
    [
        (State.ACTIVE, " "),
        (State.SUPERSEDED, "<"),
        (State.MERGED, "&"),
        (State.ARCHIVED, "x"),
        (State.QUARANTINED, "?"),
        (State.DELETED, "-"),
    ],
)
def test_a_row_shows_state_source_tags_time_and_correction(state: State, glyph: str) -> None:
    row = memory(1, "The ferry leaves at nine", state=state, tags=("sea",), manually_corrected=True)
    first, *rest = WideTable().cells(row)
    shown = [first.text, *(cell.text.strip() for cell in rest)]
    assert shown == [glyph, "", "c", "The ferry leaves at nine", "#sea", "claude-code", "2025-10-09"]
    door = memory(2, "By the owner", actor="", origin=Origin.TUI)
    unmarked = [cell.text.strip() for cell in WideTable().cells(door)]
    assert unmarked[2] == "" and unmarked[5] not in ("", "claude-code")


# --- what is alike and what is opposite ---


@pytest.mark.parametrize(
    ("first", "second", "kinds"),
    [
        (
            "纯文档改动只推提交记录所以要升版本号",
            "纯文档改动只推提交记录所以不要升版本号",
            ["contradiction"],
        ),
        (
            "功能发版前必须先跑一遍全部测试",
            "功能发版前一定要先跑一遍全部测试",
            ["near_duplicate"],
        ),
        ("用户偏好简洁的代码风格写法", "用户一直喜欢简洁的代码风格写法", []),
        ("发布之前要先在本地跑测试", "上线之前记得先在本地跑测验", []),
    ],
)
def test_the_opposite_is_a_contradiction_before_it_is_a_duplicate(
    desk: Desk, first: str, second: str, kinds: list[str]
) -> None:
    desk.tell(first, AGENT, subject="release")
    desk.tell(second, AGENT, subject="release")
    assert [item.kind.value for item in desk.engine.review_items()] == kinds
    assert desk.ids() == [1, 2], "both stand until the owner decides"


# --- reading ---


def test_a_revision_that_has_passed_gives_no_text(desk: Desk) -> None:
    desk.tell("Notes on the ferry", body="It leaves at nine.")
    desk.engine.edit(OWNER, "mem-1@1", {"body": "It leaves at ten."})
    envelope = json.loads(call_tool(desk.engine, AGENT, "read", {"refs": ["mem-1@1"]}).as_json())
    assert envelope["error"]["code"] == "revision_changed" and "data" not in envelope
    assert "leaves" not in json.dumps(envelope)
    with pytest.raises(MemdeckError) as refused:
        desk.engine.read(OWNER, "mem-1@1")
    assert refused.value.code == "revision_changed" and "leaves" not in str(refused.value)
    assert desk.engine.read(OWNER, "mem-1@2").text == "It leaves at ten."


def test_no_link_and_no_path_leads_to_a_file(desk: Desk, folder, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("---\ndescription: The vault opens with plumtree\n---\nplumtree\n")
    root = folder(inside="---\ndescription: The vault is in the cellar\n---\nBehind the stairs.\n")
    (root / "linked.md").symlink_to(outside)
    report = desk.engine.run_import(OWNER, root)
    assert [p["file"] for p in report.problems if p["kind"] == "symlink"] == ["linked.md"]
    assert "plumtree" not in desk.engine.context(AGENT, "What opens the vault?").text
    assert desk.everything("vault") == ["The vault is in the cellar"]
    assert desk.ids() == [1]
    for ref in ("linked", "linked.md", "../outside.md", str(outside), str(root / "linked.md")):
        with pytest.raises(MemdeckError) as refused:
            desk.engine.read(OWNER, ref)
        told = json.loads(call_tool(desk.engine, AGENT, "read", {"refs": [ref]}).as_json())
        assert told["error"]["code"] == refused.value.code
        assert "plumtree" not in json.dumps(told)


def test_a_full_receipt_names_where_each_answer_came_from(desk: Desk) -> None:
    desk.tell("The ferry leaves at nine", tags=("ferry",), topics=("harbour",))
    desk.tell("Notes", body="Something.\n\nThe ferry has a bar.\n\nSomething else.")
    hits = desk.engine.recall(OWNER, RecallQuery("ferry", why=True)).hits
    assert len(hits) == 2
    for hit in hits:
        assert hit.why and set(hit.parts["ranks"]) <= {"fused", "text", "tags", "graph"}
    assert "tags" in hits[0].parts["ranks"] and "tags" not in hits[1].parts["ranks"]
    assert hits[1].lines == (3, 3)


# --- local, and quiet on the protocol's stream ---


def test_no_module_imports_anything_that_speaks_to_other_machines() -> None:
    found = []
    for file in sorted([*(ROOT / "engine").rglob("*.py"), *(ROOT / "tui").rglob("*.py")]):
        if file.is_relative_to(ROOT / "engine" / "llm"):
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or "", *(f"{node.module}.{name}" for name in names)]
            found += [f"{file.name}: {name}" for name in names if {name, name.partition(".")[0]} & NETWORK]
    assert found == []


def test_with_debugging_on_every_line_of_stdout_is_protocol(tmp_path: Path) -> None:
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "memdeck/remember", "params": {"text": "the ferry leaves at nine"}},
        {"jsonrpc": "2.0", "id": 2, "method": "memdeck/nope"},
        {"jsonrpc": "2.0", "id": 3, "method": "memdeck/context", "params": {"message": "When leaves the ferry?"}},
        {"jsonrpc": "2.0", "id": 4, "method": "memdeck/recall", "params": {"query": "ferry"}},
    ]
    done = subprocess.run(
        [sys.executable, "-m", "engine.serve", "--store", str(tmp_path / "store"), "--stdio"],
        input="not json\n" + "".join(json.dumps(line) + "\n" for line in lines),
        env=environment(MEMDECK_DEBUG="1"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 0, done.stderr
    assert '"scanned"' in done.stderr, "debugging said nothing, so nothing was proven"
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    assert sorted(str(answer["id"]) for answer in answers) == ["1", "2", "3", "4", "None"]
