"""The proof of hooks: each is run once as the agent would run it, with an event of that agent on its stdin."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from engine.connect import settings_file
from engine.connect.agents import Agent, Places, Reach
from engine.connect.hooks import SECONDS, HookSettings, Moment, words_of
from engine.connect.settings_file import Text

_ANSWER_KEYS = {"hookEventName", "additionalContext"}


@dataclass(frozen=True)
class HookProof:
    """Whether a hook answered its event: characters that it injects and the seconds it took; else why not."""

    event: str
    ok: bool
    chars: int
    seconds: float
    why: str = ""


def prove_hooks(
    agent: Agent, places: Places, reach: Reach, env: Mapping[str, str], *, limit_s: float = SECONDS
) -> list[HookProof]:
    """Run every hook of ours that an agent's settings hold, from the root folder; none where it has no hooks.

    Raises MemdeckError for a settings file that cannot be read, never for what a hook does.
    """
    if not (agent.hooks and agent.hook_file):
        return []
    settings = HookSettings(agent.hooks)
    text = Text.of(settings_file.read(settings_file.real_path(agent.hook_file(places, reach)))).text
    document = settings.load(text)
    moments = settings.hooks.called_at(turns=True)
    found = []
    for place in settings.places(text):
        handler: object = document
        for step in place.path:
            handler = handler[step]  # type: ignore[index]
        if place.event in moments and isinstance(handler, Mapping):
            found.append(_prove(settings, moments[place.event], handler, env, limit_s))
    return found


def _prove(
    settings: HookSettings, moment: Moment, handler: Mapping[str, object], env: Mapping[str, str], limit_s: float
) -> HookProof:
    words = list(words_of(handler)) if "args" in handler else ["/bin/sh", "-c", str(handler.get("command"))]
    event = json.dumps(settings.hooks.sample(moment)).encode()
    begun = time.monotonic()
    chars, why = 0, ""
    try:
        chars, why = _judged(moment, *_run(words, event, env, limit_s))
    except (OSError, ValueError) as error:
        why = f"{words[0]} cannot be started: {getattr(error, 'strerror', '') or error}"
    except subprocess.TimeoutExpired:
        why = f"it did not end within {limit_s:g} s"
    return HookProof(moment.name, not why, chars, round(time.monotonic() - begun, 2), why)


def _run(words: list[str], event: bytes, env: Mapping[str, str], limit_s: float) -> tuple[int, bytes, bytes]:
    """Return exit code, output and errors; what does not end in time is ended with all that it started."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as given:
        given.write(event)
        given.seek(0)
        process = subprocess.Popen(
            words, cwd="/", env=dict(env), stdin=given, stdout=output, stderr=errors, start_new_session=True
        )
        try:
            code = process.wait(limit_s)
        finally:
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        errors.seek(0)
        return code, output.read(1 << 20), errors.read(4096)


def _judged(moment: Moment, code: int, output: bytes, errors: bytes) -> tuple[int, str]:
    """Return how many characters an answer injects, or why the agent could not use it."""
    if code:
        return 0, f"it ended with exit code {code}{_last_line(errors)}"
    text = output.decode("utf-8", "replace").strip()
    if not text:
        return 0, _last_line(errors).removeprefix(": ")
    try:
        answer = json.loads(text)["hookSpecificOutput"]
        known = answer.keys() == _ANSWER_KEYS and answer["hookEventName"] == moment.name
        return len(answer["additionalContext"]), "" if known else "its answer is not what the agent expects"
    except (ValueError, KeyError, TypeError, AttributeError):
        return 0, "it prints other things than an answer"


def _last_line(errors: bytes) -> str:
    lines = [line.strip() for line in errors.decode("utf-8", "replace").splitlines() if line.strip()]
    return f": {lines[-1][:200]}" if lines else ""
