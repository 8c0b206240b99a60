"""What an importer hands to the writing half: memories, everything odd that was met, and the index, as frozen values.

Nothing here touches the store. A plan is complete: a file that gives no memory has at least one `Problem` that says why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

Progress = Callable[[int, int], None]
"""Called with (files done, files in all) while a plan is made."""

TYPES = ("user", "feedback", "project", "reference")
"""The four types of a memory (S3)."""

ACTIVE, SUPERSEDED, ARCHIVED, QUARANTINED, HELD = "active", "superseded", "archived", "quarantined", "held"
"""Planned states; `held` means that the secret check keeps the file out until the owner accepts the redacted text."""

EMPTY: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Problem:
    """One line of the report: where (`line` 0 = the whole file), what kind, why, and what was made of it.

    `message` and `recovered` never hold a byte of a secret.
    """

    file: str
    line: int
    kind: str
    message: str
    recovered: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """A reference from one memory to another: `form` is wiki, markdown, embed or related; `resolved` a source path."""

    target: str
    line: int
    form: str = "wiki"
    relation: str = ""
    resolved: str | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """A `- [category] text #tag (context)` line of a note in the basic-memory form."""

    line: int
    category: str
    text: str
    tags: tuple[str, ...] = ()
    context: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A section that could stand as a memory of its own: offered for splitting, never split unasked (S72)."""

    line: int
    heading: str


@dataclass(frozen=True, slots=True)
class SecretSpot:
    """Where a secret stands and of what kind it is; never the secret itself (C7)."""

    file: str
    line: int
    kind: str


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One entry of an index file: `resolved` is the source path of the memory, or None when the entry dangles (S12)."""

    file: str
    line: int
    title: str
    target: str
    hook: str = ""
    section: str = ""
    resolved: str | None = None


@dataclass(frozen=True, slots=True)
class IndexProse:
    """Text of an index that is no entry; `what` is rule, preference, comment or text."""

    file: str
    line: int
    section: str
    text: str
    what: str = "text"


@dataclass(frozen=True, slots=True)
class ParsedMemory:
    """One file as a memory; times are UTC milliseconds, `body` and `header_text` have LF ends unless `eol` is mixed.

    A memory in state `held` carries redacted text only, so writing it can leak nothing; a byte-exact file is given back
    by `frontmatter.file_bytes` from `header_text`, `body`, `eol`, `bom`, `encoding` and `raw`.
    """

    source_path: str
    workspace: str | None
    name: str
    description: str
    body: str
    type: str
    type_word: str = ""
    kind: str = "note"
    title: str = ""
    headings: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    baseline: bool = False
    baseline_priority: int | None = None
    created_at: int | None = None
    updated_at: int | None = None
    valid_from: int | None = None
    valid_to: int | None = None
    dated_at: int = 0
    dated_by: str = "file"
    state: str = ACTIVE
    state_reason: str = ""
    status: str = ""
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None
    links: tuple[Link, ...] = ()
    observations: tuple[Observation, ...] = ()
    parts: tuple[Part, ...] = ()
    secrets: tuple[SecretSpot, ...] = ()
    persona: bool = False
    extra: Mapping[str, object] = EMPTY
    header_text: str = ""
    body_line: int = 1
    eol: str = "\n"
    bom: bool = False
    encoding: str = "utf-8"
    raw: bytes | None = None
    sha256: str = ""
    file_mtime: int = 0


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """Everything that an import of `root` would do: `files` counts every file seen, taken or not."""

    root: str
    format: str
    files: int = 0
    memories: tuple[ParsedMemory, ...] = ()
    problems: tuple[Problem, ...] = ()
    index: tuple[IndexEntry, ...] = ()
    prose: tuple[IndexProse, ...] = ()

    def by_type(self) -> dict[str, int]:
        """Count the memories by type."""
        return count(memory.type for memory in self.memories)

    def by_state(self) -> dict[str, int]:
        """Count the memories by planned state."""
        return count(memory.state for memory in self.memories)

    def by_kind(self) -> dict[str, int]:
        """Count the memories by kind."""
        return count(memory.kind for memory in self.memories)

    def problems_by_kind(self) -> dict[str, int]:
        """Count the report's lines by kind."""
        return count(problem.kind for problem in self.problems)

    def lost_entries(self) -> tuple[IndexEntry, ...]:
        """Return the index entries whose file is gone: all that is left of those memories."""
        return tuple(entry for entry in self.index if entry.resolved is None)


def count(words: Iterable[str]) -> dict[str, int]:
    """Return how often each word occurs, sorted by word."""
    return dict(sorted(Counter(words).items()))
