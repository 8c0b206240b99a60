"""Servers in their own processes, and a client that sends raw lines."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FAKES = ROOT / "tests/serve/fakes.py"


def environment(**more: str) -> dict[str, str]:
    """Return an environment in which a subprocess finds the packages."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, **more}


class Server:
    """A socket server in its own process, with what it said on stderr."""

    script: tuple[str, ...] = (str(FAKES),)

    def __init__(self, store: Path, path: Path, *arguments: str, env: dict[str, str] | None = None) -> None:
        self.path = path
        self.said: list[str] = []
        self._stopped = False
        self.process = subprocess.Popen(
            [sys.executable, *self.script, str(store), "--socket", str(path), *arguments],
            env=environment(**(env or {})),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._ready = threading.Event()
        self._listener = threading.Thread(target=self._listen)
        self._listener.start()
        assert self._ready.wait(20), self.said

    def _listen(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.said.append(line)
            if line.startswith("memdeck: serving"):
                self._ready.set()
        self._ready.set()

    def wait_for(self, words: str, times: int = 1, seconds: float = 10) -> None:
        """Wait until these words stood on stderr so many times."""
        limit = time.monotonic() + seconds
        while "".join(self.said).count(words) < times:
            assert time.monotonic() < limit, self.said
            time.sleep(0.01)

    def rss_mb(self) -> float:
        """Return the resident memory of the server in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def stop(self, signal: int = 15) -> None:
        """Send a signal, once: a second one may hit the interpreter while it winds up."""
        if not self._stopped and self.process.poll() is None:
            self._stopped = True
            self.process.send_signal(signal)

    def end(self, signal: int = 15) -> int:
        """Stop the server and return its exit code."""
        self.stop(signal)
        code = self.process.wait(20)
        self._listener.join(5)
        assert self.process.stderr
        self.process.stderr.close()
        return code


class Raw:
    """A connection that sends bytes and reads lines."""

    def __init__(self, path: Path, timeout: float = 10) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(timeout)
        try:
            self.sock.connect(str(path))
        except OSError:
            self.sock.close()
            raise
        self.file = self.sock.makefile("rb")

    def send(self, *lines: bytes | dict[str, Any]) -> None:
        data = b"".join((json.dumps(x).encode() if isinstance(x, dict) else x) + b"\n" for x in lines)
        self.sock.sendall(data)

    def line(self) -> dict[str, Any] | None:
        """Return the next answer, None at the end."""
        line = self.file.readline()
        return json.loads(line) if line else None

    def ask(self, method: str, params: object = None, id: object = 1) -> dict[str, Any]:
        self.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        answer = self.line()
        assert answer is not None
        return answer

    def half_close(self) -> None:
        self.sock.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self.file.close()
        self.sock.close()

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Return a server that the tests of one file share."""
    folder = tmp_path_factory.mktemp("serve", numbered=True)
    folder.chmod(0o700)
    running = Server(folder, folder / "s")
    yield running
    assert running.end() == 0, running.said


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Return a function that starts a server of one's own; it is stopped afterwards."""
    started: list[Server] = []

    def begin(*arguments: str, env: dict[str, str] | None = None) -> Server:
        tmp_path.chmod(0o700)
        running = Server(tmp_path, tmp_path / "s", *arguments, env=env)
        started.append(running)
        return running

    yield begin
    for running in started:
        running.process.kill()
        running.end()


@pytest.fixture
def raw(server: Server) -> Iterator[Raw]:
    """Return a fresh raw connection to the shared server."""
    with Raw(server.path) as connection:
        yield connection
