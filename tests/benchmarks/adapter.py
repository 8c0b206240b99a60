"""Answers a retrieval benchmark's JSON lines on stdin from the search that agents get; one answer line per request.

`{"op": "reset"}`, `{"op": "ingest", "docs": [{"id", "text", "session", "time", "speaker", "seq"}, ...]}` and
`{"op": "search", "query": ..., "k": 10}`, answered with `{"ids": [...]}`, best first. Run as
`python -m tests.benchmarks.adapter`.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

from engine.recall.candidates import Admission, Candidates
from engine.recall.text import search_text
from engine.store import postings
from engine.store.postings import IndexEntry

DAY_MS = 86_400_000


class Index:
    """A search index on disk beside the least that it needs to know of versions."""

    def __init__(self, directory: Path) -> None:
        self.conn = sqlite3.connect(directory / "index.db")
        self.conn.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;" + postings.SCHEMA)
        self.conn.execute("CREATE TABLE versions (vid INTEGER PRIMARY KEY, op_to INTEGER)")
        self.admission = Admission(self.conn)
        self.ids: list[str] = []
        self.now_ms = 0

    def ingest(self, docs: list[dict[str, Any]]) -> None:
        """Index documents in one transaction; the clock moves to just after the last one."""
        first = len(self.ids) + 1
        entries = [(first + n, _entry(first + n, doc)) for n, doc in enumerate(docs)]
        with self.conn:
            self.conn.executemany("INSERT INTO versions (vid) VALUES (?)", [(vid,) for vid, _ in entries])
            postings.index_many(self.conn, entries)
        self.ids += [doc["id"] for doc in docs]
        self.now_ms = max([self.now_ms, *(entry.dated_ms + DAY_MS for _, entry in entries if entry.dated_ms)])

    def search(self, query: str, k: int) -> list[str]:
        """Return the ids of the best k documents."""
        where = Candidates("v.op_to IS NULL")
        result = search_text(self.conn, query, where=where, limit=k, now_ms=self.now_ms, admission=self.admission)
        return [self.ids[hit.vid - 1] for hit in result.hits]


def _entry(vid: int, doc: dict[str, Any]) -> IndexEntry:
    dated = int(datetime.fromisoformat(doc["time"]).timestamp() * 1000) if doc["time"] else None
    return IndexEntry(
        memory_id=vid,
        description=doc["text"],
        subject=doc["speaker"],
        thread=doc["session"],
        seq=doc["seq"],
        dated_ms=dated,
    )


def main() -> None:
    """Answer requests until the end of stdin; a request that fails is answered with `{"error": ...}`."""
    with tempfile.TemporaryDirectory() as base:
        index, count = None, 0
        for line in sys.stdin:
            try:
                request = json.loads(line)
                answer: dict[str, Any] = {"ok": True}
                if request["op"] == "reset" or index is None:
                    count += 1
                    directory = Path(base) / str(count)
                    directory.mkdir()
                    index = Index(directory)
                if request["op"] == "ingest":
                    index.ingest(request["docs"])
                elif request["op"] == "search":
                    answer = {"ids": index.search(request["query"], request.get("k", 10))}
            except Exception as error:  # the protocol answers every request
                answer = {"error": f"{type(error).__name__}: {error}"}
            print(json.dumps(answer, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
