"""What connecting an agent changes: a list of edits of whole files, shown as a difference before it is written."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from engine.connect import settings_file
from engine.connect.agents import AGENTS, Agent, Places, Reach
from engine.connect.dialects import member
from engine.connect.faults import BadSettings
from engine.connect.parts import EntryPart, HooksPart, Part
from engine.connect.server import HookCommand, Server
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
    hooks: HookCommand | None = None


def plan_connect(
    agent: Agent, server: Server, places: Places, reach: Reach = Reach.USER, *, hooks: HookCommand | None = None
) -> Plan:
    """Plan to write our entry into an agent's settings, and our hooks where there is a command for them.

    Without one our hooks are taken out. Raises MemdeckError naming the file and line it cannot edit.
    """
    wanted: dict[str, Server | HookCommand | None] = {"entry": server, "hooks": hooks}
    return Plan(agent, tuple(_edit(path, parts, wanted) for path, parts in _parts(agent, places, reach).items()))


def plan_removal(agent: Agent, places: Places, reach: Reach = Reach.USER) -> Plan:
    """Plan to take all that is ours out again: what was before comes back byte for byte when nothing else changed."""
    return Plan(agent, tuple(_take_out(path, parts) for path, parts in _parts(agent, places, reach).items()))


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


def read_hooks(agent: Agent, places: Places, reach: Reach) -> HookCommand | None:
    """Return what an agent's hooks start of ours, None when nothing does or they differ."""
    if not (agent.hooks and agent.hook_file):
        return None
    path = settings_file.real_path(agent.hook_file(places, reach))
    with _naming(path):
        return HooksPart(agent.hooks).read(Text.of(settings_file.read(path)).text)


def settings_path(agent: Agent, places: Places, reach: Reach) -> Path:
    """Return the real file to edit: the one that holds our entry, else the first that exists, else the usual one."""
    files = [settings_file.real_path(path) for path in agent.files(places, reach)]
    existing = [path for path in files if path.exists()]
    if len(existing) > 1:
        return next((path for path in existing if read_server(agent, path)), existing[0])
    return existing[0] if existing else files[0]


def _connection(agent: Agent, places: Places, reach: Reach) -> Connection:
    path, server, hooks, problem = agent.files(places, reach)[0], None, None, ""
    try:
        path = settings_path(agent, places, reach)
        server = read_server(agent, path)
        hooks = read_hooks(agent, places, reach)
    except MemdeckError as error:
        problem = error.message
    return Connection(agent.name, agent.title, agent.is_here(places), reach, path, server, problem, hooks)


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


def _parts(agent: Agent, places: Places, reach: Reach) -> dict[Path, list[Part]]:
    """Return what may be ours in each file of an agent: the entry first, then the hooks."""
    found: dict[Path, list[Part]] = {settings_path(agent, places, reach): [EntryPart(agent)]}
    if agent.hooks and agent.hook_file:
        path = settings_file.real_path(agent.hook_file(places, reach))
        found.setdefault(path, []).append(HooksPart(agent.hooks))
    return found


def _edit(path: Path, parts: Sequence[Part], wanted: Mapping[str, Server | HookCommand | None]) -> Edit:
    before = settings_file.read(path)
    with _naming(path):
        old = Text.of(before)
        text, had_any = old.text, False
        for part in parts:
            value = wanted[part.name]
            had = part.holds(text)
            had_any |= had
            if value is not None:
                text = part.put(text, value)
            elif had:
                text = part.drop(text, keep=_kept(path, parts))
        after = before if text == old.text else old.with_text(text)
    # The backup is the state without us: a later connect to another store must not replace it.
    return Edit(path, before, after, Backup.LEAVE if had_any or after == before else Backup.MAKE)


def _take_out(path: Path, parts: Sequence[Part]) -> Edit:
    before = settings_file.read(path)
    if before is None:
        return Edit(path, None, None)
    with _naming(path):
        now = Text.of(before)
        held = [part for part in parts if part.holds(now.text)]
        if not held:
            return Edit(path, before, before)
        original, known = _original(path, parts)
        if known and _would_give(held, now.text, original, before):
            return Edit(path, before, original, Backup.DROP)
        if _would_give(held, now.text, None, before):
            return Edit(path, before, None)
        keep = _kept(path, parts)
        text = now.text
        for part in held:
            text = part.drop(text, keep=keep)
        return Edit(path, before, now.with_text(text))


def _would_give(held: Sequence[Part], text: str, original: bytes | None, now: bytes) -> bool:
    """Tell whether connecting is all that lies between an earlier state of a file and the present one."""
    old = Text.of(original)
    would = old.text
    try:
        for part in held:
            value = part.read(text)
            if value is None:
                return False
            would = part.put(would, value)
    except BadSettings:
        return False
    return old.with_text(would) == now


def _original(path: Path, parts: Sequence[Part]) -> tuple[bytes | None, bool]:
    """Return the backup and whether it is of use: one that holds something of ours, or cannot be read, is none."""
    try:
        data = settings_file.read(backup_of(path))
        usable = data is not None and not any(part.holds(Text.of(data).text) for part in parts)
    except (BadSettings, MemdeckError):
        return None, False
    return data, usable


def _kept(path: Path, parts: Sequence[Part]) -> Mapping[str, object]:
    """Return what stood in a file before us, as far as that is known."""
    original, known = _original(path, parts)
    return parts[0].load(Text.of(original).text) if known else {}
