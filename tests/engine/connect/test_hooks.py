"""Our hooks among an owner's own: written in each agent's form, proven once, taken out to the byte."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from pathlib import Path

import pytest

from engine.connect import (
    AGENTS,
    HookCommand,
    Places,
    Reach,
    Server,
    apply,
    backup_of,
    installed_hooks,
    plan_connect,
    plan_removal,
    prove_hooks,
    read_hooks,
    read_server,
)  # fmt: skip
from engine.connect.hooks import HookSettings
from engine.facade import open_engine
from engine.model.enums import Origin, Type
from engine.model.errors import MemdeckError
from engine.model.memory import Caller, Draft

FILES = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json"}
NAMES = list(FILES)
EVENTS = {
    "claude-code": ["SessionStart", "UserPromptSubmit", "PreCompact"],
    "codex": ["SessionStart", "UserPromptSubmit", "PostCompact"],
    "gemini": ["SessionStart", "BeforeAgent", "PreCompress"],
}
COMMAND = HookCommand(("/opt/my tools/memdeck",), "/home/ren/记忆 store")
OWN = '{"matcher": "startup", "hooks": [{"type": "command", "command": "memdeck-like hook prompt"}]}'
SHAPES = {
    "blank": b"",
    "empty": b"{}",
    "other": b'{\n  "model": "x"\n}\n',
    "own": f'{{\n  "hooks": {{\n    "SessionStart": [{OWN}],\n    "Stop": []\n  }}\n}}\n'.encode(),
    "lines": b'{"hooks": {\n\t"SessionStart": [\n\t\t{ "hooks": [ {"type":"command","command":"x"} ] }\n\t]\n} }',
    "none yet": b'{\r\n  "hooks": { "SessionStart": [ ] },\r\n  "z": 1\r\n}\r\n',
    "minified": b'{"hooks":{"BeforeAgent":[{"hooks":[]}],"UserPromptSubmit":[{"hooks":[]}]},"a":[1]}',
    "bom": b'\xef\xbb\xbf{ "hooks" : { } }',
}
REMARKS = b'{ // mine\n  "hooks": {\n    "SessionStart": [ // at start\n      {"hooks": []}, // last\n    ],\n  },\n}\n'


def shapes() -> list[tuple[str, bytes]]:
    found = [(name, data) for name in NAMES for data in SHAPES.values()]
    return [*found, ("gemini", REMARKS)]


def given(places: Places, name: str, data: bytes) -> Path:
    path = places.home / FILES[name]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def connect(places: Places, server: Server, name: str, hooks: HookCommand | None = COMMAND) -> list[Path]:
    return apply(plan_connect(AGENTS[name], server, places, hooks=hooks))


def loaded(name: str, data: bytes) -> dict:
    hooks = AGENTS[name].hooks
    assert hooks
    return HookSettings(hooks).load(data.decode("utf-8-sig"))


@pytest.mark.parametrize(("name", "data"), shapes())
def test_hooks_go_in_once_and_out_again_to_the_byte(places, server, name, data) -> None:
    path = given(places, name, data)
    connect(places, server, name)
    assert read_hooks(AGENTS[name], places, Reach.USER) == COMMAND and backup_of(path).read_bytes() == data
    assert connect(places, server, name) == []
    before, after = loaded(name, data), loaded(name, path.read_bytes())
    for event, groups in before.get("hooks", {}).items():
        kept = after["hooks"][event]
        assert kept[: len(groups)] == groups and len(kept) == len(groups) + (event in EVENTS[name])
    assert set(after["hooks"]) == set(before.get("hooks", {})) | set(EVENTS[name])
    apply(plan_removal(AGENTS[name], places))
    assert path.read_bytes() == data and not backup_of(path).exists()


@pytest.mark.parametrize(("name", "data"), shapes())
def test_after_changes_of_the_owner_only_ours_go(places, server, name, data) -> None:
    path = given(places, name, data)
    connect(places, server, name)
    document = loaded(name, path.read_bytes())
    document["later"] = True
    first = EVENTS[name][0]
    document["hooks"][first].append({"hooks": [{"type": "command", "command": "later"}]})
    path.write_bytes(json.dumps(document).encode())
    apply(plan_removal(AGENTS[name], places))
    left = loaded(name, path.read_bytes())
    expected = loaded(name, data) | {"later": True}
    expected["hooks"] = {**expected.get("hooks", {})}
    expected["hooks"][first] = [
        *expected["hooks"].get(first, []), {"hooks": [{"type": "command", "command": "later"}]}
    ]  # fmt: skip
    assert left == expected


def test_each_agent_s_own_form(places, server) -> None:
    for name in NAMES:
        connect(places, server, name)
    words = ["/opt/my tools/memdeck", "hook", "prompt", "--agent", "claude-code", "--store", "/home/ren/记忆 store"]
    claude = loaded("claude-code", (places.home / FILES["claude-code"]).read_bytes())["hooks"]
    assert claude["UserPromptSubmit"] == [
        {"hooks": [{"type": "command", "command": words[0], "args": words[1:], "timeout": 5}]}
    ]
    codex = loaded("codex", (places.home / FILES["codex"]).read_bytes())["hooks"]
    (handler,) = codex["PostCompact"][0]["hooks"]
    assert shlex.split(handler["command"])[1:5] == ["hook", "post-compact", "--agent", "codex"]
    assert handler["timeout"] == 5 and "PreCompact" not in codex
    gemini = loaded("gemini", (places.home / FILES["gemini"]).read_bytes())
    (group,) = gemini["hooks"]["BeforeAgent"]
    assert group["matcher"] == "*" and group["hooks"][0]["timeout"] == 5000 and group["hooks"][0]["name"] == "memdeck"
    assert "memdeck" in gemini["mcpServers"]


@pytest.mark.parametrize("name", NAMES)
def test_another_store_takes_the_place_and_what_is_doubled_goes(places, server, name) -> None:
    path = given(places, name, b'{ "a": 1 }')
    connect(places, server, name)
    document = loaded(name, path.read_bytes())
    document["hooks"][EVENTS[name][1]] *= 2
    document["hooks"]["Stop"] = document["hooks"][EVENTS[name][0]]
    path.write_bytes(json.dumps(document).encode())
    other = HookCommand(("/usr/bin/env", "PYTHONPATH=/x y", "/bin/python", "-m", "tui"), "/other")
    connect(places, server, name, other)
    hooks = loaded(name, path.read_bytes())["hooks"]
    assert read_hooks(AGENTS[name], places, Reach.USER) == other
    assert [len(hooks[event]) for event in EVENTS[name]] == [1, 1, 1] and not hooks.get("Stop")


def test_without_hooks_only_the_entry_stands(places, server) -> None:
    connect(places, server, "gemini")
    connect(places, server, "gemini", None)
    path = places.home / FILES["gemini"]
    assert read_server(AGENTS["gemini"], path) == server and "hooks" not in loaded("gemini", path.read_bytes())
    assert read_hooks(AGENTS["gemini"], places, Reach.USER) is None
    apply(plan_removal(AGENTS["gemini"], places))
    assert not path.exists()
    assert read_hooks(AGENTS["opencode"], places, Reach.USER) is None


@pytest.mark.parametrize(
    ("data", "line"), [(b'{"hooks":\n []}', 2), (b'{"hooks": {\n"PreCompact": 7}}', 2), (b"{\n]", 2)]
)
def test_hooks_of_another_shape_are_named_with_their_line_and_nothing_is_written(places, server, data, line) -> None:
    path = given(places, "claude-code", data)
    with pytest.raises(MemdeckError) as refused:
        connect(places, server, "claude-code")
    assert f"{path}:{line}: " in refused.value.message
    assert path.read_bytes() == data and not (places.home / ".claude.json").exists()


@pytest.mark.parametrize("name", NAMES)
def test_the_end_of_a_turn_is_called_only_where_turns_are_kept(places, server, tmp_path, name) -> None:
    store, env = tmp_path / "store", {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    owner = Caller(Origin.TUI, "owner")
    with open_engine(store) as engine:
        engine.set_setting(owner, "turns.enabled", True)
    connect(places, server, name, installed_hooks(store, turns=True))
    assert read_hooks(AGENTS[name], places, Reach.USER) == installed_hooks(store, turns=True)
    proofs = prove_hooks(AGENTS[name], places, Reach.USER, env)
    assert [p.event for p in proofs] == [*EVENTS[name], "AfterAgent" if name == "gemini" else "Stop"]
    assert all(p.ok for p in proofs), proofs
    with open_engine(store) as engine:
        assert not engine.memory_ids(owner)
    connect(places, server, name, installed_hooks(store))
    hooks = loaded(name, (places.home / FILES[name]).read_bytes())["hooks"]
    assert list(hooks) == EVENTS[name]
    apply(plan_removal(AGENTS[name], places))
    assert not (places.home / FILES[name]).exists()


def test_a_project_has_hooks_of_its_own(places, server) -> None:
    for name in NAMES:
        apply(plan_connect(AGENTS[name], server, places, Reach.PROJECT, hooks=COMMAND))
        assert (places.project / FILES[name]).is_file()
        assert read_hooks(AGENTS[name], places, Reach.USER) is None
        apply(plan_removal(AGENTS[name], places, Reach.PROJECT))
        assert not (places.project / FILES[name]).exists()


@pytest.mark.parametrize("name", NAMES)
def test_the_installed_hooks_answer_each_host_s_event_and_count_nothing(places, server, tmp_path, name) -> None:
    store, env = tmp_path / "我的 store", {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    with open_engine(store) as engine:
        engine.remember(Caller(Origin.TUI, "owner"), Draft("Never promise a berth", baseline=True, type=Type.FEEDBACK))
    connect(places, server, name, installed_hooks(store))
    proofs = prove_hooks(AGENTS[name], places, Reach.USER, env)
    assert [proof.event for proof in proofs] == EVENTS[name] and all(proof.ok for proof in proofs), proofs
    with open_engine(store) as engine:
        assert engine.sessions() == [] and engine.usage([1])[1].injected == 0


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import sys; sys.exit('no store')", "it ended with exit code 1: no store"),
        ("print('hello')", "it prints other things than an answer"),
        ('print(\'{"hookSpecificOutput": {"hookEventName": "X", "additionalContext": ""}}\')', "not what"),
        ("import sys; sys.stderr.write('memdeck: hook: no store there')", "memdeck: hook: no store there"),
    ],
)
def test_what_is_wrong_with_a_hook_is_said_in_one_line(places, server, tmp_path, code, why) -> None:
    program = tmp_path / "memdeck"
    program.write_text(f"#!{sys.executable}\n{code}\n")
    program.chmod(0o755)
    connect(places, server, "codex", HookCommand((str(program),), "/s"))
    proofs = prove_hooks(AGENTS["codex"], places, Reach.USER, {})
    assert len(proofs) == 3 and not any(p.ok for p in proofs)
    assert all(why in p.why and "\n" not in p.why for p in proofs)


def test_a_hook_that_hangs_is_ended_in_time(places, server, tmp_path) -> None:
    program = tmp_path / "memdeck"
    program.write_text("#!/bin/sh\nsleep 60\n")
    program.chmod(0o755)
    connect(places, server, "claude-code", HookCommand((str(program),), "/s"))
    begun = time.monotonic()
    proofs = prove_hooks(AGENTS["claude-code"], places, Reach.USER, {"PATH": os.environ["PATH"]}, limit_s=0.2)
    assert not any(p.ok for p in proofs) and "did not end within" in proofs[0].why and time.monotonic() - begun < 5


def test_a_program_that_is_gone_is_named(places, server) -> None:
    connect(places, server, "claude-code", HookCommand(("/nowhere/memdeck",), "/s"))
    assert "/nowhere/memdeck cannot be started" in prove_hooks(AGENTS["claude-code"], places, Reach.USER, {})[0].why
