"""What goes over the line in both eras and in plain JSON-RPC."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.serve.conftest import Raw, Server

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
CLIENT = "io.modelcontextprotocol/clientInfo"
SERVER = "io.modelcontextprotocol/serverInfo"
MODERN = {VERSION: "2026-07-28", CAPABILITIES: {}, CLIENT: {"name": "modern", "version": "1"}}


def initialize(raw: Raw, version: object, capabilities: object = None) -> dict[str, Any]:
    info = {"name": "hand", "version": "1"}
    return raw.ask("initialize", {"protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": info})


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_initialize_agrees_to_a_known_version(raw: Raw, version: str) -> None:
    result = initialize(raw, version)["result"]
    assert result["protocolVersion"] == version
    assert result["serverInfo"]["name"] == "memdeck"
    assert "tools" in result["capabilities"]
    assert "resultType" not in result


@pytest.mark.parametrize("version", ["2026-07-28", "1999-01-01", "", None, 7])
def test_initialize_answers_an_unknown_version_with_the_newest_of_its_era(raw: Raw, version: object) -> None:
    assert initialize(raw, version)["result"]["protocolVersion"] == "2025-11-25"


def test_the_handshake_era_has_ping_levels_and_plain_results(raw: Raw) -> None:
    initialize(raw, "2025-11-25")
    raw.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert raw.ask("ping")["result"] == {}
    assert raw.ask("logging/setLevel", {"level": "debug"})["result"] == {}
    result = raw.ask("tools/list")["result"]
    assert set(result) == {"tools"}
    assert raw.ask("tools/list")["result"] == result


def test_discover_names_the_modern_versions(raw: Raw) -> None:
    result = raw.ask("server/discover", {"_meta": MODERN})["result"]
    assert result["resultType"] == "complete"
    assert result["supportedVersions"] == ["2026-07-28"]
    assert result["_meta"][SERVER]["name"] == "memdeck"
    assert result["ttlMs"] >= 0 and result["cacheScope"] in ("public", "private")
    assert "tools" in result["capabilities"] and result["instructions"]


def test_a_modern_request_needs_no_handshake_and_gets_a_stamped_result(raw: Raw) -> None:
    listed = raw.ask("tools/list", {"_meta": MODERN})["result"]
    assert listed["resultType"] == "complete" and listed["ttlMs"] >= 0 and listed["cacheScope"] == "public"
    called = raw.ask("tools/call", {"name": "status", "arguments": {}, "_meta": MODERN})["result"]
    assert called["resultType"] == "complete" and called["_meta"][SERVER]["version"]
    assert called["structuredContent"]["data"]["who"] == "modern"


def test_an_unknown_modern_version_is_told_what_is_supported(raw: Raw) -> None:
    for method, params in (("server/discover", {}), ("tools/call", {"name": "status"}), ("tools/list", {})):
        error = raw.ask(method, {**params, "_meta": MODERN | {VERSION: "2030-01-01"}})["error"]
        assert error["code"] == -32022
        assert error["data"] == {"supported": ["2026-07-28"], "requested": "2030-01-01"}


def test_a_half_built_modern_envelope_is_refused_with_the_missing_key(raw: Raw) -> None:
    error = raw.ask("tools/list", {"_meta": {VERSION: "2026-07-28"}})["error"]
    assert error["code"] == -32602 and CAPABILITIES in error["message"]
    error = raw.ask("tools/list", {"_meta": MODERN | {VERSION: 5}})["error"]
    assert error["code"] == -32602
    error = raw.ask("server/discover", {})["error"]
    assert error["code"] == -32602 and VERSION in error["message"]


def test_levels_are_gone_in_the_modern_era(raw: Raw) -> None:
    assert raw.ask("logging/setLevel", {"level": "debug", "_meta": MODERN})["error"]["code"] == -32601


def test_the_text_block_repeats_the_structured_envelope(raw: Raw) -> None:
    result = raw.ask("tools/call", {"name": "remember", "arguments": {"text": "Zoë's 茶\u0000\u001b[31m \u2028 ☕"}})[
        "result"
    ]
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert result["content"][0]["type"] == "text"
    assert set(result["structuredContent"]) == {"ok", "data", "notes", "warnings"}
    assert result["isError"] is False


def test_a_tools_error_is_in_the_result(raw: Raw) -> None:
    result = raw.ask("tools/call", {"name": "remember", "arguments": {"text": "收到"}})["result"]
    assert result["isError"] is True
    assert result["structuredContent"] == {
        "ok": False,
        "error": {"code": "refused_noise", "message": "this says nothing to remember", "hint": "leave it"},
    }


@pytest.mark.parametrize(
    "params", [{}, {"name": 5}, {"name": "recall", "arguments": ["x"]}, {"name": "recall", "arguments": "x"}]
)
def test_a_call_of_the_wrong_shape_is_a_protocol_error(raw: Raw, params: dict[str, Any]) -> None:
    assert raw.ask("tools/call", params)["error"]["code"] == -32602


def test_an_exception_inside_becomes_internal_without_its_text(raw: Raw, server: Server) -> None:
    answer = raw.ask("memdeck/remember", {"text": "boom"})
    assert answer["result"]["error"]["code"] == "internal"
    assert "secret" not in json.dumps(answer) and "Traceback" not in json.dumps(answer)
    server.wait_for("RuntimeError at")
    assert not any("secret text" in line for line in server.said)


def test_plain_calls_need_no_handshake_and_return_the_envelope(raw: Raw) -> None:
    answer = raw.ask("memdeck/remember", {"text": "Bob lives in Kyoto"}, id="a")
    assert answer["id"] == "a" and answer["result"]["ok"]
    answer = raw.ask("memdeck/recall", {"query": "kyoto"})
    assert answer["result"]["data"]["hits"][0]["text"] == "Bob lives in Kyoto"
    assert raw.ask("memdeck/nope", {})["result"]["error"]["code"] == "unknown_tool"


def test_who_and_where_come_from_the_connection_and_meta_not_from_arguments(raw: Raw, tmp_path: Path) -> None:
    first = raw.ask("memdeck/status", {"session": "stolen", "workspace": "/etc", "actor": "root"})["result"]
    assert first["data"]["who"] == "script"
    assert first["data"]["session"].startswith("conn-")
    assert first["data"]["workspace"] == str(Path(__file__).parents[2])
    assert first["notes"] == ["unknown argument ignored: session, workspace, actor"]
    meta = {"memdeck/session": "s-1", "memdeck/workspace": str(tmp_path), CLIENT: {"name": "my\nscript"}}
    named = raw.ask("memdeck/status", {"_meta": meta})["result"]["data"]
    assert (named["who"], named["session"], named["workspace"]) == ("my script", "s-1", str(tmp_path))
    again = raw.ask("memdeck/status", {})["result"]["data"]
    assert again["session"] == first["data"]["session"]


def test_two_connections_are_two_sessions(server: Server) -> None:
    with Raw(server.path) as one, Raw(server.path) as two:
        sessions = {raw.ask("memdeck/status")["result"]["data"]["session"] for raw in (one, two)}
    assert len(sessions) == 2


def test_a_key_makes_a_repeated_write_one(raw: Raw) -> None:
    params = {"text": "the kettle is blue", "_meta": {"memdeck/key": "k-1"}}
    refs = {raw.ask("memdeck/remember", params)["result"]["data"]["ref"] for _ in range(3)}
    assert len(refs) == 1
    for bad in ("k" * 201, "", 7):
        refused = raw.ask("memdeck/remember", params | {"_meta": {"memdeck/key": bad}})["result"]
        assert refused["error"]["code"] == "invalid_argument"


def test_a_client_that_offers_roots_is_asked_and_one_that_is_slow_is_not_waited_for(
    start: Callable[..., Server],
) -> None:
    with Raw(start().path) as raw:
        initialize(raw, "2025-11-25", {"roots": {"listChanged": True}})
        raw.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        asked = raw.line()
        assert asked and asked["method"] == "roots/list"
        assert raw.ask("memdeck/status")["result"]["ok"]
        began = time.monotonic()
        assert raw.ask("memdeck/status")["result"]["ok"]
        assert time.monotonic() - began < 0.4
        raw.send({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -1, "message": "no"}})
        assert raw.ask("memdeck/status")["result"]["ok"]


def test_nothing_is_sent_unasked_on_an_idle_connection(raw: Raw) -> None:
    initialize(raw, "2025-11-25")
    raw.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    raw.sock.settimeout(0.3)
    with pytest.raises(TimeoutError):
        raw.sock.recv(1)
