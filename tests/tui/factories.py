"""Memories made by hand, for tests that need no store."""

from __future__ import annotations

from engine.model.enums import Authority, Kind, Origin, Scope, State, Status
from engine.model.memory import Memory


def memory(number: int, text: str, **other: object) -> Memory:
    values: dict[str, object] = dict(
        id=number, uid=f"{number:032x}", revision=1, name="", description=text, body="", kind=Kind.FACT, type=None,
        aliases=(), tags=(), topics=(), subject="", valid_from=0, valid_to=None, known_from=number, known_to=None,
        known_from_ms=0, known_to_ms=None, recorded_ms=1_760_000_000_000 + number * 60_000, dated_at=None,
        scope=Scope.GLOBAL, scope_key=None, thread=None, seq=None, source="user",
        origin=Origin.AGENT, actor="claude-code",
        authority=Authority.REPORTED,
        confidence=1.0, speculative=False, manually_corrected=False,
        status=Status.COMPLETED, state=State.ACTIVE, cause="", target=None, locked=False, baseline=False,
        baseline_priority=0, scene="", scene_sub="", perception={}, extra={},
    )  # fmt: skip
    return Memory(**{**values, **other})  # type: ignore[arg-type]
