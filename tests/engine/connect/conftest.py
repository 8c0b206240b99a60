"""A machine of its own: an empty home, a project folder, and a server whose paths have spaces and Chinese in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.connect import Places, Server


@pytest.fixture
def places(tmp_path: Path) -> Places:
    home, project = tmp_path / "home", tmp_path / "my project 花园"
    home.mkdir()
    project.mkdir()
    return Places(home, project, {"PATH": str(tmp_path / "bin")})


@pytest.fixture
def server() -> Server:
    return Server("/opt/my tools/memdeck", ("mcp", "--store", "/home/ren/记忆 store"))
