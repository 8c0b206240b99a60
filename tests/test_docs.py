"""The README says what is there: every command, every tool, files that exist, one test command for .ci/run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.serve.tools import TOOLS
from engine.settings import SCHEMA
from tui.cli import COMMANDS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_named(name: str) -> None:
    assert re.search(rf"`(?:memdeck )?{name}\b", README)


def test_every_command_in_an_example_exists() -> None:
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", README, re.S))
    used = set(re.findall(r"^(?:\S*/)?memdeck ([a-z]+)", blocks, re.M))
    assert used and used <= set(COMMANDS)


def test_every_tool_is_named() -> None:
    line = re.search(r"The tools are (.+)\.", README)
    assert line and set(re.findall(r"`(\w+)`", line[1])) == set(TOOLS)


def test_every_named_setting_exists() -> None:
    named = set(re.findall(r"`((?:admission|recall|read|context|review|snapshots|writer)\.\w+)`", README))
    assert named and named <= set(SCHEMA)


def test_every_link_leads_somewhere() -> None:
    for page in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        links = re.findall(r"\]\((?!https?:)([^)#]+)\)", (ROOT / page).read_text(encoding="utf-8"))
        assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_test_command_stands_once_and_is_called_by_ci() -> None:
    command = r"^python3 -m venv \.venv-test && .+pytest$"
    assert len(re.findall(command, README, re.M)) == 1
    assert r"'^python3 -m venv \.venv-test && '" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
