"""One hook call on an open store: the ledger begun anew where the host says so, the pack, and what is counted of it."""

from __future__ import annotations

import os
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from engine.model.clock import clock_from_env
from engine.model.enums import Origin
from engine.model.memory import Caller
from engine.serve.hook_events import Event, Moment
from engine.serve.workspace import workspace_of
from engine.settings import CONFIG_NAME, Settings
from engine.store.connection import Store
from engine.store.ephemeral import LOCK_WAIT_MS, Backlog
from engine.usecases.contexts import context, reset_session
from engine.usecases.desk import Desk, stored_settings

FRESH = ("clear", "compact")
"""Sources of a session start after which nothing of what was given is left."""


QUESTION_MS = 60
"""What has to be left for the check of a question for secrets."""


class HookSession:
    """The store, open for reading; it is never made. What is counted goes through a short write of its own."""

    def __init__(self, place: Path) -> None:
        """Open the store in a directory; raises MemdeckError."""
        store = Store.open(place, clock=clock_from_env(trusted=False), read_only=True)
        settings = Settings(lambda: stored_settings(store), env=os.environ, config_path=place / CONFIG_NAME)
        self._desk = Desk(store, settings, Backlog(store.path, store.lock.path, delay_s=None))
        self._turn: tuple[Event, Caller] | None = None

    def __enter__(self) -> HookSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._desk.store.close()

    def pack(self, event: Event, workspace: str = "", *, most_chars: int | None = None) -> str:
        """Return the text to inject at an event, empty for none."""
        by = Caller(Origin.AGENT, event.agent, session=event.session, workspace=_workspace(event, workspace))
        self._turn = (event, by)
        if event.moment is Moment.ANSWER:
            return ""
        if event.moment is Moment.COMPACTED or event.source in FRESH:
            reset_session(self._desk, by)
        elif event.source == "resume":
            reset_session(self._desk, by, baseline_only=True)
        if event.moment is Moment.COMPACTED:
            return ""
        prompt = event.moment is Moment.PROMPT
        return context(self._desk, by, event.question, most_chars=most_chars if prompt else None).text

    def count(self, left_ms: int) -> None:
        """Write ledger, numbers and, where turns are on, the turn in what is left of the process's time (W68).

        The question is written only when there is plenty.
        """
        ends = time.monotonic() + left_ms / 1000
        if left_ms < QUESTION_MS:
            self._desk.backlog.drop_questions()
        if left_ms > 0:
            self._desk.backlog.flush(min(left_ms, LOCK_WAIT_MS))
        if self._turn and self._turn[0].moment in (Moment.PROMPT, Moment.ANSWER):
            self._capture(*self._turn, int((ends - time.monotonic()) * 1000))

    def _capture(self, event: Event, by: Caller, left_ms: int) -> None:
        if left_ms <= 0 or by.session is None or not self._desk.settings.flag("turns.enabled"):
            return
        from engine.usecases.capturing import capture_answer, capture_prompt  # most hooks never need it

        reading = self._desk.store
        with closing(Store.open(reading.directory, clock=reading.clock)) as store:
            store.lock.deadline_ms = left_ms
            desk = replace(self._desk, store=store)
            if event.moment is Moment.PROMPT:
                capture_prompt(desk, by, event.question)
            else:
                capture_answer(desk, by, event.answer)


def _workspace(event: Event, named: str) -> str | None:
    if named:
        return workspace_of(Path(named).expanduser(), named=True)
    return workspace_of(Path(event.folder)) if event.folder else workspace_of(Path.cwd())
