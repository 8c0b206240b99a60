"""What an importer hands to the half that writes: memories, everything odd that was met, and the index.

Nothing here touches the store. A plan is complete: a file that gives no memory has at least one `Problem` that says
why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from engine.model.enums import Kind, Type
from engine.model.memory import Triple
from engine.store.facts import Declared

Progress = Callable[[int, int], None]
"""Called with (files done, files in all) while a plan is made."""


class Planned(StrEnum):
    """The state that a memory is to have; `held`: kept out until the owner accepts its redacted text (C7)."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    QUARANTINED = "quarantined"
    HELD = "held"


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
    """A reference to another memory: `form` is wiki, markdown, embed or related; `resolved` a source path."""

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
    """One entry of an index: `resolved` is the source path of the memory, None when the entry dangles (S12)."""

    file: str
    line: int
    title: str
    target: str
    hook: str = ""
    section: str = ""
    resolved: str | None = None


@dataclass(frozen=True, slots=True)
class IndexProse:
    """Text of an index that is no entry; `what` is rule, preference, comment, text or orders."""

    file: str
    line: int
    section: str
    text: str
    what: str = "text"


@dataclass(frozen=True, slots=True)
class ParsedMemory:
    """One file, or one record of a graph, as a memory; times are UTC milliseconds, texts have LF ends unless mixed.

    `made_up` names the fields (name, description) that the file does not state; `extra` keeps every key that has no
    field of its own, `type_word` the type as written. A memory in state `held` carries redacted text only, so writing
    it can leak nothing. `frontmatter.file_bytes` gives the file back from the header's and body's text and the fields
    from `eol` to `raw`.
    """

    source_path: str
    workspace: str | None
    name: str
    description: str
    body: str
    type: Type
    type_word: str = ""
    kind: Kind = Kind.NOTE
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
    state: Planned = Planned.ACTIVE
    state_reason: str = ""
    status: str = ""
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None
    links: tuple[Link, ...] = ()
    observations: tuple[Observation, ...] = ()
    parts: tuple[Part, ...] = ()
    secrets: tuple[SecretSpot, ...] = ()
    persona: bool = False
    attributes: tuple[tuple[str, str], ...] = ()
    extra: Mapping[str, object] = field(default_factory=dict)
    made_up: tuple[str, ...] = ()
    header_text: str = ""
    subject: str = ""
    triples: tuple[Triple, ...] = ()
    mentions: tuple[str, ...] = ()
    body_line: int = 1
    eol: str = "\n"
    bom: bool = False
    encoding: str = "utf-8"
    raw: bytes | None = None
    sha256: str = ""
    file_mtime: int = 0


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """Everything that an import of `root` would do: `files` counts every file seen, taken or not.

    Of a directory each is a memory, an index, refused (it holds nothing of substance) or skipped. `entities` are those
    of a graph, `counts` how many entities, observations and relations it holds.
    """

    root: str
    format: str
    files: int = 0
    memories: tuple[ParsedMemory, ...] = ()
    problems: tuple[Problem, ...] = ()
    index: tuple[IndexEntry, ...] = ()
    prose: tuple[IndexProse, ...] = ()
    entities: tuple[Declared, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    indexes: int = 0
    refused: int = 0
    skipped: int = 0

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
    return dict(sorted(Counter(str(word) for word in words).items()))
