"""Writing what an importer planned: in batches, resumable, idempotent, one undo takes all of it back (S72)."""

from __future__ import annotations

import base64
import secrets
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path

from engine.model.clock import iso
from engine.model.enums import Kind, Origin, ReviewKind, Scope, State, Type
from engine.model.errors import MemdeckError
from engine.model.memory import Caller, Draft
from engine.model.records import ImportReport
from engine.rules.admission import Checks
from engine.store.facts import Declared, close_facts, declare, undeclared
from engine.store.memories import fingerprint_in, new_version, set_state
from engine.store.restore import replace_content
from engine.store.snapshots import make_snapshot
from engine.store.transaction import Tx
from engine.transfer.plan import ImportPlan, ParsedMemory, Planned, Problem
from engine.transfer.whole import build_database
from engine.usecases.beginning import begin, quarantine, state_facts
from engine.usecases.changing import require_owner
from engine.usecases.desk import Desk, reload
from engine.usecases.drafts import Prepared, gate, prepare
from engine.usecases.replacing import close_validity
from engine.usecases.tag_links import tag_memory

BATCH = 400
"""Memories per operation: a crash loses at most one batch, and the next run goes on behind it."""
FORGOTTEN = ("forgotten", "it was forgotten or rejected before and stays out")
Progress = Callable[[int, int], None]


class _Fate(StrEnum):
    """What becomes of a file; every file that is read as a memory has exactly one."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    HELD = "held_back"
    QUARANTINED = "quarantined"
    BLOCKED = "blocked"
    REFUSED = "refused"


@dataclass(frozen=True)
class _Known:
    """The memory that a file became before, whether the file is the same since, and whether the memory is its alone."""

    id: int
    same: bool
    state: State
    fingerprint: bytes
    edited: bool


@dataclass(frozen=True)
class _Judged:
    """A file with what becomes of it, and the report's line (kind, message) where it needs one."""

    memory: ParsedMemory
    fate: _Fate
    known: _Known | None = None
    prepared: Prepared | None = None
    print_: bytes = b""
    why: tuple[str, str] = ("", "")


@dataclass
class _Run:
    """An import, real or tried: its numbers so far, and which file became which memory."""

    name: str
    root: str
    by: Caller
    checks: Checks
    now: int
    numbers: Counter[_Fate] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    problems: list[Mapping[str, object]] = field(default_factory=list)
    by_path: dict[str, int] = field(default_factory=dict)
    forgotten: list[bytes] = field(default_factory=list)

    def count(self, judged: _Judged) -> None:
        """Note what became of a file."""
        self.numbers[judged.fate] += 1
        if judged.known is not None:
            self.by_path.setdefault(judged.memory.source_path, judged.known.id)
        if judged.fate is _Fate.BLOCKED:
            self.forgotten.append(judged.print_)
        if judged.fate is _Fate.CREATED and judged.prepared is not None:
            self.types[str(judged.prepared.columns["type"])] += 1
        kind, message = judged.why
        if kind:
            self.problems.append(_shown(Problem(judged.memory.source_path, 0, kind, message)))


def _start(desk: Desk, by: Caller, plan: ImportPlan, name: str = "") -> _Run:
    require_owner(by, "import")
    door = Caller(Origin.IMPORT, by.actor, by.session, by.workspace)
    problems: list[Mapping[str, object]] = [_shown(problem) for problem in plan.problems]
    return _Run(name, plan.root, door, gate(desk.settings, door), desk.store.clock.now_ms(), problems=problems)


def _report(plan: ImportPlan, run: _Run, *, dry_run: bool, snapshot: str | None = None) -> ImportReport:
    n = run.numbers
    return ImportReport(
        run=run.name if snapshot else None, dry_run=dry_run, files=plan.files, created=n[_Fate.CREATED],
        updated=n[_Fate.UPDATED], unchanged=n[_Fate.UNCHANGED], held_back=n[_Fate.HELD],
        quarantined=n[_Fate.QUARANTINED], blocked=n[_Fate.BLOCKED], skipped=plan.skipped,
        refused=plan.refused + n[_Fate.REFUSED], indexes=plan.indexes, by_type=dict(run.types),
        problems=tuple(run.problems), snapshot=snapshot, graph=plan.counts,
    )  # fmt: skip


def _shown(problem: Problem) -> dict[str, object]:
    return {
        "file": problem.file, "line": problem.line, "kind": problem.kind, "message": problem.message,
        "recovered": problem.recovered,
    }  # fmt: skip


def preview(desk: Desk, by: Caller, plan: ImportPlan, progress: Progress | None = None) -> ImportReport:
    """Return what an import would do to the store as it is now, without writing anything."""
    run = _start(desk, by, plan)
    with desk.store.read() as conn:
        for done, memory in enumerate(plan.memories, 1):
            run.count(_judge(conn, run, memory))
            if progress and (done % BATCH == 0 or done == len(plan.memories)):
                progress(done, len(plan.memories))
    return _report(plan, run, dry_run=True)


def run_import(desk: Desk, by: Caller, plan: ImportPlan, progress: Progress | None = None) -> ImportReport:
    """Write a plan into the store, after a snapshot when anything is new. What is unchanged is left as it is.

    A file whose content was forgotten stays forgotten; a file that changed becomes the next version, unless the
    memory was edited in memdeck meanwhile, or the file now holds a secret or orders: then its text waits in review.
    """
    run = _start(desk, by, plan)
    if not plan.memories and not plan.entities:
        return _report(plan, run, dry_run=False)
    run.name = _run_name(desk, plan.root)
    keep = desk.settings.number("snapshots.keep_runs")
    snapshot = None
    if new := _undeclared(desk, plan):
        snapshot = make_snapshot(desk.store, kind="run", reason=f"before importing {plan.root}", keep=keep).name
        with desk.store.write(run.by, "import", run=run.name, source=plan.format) as tx:
            declare(tx, new)
            tx.describe(f"declared {len(new)} entities from {plan.root}")
    total = len(plan.memories)
    for start in range(0, total, BATCH):
        batch = _changed(desk, run, plan.memories[start : start + BATCH])
        if batch and snapshot is None:
            snapshot = make_snapshot(desk.store, kind="run", reason=f"before importing {plan.root}", keep=keep).name
        if batch:
            with desk.store.write(run.by, "import", run=run.name, source=plan.format) as tx:
                run.now = tx.at
                for memory in batch:
                    _take(tx, run, _judge(tx.conn, run, memory))
                what = "statements" if plan.counts else "files"
                tx.describe(f"imported {len(batch)} {what} from {plan.root}")
        if progress:
            progress(min(start + BATCH, total), total)
    _settle(desk, run, plan)
    _finish(desk, run, plan.root)
    return _report(plan, run, dry_run=False, snapshot=snapshot)


def _undeclared(desk: Desk, plan: ImportPlan) -> list[Declared]:
    """Return the entities of a graph of which the store does not know yet what the file says."""
    with desk.store.read() as conn:
        return undeclared(conn, plan.entities)


def _run_name(desk: Desk, root: str) -> str:
    """Return the run that an interrupted import of the same root began, or a new name."""
    with desk.store.exclusive() as conn:
        row = conn.execute("SELECT value FROM cursors WHERE name = ?", (f"import:{root}",)).fetchone()
        if row:
            return str(row[0])
        stamp = iso(desk.store.clock.now_ms())[:19].replace("-", "").replace(":", "").replace("T", "-")
        name = f"{stamp}-{secrets.token_hex(2)}"
        conn.execute("INSERT INTO cursors (name, value) VALUES (?, ?)", (f"import:{root}", name))
    return name


def _finish(desk: Desk, run: _Run, root: str) -> None:
    """Count what stayed out because it was forgotten, and begin a new run the next time."""
    now = desk.store.clock.now_ms()
    with desk.store.exclusive() as conn:
        conn.execute("BEGIN IMMEDIATE")
        conn.executemany(
            "INSERT INTO blocked (fingerprint, times, last_at, origin) VALUES (?, 1, ?, 'import')"
            " ON CONFLICT (fingerprint) DO UPDATE SET times = times + 1, last_at = excluded.last_at",
            [(print_, now) for print_ in run.forgotten],
        )
        conn.execute("DELETE FROM cursors WHERE name = ?", (f"import:{root}",))
        conn.execute("COMMIT")


def _changed(desk: Desk, run: _Run, batch: Sequence[ParsedMemory]) -> list[ParsedMemory]:
    """Return the files of a batch that are new or changed; the others are counted and cost no operation."""
    changed = []
    with desk.store.read() as conn:
        for memory in batch:
            known = _known(conn, run.root, memory)
            if known is not None and known.same:
                run.count(_same(memory, known))
            else:
                changed.append(memory)
    return changed


def _judge(conn: sqlite3.Connection, run: _Run, memory: ParsedMemory) -> _Judged:
    """Say what becomes of a file in the store as `conn` sees it."""
    known = _known(conn, run.root, memory)
    if known is not None and known.same:
        return _same(memory, known)
    try:
        prepared = prepare(draft_of(memory, run.root), run.by, run.checks, run.now)
    except MemdeckError as error:
        return _Judged(memory, _Fate.REFUSED, known, why=(error.code, error.message))
    print_ = fingerprint_in(conn, prepared.text, prepared.body)
    prepared.columns["fingerprint"] = print_
    judged = partial(_Judged, memory, known=known, prepared=prepared, print_=print_)
    if conn.execute("SELECT 1 FROM tombstones WHERE fingerprint = ? AND op_to IS NULL", (print_,)).fetchone():
        return judged(_Fate.BLOCKED, why=FORGOTTEN)
    if known is not None and known.state not in (State.ACTIVE, State.ARCHIVED, State.SUPERSEDED):
        return judged(_Fate.UNCHANGED)
    if memory.state is Planned.HELD:
        return judged(_Fate.HELD)
    if memory.state is Planned.QUARANTINED or prepared.verdict.check == "injection":
        return judged(_Fate.QUARANTINED)
    if known is None:
        return judged(_Fate.CREATED)
    if known.edited:
        why = f"mem-{known.id} was edited in memdeck; the file's text waits in review"
        return judged(_Fate.QUARANTINED, why=("edited_here", why))
    return judged(_Fate.UPDATED)


def _same(memory: ParsedMemory, known: _Known) -> _Judged:
    if known.state is State.DELETED:
        return _Judged(memory, _Fate.BLOCKED, known, print_=known.fingerprint, why=FORGOTTEN)
    return _Judged(memory, _Fate.UNCHANGED, known)


def _take(tx: Tx, run: _Run, judged: _Judged) -> None:
    """Carry out what was judged."""
    memory, known, prepared = judged.memory, judged.known, judged.prepared
    run.count(judged)
    if prepared is None:
        return
    if judged.fate is _Fate.CREATED:
        run.by_path[memory.source_path] = begin(tx, prepared, State.ACTIVE, "").id
    elif judged.fate is _Fate.UPDATED and known is not None:
        _update(tx, known.id, prepared, memory)
    elif judged.fate in (_Fate.HELD, _Fate.QUARANTINED):
        run.by_path.setdefault(memory.source_path, _set_aside(tx, run, judged, prepared))


def _set_aside(tx: Tx, run: _Run, judged: _Judged, prepared: Prepared) -> int:
    """Let a text wait in review, in place of the memory that the file became before; returns its number."""
    memory = judged.memory
    target = reload(tx, judged.known.id) if judged.known is not None else None
    evidence: dict[str, object] = {"file": memory.source_path}
    if judged.fate is _Fate.HELD:
        cause, kind = "secret", ReviewKind.HELD_BACK
        evidence = {"spots": [{"file": memory.source_path, "line": s.line, "kind": s.kind} for s in memory.secrets]}
    elif judged.why[0] == "edited_here":
        cause, kind = "authority", ReviewKind.AUTHORITY
    else:
        cause, kind = "injection", ReviewKind.QUARANTINE
    return quarantine(tx, run.by, prepared, cause, kind, target=target, was="wrong", evidence=evidence).id


def _known(conn: sqlite3.Connection, root: str, memory: ParsedMemory) -> _Known | None:
    """Return the memory that this file became before.

    The same bytes under the same relative path are the same file, wherever the directory stands now.
    """
    rows = conn.execute(
        "SELECT v.memory_id, json_extract(v.extra, '$.sha256'), json_extract(v.extra, '$.root'), s.state,"
        " v.fingerprint, v.origin <> 'import' OR v.manually_corrected FROM versions v"
        " JOIN states s ON s.memory_id = v.memory_id AND s.op_to IS NULL"
        " WHERE v.op_to IS NULL AND json_extract(v.extra, '$.source_path') = ?"
        " AND json_extract(v.extra, '$.workspace') IS ? ORDER BY v.vid DESC",
        (memory.source_path, memory.workspace),
    ).fetchall()
    for same in (True, False):
        for memory_id, digest, where, state, print_, edited in rows:
            if (digest == memory.sha256) if same else (where == root):
                return _Known(memory_id, same, State(state), print_, bool(edited))
    return None


def _update(tx: Tx, memory_id: int, prepared: Prepared, memory: ParsedMemory) -> None:
    columns = {k: v for k, v in prepared.columns.items() if k not in ("valid_from",) or memory.valid_from is not None}
    new_version(tx, memory_id, {**columns, "description": prepared.text, "body": prepared.body})
    if memory.triples or memory.mentions:
        close_facts(tx, memory_id, keep=memory.triples, mentions=memory.mentions)
        state_facts(tx, memory_id, prepared)
    tag_memory(tx, memory_id, prepared.draft.tags)


def draft_of(memory: ParsedMemory, root: str) -> Draft:
    """Return what is to be remembered of a parsed file; everything that has no field of its own goes into `extra`."""
    extra: dict[str, object] = {
        "source_path": memory.source_path, "root": root, "workspace": memory.workspace, "sha256": memory.sha256,
        "keys": dict(memory.extra), "header": memory.header_text, "eol": memory.eol, "bom": memory.bom,
        "encoding": memory.encoding, "hooks": list(memory.hooks), "type_word": memory.type_word, "title": memory.title,
        "made_up": list(memory.made_up), "links": [link.target for link in memory.links], "persona": memory.persona,
        "status": memory.status, "mtime": memory.file_mtime,
    }  # fmt: skip
    if memory.raw is not None and memory.state != Planned.HELD:
        extra["raw"] = base64.b64encode(memory.raw).decode("ascii")
    return Draft(
        text=memory.description, body=memory.body, name=memory.name, kind=Kind(memory.kind), type=Type(memory.type),
        aliases=memory.aliases, tags=memory.tags, valid_from=memory.valid_from, valid_to=memory.valid_to,
        dated_at=memory.dated_at or None, scope=Scope.WORKSPACE if memory.workspace else Scope.GLOBAL,
        scope_key=memory.workspace, baseline=memory.baseline, baseline_priority=memory.baseline_priority or 0,
        subject=memory.subject, triples=memory.triples, mentions=memory.mentions, extra=extra,
    )  # fmt: skip


def _settle(desk: Desk, run: _Run, plan: ImportPlan) -> None:
    """Archive and supersede what the files say, once every file has its memory."""
    wanted = [
        m for m in plan.memories if m.state in (Planned.ARCHIVED, Planned.SUPERSEDED) and m.source_path in run.by_path
    ]
    if not wanted or not (run.numbers[_Fate.CREATED] or run.numbers[_Fate.UPDATED]):
        return
    with desk.store.write(run.by, "import", run=run.name, source=plan.format) as tx:
        for parsed in wanted:
            old = reload(tx, run.by_path[parsed.source_path], bodies=False)
            if old.state is not State.ACTIVE:
                continue
            successor = run.by_path.get(parsed.superseded_by or "")
            if parsed.state == Planned.SUPERSEDED and successor:
                new = reload(tx, successor, bodies=False)
                close_validity(tx, old, successor, new.valid_from)
            elif parsed.state == Planned.ARCHIVED:
                set_state(tx, old.id, State.ARCHIVED, parsed.state_reason or "archived in its source")
        tx.describe(f"settled {len(wanted)} archived or superseded files")


def replace_whole(desk: Desk, by: Caller, path: Path, *, dry_run: bool) -> ImportReport:
    """Replace the store by a whole export, after a protection snapshot; the journal until now stays readable (C43)."""
    require_owner(by, "replace the store")
    with tempfile.TemporaryDirectory(dir=desk.store.directory, prefix=".import-") as folder:
        built = Path(folder) / "built.db"
        memories = build_database(path, built)
        snapshot = None
        if not dry_run:
            snapshot = replace_content(desk.store, built, by, f"import of {path.name}").protection
    return ImportReport(
        run=None, dry_run=dry_run, files=1, created=memories, updated=0, unchanged=0, held_back=0, quarantined=0,
        blocked=0, skipped=0, by_type={}, problems=(), snapshot=snapshot,
    )  # fmt: skip
