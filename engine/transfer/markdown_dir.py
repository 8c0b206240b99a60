"""A directory of Markdown memories to an `ImportPlan`: Claude Code, OpenClaw, Obsidian or kept by hand (S72)."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from pathlib import Path

from engine.transfer.content import Source
from engine.transfer.decoding import Decoded, decode, looks_binary
from engine.transfer.fields import words
from engine.transfer.frontmatter import Document, parse_text
from engine.transfer.gate import AdmissionGate, Gate, is_transcript, only_heartbeats
from engine.transfer.index import Index, is_index, read_index
from engine.transfer.markdown import read_memory
from engine.transfer.plan import (
    ImportPlan,
    IndexEntry,
    IndexProse,
    ParsedMemory,
    Planned,
    Problem,
    Progress,
    SecretSpot,
)
from engine.transfer.resolve import settle
from engine.transfer.walk import (
    INSTRUCTIONS,
    LIMIT,
    RAW_LIMIT,
    Candidate,
    FileRead,
    Tree,
    read_file,
    reserved_names,
    scan,
)

BLANK = re.compile(r"\{\{.*\}\}|<[^<>]*>|\{%.*%\}", re.S)
TELLING = ("name", "title", "description", "type")
TEMPLATE_FOLDERS = frozenset({"template", "templates", "_templates"})


@dataclass(slots=True)
class MarkdownImport:
    """Reads a directory (or one file) step by step: iterate `iter_memories`, then take the finished `plan`.

    `zone` is the local time zone for days without one (None = the machine's). Bodies are held once.
    """

    root: Path
    gate: Gate = field(default_factory=AdmissionGate)
    zone: tzinfo | None = None
    tree: Tree = field(default_factory=Tree)
    memories: list[ParsedMemory] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    indexes: dict[str, Index] = field(default_factory=dict)
    reserved: dict[str, frozenset[str]] = field(default_factory=dict)
    identities: dict[tuple[int, int], str] = field(default_factory=dict)
    refused: int = 0
    above: tuple[str, ...] = ()
    single: bool = False

    def iter_memories(self, progress: Progress | None = None) -> Iterator[ParsedMemory]:
        """Yield each file's memory as it is read; links, hooks and supersession are settled only in the plan."""
        self.tree = self.list_files()
        self.above = self.root.resolve().parts
        self.problems += self.tree.problems
        rest = [candidate for candidate in self.tree.candidates if not self.take_index(candidate)]
        total = len(self.tree.candidates)
        for done, candidate in enumerate(rest, total - len(rest) + 1):
            memory = self.take(candidate)
            if memory is not None:
                self.memories.append(memory)
                yield memory
            if progress:
                progress(done, total)

    def plan(self) -> ImportPlan:
        """Return the plan of everything that was read."""
        memories, problems = settle(self.memories, self.indexes)
        if not self.tree.candidates:
            why = "the directory is empty" if not self.tree.files else "no Markdown file in it"
            self.problems.append(Problem(".", 0, "nothing", why))
        return ImportPlan(
            root=str(self.root),
            format="markdown",
            files=self.tree.files,
            memories=tuple(memories),
            problems=tuple(sorted([*self.problems, *problems], key=lambda item: (item.file, item.line))),
            indexes=len(self.indexes),
            refused=self.refused,
            skipped=self.tree.files - len(memories) - len(self.indexes) - self.refused,
            index=tuple(entry for index in self.indexes.values() for entry in index.entries),
            prose=tuple(piece for index in self.indexes.values() for piece in index.prose),
        )

    def list_files(self) -> Tree:
        """List the directory, or the one file that the root is."""
        if self.root.is_dir():
            return scan(self.root)
        place = self.root
        self.root = place.parent
        self.single = True
        return Tree(candidates=[Candidate(place.name, place)], files=1)

    def take_index(self, candidate: Candidate) -> bool:
        """Read a file as an index if it is one; MEMORY.md may be content instead, another file may be an index."""
        name = posixpath.basename(candidate.path).lower()
        if name != "memory.md" and "index" not in name and "索引" not in name:
            return False
        found = read_file(candidate.place, RAW_LIMIT)
        if found.kind:
            return False
        text, spots = self.checked(decode(found.data), candidate.path)
        document = parse_text(text)
        index = read_index(document.body, candidate.path, document.body_line)
        if not is_index(index, name, document.body):
            return False
        self.indexes[candidate.path] = self.without_orders(index, document.body)
        self.problems += [secret(spot, "the entry is read without it") for spot in spots]
        self.identities[found.identity] = candidate.path
        return True

    def without_orders(self, index: Index, text: str) -> Index:
        """Return an index without the hooks that carry orders to an agent; such prose is marked (C7)."""
        if self.gate.refusal(text) != "injection":
            return index
        entries = tuple(
            replace(entry, title="", hook="") if self.gives_orders(entry, f"{entry.title}\n{entry.hook}") else entry
            for entry in index.entries
        )
        prose = tuple(
            replace(piece, what="orders") if self.gives_orders(piece, piece.text) else piece for piece in index.prose
        )
        return Index(entries, prose)

    def gives_orders(self, piece: IndexEntry | IndexProse, text: str) -> bool:
        """Tell whether a piece of an index carries orders, and list it if so."""
        if self.gate.refusal(text) != "injection":
            return False
        why, how = "carries orders to an agent", "left out of search and packs"
        self.problems.append(Problem(piece.file, piece.line, "injection", why, how))
        return True

    def take(self, candidate: Candidate) -> ParsedMemory | None:
        """Read one file; a file that gives no memory leaves a line in the report."""
        found = read_file(candidate.place, LIMIT)
        why = found.kind or ("" if self.single else self.skip_by_name(candidate))
        if why:
            kind = found.kind or "skipped"
            self.skip(candidate.path, kind, found.why or why, "" if kind == "skipped" else "skipped")
            return None
        twin = self.identities.setdefault(found.identity, candidate.path)
        if twin != candidate.path and found.links > 1:
            if self.is_reserved(twin):
                self.skip(candidate.path, "reserved", f"another name of {twin}", "skipped")
                return None
            self.skip(candidate.path, "hard_link", f"another name of {twin}", "taken as a memory of its own")
        return self.take_text(candidate, found)

    def take_text(self, candidate: Candidate, found: FileRead) -> ParsedMemory | None:
        """Make a memory of a file's bytes, or leave a line that says why not."""
        path = candidate.path
        decoded = decode(found.data)
        if not decoded.text.strip():
            self.skip(path, "skipped", "empty")
            return None
        if looks_binary(decoded.text):
            self.skip(path, "skipped", "not text")
            return None
        checked, spots = self.checked(decoded, path)
        document = parse_text(checked, path)
        why = "" if self.single else template(document, path) or self.stray_readme(document, path)
        if why:
            self.skip(path, "skipped", why)
            return None
        source = Source(path, self.workspace(path), found.mtime_ms, self.zone, self.in_vault(path))
        memory, problems = read_memory(document, source)
        self.problems += problems
        if spots:
            how = "held back until the owner accepts the redacted text"
            self.problems += [secret(spot, how) for spot in spots]
            return replace(memory, state=Planned.HELD, state_reason="secret", secrets=spots)
        return self.admit(memory)

    def checked(self, decoded: Decoded, path: str) -> tuple[Decoded, tuple[SecretSpot, ...]]:
        """Return the text without its secrets, and where they stood; the same object when there are none (C7)."""
        spans = self.gate.find_secrets(decoded.text)
        if not spans:
            return decoded, ()
        text = decoded.text
        spots = tuple(SecretSpot(path, text.count("\n", 0, span.start) + 1, span.kind) for span in spans)
        return replace(decoded, text=self.gate.redact(text, spans), raw=None), spots

    def admit(self, memory: ParsedMemory) -> ParsedMemory | None:
        """Pass a memory through the other checks: orders are quarantined, noise is refused (C7)."""
        path = memory.source_path
        if only_heartbeats(memory.headings):
            self.skip(path, "noise", "nothing but heartbeats", "taken; forget it if it is of no use")
        stated = [memory.header_text, memory.name, memory.description] if memory.header_text else []
        check = self.gate.refusal("\n".join([*stated, memory.body]))
        if check == "noise":
            self.skip(path, "noise", "nothing of substance", "refused")
            self.refused += 1
            return None
        if check == "injection" or is_transcript(memory.body):
            why = "carries orders to an agent" if check else "a talk written down, which may carry orders"
            self.skip(path, "injection", why, "quarantined")
            return replace(memory, state=Planned.QUARANTINED, state_reason="injection")
        return memory

    def skip(self, path: str, kind: str, why: str, recovered: str = "") -> None:
        """Add a line to the report."""
        self.problems.append(Problem(path, 0, kind, why, recovered))

    def skip_by_name(self, candidate: Candidate) -> str:
        """Return why a Markdown file is no memory by its name, or nothing (S10)."""
        name = posixpath.basename(candidate.path).lower()
        if name in INSTRUCTIONS:
            return "instructions to an agent"
        return "a reserved name" if name != "memory.md" and self.is_reserved(candidate.path) else ""

    def is_reserved(self, path: str) -> bool:
        """Tell whether a file's name is reserved in its directory (S10)."""
        directory, name = posixpath.split(path)
        if directory not in self.reserved:
            self.reserved[directory] = reserved_names(self.root / directory)
        return name.casefold() in self.reserved[directory]

    def stray_readme(self, document: Document, path: str) -> str:
        """Return why a README is no memory: nobody lists it and it has no header."""
        if posixpath.basename(path).lower() != "readme.md" or document.header_text:
            return ""
        listed = any(
            posixpath.normpath(posixpath.join(posixpath.dirname(name), entry.target)) == path
            for name, index in self.indexes.items()
            for entry in index.entries
        )
        return "" if listed else "not in the index and no frontmatter"

    def in_vault(self, path: str) -> bool:
        """Tell whether a file lies in an Obsidian vault."""
        return any(path.startswith(vault) for vault in self.tree.vaults)

    def workspace(self, path: str) -> str | None:
        """Return the workspace of a file below `projects/<folder>/memory`: the folder's name."""
        parts = (*self.above, *path.split("/"))
        for index in range(len(parts) - 3, -1, -1):
            if parts[index] == "projects" and parts[index + 2] == "memory":
                return os.fsdecode(parts[index + 1])
        return None


def secret(spot: SecretSpot, how: str) -> Problem:
    """Return the report's line about a secret: file, line and kind, and what becomes of it."""
    return Problem(spot.file, spot.line, "secret", spot.kind, how)


def template(document: Document, path: str) -> str:
    """Return why a file is a template: blanks where a name, a description, a type or most values should be."""
    metadata = document.header.get("metadata")
    header = {**(metadata if isinstance(metadata, dict) else {}), **document.header}
    values = {key: value for key, value in header.items() if value not in (None, "", []) and key != "metadata"}
    blanks = {key for key, value in values.items() if is_blank(value, key.casefold() in TELLING)}
    in_folder = TEMPLATE_FOLDERS & set(posixpath.dirname(path).casefold().split("/"))
    if any(key.casefold() in TELLING for key in blanks) or (len(blanks) > 1 and len(blanks) * 2 >= len(values)):
        return "a template: placeholders instead of values"
    return "a template: it lies in a template folder" if in_folder and (blanks or "{{" in document.body) else ""


def is_blank(value: object, telling: bool) -> bool:
    """Tell whether a value is a placeholder: `{{x}}`, `<x>`, or a bracketed hint where text belongs."""
    if isinstance(value, list):
        hint = words(value)
        return telling and len(hint) == 1 and (" " in hint[0] or "|" in hint[0])
    return isinstance(value, str) and bool(BLANK.fullmatch(value.strip()))


def plan_directory(
    root: Path, *, gate: Gate | None = None, progress: Progress | None = None, zone: tzinfo | None = None
) -> ImportPlan:
    """Read a directory of Markdown memories, or one file, into a plan."""
    reader = MarkdownImport(root, gate or AdmissionGate(), zone)
    for _ in reader.iter_memories(progress):
        pass
    return reader.plan()
