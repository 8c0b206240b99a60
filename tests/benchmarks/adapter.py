"""Answers a retrieval benchmark's JSON lines on stdin from the recall that agents get; one answer line per request.

`{"op": "reset"}`, `{"op": "ingest", "docs": [{"id", "text", "session", "time", "speaker", "seq"}, ...]}` and
`{"op": "search", "query": ..., "k": 10}`, answered with `{"ids": [...]}`, best first. Run as
`python -m tests.benchmarks.adapter`. Each reset begins a real store on disk; documents come in as turns of a thread,
and the clock stands just after the last of them.
"""

from __future__ import annotations

import json
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any

from engine.facade import open_engine
from engine.model.clock import FixedClock
from engine.model.enums import Kind, Origin, State
from engine.model.errors import MemdeckError
from engine.model.memory import Caller, Draft, RecallQuery
from engine.rules.admission import Checks
from engine.usecases.beginning import begin
from engine.usecases.drafts import prepare

AGENT = Caller(Origin.AGENT, actor="benchmark")
IMPORTER = Caller(Origin.IMPORT, actor="benchmark")
DAY_MS = 86_400_000


class Bench:
    """One store under test."""

    def __init__(self, directory: Path) -> None:
        self.clock = FixedClock(DAY_MS)
        self.engine = open_engine(directory, clock=self.clock)
        self.ids: dict[int, str] = {}

    def ingest(self, docs: list[dict[str, Any]]) -> None:
        """Store documents in one operation; what admission refuses is named on stderr and left out."""
        drafts = [(doc["id"], _draft(doc)) for doc in docs]
        self.clock.at_ms = max([self.clock.at_ms, *(d.valid_from + DAY_MS for _, d in drafts if d.valid_from)])
        with self.engine._desk.store.write(IMPORTER, "import") as tx:
            for name, draft in drafts:
                try:
                    prepared = prepare(draft, IMPORTER, Checks(noise=False), tx.at)
                except MemdeckError as error:
                    print(f"{name}: {error.message}", file=sys.stderr)
                    continue
                state = State.QUARANTINED if prepared.verdict.check else State.ACTIVE
                memory_id = begin(tx, prepared, state, prepared.verdict.check or "")[0]
                self.ids[memory_id] = name

    def search(self, query: str, k: int) -> list[str]:
        """Return the ids of the best k documents."""
        page = self.engine.recall(AGENT, RecallQuery(query, limit=k))
        return [self.ids[hit.memory.id] for hit in page.hits]


def _draft(doc: dict[str, Any]) -> Draft:
    return Draft(
        doc["text"],
        kind=Kind.EPISODE,
        subject=doc["speaker"],
        thread=doc["session"],
        seq=doc["seq"],
        valid_from=int(datetime.fromisoformat(doc["time"]).timestamp() * 1000) if doc["time"] else None,
    )


def main() -> None:
    """Answer requests until the end of stdin; a request that fails is answered with `{"error": ...}`."""
    with tempfile.TemporaryDirectory() as base:
        bench, count = None, 0
        for line in sys.stdin:
            try:
                request = json.loads(line)
                answer: dict[str, Any] = {"ok": True}
                if request["op"] == "reset" or bench is None:
                    if bench is not None:
                        bench.engine.close()
                    count += 1
                    bench = Bench(Path(base) / str(count))
                if request["op"] == "ingest":
                    bench.ingest(request["docs"])
                elif request["op"] == "search":
                    answer = {"ids": bench.search(request["query"], request.get("k", 10))}
            except Exception as error:  # the protocol answers every request
                answer = {"error": f"{type(error).__name__}: {error}"}
            print(json.dumps(answer, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
