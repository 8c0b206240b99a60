"""Clients that nobody here wrote, end to end over `memdeck mcp`; they run when MEMDECK_CLIENTS names their directory.

npm i --prefix DIR @modelcontextprotocol/inspector mcporter     (Node 24; a venv-node/bin inside DIR comes first)
MEMDECK_CLIENTS=DIR pytest -m clients
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.serve.conftest import ROOT

pytestmark = pytest.mark.clients

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a function that runs a client from MEMDECK_CLIENTS with a home of its own."""
    place = Path(os.environ["MEMDECK_CLIENTS"]).resolve()
    home = tmp_path / "home"
    home.mkdir()
    env = {
        "PATH": os.pathsep.join([str(place / "venv-node/bin"), "/usr/local/bin:/usr/bin:/bin"]),
        "HOME": str(home),
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
        "MCP_CATALOG_PATH": str(home / "catalog.json"),
    }

    def client(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(place / "node_modules/.bin" / name), *arguments]
        return subprocess.run(
            command, cwd=home, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90
        )

    return client


@pytest.fixture
def server(tmp_path: Path) -> list[str]:
    """Return the command of a stdio server on a store of its own, which needs no environment."""
    script = tmp_path / "memdeck"
    script.write_text(
        f"#!/bin/sh\nPYTHONPATH='{ROOT}' exec '{sys.executable}' -m tui.cli --store '{tmp_path / 'store'}' mcp\n",
        encoding="utf-8",
    )
    script.chmod(0o755)
    return [str(script)]


@pytest.mark.parametrize("era", ["legacy", "modern", "auto"])
def test_the_inspector_lists_the_tools_in_each_era(run: Run, server: list[str], era: str) -> None:
    done = run(
        "mcp-inspector",
        "--cli",
        *server,
        "--protocol-era",
        era,
        "--method",
        "tools/list",
        "--format",
        "json",
        "--strict",
    )
    assert done.returncode == 0, done.stderr
    assert '"recall"' in done.stdout and '"remember"' in done.stdout


def test_the_inspector_remembers_and_is_told_of_bad_arguments(run: Run, server: list[str]) -> None:
    call = ("mcp-inspector", "--cli", *server, "--method", "tools/call", "--tool-name")
    kept = run(*call, "remember", "--tool-arg", "text=Bob lives in Kyoto near the river")
    assert kept.returncode == 0 and "structuredContent" in kept.stdout, kept.stderr
    refused = run(*call, "recall", "--tool-arg", "limit=many")
    assert refused.returncode == 5 and "tool_is_error" in refused.stdout + refused.stderr


def test_the_inspectors_load_meets_no_error(run: Run, server: list[str]) -> None:
    done = run(
        "mcp-inspector", "--cli", *server, "--method", "tools/call", "--tool-name", "recall", "--tool-arg", "query=zzz",
        "--load", "--load-concurrency", "8", "--load-duration", "2",
    )  # fmt: skip
    assert '"errorRate": 0,' in done.stdout, done.stdout + done.stderr


def test_mcporter_recalls_what_it_remembered(run: Run, server: list[str]) -> None:
    kept = run(
        "mcporter", "call", "--stdio", *server, "remember", "text=Alice keeps her bees in Kyoto", "--output", "json"
    )
    assert kept.returncode == 0, kept.stderr
    found = run("mcporter", "call", "--stdio", *server, "recall", "query=bees", "--output", "json")
    assert "Kyoto" in json.dumps(found.stdout, ensure_ascii=False)
