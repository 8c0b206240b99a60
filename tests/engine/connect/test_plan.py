"""Connecting and removing for each agent, on settings files of many shapes."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path

import pytest

from engine.connect import (
    AGENTS,
    Places,
    Reach,
    Server,
    agent_named,
    apply,
    backup_of,
    connections,
    plan_connect,
    plan_removal,
    read_server,
)
from engine.model.errors import MemdeckError

USUAL = {
    "claude-code": ".claude.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "opencode": ".config/opencode/opencode.json",
}
NAMES = list(AGENTS)

JSON_SHAPES = {
    "blank": b"",
    "line": b"\n",
    "empty": b"{}",
    "open": b"{\n}\n",
    "minified": b'{"numStartups":12,"mcpServers":{"git":{"command":"g"}}}',
    "tabs": b'{\n\t"mcp": {\n\t\t"git": {"type": "local"}\n\t},\n\t"z": 1, "a": 2\n}',
    "windows": '{\r\n  "名": "值",\r\n  "n": [1,\r\n 2]\r\n}\r\n'.encode(),
    "bom": b'\xef\xbb\xbf{\n  "a": "\\u00e9"\n}\n',
    "odd": b'{ "a":1 ,\n"b" : {} }',
}
REMARKS = {
    "remarks": b'// top\n{\n  // servers\n  "mcpServers": { "git": {} }, /* x */\n  "mcp": {}, // y\n}\n// end\n',
    "only": b"// nothing yet\n",
}
TOML_SHAPES = {
    "blank": b"",
    "line": b"\n",
    "servers": b'model = "o4" # good\n\n[mcp_servers.git]\ncommand = "g"\n\n\n[tui]\nx = [\n 1, # ]\n]',
    "windows": b'model = "o4"\r\n\r\n[mcp_servers.git]\r\ncommand = "g"\r\n',
    "bom": b'\xef\xbb\xbfmodel = "o4"\n',
}


def shapes() -> list[tuple[str, str, bytes]]:
    found = []
    for name in NAMES:
        own = TOML_SHAPES if name == "codex" else JSON_SHAPES | (REMARKS if name in ("gemini", "opencode") else {})
        found += [(name, shape, data) for shape, data in own.items()]
    return found


def settings(places: Places, name: str, data: bytes | None = None) -> Path:
    path = places.home / USUAL[name]
    path.parent.mkdir(parents=True, exist_ok=True)
    if data is not None:
        path.write_bytes(data)
    return path


def connect(places: Places, server: Server, name: str, reach: Reach = Reach.USER) -> list[Path]:
    return apply(plan_connect(AGENTS[name], server, places, reach))


def remove(places: Places, name: str, reach: Reach = Reach.USER) -> list[Path]:
    return apply(plan_removal(AGENTS[name], places, reach))


@pytest.mark.parametrize(("name", "shape", "data"), shapes(), ids=lambda v: v if isinstance(v, str) else "")
def test_connecting_adds_and_removing_restores_byte_for_byte(places, server, name, shape, data) -> None:
    path = settings(places, name, data)
    path.chmod(0o640)
    connect(places, server, name)
    assert read_server(AGENTS[name], path) == server
    assert backup_of(path).read_bytes() == data
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(backup_of(path).stat().st_mode) == 0o640
    written = path.read_bytes()
    assert connect(places, server, name) == [] and path.read_bytes() == written
    remove(places, name)
    assert path.read_bytes() == data
    assert sorted(p.name for p in path.parent.iterdir() if p.is_file()) == [path.name]
    assert remove(places, name) == []


@pytest.mark.parametrize(("name", "shape", "data"), shapes(), ids=lambda v: v if isinstance(v, str) else "")
def test_everything_that_was_there_still_stands_while_connected(places, server, name, shape, data) -> None:
    agent, path = AGENTS[name], settings(places, name, data)
    connect(places, server, name)
    dialect = agent.dialect
    before = dialect.load(data.decode("utf-8-sig"))
    after = dialect.load(path.read_bytes().decode("utf-8-sig"))
    outer, inner = agent.path
    group = after.pop(outer)
    assert group.pop(inner) == agent.write(server)
    assert group == before.pop(outer, {}) and after == before
    assert path.read_bytes()[:3] == data[:3] or not data.startswith(b"\xef\xbb\xbf")


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_was_not_there_is_made_private_and_goes_again(places, server, name) -> None:
    path = places.home / USUAL[name]
    assert connect(places, server, name) == [path]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and not backup_of(path).exists()
    remove(places, name)
    assert not path.exists()


@pytest.mark.parametrize("name", NAMES)
def test_after_other_changes_only_our_entry_goes(places, server, name) -> None:
    data = TOML_SHAPES["windows"] if name == "codex" else b'{\n  "a": 1\n}\n'
    path = settings(places, name, data)
    connect(places, server, name)
    more = b"\r\n[later]\r\nx = 1\r\n" if name == "codex" else None
    now = path.read_bytes()
    path.write_bytes(now + more if more else now.replace(b'"a": 1', b'"b": [2], "a": 3'))
    remove(places, name)
    assert path.read_bytes() == (data + more if more else b'{\n  "b": [2], "a": 3\n}\n')


@pytest.mark.parametrize("name", ["claude-code", "gemini", "opencode"])
def test_an_empty_list_of_servers_stays_only_where_it_was(places, server, name) -> None:
    outer = AGENTS[name].path[0]
    path = settings(places, name, f'{{"{outer}": {{}}, "z": 0}}'.encode())
    connect(places, server, name)
    path.write_bytes(path.read_bytes().replace(b'"z": 0', b'"z": 1'))
    remove(places, name)
    assert json.loads(path.read_bytes()) == {outer: {}, "z": 1}


def test_an_older_entry_keeps_what_the_owner_added(places, server) -> None:
    path = settings(places, "gemini", b'{"mcpServers": {"memdeck": {"command": "/old", "trust": true, "args": []}}}')
    connect(places, server, "gemini")
    entry = json.loads(path.read_bytes())["mcpServers"]["memdeck"]
    assert entry == {"command": server.command, "trust": True, "args": list(server.args)}
    assert list(entry) == ["command", "trust", "args"]


def test_the_entry_of_a_remote_server_is_replaced(places, server) -> None:
    settings(places, "claude-code", b'{"mcpServers": {"memdeck": {"type": "http", "url": "https://x"}}}')
    settings(places, "codex", b'[mcp_servers.memdeck]\nurl = "https://x"\n')
    connect(places, server, "claude-code")
    connect(places, server, "codex")
    assert "url" not in json.loads((places.home / ".claude.json").read_bytes())["mcpServers"]["memdeck"]
    assert "url" not in tomllib.loads((places.home / ".codex/config.toml").read_text())["mcp_servers"]["memdeck"]


def test_a_switched_off_entry_is_switched_on(places, server) -> None:
    path = settings(places, "opencode", b'{"mcp": {"memdeck": {"type": "local", "command": ["x"], "enabled": false}}}')
    connect(places, server, "opencode")
    assert json.loads(path.read_bytes())["mcp"]["memdeck"]["enabled"] is True


@pytest.mark.parametrize("name", NAMES)
def test_moving_to_another_store_and_removing_gives_the_first_state_back(places, server, name) -> None:
    data = b'model = "o4"' if name == "codex" else b'{ "a": 1 }'
    path = settings(places, name, data)
    connect(places, server, name)
    connect(places, Server("/new/memdeck", ("mcp", "--store", "/other")), name)
    assert backup_of(path).read_bytes() == data
    remove(places, name)
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    ("name", "data", "line"),
    [
        ("claude-code", b'{\n  "a": 1,\n  // remark\n  "b": 2\n}', 3),
        ("claude-code", b'{\n  "a": "\xff"\n}', 2),
        ("gemini", b'{\n  "a": \n}', 3),
        ("opencode", b'{"mcp":\n 7}', 2),
        ("codex", b"a = 1\nb == 2\n", 2),
        ("codex", b'a = 1\n\n\nb = "\xc3\x28"', 4),
        ("codex", b"mcp_servers = {}\n", 1),
    ],
)
def test_a_file_that_cannot_be_edited_is_named_with_its_line_and_left_alone(places, server, name, data, line) -> None:
    path = settings(places, name, data)
    with pytest.raises(MemdeckError) as refused:
        connect(places, server, name)
    assert f"{path}:{line}: " in refused.value.message and "\n" not in refused.value.message
    assert path.read_bytes() == data and [p.name for p in path.parent.iterdir() if p.is_file()] == [path.name]


def test_a_plan_writes_nothing_and_shows_the_difference(places, server) -> None:
    path = settings(places, "gemini", b'{\n  "a": 1\n}\n')
    plan = plan_connect(AGENTS["gemini"], server, places)
    shown = plan.difference()
    assert shown[0] == f"--- {path}" and '+  "mcpServers": {' in shown and " {" in shown
    assert path.read_bytes() == b'{\n  "a": 1\n}\n' and not backup_of(path).exists()
    assert plan_connect(AGENTS["codex"], server, places).difference()[0] == "--- /dev/null"
    assert not (places.home / ".codex").exists()


def test_a_file_that_changed_after_the_plan_is_not_overwritten(places, server) -> None:
    path = settings(places, "gemini", b"{}")
    plan = plan_connect(AGENTS["gemini"], server, places)
    path.write_bytes(b'{"new": 1}')
    with pytest.raises(MemdeckError) as refused:
        apply(plan)
    assert refused.value.code == "stale_revision" and path.read_bytes() == b'{"new": 1}'


def test_a_crash_before_the_rename_leaves_the_old_file(places, server, monkeypatch) -> None:
    path = settings(places, "gemini", b'{"a": 1}')
    plan = plan_connect(AGENTS["gemini"], server, places)
    real = os.replace

    def crash(source: Path, target: Path) -> None:
        if Path(target) == path:
            raise KeyboardInterrupt
        real(source, target)

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(KeyboardInterrupt):
        apply(plan)
    assert path.read_bytes() == b'{"a": 1}'
    monkeypatch.undo()
    connect(places, server, "gemini")
    remove(places, "gemini")
    assert path.read_bytes() == b'{"a": 1}'
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_full_disk_is_one_line_and_leaves_nothing(places, server, monkeypatch) -> None:
    path = settings(places, "gemini", b'{"a": 1}')

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(MemdeckError) as refused:
        connect(places, server, "gemini")
    assert refused.value.code == "disk_full"
    assert path.read_bytes() == b'{"a": 1}' and [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_linked_settings_file_stays_a_link(places, server, tmp_path) -> None:
    real = tmp_path / "dotfiles" / "gemini.json"
    real.parent.mkdir()
    real.write_bytes(b'{"a": 1}')
    link = settings(places, "gemini")
    link.symlink_to(real)
    assert connect(places, server, "gemini") == [real]
    assert link.is_symlink() and "memdeck" in real.read_text() and backup_of(real).exists()
    remove(places, "gemini")
    assert link.is_symlink() and real.read_bytes() == b'{"a": 1}'


def test_a_link_in_a_circle_and_a_folder_are_one_line(places, server) -> None:
    link = settings(places, "gemini")
    link.symlink_to(link)
    (places.home / ".codex" / "config.toml").mkdir(parents=True)
    for name in ("gemini", "codex"):
        with pytest.raises(MemdeckError) as refused:
            connect(places, server, name)
        assert "\n" not in refused.value.message


def test_a_path_that_is_no_text_is_refused(places) -> None:
    with pytest.raises(MemdeckError):
        connect(places, Server("/bin/memdeck", ("--store", "/\udcff")), "gemini")
    assert not (places.home / ".gemini").exists()


def test_the_homes_that_variables_name_are_honoured(places, server, tmp_path) -> None:
    env = {
        "CLAUDE_CONFIG_DIR": str(tmp_path / "c"),
        "CODEX_HOME": str(tmp_path / "x"),
        "XDG_CONFIG_HOME": str(tmp_path / "o"),
    }
    moved = Places(places.home, places.project, env)
    written = [connect(moved, server, name)[0] for name in ("claude-code", "codex", "opencode")]
    assert written == [tmp_path / "c/.claude.json", tmp_path / "x/config.toml", tmp_path / "o/opencode/opencode.json"]
    assert list(places.home.iterdir()) == []


def test_opencode_s_own_choice_of_file_is_followed(places, server) -> None:
    settings(places, "opencode")
    jsonc = places.home / ".config/opencode/opencode.jsonc"
    jsonc.write_bytes(b"{ // mine\n}\n")
    assert connect(places, server, "opencode") == [jsonc]
    settings(places, "opencode", b'{"theme": "x"}')
    assert remove(places, "opencode") == [jsonc] and jsonc.read_bytes() == b"{ // mine\n}\n"


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("claude-code", ".mcp.json"),
        ("codex", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json"),
        ("opencode", "opencode.json"),
    ],
)
def test_a_project_has_its_own_file(places, server, name, file) -> None:
    assert connect(places, server, name, Reach.PROJECT) == [places.project / file]
    assert list(places.home.iterdir()) == []
    remove(places, name, Reach.PROJECT)
    assert not (places.project / file).exists()


def test_the_list_says_who_is_here_and_connected(places, server) -> None:
    settings(places, "codex", b'model = "o4"\n')
    settings(places, "gemini", b"{ broken")
    connect(places, server, "codex")
    found = {(c.agent, c.reach): c for c in connections(places)}
    assert found["codex", Reach.USER].here and found["codex", Reach.USER].server == server
    assert found["codex", Reach.PROJECT].server is None
    assert not found["claude-code", Reach.USER].here and found["claude-code", Reach.USER].server is None
    assert "settings.json:1: " in found["gemini", Reach.USER].problem


def test_in_the_home_itself_a_file_is_listed_once(places, server) -> None:
    connect(places, server, "codex")
    found = connections(Places(places.home, places.home, places.env))
    assert [c.reach for c in found if c.agent == "codex"] == [Reach.USER]


def test_agents_are_named_as_people_do() -> None:
    assert agent_named("Claude").name == "claude-code" and agent_named("gemini-cli").name == "gemini"
    with pytest.raises(MemdeckError) as refused:
        agent_named("emacs")
    assert "opencode" in refused.value.hint


def test_a_large_history_is_edited_in_no_time(places, server) -> None:
    history = [{"display": "x" * 200, "pasted": {"a": [1, "}{"]}} for _ in range(20_000)]
    data = json.dumps({"projects": {"/p": {"history": history}}, "mcpServers": {}}, indent=2).encode()
    path = settings(places, "claude-code", data)
    connect(places, server, "claude-code")
    assert read_server(AGENTS["claude-code"], path) == server
    remove(places, "claude-code")
    assert path.read_bytes() == data
