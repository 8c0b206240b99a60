"""The official Python SDK as an oracle: both eras, over the socket and over stdio."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.serve.conftest import FAKES, Server, environment

mcp = pytest.importorskip("mcp")
mcp_types = pytest.importorskip("mcp_types")
from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: E402
from mcp.shared.message import SessionMessage  # noqa: E402

NEWEST = {"auto": "2026-07-28", "legacy": "2025-11-25"}


@asynccontextmanager
async def unix_socket(path: Path) -> AsyncIterator[Any]:
    """Yield the message streams of one connection that speaks lines of JSON."""
    to_us, read = anyio.create_memory_object_stream[Any](64)
    write, from_us = anyio.create_memory_object_stream[Any](64)
    async with await anyio.connect_unix(str(path)) as stream, anyio.create_task_group() as tasks:

        async def receive() -> None:
            pending = b""
            async with to_us:
                async for chunk in stream:
                    *lines, pending = (pending + chunk).split(b"\n")
                    for line in lines:
                        message = mcp_types.jsonrpc_message_adapter.validate_json(line)
                        await to_us.send(SessionMessage(message))

        async def send() -> None:
            async with from_us:
                async for item in from_us:
                    text = item.message.model_dump_json(by_alias=True, exclude_none=True)
                    await stream.send(text.encode() + b"\n")

        tasks.start_soon(receive)
        tasks.start_soon(send)
        async with read, write:
            yield read, write
        tasks.cancel_scope.cancel()


@pytest.fixture(params=["socket", "stdio"])
def transport(request: pytest.FixtureRequest, server: Server, tmp_path: Path) -> Callable[[], Any]:
    if request.param == "socket":
        return lambda: unix_socket(server.path)
    command = StdioServerParameters(
        command=sys.executable, args=[str(FAKES), str(tmp_path), "--stdio"], env=environment()
    )
    return lambda: stdio_client(command)


def with_client(transport: Callable[[], Any], mode: str, use: Callable[[Any], Awaitable[None]]) -> None:
    async def main() -> None:
        info = mcp_types.Implementation(name="oracle", version="1")
        async with mcp.Client(transport(), mode=mode, client_info=info) as client:
            await use(client)

    anyio.run(main)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_sdk_client_finds_calls_and_misuses_the_tools(transport: Callable[[], Any], mode: str) -> None:
    async def use(client: Any) -> None:
        assert client.protocol_version == NEWEST[mode]
        assert client.server_info.name == "memdeck"
        assert "recall" in client.instructions
        tools = (await client.list_tools()).tools
        assert [t.name for t in tools][:5] == ["context", "recall", "read", "remember", "forget"]
        assert {t.name for t in tools if t.annotations.read_only_hint} == {"context", "recall", "read", "status"}
        written = await client.call_tool("remember", {"text": "Alice likes 龙井 tea from Hangzhou"})
        assert written.structured_content["data"]["revision"] == 1
        assert not written.is_error
        found = await client.call_tool("recall", {"query": "hangzhou"})
        assert "龙井" in found.structured_content["data"]["hits"][0]["text"]
        assert "龙井" in found.content[0].text
        wrong = await client.call_tool("recall", {"query": "x", "limit": "many"})
        assert wrong.is_error and wrong.structured_content["error"]["code"] == "invalid_argument"
        unknown = await client.call_tool("nope", {})
        assert unknown.is_error and unknown.structured_content["error"]["code"] == "unknown_tool"
        who = (await client.call_tool("status", {})).structured_content["data"]
        assert who["who"] == "oracle"
        assert who["workspace"]

    with_client(transport, mode, use)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_many_calls_at_once_each_get_their_own_answer(transport: Callable[[], Any], mode: str) -> None:
    async def use(client: Any) -> None:
        answers: dict[int, str] = {}

        async def one(number: int) -> None:
            result = await client.call_tool("remember", {"text": f"fact {number}"})
            read = await client.call_tool("read", {"refs": [result.structured_content["data"]["ref"]]})
            answers[number] = read.structured_content["data"]["pages"][0]["text"]

        async with anyio.create_task_group() as tasks:
            for number in range(100):
                tasks.start_soon(one, number)
        assert answers == {n: f"fact {n}" for n in range(100)}

    with_client(transport, mode, use)


def test_roots_tell_the_workspace_in_the_handshake_era(server: Server, tmp_path: Path) -> None:
    async def roots(context: Any) -> Any:
        return mcp_types.ListRootsResult(roots=[mcp_types.Root(uri=tmp_path.as_uri(), name="here")])

    async def main() -> None:
        async with mcp.Client(unix_socket(server.path), mode="legacy", list_roots_callback=roots) as client:
            who = (await client.call_tool("status", {})).structured_content["data"]
            assert who["workspace"] == str(tmp_path)

    anyio.run(main)
