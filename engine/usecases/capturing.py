"""Turns that hooks take for an agent: a frame at the prompt, its end at the answer, each turn once (W68)."""

from __future__ import annotations

from engine.model.enums import Status
from engine.model.memory import Caller, WriteResult
from engine.model.turns import Frame
from engine.store import turns as store
from engine.usecases.desk import Desk
from engine.usecases.turn_end import end_turn
from engine.usecases.turns import begin_turn


def capture_prompt(desk: Desk, by: Caller, text: str) -> Frame | None:
    """Open a frame for a prompt, in a thread of the session's name; None where turns are off or there is no session.

    A frame of the session that got no answer was interrupted: its user went on.
    """
    if not _captures(desk, by) or not text.strip():
        return None
    _end(desk, by, "", Status.INTERRUPTED)
    return begin_turn(desk, by, text, thread=by.session or "", recalls=False)


def capture_answer(desk: Desk, by: Caller, response: str) -> WriteResult | None:
    """End the session's open frame with the agent's answer; None when there is none, so that each turn ends once."""
    return _end(desk, by, response, Status.COMPLETED) if _captures(desk, by) else None


def _captures(desk: Desk, by: Caller) -> bool:
    return by.session is not None and desk.settings.flag("turns.enabled")


def _end(desk: Desk, by: Caller, response: str, status: Status) -> WriteResult | None:
    with desk.store.read() as conn:
        number = store.pending_card(conn, by.session or "")
    return None if number is None else end_turn(desk, by, f"mem-{number}", response=response, status=status)
