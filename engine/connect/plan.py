"""What connecting an agent changes: a list of edits of whole files, shown as a difference before it is written."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from engine.connect import settings_file
from engine.connect.agents import AGENTS, Agent, Places, Reach
from engine.connect.dialects import member
from engine.connect.faults import BadSettings
from engine.connect.server import Server
from engine.connect.settings_file import Text, backup_of
from engine.model.errors import MemdeckError, invalid


class Backup(StrEnum):
    """What becomes of the copy beside a settings file: made, left alone, or gone as its bytes are back in place."""

    MAKE = "make"
    LEAVE = "leave"
    DROP = "drop"


@dataclass(frozen=True)
class Edit:
    """One file before and after; None means that there is no file."""

    path: Path
    before: bytes | None
    after: bytes | None
    backup: Backup = Backup.LEAVE

    @property
    def changes(self) -> bool:
        """Tell whether the file would be another one."""
        return self.before != self.after

    def difference(self) -> Iterator[str]:
        """Yield the lines of a unified difference."""
        old, new = ((data or b"").decode("utf-8", "replace").splitlines() for data in (self.before, self.after))
        was, becomes = (str(self.path) if data is not None else "/dev/null" for data in (self.before, self.after))
        yield from difflib.unified_diff(old, new, was, becomes, lineterm="")


@dataclass(frozen=True)
class Plan:
    """Everything that connecting or removing would do for one agent; carried out by `apply`."""

    agent: Agent
    edits: tuple[Edit, ...]

    @property
    def changes(self) -> bool:
        """Tell whether anything would be written."""
        return any(edit.changes for edit in self.edits)

    def difference(self) -> list[str]:
        """Return the lines of a unified difference over all files."""
        return [line for edit in self.edits for line in edit.difference()]


@dataclass(frozen=True)
class Connection:
    """How an agent stands to memdeck in one settings file: what it would start, or why that cannot be told."""

    agent: str
    title: str
    here: bool
    reach: Reach
    path: Path
    server: Server | None
    problem: str = ""


def plan_connect(agent: Agent, server: Server, places: Places, reach: Reach = Reach.USER) -> Plan:
    """Plan to write our entry into an agent's settings; raises MemdeckError naming the file and line it cannot edit."""
    path = settings_path(agent, places, reach)
    return Plan(agent, (_put_entry(agent, server, path),))


def plan_removal(agent: Agent, places: Places, reach: Reach = Reach.USER) -> Plan:
    """Plan to take our entry out again: what was there before comes back byte for byte when nothing else changed."""
    path = settings_path(agent, places, reach)
    return Plan(agent, (_take_entry_out(agent, path),))


def apply(plan: Plan) -> list[Path]:
    """Write a plan's files, backups first; returns what was written. Nothing is written when one changed meanwhile."""
    edits = [edit for edit in plan.edits if edit.changes]
    for edit in edits:
        if settings_file.read(edit.path) != edit.before:
            raise MemdeckError("stale_revision", f"{edit.path} changed meanwhile", "try again; nothing was written")
    for edit in edits:
        if edit.backup is Backup.MAKE and edit.before is not None:
            settings_file.write(backup_of(edit.path), edit.before, like=edit.path)
        if edit.after is None:
            settings_file.remove(edit.path)
        else:
            settings_file.write(edit.path, edit.after)
        if edit.backup is Backup.DROP:
            settings_file.remove(backup_of(edit.path))
    return [edit.path for edit in edits]


def connections(places: Places) -> list[Connection]:
    """Return how every agent stands to memdeck, for the user and in the project; never raises."""
    found = [_connection(agent, places, reach) for agent in AGENTS.values() for reach in Reach]
    seen = {(one.agent, one.path) for one in found if one.reach is Reach.USER}
    # In the home itself the project's file is the user's.
    return [one for one in found if one.reach is Reach.USER or (one.agent, one.path) not in seen]


def read_server(agent: Agent, path: Path) -> Server | None:
    """Return the command that an agent reads from its settings for memdeck, None when there is no such entry."""
    with _naming(path):
        entry = member(agent.dialect.load(Text.of(settings_file.read(path)).text), agent.path)
        return agent.read(entry) if isinstance(entry, dict) else None


def settings_path(agent: Agent, places: Places, reach: Reach) -> Path:
    """Return the real file to edit: the one that holds our entry, else the first that exists, else the usual one."""
    files = [settings_file.real_path(path) for path in agent.files(places, reach)]
    existing = [path for path in files if path.exists()]
    if len(existing) > 1:
        return next((path for path in existing if read_server(agent, path)), existing[0])
    return existing[0] if existing else files[0]


def _connection(agent: Agent, places: Places, reach: Reach) -> Connection:
    path, server, problem = agent.files(places, reach)[0], None, ""
    try:
        path = settings_path(agent, places, reach)
        server = read_server(agent, path)
    except MemdeckError as error:
        problem = error.message
    return Connection(agent.name, agent.title, agent.is_here(places), reach, path, server, problem)


class _naming:
    """Turns what is wrong with a text into an error that names the file and the line."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, BadSettings):
            raise invalid(
                f"{self.path}:{error.line}: {error.why}", "correct that line by hand; nothing was written"
            ) from error


def _put_entry(agent: Agent, server: Server, path: Path) -> Edit:
    before = settings_file.read(path)
    with _naming(path):
        after = _with_entry(agent, server, before)
        had_entry = member(agent.dialect.load(Text.of(before).text), agent.path) is not None
    # The backup is the state without us: a later connect to another store must not replace it.
    return Edit(path, before, after, Backup.LEAVE if had_entry else Backup.MAKE)


def _with_entry(agent: Agent, server: Server, data: bytes | None) -> bytes:
    old = Text.of(data)
    text = agent.dialect.put(old.text, agent.path, agent.write(server))
    return data if data is not None and text == old.text else old.with_text(text)


def _take_entry_out(agent: Agent, path: Path) -> Edit:
    before = settings_file.read(path)
    if before is None:
        return Edit(path, None, None)
    with _naming(path):
        now = Text.of(before)
        entry = member(agent.dialect.load(now.text), agent.path)
        if entry is None:
            return Edit(path, before, before)
        server = agent.read(entry) if isinstance(entry, dict) else None
        original, known = _original(agent, path)
        if server and known and _would_give(agent, server, original, before):
            return Edit(path, before, original, Backup.DROP)
        if server and _would_give(agent, server, None, before):
            return Edit(path, before, None)
        keep = agent.dialect.load(Text.of(original).text) if known else {}
        return Edit(path, before, now.with_text(agent.dialect.drop(now.text, agent.path, keep=keep)))


def _would_give(agent: Agent, server: Server, original: bytes | None, now: bytes) -> bool:
    """Tell whether connecting is all that lies between an earlier state of a file and the present one."""
    try:
        return _with_entry(agent, server, original) == now
    except BadSettings:
        return False


def _original(agent: Agent, path: Path) -> tuple[bytes | None, bool]:
    """Return the backup and whether it is of use: one that holds an entry of ours, or cannot be read, is none."""
    try:
        data = settings_file.read(backup_of(path))
        usable = data is not None and member(agent.dialect.load(Text.of(data).text), agent.path) is None
    except (BadSettings, MemdeckError):
        return None, False
    return data, usable
