"""A knowledge graph of the MCP memory server, and its variants, to an `ImportPlan`.

Every observation becomes a memory about its entity, every relation a memory with its triple; lines of a log on one
entity become one memory together. Entities themselves are declared, so that one without observations stays known.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from pathlib import Path

from engine.model.enums import Kind, Type
from engine.model.memory import Triple
from engine.rules.textnorm import clip, fingerprint_text, fold, one_line
from engine.rules.triples import normal_relation, statement
from engine.store.facts import Declared
from engine.transfer.gate import AdmissionGate, Gate
from engine.transfer.graph_records import WHOLE_LIMIT, RawEntity, RawRelation, Told, read_records
from engine.transfer.plan import ImportPlan, ParsedMemory, Planned, Problem, Progress, SecretSpot

GRAPHS = ("graph-json", "graph-jsonl")
LOG_LINES = 5
"""So many dated or alike lines on one entity are a log."""

NAME_CHARS = 200
NO_WORD = "related_to"
_DATED = re.compile(r"\W{0,3}(?:\d{4}[-./]\d\d?[-./]\d\d?|\d\d?[./]\d\d?[./]\d{4}|\d{4}年\d\d?月\d\d?日|\d\d?:\d\d\b)")
_DIGITS = re.compile(r"\d+")
_TYPES = {
    Type.USER: "user preference preferences user_preference 用户 用户偏好 使用者 使用者偏好 偏好",
    Type.PROJECT: "project 项目 專案 task 任务 任務",
    Type.FEEDBACK: "feedback correction rule 反馈 回饋 规则 規則",
}
TYPE_OF = {word: type_ for type_, words in _TYPES.items() for word in words.split()}


@dataclass(slots=True)
class _Entity:
    """An entity with everything that the file's records say of it."""

    line: int
    name: str
    type: str
    extra: dict[str, object]
    told: dict[str, Told] = field(default_factory=dict)
    twins: int = 0


@dataclass(slots=True)
class GraphImport:
    """Puts the records of one file together; `plan` gives what they come to."""

    path: Path
    gate: Gate = field(default_factory=AdmissionGate)
    entities: dict[str, _Entity] = field(default_factory=dict)
    relations: dict[tuple[str, str, str], RawRelation] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def take(self, record: RawEntity | RawRelation) -> None:
        """Add one record; twins are put together and the same sentence is taken once."""
        if isinstance(record, RawRelation):
            self.take_relation(record)
            return
        name = _name(record.name)
        entity = self.entities.get(fold(name))
        if entity is None:
            entity = self.entities[fold(name)] = _Entity(record.line, name, record.type, dict(record.extra))
        else:
            entity.twins += 1
            entity.line = record.line
            entity.type = entity.type or record.type
            entity.extra = {**record.extra, **entity.extra}
        for told in record.observations:
            at = told.at_ms if told.at_ms is not None else record.made_ms
            entity.told.setdefault(fingerprint_text(told.text), Told(told.text, at))

    def take_relation(self, record: RawRelation) -> None:
        """Add a relation, one without a word under a neutral one; the same one again adds only what it knows more."""
        relation = replace(
            record, subject=_name(record.subject), end=_name(record.end), relation=_name(record.relation)
        )
        if not relation.relation:
            self.problem(record.line, "mapped", f"a relation of {relation.subject} has no word", f"taken as {NO_WORD}")
            relation = replace(relation, relation=NO_WORD)
        if None not in (ends := (relation.valid_from, relation.valid_to)) and ends[0] >= ends[1]:  # type: ignore[operator]
            self.problem(record.line, "date", f"a relation of {relation.subject} ends before it begins", "end left out")
            relation = replace(relation, valid_to=None)
        key = (fold(relation.subject), normal_relation(relation.relation), fold(relation.end))
        self.relations[key] = _joined(self.relations[key], relation) if key in self.relations else relation

    def problem(self, line: int, kind: str, message: str, recovered: str = "") -> None:
        """Add a line to the report, without what looks like a secret."""
        spans = self.gate.find_secrets(message)
        self.problems.append(
            Problem(self.path.name, line, kind, self.gate.redact(message, spans) if spans else message, recovered)
        )

    def plan(self, form: str) -> ImportPlan:
        """Return everything that the file comes to."""
        made_up = self.dangling()
        for entity in self.entities.values():
            count = len(entity.told)
            if entity.twins:
                many = f"{entity.name} stands there {entity.twins + 1} times, with {count} different observations"
                self.problem(entity.line, "merged", many, "put together as one entity")
            if not count:
                self.problem(entity.line, "no_observations", f"{entity.name} has no observation", "kept as an entity")
        memories = [m for entity in self.entities.values() for m in self.described(entity)]
        memories += [self.related(relation) for relation in self.relations.values()]
        declared = [self.declared(entity) for entity in self.entities.values()]
        declared += [self.declared(_Entity(0, name, "", {}), made_up=True) for name in made_up]
        return ImportPlan(
            root=str(self.path),
            format=form,
            files=1,
            memories=tuple(memories),
            problems=tuple(sorted(self.problems, key=lambda item: item.line)),
            entities=tuple(entity for entity in declared if entity is not None),
            counts={
                "entities": len(self.entities) + len(made_up),
                "observations": sum(len(entity.told) for entity in self.entities.values()),
                "relations": len(self.relations),
            },
        )

    def dangling(self) -> list[str]:
        """Return the ends of relations that no record describes, each with a line in the report."""
        found: dict[str, str] = {}
        for relation in self.relations.values():
            for name in (relation.subject, relation.end):
                if fold(name) not in self.entities and fold(name) not in found:
                    found[fold(name)] = name
                    why = f"{name} is named by a relation and described nowhere"
                    self.problem(relation.line, "dangling_end", why, "made up as an entity")
        return list(found.values())

    def declared(self, entity: _Entity, *, made_up: bool = False) -> Declared | None:
        """Return what is recorded of an entity itself; nothing that holds a secret or orders (C7)."""
        if not self.is_clean(entity.name):
            return None
        type_, extra = entity.type, entity.extra
        if not self.is_clean(f"{type_}\n{json.dumps(extra, ensure_ascii=False, default=str)}"):
            self.problem(entity.line, "refused", f"more about {entity.name} holds a secret or orders", "left out")
            type_, extra = "", {}
        return Declared(entity.name, clip(" ".join(type_.split()), 60), extra, made_up)

    def is_clean(self, text: str) -> bool:
        """Tell whether a text holds neither a secret nor orders."""
        return not self.gate.find_secrets(text) and self.gate.refusal(text) != "injection"

    def described(self, entity: _Entity) -> Iterator[ParsedMemory]:
        """Yield a memory for each observation of an entity, and one for all lines of a log."""
        log = log_lines(list(entity.told.values()))
        kind = TYPE_OF.get(fold(entity.type).strip(), Type.REFERENCE)
        for key, told in entity.told.items():
            if told in log:
                continue
            yield self.checked(
                _memory(
                    f"{entity.name}/{_digest(key)[:12]}", kind, entity.type, description=f"{entity.name}: {told.text}",
                    subject=entity.name, mentions=(entity.name,), dated_at=told.at_ms or 0,
                ),
                entity.line,
            )  # fmt: skip
        if log:
            body = "\n".join(f"- {' '.join(told.text.split())}" for told in log)
            about = f"{entity.name}: {len(log)} lines, from “{one_line(log[0].text, 60)}”"
            about += f" to “{one_line(log[-1].text, 60)}”"
            yield self.checked(
                _memory(
                    f"{entity.name}/log", kind, entity.type, description=about, body=body, kind=Kind.NOTE,
                    name=entity.name, subject=entity.name, mentions=(entity.name,), made_up=("description",),
                    dated_at=max((told.at_ms or 0 for told in log), default=0),
                ),
                entity.line,
            )  # fmt: skip

    def related(self, relation: RawRelation) -> ParsedMemory:
        """Return the memory of a relation, with its triple, its validity and its weight."""
        words = relation.relation.replace("_", " ")
        triple = Triple(relation.subject, relation.relation, relation.end, weight=relation.weight)
        memory = _memory(
            f"{relation.subject} –{relation.relation}→ {relation.end}", Type.REFERENCE, "",
            description=statement(relation.subject, words, relation.end), subject=relation.subject,
            triples=(triple,), dated_at=relation.made_ms or 0, valid_from=relation.valid_from,
            valid_to=relation.valid_to,
            extra={**relation.extra, **({} if relation.weight is None else {"weight": relation.weight})},
        )  # fmt: skip
        return self.checked(memory, relation.line)

    def checked(self, memory: ParsedMemory, line: int) -> ParsedMemory:
        """Pass a memory through the checks: a secret is taken out and the rest held back, orders are quarantined."""
        stated = f"{memory.description}\n{memory.body}\n{json.dumps(memory.extra, ensure_ascii=False, default=str)}"
        spans = self.gate.find_secrets(stated)
        if spans:
            self.problems += [
                Problem(
                    self.path.name, line, "secret", span.kind, "held back until the owner accepts the redacted text"
                )
                for span in spans
            ]
            return self.without_secrets(memory, tuple(SecretSpot(self.path.name, line, s.kind) for s in spans))
        if self.gate.refusal(stated) == "injection":
            self.problem(line, "injection", "carries orders to an agent", "quarantined")
            return replace(memory, state=Planned.QUARANTINED, state_reason="injection")
        return memory

    def without_secrets(self, memory: ParsedMemory, spots: tuple[SecretSpot, ...]) -> ParsedMemory:
        """Return a memory that waits with redacted text and without anything else that may hold the secret."""
        texts = [
            self.gate.redact(text, self.gate.find_secrets(text)) if self.gate.find_secrets(text) else text
            for text in (memory.description, memory.body)
        ]
        clean = self.is_clean(memory.subject)
        return replace(
            memory, description=texts[0], body=texts[1], name="", subject=memory.subject if clean else "",
            mentions=memory.mentions if clean else (), triples=(), extra={}, state=Planned.HELD,
            state_reason="secret", secrets=spots, source_path=f"graph#{_digest(memory.source_path)[:16]}",
        )  # fmt: skip


def log_lines(told: Sequence[Told]) -> list[Told]:
    """Return the observations of an entity that are lines of a log: dated, or alike but for their numbers."""
    shapes = Counter(_DIGITS.sub("0", t.text) for t in told)
    found = [t for t in told if _DATED.match(t.text) or shapes[_DIGITS.sub("0", t.text)] >= LOG_LINES]
    return found if len(found) >= LOG_LINES else []


def plan_graph(
    path: Path,
    form: str,
    *,
    gate: Gate | None = None,
    progress: Progress | None = None,
    zone: tzinfo | None = None,
) -> ImportPlan:
    """Read a knowledge graph file of a form of GRAPHS into a plan; `progress` counts bytes."""
    graph = GraphImport(path, gate or AdmissionGate())
    with path.open("rb") as file:
        first = file.readline(WHOLE_LIMIT).lstrip(b"\xef\xbb\xbf \t\r\n").rstrip()
    # A lone bracket opens one value that is spread over lines, in whichever form its head was recognised.
    whole = form == "graph-json" or first.startswith(b"[") or first == b"{"
    for record in read_records(path, graph.problems, whole=whole, zone=zone, progress=progress):
        graph.take(record)
    if not graph.entities and not graph.relations:
        graph.problem(0, "nothing", "no entity and no relation in it")
    return graph.plan(form)


def _memory(
    key: str,
    type_: Type,
    word: str,
    *,
    description: str,
    subject: str,
    body: str = "",
    kind: Kind = Kind.FACT,
    name: str = "",
    mentions: tuple[str, ...] = (),
    triples: tuple[Triple, ...] = (),
    made_up: tuple[str, ...] = (),
    dated_at: int = 0,
    valid_from: int | None = None,
    valid_to: int | None = None,
    extra: Mapping[str, object] | None = None,
) -> ParsedMemory:
    """Return a memory of a graph: named by what it says, so that the same file elsewhere is the same graph."""
    stated = [type_, word, description, body, subject, str(triples), dated_at, valid_from, valid_to, extra]
    return ParsedMemory(
        source_path=f"graph#{key}", workspace=None, name=name, description=description, body=body, type=type_,
        type_word=word, kind=kind, subject=subject, mentions=mentions, triples=triples, made_up=made_up,
        dated_at=dated_at, dated_by="record" if dated_at else "file", valid_from=valid_from, valid_to=valid_to,
        extra=extra or {}, sha256=_digest(json.dumps(stated, ensure_ascii=False, default=str)),
    )  # fmt: skip


def _joined(one: RawRelation, other: RawRelation) -> RawRelation:
    """Return a relation with what either of its records says; the first one wins."""
    return replace(
        one,
        made_ms=one.made_ms if one.made_ms is not None else other.made_ms,
        valid_from=one.valid_from if one.valid_from is not None else other.valid_from,
        valid_to=one.valid_to if one.valid_to is not None else other.valid_to,
        weight=one.weight if one.weight is not None else other.weight,
        extra={**other.extra, **one.extra},
    )


def _name(text: str) -> str:
    return " ".join(text.split())[:NAME_CHARS]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
