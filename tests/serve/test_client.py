"""The blocking client, one-shot calls in the process, and what starting costs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.model.errors import MemdeckError
from engine.serve.client import Client
from engine.serve.local import run_tool_in_process
from tests.serve.conftest import ROOT, Server, environment
from tests.serve.fakes import FakeEngine


def test_a_call_returns_the_envelope(server: Server, tmp_path: Path) -> None:
    with Client(server.path, name="tests", session="s-9", workspace=tmp_path) as client:
        written = client.call("remember", {"text": "the door is 绿色"})
        assert written["ok"] and written["data"]["revision"] == 1
        found = client.call("recall", {"query": "door"})
        assert found["data"]["hits"][0]["text"] == "the door is 绿色"
        who = client.call("status")["data"]
        assert (who["who"], who["session"], who["workspace"]) == ("tests", "s-9", str(tmp_path))
        assert client.call("recall", {"limit": "many"})["error"]["code"] == "invalid_argument"


def test_a_key_makes_a_repeated_write_one(server: Server) -> None:
    with Client(server.path) as client:
        first = client.call("remember", {"text": "a key turns"}, key="once")
        assert client.call("remember", {"text": "a key turns"}, key="once") == first


def test_nobody_there_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(MemdeckError, match="no server answers") as found:
        Client(tmp_path / "none")
    assert found.value.code == "not_found" and "memdeck --serve" in found.value.hint


def test_a_server_that_dies_is_said_in_words(start: Callable[..., Server]) -> None:
    server = start("5")
    with Client(server.path) as client:
        assert client.request("ping", {}) == {}
        server.end(9)
        with pytest.raises(MemdeckError) as found:
            client.call("status")
        assert found.value.code == "internal"


def test_a_server_that_is_slow_is_not_waited_for_longer_than_asked(start: Callable[..., Server]) -> None:
    server = start("3")
    with Client(server.path, timeout=0.2) as client, pytest.raises(MemdeckError, match="did not answer"):
        client.call("status")


def test_a_call_in_this_process_is_an_agents_call_from_this_folder(tmp_path: Path) -> None:
    engine = FakeEngine(tmp_path)
    envelope = run_tool_in_process(engine, "status", {}, session="s", workspace=tmp_path)  # type: ignore[arg-type]
    assert envelope.ok
    assert envelope.as_dict()["data"] == {
        "memories": 0,
        "who": "memdeck-call",
        "workspace": str(tmp_path),
        "session": "s",
    }
    assert not engine.callers[0].is_owner


def test_serving_loads_none_of_the_heavy_libraries() -> None:
    script = (
        "import sys, engine.serve.server, engine.serve.stdio, engine.serve.local, engine.serve.client\n"
        "print(sorted({'textual', 'rich', 'httpx', 'yaml', 'pydantic', 'click', 'mcp'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment(), cwd=ROOT, capture_output=True, text=True, timeout=20
    )
    assert done.stdout.strip() == "[]", done.stderr
