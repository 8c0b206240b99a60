"""The house's one rule: arrows run one way, and the engine starts without the terminal's libraries."""

from __future__ import annotations

import ast
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

BELOW_RULES = ("engine.model",)
BELOW_STORE = (*BELOW_RULES, "engine.rules")
BELOW_PEERS = (*BELOW_STORE, "engine.settings", "engine.store", "engine.llm")
BELOW_FACADE = (
    *BELOW_PEERS,
    *(f"engine.{peer}" for peer in ("recall", "context", "upkeep", "vault", "transfer", "connect")),
)

MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "engine.model": (),
    "engine.rules": BELOW_RULES,
    "engine.settings": BELOW_STORE,
    "engine.store": (*BELOW_STORE, "engine.settings"),
    "engine.llm": (*BELOW_STORE, "engine.settings"),
    "engine.recall": BELOW_PEERS,
    "engine.context": (*BELOW_PEERS, "engine.recall"),  # the pack shows what recall finds
    "engine.upkeep": (*BELOW_PEERS, "engine.recall"),
    "engine.vault": BELOW_PEERS,
    "engine.transfer": BELOW_PEERS,
    "engine.connect": BELOW_RULES,  # agents' settings files have nothing to do with a store
    "engine.usecases": BELOW_FACADE,
    "engine.facade": (*BELOW_FACADE, "engine.usecases"),
    "engine.serve": (*BELOW_FACADE, "engine.usecases", "engine.facade"),
    "tui": ("engine.facade", "engine.model", "engine.settings"),
}
"""What each layer may import of ours, besides itself: everything to its left in the drawing."""

BEYOND: dict[str, tuple[str, ...]] = {
    "tui.cli": ("engine.serve",),
    "tui.__main__": ("engine.serve",),  # a hook goes straight to its answer
    "tui.commands": (
        "engine.serve",  # the command line starts the servers
        "engine.connect",  # and writes agents' settings, which needs no store
        "engine.rules.textnorm",  # stored text is made safe for a terminal by one rule
        "engine.rules.bitemporal",  # and dates are read by one rule
    ),
}
"""What single rooms may import besides."""

TERMINAL = ("textual", "rich")
STANDARD_ONLY = ("engine.model", "engine.rules", "engine.connect")


def modules() -> dict[str, Path]:
    """Return every module of the two packages by its dotted name."""
    found = {}
    for package in ("engine", "tui"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(name: str, source: str, *, is_package: bool = False) -> Iterator[str]:
    """Yield the dotted name of everything a module imports, wherever in it the import stands."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                up = node.level - 1 if is_package else node.level
                package = ".".join(name.split(".")[: -up or None])
                base = f"{package}.{base}".rstrip(".")
            yield from (f"{base}.{alias.name}" for alias in node.names)


def within(name: str, *layers: str) -> bool:
    """Return whether a dotted name is one of the layers or stands inside one."""
    return any(name == layer or name.startswith(layer + ".") for layer in layers)


def layer_of(name: str) -> str:
    """Return the layer that a module belongs to; the bare package `engine` has none."""
    return next((layer for layer in MAY_IMPORT if within(name, layer)), "")


def faults(name: str, imported: str) -> str:
    """Say which rule an import breaks; empty when it breaks none."""
    layer = layer_of(name)
    if within(imported, "engine", "tui") and not within(imported, layer or "engine"):
        allowed = MAY_IMPORT.get(layer, ())
        allowed += tuple(more for room, extra in BEYOND.items() if within(name, room) for more in extra)
        if not within(imported, *allowed):
            return f"{name} imports {imported}: {layer or 'engine'} stands left of it"
    if within(name, "engine") and within(imported, *TERMINAL):
        return f"{name} imports {imported}: the engine knows no terminal"
    if within(layer, *STANDARD_ONLY) and not within(imported, "engine"):
        top = imported.partition(".")[0]
        if top not in sys.stdlib_module_names:
            return f"{name} imports {imported}: {layer} uses the standard library only"
    if within(name, "tui.screens") and within(imported, "tui.screens") and not within(imported, name):
        return f"{name} imports {imported}: screens never import each other"
    return ""


@pytest.mark.parametrize("name", modules())
def test_imports_run_one_way(name: str) -> None:
    path = modules()[name]
    found = imports(name, path.read_text(encoding="utf-8"), is_package=path.name == "__init__.py")
    assert [fault for imported in found if (fault := faults(name, imported))] == []


def test_every_module_has_its_place_in_the_drawing() -> None:
    assert [name for name in modules() if not layer_of(name)] == ["engine"]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("engine.rules.x", "from engine.store import rows"),
        ("engine.model.x", "from ..rules import decay"),
        ("engine.model.x", "import msgspec"),
        ("engine.recall.x", "def f():\n    import engine.facade"),
        ("engine.vault.x", "from engine.transfer import plan"),
        ("engine.store.x", "from rich.text import Text"),
        ("engine.serve.x", "import tui.text"),
        ("tui.screens.review", "from engine.store import rows"),
        ("tui.screens.review", "from engine.serve import client"),
        ("tui.screens.review", "from tui.screens.memories import MemoriesScreen"),
        ("tui.screens.review", "from .memories import MemoriesScreen"),
        ("engine", "from engine.facade import Engine\nimport textual"),
    ],
)
def test_the_check_sees_what_it_forbids(name: str, source: str) -> None:
    assert [fault for imported in imports(name, source) if (fault := faults(name, imported))]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("engine.rules.x", "import re\nfrom engine.model.memory import Memory\nfrom . import terms"),
        ("engine.recall.x", "from engine.store import postings"),
        ("engine.serve.x", "from engine.facade import Engine\nimport msgspec"),
        ("tui.cli", "from engine.serve import serve_socket"),
        ("tui.app", "from textual.app import App\nfrom engine.facade import Engine"),
    ],
)
def test_the_check_lets_pass_what_it_allows(name: str, source: str) -> None:
    assert [fault for imported in imports(name, source) if (fault := faults(name, imported))] == []


def loaded_by(code: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter holds after running `code`."""
    script = f"{code}\nimport sys; print(*sys.modules)"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize("module", ["engine", "engine.facade", "engine.serve", "engine.settings"])
def test_the_engine_starts_without_what_it_may_not_need(module: str) -> None:
    assert loaded_by(f"import {module}") & {"textual", "rich", "httpx", "yaml", "tui"} == set()


def test_the_command_line_starts_without_the_app() -> None:
    assert loaded_by("import tui.cli") & {"textual", "rich", "httpx", "sqlite3", "engine"} <= {"engine"}


def loaded_by_command(store: Path, *arguments: str, stdin: str = "") -> set[str]:
    """Return the top-level modules that a memdeck process imported until it ended or was asked to end."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONPROFILEIMPORTTIME": "1"}
    command = [sys.executable, "-m", "tui.cli", "--store", str(store), *arguments]
    with (store / "stderr").open("w+") as log:
        process = subprocess.Popen(
            command,
            cwd=store,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        if "--serve" in arguments:
            wait_for_socket(store / "s.sock", process)
            process.terminate()
        process.communicate(stdin, timeout=30)
        log.seek(0)
        lines = log.read().splitlines()
    assert process.returncode == 0, lines[-5:]
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in lines if "import time:" in line}
    assert "engine" in imported
    return imported


def wait_for_socket(path: Path, process: subprocess.Popen[str]) -> None:
    """Return when a server answers on the socket; fail when its process ends first."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket(socket.AF_UNIX) as client:
            try:
                client.connect(str(path))
                return
            except OSError:
                time.sleep(0.05)
    raise AssertionError(f"no server on {path}, exit code {process.poll()}")


HELLO = (
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
    '"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}\n'
    '{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n'
)


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [(["--serve", "--socket", "s.sock"], ""), (["mcp"], HELLO), (["call", "recall", '{"query":"tea"}'], "")],
    ids=["serve", "mcp", "call"],
)
def test_an_agents_door_loads_no_terminal_library(tmp_path: Path, arguments: list[str], stdin: str) -> None:
    assert loaded_by_command(tmp_path, *arguments, stdin=stdin) & {"textual", "rich", "httpx"} == set()


def test_recall_in_the_shell_loads_no_application(tmp_path: Path) -> None:
    loaded_by_command(tmp_path, "remember", "The tea is green")
    assert "textual" not in loaded_by_command(tmp_path, "recall", "tea")
