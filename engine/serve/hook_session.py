"""One hook call on an open store: the ledger begun anew where the host says so, the pack, and what is counted of it."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

from engine.model.clock import clock_from_env
from engine.model.enums import Origin
from engine.model.ids import PROOF_SESSION
from engine.model.memory import Caller
from engine.serve.hook_events import Event, Moment
from engine.serve.workspace import workspace_of
from engine.settings import CONFIG_NAME, Settings
from engine.store.connection import Store
from engine.store.ephemeral import LOCK_WAIT_MS, Backlog
from engine.usecases.desk import Desk, stored_settings

FRESH = ("clear", "compact")
"""Sources of a session start after which nothing of what was given is left."""


QUESTION_MS = 60
"""What has to be left for the check of a question for secrets."""


class HookSession:
    """The store, open for reading; it is never made. What is counted goes through a short write of its own."""

    def __init__(self, place: Path) -> None:
        """Open the store in a directory; raises MemdeckError."""
        self._desk = _open(place)

    def __enter__(self) -> HookSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._desk.store.close()

    def pack(self, event: Event, workspace: str = "", *, most_chars: int | None = None) -> str:
        """Return the text to inject at an event, empty for none."""
        by = Caller(Origin.AGENT, event.agent, session=event.session, workspace=_workspace(event, workspace))
        if event.moment in (Moment.PROMPT, Moment.ANSWER):
            self._take_turn(event, by)
        if event.moment is Moment.ANSWER:
            return ""
        from engine.usecases.contexts import context, reset_session  # what an answer never needs

        if event.moment is Moment.COMPACTED or event.source in FRESH:
            reset_session(self._desk, by)
        elif event.source == "resume":
            reset_session(self._desk, by, baseline_only=True)
        if event.moment is Moment.COMPACTED:
            return ""
        prompt = event.moment is Moment.PROMPT
        return context(self._desk, by, event.question, most_chars=most_chars if prompt else None).text

    def count(self, left_ms: int) -> None:
        """Write ledger and numbers in what is left of the process's time; the question only when there is plenty."""
        if left_ms < QUESTION_MS:
            self._desk.backlog.drop_questions()
        if left_ms > 0:
            self._desk.backlog.flush(min(left_ms, LOCK_WAIT_MS))

    def _take_turn(self, event: Event, by: Caller) -> None:
        """Have the turn written aside where turns are switched on (W68).

        That begins before the answer is thought of, as a busy machine may leave no time after it.
        """
        if by.session in (None, PROOF_SESSION) or not self._desk.settings.flag("turns.enabled"):
            return
        from engine.serve.hook_turn import write_aside  # most hooks never need it

        store = self._desk.store
        store.close()
        write_aside(store.directory, event, by)
        self._desk = _open(store.directory)


def _open(place: Path) -> Desk:
    store = Store.open(place, clock=clock_from_env(trusted=False), read_only=True)
    settings = Settings(lambda: stored_settings(store), env=os.environ, config_path=place / CONFIG_NAME)
    return Desk(store, settings, Backlog(store.path, store.lock.path, delay_s=None))


def _workspace(event: Event, named: str) -> str | None:
    if named:
        return workspace_of(Path(named).expanduser(), named=True)
    return workspace_of(Path(event.folder)) if event.folder else workspace_of(Path.cwd())
