"""`memdeck context` and the session's numbers: what an agent would get, why, and what it was given."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.facade import open_engine
from engine.model.enums import Origin
from engine.model.memory import Caller, Draft

OWNER = Caller(Origin.TUI, "owner")
AGENT = Caller(Origin.AGENT, "claude-code", session="s1")

pytestmark = pytest.mark.usefixtures("terminal")


@pytest.fixture
def filled(store: Path) -> Path:
    with open_engine(store) as engine:
        engine.remember(OWNER, Draft("The ferry leaves at seven", body="Seven on weekdays."))
        engine.remember(OWNER, Draft("The lighthouse is white and stands far from any ferry, road or harbour"))
        engine.remember(OWNER, Draft("Never promise a berth", baseline=True))
    return store


def test_budgets_and_reasons_stand_below_the_text(memdeck, filled: Path) -> None:
    out = memdeck("context", "when", "does", "the", "ferry", "leave").out
    text, _, figures = out.partition("\n\nabout ")
    assert text.startswith("# Using remembered notes") and "Seven on weekdays" in text
    assert "baseline    ██░░" in figures and "1/8 notes" in figures
    assert "relevant    " in figures and "/2000 tokens" in figures
    assert "of 61440 bytes" in figures
    assert "given: mem-1 (summary" in figures and "given: mem-3 (baseline)" in figures


def test_what_is_not_relevant_is_named_with_its_figures(memdeck, filled: Path) -> None:
    memdeck("settings", "set", "context.relevance", "60")
    out = memdeck("context", "when does the ferry leave").out
    assert "left out: mem-2 (not relevant enough 0." in out and "< 0.60)" in out


def test_only_the_text_can_be_had(memdeck, filled: Path) -> None:
    out = memdeck("context", "--bare", "when does the ferry leave").out
    assert out.rstrip().endswith("bytes)") and "█" not in out
    assert memdeck("context", "--bare", "--max-tokens", "50", "zebra").out.count("Never promise") == 1


def test_looking_counts_for_nothing(memdeck, filled: Path) -> None:
    for _ in range(2):
        assert "Seven on weekdays" in memdeck("context", "--session", "s1", "when does the ferry leave").out
    assert "s1" not in memdeck("status", "--view", "session").out


def test_the_session_of_an_agent_is_shown_as_it_goes_on(memdeck, filled: Path) -> None:
    with open_engine(filled) as engine:
        tokens = engine.context(AGENT, "when does the ferry leave").tokens
    shown = memdeck("context", "--session", "s1", "when does the ferry leave")
    assert "given for this question just before" in shown.out and "(nothing to give)" in shown.out
    numbers = memdeck("status", "--view", "session", "--json").json
    assert numbers["injected_tokens_by_agent"] == {"claude-code": tokens}
    assert numbers["sessions"] == [{"session": "s1", "agent": "claude-code", "tokens": tokens, "packs": 1}]


def test_the_pack_is_data_too(memdeck, filled: Path) -> None:
    pack = memdeck("context", "--json", "when does the ferry leave").json
    assert [part["name"] for part in pack["parts"]] == ["discipline", "baseline", "relevant", "status"]
    assert pack["parts"][1].items() >= {"used": 1, "cap": 8, "unit": "notes"}.items()
    assert pack["budget"]["body_pool"] == 58_368 and pack["reasons"]["3"] == "baseline"
