"""The contract: its file is sound, its tests exist, and on a full run the guaranteed ones passed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import contract

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def promises() -> list[contract.Promise]:
    return contract.load(contract.CONTRACT.read_text(encoding="utf-8"))


def entry(
    id_: str = "W1", word: str = "guaranteed", tests: str = "[tests/a.py::test_a]", more: str = ""
) -> str:
    return f"{id_}:\n  promise: It holds.\n  word: {word}\n  tests: {tests}\n{more}"


def test_every_named_test_exists(promises: list[contract.Promise]) -> None:
    assert contract.missing(promises, ROOT) == []


def test_reads_a_promise() -> None:
    assert contract.load(entry()) == [
        contract.Promise("W1", "It holds.", "guaranteed", ("tests/a.py::test_a",))
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("<<<<<<< ours\n" + entry(), "not valid YAML"),
        ("- W1", "mapping of ids"),
        (entry() + entry(), "W1 stands there 2 times"),
        (entry("W2") + entry("W1"), "W1 stands after W2"),
        (entry("W10") + entry("W9"), "W9 stands after W10"),
        (entry("W1") + entry("C1"), "C1 stands after W1"),
        (entry("w1"), "an id is a capital letter"),
        (entry(word="promised"), "word has to be one of"),
        (entry(tests="[]"), "names no test"),
        (entry(tests="tests/a.py::test_a"), "list of test ids"),
        (entry(tests="[tests/a.py]"), "list of test ids"),
        (entry(tests="['a::b', 'a::b']"), "twice"),
        (entry(more="  word: cannot\n"), "word stands there 2 times"),
        (entry(more="  why: x\n"), "unknown field 'why'"),
        (entry(word="unverified", tests="[]"), "no note"),
        ("W1: guaranteed", "has to hold promise"),
        ("W1:\n  word: cannot\n", "promise has to be a sentence"),
    ],
)
def test_says_what_a_bad_merge_left_behind(text: str, fault: str) -> None:
    with pytest.raises(contract.ContractError, match=fault):
        contract.load(text)


def test_ids_are_sorted_by_letter_then_number() -> None:
    assert [p.id for p in contract.load(entry("C9") + entry("C10") + entry("W2"))] == ["C9", "C10", "W2"]


@pytest.mark.parametrize(
    ("outcomes", "faults"),
    [
        ({"tests/a.py::test_a": "passed"}, 0),
        ({"tests/a.py::test_a[1]": "passed", "tests/a.py::test_a[2]": "passed"}, 0),
        ({"tests/a.py::test_a[1]": "passed", "tests/a.py::test_a[2]": "skipped"}, 1),
        ({"tests/a.py::test_a": "skipped"}, 1),
        ({"tests/a.py::test_a": "expected to fail"}, 1),
        ({"tests/a.py::test_ab": "passed"}, 1),
        ({}, 1),
    ],
)
def test_a_guaranteed_promise_needs_every_test_passed(outcomes: dict[str, str], faults: int) -> None:
    assert len(contract.unproven(contract.load(entry()), outcomes)) == faults


def test_other_words_need_no_run() -> None:
    assert contract.unproven(contract.load(entry(word="best-effort")), {}) == []


def test_finds_functions_classes_and_methods(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def test_a(): ...\nclass TestB:\n    async def test_c(self): ...\n")
    assert contract.definitions(tmp_path / "a.py") == {"test_a", "TestB", "TestB::test_c"}
    named = [contract.Promise("W1", "", "guaranteed", ("a.py::test_a[x]", "a.py::test_z", "b.py::test_a"))]
    assert len(contract.missing(named, tmp_path)) == 2


def test_the_line_counts_each_word() -> None:
    text = entry("W1") + entry("W2", "cannot", "[]") + entry("W3")
    expected = "contract: 3 promises, 2 guaranteed and bound, 0 best-effort, 1 cannot, 0 unverified"
    assert contract.summary(contract.load(text)) == expected


@pytest.fixture
def small_project(tmp_path: Path) -> Path:
    """Return a project with this contract check, one promise, and a test that may be skipped."""
    tests = tmp_path / "tests"
    tests.mkdir()
    for name in ("contract.py", "conftest.py", "test_contract.py"):
        shutil.copy(ROOT / "tests" / name, tests)
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\ntestpaths=tests\npythonpath=.\naddopts=--import-mode=importlib\nmarkers=\n clients: x\n"
    )
    return tmp_path


@pytest.mark.parametrize(
    ("mark", "arguments", "code"),
    [
        ("", [], 0),
        ("@pytest.mark.skip", [], 1),
        ("@pytest.mark.skip", ["-k", "not slow"], 0),
    ],
)
def test_a_full_run_fails_when_a_guaranteed_test_did_not_run(
    small_project: Path, mark: str, arguments: list[str], code: int
) -> None:
    (small_project / "tests" / "test_z.py").write_text(f"import pytest\n{mark}\ndef test_a(): pass\n")
    (small_project / "tests" / "contract.yaml").write_text(entry(tests="[tests/test_z.py::test_a]"))
    keep = "test_a_full_run_fails_when_a_guaranteed_test_did_not_run"
    text = (small_project / "tests" / "test_contract.py").read_text().replace(f"def {keep}", "def unused")
    (small_project / "tests" / "test_contract.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=small_project, capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stdout
    assert "contract: 1 promises, 1 guaranteed and bound" in done.stdout
    assert ("W1 is guaranteed by tests/test_z.py::test_a" in done.stdout) == bool(code)


def test_guaranteed_promises_are_proven_by_this_run(
    promises: list[contract.Promise], request: pytest.FixtureRequest
) -> None:
    """Run last (see ContractPlugin); a run of some tests proves nothing and is not asked to."""
    if contract.is_full_run(request.config):
        plugin = request.config.pluginmanager.get_plugin(contract.ContractPlugin.NAME)
        assert contract.unproven(promises, plugin.outcomes) == []
