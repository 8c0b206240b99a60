"""Statistics beside the memories: counted in batches, kept apart, and never in anybody's way."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from engine.facade import Engine, open_engine
from engine.model.clock import FixedClock
from engine.model.errors import MemdeckError
from engine.model.memory import Draft, RecallQuery
from engine.model.records import MemoryUse
from engine.store import ephemeral
from engine.store.ephemeral import Backlog, Ledger, Question
from engine.store.schema import CONTENT, CONTROL, JOURNALLED
from tests.engine.kit import OWNER, agent, put, rows

NOON = 1_780_056_000_000
AGENT = agent(session="s1", workspace="/w")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def engine(store: Path) -> Iterator[Engine]:
    with open_engine(store, clock=FixedClock(NOON), env={}) as opened:
        yield opened


@contextmanager
def lock_holder(store: Path, *, stopped: bool = True) -> Iterator[subprocess.Popen[str]]:
    """Run a process that holds the store's write lock, in the middle of a transaction, and is stopped."""
    code = (
        "import fcntl, sqlite3, sys, time\n"
        "held = open(sys.argv[1] + '/memory.db.lock', 'r+')\n"
        "fcntl.flock(held, fcntl.LOCK_EX)\n"
        "conn = sqlite3.connect(sys.argv[1] + '/memory.db', isolation_level=None)\n"
        "conn.execute('BEGIN IMMEDIATE')\n"
        "print('held', flush=True)\n"
        "time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(store)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout and process.stdout.readline() == "held\n"
        if stopped:
            process.send_signal(19)
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


def dump(store: Path) -> list[object]:
    """Return every row of the tables that are not ephemeral."""
    tables = [*CONTENT, *CONTROL, *(table.name for table in JOURNALLED)]
    with closing(sqlite3.connect(f"file:{store / 'memory.db'}?mode=ro", uri=True)) as conn:
        derived = [
            r[0] for r in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'ix_%'")
        ]
        return [conn.execute(f"SELECT * FROM {table}").fetchall() for table in [*tables, *sorted(derived)]]


def test_three_numbers_are_kept_apart(engine: Engine) -> None:
    put(engine, "The lamp burns at night")
    for _ in range(3):
        engine.read(AGENT, "mem-1")
    engine.context(AGENT, "when does the lamp burn")
    engine.recall(AGENT, RecallQuery("lamp"))
    assert engine.report_use(AGENT, ["mem-1", "mem-1@1"]) == 1
    assert engine.usage([1, 99]) == {1: MemoryUse(1, 3, 1, 1, NOON), 99: MemoryUse()}


def test_the_owner_looking_around_counts_for_nothing(engine: Engine) -> None:
    put(engine, "The lamp burns at night")
    engine.read(OWNER, "mem-1")
    engine.recall(OWNER, RecallQuery("lamp"))
    assert engine.usage([1]) == {1: MemoryUse()}


def test_reading_a_hundred_times_changes_no_order_and_no_other_table(engine: Engine, store: Path) -> None:
    for number in range(5):
        put(engine, f"The lamp number {number} burns", subject=str(number))
    before, token = dump(store), engine.change_token()
    order = [hit.memory.id for hit in engine.recall(AGENT, RecallQuery("lamp burns")).hits]
    for _ in range(100):
        engine.read(AGENT, f"mem-{order[-1]}")
        engine.context(AGENT, "which lamp burns")
    engine.usage([1])
    assert [hit.memory.id for hit in engine.recall(AGENT, RecallQuery("lamp burns")).hits] == order
    assert dump(store) == before and engine.change_token() == token
    assert engine.get(OWNER, f"mem-{order[-1]}").revision == 1


def test_what_waits_is_written_at_the_end(store: Path) -> None:
    with open_engine(store, clock=FixedClock(NOON)) as engine:
        put(engine, "The lamp burns at night")
        engine.read(AGENT, "mem-1")
        assert rows(store, "SELECT count(*) FROM usage") == [(0,)]
    assert rows(store, "SELECT read FROM usage") == [(1,)]


def test_a_long_lived_process_writes_by_itself(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Backlog.__init__, "__kwdefaults__", {"writable": True, "delay_s": 0.05})
    with open_engine(store, clock=FixedClock(NOON)) as engine:
        put(engine, "The lamp burns at night")
        engine.read(AGENT, "mem-1")
        deadline = time.monotonic() + 10
        while rows(store, "SELECT read FROM usage") != [(1,)]:
            assert time.monotonic() < deadline
            time.sleep(0.02)


def test_questions_are_kept_without_secrets_and_in_number(engine: Engine, store: Path) -> None:
    secret = "sk-" + "a1B2c3D4e5F6g7H8i9J0k1L2"
    engine.recall(AGENT, RecallQuery(f"why is {secret} refused"))
    engine.recall(AGENT, RecallQuery("is the lamp lit"))
    engine.context(AGENT, "灯塔亮了吗")
    engine.usage([])
    with closing(sqlite3.connect(store / "memory.db")) as conn:
        kept = ephemeral.recent_questions(conn)
    assert [(q.kind, q.text, q.workspace) for q in kept] == [
        ("context", "灯塔亮了吗", "/w"), ("recall", "is the lamp lit", "/w")
    ]  # fmt: skip
    assert all(secret.encode() not in path.read_bytes() for path in store.rglob("*") if path.is_file())


def test_only_the_last_questions_and_sessions_are_kept(engine: Engine, store: Path, monkeypatch) -> None:
    monkeypatch.setattr(ephemeral, "KEPT_QUESTIONS", 10)
    monkeypatch.setattr(ephemeral, "KEPT_SESSIONS", 3)
    backlog = engine._desk.backlog
    for number in range(25):
        backlog.ask(Question(number, "recall", "a", None, f"question {number}", ()))
        backlog.keep(Ledger(f"s{number}", at=number))
    assert backlog.flush()
    assert rows(store, "SELECT count(*), max(query) FROM recall_log") == [(10, "question 24")]
    assert rows(store, "SELECT session FROM ledger ORDER BY at") == [("s22",), ("s23",), ("s24",)]


def test_an_erased_memory_leaves_no_question_and_no_count(engine: Engine, store: Path) -> None:
    put(engine, "The zanzibar lamp burns")
    engine.context(AGENT, "the zanzibar lamp")
    engine.usage([1])
    engine.recall(AGENT, RecallQuery("zanzibar"))
    engine.expunge(OWNER, "mem-1")
    engine.usage([1])
    assert rows(store, "SELECT count(*) FROM usage") == [(0,)]
    assert rows(store, "SELECT count(*) FROM recall_log") == [(0,)]


def test_a_note_costs_microseconds(engine: Engine) -> None:
    backlog, ids = engine._desk.backlog, tuple(range(10))
    backlog.count("recalls", ids, NOON)
    begun = time.perf_counter()
    for _ in range(200):
        backlog.count("recalls", ids, NOON)
        backlog.ask(Question(NOON, "recall", "a", None, "question", ids))
    assert (time.perf_counter() - begun) / 200 < 0.0005


def test_a_busy_store_keeps_the_batch_for_later(engine: Engine, store: Path) -> None:
    put(engine, "The lamp burns at night")
    with lock_holder(store):
        engine.read(AGENT, "mem-1")
        begun = time.monotonic()
        assert not engine._desk.backlog.flush(50)
        assert time.monotonic() - begun < 1
        assert engine.context(AGENT, "does the lamp burn").text
        assert engine.context(AGENT, "does the lamp burn").text == ""
    assert engine.usage([1])[1] == MemoryUse(injected=1, read=1)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_store_that_cannot_be_written_gives_packs(store: Path) -> None:
    with open_engine(store, clock=FixedClock(NOON)) as engine:
        put(engine, "The lamp burns at night")
    for path in (*store.iterdir(), store):
        path.chmod(0o500)
    try:
        with open_engine(store, clock=FixedClock(NOON)) as engine:
            assert engine.context(AGENT, "does the lamp burn").text
    finally:
        for path in (store, *store.iterdir()):
            path.chmod(0o700)


def test_a_lost_table_of_ledgers_stands_in_no_writers_way(engine: Engine, store: Path) -> None:
    put(engine, "The lamp burns at night")
    with closing(sqlite3.connect(store / "memory.db")) as conn:
        conn.execute("DROP TABLE usage")
    engine.read(AGENT, "mem-1")
    assert not engine._desk.backlog.flush()
    engine.remember(OWNER, Draft("Another lamp"))
    with pytest.raises(MemdeckError):
        engine.usage([1])
