"""The command is really started, and what is wrong with it is told in one line."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.connect import Server, installed_server, prove

ENV = {"PATH": os.environ["PATH"]}
ANSWER = (
    "import sys, json\n"
    "for line in sys.stdin:\n"
    "    m = json.loads(line)\n"
    "    if m.get('id') == 1: print(json.dumps({'jsonrpc': '2.0', 'id': 1, 'result': {'serverInfo': {'name': 'x'}}}))\n"
    "    if m.get('id') == 2: print(json.dumps({'jsonrpc': '2.0', 'id': 2, 'result': {'tools': TOOLS}}))\n"
    "    sys.stdout.flush()\n"
)


def python(code: str) -> Server:
    return Server(sys.executable, ("-c", code))


def test_the_installed_command_answers_from_any_folder(tmp_path: Path) -> None:
    store = tmp_path / "记忆 store"
    proof = prove(installed_server(store), {**ENV, "HOME": str(tmp_path)})
    assert proof.ok and proof.server == "memdeck", proof.why
    assert {"recall", "remember", "read"} <= set(proof.tools)
    assert (store / "memory.db").exists()


@pytest.mark.parametrize(
    ("server", "why"),
    [
        (Server("/nowhere/memdeck", ()), "/nowhere/memdeck cannot be started"),
        (Server("/nul\0l", ()), "cannot be started"),
        (python("import sys; sys.exit('no store here')"), "it ended without an answer: no store here"),
        (python("print('Welcome!')"), "it prints other things than the protocol"),
        (python(ANSWER.replace("TOOLS", "[]")), "it offers no tools"),
        (python('print(\'{"id": 1, "error": {}}\')'), "it answered with an error"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(server: Server, why: str) -> None:
    proof = prove(server, ENV)
    assert not proof.ok and why in proof.why and "\n" not in proof.why


def is_running(pid: str) -> bool:
    state = subprocess.run(["ps", "-o", "state=", "-p", pid], capture_output=True, text=True, check=False).stdout
    return state.strip() not in ("", "Z")


def test_a_silent_server_is_ended_with_its_children_when_the_time_is_over(tmp_path: Path) -> None:
    pid = str(tmp_path / "pid")
    code = f"import subprocess as s; p = s.Popen(['sleep', '60']); open({pid!r}, 'w').write(str(p.pid)); p.wait()"
    begun = time.monotonic()
    proof = prove(python(code), ENV, limit_s=1.0)
    assert not proof.ok and "in time" in proof.why and time.monotonic() - begun < 8
    deadline = time.monotonic() + 5
    while is_running(Path(pid).read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(Path(pid).read_text())


def test_the_entry_s_own_variables_are_given() -> None:
    server = Server(sys.executable, ("-c", "import os\nTOOLS = [{'name': os.environ['X']}]\n" + ANSWER), {"X": "y"})
    assert prove(server, ENV).tools == ("y",)
