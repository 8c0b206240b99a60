from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.enums import Authority, Origin, SaidBy
from engine.model.errors import MemdeckError
from engine.rules.authority import may_override, standing


@pytest.mark.parametrize(
    ("origin", "claim", "source", "rank", "speculative"),
    [
        ("tui", None, "user", 6, False),
        ("cli", "tool", "user", 6, False),
        ("tui", "guess", "user", 6, True),
        ("file", None, "file", 5, False),
        ("agent", "user", "agent_reported_user", 5, False),
        ("import", None, "imported", 4, False),
        ("agent", "tool", "tool_output", 3, False),
        ("agent", "me", "agent", 2, False),
        ("agent", None, "agent", 2, False),
        ("agent", "guess", "agent", 2, True),
        ("agent", "outside", "outside", 1, False),
        ("tui", "outside", "outside", 1, False),
        ("file", "outside", "outside", 1, False),
        ("import", "outside", "outside", 1, False),
        ("system", "outside", "outside", 1, False),
    ],
)
def test_the_table(origin: str, claim: str | None, source: str, rank: int, speculative: bool) -> None:
    assert standing(origin, claim) == (source, rank, speculative)


@pytest.mark.parametrize(
    ("claim", "written", "rank"),
    [(None, 6, 4), ("user", None, 4), ("user", 6, 4), (None, 3, 3), (None, 1, 1), ("tool", None, 3),
     ("guess", 5, 2)],
)  # fmt: skip
def test_an_import_keeps_a_lower_rank_but_never_brings_a_higher(
    claim: str | None, written: int | None, rank: int
) -> None:
    got = standing("import", claim, imported=written)
    assert (got.authority, got.speculative) == (rank, claim == "guess")


@pytest.mark.parametrize(("sources", "rank"), [([6, 5], 2), ([6, 1], 1), ([2], 2), ([], 1)])
def test_a_derivation_is_worth_its_weakest_source(sources: list[int], rank: int) -> None:
    assert standing("system", sources=sources) == ("derived", rank, False)


@given(st.sampled_from([None, *SaidBy]), st.none() | st.integers(1, 6), st.lists(st.integers(1, 6)))
def test_an_agent_never_reaches_the_owner(
    claim: SaidBy | None, written: int | None, sources: list[int]
) -> None:
    got = standing(Origin.AGENT, claim, imported=written, sources=sources)
    assert got.authority < Authority.HUMAN
    assert got.source != standing(Origin.TUI).source


@given(st.sampled_from(Origin), st.sampled_from([None, *SaidBy]))
def test_only_the_owners_doors_are_human(origin: Origin, claim: SaidBy | None) -> None:
    human = standing(origin, claim).authority is Authority.HUMAN
    assert human == (origin in (Origin.TUI, Origin.CLI) and claim is not SaidBy.OUTSIDE)


def test_unknown_door_claim_and_rank_are_refused() -> None:
    calls = (("web", None, None), ("agent", "human", None), ("import", "boss", None), ("import", None, 7))
    for origin, claim, written in calls:
        with pytest.raises(MemdeckError) as caught:
            standing(origin, claim, imported=written)
        assert caught.value.code == "invalid_argument" and caught.value.hint


def test_override_needs_equal_or_lower_rank() -> None:
    assert may_override(5, 5) and may_override(5, 2)
    assert not may_override(2, 5)
    assert not may_override(6, 1, speculative=True)


def test_an_agent_corrects_its_own_report_but_not_the_owner() -> None:
    report = standing("agent", "user")
    assert may_override(report.authority, standing("agent", "user").authority, report.speculative)
    assert not may_override(report.authority, standing("tui").authority, report.speculative)
