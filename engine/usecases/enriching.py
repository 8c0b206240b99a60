"""What is done to a turn after its answer: jobs that wait in the store and are done by whoever comes next (W50, W51).

A job is taken for a minute, worked on without any lock, and removed in the operation that writes its result; a process
that is killed leaves it to the next one. Whatever fails, the card stays completed.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import replace

from engine.model.enums import Origin, Scope, State, Status
from engine.model.errors import MemdeckError
from engine.model.memory import Caller, Memory
from engine.model.turns import Analysis, Analyst, JobReport
from engine.recall.tags import extracted
from engine.rules.perception import key_words, read_analysis
from engine.rules.tagging import MOST_EXTRACTED
from engine.store import turns as store
from engine.store.rows import load_memories
from engine.store.tags import set_links, tags_of
from engine.store.turns import Job
from engine.store.vocabulary import Vocabulary
from engine.usecases.desk import Desk, reload
from engine.usecases.turn_analysis import apply_analysis, waiting_names
from engine.usecases.turn_text import without_secrets
from engine.usecases.turns import ask, history

log = logging.getLogger("memdeck.turns")

BATCH = 100


def run_jobs(desk: Desk, analyst: Analyst | None = None, *, limit: int = BATCH) -> JobReport:
    """Do at most `limit` of the jobs that can be done now; an error puts a job off, five give it up."""
    done = failed = given_up = 0
    for _ in range(limit):
        now = desk.store.clock.now_ms()
        with desk.store.read() as conn:
            if not store.has_jobs(conn, now):
                break
        with desk.store.exclusive() as conn:
            job = store.take_job(conn, now)
        if job is None:
            break
        try:
            _enrich(desk, analyst, job)
            done += 1
        except MemdeckError as error:
            if error.code in ("busy", "read_only", "disk_full", "newer_store"):
                raise  # the store's fault, not the job's: its lease runs out
            log.warning("a turn was not enriched: %s", error.code)
            with desk.store.exclusive() as conn:
                again = store.put_off_job(conn, job, now, error.message)
            failed, given_up = failed + again, given_up + (not again)
    with desk.store.read() as conn:
        return JobReport(done, failed, given_up, store.waiting_jobs(conn))


def _enrich(desk: Desk, analyst: Analyst | None, job: Job) -> None:
    number = job.payload.get("memory")
    with desk.store.read() as conn:
        found = load_memories(conn, [number]) if isinstance(number, int) else []
        event = store.event_of(conn, found[0].id) if found else None
    memory = found[0] if found else None
    if memory is None or event is None or not _is_done(memory):
        _drop(desk, job)
        return
    asked = str(job.payload.get("input") or event.input)
    answer = str(job.payload.get("response") or event.response)
    analysis, failed = _conclude(desk, analyst, job, memory, asked, answer)
    with desk.store.read() as conn:
        more = _tags_in(Vocabulary(conn), memory, answer)
    if not (more or analysis.found or failed or waiting_names(memory)):
        _drop(desk, job)
        return
    by = _system(memory)
    with desk.store.write(by, "enrich", reason="analysis_failed" if failed else "") as tx:
        now = reload(tx, memory.id)
        if _is_done(now):
            set_links(tx, now.id, tags_of(tx.conn, now.id) | more)
            apply_analysis(desk, tx, reload(tx, now.id), analysis)
        store.end_job(tx.conn, job.number)
        tx.describe(f"enriched mem-{memory.id}")


def _drop(desk: Desk, job: Job) -> None:
    with desk.store.exclusive() as conn:
        store.end_job(conn, job.number)


def _is_done(memory: Memory) -> bool:
    return memory.status is Status.COMPLETED and memory.state is State.ACTIVE


def _system(memory: Memory) -> Caller:
    workspace = memory.scope_key if memory.scope is Scope.WORKSPACE else None
    return Caller(Origin.SYSTEM, "enrichment", workspace=workspace)


def _conclude(
    desk: Desk, analyst: Analyst | None, job: Job, memory: Memory, asked: str, answer: str
) -> tuple[Analysis, bool]:
    """Return a model's analysis and whether it failed; none is asked for without a model or after the caller's own."""
    if analyst is None or job.payload.get("analysed"):
        return Analysis(), False
    by = _system(memory)
    given = without_secrets(desk.settings, by, ask(lambda: analyst.conclude(asked, answer, history(desk))))
    found = read_analysis(given)
    if not found.tags:
        words = key_words(ask(lambda: analyst.keywords(asked)))
        named = read_analysis(without_secrets(desk.settings, by, {"tags": list(words)}))
        return replace(found, tags=named.tags, found=found.found or bool(named.tags)), not found.found
    return found, False


def _tags_in(vocabulary: Vocabulary, memory: Memory, answer: str) -> set[int]:
    """Return tags that an answer names beyond those of the question; only existing ones, rules make none of answers."""
    room = MOST_EXTRACTED - len(memory.tags)
    named = [tag.id for tag in extracted(vocabulary, answer).tags.values() if tag.source != "system"]
    have = tags_of(vocabulary.conn, memory.id)
    return set([id_ for id_ in named if id_ not in have][: max(room, 0)])


class Worker:
    """Does waiting jobs in a thread of its own, for as long as there are any; one thread per engine."""

    def __init__(self, desk: Desk, analyst: Analyst | None = None) -> None:
        self._desk = desk
        self._analyst = analyst
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None
        self._again = False
        self._stopped = False

    def wake(self) -> None:
        """Begin with what waits, unless that is under way already; never fails and never waits."""
        with self._guard:
            self._again = True
            if self._stopped or self._thread is not None or self._desk.store.read_only:
                return
            self._thread = threading.Thread(target=self._work, name="memdeck-enrich", daemon=True)
            self._thread.start()

    def rest(self, seconds: float) -> bool:
        """Wait until the thread has nothing to do; False when it still has."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)
        return thread is None or not thread.is_alive()

    def stop(self, seconds: float = 1.0) -> None:
        """Take no further job and wait a little for the one under way; what is not done stays in the store."""
        with self._guard:
            self._stopped = True
        self.rest(seconds)

    def _work(self) -> None:
        while True:
            with self._guard:
                if self._stopped or not self._again:
                    self._thread = None
                    return
                self._again = False
            try:
                while not self._stopped and run_jobs(self._desk, self._analyst, limit=1).done:
                    pass
            except MemdeckError as error:
                log.info("enrichment waits: %s", error.code)
            except Exception:
                log.exception("enrichment failed")
