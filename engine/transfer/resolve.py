"""Settles what one file cannot know: links, hooks of the index, who supersedes whom, and which files nobody lists."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import replace

from engine.transfer.fields import limited
from engine.transfer.index import Index
from engine.transfer.links import Resolver, Target, fold
from engine.transfer.plan import IndexEntry, Link, ParsedMemory, Planned, Problem

MAX_HOOKS, MAX_HOOK = 24, 300


def settle(memories: list[ParsedMemory], indexes: dict[str, Index]) -> tuple[list[ParsedMemory], list[Problem]]:
    """Return the memories with everything resolved and the problems met; resolves the entries of `indexes` in place."""
    resolver = Resolver(Target(memory.source_path, memory.name) for memory in memories)
    problems: list[Problem] = []
    for path, index in indexes.items():
        indexes[path] = settle_index(path, index, resolver, problems)
    problems += unlisted(memories, indexes)
    hooks = hooks_by_file(indexes)
    linked = []
    for memory in memories:
        links = settle_links(memory, resolver, problems) if memory.links else ()
        said = said_by_index(memory, hooks.get(memory.source_path, []))
        linked.append(replace(memory, links=links, hooks=said) if links or said else memory)
    return with_supersession(linked, resolver, problems), problems


def settle_index(path: str, index: Index, resolver: Resolver, problems: list[Problem]) -> Index:
    """Resolve the entries of an index, listing those that dangle and the prose between them."""
    directory = posixpath.dirname(path)
    entries = []
    for entry in index.entries:
        is_path = entry.target.lower().endswith(".md")
        found = resolver.find_path(entry.target, directory) if is_path else resolver.find(entry.target, path)
        if found is None:
            what = " — ".join(part for part in (entry.title, entry.hook) if part)
            problems.append(Problem(path, entry.line, "dangling_index", f"no file {entry.target}", what))
        entries.append(replace(entry, resolved=found))
    if index.prose:
        count = len(index.prose)
        how = "kept beside the memories: rules for the playbook, preferences and text for the owner"
        problems.append(Problem(path, index.prose[0].line, "index_prose", f"{count} pieces are no entries", how))
    return Index(tuple(entries), index.prose)


def unlisted(memories: list[ParsedMemory], indexes: dict[str, Index]) -> list[Problem]:
    """List the memories that the nearest index above them does not name; one line when it names fewer than half."""
    problems = []
    owners: dict[str, list[str]] = {}
    by_directory = {posixpath.dirname(index): index for index in reversed(list(indexes))}
    for memory in memories:
        owner = nearest(posixpath.dirname(memory.source_path), by_directory)
        if owner is not None:
            owners.setdefault(owner, []).append(memory.source_path)
    for owner, paths in owners.items():
        named = {entry.resolved for entry in indexes[owner].entries}
        missing = [path for path in paths if path not in named]
        if len(missing) * 2 > len(paths):
            why = f"{len(missing)} of {len(paths)} memories are not listed"
            problems.append(Problem(owner, 0, "unlisted", why, "taken all the same"))
        else:
            problems += [Problem(path, 0, "unlisted", f"not in {owner}", "taken all the same") for path in missing]
    return problems


def nearest(directory: str, by_directory: dict[str, str]) -> str | None:
    """Return the index in a directory or in the closest one above it."""
    while directory and directory not in by_directory:
        directory = posixpath.dirname(directory)
    return by_directory.get(directory)


def hooks_by_file(indexes: dict[str, Index]) -> dict[str, list[IndexEntry]]:
    """Return the entries that name each file."""
    hooks: dict[str, list[IndexEntry]] = {}
    for index in indexes.values():
        for entry in index.entries:
            if entry.resolved is not None:
                hooks.setdefault(entry.resolved, []).append(entry)
    return hooks


def said_by_index(memory: ParsedMemory, entries: list[IndexEntry]) -> tuple[str, ...]:
    """Return what an index says about a memory and the memory does not: titles and the text behind the dash."""
    if not entries:
        return ()
    own = {fold(memory.name), fold(memory.description), fold(posixpath.basename(memory.source_path))}
    said = [text for entry in entries for text in (entry.title, entry.hook) if text and fold(text) not in own]
    hooks, _ = limited(said, MAX_HOOKS, MAX_HOOK)
    return hooks


def settle_links(memory: ParsedMemory, resolver: Resolver, problems: list[Problem]) -> tuple[Link, ...]:
    """Resolve a memory's links; each target that is not there is listed once."""
    links = []
    missing: set[str] = set()
    for link in memory.links:
        found = resolve_link(memory, link.target, link.form, resolver)
        links.append(replace(link, resolved=found))
        if found is None and link.form != "embed" and fold(link.target) not in missing:
            missing.add(fold(link.target))
            problems.append(Problem(memory.source_path, link.line, "dangling_link", f"no memory {link.target}"))
    return tuple(links)


def resolve_link(memory: ParsedMemory, target: str, form: str, resolver: Resolver) -> str | None:
    """Return the file that a link means: a Markdown link is a path, any other link a name."""
    if form == "embed":
        return None
    if form == "markdown":
        return resolver.find_path(target, posixpath.dirname(memory.source_path))
    return resolver.find(target, memory.source_path)


def with_supersession(memories: list[ParsedMemory], resolver: Resolver, problems: list[Problem]) -> list[ParsedMemory]:
    """Mark the memories that another one supersedes, named from either side; a circle changes nothing."""
    successors: dict[str, str] = {}
    settled = []
    for memory in memories:
        path = memory.source_path
        older = known(memory, memory.supersedes, "supersedes", resolver, problems)
        named = (memory.superseded_by,) if memory.superseded_by else ()
        newer = known(memory, named, "superseded by", resolver, problems)
        for old in older:
            successors.setdefault(old, path)
        if newer:
            successors[path] = newer[0]
        if memory.supersedes or memory.superseded_by:
            memory = replace(memory, supersedes=older, superseded_by=None)
        settled.append(memory)
    for path in [path for path in successors if in_circle(path, successors)]:
        problems.append(Problem(path, 0, "circle", "memories that supersede each other", "none is superseded"))
        del successors[path]
    return [with_successor(memory, successors.get(memory.source_path)) for memory in settled]


def known(
    memory: ParsedMemory, targets: Iterable[str], word: str, resolver: Resolver, problems: list[Problem]
) -> tuple[str, ...]:
    """Return the files that a supersession key names, without the memory itself; missing ones are listed."""
    paths: list[str] = []
    for target in targets:
        found = resolver.find(target.strip("[]"), memory.source_path)
        if found is None:
            line = line_of(memory.header_text, target)
            why = f"{word} {target}, which is not there"
            problems.append(Problem(memory.source_path, line, "dangling_link", why))
        elif found != memory.source_path and found not in paths:
            paths.append(found)
    return tuple(paths)


def line_of(header_text: str, target: str) -> int:
    """Return the first line (1-based) of a header that holds a target."""
    return header_text[: max(header_text.find(target), 0)].count("\n") + 1


def in_circle(path: str, successors: dict[str, str]) -> bool:
    """Tell whether a memory supersedes itself over others."""
    seen: set[str] = set()
    at: str | None = path
    while at is not None and at not in seen:
        seen.add(at)
        at = successors.get(at)
    return at == path


def with_successor(memory: ParsedMemory, successor: str | None) -> ParsedMemory:
    """Set the state of a superseded memory; one that is held back or quarantined stays so."""
    if successor is None:
        return memory
    waits = memory.state in (Planned.HELD, Planned.QUARANTINED)
    state = memory.state if waits else Planned.SUPERSEDED
    return replace(
        memory, state=state, state_reason=memory.state_reason or "another file says so", superseded_by=successor
    )
