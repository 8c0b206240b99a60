"""`memdeck hook EVENT`: memory for an agent at its own events, and never in its way.

The process fails open: whatever is wrong, it ends with exit code 0, empty output and at most one line on stderr,
within 300 ms of its start. It reads the store and never makes one; what it counts is written last, if there is time.
Only what it needs is imported, late, and nothing of a terminal.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, NoReturn

LIMIT_S = 0.3
"""Age of the process at which it has to be gone."""

LEAVING_S = 0.04
"""What of it is kept for ending."""

WRITING_S = 0.02
"""What a small write may take once it has the store's lock."""

UNKNOWN_AGE_S = 0.05
"""How old a process is taken to be when the system does not tell."""

MAX_STDIN = 8 << 20
PROMPT_CHARS = 4_000
"""What a prompt may add to an agent's context, besides baseline notes (W68)."""


class Options(NamedTuple):
    """What stands on the command line."""

    event: str = ""
    store: str = ""
    profile: str = "default"
    workspace: str = ""
    agent: str = ""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Answer one event and end the process."""
    gc.disable()  # a process that lives this short has nothing to collect
    leaving = _Leaving(LIMIT_S - LEAVING_S - age_of_process())
    try:
        options = read_options(sys.argv[1:] if arguments is None else arguments)
        text = "" if sys.stdin is None or sys.stdin.isatty() else _read_stdin()
        respond(options, text, leaving)
    except BaseException as error:
        leaving.complain(f"{type(error).__name__}: {error}")
    leaving.now()


class _Leaving:
    """The one way out: it writes the answer as a whole or not at all, and ends the process at the deadline."""

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + max(seconds, 0.0)
        self._output = threading.Lock()
        watch = threading.Thread(target=self._watch, daemon=True)
        watch.start()

    @property
    def left_s(self) -> float:
        """Return the seconds until the deadline."""
        return self._ends - time.monotonic()

    def answer(self, output: bytes) -> None:
        """Write what the host reads; it fits into a pipe, so that nobody waits for a reader."""
        with self._output, suppress(OSError):
            os.write(1, output)

    def complain(self, why: str) -> None:
        """Say in one line why there is no answer."""
        line = " ".join(f"memdeck: hook: {why}".split())[:300]
        with suppress(OSError):
            os.write(2, f"{line}\n".encode("utf-8", "replace"))

    def now(self) -> NoReturn:
        """End the process without tidying up: nothing is open that a reader would have to close."""
        os._exit(0)

    def _watch(self) -> None:
        time.sleep(max(self.left_s, 0.0))
        self._output.acquire(timeout=0.005)
        self.now()


def respond(options: Options, text: str, leaving: _Leaving) -> None:
    """Read the event, write what is to be injected, then count it."""
    from engine.serve.hook_events import read_event, rendered

    event = read_event(options.event, text, options.agent)
    if event is None:
        return
    from engine.settings import default_store, directory

    place = directory(options.store) if options.store else default_store(options.profile)
    if not place.is_dir():
        raise FileNotFoundError(f"there is no store in {place}")
    from engine.model.ids import PROOF_SESSION
    from engine.serve.hook_session import HookSession

    with HookSession(place) as session:
        pack = session.pack(event, options.workspace, most_chars=PROMPT_CHARS)
        output = rendered(event, pack)
        if output:
            leaving.answer(output)
        if event.session != PROOF_SESSION:
            session.count(int((leaving.left_s - WRITING_S) * 1000))


def read_options(arguments: Sequence[str]) -> Options:
    """Read `EVENT [--store DIR] [--profile NAME] [--workspace DIR] [--agent NAME]`; anything else is passed over.

    A host that calls the hook wrongly shall not be stopped by it.
    """
    values: dict[str, str] = {}
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if name in ("--store", "--profile", "--workspace", "--agent"):
            values[name[2:]] = value if equals else next(rest, "")
        elif not argument.startswith("-"):
            values.setdefault("event", argument)
    return Options(**values)


def age_of_process() -> float:
    """Return how many seconds ago this process was started; a guess where the system does not tell."""
    try:
        fields = Path("/proc/self/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        return time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return UNKNOWN_AGE_S


def _read_stdin() -> str:
    return sys.stdin.buffer.read(MAX_STDIN).decode("utf-8", "replace")


if __name__ == "__main__":
    main()
