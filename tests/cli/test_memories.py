"""What the owner does with memories from the shell."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engine.model.clock import iso

pytestmark = pytest.mark.usefixtures("terminal")


def remember(memdeck, *arguments: str) -> str:
    """Remember something and return its reference."""
    return memdeck("remember", "--json", *arguments).json["ref"]


def test_a_memory_from_writing_to_taking_it_back(memdeck) -> None:
    ref = remember(memdeck, "The", "ferry", "leaves", "at", "seven")
    assert ref == "mem-1@1"
    assert "The ferry leaves at seven" in memdeck("recall", "ferry").out
    assert "mem-1@2" in memdeck("edit", ref, "--text", "The ferry leaves at eight").out
    assert "eight" in memdeck("read", "mem-1").out
    history = memdeck("history", "mem-1").out
    assert "seven" in history and "eight" in history
    memdeck("forget", "mem-1", "--reason", "sold the boat")
    assert "ferry" not in memdeck("recall", "ferry").out
    memdeck("undo")
    assert "eight" in memdeck("recall", "ferry").out
    memdeck("undo")
    assert "seven" in memdeck("recall", "ferry").out
    memdeck("redo")
    assert "eight" in memdeck("recall", "ferry").out


def test_text_in_any_script(memdeck) -> None:
    for text, query in (
        ("明天去杭州喝龙井茶", "龙井"),
        ("Trà sen ở Huế rất thơm", "trà sen"),
        ("김치찌개를 좋아한다", "김치"),
    ):
        remember(memdeck, text)
        assert text in memdeck("recall", query).out


def test_a_long_text_is_read_from_stdin(memdeck, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    monkeypatch.setattr(sys, "stdin", io.StringIO("The boiler is serviced in May\n"))
    remember(memdeck, "-")
    assert "boiler" in memdeck("recall", "boiler").out


def test_every_option_of_remember_reaches_the_store(memdeck, tmp_path: Path) -> None:
    body = tmp_path / "body.md"
    body.write_text("# Why\n\nBecause.\n")
    options = ["--name", "boiler", "--type", "project", "--tag", "house", "--alias", "heater", "--subject", "boiler"]
    options += [
        "--since",
        "2026-01-01",
        "--until",
        "2027-01-01",
        "--body-file",
        str(body),
        "--triple",
        "boiler",
        "in",
        "cellar",
    ]
    remember(memdeck, "The boiler stands in the cellar", *options)
    (memory,) = memdeck("do", "history", '{"ref":"mem-1"}').json
    assert (memory["name"], memory["type"], memory["tags"]) == ("boiler", "project", ["house"])
    assert (memory["aliases"], memory["subject"], memory["body"]) == (["heater"], "boiler", body.read_text())
    assert (iso(memory["valid_to"]) > "2026-12-30") and (memory["origin"], memory["actor"]) == ("cli", "owner")


def test_a_newer_fact_takes_the_place_of_the_old(memdeck) -> None:
    remember(memdeck, "Ana lives in Porto", "--since", "2026-01-01")
    remember(memdeck, "Ana lives in Braga", "--replaces", "mem-1@1", "--since", "2026-06-01")
    assert "Porto" not in memdeck("recall", "Ana lives").out
    assert "Porto" in memdeck("recall", "Ana lives", "--at", "2026-03-01").out
    both = memdeck("recall", "Ana lives", "--mode", "associative").out
    assert "Porto" in both and "Braga" in both


def test_an_edit_of_an_outdated_text_changes_nothing(memdeck) -> None:
    ref = remember(memdeck, "The key is under the mat")
    memdeck("edit", ref, "--text", "The key is in the shed")
    refused = memdeck("edit", ref, "--text", "The key is lost", code=1)
    assert "revision 2" in refused.err
    assert "shed" in memdeck("read", "mem-1").out


def test_fields_are_edited_by_name(memdeck) -> None:
    remember(memdeck, "The cat is called Momo", "--tag", "cat")
    memdeck(
        "edit",
        "mem-1",
        "--field",
        "tags",
        "cat, pet，宠物",
        "--field",
        "type",
        "user",
        "--field",
        "valid_to",
        "2030-01-01",
    )
    memory = memdeck("do", "get", '{"ref":"mem-1"}').json
    assert (sorted(memory["tags"]), memory["type"]) == (["cat", "pet", "宠物"], "user")
    assert memory["valid_to"] and memory["manually_corrected"]
    assert memdeck("edit", "mem-1", "--field", "colour", "red", code=1).err.count("\n") <= 2


# --- in the editor ---


@pytest.fixture
def editor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Make $EDITOR a program that replaces one text by another; with `meanwhile` it first runs another edit."""

    def install(old: str, new: str, meanwhile: str = "") -> None:
        script = tmp_path / "editor.py"
        script.write_text(
            "import pathlib, sys, os\n"
            f"{meanwhile}\n"
            "path = pathlib.Path(sys.argv[-1])\n"
            f"text = path.read_text(encoding='utf-8').replace({old!r}, {new!r})\n"
            "path.write_text(text, encoding='utf-8')\n"
            "stat = path.stat(); os.utime(path, (stat.st_atime, stat.st_mtime + 5))\n"
        )
        monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")
        monkeypatch.delenv("VISUAL", raising=False)

    return install


def test_the_editor_changes_description_and_body(memdeck, editor) -> None:
    remember(memdeck, "理由: 过期 # 附带", "--body", "line one\nline two", "--tag", "a")
    editor("line two", "第二行")
    memdeck("edit", "mem-1")
    memory = memdeck("do", "get", '{"ref":"mem-1"}').json
    assert (memory["description"], memory["body"], memory["tags"]) == ("理由: 过期 # 附带", "line one\n第二行", ["a"])
    editor("附带", "changed")
    memdeck("edit", "mem-1")
    assert memdeck("do", "get", '{"ref":"mem-1"}').json["description"] == "理由: 过期 # changed"


def test_the_editor_that_changes_nothing_writes_nothing(memdeck, editor) -> None:
    remember(memdeck, "Nothing happens here")
    editor("not there", "either")
    assert "nothing was changed" in memdeck("edit", "mem-1").err
    assert memdeck("do", "get", '{"ref":"mem-1"}').json["revision"] == 1


def test_a_broken_header_keeps_the_owners_text(memdeck, editor) -> None:
    remember(memdeck, "The header will break")
    editor("name: ", "name: [")
    refused = memdeck("edit", "mem-1", code=1)
    kept = Path(refused.err.split("kept in ")[1].split()[0])
    assert "name: [" in kept.read_text()
    kept.unlink()


def test_a_change_meanwhile_keeps_both_texts(memdeck, editor, store: Path) -> None:
    remember(memdeck, "The shop opens at nine")
    root = str(Path(__file__).parents[2])
    other = ["-m", "tui.cli", "--store", str(store), "--as-owner", "edit", "mem-1", "--text", "The shop opens at ten"]
    editor(
        "nine", "eight", f"import subprocess; subprocess.run([sys.executable, *{other!r}], cwd={root!r}, check=True)"
    )
    refused = memdeck("edit", "mem-1", code=1)
    kept = Path(refused.err.split("kept in ")[1].split()[0])
    assert "eight" in kept.read_text()
    assert "ten" in memdeck("read", "mem-1").out
    kept.unlink()


# --- many at once ---


def test_forgetting_by_criteria_lists_first(memdeck) -> None:
    for number in range(3):
        remember(memdeck, f"Boat number {number} is blue", "--topic", "boats", "--subject", f"boat {number}")
    plan = memdeck("forget", "--match", "topic", "boats", "--json").json
    assert plan["total"] == 3
    assert "Boat" in memdeck("recall", "boat").out
    memdeck("forget", "--match", "topic", "boats", "--confirm", plan["confirm"], "--reason", "sold")
    assert "Boat" not in memdeck("recall", "boat").out


def test_a_match_of_nothing_gives_nothing_to_confirm(memdeck) -> None:
    remember(memdeck, "The boat is blue")
    shown = memdeck("forget", "--match", "topic", "nope").out
    assert "nothing matches" in shown and "--confirm" not in shown
    assert memdeck("forget", "--match", "topic", "nope", "--json").json["total"] == 0


def test_every_write_says_what_it_did(memdeck) -> None:
    remember(memdeck, "The boat is blue")
    for command, word in (
        (["lock", "mem-1"], "locked"),
        (["unlock", "mem-1"], "unlocked"),
        (["forget", "mem-1"], "forgotten"),
        (["forget", "mem-1", "--restore"], "restored"),
        (["forget", "mem-1", "--archive"], "archived"),
        (["forget", "mem-1", "--restore"], "restored"),
        (["edit", "mem-1", "--text", "The boat is green"], "written"),
    ):
        assert f" {word}" in memdeck(*command).out, command


def test_a_locked_memory_says_how_it_is_unlocked(memdeck) -> None:
    remember(memdeck, "The boat is blue")
    memdeck("lock", "mem-1")
    assert "memdeck unlock mem-1" in memdeck("forget", "mem-1", code=1).err


def test_the_log_says_how_it_goes_on(memdeck) -> None:
    for number in range(5):
        remember(memdeck, f"Boat number {number} is blue", "--subject", f"boat {number}")
    seen, more = [], []
    while True:
        lines = memdeck("log", "--limit", "2", *more).out.splitlines()
        seen += [line.split()[0] for line in lines if "--before" not in line]
        if "--before" not in lines[-1]:
            break
        more = ["--before", lines[-1].split("--before ")[1]]
    assert seen == ["5", "4", "3", "2", "1"]
    assert len(memdeck("log", "--limit", "2", "--json").json) == 2
    assert "--before" not in memdeck("log", "--limit", "5").out


def test_archive_restore_lock_and_unlock(memdeck) -> None:
    remember(memdeck, "Old router password is on the label")
    memdeck("forget", "mem-1", "--archive")
    assert "router" not in memdeck("recall", "router").out
    assert "router" in memdeck("recall", "router", "--mode", "archived").out
    memdeck("forget", "mem-1", "--restore")
    memdeck("lock", "mem-1")
    assert "locked" in memdeck("recall", "router").out
    memdeck("unlock", "mem-1")
    assert "locked" not in memdeck("recall", "router").out


def test_pages_of_recall_go_on(memdeck) -> None:
    for number in range(7):
        remember(memdeck, f"Lamp {number} stands in room {number}", "--subject", f"lamp {number}")
    first = memdeck("recall", "lamp", "--limit", "4", "--json").json
    rest = memdeck("recall", "lamp", "--limit", "4", "--cursor", first["next_cursor"], "--json").json
    ids = [hit["memory"]["id"] for page in (first, rest) for hit in page["hits"]]
    assert sorted(ids) == list(range(1, 8)) and first["total"] == 7
