"""The tool turn and Wangdefa's names for it, on the real engine (W44-W48, W54, W66, W67)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.facade import Engine, open_engine
from engine.model.enums import Origin
from engine.model.errors import MemdeckError
from engine.model.memory import Caller
from engine.serve.dispatch import call_tool
from engine.serve.protocol import Door
from engine.serve.tools import PROFILES, list_tools
from tests.serve.conftest import environment

CALLER = Caller(Origin.AGENT, "tester", session="s")
OWNER = Caller(Origin.TUI, "owner")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with open_engine(tmp_path / "store", env={}) as opened:
        yield opened


def call(engine: Engine, tool: str, /, key: str | None = None, **arguments: object) -> dict[str, Any]:
    return json.loads(call_tool(engine, CALLER, tool, arguments, key=key).as_json())  # type: ignore[no-any-return]


def tokens(text: str) -> int:
    return len(pytest.importorskip("bpe_openai").get_encoding("o200k_base").encode(text))


def listed(profile: str, *, turns: bool = False) -> str:
    return json.dumps({"tools": list_tools(profile, turns=turns)}, separators=(",", ":"), ensure_ascii=False)


def test_a_turn_begins_and_ends(engine: Engine) -> None:
    begun = call(engine, "turn", phase="begin", message="How is the gateway deployed?", thread="a")["data"]
    assert begun["card"].startswith("认知_") and begun["memory"] == [] and begun["store"] == str(engine.store_dir)
    ended = call(engine, "turn", phase="end", card=begun["card"], response="By the release script.")
    assert ended["ok"] and ended["data"] | {"ref": "mem-1@2", "state": "active"} == ended["data"]
    again = call(engine, "turn", phase="begin", message="And how is the gateway rolled back?")["data"]
    assert again["memory"][0]["summary"] == "By the release script." and again["memory"][0]["fit"].endswith("%")
    assert (
        call(engine, "read", refs=[begun["card"]], part="full")["data"]["pages"][0]["body"].count("release script") == 3
    )


def test_an_analysis_may_come_as_an_object_or_as_json(engine: Engine) -> None:
    for given in ({"tags": ["gateway"]}, '{"structured_tags": [{"tag": "gateway"}]}'):
        data = call(engine, "turn", phase="begin", message="well then", analysis=given)["data"]
        assert (data["analysed_by"], data["unknown_tags"]) == ("agent", ["gateway"])


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "invalid_argument"),
        ({"phase": "middle"}, "invalid_argument"),
        ({"phase": "begin"}, "invalid_argument"),
        ({"phase": "end", "response": "x"}, "invalid_argument"),
        ({"phase": "end", "card": "认知_0", "response": "x"}, "not_found"),
        ({"phase": "begin", "message": "x y", "analysis": "not json"}, "invalid_argument"),
        ({"phase": "end", "card": "认知_0", "status": "done"}, "invalid_argument"),
    ],
)
def test_a_mistake_gets_one_line(engine: Engine, arguments: dict[str, object], code: str) -> None:
    envelope = call(engine, "turn", **arguments)
    assert (envelope["ok"], envelope["error"]["code"]) == (False, code)
    assert "Traceback" not in json.dumps(envelope) and "\n" not in envelope["error"]["message"]


def test_results_stay_short_whatever_comes_back(engine: Engine) -> None:
    for number in range(4):
        frame = call(engine, "turn", phase="begin", message=f"网关的证书怎么续期 {number}")["data"]
        said = {"overview": "证书由定时任务每天检查一次并且续期。" * 80, "summary": "续期" * 200}
        call(engine, "turn", phase="end", card=frame["card"], response="很长的回答。" * 900, analysis=said)
    asked = {"route": "deep", "injection": "full", "intent": "查询", "tags": ["网关", "证书"]}
    envelope = call(engine, "turn", phase="begin", message="网关的证书", analysis=asked)
    assert len(envelope["data"]["memory"]) == 3
    assert tokens(json.dumps(envelope, ensure_ascii=False)) <= 600


def test_the_same_key_begins_one_turn(engine: Engine) -> None:
    cards = {call(engine, "turn", "k", phase="begin", message="deploy the gateway")["data"]["card"] for _ in range(3)}
    assert len(cards) == 1 and engine.counts(OWNER).memories == 1


def test_the_profiles_list_what_they_say_within_their_budget(engine: Engine) -> None:
    assert "turn" not in [t["name"] for t in list_tools()]
    assert [t["name"] for t in list_tools(turns=True)][-1] == "turn"
    assert "turn" in [t["name"] for t in list_tools("full")]
    assert [t["name"] for t in list_tools("wangdefa")] == ["process_message", "save_memory"]
    assert tokens(listed("core", turns=True)) <= 1400 and tokens(listed("full")) <= 2000


def test_a_door_opens_with_a_profile_and_follows_the_setting(engine: Engine) -> None:
    doors = [Door.to(engine, profile) for profile in PROFILES]
    assert not any(door.turns for door in doors)
    engine.set_setting(OWNER, "turns.enabled", True)
    doors.append(Door.to(engine))
    assert doors[-1].turns and doors[-1].tools == "core"
    for door in doors:
        door.close()
    with pytest.raises(MemdeckError, match="no profile of tools"):
        Door.to(engine, "everything")


# ------------------------------------------------------------------ Wangdefa


def test_process_message_on_an_empty_store(engine: Engine) -> None:
    data = call(engine, "process_message", input="帮我重构 login 模块，123")["data"]
    assert list(data) == ["enrichedInput", "intent", "hasMemory", "memory", "missingTags", "frameId"]
    assert (data["hasMemory"], data["memory"], data["missingTags"], data["intent"]) == (False, None, 3, "查询")
    assert data["frameId"].startswith("认知_") and "帮我重构 login 模块，123" in data["enrichedInput"]
    assert engine.card(OWNER, data["frameId"]).thread == "default"


@pytest.mark.parametrize(
    "names",
    [
        {"userInput": "部署网关", "agentResponse": "好了", "status": "completed"},
        {"agentResponse": "好了", "status": "completed"},
        {"response": "好了"},
        {"user_input": "部署网关", "agent_response": "好了", "errorMessage": ""},
    ],
)
def test_save_memory_takes_both_orders_of_arguments(engine: Engine, names: dict[str, object]) -> None:
    card = call(engine, "process_message", input="部署网关", sessionId="a/b:c")["data"]["frameId"]
    saved = call(engine, "save_memory", cardId=card, **names)
    assert saved["data"]["success"] is True and card in saved["data"]["message"]
    data = call(engine, "process_message", input="再部署网关")["data"]
    assert data["hasMemory"] and data["memory"]["summary"] == "好了"
    assert list(data["memory"]) == ["summary", "tags", "confidence", "preferences"]


def test_save_memory_says_what_is_wrong(engine: Engine) -> None:
    assert call(engine, "save_memory", cardId="认知_0", agentResponse="x")["error"]["code"] == "not_found"
    card = call(engine, "process_message", input="部署网关")["data"]["frameId"]
    assert (
        call(engine, "save_memory", cardId=card, agentResponse="x", status="done")["error"]["code"] == "invalid_status"
    )
    failed = call(engine, "save_memory", cardId=card, agentResponse="", status="failed", errorMessage="网断了")
    assert failed["data"]["success"] and engine.card(OWNER, card).summary == "网断了"


def test_a_client_over_stdio_is_shown_the_tools_that_were_asked_for(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "engine.serve", "--store", str(tmp_path / "s"), "--stdio", "--tools", "wangdefa"]
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    done = subprocess.run(
        command,
        input=json.dumps(asked) + "\n",
        env=environment(),
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    answer = json.loads(done.stdout)
    assert [tool["name"] for tool in answer["result"]["tools"]] == ["process_message", "save_memory"]
    wrong = subprocess.run(
        [*command[:-1], "nobody"], input="", env=environment(), capture_output=True, text=True, timeout=20
    )
    assert wrong.returncode == 1 and wrong.stderr.count("\n") == 1 and "wangdefa" in wrong.stderr
