"""Our hooks in an agent's settings: at which of its events memdeck is called, and how each agent writes a command.

Whatever else stands among the hooks is the owner's and stays as it is, to the byte.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.connect import json_text
from engine.connect.dialects import member
from engine.connect.server import PROGRAM, HookCommand
from engine.model.ids import PROOF_SESSION

EVENTS = ("session-start", "prompt", "pre-compact", "post-compact", "stop")
"""What `memdeck hook` is called with."""

SECONDS = 5
"""What an agent waits for a hook at most; the hook itself is gone after 0.3."""

Entry = dict[str, object]


@dataclass(frozen=True)
class Moment:
    """One event of an agent under its own name, with what `memdeck hook` calls it and what the agent sends besides."""

    name: str
    ours: str
    sample: Mapping[str, object]


@dataclass(frozen=True)
class Hooks:
    """How one agent keeps hooks: a list of groups for each event, each group with its handlers.

    `agent` is what the agent is called in what memdeck counts; `answer` is the event at a turn's end, for stores that
    keep turns; `handler` writes a command, which a shell reads unless it has `args` of its own. `group` is what a group
    of ours holds besides its handler, `common` what every event of the agent tells. `must_be_trusted` is true where the
    agent asks its user before a new hook runs.
    """

    agent: str
    moments: tuple[Moment, ...]
    answer: Moment
    handler: Callable[[Sequence[str]], Entry]
    group: Mapping[str, object]
    common: Mapping[str, object]
    comments: bool = False
    must_be_trusted: bool = False

    def called_at(self, turns: bool) -> dict[str, Moment]:
        """Return the events at which we are called, by name."""
        return {moment.name: moment for moment in (*self.moments, *([self.answer] if turns else []))}

    def words(self, moment: Moment, command: HookCommand) -> list[str]:
        """Return the command of an event, word by word."""
        return [*command.program, "hook", moment.ours, "--agent", self.agent, "--store", command.store]

    def sample(self, moment: Moment) -> dict[str, object]:
        """Return an event as the agent sends it, of a session that is not counted."""
        return {
            "session_id": PROOF_SESSION, "cwd": "/", "hook_event_name": moment.name, **self.common, **moment.sample,
        }  # fmt: skip


@dataclass(frozen=True)
class Place:
    """Where a handler of ours stands: its event, the number of its group there, its own number in the group."""

    event: str
    group: int
    number: int
    words: tuple[str, ...]

    @property
    def list_path(self) -> tuple[str, str]:
        """Return the way to the event's groups in the settings."""
        return ("hooks", self.event)

    @property
    def path(self) -> tuple[str | int, ...]:
        """Return the way to the handler."""
        return (*self.list_path, self.group, "hooks", self.number)


class HookSettings:
    """Reads and edits the hooks of one agent in a settings text; every method raises BadSettings."""

    def __init__(self, hooks: Hooks) -> None:
        """Serve one agent's way of keeping hooks."""
        self.hooks = hooks

    def load(self, text: str) -> dict[str, object]:
        """Return what the text holds."""
        return json_text.load(text, comments=self.hooks.comments)

    def holds(self, text: str) -> bool:
        """Tell whether any hook of ours stands in the text."""
        return bool(self.places(text))

    def read(self, text: str) -> HookCommand | None:
        """Return the command that our hooks start, None when there are none or they differ."""
        places = self.places(text)
        found = {command_in(place.words) for place in places}
        turns = any(place.event == self.hooks.answer.name for place in places)
        return replace(found.pop(), turns=turns) if len(found) == 1 else None

    def places(self, text: str) -> list[Place]:
        """Return every handler of ours, in the order of the text."""
        every = self.load(text).get("hooks")
        found: list[Place] = []
        for event, groups in every.items() if isinstance(every, dict) else ():
            for number, group in enumerate(groups if isinstance(groups, list) else ()):
                handlers = group.get("hooks") if isinstance(group, dict) else None
                own = _ours(handlers if isinstance(handlers, list) else [])
                found += [Place(event, number, at, words) for at, words in own]
        return found

    def put(self, text: str, command: HookCommand) -> str:
        """Have each event call us exactly once; a text that says so already comes back unchanged."""
        wanted = self.hooks.called_at(command.turns)
        kept: set[str] = set()
        for place in reversed(self.places(text)):
            if place.event not in wanted or place.event in kept:
                text = self._cut(text, place)
                if member(self.load(text), place.list_path) == []:
                    text = json_text.drop(text, place.list_path, comments=self.hooks.comments)
                continue
            kept.add(place.event)
            handler = self.hooks.handler(self.hooks.words(wanted[place.event], command))
            text = json_text.put(text, place.path, handler, comments=self.hooks.comments)
        for name, moment in wanted.items():
            if name not in kept:
                handler = self.hooks.handler(self.hooks.words(moment, command))
                text = self._append(text, name, {**self.hooks.group, "hooks": [handler]})
        return text

    def drop(self, text: str, *, keep: Mapping[str, object]) -> str:
        """Take ours out, and what is empty without them, unless it stands in `keep` (what was before)."""
        events = {place.event for place in self.places(text)}
        for place in reversed(self.places(text)):
            text = self._cut(text, place)
        for path in (*(("hooks", event) for event in sorted(events)), ("hooks",)):
            left = member(self.load(text), path)
            if left in ([], {}) and member(keep, path) is None:
                text = json_text.drop(text, path, comments=self.hooks.comments)
        return text

    def _append(self, text: str, event: str, group: Entry) -> str:
        groups = member(self.load(text), ("hooks", event))
        end = len(groups) if isinstance(groups, list) else 0
        return json_text.put(text, ("hooks", event, end), group, comments=self.hooks.comments)

    def _cut(self, text: str, place: Place) -> str:
        """Take a handler out, with its group when nothing else stands there."""
        text = json_text.drop(text, place.path, comments=self.hooks.comments)
        left = member(self.load(text), ("hooks", place.event))
        groups = left if isinstance(left, list) else []
        if groups[place.group]["hooks"] == []:
            text = json_text.drop(text, place.path[:3], comments=self.hooks.comments)
        return text


def command_in(words: Sequence[str]) -> HookCommand:
    """Return what a handler of ours starts, for which store."""
    at = _hook_at(words)
    assert at is not None
    after = list(words[at:])
    store = after[after.index("--store") + 1] if "--store" in after[:-1] else ""
    return HookCommand(tuple(words[:at]), store)


def words_of(handler: object) -> tuple[str, ...]:
    """Return the words of a handler's command; none when it cannot be told."""
    if not isinstance(handler, Mapping) or not isinstance(command := handler.get("command"), str):
        return ()
    args = handler.get("args")
    if isinstance(args, list):
        return (command, *map(str, args))
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return ()


def _ours(handlers: Sequence[object]) -> Iterator[tuple[int, tuple[str, ...]]]:
    for number, handler in enumerate(handlers):
        words = words_of(handler)
        if _hook_at(words) is not None:
            yield number, words


def _hook_at(words: Sequence[str]) -> int | None:
    """Return where `hook EVENT` stands behind our program's name, None for a command of somebody else."""
    for at in range(1, len(words) - 1):
        if words[at] == "hook" and words[at + 1] in EVENTS:
            is_module = list(words[at - 2 : at]) == ["-m", "tui"]
            return at if is_module or words[at - 1].rpartition("/")[2] == PROGRAM else None
    return None


def _direct(words: Sequence[str]) -> Entry:
    return {"type": "command", "command": words[0], "args": list(words[1:]), "timeout": SECONDS}


def _shell(words: Sequence[str]) -> Entry:
    return {"type": "command", "command": shlex.join(words), "timeout": SECONDS}


def _shell_ms(words: Sequence[str]) -> Entry:
    return {"name": PROGRAM, "type": "command", "command": shlex.join(words), "timeout": SECONDS * 1000}


_ASKED = {"prompt": "What do you know about this project?"}
_ANSWERED = {"stop_hook_active": False, "last_assistant_message": "Nothing yet."}

CLAUDE_CODE = Hooks(
    "claude-code",
    (
        Moment("SessionStart", "session-start", {"source": "startup"}),
        Moment("UserPromptSubmit", "prompt", _ASKED),
        Moment("PreCompact", "pre-compact", {"trigger": "manual", "custom_instructions": ""}),
    ),
    Moment("Stop", "stop", _ANSWERED),
    _direct,
    {},
    {"transcript_path": "/.claude/projects/proof.jsonl", "permission_mode": "default"},
)
CODEX = Hooks(
    "codex",
    (
        Moment("SessionStart", "session-start", {"source": "startup"}),
        Moment("UserPromptSubmit", "prompt", {"turn_id": "1", **_ASKED}),
        # What it prints before a compaction is ignored; after it the next prompt gets everything again.
        Moment("PostCompact", "post-compact", {"turn_id": "1", "trigger": "manual"}),
    ),
    Moment("Stop", "stop", {"turn_id": "1", **_ANSWERED}),
    _shell,
    {},
    {"transcript_path": "/.codex/sessions/proof.jsonl", "permission_mode": "default", "model": "proof"},
    must_be_trusted=True,
)
GEMINI = Hooks(
    "gemini-cli",
    (
        Moment("SessionStart", "session-start", {"source": "startup"}),
        Moment("BeforeAgent", "prompt", _ASKED),
        Moment("PreCompress", "pre-compact", {"trigger": "manual"}),
    ),
    Moment("AfterAgent", "stop", {**_ASKED, "prompt_response": "Nothing yet.", "stop_hook_active": False}),
    _shell_ms,
    {"matcher": "*"},
    {"transcript_path": "/.gemini/tmp/proof.json", "timestamp": "2026-01-01T00:00:00Z"},
    comments=True,
)
