"""What agents' hooks send and expect: the event JSON of Claude Code, Codex and Gemini CLI, and our answer to it.

Only what a person really typed is a question (S14): what hosts wrap around it, tool results, slash commands and the
blocks that memdeck itself injected are none (W68).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from engine.context.fence import marked, without_own


class Moment(StrEnum):
    """When a hook is called: a session begins, a person asks, the agent has answered, or the talk is compacted."""

    START = "start"
    PROMPT = "prompt"
    ANSWER = "answer"
    COMPACTED = "compacted"


MOMENTS = {
    "sessionstart": Moment.START,
    "start": Moment.START,
    "userpromptsubmit": Moment.PROMPT,
    "beforeagent": Moment.PROMPT,
    "prompt": Moment.PROMPT,
    "stop": Moment.ANSWER,
    "afteragent": Moment.ANSWER,
    "answer": Moment.ANSWER,
    "precompact": Moment.COMPACTED,
    "postcompact": Moment.COMPACTED,
    "precompress": Moment.COMPACTED,
    "compact": Moment.COMPACTED,
}
"""Events by name without case and signs: `SessionStart`, `session-start`."""

_GEMINI_EVENTS = frozenset({"beforeagent", "afteragent", "precompress"})
_HOMES = {"/.claude/": "claude-code", "/.codex/": "codex", "/.gemini/": "gemini-cli"}
_NAME_CHARS, _SESSION_CHARS, _PROMPT_CHARS = 64, 200, 100_000

# What hosts put around a prompt or in its place; none of it was typed.
_HOST_TAG = (
    r"system-reminder|local-command-[\w-]+|command-(?:name|message|args)|bash-(?:input|stdout|stderr)"
    r"|task-notification|ide_\w+|user-prompt-submit-hook|environment_context|user_instructions|hook_context"
    r"|session_context"
)
_HOST_BLOCK = rf"<({_HOST_TAG})\b[^>]*>.*?</\1>"
_SLASH_COMMAND = r"/[A-Za-z][\w:.-]*(?:\s|\Z)"


class Event(NamedTuple):
    """One call of a hook; `name` is the event as the host writes it, empty when there was no event JSON."""

    moment: Moment
    name: str = ""
    source: str = ""
    question: str = ""
    session: str | None = None
    folder: str | None = None
    agent: str = "hook"
    answer: str = ""


def read_event(named: str, text: str, agent: str = "") -> Event | None:
    """Return the event of a hook called as `named` with `text` on stdin; None for one that gives nothing.

    The host's own name of the event wins over the one on the command line. Text that is no JSON object counts as none.
    """
    given = _object(text)
    name = given.get("hook_event_name")
    name = name if isinstance(name, str) else ""
    moment = MOMENTS.get(_plain(name or named))
    if moment is None:
        return None
    session, folder, source = (given.get(key) for key in ("session_id", "cwd", "source"))
    return Event(
        moment=moment,
        name=name,
        source=source if isinstance(source, str) else "",
        question=_question(given) if moment is Moment.PROMPT else "",
        session=session[:_SESSION_CHARS] if isinstance(session, str) and session else None,
        folder=folder if isinstance(folder, str) and folder.startswith("/") and "\0" not in folder else None,
        agent=agent[:_NAME_CHARS] or _agent(given, _plain(name)),
        answer=_answer(given) if moment is Moment.ANSWER else "",
    )


def rendered(event: Event, text: str) -> bytes:
    """Return what the host expects on stdout to have `text` injected; nothing for an empty text."""
    if not text:
        return b""
    block = marked(text)
    if event.name:
        block = json.dumps(
            {"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": block}}, ensure_ascii=False
        )
    return f"{block}\n".encode("utf-8", "replace")


def user_text(text: str) -> str:
    """Return what a person typed of a prompt; empty for a slash command (S14)."""
    typed = without_own(text[:_PROMPT_CHARS])
    if "<" in typed:
        typed = re.sub(_HOST_BLOCK, "", typed, flags=re.DOTALL)
    typed = typed.strip()
    return "" if typed.startswith("/") and re.match(_SLASH_COMMAND, typed) else typed


def last_user_text(messages: object) -> str:
    """Return the newest text of a conversation that a person typed; tool results and injected blocks are passed over.

    `messages` is a list of objects with `role` and `content`, a text or a list of parts (S14).
    """
    for message in reversed(messages) if isinstance(messages, list) else ():
        if isinstance(message, Mapping) and message.get("role") == "user":
            typed = user_text(_content(message.get("content")))
            if typed:
                return typed
    return ""


def _question(given: Mapping[str, object]) -> str:
    prompt = given.get("prompt")
    return user_text(prompt) if isinstance(prompt, str) else last_user_text(given.get("messages"))


def _answer(given: Mapping[str, object]) -> str:
    """Return the agent's last message, under the names of Claude Code and Codex, and of Gemini CLI."""
    texts = (given.get(name) for name in ("last_assistant_message", "prompt_response"))
    return next((text for text in texts if isinstance(text, str)), "")


def _content(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = (part.get("text") for part in parts if isinstance(part, Mapping) and part.get("type") == "text")
    return "\n".join(text for text in texts if isinstance(text, str))


def _object(text: str) -> Mapping[str, object]:
    try:
        value = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _plain(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalpha())


def _agent(given: Mapping[str, object], event: str) -> str:
    """Name the host by where it keeps the transcript, else by what only its events have."""
    path = given.get("transcript_path")
    if isinstance(path, str):
        for home, agent in _HOMES.items():
            if home in path:
                return agent
    if event in _GEMINI_EVENTS or "timestamp" in given:
        return "gemini-cli"
    if "turn_id" in given:
        return "codex"
    return "claude-code" if "permission_mode" in given or "transcript_path" in given else "hook"
