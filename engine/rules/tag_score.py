"""The score of the tags channel, and how bright a tag shines on the map: pure formulas (W34, W36-W38, T48)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from engine.rules.decay import recall_decay
from engine.rules.textnorm import fold

CONFIRMED = 1.2
SCENE_BONUS = 0.1

REJECTED = "rejected"


def strength(shares: Iterable[float], query_tags: int) -> float:
    """Return the share of a query's tags that a card has, at most 1 (W34).

    `shares` holds for each tag of the query how much the card has of it: 1 for the tag itself, less for a relation.
    """
    return min(1.0, sum(shares) / query_tags) if query_tags else 0.0


def with_feedback(score: float, feedback: str | None) -> float | None:
    """Return a score after what became of earlier recalls; None discards the card (W37)."""
    if feedback == REJECTED:
        return None
    return min(1.0, score * CONFIRMED) if feedback == "confirmed" else score


def scene_bonus(scene: str, scene_sub: str, asked: str, asked_sub: str) -> float:
    """Return what a card gains from standing in the scene that is asked for, and again in its sub-scene (W38)."""
    if not asked.strip() or fold(scene).strip() != fold(asked).strip():
        return 0.0
    same_sub = bool(asked_sub.strip()) and fold(scene_sub).strip() == fold(asked_sub).strip()
    return 2 * SCENE_BONUS if same_sub else SCENE_BONUS


@dataclass(frozen=True)
class Score:
    """The parts of a card's score; decay and feedback are factors, the scene is added after them."""

    strength: float
    decay: float
    feedback: str
    scene: float
    total: float


def score(share: float, age_days: float, feedback: str | None, scene: float) -> Score | None:
    """Return a card's score: strength, then decay, feedback and scene (W34, W36-W38); None when it was rejected."""
    decay = recall_decay(age_days)
    judged = with_feedback(share * decay, feedback)
    return None if judged is None else Score(share, decay, feedback or "", scene, judged + scene)


def brightness(mentions: int, most: int, idle_days: float) -> float:
    """Return how bright a tag shines, 0 to 1: more with its mentions, less with the days since the last (T48)."""
    if mentions <= 0 or most <= 0:
        return 0.0
    size = math.log1p(mentions) / math.log1p(max(most, mentions))
    return size * (0.4 + 0.6 * recall_decay(idle_days))
