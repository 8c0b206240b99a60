"""What a question asks for: its terms with their weights, and what kind of question it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from engine.recall.words import STOP_WORDS, VAGUE_CHARACTERS, VAGUE_TERMS
from engine.rules.concepts import concepts
from engine.rules.stem import stem
from engine.rules.terms import MAX_TERM, bigrams, fold, is_unspaced, tokens

MAX_CHARS = 4_000
"""Only so much of a question is read; a longer one is a pasted document."""

MAX_TERMS = 96
"""Distinct terms of a question that are looked up; the first ones win."""

VAGUE_WEIGHT, VAGUE_PAIR_WEIGHT = 0.45, 0.5
"""What a vague word and a vague character pair count."""

MESSAGE_TERMS, LONG_MESSAGE_TERMS = 6, 20
"""Terms that make two sentences, or one, a message instead of a question."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|[。！？\n]+")
_ASKS_WHEN = re.compile(
    r"^\s*when\b|\bwhat (?:time|date|day|month|year)\b|\bwhich (?:year|month|day)\b|\bhow long\b"
    r"|\bhow many (?:days|weeks|months|years)\b|什么时候|何时|哪一?[年天日月]|几[月号年点]|多久",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Query:
    """A question taken apart.

    `terms` are looked for; `vague` ones, `characters` and `fields` of life only order what was found, each with its
    weight. `is_message` tells a paragraph of talk from a question; `asks_when` a question after a time.
    """

    terms: Mapping[str, float]
    vague: Mapping[str, float]
    characters: tuple[str, ...]
    fields: Mapping[str, int]
    is_message: bool
    asks_when: bool


def analyse(text: str) -> Query:
    """Take a question apart; one of stop words only keeps them, one of punctuation only has no term."""
    text = text[:MAX_CHARS]
    words = tokens(text)
    telling = [word for word in words if word not in STOP_WORDS] or words
    runs = [word for word in telling if is_unspaced(word)]
    found: Counter[str] = Counter()
    for word in telling:
        found.update(bigrams(word) if is_unspaced(word) else [stem(word[:MAX_TERM])])
    found = Counter(dict(list(found.items())[:MAX_TERMS]))
    known = concepts()
    fields = Counter(field for term in found for field in known.get(term, ()))
    terms = {term: float(count) for term, count in found.items() if term not in VAGUE_TERMS}
    vague = {term: count * _vague_weight(term) for term, count in found.items() if term in VAGUE_TERMS}
    if not terms:
        terms, vague = vague, {}
    characters = dict.fromkeys(c for run in runs if len(run) > 1 for c in run if c not in VAGUE_CHARACTERS)
    size = len(found) / 2 if runs else len(found)
    sentences = sum(1 for part in _SENTENCE_END.split(text) if any(map(str.isalnum, part)))
    return Query(
        terms=terms,
        vague=vague,
        characters=tuple(characters)[:MAX_TERMS],
        fields=fields,
        is_message=size >= (MESSAGE_TERMS if sentences > 1 else LONG_MESSAGE_TERMS),
        asks_when=_ASKS_WHEN.search(text) is not None,
    )


def _vague_weight(term: str) -> float:
    return VAGUE_WEIGHT if term.isascii() else VAGUE_PAIR_WEIGHT


def letters(text: str) -> int:
    """Return how many letters and digits a question has (S18)."""
    return sum(map(str.isalnum, fold(text)))
