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
from itertools import islice
from pathlib import Path

from engine.recall.candidates import Candidates
from engine.recall.text import search_text
from engine.store import postings
from tests.benchmarks.synthetic import START_MS, memories, questions

CURRENT = Candidates("v.op_to IS NULL AND v.valid_from <= ?", (1 << 60,))
QUESTIONS = 40


def timed(run: Callable[[], object]) -> float:
    """Return how many milliseconds a call takes."""
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) * 1000


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


def build(path: Path, size: int) -> float:
    """Make a store of `size` memories in batches of one transaction each; return the seconds it took."""
    conn = sqlite3.connect(path)
    conn.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;" + postings.SCHEMA)
    conn.execute("CREATE TABLE versions (vid INTEGER PRIMARY KEY, op_to INTEGER, valid_from INTEGER, valid_to)")
    source = memories(size)
    spent = 0.0
    while batch := list(islice(source, 10_000)):
        conn.executemany("INSERT INTO versions VALUES (?, NULL, ?, NULL)", [(vid, e.dated_ms) for vid, e in batch])
        start = time.perf_counter()
        postings.index_many(conn, batch)
        conn.commit()
        spent += time.perf_counter() - start
    conn.close()
    return spent


def single_writes(path: Path, size: int) -> list[float]:
    """Return the milliseconds of writes of one memory each."""
    conn = sqlite3.connect(path)
    conn.execute("PRAGMA synchronous = FULL")
    times = []
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
start = time.perf_counter()
from engine.recall.text import search_text
from engine.recall.candidates import Candidates
conn = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
search_text(conn, sys.argv[2], where=Candidates("v.op_to IS NULL"))
print((time.perf_counter() - start) * 1000)
"""


def cold(path: Path, question: str) -> float:
    """Return the milliseconds of the first search of a fresh process, imports included."""
    done = subprocess.run(
        [sys.executable, "-c", COLD, str(path), question], capture_output=True, text=True, check=True, timeout=60
    )
    return float(done.stdout)


def measure(size: int) -> None:
    """Print the figures of one size."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "index.db"
        seconds = build(path, size)
        print(
            f"\n{size} memories: indexed in {seconds:.1f} s ({size / seconds:.0f}/s), {path.stat().st_size / 1e6:.0f} MB"
        )
        writes = single_writes(path, size)
        print(f"  one write       p50 {percentile(writes, 0.5):7.1f}  p95 {percentile(writes, 0.95):7.1f} ms")
        conn = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        every: list[float] = []
        for kind, asked in questions(QUESTIONS).items():

            def ask(text: str) -> None:
                search_text(conn, text, where=CURRENT, now_ms=START_MS)

            for text in asked[:3]:
                ask(text)
            times = [timed(lambda text=text: ask(text)) for text in asked]  # type: ignore[misc]
            every += times
            print(f"  {kind:20}  p50 {percentile(times, 0.5):7.1f}  p95 {percentile(times, 0.95):7.1f} ms")
        print(f"  all                   p50 {percentile(every, 0.5):7.1f}  p95 {percentile(every, 0.95):7.1f} ms")
        firsts = [cold(path, text) for text in questions(5)["message, en"]]
        print(f"  fresh process         p50 {percentile(firsts, 0.5):7.1f} ms;  resident here {resident_mb():.0f} MB")


def main() -> None:
    """Measure each size in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000")
    for size in parser.parse_args().sizes.split(","):
        measure(int(size))


if __name__ == "__main__":
    main()
