"""Connecting agents from the shell, and bringing in what they remember already."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.connect import HookProof, Proof

SETTINGS = '{\n  // mine\n  "theme": "dark"\n}\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test a home of its own, with Gemini in it, and a folder to work in."""
    home, project = tmp_path / "home", tmp_path / "花园 project"
    (home / ".gemini").mkdir(parents=True)
    project.mkdir()
    (home / ".gemini" / "settings.json").write_text(SETTINGS)
    monkeypatch.setenv("HOME", str(home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "OPENCODE_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(project)
    return home


@pytest.fixture
def proven(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the server's answer for granted; that it is asked for has a test of its own."""
    monkeypatch.setattr("engine.connect.prove", lambda *_, **__: Proof(True, "memdeck", ("recall", "remember"), 0.3))
    monkeypatch.setattr("engine.connect.prove_hooks", lambda *_, **__: [])


def test_an_agent_is_connected_proven_and_removed(memdeck, home, terminal, store) -> None:
    path = home / ".gemini" / "settings.json"
    shown = memdeck("connect", "gemini").out
    assert all(f"hook {event} was run once" in shown for event in ("SessionStart", "BeforeAgent", "PreCompress"))
    assert str(path) in shown and f"{path.name}.memdeck-backup" in shown and "recall" in shown
    entry = json.loads(path.read_text().replace("// mine", ""))["mcpServers"]["memdeck"]
    assert Path(entry["command"]).is_absolute() and entry["args"][-3:] == ["mcp", "--store", str(store)]
    assert "connected already" in memdeck("connect", "gemini").out
    assert "connected" in memdeck("connect", "--list").out
    assert "no longer connected" in memdeck("connect", "gemini", "--remove").out
    assert path.read_text() == SETTINGS and [p.name for p in path.parent.iterdir()] == [path.name]
    assert "was not connected" in memdeck("connect", "gemini", "--remove").out


def test_a_dry_run_shows_the_difference_and_writes_nothing(memdeck, home, terminal, store) -> None:
    path = home / ".gemini" / "settings.json"
    shown = memdeck("connect", "gemini", "--dry-run").out
    assert '+  "mcpServers": {' in shown and '   "theme"' not in shown.replace('-  "theme"', "")
    found = memdeck("connect", "claude-code", "--dry-run", "--json").json
    assert found["changes"] and found["dry_run"] and found["files"] == [
        str(home / ".claude.json"), str(home / ".claude" / "settings.json"),
    ]  # fmt: skip
    assert path.read_text() == SETTINGS and len(list(home.rglob("*"))) == 2 and not store.exists()
    assert "connected already" in memdeck("connect", "gemini", "--remove", "--dry-run").out


def test_a_project_gets_its_own_file(memdeck, home, terminal, proven) -> None:
    memdeck("connect", "claude", "--scope", "project")
    assert "memdeck" in (Path.cwd() / ".mcp.json").read_text() and not (home / ".claude.json").exists()


def test_an_agent_that_is_not_here_is_mentioned(memdeck, home, terminal, proven, monkeypatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert "was not found on this machine" in memdeck("connect", "codex").out
    found = {(one["agent"], one["reach"]): one for one in memdeck("connect", "--list", "--json").json}
    assert found["codex", "user"]["server"] and not found["claude-code", "user"]["server"]


def test_hooks_are_left_out_and_taken_out_on_demand(memdeck, home, terminal, proven) -> None:
    path = home / ".gemini" / "settings.json"
    assert "without hooks" in memdeck("connect", "gemini", "--no-hooks").out and '"hooks"' not in path.read_text()
    assert "connected, without hooks" in memdeck("connect", "--list").out
    memdeck("connect", "gemini")
    assert "BeforeAgent" in path.read_text() and "connected, with hooks" in memdeck("connect", "--list").out
    memdeck("connect", "gemini", "--no-hooks")
    assert '"hooks"' not in path.read_text() and "mcpServers" in path.read_text()
    assert "has no hooks" in memdeck("connect", "opencode").out


def test_the_end_of_a_turn_is_hooked_where_the_store_keeps_turns(memdeck, home, terminal, proven) -> None:
    assert "AfterAgent" not in memdeck("connect", "gemini", "--dry-run").out
    memdeck("settings", "set", "turns.enabled", "on")
    assert "AfterAgent" in memdeck("connect", "gemini", "--dry-run").out


def test_a_hook_that_does_not_work_is_one_line_and_exit_code_one(memdeck, home, terminal, proven, monkeypatch) -> None:
    broken = HookProof("SessionStart", False, 0, 0.1, "there is\nno store")
    monkeypatch.setattr("engine.connect.prove_hooks", lambda *_, **__: [broken])
    ended = memdeck("connect", "gemini", code=1)
    assert "the hook SessionStart does not work: there is no store" in ended.err and "--no-hooks" in ended.err


def test_another_store_is_told_from_this_one(memdeck, home, terminal, proven, tmp_path) -> None:
    memdeck("connect", "codex", "--store", str(tmp_path / "other"))
    assert "another store or command" in memdeck("connect", "--list").out


def test_an_entry_that_does_not_work_is_one_line_and_exit_code_one(memdeck, home, terminal, monkeypatch) -> None:
    monkeypatch.setattr("engine.connect.prove", lambda *_, **__: Proof(False, "", (), 1.0, "it ended\nat once"))
    ended = memdeck("connect", "gemini", code=1)
    assert "does not work: it ended at once" in ended.err and "--remove" in ended.err


def test_a_broken_settings_file_is_named_with_its_line(memdeck, home, terminal) -> None:
    (home / ".gemini" / "settings.json").write_text('{\n  "a": \n}')
    assert "settings.json:3: " in memdeck("connect", "gemini", code=1).err


def test_what_is_unknown_or_missing_is_refused(memdeck, home, terminal) -> None:
    assert "no agent that memdeck knows" in memdeck("connect", "emacs", code=1).err
    assert "which agent" in memdeck("connect", code=2).err
    assert "--scope" in memdeck("connect", "gemini", "--scope", "world", code=2).err


def test_settings_are_the_owner_s(memdeck, home) -> None:
    memdeck("connect", "gemini", code=1)
    assert (home / ".gemini" / "settings.json").read_text() == SETTINGS
    assert "not connected" in memdeck("connect", "--list").out


def memory(home: Path, name: str, text: str) -> None:
    path = home / ".claude" / "projects" / "-home-ren-press" / "memory" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_found_memories_are_imported_once_the_owner_agrees(memdeck, home, terminal) -> None:
    assert "no memories" in memdeck("import", "--found", "--yes").out
    memory(home, "paper.md", "---\nname: paper\ndescription: Cotton paper curls in the dry room\n---\nKeep it flat.\n")
    memory(home, "ink.md", "---\nname: ink\ndescription: 红色油墨要放三天才干\n---\n别叠放。\n")
    listed = memdeck("import", "--found", "--dry-run")
    assert "Claude Code: 2 memories" in listed.err and memdeck("do", "counts").json["memories"] == 0
    memdeck("import", "--found", "--yes")
    assert memdeck("do", "counts").json["memories"] == 2
    assert memdeck("do", "found_memories").json[0]["files"] == 2
    assert "--found stands without a path" in memdeck("import", "--found", "x", code=2).err


def test_a_chinese_owner_is_answered_in_chinese(memdeck, home, terminal, proven) -> None:
    assert "已接上" in memdeck("--lang", "zh", "connect", "gemini").out
    assert "已断开" in memdeck("--lang", "zh", "connect", "gemini", "--remove").out
