"""A process of its own that works on a store and says each thing that was acknowledged, one line at a time."""

from __future__ import annotations

import random
import select
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from engine.facade import Engine, open_engine
from engine.model.enums import Origin
from engine.model.errors import MemdeckError
from engine.model.memory import Caller, Draft, RecallQuery

OWNER = Caller(Origin.CLI, "owner")


def say(*words: object) -> None:
    """Acknowledge: what is said here has to survive whatever comes next."""
    print(*words, flush=True)


def remember(engine: Engine, name: str, count: str) -> None:
    """Remember `count` facts; says the number of each memory."""
    for n in range(int(count)):
        draft = Draft(f"Process {name} counted to {n} and then on", subject=f"{name}-{n}")
        say(engine.remember(OWNER, draft).id)


def mixed(engine: Engine, seed: str) -> None:
    """Remember, edit, undo, forget, snapshot, checkpoint and expunge until killed; says operation, kind, memory."""
    dice = random.Random(int(seed))
    for n in range(10_000):
        what = dice.choices(("remember", "edit", "undo", "forget", "checkpoint", "snapshot", "expunge"),
                            (10, 5, 3, 2, 2, 1, 1))[0]  # fmt: skip
        ids = list(engine.memory_ids(OWNER))
        if what == "checkpoint":
            with engine._desk.store.exclusive() as conn:
                conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        elif what == "snapshot":
            say("snapshot", engine.create_snapshot(OWNER).name, 0)
        elif what == "remember" or not ids:
            text = f"Fact {n} of run {seed}: {dice.random()}"
            answer = engine.remember(OWNER, Draft(text, body="line\n" * dice.randrange(200), subject=str(n)))
            say(answer.op, "remember", answer.id)
        elif what == "edit":
            memory = engine.get(OWNER, f"mem-{dice.choice(ids)}")
            answer = engine.edit(OWNER, memory.ref, {"description": f"Edited {n} in {seed}: {dice.random()}"})
            say(answer.op, "edit", answer.id)
        elif what == "undo":
            say(engine.undo(OWNER).op, "undo", 0)
        elif what == "forget":
            (answer,) = engine.forget(OWNER, [f"mem-{dice.choice(ids)}"])
            say(answer.op, "forget", answer.id)
        else:
            say("erased", "expunge", engine.expunge(OWNER, f"mem-{dice.choice(ids)}").id)


def bring_in(engine: Engine, folder: str) -> None:
    """Import a folder; says how many memories were written."""
    engine.run_import(OWNER, engine.plan_import(Path(folder)), progress=lambda done, _: say(done))


def hold(engine: Engine, how: str) -> None:
    """Hold the store's lock, alone or inside a write, until a line comes in."""
    store = engine._desk.store
    if how == "lock":
        with store.lock.held():
            say("held")
            sys.stdin.readline()
    else:
        with store.write(OWNER, "test") as tx:
            tx.next_id("memory")
            say("held")
            sys.stdin.readline()
    say("released")


def read(engine: Engine) -> None:
    """Read without pause until standard input ends; says how often, and what went wrong."""
    rounds = 0
    for _ in _until_told():
        try:
            ids = engine.memory_ids(OWNER)
            assert len(engine.memory_rows(OWNER, ids, bodies=True)) >= len(ids) - 1
            assert engine.recall(OWNER, RecallQuery("counted fact")).total <= len(ids) + 1
            assert engine.counts(OWNER).memories >= 0
        except (MemdeckError, AssertionError) as error:
            say("wrong:", repr(error))
        rounds += 1
    say(rounds)


def _until_told() -> Iterator[None]:
    say("ready")
    while not select.select([sys.stdin], [], [], 0)[0]:
        yield
        time.sleep(0.001)


def main() -> None:
    """Run one of the functions above on a store: `worker.py STORE FUNCTION ARGUMENT…`."""
    store, name, *arguments = sys.argv[1:]
    with open_engine(Path(store), read_only=name == "read") as engine:
        globals()[name](engine, *arguments)


if __name__ == "__main__":
    main()
