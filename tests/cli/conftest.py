"""The command line called in this process, with what it printed and how it ended."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tui import cli
from tui.commands import base


@dataclass(frozen=True)
class Ran:
    """What a command printed and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Return the output as JSON."""
        return json.loads(self.out)


Memdeck = Callable[..., Ran]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def memdeck(store: Path, capsys: pytest.CaptureFixture[str]) -> Memdeck:
    """Run a command on the test's store; it has to end with `code`, and never with a traceback."""

    def run(*arguments: str, code: int = 0) -> Ran:
        ended = cli.run(["--store", str(store), *arguments])
        out, err = capsys.readouterr()
        assert ended == code, out + err
        assert "Traceback" not in err
        return Ran(ended, out, err)

    return run


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a terminal on stdin, as far as the commands ask."""
    monkeypatch.setattr(base, "has_terminal", lambda: True)
