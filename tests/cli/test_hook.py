"""`memdeck hook`: what each host sends and gets, and that nothing ever stands in an agent's way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.context.fence import CLOSE, OPEN
from engine.facade import Engine, open_engine
from engine.model.enums import Kind, Origin, Type
from engine.model.memory import Caller, Draft
from engine.serve import hook
from engine.serve.hook_events import Moment, last_user_text, read_event, user_text
from tests.engine.store.test_ephemeral import lock_holder
from tests.test_layers import ROOT

OWNER = Caller(Origin.TUI, "owner")
HOSTS = {
    "claude-code": {
        "session_id": "c1", "transcript_path": "/home/ren/.claude/projects/-w/c1.jsonl", "cwd": "/",
        "permission_mode": "default",
    },
    "codex": {
        "session_id": "x1", "transcript_path": "/home/ren/.codex/sessions/x1.jsonl", "cwd": "/", "turn_id": "t1",
        "model": "m",
    },
    "gemini-cli": {
        "session_id": "g1", "transcript_path": "/home/ren/.gemini/tmp/g1.json", "cwd": "/",
        "timestamp": "2026-11-29T08:00:00Z",
    },
}  # fmt: skip
START = {"claude-code": "SessionStart", "codex": "SessionStart", "gemini-cli": "SessionStart"}
PROMPT = {"claude-code": "UserPromptSubmit", "codex": "UserPromptSubmit", "gemini-cli": "BeforeAgent"}
COMPACTED = {"claude-code": "PreCompact", "codex": "PostCompact", "gemini-cli": "PreCompress"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A store of four memories."""
    store = tmp_path / "一 store"
    with open_engine(store) as engine:
        fill(engine)
    return store


def fill(engine: Engine) -> None:
    for text, fields in (
        ("The pilot boat is called Marlin", {}),
        ("The harbour office opens at eight", {"body": "Eight.\n\nOn Sundays the harbour office opens at ten."}),
        ("Write distances in nautical miles", {"kind": Kind.CORRECTION}),
        ("Never promise a berth", {"baseline": True, "type": Type.FEEDBACK}),
    ):
        engine.remember(OWNER, Draft(text, **fields))  # type: ignore[arg-type]


class Leaving:
    """What the process would have written, with all the time there is."""

    left_s = 1.0

    def __init__(self) -> None:
        self.output = b""

    def answer(self, output: bytes) -> None:
        assert not self.output
        self.output = output


def respond(place: Path, text: str | dict[str, object], event: str = "prompt", **options: str) -> str:
    """Answer one event in this process and return what the host reads."""
    leaving = Leaving()
    given = hook.Options(event=event, store=str(place), **options)
    hook.respond(given, text if isinstance(text, str) else json.dumps(text), leaving)  # type: ignore[arg-type]
    return leaving.output.decode()


def injected(place: Path, host: str, event: str, **more: object) -> str:
    """Return the text that a host is given at an event, empty for none."""
    output = respond(place, {**HOSTS[host], "hook_event_name": event, **more})
    if not output:
        return ""
    answer = json.loads(output)
    assert answer.keys() == {"hookSpecificOutput"} and output.endswith("}\n")
    assert answer["hookSpecificOutput"].keys() == {"hookEventName", "additionalContext"}
    assert answer["hookSpecificOutput"]["hookEventName"] == event
    return str(answer["hookSpecificOutput"]["additionalContext"])


# --- what each host gets ---


@pytest.mark.parametrize("host", HOSTS)
def test_a_session_from_its_start_to_a_compaction(place: Path, host: str) -> None:
    begun = injected(place, host, START[host], source="startup")
    assert begun.startswith(f"{OPEN}\n# Using remembered notes") and begun.endswith(CLOSE)
    assert "nautical miles" in begun and "Never promise a berth" in begun and "Marlin" not in begun
    asked = injected(place, host, PROMPT[host], prompt="what is the pilot boat called?")
    assert "Marlin" in asked and "berth" not in asked
    assert injected(place, host, PROMPT[host], prompt="what is the pilot boat called?") == ""
    assert injected(place, host, COMPACTED[host], trigger="auto") == ""
    again = injected(place, host, PROMPT[host], prompt="what is the pilot boat called?")
    assert "Marlin" in again and "berth" in again


def test_the_first_prompt_brings_what_a_missed_start_would_have(place: Path) -> None:
    text = injected(place, "codex", "UserPromptSubmit", prompt="what is the pilot boat called?")
    assert "nautical miles" in text and "Never promise a berth" in text and "Marlin" in text


@pytest.mark.parametrize(
    ("source", "baseline", "repeated"), [("resume", True, False), ("clear", True, True), ("compact", True, True)]
)
def test_a_session_that_goes_on(place: Path, source: str, baseline: bool, repeated: bool) -> None:
    injected(place, "claude-code", "SessionStart", source="startup")
    injected(place, "claude-code", "UserPromptSubmit", prompt="what is the pilot boat called?")
    assert ("berth" in injected(place, "claude-code", "SessionStart", source=source)) is baseline
    after = injected(place, "claude-code", "UserPromptSubmit", prompt="what is the pilot boat called?")
    assert ("Marlin" in after) is repeated


def test_passages_have_their_lines(place: Path) -> None:
    text = injected(place, "claude-code", "UserPromptSubmit", prompt="when does the harbour office open on Sundays?")
    assert ":3-3 [mem-2@1]" in text and "opens at ten" in text


def test_a_prompt_adds_at_most_4000_characters(place: Path) -> None:
    with open_engine(place) as engine:
        for number in range(12):
            engine.remember(OWNER, Draft(f"Buoy {number} is red", body=f"Buoy {number}. " + "red " * 350))
    injected(place, "claude-code", "SessionStart", source="startup")
    text = injected(place, "claude-code", "UserPromptSubmit", prompt="which buoy is red?")
    assert 1_000 < len(text) <= 4_000 and "因预算省略" in text


def test_the_tokens_of_hooks_are_counted(place: Path) -> None:
    for host in HOSTS:
        injected(place, host, PROMPT[host], prompt="what is the pilot boat called?")
    with open_engine(place) as engine:
        by_agent = engine.status(OWNER, "session")["injected_tokens_by_agent"]
        assert isinstance(by_agent, dict) and set(by_agent) == set(HOSTS) and min(by_agent.values()) > 50
        assert engine.usage([1])[1].injected == 3


def test_without_event_json_the_text_itself_is_printed(place: Path) -> None:
    output = respond(place, {"prompt": "what is the pilot boat called?"})
    assert output.startswith(f"{OPEN}\n") and "Marlin" in output
    assert respond(place, "") and respond(place, "no json") and respond(place, "[1]")


@pytest.mark.parametrize("event", ["Stop", "PostToolUse", "SessionEnd", "AfterAgent", "", "☂"])
def test_an_unknown_event_gives_nothing(place: Path, event: str) -> None:
    assert respond(place, {**HOSTS["codex"], "hook_event_name": event or "x"}, event="prompt") == ""
    assert respond(place, {}, event=event) == ""


def test_a_workspace_is_the_folder_that_the_host_names(place: Path, tmp_path: Path) -> None:
    (tmp_path / "w" / ".git").mkdir(parents=True)
    with open_engine(place) as engine:
        by = Caller(Origin.AGENT, "a", session="s", workspace=str((tmp_path / "w").resolve()))
        engine.remember(by, Draft("The winch is greased on Fridays"))
    asked = {"hook_event_name": "UserPromptSubmit", "prompt": "when is the winch greased?"}
    assert "Fridays" in respond(place, {**asked, "cwd": str(tmp_path / "w")})
    assert "Fridays" not in respond(place, {**asked, "cwd": "/"})


# --- what counts as a question ---


@pytest.mark.parametrize(
    ("prompt", "typed"),
    [
        ("which boat?", "which boat?"),
        (f"{OPEN}\nnotes about boats\n{CLOSE}\nwhich boat?", "which boat?"),
        (f"{OPEN}\nnotes without an end", ""),
        ("<system-reminder>boats\n\nboats</system-reminder>", ""),
        ("<task-notification>\n<id>1</id>\n</task-notification>go", "go"),
        ("/compact keep the boats", ""),
        ("/clear", ""),
        ("/home/ren/boats.txt is missing", "/home/ren/boats.txt is missing"),
        ("a < b and b > c", "a < b and b > c"),
        ("  \n ", ""),
    ],
)
def test_only_what_a_person_typed_counts(prompt: str, typed: str) -> None:
    assert user_text(prompt) == typed
    event = read_event("prompt", json.dumps({"hook_event_name": "UserPromptSubmit", "prompt": prompt}))
    assert event and event.question == typed


def test_the_last_text_of_a_person_is_taken_from_a_conversation(place: Path) -> None:
    messages = [
        {"role": "user", "content": "what is the pilot boat called?"},
        {"role": "assistant", "content": [{"type": "text", "text": "Let me look."}]},
        {"role": "user", "content": [{"type": "tool_result", "content": "harbour office"}]},
        {"role": "user", "content": [{"type": "text", "text": f"{OPEN}\nharbour\n{CLOSE}"}]},
    ]
    assert last_user_text(messages) == "what is the pilot boat called?"
    assert "Marlin" in respond(place, {"messages": messages})


def test_what_was_injected_is_never_fed_back(place: Path) -> None:
    first = injected(place, "claude-code", "UserPromptSubmit", prompt="what is the pilot boat called?")
    assert injected(place, "claude-code", "UserPromptSubmit", prompt=first) == ""


def test_short_texts_are_not_searched_for(place: Path) -> None:
    injected(place, "claude-code", "SessionStart", source="startup")
    for prompt in ("", "a", "?", "ok", "继续", 7, None):
        assert injected(place, "claude-code", "UserPromptSubmit", prompt=prompt) == ""


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_is_known_by_its_events(host: str) -> None:
    event = read_event("", json.dumps({**HOSTS[host], "hook_event_name": PROMPT[host]}))
    assert event and (event.agent, event.moment) == (host, Moment.PROMPT)
    bare = {key: value for key, value in HOSTS[host].items() if key != "transcript_path"}
    event = read_event("", json.dumps({**bare, "hook_event_name": PROMPT[host]}))
    assert event and event.agent == host
    named = read_event("", json.dumps({**bare, "hook_event_name": PROMPT[host]}), "mine")
    assert named and named.agent == "mine"


# --- the process ---


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return an environment in which modules are compiled already, as they are in an installation."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(tmp_path_factory.mktemp("pyc"))}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    code = "import engine.serve.hook, engine.serve.hook_session, engine.rules.secrets, tui.__main__, platformdirs.unix"
    subprocess.run([sys.executable, "-c", code], env=env, cwd=ROOT, check=True)
    return env


def run(env: dict[str, str], *arguments: str, stdin: str | bytes = "", **more: object) -> tuple[str, str, float]:
    """Run the hook as a process; it has to end with 0. Returns stdout, stderr and seconds."""
    begun = time.perf_counter()
    data = stdin.encode() if isinstance(stdin, str) else stdin
    command = [sys.executable, "-m", "tui", "hook", *arguments]
    done = subprocess.run(command, env=env, cwd=ROOT, input=data, capture_output=True, timeout=30, **more)  # type: ignore[call-overload]
    assert done.returncode == 0
    err = done.stderr.decode()
    assert err.count("\n") <= 1 and "Traceback" not in err
    return done.stdout.decode(), err, time.perf_counter() - begun


def asked(question: str, session: str = "p1") -> str:
    return json.dumps(
        {**HOSTS["claude-code"], "session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": question}
    )


def answer_of(env: dict[str, str], place: Path, question: str) -> str:
    """Return what the command prints when it has all the time that a busy machine needs."""
    code = "import sys; from engine.serve import hook; hook.LIMIT_S = 20; hook.main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "prompt", "--store", str(place)]
    done = subprocess.run(command, env=env, cwd=ROOT, input=asked(question).encode(), capture_output=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def test_the_command_answers(compiled: dict[str, str], place: Path) -> None:
    output = answer_of(compiled, place, "what is the pilot boat called?")
    assert "Marlin" in json.loads(output)["hookSpecificOutput"]["additionalContext"]


def test_the_command_loads_only_what_it_needs(place: Path) -> None:
    script = (
        "import sys; from engine.serve import hook\n"
        "class Leaving:\n    left_s = 1.0\n    def answer(self, output): assert output\n"
        f"text = {asked('what is the pilot boat called?')!r}\n"
        f"hook.respond(hook.Options('prompt', {str(place)!r}), text, Leaving())\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    heavy = {"textual", "rich", "httpx", "yaml", "click", "msgspec", "asyncio", "sqlite_utils", "tui", "logging"}
    assert loaded & heavy == set()
    slow = {"engine.facade", "engine.model.records", "engine.model.turns", "uuid"}
    assert slow & set(done.stdout.split()) == set()


@pytest.fixture
def broken(request: pytest.FixtureRequest, place: Path, tmp_path: Path) -> Iterator[Path]:
    """A store that cannot give an answer."""
    database = place / "memory.db"
    match request.param:
        case "missing":
            yield tmp_path / "nowhere"
            assert not (tmp_path / "nowhere").exists()
        case "empty folder":
            (tmp_path / "empty").mkdir()
            yield tmp_path / "empty"
            assert list((tmp_path / "empty").iterdir()) == []
        case "a file":
            (tmp_path / "file").write_text("x")
            yield tmp_path / "file"
        case "garbage":
            database.write_bytes(b"garbage" * 1_000)
            yield place
        case "torn":
            database.write_bytes(database.read_bytes()[:5_000])
            yield place
        case "newer":
            import sqlite3

            conn = sqlite3.connect(database)
            conn.execute("PRAGMA user_version = 999")
            conn.close()
            yield place


@pytest.mark.parametrize("broken", ["missing", "empty folder", "a file", "garbage", "torn", "newer"], indirect=True)
def test_a_store_that_cannot_be_read_gives_nothing(compiled: dict[str, str], broken: Path) -> None:
    output, err, _ = run(compiled, "prompt", "--store", str(broken), stdin=asked("what is the pilot boat called?"))
    assert output == "" and (err == "" or err.startswith("memdeck: hook: "))


@pytest.mark.parametrize(
    "stdin", [b"", b"\xff\xfe{", b"{" * 100_000, b"null", b'{"prompt": {"a": 1}, "session_id": []}']
)
@pytest.mark.parametrize("event", ["", "prompt", "SessionStart", "--bogus", "x" * 5_000])
def test_bad_input_gives_nothing_bad(place: Path, stdin: bytes, event: str) -> None:
    output = respond(place, stdin.decode("utf-8", "replace"), event=event)
    assert output == "" or output.startswith(OPEN)


@pytest.mark.parametrize(
    "arguments",
    [[], ["--store"], ["prompt", "--profile", "../x"], ["prompt", "--workspace=~nobody/x"], ["a", "b", "-v"]],
)
def test_a_wrong_command_line_stops_nobody(compiled: dict[str, str], arguments: list[str]) -> None:
    run(compiled, *arguments, stdin=asked("x"))


@pytest.mark.torture
def test_a_stopped_lock_holder_does_not_hold_the_hook(compiled: dict[str, str], place: Path) -> None:
    with lock_holder(place):
        taken = [
            run(compiled, "prompt", "--store", str(place), stdin=asked("which boat?", f"l{n}"))[2] for n in range(4)
        ]
        output = answer_of(compiled, place, "what is the pilot boat called?")
    assert "Marlin" in output
    assert min(taken) < 0.35


@pytest.mark.torture
def test_a_host_that_never_closes_stdin_is_left_in_time(compiled: dict[str, str], place: Path) -> None:
    taken = []
    for _ in range(4):
        begun = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "tui", "hook", "prompt", "--store", str(place)],
            env=compiled, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdin and process.stdout
        assert process.wait(30) == 0 and process.stdout.read() == b""
        taken.append(time.perf_counter() - begun)
        process.stdin.close()
        process.stdout.close()
    assert min(taken) < 0.4


@pytest.mark.torture
def test_a_full_disk_and_a_reader_that_left_are_nobodys_trouble(compiled: dict[str, str], place: Path) -> None:
    for target in ("/dev/full", None):
        if target is None:
            reading, writing = os.pipe()
            os.close(reading)
        elif Path(target).exists():
            writing = os.open(target, os.O_WRONLY)
        else:
            continue
        process = subprocess.run(
            [sys.executable, "-m", "tui", "hook", "prompt", "--store", str(place)],
            env=compiled, cwd=ROOT, input=asked("what is the pilot boat called?").encode(), stdout=writing,
            stderr=subprocess.PIPE, timeout=30,
        )  # fmt: skip
        os.close(writing)
        assert process.returncode == 0 and process.stderr.count(b"\n") <= 1


def test_debug_says_how_an_injection_came_about(place: Path, monkeypatch, capsys) -> None:
    question = {"hook_event_name": "UserPromptSubmit", "prompt": "what is the pilot boat called?"}
    plain = respond(place, question)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("MEMDECK_DEBUG", "1")
    assert respond(place, question) == plain
    line = json.loads(capsys.readouterr().err)
    assert line.keys() == {"scanned", "hits", "scores", "picked", "injected", "chars", "skippedByBudget"}
    assert "mem-1" in line["picked"] and line["chars"] > 100


def test_the_slow_way_through_the_command_line_answers_too(compiled: dict[str, str], place: Path) -> None:
    command = [sys.executable, "-m", "tui.cli", "--store", str(place), "hook", "nothing"]
    done = subprocess.run(command, env=compiled, cwd=ROOT, input=b"", capture_output=True, timeout=30)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
