"""How fast the index is written and searched, at several sizes; prints a table, asserts nothing.

`python -m tests.benchmarks.latency --sizes 1000,10000,100000`. Wall times of this machine as it is.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path

from engine.recall.candidates import Candidates
from engine.recall.text import search_text
from engine.store import postings
from tests.benchmarks.synthetic import START_MS, memories, questions

CURRENT = Candidates("v.op_to IS NULL AND v.valid_from <= ?", (1 << 60,))
QUESTIONS = 40


Times = list[tuple[float, float]]
"""Milliseconds of each call: on the clock, and of processor time, which a busy machine stretches less."""


def timed(run: Callable[[], object]) -> tuple[float, float]:
    """Return how many milliseconds a call takes, on the clock and of processor time."""
    start, spent = time.perf_counter(), time.process_time()
    run()
    return (time.perf_counter() - start) * 1000, (time.process_time() - spent) * 1000


def percentile(values: list[float], share: float) -> float:
    """Return the value below which a share of the values lies."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def resident_mb() -> float:
    """Return this process's resident memory in MB (Linux), 0 where it cannot be told."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def build(path: Path, size: int) -> tuple[float, float]:
    """Make a store of `size` memories in batches of one transaction each; return the seconds of clock and processor."""
    conn = sqlite3.connect(path)
    conn.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;" + postings.SCHEMA)
    conn.execute("CREATE TABLE versions (vid INTEGER PRIMARY KEY, op_to INTEGER, valid_from INTEGER, valid_to)")
    source = memories(size)
    wall = cpu = 0.0
    while batch := list(islice(source, 10_000)):
        conn.executemany("INSERT INTO versions VALUES (?, NULL, ?, NULL)", [(vid, e.dated_ms) for vid, e in batch])
        start, spent = time.perf_counter(), time.process_time()
        postings.index_many(conn, batch)
        conn.commit()
        wall += time.perf_counter() - start
        cpu += time.process_time() - spent
    conn.close()
    return wall, cpu


def single_writes(path: Path, size: int) -> Times:
    """Return the milliseconds of writes of one memory each."""
    conn = sqlite3.connect(path)
    conn.execute("PRAGMA synchronous = FULL")
    times: Times = []
    for n, (_, entry) in enumerate(islice(memories(200), 30)):
        vid = size + n + 1

        def write(vid: int = vid, entry: postings.IndexEntry = entry) -> None:
            with conn:
                conn.execute("INSERT INTO versions VALUES (?, NULL, 0, NULL)", (vid,))
                postings.index_version(conn, vid, entry)

        times.append(timed(write))
    conn.close()
    return times


COLD = """
import sqlite3, sys, time
start, spent = time.perf_counter(), time.process_time()
from engine.recall.text import search_text
from engine.recall.candidates import Candidates
conn = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
search_text(conn, sys.argv[2], where=Candidates("v.op_to IS NULL"))
print((time.perf_counter() - start) * 1000, (time.process_time() - spent) * 1000)
"""


def cold(path: Path, question: str) -> tuple[float, float]:
    """Return the milliseconds of the first search of a fresh process, imports included."""
    done = subprocess.run(
        [sys.executable, "-c", COLD, str(path), question], capture_output=True, text=True, check=True, timeout=60
    )
    wall, cpu = map(float, done.stdout.split())
    return wall, cpu


def search(path: Path) -> None:
    """Print how fast a warm process searches, by kind of question, and what it holds in memory."""
    conn = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    every: Times = []
    for kind, asked in questions(QUESTIONS).items():
        calls = [partial(search_text, conn, text, where=CURRENT, now_ms=START_MS) for text in asked]
        for call in calls[:3]:
            call()
        times = [timed(call) for call in calls]
        every += times
        show(kind, times)
    show("all", every)
    print(f"  resident              {resident_mb():7.0f} MB")


def show(what: str, times: Times) -> None:
    """Print a line of the table."""
    wall, cpu = ([pair[n] for pair in times] for n in (0, 1))
    print(
        f"  {what:20}  p50 {percentile(wall, 0.5):7.1f}  p95 {percentile(wall, 0.95):7.1f} ms"
        f"   cpu p50 {percentile(cpu, 0.5):7.1f}  p95 {percentile(cpu, 0.95):7.1f} ms",
        flush=True,
    )


def measure(size: int) -> None:
    """Print the figures of one size."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "index.db"
        wall, cpu = build(path, size)
        megabytes = path.stat().st_size / 1e6
        print(f"\n{size} memories: indexed in {wall:.1f} s, cpu {cpu:.1f} s, {megabytes:.0f} MB", flush=True)
        show("one write", single_writes(path, size))
        subprocess.run([sys.executable, "-m", "tests.benchmarks.latency", "--search", str(path)], check=True)
        show("first of a process", [cold(path, text) for text in questions(9)["question, en"]])


def main() -> None:
    """Measure each size in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--search", type=Path, help="only search this index")
    asked = parser.parse_args()
    if asked.search:
        search(asked.search)
        return
    for size in asked.sizes.split(","):
        measure(int(size))


if __name__ == "__main__":
    main()
