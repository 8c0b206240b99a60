"""The one place that runs a tool for a caller, whichever door the call came through."""

from __future__ import annotations

import logging
import os
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING

from engine.model.errors import MemdeckError, invalid
from engine.model.memory import Caller
from engine.serve.arguments import read_arguments
from engine.serve.call import Call, Envelope
from engine.serve.tools import TOOLS, find_tool

if TYPE_CHECKING:
    from engine.facade import Engine

log = logging.getLogger("memdeck.serve")

KEY_META = "memdeck/key"
_KEY_LENGTH = 200


def call_tool(
    engine: Engine,
    caller: Caller,
    name: str,
    arguments: Mapping[str, object],
    *,
    key: object = None,
) -> Envelope:
    """Run a tool and return its envelope; never raises (W46, T45). `key` makes a repeated write one write."""
    return _guarded(engine, caller, name, arguments, key)[0]


def call_tool_json(
    engine: Engine,
    caller: Caller,
    name: str,
    arguments: Mapping[str, object],
    *,
    key: object = None,
) -> tuple[bytes, bool]:
    """Run a tool as `call_tool` does and return the envelope's JSON with whether it is ok."""
    envelope, encoded = _guarded(engine, caller, name, arguments, key)
    return encoded, envelope.ok


def _guarded(
    engine: Engine,
    caller: Caller,
    name: str,
    arguments: Mapping[str, object],
    key: object,
) -> tuple[Envelope, bytes]:
    try:
        envelope = _run(engine, caller, name, arguments, key)
        return envelope, envelope.as_json()
    except MemdeckError as error:
        failed = Envelope(error=error)
    except Exception as error:
        log.error("tool %s failed: %s", name[:40], describe(error))
        failed = Envelope(
            error=MemdeckError("internal", "memdeck failed inside", "the server's log says where; run memdeck doctor")
        )
    return failed, failed.as_json()


def _run(
    engine: Engine,
    caller: Caller,
    name: str,
    arguments: Mapping[str, object],
    key: object,
) -> Envelope:
    tool = find_tool(name)
    if tool is None:
        raise MemdeckError("unknown_tool", f"there is no tool {name[:40]!r}", "tools: " + ", ".join(TOOLS))
    if key is not None and not (isinstance(key, str) and 0 < len(key) <= _KEY_LENGTH):
        raise invalid(f"{KEY_META} is not understood", f"give it as a text of 1 to {_KEY_LENGTH} characters")
    args, notes = read_arguments(tool.arguments, arguments, tool.renames)
    answer = tool.handler(Call(engine, caller, key), args)
    return Envelope(answer.data, (*notes, *answer.notes), answer.warnings)


def describe(error: BaseException) -> str:
    """Name an exception and its frames for the log, without its message: that may quote a memory.

    MEMDECK_DEBUG=1 logs the whole traceback.
    """
    if os.environ.get("MEMDECK_DEBUG") == "1":
        return "".join(traceback.format_exception(error))
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    return f"{type(error).__name__} at " + " < ".join(f"{f.filename}:{f.lineno}" for f in reversed(frames))
