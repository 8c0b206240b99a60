"""MCP over stdin and stdout: nothing but protocol on stdout, everything answered before the end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.serve.conftest import FAKES, environment

STATUS = b'{"jsonrpc": "2.0", "id": 1, "method": "memdeck/status"}\n'


def command(store: Path, *more: str) -> list[str]:
    return [sys.executable, str(FAKES), str(store), "--stdio", *more]


def lines(out: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_every_line_on_stdout_parses_although_something_prints(tmp_path: Path) -> None:
    done = subprocess.run(
        command(tmp_path), input=STATUS + b"garbage\n" + STATUS, env=environment(), capture_output=True, timeout=20
    )
    assert done.returncode == 0
    answers = lines(done.stdout)
    assert len(answers) == 3
    assert b"a stray print" in done.stderr


def test_calls_in_flight_are_answered_after_stdin_ends(tmp_path: Path) -> None:
    done = subprocess.run(command(tmp_path, "0.3"), input=STATUS, env=environment(), capture_output=True, timeout=20)
    assert done.returncode == 0
    assert lines(done.stdout)[0]["result"]["ok"]


def test_input_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(STATUS)
    with (tmp_path / "in").open("rb") as source, (tmp_path / "out").open("wb") as target:
        done = subprocess.run(
            command(tmp_path), stdin=source, stdout=target, stderr=subprocess.PIPE, env=environment(), timeout=20
        )
    assert done.returncode == 0
    assert lines((tmp_path / "out").read_bytes())[0]["result"]["ok"]


def test_a_signal_ends_it_after_the_call_in_flight(tmp_path: Path) -> None:
    with subprocess.Popen(
        command(tmp_path, "0.5"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write(STATUS + b'{"jsonrpc": "2.0", "id": 0, "method": "ping"}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 0
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert json.loads(process.stdout.readline())["result"]["ok"]
        assert process.wait(10) == 0
        assert time.monotonic() - began < 3


def test_without_stdin_it_ends_at_once(tmp_path: Path) -> None:
    shell = ["sh", "-c", 'exec "$@" <&-', "sh", *command(tmp_path)]
    done = subprocess.run(shell, env=environment(), capture_output=True, timeout=20)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_client_that_closes_its_ears_ends_it_quietly(tmp_path: Path) -> None:
    with subprocess.Popen(
        command(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdout.close()
        process.stdin.write(STATUS * 3)
        process.stdin.close()
        assert process.wait(10) == 0
        assert b"Traceback" not in process.stderr.read()
