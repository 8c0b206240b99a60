"""The tool tag over a real engine: what agents look up, change and propose, in short results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.facade import Engine, open_engine
from engine.model.enums import Origin, TagStatus
from engine.model.memory import Caller, Draft
from engine.serve.dispatch import call_tool
from engine.serve.tools import list_tools
from tests.serve.test_tools import tokens

OWNER = Caller(Origin.TUI, "owner")
AGENT = Caller(Origin.AGENT, "codex", session="s")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with open_engine(tmp_path / "store", env={}) as opened:
        opened.remember(OWNER, Draft("The certificate is renewed by cron", tags=("cert", "gateway")))
        opened.remember(OWNER, Draft("Ana orders the paper", tags=("TLS",)))
        yield opened


def call(engine: Engine, tool: str = "tag", /, **arguments: object) -> dict[str, Any]:
    return json.loads(call_tool(engine, AGENT, tool, arguments).as_json())


def data(engine: Engine, **arguments: object) -> dict[str, Any]:
    envelope = call(engine, **arguments)
    assert envelope["ok"], envelope
    return envelope["data"]


def test_a_tag_is_looked_up_with_what_it_leads_to(engine: Engine) -> None:
    engine.relate(OWNER, "cert", "TLS", "synonym")
    assert data(engine, name="Cert") == {
        "tag": "cert", "code": "TAG_CONTENT_CERT_013", "status": "active", "memories": 1,
        "relations": ["synonym: TLS"], "beside": ["gateway"], "lacks": ["definition", "dimensions"],
    }  # fmt: skip
    assert data(engine, action="find", name="c") == {"tags": ["cert (1)"], "more": 0}


def test_reversible_changes_take_effect_and_a_merge_waits(engine: Engine) -> None:
    assert data(engine, action="relate", name="cert", other="gateway")["tag"] == "cert"
    assert data(engine, action="align", name="cert", definition="x509", dimensions=["content"])["status"] == "active"
    assert data(engine, action="add", name="hall")["status"] == "unexamined"
    assert data(engine, action="activate", name="hall")["status"] == "active"
    assert data(engine, action="deprecate", name="hall", reason="unused")["status"] == "deprecated"
    asked = call(engine, action="merge", name="cert", target="TLS", reason="the same")
    assert asked["data"]["review"] and asked["notes"] == ["a merge waits for the owner, who decides"]
    assert engine.tag(OWNER, "cert").status is TagStatus.ACTIVE
    done = data(engine, action="evolve", actions=[{"action": "activate", "tag": "nobody"}])
    assert done["results"] == [{"n": 1, "ok": False, "code": "unknown_tag", "note": "there is no tag 'nobody'"}]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "invalid_argument"),
        ({"action": "split", "name": "cert"}, "invalid_argument"),
        ({"name": "nobody"}, "unknown_tag"),
        ({"action": "relate", "name": "cert"}, "invalid_argument"),
        ({"action": "relate", "name": "cert", "other": "CERT"}, "self_relation"),
        ({"action": "deprecate", "name": "cert"}, "invalid_argument"),
        ({"action": "add", "name": "东西"}, "generic_rule"),
        ({"action": "add", "name": "x" * 10_000}, "invalid_argument"),
        ({"action": "evolve", "actions": [3]}, "invalid_argument"),
    ],
)
def test_what_cannot_be_done_is_one_line(engine: Engine, arguments: dict[str, object], code: str) -> None:
    error = call(engine, **arguments)["error"]
    assert error["code"] == code and "\n" not in error["message"] + error["hint"] and len(json.dumps(error)) < 300


def test_recall_names_missing_and_malformed_tags(engine: Engine) -> None:
    found = call(engine, "recall", query="", tags=["cert", "从未见过"], channel="tags")["data"]
    assert (found["missing_tags"], found["malformed_tags"]) == (["从未见过"], ["cert"])
    assert found["hits"][0]["why"] == "tags: cert"
    assert "malformed_tags" not in call(engine, "recall", query="cert")["data"]


def test_a_result_stays_short_however_much_there_is(engine: Engine) -> None:
    for n in range(60):
        engine.add_tag(OWNER, f"a tag with a rather long name, number {n}"[-40:])
    engine.edit_tag(OWNER, "cert", {"synonyms": [f"another long synonym {n:02d}" for n in range(24)]})
    for arguments in ({"name": "cert"}, {"action": "find", "name": "tag"}):
        assert tokens(json.dumps(call(engine, **arguments), ensure_ascii=False)) <= 600


def test_the_tool_is_shown_in_full_only_and_within_its_budget() -> None:
    assert "tag" not in {t["name"] for t in list_tools()} and "tag" in {t["name"] for t in list_tools("full")}
    text = json.dumps({"tools": list_tools("full")}, separators=(",", ":"), ensure_ascii=False)
    assert tokens(text) <= 2000, tokens(text)
