"""How time counts: decay in ranking, activation for display, dormancy, and the weight for cleaning (R9)."""

from __future__ import annotations

import math

RECALL_RATE = 0.05
"""Loss per day in ranking; the half-life is 13.86 days (W36)."""

DAY_MS = 86_400_000

ACTIVATION_HALF_LIFE_HOURS = 168.0
"""Half-life of a memory that was never recalled (C4)."""


def recall_decay(age_days: float) -> float:
    """Return the factor on a score for a memory of `age_days`: `exp(-0.05·days)`, 1 for the future (W36)."""
    return math.exp(-RECALL_RATE * max(age_days, 0.0))


def longevity(recalls: int) -> float:
    """Return how many times longer a memory lasts after `recalls`: `1 + ln(1 + recalls)` (C4)."""
    return 1.0 + math.log1p(max(recalls, 0))


def activation(idle_hours: float, recalls: int = 0) -> float:
    """Return retention from 1 down to 0, `2^(-t/168 h)` with the half-life lengthened by `recalls`; never ranks (C4).

    `idle_hours` counts from the later of the last recall and the arrival in this store.
    """
    return math.pow(2.0, -max(idle_hours, 0.0) / (ACTIVATION_HALF_LIFE_HOURS * longevity(recalls)))


def is_dormant(idle_days: float, recalls: int = 0, *, after_days: float = 180.0) -> bool:
    """Tell whether a memory untouched for `idle_days` is a dormant candidate (R8, design: ageing)."""
    return idle_days > after_days * longevity(recalls)


def cleaning_weight(age_days: float, idle_days: float | None = None) -> float:
    """Return the weight from 1 down to 0.2 that nominates for cleaning only (W60).

    `idle_days` is the time since the last access, None when there was none.
    """
    age = max(age_days, 0.0)
    if age <= 20:
        weight = 1.0 - age / 20 * 0.15
    elif age <= 60:
        weight = 0.85 - (age - 20) / 40 * 0.35
    elif age <= 150:
        weight = 0.5 - (age - 60) / 90 * 0.3
    else:
        weight = 0.2
    if idle_days is not None and idle_days <= 7:
        weight *= 1 + (1 - max(idle_days, 0.0) / 7) * 0.15
    return min(1.0, max(0.2, weight))
