"""A store in memory with the façade's signatures, for the widgets' own tests."""

from __future__ import annotations

from array import array
from dataclasses import replace
from pathlib import Path

from engine.model.enums import Authority, Kind, Origin, Scope, State, Status
from engine.model.errors import not_found
from engine.model.memory import NOW, Filter, Memory, WriteResult
from engine.model.records import Counts, Operation


def memory(number: int, text: str, **other: object) -> Memory:
    values: dict[str, object] = dict(
        id=number, uid=f"{number:032x}", revision=1, name="", description=text, body="", kind=Kind.FACT, type=None,
        aliases=(), tags=(), topics=(), subject="", valid_from=0, valid_to=None, known_from=number, known_to=None,
        known_from_ms=0, known_to_ms=None, recorded_ms=1_760_000_000_000 + number * 60_000, dated_at=None,
        scope=Scope.GLOBAL, scope_key=None, thread=None, seq=None, source="user", origin=Origin.AGENT, actor="claude-code",
        authority=Authority.REPORTED, confidence=1.0, speculative=False, manually_corrected=False,
        status=Status.COMPLETED, state=State.ACTIVE, cause="", target=None, locked=False, baseline=False,
        baseline_priority=0, scene="", scene_sub="", perception={}, extra={},
    )  # fmt: skip
    return Memory(**{**values, **other})  # type: ignore[arg-type]


class FakeEngine:
    """Holds memories in a dict and a journal of (operation, what it replaced)."""

    def __init__(self, store_dir: Path, texts: list[str]) -> None:
        self.store_dir = store_dir
        self.read_only = False
        self.memories = {n: memory(n, text) for n, text in enumerate(texts, 1)}
        self.operations: list[Operation] = []
        self.before: dict[int, dict[int, Memory | None]] = {}

    def close(self): ...
    def interrupt(self): ...

    def change_token(self):
        return (1, len(self.operations))

    def _log(self, kind, ids, undoes=None):
        op = len(self.operations) + 1
        self.operations.append(
            Operation(op, 1_760_000_000_000, kind, Origin.TUI, "owner", None, None, "", f"{kind} {ids}", None, undoes,
                      None, tuple(f"mem-{i}" for i in ids))
        )  # fmt: skip
        return op

    def remember(self, by, draft, *, replaces=None, was="outdated", key=None):
        number = max(self.memories, default=0) + 1
        op = self._log("remember", [number])
        self.before[op] = {number: None}
        self.memories[number] = memory(number, draft.text, body=draft.body, origin=by.origin, actor=by.actor)
        return WriteResult(f"mem-{number}@1", number, 1, "active", op)

    def forget(self, by, refs, *, how="forget", reason="", key=None):
        ids = [int(ref.split("-")[1].split("@")[0]) for ref in refs]
        op = self._log(how, ids)
        self.before[op] = {i: self.memories[i] for i in ids}
        state = {"forget": State.DELETED, "archive": State.ARCHIVED, "restore": State.ACTIVE}[how]
        for i in ids:
            self.memories[i] = replace(self.memories[i], state=state)
        return [WriteResult(f"mem-{i}@1", i, 1, state.value, op) for i in ids]

    def undo(self, by, op=None, *, run=None, rest=False):
        undone = {o.undoes for o in self.operations}
        left = [o.op for o in self.operations if o.op not in undone and o.undoes is None]
        op = op or (left[-1] if left else None)
        if op is None:
            raise not_found("an operation to undo")
        for i, was in self.before[op].items():
            if was is None:
                del self.memories[i]
            else:
                self.memories[i] = was
        self._log("undo", list(self.before[op]), op)
        return type("UndoResult", (), {"op": len(self.operations), "undone": (op,), "objects": (), "left": ()})()

    def memory_ids(self, by, flt=Filter(), *, as_of=NOW, order="newest"):
        states = flt.states or (State.ACTIVE,)
        return array("q", sorted((i for i, m in self.memories.items()
                                  if m.state in states and flt.text in m.description), reverse=True))  # fmt: skip

    def memory_rows(self, by, ids, *, as_of=NOW, bodies=False):
        return [self.memories[i] for i in ids if i in self.memories]

    def counts(self, by):
        return Counts(len(self.memory_ids(by)), 0, 0, 0, 0, 0)

    def log(self, *, limit=50, before=None, memory=None, owner_only=False):
        return [o for o in reversed(self.operations) if before is None or o.op < before][:limit]

    def operation(self, op):
        return self.operations[op - 1], []

    def settings(self):
        return []
