"""Which files of a directory can be memories, and why the others are not (S7, S10, S11)."""

from __future__ import annotations

import json
import os
import stat
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

from engine.transfer.forms import FORMS, form_of, read_head
from engine.transfer.plan import Problem

LIMIT = 512 * 1024
RAW_LIMIT = 4 * 1024 * 1024
LISTED = 20
"""So many files of one directory are listed one by one when they are skipped; the rest of them share a line."""

RESERVED = ("memory.md", "session-log.md")
INSTRUCTIONS = frozenset(
    "agents.md tools.md heartbeat.md bootstrap.md boot.md claude.md claude.local.md gemini.md skill.md".split()
)
LEFT_OVERS = (".tmp", ".temp", ".swp", ".part", ".crdownload", "~")
BACKUPS = (".bak", ".backup", ".orig", ".old", ".rej")
BREAKS = "\n\r"
JSON_ENDS = (".json", ".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A Markdown file that may be read: its path in the import and where it is on disk."""

    path: str
    place: Path


@dataclass(slots=True)
class Tree:
    """A directory's Markdown files in a fixed order, the files skipped, and how many files there are at all."""

    candidates: list[Candidate] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    files: int = 0
    vaults: list[str] = field(default_factory=list)


def scan(root: Path) -> Tree:
    """List a directory, following no symbolic link; every file is a candidate or has a line in the report."""
    tree = Tree()
    waiting = [("", root)]
    while waiting:
        prefix, directory = waiting.pop()
        try:
            entries = sorted(os.scandir(directory), key=lambda item: unicodedata.normalize("NFC", item.name))
        except OSError as error:
            tree.problems.append(Problem(prefix.rstrip("/") or ".", 0, "unreadable", reason(error), "skipped"))
            continue
        skipped: list[Problem] = []
        folders: list[tuple[str, Path]] = []
        for entry in entries:
            path = f"{prefix}{entry.name}"
            if not entry.is_symlink() and entry.is_dir(follow_symlinks=False):
                if entry.name.startswith("."):
                    skip_hidden(path, Path(entry.path), tree)
                    if entry.name == ".obsidian":
                        tree.vaults.append(prefix)
                elif why := bad_name(entry.name, BREAKS):
                    tree.problems.append(Problem(shown(path), 0, "bad_name", why, "skipped with all that is in it"))
                else:
                    folders.append((f"{path}/", Path(entry.path)))
                continue
            tree.files += 1
            problem = refuse(entry, path)
            if problem:
                skipped.append(problem)
            else:
                tree.candidates.append(Candidate(path, Path(entry.path)))
        tree.problems += listed(skipped, prefix.rstrip("/") or ".")
        waiting += reversed(folders)
    return tree


def skip_hidden(path: str, directory: Path, tree: Tree) -> None:
    """Count and list the files of a hidden directory."""
    files = [
        os.path.relpath(os.path.join(folder, name), directory)
        for folder, _, names in os.walk(directory)
        for name in names
    ]
    tree.files += len(files)
    inside = [Problem(shown(f"{path}/{file}"), 0, "skipped", "hidden directory") for file in sorted(files)]
    tree.problems += listed(inside, shown(path)) or [Problem(shown(path), 0, "skipped", "hidden directory")]


def listed(problems: list[Problem], directory: str) -> list[Problem]:
    """Return at most LISTED lines one by one and one line for the rest, so that no file vanishes unmentioned."""
    if len(problems) <= LISTED:
        return problems
    keep = [problem for problem in problems if problem.kind != "skipped"]
    rest = [problem for problem in problems if problem.kind == "skipped"]
    if len(rest) <= LISTED:
        return problems
    summary = f"{len(rest) - LISTED} more files that are not memories"
    return [*keep, *rest[:LISTED], Problem(directory, 0, "skipped", summary)]


def refuse(entry: os.DirEntry[str], path: str) -> Problem | None:
    """Return why an entry is no candidate, or None."""
    name = entry.name
    why = bad_name(name, f"\\:{BREAKS}")
    if why:
        return Problem(shown(path), 0, "bad_name", why, "skipped")
    if entry.is_symlink():
        return Problem(path, 0, "symlink", "a symbolic link is not followed", "skipped")
    if not entry.is_file(follow_symlinks=False):
        return Problem(path, 0, "skipped", "not a regular file")
    why = not_markdown(entry)
    form = form_of_file(Path(entry.path)) if why == "not Markdown" else ""
    return Problem(path, 0, "skipped", f"{why}: {form}" if form else why) if why else None


def bad_name(name: str, forbidden: str) -> str:
    """Return what is wrong with a name, or nothing (S11)."""
    if any("\udc80" <= char <= "\udcff" for char in name):
        return "the name is not UTF-8"
    if any(char in name for char in forbidden):
        return "the name holds a character that is not allowed"
    return ""


def not_markdown(entry: os.DirEntry[str]) -> str:
    """Return why a regular file is not Markdown by its name, or nothing."""
    name = entry.name.lower()
    if any(part in name for part in (f"{end}." for end in BACKUPS)) or name.endswith(BACKUPS):
        return "not Markdown by name (a backup)"
    if name.endswith(LEFT_OVERS):
        return "not Markdown by name (left over)"
    if name.startswith("."):
        return "hidden"
    if name.endswith(".md"):
        return ""
    try:
        empty = entry.stat(follow_symlinks=False).st_size == 0
    except OSError:
        empty = False
    return "empty and not Markdown" if empty else "not Markdown"


def form_of_file(place: Path) -> str:
    """Return what a JSON file is, in words, or nothing for other files."""
    if not place.name.lower().endswith(JSON_ENDS):
        return ""
    try:
        return FORMS.get(form_of(read_head(place)), "")
    except OSError:
        return ""


def reason(error: OSError) -> str:
    """Return an operating system's reason without the path."""
    return (error.strerror or type(error).__name__).lower()


def shown(path: str) -> str:
    """Return a path that can be printed and stored, whatever bytes its name holds."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file's bytes with its modification time (ms), number of links and identity; or why there are none."""

    data: bytes = b""
    mtime_ms: int = 0
    identity: tuple[int, int] = (0, 0)
    links: int = 1
    kind: str = ""
    why: str = ""


def read_file(place: Path, limit: int = LIMIT, tries: int = 3) -> FileRead:
    """Read a file whole: its size is checked first (S7), no link is followed, and a file that changes is read again."""
    try:
        for _ in range(tries):
            handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(handle, "rb") as file:
                before = os.fstat(handle)
                if not stat.S_ISREG(before.st_mode):
                    return FileRead(kind="skipped", why="not a regular file")
                if before.st_size > limit:
                    return FileRead(kind="too_big", why=f"{before.st_size} bytes, the limit is {limit}")
                data = file.read(limit + 1)
                after = os.fstat(handle)
            if len(data) == after.st_size == before.st_size and after.st_mtime_ns == before.st_mtime_ns:
                identity = (after.st_dev, after.st_ino)
                return FileRead(data, after.st_mtime_ns // 1_000_000, identity, after.st_nlink)
    except FileNotFoundError:
        return FileRead(kind="changed", why="the file vanished before it was read")
    except OSError as error:
        return FileRead(kind="unreadable", why=reason(error))
    return FileRead(kind="changed", why="the file changes while it is read")


def reserved_names(directory: Path) -> frozenset[str]:
    """Return the reserved names of a directory: fixed ones and those in its `reserved.json`, if that can be read."""
    names: set[str] = set(RESERVED)
    found = read_file(directory / "reserved.json")
    try:
        given = json.loads(found.data) if found.data else []
    except (ValueError, RecursionError):
        given = []
    if isinstance(given, list):
        names |= {os.path.basename(name).casefold() for name in given if isinstance(name, str)}
    return frozenset(names)
