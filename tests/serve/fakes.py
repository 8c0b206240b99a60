"""An engine in memory with the façade's signatures, and the same doors as the real one for subprocesses."""

from __future__ import annotations

import os
import sys
import threading
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

from engine.model.enums import Authority, Kind, Mode, Origin, Scope, State, Status
from engine.model.errors import MemdeckError, not_found
from engine.model.ids import require_ref
from engine.model.memory import (
    Caller,
    Draft,
    Hit,
    Memory,
    Page,
    RecallPage,
    RecallQuery,
    WriteResult,
)
from engine.model.records import ContextPack

NOW_MS = 1_780_000_000_000


@dataclass(frozen=True)
class MatchPlan:
    """What `match` found."""

    confirm: str
    refs: tuple[str, ...]
    total: int


class FakeEngine:
    """Keeps memories in a list and the callers and queries that it saw; `nap` slows every call down."""

    read_only = False

    def __init__(self, store_dir: Path, nap: float = 0.0) -> None:
        self.store_dir = store_dir
        self.nap = nap
        self.memories: dict[int, Memory] = {}
        self.callers: list[Caller] = []
        self.drafts: list[Draft] = []
        self.queries: list[RecallQuery] = []
        self.calls: list[tuple[str, dict[str, object]]] = []
        self.keys: dict[str, WriteResult] = {}
        self.plans: dict[str, tuple[str, ...]] = {}
        self.interrupted = threading.Event()
        self._lock = threading.Lock()

    def __enter__(self) -> FakeEngine:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def now_ms(self) -> int:
        return NOW_MS

    def setting(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(value=False)

    def resume_jobs(self) -> None:
        pass

    def interrupt(self) -> None:
        self.interrupted.set()

    def _seen(self, by: Caller, name: str, **kw: object) -> None:
        self.callers.append(by)
        self.calls.append((name, kw))
        if self.nap:
            print(f"napping in {name}", file=sys.stderr, flush=True)
            self.interrupted.wait(self.nap)

    def remember(
        self, by: Caller, draft: Draft, *, replaces: str | None = None, was: str = "outdated", key: str | None = None
    ) -> WriteResult:
        self._seen(by, "remember", replaces=replaces, was=was, key=key)
        self.drafts.append(draft)
        if draft.text == "boom":
            raise RuntimeError("secret text of a memory")
        if draft.text == "收到":
            raise MemdeckError("refused_noise", "this says nothing\nto remember", "leave it")
        if key and key in self.keys:
            return self.keys[key]
        with self._lock:
            id = len(self.memories) + 1
            self.memories[id] = memory(id, draft.text, draft.body, scope_key=by.workspace)
        state = "pending" if replaces == "mem-1@9" else "active"
        result = WriteResult(f"mem-{id}@1", id, 1, state, op=id)
        if key:
            self.keys[key] = result
        return result

    def forget(self, by: Caller, refs: Sequence[str], *, how: str = "forget", reason: str = "") -> list[WriteResult]:
        self._seen(by, "forget", refs=refs, how=how, reason=reason)
        return [self._drop(ref) for ref in refs]

    def _drop(self, ref: str) -> WriteResult:
        id = require_ref(ref).id
        if id not in self.memories:
            raise not_found(ref)
        old = self.memories.pop(id)
        return WriteResult(f"mem-{id}@{old.revision + 1}", id, old.revision + 1, "deleted", op=99)

    def match(self, by: Caller, criteria: Mapping[str, str], *, how: str = "forget") -> MatchPlan:
        self._seen(by, "match", criteria=criteria, how=how)
        refs = tuple(m.ref for m in self.memories.values())
        self.plans["code-1"] = refs
        return MatchPlan("code-1", refs, len(refs))

    def forget_matched(
        self, by: Caller, criteria: Mapping[str, str], confirm: str, *, how: str = "forget", reason: str = ""
    ) -> list[WriteResult]:
        self._seen(by, "forget_matched", criteria=criteria, confirm=confirm, how=how, reason=reason)
        if confirm not in self.plans:
            raise not_found(f"the confirm code {confirm}")
        return [self._drop(ref) for ref in self.plans.pop(confirm)]

    def recall(self, by: Caller, query: RecallQuery) -> RecallPage:
        self._seen(by, "recall")
        self.queries.append(query)
        words = query.text.lower().split()
        found = [m for m in self.memories.values() if any(w in m.description.lower() for w in words)]
        if query.mode is Mode.ARCHIVED:
            found = []
        start = int(query.cursor or 0)
        page = found[start : start + query.limit]
        more = start + query.limit < len(found)
        hits = tuple(Hit(m, 1.0, f"word {words[0]}", parts={"text": {"rank": 1}}) for m in page)
        return RecallPage(hits, len(found), str(start + query.limit) if more else None)

    def read(self, by: Caller, ref: str, *, part: str = "body", start_line: int = 1, max_bytes: int = 8192) -> Page:
        self._seen(by, "read", ref=ref, part=part, start_line=start_line, max_bytes=max_bytes)
        wanted = require_ref(ref)
        found = self.memories.get(wanted.id)
        if found is None:
            raise not_found(ref)
        if wanted.revision not in (None, found.revision):
            raise MemdeckError("revision_changed", f"{ref} was edited since", f"read {found.ref}")
        lines = found.body.split("\n")
        taken: list[str] = []
        for line in lines[start_line - 1 :]:
            if taken and len(chr(10).join([*taken, line]).encode()) > max_bytes:
                break
            taken.append(line)
        end = start_line - 1 + len(taken)
        following = end + 1 if end < len(lines) else None
        return Page(found.ref, part, "\n".join(taken), start_line, end, len(lines), len(found.body), following, found)

    def context(self, by: Caller, question: str = "", *, max_tokens: int | None = None) -> ContextPack:
        self._seen(by, "context", question=question, max_tokens=max_tokens)
        return ContextPack("# Memory\n- [mem-1] green tea", (("core", 9),), (1,), (), 9)

    def status(self, by: Caller, view: str = "stats") -> dict[str, object]:
        self._seen(by, "status", view=view)
        print("a stray print", flush=True)
        if view == "topics":
            return {"topics": [f"topic {n}" for n in range(25)]}
        return {"memories": len(self.memories), "who": by.actor, "workspace": by.workspace, "session": by.session}

    def memory_ids(self, by: Caller) -> array[int]:
        return array("q", self.memories)

    def edit(self, id: int, body: str) -> None:
        old = self.memories[id]
        self.memories[id] = replace(old, body=body, revision=old.revision + 1)


def memory(id: int, text: str, body: str = "", **changes: object) -> Memory:
    """Make a current memory."""
    made = Memory(
        id=id,
        uid=f"{id:032x}",
        revision=1,
        name="",
        description=text,
        body=body,
        kind=Kind.FACT,
        type=None,
        aliases=(),
        tags=(),
        topics=(),
        subject="",
        valid_from=NOW_MS,
        valid_to=None,
        known_from=id,
        known_to=None,
        known_from_ms=NOW_MS,
        known_to_ms=None,
        recorded_ms=NOW_MS,
        dated_at=None,
        scope=Scope.WORKSPACE,
        scope_key=None,
        thread=None,
        seq=None,
        source="me",
        origin=Origin.AGENT,
        actor="t",
        authority=Authority.INFERRED,
        confidence=1.0,
        speculative=False,
        manually_corrected=False,
        status=Status.COMPLETED,
        state=State.ACTIVE,
        cause="",
        target=None,
        locked=False,
        baseline=False,
        baseline_priority=0,
        scene="",
        scene_sub="",
        perception={},
        extra={},
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def main() -> int:
    """Run the doors over a fake engine: `fakes.py STORE (--stdio | --socket PATH) [NAP]`."""
    import logging

    logging.basicConfig(stream=sys.stderr, level=logging.INFO)
    store, door, *rest = sys.argv[1:]
    engine = FakeEngine(Path(store), nap=float(rest[-1]) if rest and rest[-1].replace(".", "").isdigit() else 0.0)
    try:
        if door == "--stdio":
            from engine.serve.stdio import serve_stdio

            return serve_stdio(engine)  # type: ignore[arg-type]
        from engine.serve import server

        for name in ("DRAIN_S", "GRACE_S", "GREETING_S"):
            setattr(server, name, float(os.environ.get(f"FAKE_{name}", getattr(server, name))))
        if uid := os.environ.get("FAKE_PEER_UID"):
            server.peer_of = lambda sock: server.Peer(int(uid))
        engine.read_only = bool(os.environ.get("FAKE_READ_ONLY"))
        return server.serve_socket(engine, socket_path=Path(rest[0]))  # type: ignore[arg-type]
    except MemdeckError as error:
        print(error.message, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
