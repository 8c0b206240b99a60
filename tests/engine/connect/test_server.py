"""Which command an agent's settings name."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engine.connect import installed_server


def script(folder: Path, name: str = "memdeck") -> Path:
    folder.mkdir(parents=True)
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def _not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda *_: str(tmp_path / "scripts"))
    monkeypatch.setattr(sys, "argv", ["pytest"])


def test_the_command_that_runs_now_is_named_by_its_absolute_path(tmp_path: Path, monkeypatch) -> None:
    path = script(tmp_path / "my tools 工具")
    monkeypatch.chdir(path.parent)
    monkeypatch.setattr(sys, "argv", ["./memdeck"])
    server = installed_server(Path("store"))
    assert server.command == str(path) and server.env == {}
    assert server.args == ("mcp", "--store", str(path.parent / "store"))


def test_a_link_that_survives_an_update_is_kept(tmp_path: Path, monkeypatch) -> None:
    link = tmp_path / "bin" / "memdeck"
    link.parent.mkdir()
    link.symlink_to(script(tmp_path / "versions" / "1.0"))
    monkeypatch.setattr(sys, "argv", [str(link)])
    assert installed_server(tmp_path).command == str(link)


def test_the_script_beside_this_python_is_the_next_choice(tmp_path: Path, monkeypatch) -> None:
    path = script(tmp_path / "scripts")
    monkeypatch.setattr(sys, "argv", [str(script(tmp_path / "other", "pytest"))])
    assert installed_server(tmp_path).command == str(path)


def test_a_checkout_is_started_as_a_module_with_its_folder(tmp_path: Path) -> None:
    server = installed_server(tmp_path)
    assert server.command == str(Path(sys.executable).absolute()) and server.args[:3] == ("-m", "tui.cli", "mcp")
    assert (Path(server.env["PYTHONPATH"]) / "tui" / "cli.py").is_file()
