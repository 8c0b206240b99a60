"""The directories as found in the wild, and directories made on the spot."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import timedelta, timezone
from pathlib import Path

import pytest

from engine.transfer.markdown_dir import plan_directory
from engine.transfer.plan import ImportPlan

CASES = Path(__file__).parents[2] / "cases"
ZONE = timezone(timedelta(hours=8))


@pytest.fixture
def case(tmp_path: Path) -> Callable[[str], ImportPlan]:
    """Plan the import of a case, without the README.yaml that describes it."""

    def plan(name: str) -> ImportPlan:
        copy = tmp_path / name
        shutil.copytree(CASES / name, copy, ignore=shutil.ignore_patterns("README.yaml"))
        return plan_directory(copy, zone=ZONE)

    return plan


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Write files into a new directory: name to text or bytes."""

    def write(files: dict[str, str | bytes], name: str = "notes") -> Path:
        root = tmp_path / name
        root.mkdir(exist_ok=True)
        for path, content in files.items():
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
        return root

    return write
