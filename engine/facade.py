"""The one door into the engine: a method per use case, dataclasses in and out (`verb_noun`).

Every method may raise `MemdeckError` and nothing else. An engine is safe to share between threads.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from engine.model.clock import Clock
from engine.model.enums import Mode, Origin, ReviewKind, TagStatus
from engine.model.errors import MemdeckError, invalid
from engine.model.graph import ArchivedFact, FactConflict, GraphResult, Introspection
from engine.model.memory import NOW, AsOf, Caller, Draft, Filter, Memory, Page, RecallPage, RecallQuery, WriteResult
from engine.model.receipts import DormantMemory, Explanation, Rehearsal
from engine.model.records import (
    Change,
    ContextPack,
    Counts,
    Finding,
    ImportReport,
    MemoryUse,
    Named,
    Operation,
    ReviewItem,
    SessionUse,
    SettingInfo,
    SnapshotInfo,
    TombstoneInfo,
)  # fmt: skip
from engine.model.tags import (
    EgoGraph,
    Evolution,
    GovernReport,
    MergePlan,
    MergeReport,
    TagCards,
    TagLine,
    TagMap,
    TagResult,
    TagView,
)  # fmt: skip
from engine.model.turns import Analyst, Card, Event, EventDraft, Frame, JobReport, Nomination, Preference, Recollection
from engine.settings import Settings, check, default_store
from engine.store import journal, review, snapshots
from engine.store.audit import export_audit
from engine.store.connection import DATABASE, Store
from engine.store.ephemeral import Backlog
from engine.store.restore import Restored
from engine.store.rows import dump
from engine.store.schema import SETTINGS
from engine.usecases import (
    ageing,
    capturing,
    care,
    changing,
    contexts,
    explaining,
    forgetting,
    graphs,
    reading,
    rehearsing,
    remembering,
    reviewing,
    tag_cards,
    tag_evolution,
    tag_govern,
    tag_merging,
    tag_views,
    tagging,
    tending,
    turn_end,
    turn_views,
    turns,
    undoing,
    using,
)  # fmt: skip
from engine.usecases.desk import Desk, stored_settings
from engine.usecases.enriching import Worker, run_jobs
from engine.usecases.forgetting import CleanupReport, ExpungeReport, MatchPlan
from engine.usecases.reviewing import DecideResult
from engine.usecases.undoing import UndoResult

if TYPE_CHECKING:
    from engine.connect import FoundMemories
    from engine.transfer.plan import ImportPlan

__all__ = [
    "CleanupReport", "DecideResult", "Engine", "ExpungeReport", "Restored", "UndoResult",
    "default_store", "examine_store", "has_store", "open_engine", "recover_store", "unpack_store",
]  # fmt: skip

Progress = Callable[[int, int], None]
EVERYTHING = Filter()


def open_engine(
    store: Path,
    *,
    clock: Clock | None = None,
    read_only: bool = False,
    env: Mapping[str, str] | None = None,
    analyst: Analyst | None = None,
) -> Engine:
    """Open the store in a directory, making it when there is none; raises newer_store, read_only, busy or internal.

    `analyst` is a language model that reads turns, where there is one (R16).
    """
    return Engine(Store.open(store, clock=clock, read_only=read_only), env=env, analyst=analyst)


def has_store(store: Path) -> bool:
    """Tell whether a store stands in a directory, whatever state it is in."""
    return (store / DATABASE).exists()


def examine_store(store: Path) -> list[Finding]:
    """Say what is wrong with a store that cannot be opened, and which good snapshot is the newest."""
    return care.examine(store)


def recover_store(store: Path, snapshot: str) -> Path:
    """Put a good snapshot in the place of a damaged database; returns where the damaged file was set aside (C41)."""
    return care.recover(store, snapshot)


def unpack_store(export: Path, store: Path) -> int:
    """Make a store of a whole export where none is yet; returns how many memories it holds.

    Raises exists where a store is already, invalid_argument or newer_store for a file that does not fit.
    """
    from engine.transfer.whole import unpack

    return unpack(export, store)


class Engine:
    """An open store with everything that can be done with it."""

    def __init__(
        self, store: Store, *, env: Mapping[str, str] | None = None, analyst: Analyst | None = None
    ) -> None:
        settings = Settings(
            lambda: stored_settings(store),
            env=os.environ if env is None else env,
            config_path=store.directory / "config.yaml",
        )
        self._desk = Desk(store, settings, Backlog(store.path, store.lock.path, writable=not store.read_only))
        store.lock.deadline_ms = settings.number("writer.deadline_ms")
        self._analyst = analyst
        self._worker = Worker(self._desk, analyst)

    @property
    def store_dir(self) -> Path:
        """The directory of the store."""
        return self._desk.store.directory

    @property
    def read_only(self) -> bool:
        """True when the store was opened for reading only."""
        return self._desk.store.read_only

    def now_ms(self) -> int:
        """Return the engine's time in UTC milliseconds."""
        return self._desk.store.clock.now_ms()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Bring the audit log up to date, when this engine wrote anything, and close the store."""
        self._worker.stop()
        if self._desk.store.wrote:
            with suppress(MemdeckError):
                export_audit(self._desk.store)
        self._desk.backlog.close()
        self._desk.store.close()

    def interrupt(self) -> None:
        """Abort what other threads are reading; they get an `internal` error that says so."""
        self._desk.store.interrupt()

    def change_token(self) -> tuple[int, int]:
        """Return (epoch, newest operation); it changes when anybody wrote."""
        return self._desk.store.token()

    # ------------------------------------------------------------------ writing
    def remember(
        self, by: Caller, draft: Draft, *, replaces: str | None = None, was: str = "outdated", key: str | None = None
    ) -> WriteResult:
        """Store a fact, or what replaces one; see `engine.usecases.remembering`."""
        return remembering.remember(self._desk, by, draft, replaces=replaces, was=was, key=key)

    def edit(
        self,
        by: Caller,
        ref: str,
        changes: Mapping[str, object],
        *,
        expect_revision: int | None = None,
        reason: str = "",
    ) -> WriteResult:
        """Change fields of a memory as its next version (C6); the owner states the revision that was read (S39)."""
        return changing.edit(self._desk, by, ref, changes, expect_revision=expect_revision, reason=reason)

    def forget(self, by: Caller, refs: Sequence[str], *, how: str = "forget", reason: str = "") -> list[WriteResult]:
        """Forget, archive or restore memories, all or nothing (C13)."""
        return forgetting.forget(self._desk, by, refs, how=how, reason=reason)

    def match(self, by: Caller, criteria: Mapping[str, str], *, how: str = "forget") -> MatchPlan:
        """List what meets every criterion, with the code that confirms this very set."""
        return forgetting.match(self._desk, by, criteria, how=how)

    def forget_matched(
        self, by: Caller, criteria: Mapping[str, str], confirm: str, *, how: str = "forget", reason: str = ""
    ) -> list[WriteResult]:
        """Carry out a match whose code is given."""
        return forgetting.forget_matched(self._desk, by, criteria, confirm, how=how, reason=reason)

    def lock(self, by: Caller, ref: str, locked: bool = True) -> WriteResult:
        """Pin or release a memory (S49)."""
        return changing.lock(self._desk, by, ref, locked)

    def merge(self, by: Caller, source: str, target: str) -> WriteResult:
        """Fold one memory into another, which keeps its text (C5)."""
        return changing.merge(self._desk, by, source, target)

    def undo(self, by: Caller, op: int | None = None, *, run: str | None = None, rest: bool = False) -> UndoResult:
        """Take back an operation, a run, or the owner's own last operation."""
        return undoing.undo(self._desk, by, op, run=run, rest=rest)

    def redo(self, by: Caller) -> UndoResult:
        """Take back the owner's newest undo."""
        return undoing.redo(self._desk, by)

    def expunge(self, by: Caller, ref: str) -> ExpungeReport:
        """Really erase one memory."""
        self._desk.backlog.drop_questions()
        return forgetting.expunge(self._desk, by, ref)

    def cleanup(self, by: Caller, *, dry_run: bool = True) -> CleanupReport:
        """Remove what was forgotten more than 90 days ago, after a snapshot (T21)."""
        return forgetting.cleanup(self._desk, by, dry_run=dry_run)

    def lift_tombstone(self, by: Caller, fingerprint: str) -> int:
        """Allow forgotten content to come back; returns the operation."""
        return forgetting.lift_tombstone(self._desk, by, fingerprint)

    def decide(
        self,
        by: Caller,
        ids: Sequence[int],
        verb: str,
        *,
        reason: str = "",
        changes: Mapping[str, object] | None = None,
        defer_until: int | None = None,
    ) -> DecideResult:
        """Decide review items in one operation that can be undone."""
        return reviewing.decide(self._desk, by, ids, verb, reason=reason, changes=changes, defer_until=defer_until)

    def set_setting(self, by: Caller, name: str, value: object) -> SettingInfo:
        """Set a setting; an illegal value is refused and nothing changes (S67)."""
        changing.require_owner(by, "change settings")
        checked = dump(check(name, value))
        with self._desk.store.write(by, "setting") as tx:
            if tx.current(SETTINGS, name):
                tx.replace(SETTINGS, (name,), {"value": checked})
            else:
                tx.open(SETTINGS, {"name": name, "value": checked})
            tx.describe(f"{name} = {checked}")
        return self._desk.settings.info(name)

    def reset_setting(self, by: Caller, name: str) -> SettingInfo:
        """Take a setting back to environment, file or default."""
        changing.require_owner(by, "change settings")
        info = self._desk.settings.info(name)
        with self._desk.store.write(by, "setting") as tx:
            if tx.close(SETTINGS, name) is None:
                raise MemdeckError("exists", f"{name} is not set here; it comes from {info.origin}", "nothing to do")
            tx.describe(f"{name} reset")
        return self._desk.settings.info(name)

    # ------------------------------------------------------------------ turns
    def begin_turn(
        self, by: Caller, text: str, *, thread: str = "", analysis: object = None, key: str | None = None
    ) -> Frame:
        """Open a turn: a pending frame, and what memory holds on the message (W43). See `engine.usecases.turns`."""
        frame = turns.begin_turn(
            self._desk, by, text, thread=thread, analysis=analysis, key=key, analyst=self._analyst
        )  # fmt: skip
        self._worker.wake()
        return frame

    def end_turn(
        self,
        by: Caller,
        card: str,
        *,
        response: str,
        user_input: str | None = None,
        status: str = "completed",
        analysis: object = None,
        error: str = "",
    ) -> WriteResult:
        """Complete a turn; what takes time is done after the answer (W44, W50). See `engine.usecases.turn_end`."""
        result = turn_end.end_turn(
            self._desk, by, card, response=response, user_input=user_input, status=status, analysis=analysis,
            error=error,
        )  # fmt: skip
        self._worker.wake()
        return result

    def save_turn(
        self,
        by: Caller,
        message: str,
        response: str,
        *,
        thread: str = "",
        analysis: object = None,
        source_path: str = "",
        key: str | None = None,
    ) -> WriteResult:
        """Store a whole turn that is over; `source_path` names the file that holds its full text (W49)."""
        result = turn_end.save_turn(
            self._desk, by, message, response, thread=thread, analysis=analysis, source_path=source_path, key=key
        )  # fmt: skip
        self._worker.wake()
        return result

    def resume_jobs(self) -> None:
        """Begin with what another process left to be done after turns, in a thread of its own (W50)."""
        self._worker.wake()

    def run_jobs(self, limit: int = 100) -> JobReport:
        """Do what waits to be done after turns, here and now."""
        self._worker.rest(30.0)
        return run_jobs(self._desk, self._analyst, limit=limit)

    def capture_prompt(self, by: Caller, text: str) -> Frame | None:
        """Open a turn for a hook where turns are switched on (W68)."""
        return capturing.capture_prompt(self._desk, by, text)

    def capture_answer(self, by: Caller, response: str) -> WriteResult | None:
        """End the session's open turn for a hook; None when it has none, so that each turn ends once (W68)."""
        result = capturing.capture_answer(self._desk, by, response)
        self._worker.wake()
        return result

    def card(self, by: Caller, ref: str) -> Card:
        """Return a turn with all its fields (W3)."""
        return turn_views.card(self._desk, by, ref)

    def overview(self, by: Caller, ref: str) -> str:
        """Return the overview of a turn by its id or path (W59)."""
        return turn_views.overview(self._desk, by, ref)

    def deliver(self, by: Caller, ref: str, route: str = "shallow") -> Recollection:
        """Return a turn in one, two or three parts (W52)."""
        return turn_views.deliver(self._desk, by, ref, route)

    def preferences(self, by: Caller) -> list[Preference]:
        """Return what turns say of preferences, the newest value of each key (W55)."""
        return turn_views.preferences(self._desk, by)

    def scenes(self, by: Caller) -> dict[str, tuple[str, ...]]:
        """Return the scenes that memories name, with their sub-scenes (W33)."""
        return turn_views.scenes(self._desk, by)

    def events(self, by: Caller, day: str) -> list[Event]:
        """Return the events of a local day (`2026-11-29`) in the order of time (W57)."""
        return turn_views.events(self._desk, by, day)

    def event_steps(self, by: Caller, parent: int) -> list[Event]:
        """Return the steps of an event in the order of time (W57)."""
        return turn_views.event_steps(self._desk, by, parent)

    def event_days(self, by: Caller) -> dict[str, int]:
        """Return how many events each local day has, newest first (W57)."""
        return turn_views.event_days(self._desk, by)

    def add_event(self, by: Caller, event: EventDraft) -> int:
        """Note an event beside the turns; returns its number (W57)."""
        return turn_views.add_event(self._desk, by, event)

    def forget_events(self, by: Caller, day: str) -> int:
        """Take the events of a day out of the lists; returns how many. It can be undone (W57)."""
        return turn_views.forget_events(self._desk, by, day)

    def clean_turns(self, by: Caller, *, propose: bool = False) -> list[Nomination]:
        """Return the cards that may be archived for their weight, at most 100; `propose` asks the owner (W60, W61)."""
        return turn_views.clean_turns(self._desk, by, propose=propose)

    # ------------------------------------------------------------------ reading
    def recall(self, by: Caller, query: RecallQuery) -> RecallPage:
        """Return what answers a question, best first."""
        page = reading.recall(self._desk, by, query)
        using.note_recall(self._desk, by, query, page)
        return page

    def explain(self, by: Caller, query: RecallQuery, ref: str) -> Explanation:
        """Return why a question finds a memory, or which rule leaves it out or what outranks it; counts nothing."""
        return explaining.explain(self._desk, by, query, ref)

    def read(
        self, by: Caller, ref: str, *, part: str = "body", start_line: int = 1, max_bytes: int = 8192, as_of: AsOf = NOW
    ) -> Page:
        """Return a piece of a memory's text by whole lines (S33)."""
        page = reading.read(self._desk, by, ref, part=part, start_line=start_line, max_bytes=max_bytes, as_of=as_of)
        using.note_read(self._desk, by, page)
        return page

    def get(self, by: Caller, ref: str, *, as_of: AsOf = NOW) -> Memory:
        """Return a memory by reference, uid, name or imported file."""
        return reading.get(self._desk, by, ref, as_of)

    def history(self, by: Caller, ref: str) -> list[Memory]:
        """Return every version of a memory, oldest first."""
        return reading.history(self._desk, by, ref)

    def context(
        self,
        by: Caller,
        question: str = "",
        *,
        max_tokens: int | None = None,
        depth: str | None = None,
        expand: bool = False,
        fresh: bool = False,
        preview: bool = False,
    ) -> ContextPack:
        """Return what an agent should read now (R12); `preview` counts nothing. See `engine.usecases.contexts`."""
        return contexts.context(
            self._desk, by, question, max_tokens=max_tokens, depth=depth, expand=expand, fresh=fresh, preview=preview
        )

    def report_use(self, by: Caller, refs: Sequence[str]) -> int:
        """Count memories that an agent says it made use of (S43)."""
        return using.report_use(self._desk, by, refs)

    def report_feedback(self, by: Caller, ref: str, word: str) -> str:
        """Keep what became of a memory: confirmed, partial, ignored or rejected; the owner's `reset` takes it back."""
        return using.report_feedback(self._desk, by, ref, word)

    def feedback(self, by: Caller) -> dict[int, str]:
        """Return what is kept of memories so, the newest memory first (W37)."""
        return using.feedback(self._desk, by)

    def dormant(self, by: Caller, limit: int = 100) -> list[DormantMemory]:
        """Return the memories that nobody has touched for long, each with the reason (C4, R8)."""
        return ageing.dormant(self._desk, by, limit)

    def rehearse(self, by: Caller, changes: Mapping[str, object], limit: int = 50) -> Rehearsal:
        """Return which results of recent questions would come and go under changed settings; writes nothing."""
        return rehearsing.rehearse(self._desk, by, changes, limit)

    def usage(self, ids: Sequence[int]) -> dict[int, MemoryUse]:
        """Return how often memories were injected, read, used and recalled (S43)."""
        return using.usage(self._desk, ids)

    def sessions(self, limit: int = 20) -> list[SessionUse]:
        """Return what the last sessions of agents were given, newest first."""
        return using.sessions(self._desk, limit)

    def memory_ids(
        self, by: Caller, flt: Filter = EVERYTHING, *, as_of: AsOf = NOW, order: str = "newest"
    ) -> array[int]:
        """Return the ids of a list of any length."""
        return reading.memory_ids(self._desk, by, flt, as_of, order)

    def memory_rows(self, by: Caller, ids: Sequence[int], *, as_of: AsOf = NOW, bodies: bool = False) -> list[Memory]:
        """Return a page of rows, in order."""
        return reading.memory_rows(self._desk, by, ids, as_of, bodies)

    def counts(self, by: Caller) -> Counts:
        """Return the numbers of the status line (C51)."""
        return reading.counts(self._desk, by)

    def status(self, by: Caller, view: str = "stats") -> dict[str, object]:
        """Return numbers and short lists as plain values."""
        found = reading.status(self._desk, by, view)
        return found | using.session_numbers(self._desk, by) if view == "session" else found

    def review_ids(self, *, kinds: Sequence[ReviewKind] = (), states: Sequence[str] = ("open",)) -> array[int]:
        """Return the numbers of review items, oldest first."""
        with self._desk.store.read() as conn:
            return review.item_ids(conn, kinds=kinds, states=states, now_ms=self.now_ms())

    def review_items(
        self, *, kinds: Sequence[ReviewKind] = (), states: Sequence[str] = ("open",), limit: int = 200, offset: int = 0
    ) -> list[ReviewItem]:
        """Return a page of review items, oldest first."""
        with self._desk.store.read() as conn:
            ids = review.item_ids(conn, kinds=kinds, states=states, now_ms=self.now_ms())
            return review.load_items(conn, ids[offset : offset + limit])

    def review_rows(self, ids: Sequence[int]) -> list[ReviewItem]:
        """Return review items by number."""
        with self._desk.store.read() as conn:
            return review.load_items(conn, ids)

    def log(
        self, *, limit: int = 50, before: int | None = None, memory: int | None = None, owner_only: bool = False
    ) -> list[Operation]:
        """Return the journal, newest first."""
        origins = (Origin.TUI, Origin.CLI) if owner_only else ()
        with self._desk.store.read() as conn:
            return journal.operations(conn, limit=limit, before=before, memory_id=memory, origins=origins)

    def operation(self, op: int) -> tuple[Operation, list[Change]]:
        """Return one operation with everything that it changed."""
        with self._desk.store.read() as conn:
            found = journal.operations(conn, limit=1, before=op + 1)
            if not found or found[0].op != op:
                raise MemdeckError("not_found", f"operation {op} does not exist", "see `memdeck log`")
            return found[0], journal.changes(conn, op)

    def tombstones(self) -> list[TombstoneInfo]:
        """Return what stays forgotten."""
        return reading.tombstones(self._desk)

    def tags(self) -> list[Named]:
        """Return all tags with their counts."""
        return reading.tags(self._desk)

    def topics(self) -> list[Named]:
        """Return all topics with their counts."""
        return reading.topics(self._desk)

    def graph(
        self,
        by: Caller,
        query: str = "",
        seeds: Sequence[str] = (),
        depth: int = 2,
        days: float | None = None,
        session: str | None = None,
        *,
        mode: Mode = Mode.CURRENT,
        as_of: AsOf = NOW,
        everywhere: bool = False,
    ) -> GraphResult:
        """Return the entities and relations around what a question or `seeds` name (T9 to T13)."""
        return graphs.graph(
            self._desk, by, query, seeds=seeds, depth=depth, days=days, session=session, mode=mode, as_of=as_of,
            everywhere=everywhere,
        )  # fmt: skip

    def introspect(self, by: Caller, session: str | None = None) -> Introspection:
        """Return what a session put into the graph (T15)."""
        return graphs.introspect(self._desk, by, session)

    def archived_facts(self, by: Caller, *, days: float | None = None, keyword: str = "") -> list[ArchivedFact]:
        """Return relations of archived memories, newest first (T20)."""
        return graphs.archived_facts(self._desk, by, days=days, keyword=keyword)

    def fact_conflicts(self, by: Caller) -> list[FactConflict]:
        """Return current facts that exclude each other (C14)."""
        return graphs.fact_conflicts(self._desk, by)

    def tensions(self, by: Caller) -> dict[str, list[FactConflict]]:
        """Return the same by topic (C17)."""
        return graphs.tensions(graphs.fact_conflicts(self._desk, by))

    def settings(self) -> list[SettingInfo]:
        """Return every setting with its value in effect and where that comes from."""
        return self._desk.settings.all()

    def setting(self, name: str) -> SettingInfo:
        """Return one setting."""
        return self._desk.settings.info(name)

    # ------------------------------------------------------------------ the vocabulary
    def tag(self, by: Caller, name: str) -> TagView:
        """Return a tag by name, synonym or code, with its relations and numbers."""
        return tag_views.tag(self._desk, name)

    def tag_code(self, by: Caller, name: str, dimension: str = "", definitions: Sequence[str] = ()) -> str | None:
        """Return the code of a name; None when it is unknown or deprecated (W17, W18)."""
        return tag_views.code_of(self._desk, name, dimension, definitions)

    def find_tags(
        self, by: Caller, text: str = "", statuses: Sequence[str] = tag_views.RECALLABLE, order: str = "cards"
    ) -> list[TagLine]:
        """Return tags whose name or synonym holds a text, an exact match first (W65)."""
        return tag_views.find_tags(self._desk, text, statuses, order)

    def ego_graph(self, by: Caller, name: str, hops: int = 2) -> EgoGraph:
        """Return the tags around one with all relations between them."""
        return tag_views.ego_graph(self._desk, name, hops)

    def tag_map(self, by: Caller) -> TagMap:
        """Return all recallable tags with their brightness, the most mentioned first (T48)."""
        return tag_views.tag_map(self._desk)

    def match_tags(
        self,
        by: Caller,
        text: str = "",
        tags: Sequence[str] | None = None,
        *,
        codes: Sequence[str] = (),
        scene: str = "",
        scene_sub: str = "",
        top: int = 3,
    ) -> TagCards:
        """Return the best cards for the tags of a text, for tags, or for codes (W35, W42)."""
        return tag_cards.match_tags(
            self._desk, by, text, tags, codes=codes, scene=scene, scene_sub=scene_sub, top=top
        )

    def tagged(self, by: Caller, tags: Sequence[str], *, every: bool = True) -> array[int]:
        """Return the memories that carry every one of some tags, or any of them, newest first (W30)."""
        return tag_cards.tagged(self._desk, by, tags, every=every)

    def add_tag(
        self,
        by: Caller,
        name: str,
        *,
        kind: str = "",
        definition: str = "",
        dimensions: Sequence[str] = (),
        synonyms: Sequence[str] = (),
    ) -> TagResult:
        """Add a tag, or return the one that a name stands for already (W14)."""
        return tagging.add_tag(
            self._desk, by, name, kind=kind, definition=definition, dimensions=dimensions, synonyms=synonyms
        )

    def edit_tag(self, by: Caller, name: str, changes: Mapping[str, object]) -> TagResult:
        """Align a tag: fill only what is given, never overwrite by nothing (W29)."""
        return tagging.edit_tag(self._desk, by, name, changes)

    def relate(self, by: Caller, one: str, other: str, level: str) -> TagResult:
        """Relate two tags: synonym, related or loose; only upwards (W21)."""
        return tagging.relate(self._desk, by, one, other, level)

    def unrelate(self, by: Caller, one: str, other: str) -> TagResult:
        """End the relation of two tags; the owner only."""
        return tagging.unrelate(self._desk, by, one, other)

    def activate(self, by: Caller, name: str) -> TagResult:
        """Take an unexamined tag into use (W23)."""
        return tagging.set_status(self._desk, by, name, TagStatus.ACTIVE)

    def deprecate(self, by: Caller, name: str, reason: str = "") -> TagResult:
        """Take a tag out of recall (W23, W25)."""
        return tagging.set_status(self._desk, by, name, TagStatus.DEPRECATED, reason=reason)

    def reactivate(self, by: Caller, name: str) -> TagResult:
        """Bring a deprecated tag back; the owner only (W24)."""
        return tagging.reactivate(self._desk, by, name)

    def plan_tag_merge(self, by: Caller, sources: Sequence[str], target: str) -> MergePlan:
        """Say what merging tags would do, without writing."""
        return tag_merging.plan_tag_merge(self._desk, by, sources, target)

    def apply_tag_merge(
        self,
        by: Caller,
        plan: MergePlan | None = None,
        *,
        sources: Sequence[str] = (),
        target: str = "",
        confirm: str = "",
    ) -> MergeReport:
        """Carry out a plan that is not stale, after a snapshot; the owner only (W26)."""
        return tag_merging.apply_tag_merge(self._desk, by, plan, sources=sources, target=target, confirm=confirm)

    def propose_tag_merge(self, by: Caller, sources: Sequence[str], target: str, *, reason: str = "") -> TagResult:
        """Ask the owner to merge tags (W26)."""
        return tag_merging.propose_tag_merge(self._desk, by, sources, target, reason=reason)

    def evolve(self, by: Caller, actions: Sequence[Mapping[str, object]]) -> Evolution:
        """Do a batch of changes to tags; merges wait for the owner (W27)."""
        return tag_evolution.evolve(self._desk, by, actions)

    def govern_tags(self, by: Caller, *, dry_run: bool = False) -> GovernReport:
        """Deprecate words that fit everything and propose relations of names alike (W25, W28, R24)."""
        return tag_govern.govern_tags(self._desk, by, dry_run=dry_run)

    # ------------------------------------------------------------------ care of the store
    def snapshots(self) -> list[SnapshotInfo]:
        """Return all snapshots, newest first."""
        return snapshots.list_snapshots(self._desk.store)

    def create_snapshot(self, by: Caller, reason: str = "") -> SnapshotInfo:
        """Make a verified copy of the store, which stays until it is deleted."""
        return care.create_snapshot(self._desk, by, reason)

    def delete_snapshot(self, by: Caller, name: str) -> SnapshotInfo:
        """Delete a snapshot for good."""
        return care.delete_snapshot(self._desk, by, name)

    def daily_snapshot(self) -> SnapshotInfo | None:
        """Make the snapshot of the day when something changed; for upkeep."""
        return snapshots.daily_snapshot(self._desk.store, self._desk.settings.number("snapshots.keep_auto"))

    def tend(self) -> list[Finding]:
        """Do what is due now and then: audit log, snapshot of the day, check of the day; returns what is wrong."""
        return tending.tend(self._desk)

    def last_check(self) -> tuple[int, list[Finding]] | None:
        """Return when the store was checked last (UTC milliseconds) and what was wrong then."""
        return tending.last_check(self._desk)

    def verify_snapshot(self, name: str) -> SnapshotInfo:
        """Check a snapshot against its manifest."""
        return snapshots.verify_snapshot(self._desk.store, name)

    def restore_snapshot(self, by: Caller, name: str) -> Restored:
        """Bring the store back to a snapshot."""
        return care.restore_snapshot(self._desk, by, name)

    def doctor(self, *, fix: bool = False, deep: bool = True, reindex: bool = False) -> list[Finding]:
        """Check everything; `fix` mends what needs no choice."""
        return care.doctor(self._desk, fix=fix, deep=deep, reindex=reindex)

    # ------------------------------------------------------------------ transfer
    def found_memories(self) -> list[FoundMemories]:
        """Return the memories of Claude Code and Codex on this machine, which can be imported by their path."""
        from engine.connect import Places, found_memories

        return found_memories(Places.here())

    def plan_import(self, path: Path, *, format: str | None = None, progress: Progress | None = None) -> ImportPlan:
        """Read what is at `path` and plan its import, without writing."""
        from engine.transfer.detect import plan_import

        return plan_import(path, format, progress=progress)

    def run_import(
        self,
        by: Caller,
        source: ImportPlan | Path,
        *,
        dry_run: bool = False,
        progress: Progress | None = None,
        format: str | None = None,
    ) -> ImportReport:
        """Import a plan or a path: files become memories, a whole export replaces the store (C43, S72)."""
        from engine.transfer import whole
        from engine.usecases import importing

        if (
            isinstance(source, Path)
            and format in (None, "memdeck-json", "json")
            and source.is_file()
            and whole.is_whole(source)
        ):
            return importing.replace_whole(self._desk, by, source, dry_run=dry_run)
        plan = self.plan_import(source, format=format, progress=progress) if isinstance(source, Path) else source
        carry_out = importing.preview if dry_run else importing.run_import
        return carry_out(self._desk, by, plan, progress)

    def export(self, path: Path, *, format: str = "json", progress: Progress | None = None) -> int:
        """Write the whole store to a file; returns how many memories it holds."""
        from engine.transfer.whole import export_store

        if format not in ("json", "memdeck-json"):
            raise invalid(f"format {format!r} cannot be exported", "json")
        return export_store(self._desk.store, path, progress)
