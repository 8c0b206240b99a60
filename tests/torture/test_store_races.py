"""Processes that write, read, stop and die at once: nothing acknowledged is lost, nobody waits for ever (C42, R27).

The suite runs each once, small. `MEMDECK_TORTURE=20 pytest tests/torture` runs them twenty times as hard.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO

import pytest

from engine.facade import Engine, open_engine
from engine.model.errors import MemdeckError
from engine.model.memory import Draft
from tests.engine.kit import OWNER, files_holding, problems, put

pytestmark = pytest.mark.torture

HARD = int(os.environ.get("MEMDECK_TORTURE", "1"))
WORKER = Path(__file__).with_name("worker.py")
ROOT = WORKER.parents[2]
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Return what starts a worker on the test's store."""
    started: list[subprocess.Popen[str]] = []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}

    def begin(name: str, *arguments: str, store: Path = tmp_path / "store") -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, str(WORKER), str(store), name, *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
        process.wait(20)
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe
            pipe.close()


def opened(tmp_path: Path, **settings: str) -> Engine:
    return open_engine(tmp_path / "store", env=settings)


def finished(process: subprocess.Popen[str]) -> list[str]:
    """Return what a worker said, once it has ended well."""
    said, complained = process.communicate(timeout=300)
    assert (process.returncode, complained) == (0, "")
    return said.split("\n")[:-1]


def test_many_writers_and_a_reader(tmp_path: Path, start: Start) -> None:
    writers, each = (8, 50) if HARD > 1 else (6, 20)
    for _ in range(max(1, HARD // 10)):
        with opened(tmp_path) as engine:
            before = len(engine.memory_ids(OWNER))
            processes = [start("remember", f"{n}-{before}", str(each)) for n in range(writers)]
            while any(p.poll() is None for p in processes):
                engine.counts(OWNER)
                time.sleep(0.05)
            acknowledged = [int(line) for p in processes for line in finished(p)]
        assert len(set(acknowledged)) == writers * each
        with opened(tmp_path) as engine:
            assert set(acknowledged) <= set(engine.memory_ids(OWNER))
            assert len(engine.memory_ids(OWNER)) == before + writers * each
            assert problems(engine) == []


def test_many_threads_of_one_engine(tmp_path: Path) -> None:
    failures: list[BaseException] = []
    with opened(tmp_path) as engine:

        def work(name: int) -> None:
            try:
                for n in range(10 * HARD):
                    put(engine, f"Thread {name} counted to {n} and then on", subject=f"{name}-{n}")
                    assert engine.counts(OWNER).memories
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == [] and len(engine.memory_ids(OWNER)) == 80 * HARD and problems(engine) == []


def test_first_starts_at_once(tmp_path: Path, start: Start) -> None:
    for round_ in range(HARD):
        store = tmp_path / f"store{round_}"
        processes = [start("remember", str(n), "1", store=store) for n in range(10)]
        ids = sorted(int(line) for p in processes for line in finished(p))
        assert ids == list(range(1, 11))
        with open_engine(store, env={}) as engine:
            assert problems(engine) == []


def lines_until_killed(process: subprocess.Popen[str], seconds: float) -> list[list[str]]:
    """Return the words of each whole line that a worker says until it is killed after so many seconds."""
    said: list[str] = []

    def listen(pipe: IO[str]) -> None:
        said.extend(pipe)

    assert process.stdout
    listener = threading.Thread(target=listen, args=(process.stdout,))
    listener.start()
    time.sleep(seconds)
    process.kill()
    process.wait(20)
    listener.join(20)
    return [line.split() for line in said if line.endswith("\n")]


def test_killed_at_any_moment_nothing_acknowledged_is_lost(tmp_path: Path, start: Start) -> None:
    dice = random.Random(HARD)
    acknowledged: dict[int, tuple[str, int]] = {}
    erased: set[int] = set()
    snapshots: set[str] = set()
    for round_ in range(4 if HARD == 1 else 5 * HARD):
        said = lines_until_killed(start("mixed", str(round_ + 1000 * HARD)), 0.5 + dice.random() * 0.8)
        for op, kind, number in said:
            if kind == "expunge":
                erased.add(int(number))
            elif op == "snapshot":
                snapshots.add(kind)
            else:
                acknowledged[int(op)] = (kind, int(number))
        with opened(tmp_path) as engine:
            engine.doctor(fix=True)  # an erasure that was cut short before the file was wiped
            assert problems(engine) == [], f"round {round_}"
            with closing(sqlite3.connect(tmp_path / "store" / "memory.db")) as conn:
                journal = dict(conn.execute("SELECT op, kind FROM operations WHERE done"))
                written = set(conn.execute("SELECT op_from, memory_id FROM versions"))
            assert {op: kind for op, (kind, _) in acknowledged.items()}.items() <= journal.items()
            assert {
                (op, n) for op, (kind, n) in acknowledged.items() if kind in ("remember", "edit") and n not in erased
            } - written <= {(op, n) for op, (_, n) in acknowledged.items() if not _is_there(engine, n)}
            assert not any(_is_there(engine, n) for n in erased)
            assert all(engine.verify_snapshot(s.name).good for s in engine.snapshots())
            assert put(engine, f"Written after round {round_}", subject=f"after {round_}").state == "active"
    assert len(acknowledged) > 10


def _is_there(engine: Engine, number: int) -> bool:
    with engine._desk.store.read() as conn:
        return conn.execute("SELECT 1 FROM memories WHERE id = ?", (number,)).fetchone() is not None


def many_files(folder: Path, count: int) -> None:
    folder.mkdir()
    index = "".join(f"- [File {n}](f{n}.md) — number {n}\n" for n in range(count))
    (folder / "MEMORY.md").write_text(f"# Memory\n\n{index}")
    for n in range(count):
        text = f"---\nname: f{n}\ndescription: file {n} tells of {n * 7919}\ntype: project\n---\n\nIts text is {n}.\n"
        (folder / f"f{n}.md").write_text(text)


def test_an_import_that_was_killed_goes_on_and_is_one_undo(tmp_path: Path, start: Start) -> None:
    count = 900
    many_files(tmp_path / "files", count)
    for round_ in range(HARD):
        store = tmp_path / f"store{round_}"
        process = start("bring_in", str(tmp_path / "files"), store=store)
        assert process.stdout and process.stdout.readline() == "400\n"
        time.sleep(random.random() * 0.3)
        process.kill()
        process.wait(20)
        with open_engine(store, env={}) as engine:
            half = len(engine.memory_ids(OWNER))
            assert half in (400, 800, 900) and problems(engine) == []
            report = engine.run_import(OWNER, tmp_path / "files")
            assert (report.created, report.unchanged) == (count - half, half)
            assert len(engine.memory_ids(OWNER)) == count
            if report.run and half < count:
                engine.undo(OWNER, run=report.run)
                assert len(engine.memory_ids(OWNER)) == 0, "both halves are one run"
            assert problems(engine) == []


@pytest.mark.parametrize("how", ("lock", "write"))
def test_a_stopped_process_is_named_within_the_deadline(tmp_path: Path, start: Start, how: str) -> None:
    with opened(tmp_path, MEMDECK_WRITER_DEADLINE_MS="400") as engine:
        put(engine, "Before the stop")
        process = start("hold", how)
        assert process.stdout and process.stdout.readline() == "held\n"
        process.send_signal(signal.SIGSTOP)
        for write in (
            lambda: put(engine, "During the stop"),
            lambda: engine.undo(OWNER),
            lambda: engine.forget(OWNER, ["mem-1"]),
        ):
            began = time.monotonic()
            with pytest.raises(MemdeckError) as busy:
                write()
            assert busy.value.code == "busy" and str(process.pid) in busy.value.message
            assert busy.value.params["pid"] == process.pid
            assert 0.3 < time.monotonic() - began < 3
        assert len(engine.memory_ids(OWNER)) == 1, "reading goes on"
        assert engine.create_snapshot(OWNER).memories == 1, "and so do snapshots"
        process.send_signal(signal.SIGCONT)
        said, _ = process.communicate("go on\n", timeout=20)
        assert said == "released\n"
        assert put(engine, "After the stop").state == "active" and problems(engine) == []


def test_a_killed_holder_frees_the_lock(tmp_path: Path, start: Start) -> None:
    with opened(tmp_path) as engine:
        put(engine, "Before the kill")
        process = start("hold", "write")
        assert process.stdout and process.stdout.readline() == "held\n"
        process.kill()
        process.wait(20)
        began = time.monotonic()
        assert put(engine, "After the kill").id == 2, "nothing of the killed write is left"
        assert time.monotonic() - began < 2


def test_a_reader_during_everything_that_rewrites_the_file(tmp_path: Path, start: Start) -> None:
    with opened(tmp_path) as engine:
        for n in range(40):
            put(engine, f"Fact {n} was counted to {n * 7919}", subject=str(n), body="more\n" * 50)
        reader = start("read")
        assert reader.stdout and reader.stdout.readline() == "ready\n"
        for n in range(2 * HARD):
            name = engine.create_snapshot(OWNER).name
            doomed = engine.remember(OWNER, Draft(f"Qwertzian fact {n} was counted", subject=f"q{n}")).id
            engine.expunge(OWNER, f"mem-{doomed}")
            engine.doctor(reindex=True)
            put(engine, f"Another fact {n} was counted to {n * 104729}", subject=f"x{n}")
            engine.restore_snapshot(OWNER, name)
        assert reader.poll() is None
        said, complained = reader.communicate("\n", timeout=30)
        assert complained == "" and said.split("\n")[0].isdigit() and int(said) > 0, said
        assert problems(engine) == [] or all("erasure waits" in p for p in problems(engine))
        engine.doctor(fix=True)
        assert files_holding(tmp_path / "store", ["Qwertzian"]) == []
