"""A process that is killed leaves each card as it was or complete, and its unfinished work to others (W50, W51)."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.facade import Engine, open_engine
from engine.model.clock import FixedClock, SystemClock
from engine.model.enums import Status
from tests.engine.kit import OWNER, problems, rows
from tests.engine.turns.conftest import AGENT

ROOT = Path(__file__).parents[3]
HARD = int(os.environ.get("MEMDECK_TORTURE", "1"))
WORKER = Path(__file__).with_name("worker.py")


def take_turns_until_killed(store: Path, turns: int, after: int, delay_s: float) -> list[str]:
    """Run the worker, kill it soon after it acknowledged so many turns, and return the cards that it acknowledged."""
    process = subprocess.Popen(
        [sys.executable, str(WORKER), str(store), str(turns)],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout
    said = [process.stdout.readline().strip() for _ in range(after)]
    time.sleep(delay_s)
    process.send_signal(signal.SIGKILL)
    rest = process.stdout.read().splitlines()
    process.wait(10)
    process.stdout.close()
    return [card for card in (*said, *rest) if card.startswith("认知_")]


def check_every_card(engine: Engine, acknowledged: list[str]) -> None:
    """Each card is pending with nothing of a completion, or completed with everything of it."""
    ids = [int(str(row[0])) for row in rows(engine.store_dir, "SELECT id FROM memories")]
    jobs = {row[0] for row in rows(engine.store_dir, "SELECT json_extract(payload, '$.memory') FROM jobs")}
    assert jobs <= set(ids)
    for number in ids:
        card = engine.card(OWNER, f"mem-{number}")
        event = engine.deliver(OWNER, card.id, "deep")
        if card.status is Status.PENDING:
            assert (card.overview, card.preferences, number in jobs) == ("", (), False)
            assert set(card.content_tags) <= {"gateway", "question"}
        else:
            assert card.summary.startswith("answer number") and len(card.overview) >= 100
            assert len(card.preferences) == 1 and any(tag.startswith("topic") for tag in card.content_tags)
            assert len(event.parts) == 3 and "answer number" in event.parts[2][1]
    done = {engine.card(OWNER, card).status for card in acknowledged}
    assert done <= {Status.COMPLETED}
    assert problems(engine) == []


def kill_and_look(store: Path, turns: int, after: int, delay_s: float) -> None:
    acknowledged = take_turns_until_killed(store, turns, after, delay_s)
    assert len(acknowledged) >= after
    later = FixedClock(SystemClock().now_ms() + 600_000)
    with open_engine(store, clock=later, env={}) as engine:
        check_every_card(engine, acknowledged)
        report = engine.run_jobs(limit=1000)
        assert (report.failed, report.given_up, report.waiting) == (0, 0, 0)
        check_every_card(engine, acknowledged)
        frame = engine.begin_turn(AGENT, "and now the gateway")
        assert engine.end_turn(AGENT, frame.card, response="works on").state == "active"


def test_a_kill_leaves_whole_cards(tmp_path: Path) -> None:
    for number, delay_s in enumerate((0.0, 0.013)):
        kill_and_look(tmp_path / f"store{number}", 100, 8, delay_s)


@pytest.mark.torture
def test_kills_at_any_point_of_a_hundred_turns(tmp_path: Path) -> None:
    chance = random.Random(5)
    for number in range(2 * HARD):
        kill_and_look(tmp_path / f"store{number}", 100, chance.randrange(0, 90), chance.random() * 0.05)


def test_a_job_that_was_taken_comes_back_to_the_next_process(store_dir: Path) -> None:
    clock = FixedClock(SystemClock().now_ms())
    with open_engine(store_dir, clock=clock, env={}) as engine:
        engine._worker.stop()
        frame = engine.begin_turn(AGENT, "deploy the gateway")
        engine.end_turn(AGENT, frame.card, response="done")
        with engine._desk.store.exclusive() as conn:
            from engine.store.turns import take_job

            assert take_job(conn, clock.at_ms) is not None
        assert engine.run_jobs().waiting == 1
    clock.at_ms += 61_000
    with open_engine(store_dir, clock=clock, env={}) as engine:
        assert (engine.run_jobs().done, engine.run_jobs().waiting) == (1, 0)


def test_a_job_that_fails_again_and_again_is_given_up(store_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.model.errors import invalid
    from engine.usecases import enriching

    def fail(*_: object) -> None:
        raise invalid("it never works")

    clock = FixedClock(SystemClock().now_ms())
    with open_engine(store_dir, clock=clock, env={}) as engine:
        engine._worker.stop()
        monkeypatch.setattr(enriching, "_enrich", fail)
        frame = engine.begin_turn(AGENT, "deploy the gateway")
        engine.end_turn(AGENT, frame.card, response="done")
        for attempt in range(5):
            report = engine.run_jobs()
            assert (report.failed, report.given_up) == ((1, 0) if attempt < 4 else (0, 1))
            assert engine.run_jobs().failed == 0  # it waits before it is tried again
            clock.at_ms += 86_400_000
        assert engine.run_jobs() == type(report)(0, 0, 0, 0)
        assert engine.card(AGENT, frame.card).status is Status.COMPLETED
