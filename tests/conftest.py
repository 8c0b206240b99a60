"""What every test shares: an environment without the developer's own settings, and the contract's check."""

from __future__ import annotations

import os

import pytest

from tests.contract import ContractPlugin

CLEARED = ("NO_COLOR", "TEXTUAL_THEME", "MEMDECK_STORE", "MEMDECK_NOW", "MEMDECK_DEBUG")
"""Variables that change pictures or point at a real store."""

OUTSIDE = {"clients": "MEMDECK_CLIENTS", "llm": "MEMDECK_LLM_URL"}
"""Markers of tests that need something from elsewhere, and the variable that says where it is."""


def pytest_configure(config: pytest.Config) -> None:
    """Start noting what each test comes to."""
    config.pluginmanager.register(ContractPlugin(), ContractPlugin.NAME)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs something from elsewhere that is not there."""
    for marker, variable in OUTSIDE.items():
        if item.get_closest_marker(marker) and not os.environ.get(variable):
            pytest.skip(f"{variable} is not set")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run asynchronous tests on asyncio only."""
    return "asyncio"


@pytest.fixture(autouse=True, scope="session")
def _own_environment(tmp_path_factory: pytest.TempPathFactory):
    """Keep every test away from the developer's stores, colours, language and time."""
    with pytest.MonkeyPatch.context() as patch:
        for name in CLEARED:
            patch.delenv(name, raising=False)
        patch.setenv("MEMDECK_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("MEMDECK_LANG", "en")
        patch.setenv("MEMDECK_TEST", "1")
        yield
