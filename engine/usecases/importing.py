"""Writing what an importer planned: in batches, resumable, idempotent, one undo takes all of it back (S72)."""

from __future__ import annotations

import base64
import secrets
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine.model.clock import iso
from engine.model.enums import Kind, Origin, ReviewKind, Scope, State, Type
from engine.model.errors import MemdeckError
from engine.model.memory import Caller, Draft
from engine.model.records import ImportReport
from engine.rules.admission import Checks
from engine.store.facts import Declared, close_facts, declare, undeclared
from engine.store.memories import fingerprint, new_version, set_state
from engine.store.restore import replace_content
from engine.store.snapshots import make_snapshot
from engine.store.transaction import Tx
from engine.transfer.plan import ImportPlan, ParsedMemory, Planned, Problem
from engine.transfer.whole import build_database
from engine.usecases.changing import require_owner
from engine.usecases.desk import Desk, reload
from engine.usecases.drafts import Prepared, gate, prepare
from engine.usecases.remembering import begin, close_validity, quarantine, state_facts
from engine.usecases.tag_links import tag_memory

BATCH = 400
"""Memories per operation: a crash loses at most one batch, and the next run goes on behind it."""
Progress = Callable[[int, int], None]


@dataclass
class _Run:
    """An import under way: its numbers so far, and which file became which memory."""

    name: str
    by: Caller
    checks: Checks
    numbers: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    problems: list[Mapping[str, object]] = field(default_factory=list)
    by_path: dict[str, int] = field(default_factory=dict)
    forgotten: list[bytes] = field(default_factory=list)


def preview(plan: ImportPlan) -> ImportReport:
    """Return what an import would do, without writing anything."""
    states = plan.by_state()
    waiting = states.get(Planned.HELD, 0) + states.get(Planned.QUARANTINED, 0)
    return ImportReport(
        run=None, dry_run=True, files=plan.files, created=len(plan.memories) - waiting, updated=0, unchanged=0,
        held_back=states.get(Planned.HELD, 0), quarantined=states.get(Planned.QUARANTINED, 0), blocked=0,
        skipped=plan.problems_by_kind().get("skipped", 0), by_type=plan.by_type(),
        problems=tuple(_shown(p) for p in plan.problems), graph=plan.counts,
    )  # fmt: skip


def _shown(problem: Problem) -> dict[str, object]:
    return {
        "file": problem.file, "line": problem.line, "kind": problem.kind, "message": problem.message,
        "recovered": problem.recovered,
    }  # fmt: skip


def run_import(desk: Desk, by: Caller, plan: ImportPlan, progress: Progress | None = None) -> ImportReport:
    """Write a plan into the store, after a snapshot when anything is new. What is unchanged is left as it is.

    A file whose content was forgotten stays forgotten; a file that changed becomes the next version, unless the
    memory was edited in memdeck meanwhile: then the file's text waits in review.
    """
    require_owner(by, "import")
    if not plan.memories and not plan.entities:
        return replace(preview(plan), dry_run=False)
    door = Caller(Origin.IMPORT, by.actor, by.session, by.workspace)
    keep = desk.settings.number("snapshots.keep_runs")
    snapshot = None
    run = _Run(_run_name(desk, plan.root), door, gate(desk.settings, door), problems=[_shown(p) for p in plan.problems])
    if new := _undeclared(desk, plan):
        snapshot = make_snapshot(desk.store, kind="run", reason=f"before importing {plan.root}", keep=keep).name
        with desk.store.write(door, "import", run=run.name, source=plan.format) as tx:
            declare(tx, new)
            tx.describe(f"declared {len(new)} entities from {plan.root}")
    total = len(plan.memories)
    for start in range(0, total, BATCH):
        batch = _changed(desk, run, plan.root, plan.memories[start : start + BATCH])
        if batch and snapshot is None:
            snapshot = make_snapshot(desk.store, kind="run", reason=f"before importing {plan.root}", keep=keep).name
        if batch:
            with desk.store.write(door, "import", run=run.name, source=plan.format) as tx:
                for memory in batch:
                    _take(desk, tx, run, plan.root, memory)
                what = "statements" if plan.counts else "files"
                tx.describe(f"imported {len(batch)} {what} from {plan.root}")
        if progress:
            progress(min(start + BATCH, total), total)
    _settle(desk, run, plan)
    _finish(desk, run, plan.root)
    n = run.numbers
    return ImportReport(
        run=run.name if snapshot else None, dry_run=False, files=plan.files, created=n["created"], updated=n["updated"],
        unchanged=n["unchanged"], held_back=n["held"], quarantined=n["quarantined"], blocked=n["blocked"],
        skipped=plan.problems_by_kind().get("skipped", 0), by_type=dict(run.types), problems=tuple(run.problems),
        snapshot=snapshot, graph=plan.counts,
    )  # fmt: skip


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


def _changed(desk: Desk, run: _Run, root: str, batch: Sequence[ParsedMemory]) -> list[ParsedMemory]:
    """Return the files of a batch that are new or changed; the others are counted and cost no operation."""
    changed = []
    with desk.store.read() as conn:
        for memory in batch:
            known = _known(conn, root, memory)
            if known is None or not known.same:
                changed.append(memory)
                continue
            run.by_path[memory.source_path] = known.id
            if known.state is State.DELETED:
                run.forgotten.append(known.fingerprint)
                _report_forgotten(run, memory)
            else:
                run.numbers["unchanged"] += 1
    return changed


@dataclass(frozen=True)
class _Known:
    """The memory that a file became before, and whether the file is the same since."""

    id: int
    same: bool
    state: State
    fingerprint: bytes


def _take(desk: Desk, tx: Tx, run: _Run, root: str, memory: ParsedMemory) -> None:
    known = _known(tx.conn, root, memory)
    try:
        prepared = prepare(draft_of(memory, root), run.by, run.checks, tx.at)
    except MemdeckError as error:
        run.numbers["refused"] += 1
        _note(run, memory, error.code, error.message)
        return
    print_ = fingerprint(tx, prepared.text, prepared.body)
    prepared.columns["fingerprint"] = print_
    if tx.conn.execute("SELECT 1 FROM tombstones WHERE fingerprint = ? AND op_to IS NULL", (print_,)).fetchone():
        run.forgotten.append(print_)
        _report_forgotten(run, memory)
        return
    if known is not None:
        _update(tx, run, known.id, prepared, memory)
        return
    if memory.state == Planned.HELD:
        spots = [{"file": memory.source_path, "line": s.line, "kind": s.kind} for s in memory.secrets]
        run.by_path[memory.source_path] = quarantine(
            tx, run.by, prepared, "secret", ReviewKind.HELD_BACK, evidence={"spots": spots}
        ).id
        run.numbers["held"] += 1
        return
    if memory.state == Planned.QUARANTINED or prepared.verdict.check == "injection":
        run.by_path[memory.source_path] = quarantine(
            tx, run.by, prepared, "injection", ReviewKind.QUARANTINE, evidence={"file": memory.source_path}
        ).id
        run.numbers["quarantined"] += 1
        return
    run.by_path[memory.source_path] = begin(tx, prepared, State.ACTIVE, "").id
    run.numbers["created"] += 1
    run.types[str(prepared.columns["type"])] += 1


def _report_forgotten(run: _Run, memory: ParsedMemory) -> None:
    run.numbers["blocked"] += 1
    _note(run, memory, "forgotten", "it was forgotten or rejected before and stays out")


def _note(run: _Run, memory: ParsedMemory, kind: str, message: str) -> None:
    run.problems.append({"file": memory.source_path, "line": 0, "kind": kind, "message": message, "recovered": ""})


def _known(conn: sqlite3.Connection, root: str, memory: ParsedMemory) -> _Known | None:
    """Return the memory that this file became before.

    The same bytes under the same relative path are the same file, wherever the directory stands now.
    """
    rows = conn.execute(
        "SELECT v.memory_id, json_extract(v.extra, '$.sha256'), json_extract(v.extra, '$.root'), s.state,"
        " v.fingerprint FROM versions v JOIN states s ON s.memory_id = v.memory_id AND s.op_to IS NULL"
        " WHERE v.op_to IS NULL AND json_extract(v.extra, '$.source_path') = ?"
        " AND json_extract(v.extra, '$.workspace') IS ? ORDER BY v.vid DESC",
        (memory.source_path, memory.workspace),
    ).fetchall()
    for memory_id, digest, _, state, print_ in rows:
        if digest == memory.sha256:
            return _Known(memory_id, True, State(state), print_)
    for memory_id, _, where, state, print_ in rows:
        if where == root:
            return _Known(memory_id, False, State(state), print_)
    return None


def _update(tx: Tx, run: _Run, memory_id: int, prepared: Prepared, memory: ParsedMemory) -> None:
    old = reload(tx, memory_id)
    run.by_path[memory.source_path] = memory_id
    if old.state not in (State.ACTIVE, State.ARCHIVED, State.SUPERSEDED):
        run.numbers["unchanged"] += 1
        return
    if old.origin is not Origin.IMPORT or old.manually_corrected:
        quarantine(tx, run.by, prepared, "authority", ReviewKind.AUTHORITY, target=old, was="wrong")
        run.numbers["quarantined"] += 1
        _note(run, memory, "edited_here", f"mem-{memory_id} was edited in memdeck; the file's text waits in review")
        return
    columns = {k: v for k, v in prepared.columns.items() if k not in ("valid_from",) or memory.valid_from is not None}
    new_version(tx, memory_id, {**columns, "description": prepared.text, "body": prepared.body})
    if memory.triples or memory.mentions:
        close_facts(tx, memory_id, keep=memory.triples, mentions=memory.mentions)
        state_facts(tx, memory_id, prepared)
    tag_memory(tx, memory_id, prepared.draft.tags)
    run.numbers["updated"] += 1


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
    if not wanted or not (run.numbers["created"] or run.numbers["updated"]):
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
