"""The tool turn: a turn is begun with what the user said and ended with the answer (W43, W44)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Struct

from engine.model.errors import invalid
from engine.model.turns import Frame, Recollection
from engine.serve.arguments import UNLISTED, says
from engine.serve.call import Answer, Call
from engine.serve.shapes import RESULT_TOKENS, clip, join_lines, written

_FRAME_TOKENS = 160
_FIELDS = "perception tags summary overview scene preferences relations feedback route"


class Turn(Struct, frozen=True, kw_only=True):
    """Arguments of turn."""

    phase: Literal["begin", "end"]
    message: Annotated[str, says("begin: what the user said")] = ""
    card: Annotated[str, says("end: from begin")] = ""
    response: Annotated[str, says("end: your answer")] = ""
    status: Annotated[
        Literal["completed", "interrupted", "failed"] | None, says("end", values=["completed", "interrupted", "failed"])
    ] = None
    analysis: Annotated[dict[str, Any], says(f"any of {_FIELDS}")] = {}
    thread: Annotated[str, UNLISTED] = ""
    error: Annotated[str, UNLISTED] = ""


def turn(call: Call, args: Turn) -> Answer:
    """Begin or end a turn."""
    return _begin(call, args) if args.phase == "begin" else _end(call, args)


def _begin(call: Call, args: Turn) -> Answer:
    if not args.message.strip():
        raise invalid("message is missing", "give message as the text that the user wrote", parameter="message")
    frame = call.engine.begin_turn(
        call.caller, args.message, thread=args.thread, analysis=args.analysis, key=call.key
    )  # fmt: skip
    return Answer(_begun(frame) | {"store": call.store}, frame.notes)


def _begun(frame: Frame) -> dict[str, object]:
    data: dict[str, object] = {
        "card": frame.card or None,
        "analysed_by": frame.tier,
        "intent": frame.intent,
        "tags": list(frame.tags),
        "unknown_tags": list(frame.waiting),
    }
    for name, value in (("scene", frame.scene), ("feedback", frame.feedback), ("malformed_tags", frame.malformed)):
        if value:
            data[name] = value
    parts = sum(len(r.parts) for r in frame.memory)
    room = (RESULT_TOKENS - _FRAME_TOKENS) / max(1, parts + len(frame.memory))
    data["memory"] = [remembered(found, room) for found in frame.memory]
    return data


def remembered(found: Recollection, room: float) -> dict[str, object]:
    """Shape one memory that a turn brought back; each of its parts costs at most `room` tokens."""
    shaped: dict[str, object] = {"ref": found.ref, "fit": f"{found.confidence:.0%}"}
    shaped |= {name: clip(join_lines(text), room) for name, text in found.parts}
    if found.tags:
        shaped["tags"] = list(found.tags)
    if found.preferences:
        shaped["preferences"] = {p.key: p.value for p in found.preferences}
    return shaped


def _end(call: Call, args: Turn) -> Answer:
    if not args.card.strip():
        raise invalid("card is missing", "give card as the id that turn begin returned", parameter="card")
    result = call.engine.end_turn(
        call.caller,
        args.card,
        response=args.response,
        user_input=args.message or None,
        status=args.status or "completed",
        analysis=args.analysis,
        error=args.error,
    )
    return Answer(written(result) | {"store": call.store}, result.notes, result.warnings)
