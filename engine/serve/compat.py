"""Names and shapes of other memory systems, as thin mappings over our own use cases (compatibility profiles)."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from engine.model.turns import Frame
from engine.rules.textnorm import clip
from engine.serve.arguments import NEEDED, says
from engine.serve.call import Answer, Call

INJECTED_CHARS = 4_000
"""What a message is enriched with at most (W68)."""


class ProcessMessage(Struct, frozen=True, kw_only=True):
    """Arguments of Wangdefa's process_message (W66)."""

    input: Annotated[str, says("what the user said")]
    sessionId: Annotated[str, says("conversation")] = "default"


class SaveMemory(Struct, frozen=True, kw_only=True):
    """Arguments of Wangdefa's save_memory; userInput may be missing (W67)."""

    userInput: Annotated[str, says("what the user said")] = ""
    agentResponse: Annotated[str, NEEDED, says("your answer")] = ""
    cardId: Annotated[str, says("frameId of process_message")]
    status: Annotated[str, says("completed, interrupted or failed")] = "completed"
    errorMessage: Annotated[str, says("of a failed turn")] = ""


def process_message(call: Call, args: ProcessMessage) -> Answer:
    """Begin a turn and return it under upstream's names (W66)."""
    frame = call.engine.begin_turn(call.caller, args.input, thread=args.sessionId, key=call.key)
    data: dict[str, object] = {
        "enrichedInput": clip(frame.context, len(args.input) + INJECTED_CHARS),
        "intent": frame.intent,
        "hasMemory": bool(frame.memory),
        "memory": _memory(frame),
        "missingTags": len(frame.waiting),
        "frameId": frame.card or None,
    }
    return Answer(data, frame.notes)


def _memory(frame: Frame) -> dict[str, object] | None:
    if not frame.memory:
        return None
    best = frame.memory[0]
    return {
        "summary": dict(best.parts).get("summary", ""),
        "tags": list(best.tags),
        "confidence": round(best.confidence, 4),
        "preferences": [{"key": p.key, "value": p.value, "confidence": p.confidence} for p in best.preferences],
    }


def save_memory(call: Call, args: SaveMemory) -> Answer:
    """End a turn and say so under upstream's names (W67)."""
    result = call.engine.end_turn(
        call.caller,
        args.cardId,
        response=args.agentResponse,
        user_input=args.userInput or None,
        status=args.status.strip().lower(),
        error=args.errorMessage,
    )
    state = "" if result.state == "active" else f" ({result.state})"
    return Answer({"success": True, "message": f"{args.cardId} is saved as {result.ref}{state}"}, result.notes)
