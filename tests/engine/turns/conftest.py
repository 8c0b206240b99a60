"""What tests of turns share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.facade import Engine
from engine.model.memory import Caller, WriteResult
from engine.model.turns import Frame
from tests.engine.kit import agent

AGENT = agent(session="s1")

Turn = Callable[..., tuple[Frame, WriteResult]]


@pytest.fixture
def turn(engine: Engine) -> Turn:
    """Return a function that takes a whole turn."""

    def take(text: str, response: str = "完成了。", by: Caller = AGENT, **how: object) -> tuple[Frame, WriteResult]:
        beginning = {name: how.pop(name) for name in ("thread",) if name in how}
        frame = engine.begin_turn(by, text, analysis=how.pop("begin", None), **beginning)  # type: ignore[arg-type]
        result = engine.end_turn(by, frame.card, response=response, **how)  # type: ignore[arg-type]
        engine.run_jobs()
        return frame, result

    return take
