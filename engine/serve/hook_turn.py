"""A hook's share of a turn, written by a process of its own: the hook is gone before, and nobody waits (W68).

The hook forks while it has no connection open, since SQLite's do not survive a fork. The child leaves the host's
process group and streams, lets the hook answer first, and ends after LIFETIME_S whatever happens.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import closing
from pathlib import Path
from typing import NoReturn

from engine.model.clock import clock_from_env
from engine.model.memory import Caller
from engine.serve.hook_events import Event, Moment
from engine.settings import CONFIG_NAME, Settings
from engine.store.connection import Store
from engine.store.ephemeral import Backlog
from engine.usecases.desk import Desk, stored_settings

LIFETIME_S = 5
LOCK_WAIT_MS = 3_000
"""How long the child waits for the store's lock; a turn that cannot be written then is not captured."""

ANSWER_FIRST_S = 0.25
"""What the hook is left for its answer to a prompt before the child begins to work."""


def write_aside(place: Path, event: Event, by: Caller) -> None:
    """Write a prompt's frame or an answer's end in a child process; the caller has no connection open."""
    if os.fork() == 0:
        _write(place, event, by)


def _write(place: Path, event: Event, by: Caller) -> NoReturn:
    try:
        signal.alarm(LIFETIME_S)
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        if event.moment is Moment.PROMPT:
            time.sleep(ANSWER_FIRST_S)
        from engine.usecases.capturing import capture_answer, capture_prompt

        with closing(Store.open(place, clock=clock_from_env(trusted=False))) as store:
            store.lock.deadline_ms = LOCK_WAIT_MS
            settings = Settings(lambda: stored_settings(store), env=os.environ, config_path=place / CONFIG_NAME)
            desk = Desk(store, settings, Backlog(store.path, store.lock.path, delay_s=None))
            if event.moment is Moment.PROMPT:
                capture_prompt(desk, by, event.question)
            else:
                capture_answer(desk, by, event.answer)
    finally:
        os._exit(0)
