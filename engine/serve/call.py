"""What a tool's handler gets and gives: the call, the answer and the envelope that carries it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from engine.model.errors import MemdeckError
from engine.model.memory import Caller
from engine.serve.shapes import clip, join_lines

if TYPE_CHECKING:
    from engine.facade import Engine

_MESSAGE_COST = 80


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool: the engine, who calls from where, and the idempotency key."""

    engine: Engine
    caller: Caller
    key: str | None = None

    @property
    def store(self) -> str:
        """Return the store's directory, which every write echoes."""
        return str(self.engine.store_dir)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a handler found or did. Notes: it happened, but read this; warnings: this did not happen."""

    data: object
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Envelope:
    """The one shape of every answer (6.2): data with notes and warnings, or an error."""

    data: object = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    error: MemdeckError | None = None

    @property
    def ok(self) -> bool:
        """True when the tool did what it was asked."""
        return self.error is None

    def as_dict(self) -> dict[str, object]:
        """Return the envelope as plain values."""
        if self.error is None:
            return {"ok": True, "data": self.data, "notes": list(self.notes), "warnings": list(self.warnings)}
        message = clip(join_lines(self.error.message), _MESSAGE_COST)
        hint = clip(join_lines(self.error.hint), _MESSAGE_COST)
        return {"ok": False, "error": {"code": self.error.code, "message": message, "hint": hint}}

    def as_json(self) -> bytes:
        """Return the envelope as compact JSON; raises ValueError or TypeError for data that has no JSON."""
        return _encoder.encode(self.as_dict())


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


_encoder = msgspec.json.Encoder(enc_hook=_plain)
