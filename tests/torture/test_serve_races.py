"""Servers that start together, die mid-write, and clients that misbehave for a while: nothing acknowledged is lost."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from engine.model.errors import MemdeckError
from engine.serve.client import Client
from tests.serve.conftest import Raw, environment
from tests.serve.test_real_engine import RealServer

pytestmark = pytest.mark.torture


def test_of_eight_servers_that_start_together_one_serves(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    command = [
        sys.executable,
        "-m",
        "engine.serve",
        "--store",
        str(tmp_path / "store"),
        "--socket",
        str(tmp_path / "s"),
    ]
    started = [
        subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        for _ in range(8)
    ]
    limit = time.monotonic() + 60
    while sum(p.poll() is None for p in started) > 1 and time.monotonic() < limit:
        time.sleep(0.1)
    (winner,) = [p for p in started if p.poll() is None]
    for loser in started:
        if loser is not winner:
            assert loser.returncode == 1
            assert loser.stderr
            said = loser.stderr.read()
            loser.stderr.close()
            assert "another memdeck server" in said and said.count("\n") == 1, said
    with Client(tmp_path / "s") as client:
        assert client.call("remember", {"text": "one of eight won the race"})["ok"]
    winner.terminate()
    assert winner.wait(20) == 0
    assert winner.stderr
    winner.stderr.close()


def test_no_acknowledged_write_is_lost_over_ten_kills(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    acknowledged: dict[str, str] = {}
    dice = random.Random(7)
    for life in range(10):
        server = RealServer(tmp_path / "store", tmp_path / "s")

        def write(number: int, life: int = life, path: Path = server.path) -> None:
            try:
                with Client(path) as client:
                    for turn in range(1000):
                        text = f"life {life} writer {number} noted fact {turn} of {life * 100 + number * 10 + turn}"
                        envelope = client.call("remember", {"text": text})
                        assert envelope["ok"], envelope
                        acknowledged[envelope["data"]["ref"]] = text
            except MemdeckError:
                pass  # the server died

        writers = [threading.Thread(target=write, args=(n,)) for n in range(4)]
        for writer in writers:
            writer.start()
        time.sleep(dice.uniform(0.2, 0.6))
        server.end(signal.SIGKILL)
        for writer in writers:
            writer.join()
    server = RealServer(tmp_path / "store", tmp_path / "s")
    try:
        with Client(server.path) as client:
            refs = list(acknowledged)
            assert len(refs) > 20
            for start in range(0, len(refs), 20):
                some = refs[start : start + 20]
                pages = client.call("read", {"refs": some, "max_bytes": 2000})["data"]["pages"]
                assert [p["text"] for p in pages] == [acknowledged[r] for r in some]
    finally:
        assert server.end() == 0


def test_random_bytes_never_end_the_server_nor_leak_memory(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    server = RealServer(tmp_path / "store", tmp_path / "s")
    dice = random.Random(11)
    whole = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "recall", "arguments": {"query": "tea"}}}
    ).encode()
    try:
        with Raw(server.path) as raw:
            raw.ask("ping")
        before = server.rss_mb()
        for _ in range(300):
            with Raw(server.path) as raw:
                data = bytearray(whole)
                for _ in range(dice.randrange(1, 12)):
                    at = dice.randrange(len(data))
                    data[at : at + dice.randrange(3)] = os.urandom(dice.randrange(4))
                raw.send(bytes(data), b'{"jsonrpc":"2.0","id":"end","method":"ping"}')
                while (answer := raw.line()) and answer.get("id") != "end":
                    assert "result" in answer or "error" in answer
                assert answer
        assert server.rss_mb() - before < 15
        assert not any("Traceback" in line or "failed" in line for line in server.said), server.said
    finally:
        assert server.end() == 0
