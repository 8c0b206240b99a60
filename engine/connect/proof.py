"""The proof of a connection: the entry's command is started once, as the agent would, and asked for its tools."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from engine.connect.server import Server

TIME_LIMIT_S = 10.0
"""The time that the most impatient agent gives a server to answer."""

PROTOCOL = "2025-06-18"
_HELLO: tuple[dict[str, object], ...] = (
    {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": PROTOCOL, "capabilities": {},
            "clientInfo": {"name": "memdeck connect", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)  # fmt: skip
_LONGEST_ANSWER = 1024 * 1024


@dataclass(frozen=True)
class Proof:
    """Whether the server answered: its name, its tools and the seconds it took; else why not, in one line."""

    ok: bool
    server: str
    tools: tuple[str, ...]
    seconds: float
    why: str = ""


class _Failed(Exception):
    """What went wrong, in a few words."""


def prove(server: Server, env: Mapping[str, str], *, limit_s: float = TIME_LIMIT_S) -> Proof:
    """Start a server from the root folder, greet it and list its tools; it is ended in any case. Never raises."""
    begun = time.monotonic()
    name, tools, why = "", tuple[str, ...](), ""
    with tempfile.TemporaryFile() as errors:
        try:
            name, tools = _ask(server, {**env, **server.env}, errors, begun + limit_s)
        except _Failed as failure:
            why = f"{failure}{_last_line(errors)}"
        except OSError as error:
            why = f"{server.command} cannot be started: {error.strerror or error}"
        except ValueError as error:
            why = f"{server.command!r} cannot be started: {error}"
    return Proof(not why, name, tools, round(time.monotonic() - begun, 2), why)


def _ask(server: Server, env: Mapping[str, str], errors: IO[bytes], deadline: float) -> tuple[str, tuple[str, ...]]:
    process = subprocess.Popen(
        [server.command, *server.args], cwd="/", env=dict(env), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=errors, start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    try:
        with suppress(BrokenPipeError):
            process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in _HELLO))
            process.stdin.flush()
        answers = _answers(process.stdout, deadline)
        about = answers[1].get("serverInfo")
        listed = answers[2].get("tools")
    finally:
        _end(process)
    name = about.get("name") if isinstance(about, dict) else None
    tools = tuple(str(t.get("name")) for t in listed if isinstance(t, dict)) if isinstance(listed, list) else ()
    if not tools:
        raise _Failed("it offers no tools")
    return str(name or ""), tools


def _answers(stdout: IO[bytes], deadline: float) -> dict[int, dict[str, object]]:
    """Read lines until both questions are answered."""
    answers: dict[int, dict[str, object]] = {}
    rest = b""
    while not {1, 2} <= answers.keys():
        if not select.select([stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise _Failed("it did not answer in time")
        piece = os.read(stdout.fileno(), 65536)
        if not piece:
            raise _Failed("it ended without an answer")
        *lines, rest = (rest + piece).split(b"\n")
        if len(rest) > _LONGEST_ANSWER:
            raise _Failed("its answer has no end")
        for line in filter(None, map(bytes.strip, lines)):
            _take(line, answers)
    return answers


def _take(line: bytes, answers: dict[int, dict[str, object]]) -> None:
    try:
        message = json.loads(line)
    except ValueError:
        raise _Failed("it prints other things than the protocol") from None
    if not isinstance(message, dict) or message.get("id") not in (1, 2):
        return
    if not isinstance(message.get("result"), dict):
        raise _Failed("it answered with an error")
    answers[message["id"]] = message["result"]


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close its input, as a leaving agent does; what does not end by itself is ended with all that it started."""
    assert process.stdin is not None and process.stdout is not None
    with suppress(OSError):
        process.stdin.close()
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    finally:
        process.stdout.close()


def _last_line(errors: IO[bytes]) -> str:
    errors.seek(0, os.SEEK_END)
    errors.seek(max(0, errors.tell() - 4096))
    lines = [line.strip() for line in errors.read().decode("utf-8", "replace").splitlines()]
    lines = [line for line in lines if line and not line.startswith("→")]  # our own hints follow what is wrong
    return f": {lines[-1][:200]}" if lines else ""
