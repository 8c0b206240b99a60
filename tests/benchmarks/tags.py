"""How fast the vocabulary is looked at and changed in a large store; prints a table, asserts nothing.

`python -m tests.benchmarks.tags --memories 100000 --tags 10000`. The memories are written past the engine's checks, in
one operation. Wall times of this machine as it is.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from engine.facade import Engine, open_engine
from engine.model.enums import Channel, Origin, State
from engine.model.memory import Caller, RecallQuery
from engine.rules.tagging import tag_key
from engine.store.memories import insert_memory
from engine.store.schema import MEMORY_TAGS, TAG_RELATIONS, TAGS
from tests.benchmarks.synthetic import memories

OWNER = Caller(Origin.CLI, "owner")
TAGS_A_CARD = 3
MERGED = 5_000
"""Memories that carry the tag that is merged."""

_COLUMNS = {
    "kind": "fact", "type": "reference", "name": "", "aliases": "[]", "subject": "", "scope": "global",
    "source": "user", "origin": "cli", "actor": "owner", "authority": 6, "confidence": 1.0, "speculative": 0,
    "manually_corrected": 0, "status": "completed", "baseline": 0, "baseline_priority": 0, "scene": "",
    "scene_sub": "", "perception": "{}", "extra": "{}",
}  # fmt: skip


def fill(engine: Engine, count: int, tags: int) -> None:
    """Write memories with tags, a few of them on many, and two relations a tag."""
    source = random.Random(41)
    with engine._desk.store.write(OWNER, "fill") as tx:
        ids = [tx.next_id("tag") for _ in range(tags)]
        for id in ids:
            name = f"{source.choice(('gateway', 'garden', 'paper', 'certificate'))} {id}"
            tx.open(TAGS, {"tag_id": id, "code": f"TAG_CONTENT_{id}", "name": name, "folded": tag_key(name),
                           "type": "content", "definition": "", "dimensions": "[]", "synonyms": "{}", "source": "ai",
                           "status": "unexamined"})  # fmt: skip
        pairs = {tuple(sorted(source.sample(ids, 2))) for _ in range(2 * tags)}
        for low, high in pairs:
            level = source.choice(("synonym", "related", "loose"))
            tx.open(TAG_RELATIONS, {"low_id": low, "high_id": high, "level": level})
        for number, entry in memories(count):
            columns = _COLUMNS | {"valid_from": entry.dated_ms, "thread": entry.thread, "seq": entry.seq}
            insert_memory(tx, columns, text=entry.description, body=entry.body, state=State.ACTIVE, number=number)
            chosen = {ids[int(tags * source.random() ** 2)] for _ in range(TAGS_A_CARD)}
            for id in chosen | ({ids[0]} if number <= MERGED else set()):
                tx.open(MEMORY_TAGS, {"memory_id": number, "tag_id": id})


def report(name: str, run: Callable[[], object], times: int = 3) -> None:
    """Print the fastest of a few runs."""
    best = min(_seconds(run) for _ in range(times))
    print(f"{name:34} {best * 1000:9.1f} ms")


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main() -> None:
    """Fill a store and time what the tags tab, recall and a merge do."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--tags", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, open_engine(Path(folder) / "store", env={}) as engine:
        print(f"{options.memories:,} memories, {options.tags:,} tags")
        report("fill, in one operation", lambda: fill(engine, options.memories, options.tags), 1)
        lines = engine.find_tags(OWNER)
        first, second = lines[0].name, lines[len(lines) // 2].name
        report("list of all tags", lambda: engine.find_tags(OWNER))
        report("search among them", lambda: engine.find_tags(OWNER, "garden"))
        report("one tag", lambda: engine.tag(OWNER, first))
        report("graph around it", lambda: engine.ego_graph(OWNER, first))
        report("star map", lambda: engine.tag_map(OWNER))
        report("dry run of upkeep", lambda: engine.govern_tags(OWNER, dry_run=True))
        report("match by a tag", lambda: engine.match_tags(OWNER, tags=[first]))
        for channel in (Channel.TAGS, Channel.FUSED, Channel.TEXT):
            query = RecallQuery(f"what of {second}", channel=channel)
            report(f"recall, {channel.value}", lambda query=query: engine.recall(OWNER, query))
        report("dry run of a merge", lambda: engine.plan_tag_merge(OWNER, [first], second))
        plan = engine.plan_tag_merge(OWNER, [first], second)
        report(f"merge of {len(plan.moves):,} cards", lambda: engine.apply_tag_merge(OWNER, plan), 1)
        report("its undo", lambda: engine.undo(OWNER), 1)


if __name__ == "__main__":
    main()
