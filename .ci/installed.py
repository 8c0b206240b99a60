"""Checks an installed memdeck from outside: installed.py MEMDECK. Uses the standard library only.

The server answers MCP over its socket, what an agent remembers is recalled by another connection and by the command
line, and the application paints itself on a terminal and quits by ctrl+q.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

FACT = "The release is always built on a Tuesday"
SECONDS = 60


class Client:
    """One connection to the server, speaking a line of JSON-RPC at a time."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(SECONDS)
        self._socket.connect(str(path))
        self._lines = self._socket.makefile("rw", encoding="utf-8", newline="\n")
        self._id = 0

    def ask(self, method: str, **params: object) -> dict:
        """Send a request and return its result."""
        self._id += 1
        request = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}
        self._lines.write(json.dumps(request) + "\n")
        self._lines.flush()
        answer = json.loads(self._lines.readline())
        assert "result" in answer, answer
        return answer["result"]

    def hello(self) -> None:
        """Shake hands as an MCP client does."""
        client = {"name": "installed-check", "version": "1"}
        result = self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        assert result["serverInfo"]["name"] == "memdeck", result
        self._lines.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def tool(self, name: str, **arguments: object) -> dict:
        """Call a tool and return its envelope."""
        result = self.ask("tools/call", name=name, arguments=arguments)
        assert not result.get("isError"), result
        return result["structuredContent"]


def check_server(memdeck: str, store: Path) -> None:
    """Start the server, use it over two connections, and stop it by SIGTERM."""
    path = store.parent / "s.sock"
    server = subprocess.Popen([memdeck, "--store", str(store), "--serve", "--socket", str(path)])
    try:
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                first = Client(path)
                break
            except OSError:
                assert time.monotonic() < deadline and server.poll() is None, "the server does not start"
                time.sleep(0.05)
        first.hello()
        tools = [tool["name"] for tool in first.ask("tools/list")["tools"]]
        assert {"remember", "recall", "read", "context"} <= set(tools), tools
        assert first.tool("remember", text=FACT, said_by="user")["ok"]
        second = Client(path)
        second.hello()
        found = json.dumps(second.tool("recall", query="release built Tuesday"))
        assert FACT in found, found
    finally:
        server.terminate()
    assert server.wait(SECONDS) == 0, f"the server ended with {server.returncode}"
    print("server: initialize, tools/list, remember and recall over the socket, clean stop")


def check_shell(memdeck: str, store: Path) -> None:
    """Recall by the command line what the agent remembered."""
    command = [memdeck, "--store", str(store), "recall", "release"]
    shown = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS)
    assert shown.returncode == 0 and FACT in shown.stdout, shown
    print("command line: recall shows it")


def check_application(memdeck: str, store: Path) -> None:
    """Open the application on a terminal of 120 by 36, wait until it shows the memory, and press ctrl+q."""
    pid, terminal = pty.fork()
    if pid == 0:
        environment = {**os.environ, "TERM": "xterm-256color", "MEMDECK_LANG": "en"}
        os.execve(memdeck, [memdeck, "--store", str(store)], environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
    painted = read_until(terminal, FACT[:20].encode())
    os.write(terminal, b"\x11")
    read_until(terminal, None)
    status = end_of(pid)
    assert FACT[:20].encode() in painted, painted[-3000:].decode(errors="replace")
    assert os.waitstatus_to_exitcode(status) == 0, f"the application ended with {status}"
    print("application: painted, showed the memory, left by ctrl+q")


def end_of(pid: int) -> int:
    """Return how a process ended; one that does not end within ten seconds is killed, which is an end by signal."""
    for _ in range(100):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


def read_until(terminal: int, wanted: bytes | None) -> bytes:
    """Read what is painted until `wanted` appears (None: until the process ends) or the time is up."""
    seen = b""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and (wanted is None or wanted not in seen):
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                chunk = os.read(terminal, 65536)
            except OSError:  # Linux reports the end of a terminal so
                break
            if not chunk:
                break
            seen += chunk
    return seen


def main() -> None:
    """Run the checks on a throw-away store."""
    memdeck = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        check_server(memdeck, store)
        check_shell(memdeck, store)
        check_application(memdeck, store)


main()
