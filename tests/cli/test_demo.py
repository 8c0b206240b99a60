"""The option --demo: the sample in a directory of its own, which goes again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engine.facade import Engine
from tui import cli
from tui.commands import base
from tui.sample import OWNER, SAMPLE_NOW


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a terminal on stdin and stdout, as far as the commands ask."""
    monkeypatch.setattr(base, "has_terminal", lambda: True)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)


@pytest.mark.usefixtures("screen")
def test_the_application_opens_on_the_sample_and_leaves_nothing(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    opened: list[tuple[int, int, str]] = []

    class App:
        def __init__(self, engine: Engine, *, lang: str) -> None:
            assert engine.store_dir.is_relative_to(tmp_path) and not engine.read_only
            opened.append((engine.counts(OWNER).memories, engine.now_ms(), lang))

        def run(self) -> None:
            """End at once."""

    monkeypatch.setattr("tui.app.MemdeckApp", App)
    assert cli.run(["--demo", "--lang", "zh"]) == 0
    ((memories, now, lang),) = opened
    assert memories > 270 and SAMPLE_NOW <= now < SAMPLE_NOW + 60_000 and lang == "zh"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("screen")
@pytest.mark.parametrize("more", [["status"], ["--serve"], ["--profile", "work"], ["--store", "here"]])
def test_it_stands_alone(capsys, more: list[str]) -> None:
    assert cli.run(["--demo", *more]) == 2
    assert "--demo stands" in capsys.readouterr().err


def test_it_needs_a_terminal(capsys) -> None:
    assert cli.run(["--demo"]) == 2
    assert "needs a terminal" in capsys.readouterr().err
