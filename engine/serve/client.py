"""A small blocking client of the socket, for scripts and the command line; standard library and msgspec only."""

from __future__ import annotations

import itertools
import socket
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from engine.model.errors import MemdeckError
from engine.serve import wire
from engine.serve.dispatch import KEY_META
from engine.serve.identity import CLIENT_INFO, SESSION_META, WORKSPACE_META


class Client:
    """One connection. `call` returns the tool's envelope; a lost server raises MemdeckError `internal`."""

    def __init__(
        self,
        path: Path,
        *,
        name: str = "script",
        session: str | None = None,
        workspace: Path | None = None,
        timeout: float = 30.0,
    ) -> None:
        """Connect, or raise MemdeckError `not_found` when nobody serves the socket. `timeout` in seconds."""
        self._meta: dict[str, object] = {CLIENT_INFO: {"name": name, "version": ""}}
        if session:
            self._meta[SESSION_META] = session
        if workspace:
            self._meta[WORKSPACE_META] = str(workspace.absolute())
        self._ids = itertools.count(1)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            raise MemdeckError(
                "not_found", f"no server answers on {path}: {error.strerror}", "start one with memdeck --serve"
            ) from None
        self._file = self._socket.makefile("rb")

    def call(
        self, tool: str, arguments: Mapping[str, object] | None = None, *, key: str | None = None
    ) -> dict[str, Any]:
        """Run a tool and return its envelope; a repeated `key` makes a repeated write one write."""
        meta = self._meta | ({KEY_META: key} if key else {})
        return self.request("memdeck/" + tool, {**(arguments or {}), "_meta": meta})

    def request(self, method: str, params: Mapping[str, object]) -> dict[str, Any]:
        """Send one JSON-RPC request and return its result; an error answer raises MemdeckError."""
        id = next(self._ids)
        try:
            self._socket.sendall(wire.request_line(id, method, params))
            while line := self._file.readline():
                message = wire.parse_answer(line)
                if message.get("id") in (id, None):
                    return self._result(message)
        except OSError as error:
            raise _lost(str(error)) from None
        raise _lost("the server closed the connection")

    def _result(self, message: dict[str, Any]) -> dict[str, Any]:
        if "error" in message:
            code = "busy" if message["error"]["code"] in (wire.SHUTTING_DOWN, wire.TOO_MANY) else "internal"
            raise MemdeckError(code, str(message["error"]["message"]))
        result = message["result"]
        assert isinstance(result, dict)
        return result

    def close(self) -> None:
        """End the connection."""
        self._file.close()
        self._socket.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _lost(why: str) -> MemdeckError:
    return MemdeckError("internal", f"the server did not answer: {why}", "whether the call took effect is unknown")
