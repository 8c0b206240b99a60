"""Binds the promises of contract.yaml to the tests that prove them.

A promise that is called *guaranteed* names tests. On a full run each has to exist, to run and to pass;
`test_contract.py` checks that as the last test. On a partial run only the file itself is checked.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

WORDS = ("guaranteed", "best-effort", "cannot", "unverified")
FIELDS = {"promise", "word", "tests", "note"}
CONTRACT = Path(__file__).with_name("contract.yaml")
_ID = re.compile(r"([A-Z])(\d{1,3})([a-z]?)")


class ContractError(Exception):
    """contract.yaml cannot be used: each line of the message names an entry and what is wrong with it."""


@dataclass(frozen=True)
class Promise:
    """One promise in our own words, how far it is kept, and the tests that prove it."""

    id: str
    promise: str
    word: str
    tests: tuple[str, ...] = ()
    note: str = ""


def load(text: str) -> list[Promise]:
    """Read the contract, or raise ContractError that names every mistake a merge can leave behind."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise ContractError(f"not valid YAML: {error}") from None
    if not isinstance(root, yaml.MappingNode):
        raise ContractError("the file has to be a mapping of ids to promises")
    faults: list[str] = []
    promises: list[Promise] = []
    for key, node in root.value:
        where = f"line {key.start_mark.line + 1}, {key.value}"
        found = _promise(str(key.value), node)
        if isinstance(found, Promise):
            promises.append(found)
        else:
            faults += [f"{where}: {fault}" for fault in found]
    counted = Counter(str(key.value) for key, _ in root.value)
    faults += [f"{id_} stands there {n} times: keep one block" for id_, n in counted.items() if n > 1]
    ids = [p.id for p in promises]
    faults += [
        f"{after} stands after {before}: sort the blocks by letter, then number"
        for before, after in pairwise(ids)
        if _order(after) < _order(before)
    ]
    if faults:
        raise ContractError("\n".join(faults))
    return promises


def _promise(id_: str, node: yaml.Node) -> Promise | list[str]:
    """Return the promise that a block states, or what is wrong with the block."""
    if not _ID.fullmatch(id_):
        return ["an id is a capital letter and a number"]
    if not isinstance(node, yaml.MappingNode):
        return ["the block has to hold promise, word and tests"]
    names = Counter(str(key.value) for key, _ in node.value)
    faults = [f"{name} stands there {n} times" for name, n in names.items() if n > 1]
    block = yaml.SafeLoader("").construct_document(node)
    faults += [f"unknown field {name!r}" for name in sorted(set(map(str, block)) - FIELDS)]
    promise, word, tests, note = (block.get(name) for name in ("promise", "word", "tests", "note"))
    if not isinstance(promise, str) or not promise.strip():
        faults.append("promise has to be a sentence")
    if word not in WORDS:
        faults.append(f"word has to be one of {', '.join(WORDS)}, not {word!r}")
    tests = [] if tests is None else tests
    if not isinstance(tests, list) or not all(isinstance(t, str) and "::" in t for t in tests):
        faults.append("tests has to be a list of test ids such as tests/engine/test_x.py::test_y")
    elif word == "guaranteed" and not tests:
        faults.append("is guaranteed and names no test")
    elif len(set(tests)) < len(tests):
        faults.append("names a test twice")
    if word == "unverified" and not note:
        faults.append("is unverified and has no note that says what is missing")
    return faults or Promise(id_, promise, word, tuple(tests), note or "")


def _order(id_: str) -> tuple[str, int, str]:
    letter, number, suffix = _ID.fullmatch(id_).groups()
    return letter, int(number), suffix


def missing(promises: Iterable[Promise], root: Path) -> list[str]:
    """Return the tests that the contract names and the files do not define, whatever the promise's word."""
    defined: dict[str, set[str]] = {}
    faults = []
    for promise in promises:
        for test in promise.tests:
            file, _, rest = test.partition("::")
            if file not in defined:
                defined[file] = definitions(root / file)
            if rest.partition("[")[0] not in defined[file]:
                faults.append(f"{promise.id} names {test}, which does not exist")
    return faults


def definitions(file: Path) -> set[str]:
    """Return `test_x`, `TestA` and `TestA::test_x` of a test file; empty when there is none."""
    if not file.is_file():
        return set()
    names: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ClassDef):
            methods = (n for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
            names |= {node.name} | {f"{node.name}::{m.name}" for m in methods}
    return names


def unproven(promises: Iterable[Promise], outcomes: Mapping[str, str]) -> list[str]:
    """Return why guaranteed promises are not proven; `outcomes` maps node ids to passed, skipped, failed."""
    faults = []
    for promise in promises:
        for test in promise.tests if promise.word == "guaranteed" else ():
            results = [
                outcome
                for node, outcome in outcomes.items()
                if node == test or node.startswith((f"{test}[", f"{test}::"))
            ]
            worst = sorted(set(results) - {"passed"}) if results else ["not run"]
            faults += [f"{promise.id} is guaranteed by {test}, which was {word}" for word in worst]
    return faults


def summary(promises: list[Promise]) -> str:
    """Return the line that a run ends with."""
    words = Counter(p.word for p in promises)
    rest = ", ".join(f"{words[word]} {word}" for word in WORDS[1:])
    return f"contract: {len(promises)} promises, {words['guaranteed']} guaranteed and bound, {rest}"


class ContractPlugin:
    """Collects what each test came to and runs the contract's own check after all others."""

    NAME = "memdeck-contract"
    LAST = "tests/test_contract.py::test_guaranteed_promises_are_proven_by_this_run"

    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put the check at the end, where every outcome is known."""
        items.sort(key=lambda item: item.nodeid == self.LAST)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test as passed only when set-up, call and tear-down all did."""
        if hasattr(report, "wasxfail"):
            self.outcomes[report.nodeid] = "expected to fail"
        elif report.outcome != "passed" or report.nodeid not in self.outcomes:
            self.outcomes[report.nodeid] = report.outcome

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say how many promises are bound."""
        try:
            terminalreporter.write_line(summary(load(CONTRACT.read_text(encoding="utf-8"))))
        except (ContractError, OSError) as error:
            terminalreporter.write_line(f"contract: unusable, {str(error).splitlines()[0]}", red=True)


def is_full_run(config: pytest.Config) -> bool:
    """Return whether the run was asked for every test: no path, no -k, no -m, nothing left out."""
    option = config.option
    chosen = (option.keyword, option.markexpr, option.deselect, option.ignore, option.ignore_glob)
    failed_first = getattr(option, "lf", False) or getattr(option, "stepwise", False)
    workers = getattr(option, "numprocesses", None) or hasattr(config, "workerinput")
    whole = config.args_source is not pytest.Config.ArgsSource.ARGS
    return whole and not any(chosen) and not failed_first and not workers and config.getoption("maxfail") == 0
