from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rules.decay import activation, cleaning_weight, is_dormant, longevity, recall_decay

DAYS = st.floats(-10, 100_000)


@pytest.mark.parametrize(
    ("days", "factor"), [(-3, 1.0), (0, 1.0), (1, 0.951), (7, 0.705), (14, 0.497), (30, 0.223), (60, 0.050)]
)
def test_recall_decay(days: float, factor: float) -> None:
    assert round(recall_decay(days), 3) == factor


def test_recall_half_life() -> None:
    assert math.isclose(recall_decay(math.log(2) / 0.05), 0.5)


@pytest.mark.parametrize(
    ("days", "recalls", "kept"),
    [(0, 0, 1.0), (1, 0, 0.906), (7, 0, 0.5), (14, 0, 0.25), (30, 0, 0.051), (31, 0, 0.046), (31, 5, 0.333)],
)
def test_activation(days: float, recalls: int, kept: float) -> None:
    assert round(activation(days * 24, recalls), 3) == kept


@given(DAYS, st.integers(0, 10_000))
def test_activation_stays_in_range_and_recalls_only_help(days: float, recalls: int) -> None:
    assert 0 <= activation(days * 24, recalls) <= activation(days * 24, recalls + 1) <= 1


def test_dormancy_starts_after_the_threshold_and_recalls_push_it_out() -> None:
    assert not is_dormant(180)
    assert is_dormant(180.5)
    assert not is_dormant(400, recalls=5)
    assert is_dormant(180 * longevity(5) + 1, recalls=5)
    assert is_dormant(31, after_days=30)


@pytest.mark.parametrize(
    ("age", "idle", "weight"),
    [
        (0, 0, 1.0), (10, None, 0.925), (20, 99, 0.85), (40, 99, 0.675), (60, 99, 0.5), (60, 0, 0.575),
        (60, 3.5, 0.5375), (60, 7, 0.5), (105, None, 0.35), (120, 99, 0.3), (121, 99, 0.2967), (150, 99, 0.2),
        (400, None, 0.2), (400, 0, 0.23),
    ],
)  # fmt: skip
def test_cleaning_weight(age: float, idle: float | None, weight: float) -> None:
    assert round(cleaning_weight(age, idle), 4) == weight


@given(DAYS, DAYS)
def test_cleaning_weight_falls_with_age(one: float, other: float) -> None:
    young, old = sorted((one, other))
    assert 0.2 <= cleaning_weight(old) <= cleaning_weight(young) <= 1
