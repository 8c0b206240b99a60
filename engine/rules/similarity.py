"""How alike two statements are, and whether they repeat or contradict each other (C25, C-CAL)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from engine.rules.polarity import opposite, polarity
from engine.rules.swaps import subjects_differ
from engine.rules.textnorm import fold

CONFLICT = 0.38
"""From here on opposite polarity makes two statements a conflict (C25)."""

DUPLICATE = 0.70
"""From here on two statements that agree are duplicates (C25)."""

Kind = Literal["duplicate", "conflict", "neither"]

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u318f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U000323af]+"
)
# A word keeps its marks (Hindi vowels are not letters) and its inner apostrophe.
_WORD = re.compile(
    r"[^\W_](?:[^\W_]|[\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd]|['’](?=[^\W_]))*"
)
_STOP_WORDS = frozenset(
    "a an the of to in on at for from by with as and or is are was were be been it its this that will would".split()
)


class Judgement(NamedTuple):
    """What two statements are to each other, and their similarity from 0 to 1 (C25)."""

    kind: Kind
    similarity: float


class Rival(NamedTuple):
    """The nearest statement that a candidate repeats or contradicts: its position among the others, and how."""

    position: int
    kind: Kind
    similarity: float


def similarity(a: str, b: str) -> float:
    """Return the cosine of term counts, 0 to 1: character bigrams for CJK, words for spaced scripts (C-CAL)."""
    return _cosine(_terms(a), _terms(b))


def judge(a: str, b: str) -> Judgement:
    """Return what two statements are to each other: conflict first, then duplicate (C25).

    Statements of other numbers, days or polarity are never duplicates, however alike.
    """
    return _judge(a, b, similarity(a, b))


def nearest(candidate: str, others: Sequence[str]) -> Rival | None:
    """Return the most similar of `others` that `candidate` repeats or contradicts, None when there is none (C25)."""
    terms = _terms(candidate)
    ranked = sorted(((_cosine(terms, _terms(text)), -index) for index, text in enumerate(others)), reverse=True)
    for value, negative in ranked:
        if value < CONFLICT:
            break
        verdict = _judge(candidate, others[-negative], value)
        if verdict.kind != "neither":
            return Rival(-negative, *verdict)
    return None


def _judge(a: str, b: str, value: float) -> Judgement:
    if value >= CONFLICT and opposite(a, b):
        return Judgement("conflict", value)
    if value >= DUPLICATE and polarity(a) == polarity(b) and not subjects_differ(fold(a), fold(b)):
        return Judgement("duplicate", value)
    return Judgement("neither", value)


def _terms(text: str) -> Counter[str]:
    folded = fold(text)
    unspaced = "".join(_UNSPACED.findall(folded))
    words = _WORD.findall(_UNSPACED.sub(" ", folded))
    content = [word for word in words if word not in _STOP_WORDS] or words
    if len(unspaced) == 1:
        content.append(unspaced)
    terms = Counter(content)
    terms.update(unspaced[i : i + 2] for i in range(len(unspaced) - 1))
    # A text without a letter, such as an emoji, is alike only to itself.
    return terms or Counter({folded.strip(): 1})


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    if one == other:
        return 1.0
    dot = sum(count * other[term] for term, count in one.items())
    squares = sum(n * n for n in one.values()) * sum(n * n for n in other.values())
    return min(1.0, dot / math.sqrt(squares)) if dot else 0.0
