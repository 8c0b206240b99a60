"""Bad lines, floods, slow readers, many connections: each is answered or bounded, and others are served."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.serve.conftest import Raw, Server

PING = {"jsonrpc": "2.0", "id": "p", "method": "ping"}


def recall(id: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": id, "method": "memdeck/recall", "params": {"query": "tea"}}


def ask_ping(server: Server) -> dict[str, Any]:
    with Raw(server.path) as raw:
        return raw.ask("ping")


def eventually(true: Callable[[], bool], seconds: float = 5) -> bool:
    limit = time.monotonic() + seconds
    while not (now := true()) and time.monotonic() < limit:
        time.sleep(0.02)
    return now


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"garbage", -32700),
        (b"{", -32700),
        (b"\xff\xfe\x00", -32700),
        (b'{"a": "\xed\xa0\x80"}', -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "\\ud800"}', -32700),
        (b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', -32700),
        (b'{"jsonrpc": "2.0", "id": 1e999, "method": "ping"}', -32700),
        (b"[" * 100_000, -32700),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, -32700),
        (b"[]", -32600),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
        (b"null", -32600),
        (b'"ping"', -32600),
        (b'{"id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 7}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1}', -32600),
        (b'{"jsonrpc": "2.0", "method": "tools/call", "params": {}}', -32600),
    ],
)
def test_a_bad_line_is_answered_with_id_null_and_the_connection_goes_on(raw: Raw, line: bytes, code: int) -> None:
    raw.send(line)
    answer = raw.line()
    assert answer is not None
    assert answer["error"]["code"] == code
    assert answer["id"] is None
    assert raw.ask("ping", id="after") == {"jsonrpc": "2.0", "id": "after", "result": {}}


def test_a_list_of_params_is_refused_with_the_requests_id(raw: Raw) -> None:
    answer = raw.ask("memdeck/recall", ["tea"], id=3)
    assert (answer["id"], answer["error"]["code"]) == (3, -32602)


def test_an_unknown_method_is_refused(raw: Raw) -> None:
    assert raw.ask("resources/list")["error"]["code"] == -32601


def test_empty_lines_and_carriage_returns_are_no_matter(raw: Raw) -> None:
    raw.send(b"", b"  ", b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\r')
    assert raw.line() == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_unknown_notifications_and_answers_are_passed_over(raw: Raw) -> None:
    raw.send({"jsonrpc": "2.0", "method": "notifications/whatever"}, {"jsonrpc": "2.0", "id": 9, "result": {}})
    assert raw.ask("ping")["result"] == {}


def test_an_id_that_is_in_flight_is_refused(start: Callable[..., Server]) -> None:
    with Raw(start("0.3").path) as raw:
        raw.send(recall(1), recall(1))
        first, second = raw.line(), raw.line()
        assert first and first["error"]["code"] == -32600 and first["id"] is None
        assert second and second["result"]["ok"]


def test_a_whole_number_of_any_size_is_an_id(raw: Raw) -> None:
    assert raw.ask("ping", id=10**30)["id"] == 10**30


def test_six_megabytes_without_a_newline_are_cut_off_and_cost_no_memory(server: Server) -> None:
    before = server.rss_mb()
    with Raw(server.path) as raw:
        for _ in range(6 * 16):
            raw.sock.sendall(b"x" * 65536)
        answer = raw.line()
        assert answer and answer["error"]["code"] == -32600
        raw.send(b"x" * 100)
        assert raw.ask("ping")["result"] == {}
        raw.sock.sendall(b"y" * 1000)
        raw.half_close()
        assert raw.line() is not None  # the last bytes, no JSON, are answered as well
        assert raw.line() is None
    assert server.rss_mb() - before < 20


def test_a_line_of_just_under_four_mebibytes_is_read(raw: Raw) -> None:
    text = "x" * (4 * 1024 * 1024 - 200)
    answer = raw.ask("memdeck/recall", {"query": text})
    assert answer["result"]["ok"]


def test_a_client_that_never_reads_is_dropped_and_others_are_served(start: Callable[..., Server]) -> None:
    server = start(env={"FAKE_DRAIN_S": "1"})
    with Raw(server.path) as deaf, Raw(server.path) as other:
        deaf.sock.setblocking(False)
        flood = b'{"jsonrpc":"2.0","id":"p","method":"tools/list"}\n' * 200
        sent, slowest, deadline = 0, 0.0, time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                sent += deaf.sock.send(flood)
            except BlockingIOError:
                time.sleep(0.02)
            except (BrokenPipeError, ConnectionResetError):
                break
            began = time.monotonic()
            assert other.ask("ping")["result"] == {}
            slowest = max(slowest, time.monotonic() - began)
        else:
            pytest.fail("the deaf client was not dropped")
        assert slowest < 1
        assert server.rss_mb() < 60
        server.wait_for("does not read")


def test_calls_beyond_sixty_four_wait_in_the_clients_buffers(start: Callable[..., Server]) -> None:
    server = start("0.01")
    with Raw(server.path) as raw:
        raw.send(*(recall(n) for n in range(300)))
        answers = [raw.line() for _ in range(300)]
    assert {a["id"] for a in answers if a} == set(range(300))


def test_the_hundred_and_twenty_ninth_connection_is_told_so(start: Callable[..., Server]) -> None:
    server = start()
    held = [Raw(server.path) for _ in range(128)]
    try:
        assert held[-1].ask("ping")["result"] == {}
        with Raw(server.path) as refused:
            answer = refused.line()
            assert answer and answer["error"]["code"] == 4002
            assert refused.line() is None
        held.pop().close()
        assert eventually(lambda: "result" in ask_ping(server))
    finally:
        for raw in held:
            raw.close()


def test_many_connect_at_one_instant(start: Callable[..., Server]) -> None:
    server = start()
    socks = [socket.socket(socket.AF_UNIX) for _ in range(400)]
    try:
        for sock in socks:
            sock.setblocking(False)
            sock.connect(str(server.path))
    finally:
        for sock in socks:
            sock.close()
    assert eventually(lambda: "result" in ask_ping(server))


def test_calls_are_answered_after_a_half_close(start: Callable[..., Server]) -> None:
    with Raw(start("0.3").path) as raw:
        raw.send(recall(1), recall(2))
        raw.half_close()
        assert {raw.line()["id"], raw.line()["id"]} == {1, 2}  # type: ignore[index]
        assert raw.line() is None


def test_a_last_line_without_its_newline_counts(raw: Raw) -> None:
    raw.sock.sendall(b'{"jsonrpc": "2.0", "id": 5, "method": "memdeck/status"}')
    raw.half_close()
    answer = raw.line()
    assert answer and answer["id"] == 5 and answer["result"]["ok"]


def test_a_cancelled_call_is_not_answered(start: Callable[..., Server]) -> None:
    with Raw(start("0.3").path) as raw:
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        raw.send(recall(1), cancel, recall(2))
        answer = raw.line()
        assert answer and answer["id"] == 2
        raw.half_close()
        assert raw.line() is None


def test_a_read_sees_what_its_connection_wrote_before(start: Callable[..., Server]) -> None:
    with Raw(start("0.05").path) as raw:
        write = {"jsonrpc": "2.0", "id": "w", "method": "memdeck/remember", "params": {"text": "tea is green"}}
        raw.send(write, recall("r"))
        answers = {a["id"]: a for a in (raw.line(), raw.line()) if a}
        assert len(answers["r"]["result"]["data"]["hits"]) == 1


def test_a_client_that_goes_away_mid_call_hurts_nobody(server: Server) -> None:
    for _ in range(20):
        with Raw(server.path) as raw:
            raw.send(recall(1), PING)
    with Raw(server.path) as raw:
        assert raw.ask("ping")["result"] == {}
    assert not any("Traceback" in line for line in server.said)


def test_file_descriptors_do_not_pile_up(server: Server) -> None:
    def count() -> int:
        return len(os.listdir(f"/proc/{server.process.pid}/fd"))

    with Raw(server.path) as raw:
        raw.ask("ping")
        before = count()
    for _ in range(50):
        with Raw(server.path) as raw:
            raw.ask("ping")
    assert eventually(lambda: count() <= before)
