"""Plays the sample's year through the façade under a moving clock, and writes it down as the export that is shipped.

`python -m tui.sample.play` does so again after the story, the engine or the form of the export changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import secrets
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import yaml

from engine.model.clock import FixedClock
from engine.model.enums import Kind, Origin, SaidBy, Type
from engine.model.errors import MemdeckError
from engine.model.memory import Caller, Draft, Memory, Triple
from tui.sample import EXPORT, OWNER

if TYPE_CHECKING:
    from engine.facade import Engine

STORY = Path(__file__).with_name("story")
MONTHS = sorted(STORY.glob("20??-??.yaml"))
NOTES = STORY / "street-garden.yaml"
NOTES_HOME = "/home/mara/notes/street-garden"
"""Where the imported notes seem to come from, wherever the year is played."""

ROOT = "/home/mara/work"
OWNERS = {"me": OWNER, "sh": Caller(Origin.CLI, "owner")}
CLIENTS = {"claude": "claude-code", "codex": "codex-cli", "gemini": "gemini-cli", "opencode": "opencode"}
DESKS = {"claude": "press", "codex": "radio", "gemini": "garden", "opencode": "home"}
"""Where each agent usually works; the folder is its workspace."""

_SHORT = ("at", "by", "type", "text")


def build_export(target: Path) -> None:
    """Play the year into a store of its own and write it to `target`; the same bytes every time."""
    from engine.facade import open_engine

    with tempfile.TemporaryDirectory(prefix="memdeck-story-") as folder, _repeatable():
        clock = FixedClock(0)
        notes = write_notes(Path(folder) / "notes")
        with open_engine(Path(folder) / "store", clock=clock, env={}) as engine:
            Player(engine, clock, notes).play(events())
            engine.export(target)


@contextmanager
def _repeatable() -> Iterator[None]:
    """Let names and keys that are drawn by chance come out the same; nothing in a sample is a secret."""
    chance = random.Random(1956)
    with (
        mock.patch.object(uuid, "uuid4", lambda: uuid.UUID(int=chance.getrandbits(128), version=4)),
        mock.patch.object(secrets, "token_bytes", lambda count=32: chance.randbytes(count)),
        mock.patch.object(secrets, "token_hex", lambda count=32: chance.randbytes(count).hex()),
    ):
        yield


def write_notes(folder: Path) -> Path:
    """Write the notes of the street garden as Markdown files with fixed times."""
    for name, text in yaml.safe_load(NOTES.read_text(encoding="utf-8")).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (1_756_700_000, 1_756_700_000))
    return folder


def events() -> Iterator[dict[str, Any]]:
    """Yield what happens in the year, in order, each with `at` in UTC milliseconds."""
    for month in MONTHS:
        for event in yaml.safe_load(month.read_text(encoding="utf-8")):
            if isinstance(event, list):
                *short, more = event
                event = {**dict(zip(_SHORT, short, strict=True)), **more}
            day, time = str(event["at"]).split()
            yield event | {"at": moment(f"{month.stem}-{int(day):02}T{time}")}


def moment(text: object) -> int:
    """Return an ISO date or time of the story as UTC milliseconds."""
    return int(datetime.fromisoformat(str(text)).replace(tzinfo=UTC).timestamp() * 1000)


@dataclass
class Player:
    """Carries out the events on one engine; `known` and `drafts` go by the labels that the story gives."""

    engine: Engine
    clock: FixedClock
    notes: Path
    known: dict[str, int] = field(default_factory=dict)
    drafts: dict[str, Draft] = field(default_factory=dict)

    def play(self, events: Iterator[dict[str, Any]]) -> None:
        """Carry out every event at its time; time never runs backwards."""
        for event in events:
            if event["at"] < self.clock.at_ms:
                raise ValueError(f"the story runs backwards at {event}")
            self.clock.at_ms = event["at"]
            refused = None
            try:
                getattr(self, f"do_{event.get('do', 'remember')}")(self.caller(str(event["by"])), event)
            except MemdeckError as error:
                refused = error.code
            if refused != event.get("refused"):
                raise ValueError(f"refused: {refused}, expected: {event.get('refused')}, at {event}")

    def caller(self, name: str) -> Caller:
        """Return the owner for `me` and `sh`, else an agent at its usual desk or at the one named behind a slash."""
        if name in OWNERS:
            return OWNERS[name]
        agent, _, desk = name.partition("/")
        day = datetime.fromtimestamp(self.clock.at_ms / 1000, UTC).strftime("%m%d")
        session = hashlib.sha256(f"{name} {day}".encode()).hexdigest()[:8]
        return Caller(Origin.AGENT, CLIENTS[agent], f"{agent}-{day}-{session}", f"{ROOT}/{desk or DESKS[agent]}")

    def now(self, label: str) -> Memory:
        """Return the memory that a label names, as it is now."""
        return self.engine.get(OWNER, f"mem-{self.known[label]}")

    def do_remember(self, by: Caller, event: Mapping[str, Any]) -> None:
        """Remember a fact, or what replaces another."""
        draft = draft_of(event)
        replaces = self.now(event["replaces"]).ref if "replaces" in event else None
        result = self.engine.remember(by, draft, replaces=replaces, was=event.get("was", "outdated"))
        if "as" in event:
            self.known[event["as"]], self.drafts[event["as"]] = result.id, draft
        if event.get("lock"):
            self.engine.lock(by, f"mem-{result.id}")

    def do_again(self, by: Caller, event: Mapping[str, Any]) -> None:
        """Say once more what was said before: it is only seen again, or stays forgotten."""
        draft = self.drafts[event["ref"]]
        self.engine.remember(by, replace(draft, said_by=SaidBy(event.get("said", draft.said_by))))

    def do_edit(self, by: Caller, event: Mapping[str, Any]) -> None:
        """Change fields of a memory."""
        self.engine.edit(by, self.now(event["ref"]).ref, event["changes"], reason=event.get("reason", ""))

    def do_forget(self, by: Caller, event: Mapping[str, Any]) -> None:
        """Forget memories, or ask for it."""
        self.engine.forget(by, self.refs(event["refs"]), how=event["do"], reason=event["reason"])

    do_archive = do_forget

    def do_lock(self, by: Caller, event: Mapping[str, Any]) -> None:
        """Lock memories."""
        for ref in self.refs(event["refs"]):
            self.engine.lock(by, ref)

    def do_merge(self, by: Caller, event: Mapping[str, Any]) -> None:
        """Fold one memory into another."""
        self.engine.merge(by, f"mem-{self.known[event['ref']]}", f"mem-{self.known[event['into']]}")

    def do_decide(self, by: Caller, event: Mapping[str, Any]) -> None:
        """Decide what waits about a memory."""
        about = self.known[event["about"]]
        ids = [item.id for item in self.engine.review_items(limit=10_000) if item.memory_id == about]
        if not ids:
            raise ValueError(f"nothing waits about {event['about']}")
        until = moment(event["until"]) if "until" in event else None
        self.engine.decide(by, ids, event["verb"], reason=event["reason"], defer_until=until)

    def do_undo(self, by: Caller, event: Mapping[str, Any]) -> None:
        """Take back the owner's last operation."""
        self.engine.undo(by)

    def do_redo(self, by: Caller, event: Mapping[str, Any]) -> None:
        """Do again what was taken back."""
        self.engine.redo(by)

    def do_import(self, by: Caller, event: Mapping[str, Any]) -> None:
        """Import the notes of the street garden."""
        self.engine.run_import(by, replace(self.engine.plan_import(self.notes), root=NOTES_HOME))

    def refs(self, labels: Sequence[str]) -> list[str]:
        """Return the references of labelled memories."""
        return [f"mem-{self.known[label]}" for label in labels]


def draft_of(event: Mapping[str, Any]) -> Draft:
    """Return what an event wants remembered."""
    return Draft(
        text=event["text"], body=event.get("body", ""), type=Type(event["type"]), kind=Kind(event.get("kind", "fact")),
        said_by=SaidBy(event["said"]) if "said" in event else None, topics=tuple(event.get("topics", ())),
        tags=tuple(event.get("tags", ())), aliases=tuple(event.get("aliases", ())), subject=event.get("subject", ""),
        valid_from=moment(event["since"]) if "since" in event else None,
        valid_to=moment(event["until"]) if "until" in event else None, baseline=event.get("baseline", False),
        triples=tuple(Triple(*parts) for parts in event.get("triples", ())),
    )  # fmt: skip


if __name__ == "__main__":
    build_export(EXPORT)
    print(json.dumps({"written": str(EXPORT), "bytes": EXPORT.stat().st_size}))
