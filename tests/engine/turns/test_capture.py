"""Turns that hooks take: only where they are switched on, each once, within the hook's time (W68, R17)."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.facade import Engine, open_engine
from engine.model.enums import Status
from engine.serve.hook_events import Moment, read_event
from tests.engine.kit import OWNER, found, rows
from tests.engine.turns.conftest import AGENT
from tests.serve.conftest import environment


@pytest.fixture
def capturing(engine: Engine) -> Engine:
    """Return a store where turns are switched on."""
    engine.set_setting(OWNER, "turns.enabled", True)
    return engine


def test_nothing_is_captured_unless_the_owner_switched_turns_on(engine: Engine) -> None:
    assert engine.capture_prompt(AGENT, "deploy the gateway") is None
    assert engine.capture_answer(AGENT, "done") is None
    assert rows(engine.store_dir, "SELECT 1 FROM memories") == rows(engine.store_dir, "SELECT 1 FROM events") == []


def test_two_signals_of_one_turn_save_it_once(capturing: Engine) -> None:
    frame = capturing.capture_prompt(AGENT, "deploy the gateway")
    assert frame and frame.thread == "s1" and frame.memory == ()
    assert capturing.capture_answer(AGENT, "The gateway is deployed.") is not None
    assert capturing.capture_answer(AGENT, "The gateway is deployed.") is None
    assert len(capturing.events(OWNER, "2026-11-29")) == 1 and found(capturing, "gateway", AGENT) == [1]


def test_without_a_frame_nothing_is_saved(capturing: Engine) -> None:
    capturing.capture_prompt(AGENT, "ok")
    assert capturing.capture_answer(AGENT, "a long answer on nothing") is None
    assert rows(capturing.store_dir, "SELECT 1 FROM memories") == []


def test_an_answer_never_ends_an_older_turn(capturing: Engine) -> None:
    first = capturing.capture_prompt(AGENT, "deploy the gateway")
    capturing.capture_prompt(AGENT, "ok")
    assert capturing.capture_answer(AGENT, "I stopped.") is None
    assert first and capturing.card(OWNER, first.card).status is Status.INTERRUPTED


def hook(store: Path, event: dict[str, object]) -> tuple[str, str, float]:
    command = [sys.executable, "-m", "engine.serve.hook", str(event["hook_event_name"]), "--store", str(store)]
    began = time.monotonic()
    done = subprocess.run(
        command, input=json.dumps(event), env=environment(), capture_output=True, text=True, timeout=10, check=True
    )
    return done.stdout, done.stderr, time.monotonic() - began


def wait_for(store: Path, status: str, count: int, seconds: float = 8) -> bool:
    """Wait until so many events stand at a status: a hook's turn is written after the hook is gone."""
    limit = time.monotonic() + seconds
    while len(rows(store, "SELECT 1 FROM events WHERE op_to IS NULL AND status = ?", status)) < count:
        if time.monotonic() > limit:
            return False
        time.sleep(0.02)
    return True


def test_a_hook_takes_the_turns_of_its_session(store_dir: Path) -> None:
    with open_engine(store_dir, env={}) as engine:
        engine.set_setting(OWNER, "turns.enabled", True)
    common = {"session_id": "h1", "cwd": "/", "permission_mode": "default", "transcript_path": "/h/.claude/x.jsonl"}
    prompt = {**common, "hook_event_name": "UserPromptSubmit", "prompt": "deploy the gateway again"}
    stop = {**common, "hook_event_name": "Stop", "last_assistant_message": "The gateway runs on port 8443."}
    for _ in range(3):  # on a very busy machine a hook may be out of time before it can begin
        hook(store_dir, prompt)
        if wait_for(store_dir, "pending", 1, 3):
            break
    for _ in range(3):
        assert hook(store_dir, stop)[0] == ""
        wait_for(store_dir, "completed", 1, 2)
    with open_engine(store_dir, env={}) as engine:
        engine.run_jobs()
        assert len(rows(store_dir, "SELECT 1 FROM events WHERE op_to IS NULL AND status = 'completed'")) == 1
        (number,) = found(engine, "gateway port")
        card = engine.card(OWNER, f"mem-{number}")
        assert (card.thread, engine.get(OWNER, f"mem-{number}").actor) == ("h1", "claude-code")


def test_a_hook_leaves_no_process_behind_when_the_store_is_locked(store_dir: Path) -> None:
    with open_engine(store_dir, env={}) as engine:
        engine.set_setting(OWNER, "turns.enabled", True)
        prompt = {"session_id": "h2", "cwd": "/", "hook_event_name": "UserPromptSubmit", "prompt": "deploy the gateway"}
        with engine._desk.store.exclusive():
            took = hook(store_dir, prompt)[2]
        assert took < 1.5  # its own limit is 0.3 s; the rest is the machine's


@pytest.mark.parametrize(
    ("event", "answer"),
    [
        ({"hook_event_name": "Stop", "last_assistant_message": "done"}, "done"),
        ({"hook_event_name": "AfterAgent", "prompt": "q", "prompt_response": "done"}, "done"),
        ({"hook_event_name": "Stop", "last_assistant_message": None}, ""),
        ({"hook_event_name": "Stop"}, ""),
    ],
)
def test_the_answer_is_read_under_each_hosts_name(event: dict[str, object], answer: str) -> None:
    read = read_event("", json.dumps(event))
    assert read and (read.moment, read.answer, read.question) == (Moment.ANSWER, answer, "")
    assert read_event("", json.dumps({"hook_event_name": "SubagentStop"})) is None
