"""THE table of tools: name, words, arguments, handler, annotations. A new tool is one more entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from msgspec import Struct

from engine.serve import compat, reading, tagging, turning, writing
from engine.serve.arguments import input_schema
from engine.serve.call import Answer, Call


@dataclass(frozen=True)
class Tool:
    """One tool. `renames` maps spellings of 6.2 to this struct's; a writing tool runs in the order it was called."""

    name: str
    title: str
    description: str
    arguments: type[Struct]
    handler: Callable[[Call, Any], Answer]
    writes: bool = False
    destroys: bool = False
    renames: Mapping[str, str] = field(default_factory=dict)

    def listing(self) -> dict[str, object]:
        """Return the tool as `tools/list` shows it."""
        hints = {"readOnlyHint": True} if not self.writes else {"destructiveHint": self.destroys}
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": input_schema(self.arguments),
            "annotations": hints | {"openWorldHint": False},
        }


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "context",
            "Memory context",
            "Memory to read first: what is known of user, project and question. Call when a task begins.",
            reading.Context,
            reading.context,
            renames={"message": "question"},
        ),
        Tool(
            "recall",
            "Recall",
            "Recall (search) memory: one line per hit. read gives the body.",
            reading.Recall,
            reading.recall,
            renames={"type": "types", "kind": "kinds"},
        ),
        Tool(
            "read",
            "Read memory",
            "Read memories in full, by line.",
            reading.Read,
            reading.read,
            renames={"ref": "refs", "name": "refs"},
        ),
        Tool(
            "remember",
            "Remember",
            "Remember one lasting fact, preference or decision in memory. No secrets, no small talk.",
            writing.Remember,
            writing.remember,
            writes=True,
            renames={
                "source": "said_by",
                "supersedes": "replaces",
                "valid_from": "since",
                "valid_to": "until",
            },
        ),
        Tool(
            "forget",
            "Forget",
            "Forget, archive or restore memories. To correct one use remember with replaces.",
            writing.Forget,
            writing.forget,
            writes=True,
            destroys=True,
            renames={"ref": "refs", "action": "how", "criteria": "match"},
        ),
        Tool(
            "status",
            "Memory status",
            "Memory numbers: counts, session, audit, conflicts, topics.",
            reading.Status,
            reading.status,
        ),
        Tool(
            "turn",
            "Memory turn",
            "Memory of a conversation: begin with what the user said, recalls; end with your answer, saves.",
            turning.Turn,
            turning.turn,
            writes=True,
            renames={"cardId": "card", "sessionId": "thread", "topicId": "thread", "input": "message"},
        ),
        Tool(
            "tag",
            "Memory tags",
            "Memory tags: what one means and leads to; relate, activate, deprecate, align. Merges wait for the owner.",
            tagging.Tag,
            tagging.tag,
            writes=True,
            renames={"tag": "name", "target": "other"},
        ),
    )
}
"""Our own tools; each can be called through every door, whatever a profile lists."""

WANGDEFA: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "process_message",
            "Process message",
            "Recall memory for what the user said, and open a card for the turn.",
            compat.ProcessMessage,
            compat.process_message,
            writes=True,
            renames={"message": "input", "userInput": "input", "session_id": "sessionId", "topicId": "sessionId"},
        ),
        Tool(
            "save_memory",
            "Save memory",
            "Save memory of a turn: the answer, under the card that process_message opened.",
            compat.SaveMemory,
            compat.save_memory,
            writes=True,
            renames={
                "user_input": "userInput",
                "agent_response": "agentResponse",
                "response": "agentResponse",
                "card_id": "cardId",
                "frameId": "cardId",
                "card": "cardId",
                "error_message": "errorMessage",
            },
        ),
    )
}
"""Tools under the names of Wangdefa.Memory (W66, W67)."""

CORE = ("context", "recall", "read", "remember", "forget", "task", "status")
OTHERS: Mapping[str, Mapping[str, Tool]] = {"wangdefa": WANGDEFA}
PROFILES = ("core", "full", *OTHERS)
"""Which tools a client is shown: `core` those of every day, `full` all of ours, the others those of another system."""


def find_tool(name: str) -> Tool | None:
    """Return a tool by its name, ours or another system's; every one can be called, whatever is listed."""
    return TOOLS.get(name) or next((tools[name] for tools in OTHERS.values() if name in tools), None)


@cache
def list_tools(profile: str = PROFILES[0], *, turns: bool = False) -> list[dict[str, object]]:
    """Return what `tools/list` answers, always in the same order so that hosts can cache it.

    `turns` adds the tool turn to the core: it is where turns are switched on.
    """
    if profile in OTHERS:
        return [tool.listing() for tool in OTHERS[profile].values()]
    shown = (*CORE, "turn") if turns else CORE
    return [tool.listing() for tool in TOOLS.values() if profile == "full" or tool.name in shown]
