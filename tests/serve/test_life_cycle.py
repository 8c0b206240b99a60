"""Starting, stopping, crashing: one server per store, stale sockets, signals, folders, peers, activation."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.model.errors import MemdeckError
from engine.serve import sockets
from tests.serve.conftest import FAKES, Raw, Server, environment

RECALL = {"jsonrpc": "2.0", "id": 1, "method": "memdeck/recall", "params": {"query": "tea"}}

ACTIVATE = """
import os, runpy, sys
_, fd, script, *arguments = sys.argv
os.dup2(int(fd), 3)
os.environ |= {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"}
sys.argv = [script, *arguments]
runpy.run_path(script, run_name="__main__")
"""


def begin_and_fail(store: Path, path: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, str(FAKES), str(store), "--socket", str(path)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=20,
    )
    return done.returncode, done.stderr


def test_the_socket_is_ours_alone_and_the_lock_holds_the_pid(start: Callable[..., Server]) -> None:
    server = start()
    assert stat.S_IMODE(server.path.stat().st_mode) == 0o600
    assert (server.path.parent / "s.lock").read_text() == str(server.process.pid)


def test_a_second_server_is_refused_with_the_first_ones_pid(start: Callable[..., Server], tmp_path: Path) -> None:
    server = start()
    code, said = begin_and_fail(tmp_path, tmp_path / "other")
    assert (code, f"pid {server.process.pid}" in said, "this store" in said) == (1, True, True), said
    other = tmp_path / "other-store"
    other.mkdir()
    code, said = begin_and_fail(other, server.path)
    assert (code, f"pid {server.process.pid}" in said, "the socket" in said) == (1, True, True), said
    with Raw(server.path) as raw:
        assert raw.ask("ping")["result"] == {}


def test_after_a_kill_the_next_start_replaces_the_stale_socket(start: Callable[..., Server]) -> None:
    first = start()
    first.end(signal.SIGKILL)
    assert first.path.is_socket()
    with pytest.raises(ConnectionRefusedError):
        Raw(first.path)
    with Raw(start().path) as raw:
        assert raw.ask("ping")["result"] == {}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_zero_and_without_a_socket(start: Callable[..., Server], number: int) -> None:
    server = start()
    with Raw(server.path) as idle:
        assert idle.ask("ping")["result"] == {}
        began = time.monotonic()
        assert server.end(number) == 0
        assert time.monotonic() - began < 2
        assert idle.line() is None
    assert not server.path.exists()


def test_calls_in_flight_are_answered_before_it_ends(start: Callable[..., Server]) -> None:
    server = start("0.7")
    with Raw(server.path) as raw:
        raw.send(*({**RECALL, "id": n} for n in range(4)))
        server.wait_for("napping", 4)
        server.stop()
        assert {raw.line()["id"] for _ in range(4)} == {0, 1, 2, 3}  # type: ignore[index]
        assert raw.line() is None
    assert server.end() == 0


def test_a_call_that_takes_too_long_is_told_and_does_not_hold_up_the_end(start: Callable[..., Server]) -> None:
    server = start("60", env={"FAKE_GRACE_S": "0.3"})
    with Raw(server.path) as raw:
        raw.send(RECALL)
        server.wait_for("napping")
        began = time.monotonic()
        assert server.end() == 0
        assert time.monotonic() - began < 3
        answer = raw.line()
        assert answer and answer["id"] == 1 and answer["error"]["code"] == 4001
        assert raw.line() is None


def test_a_connection_that_says_nothing_is_closed(start: Callable[..., Server]) -> None:
    server = start(env={"FAKE_GREETING_S": "0.4"})
    with Raw(server.path) as silent, Raw(server.path) as half, Raw(server.path) as greeted:
        half.sock.sendall(b'{"jsonrpc"')
        assert greeted.ask("ping")["result"] == {}
        assert silent.line() is None
        assert half.line() is None
        assert greeted.ask("ping")["result"] == {}


def test_a_path_that_is_too_long_is_refused_with_words(tmp_path: Path) -> None:
    code, said = begin_and_fail(tmp_path, tmp_path / ("x" * 100))
    assert code == 1
    assert said.count("\n") == 1 and "longer than 100 bytes" in said


def test_length_counts_bytes_not_characters(tmp_path: Path) -> None:
    with pytest.raises(MemdeckError, match="longer than 100 bytes"):
        sockets.check_path(Path("/" + "库" * 34))


@pytest.mark.parametrize("mode", [0o755, 0o710, 0o701, 0o777])
def test_a_folder_that_others_can_enter_is_refused(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(MemdeckError, match="others can enter"):
        sockets.check_path(folder / "s")


@pytest.mark.parametrize("mode", [0o755, 0o1777])
def test_a_folder_that_the_owner_named_may_be_open(tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(mode)
    assert sockets.check_path(folder / "s", named=True) == folder / "s"


def test_a_named_folder_where_others_can_replace_the_socket_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(MemdeckError, match="others can enter"):
        sockets.check_path(folder / "s", named=True)


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(MemdeckError, match="no folder, or a link"):
        sockets.check_path(tmp_path / "link" / "s")


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(MemdeckError, match="belongs to somebody else"):
        sockets.check_path(tmp_path / "s")


def test_a_missing_folder_is_made_for_us_alone(tmp_path: Path) -> None:
    path = sockets.check_path(tmp_path / "new" / "s")
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_in_the_sockets_place_is_not_removed(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / "s").write_text("dear diary")
    code, said = begin_and_fail(tmp_path, tmp_path / "s")
    assert (code, "is no socket" in said) == (1, True)
    assert (tmp_path / "s").read_text() == "dear diary"


def test_the_default_path_follows_the_runtime_dir(tmp_path: Path) -> None:
    assert sockets.default_socket_path("work", {"XDG_RUNTIME_DIR": str(tmp_path)}) == tmp_path / "memdeck" / "work.sock"
    for env in ({}, {"XDG_RUNTIME_DIR": str(tmp_path / "gone")}, {"XDG_RUNTIME_DIR": "relative"}):
        fallback = sockets.default_socket_path("work", env)
        assert fallback == Path(tempfile.gettempdir(), f"memdeck-{os.getuid()}", "work.sock")


def test_another_users_connection_is_closed_at_once(start: Callable[..., Server]) -> None:
    server = start(env={"FAKE_PEER_UID": "65534"})
    with Raw(server.path) as raw, contextlib.suppress(ConnectionResetError, BrokenPipeError):
        raw.send({"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert raw.line() is None
    server.end()
    assert any("user 65534" in line for line in server.said)


def test_a_service_managers_socket_is_used_and_left_in_place(tmp_path: Path) -> None:
    path = tmp_path / "activated"
    script = tmp_path / "activate.py"
    script.write_text(ACTIVATE)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(16)
        fd = listener.fileno()
        process = subprocess.Popen(
            [sys.executable, str(script), str(fd), str(FAKES), str(tmp_path), "--socket", "/none"],
            env=environment(),
            pass_fds=[fd],
            stderr=subprocess.DEVNULL,
        )
        with Raw(path) as raw:
            assert raw.ask("ping")["result"] == {}
        process.terminate()
        assert process.wait(10) == 0
    assert path.is_socket()


def test_a_read_only_store_is_served_without_a_lock_in_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    server = Server(tmp_path, tmp_path / "s", env={"FAKE_READ_ONLY": "1"})
    try:
        assert not (tmp_path / "serve.lock").exists()
    finally:
        assert server.end() == 0
