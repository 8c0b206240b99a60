"""What a question asks for: its terms with their weights, without the words that every question has."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from engine.rules.stem import stem
from engine.rules.terms import bigrams, fold, is_unspaced, tokens

MAX_CHARS = 8_000
"""Only so much of a question is read; a longer one is a pasted document."""

MAX_TERMS = 64
"""Distinct terms of a question that are looked up; the first ones win."""

_STOP_WORDS = """
a an the this that these those there here i me my mine myself we us our ours ourselves you your yours
yourself yourselves he him his himself she her hers herself it its itself they them their theirs themselves
who whom whose which what when where why how am is are was were be been being have has had having do does
did doing done will would shall should can could may might must ought and or but nor so yet if then than
because as while until unless although though since whether of at by for with about against between into
through during before after above below to from up down in out on off over under again further once upon
within without toward towards via per not no any some all each every both either neither few more most much
many such other another same own only just too very also still even ever never always often really quite
rather almost already maybe perhaps s t d ll m re ve don don't doesn't didn't isn't aren't wasn't weren't
won't wouldn't can't couldn't shouldn't haven't hasn't hadn't i'm i've i'd i'll you're you've you'd you'll
he's she's it's we're we've they're they've that's there's what's who's where's when's how's let's get got
getting go going gone went come came make made tell told know knew think thought want wanted please ok okay
hi hello hey yes yeah oh well thing things something anything everything nothing
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words that every question has: articles, pronouns, auxiliaries, prepositions and greetings."""


@dataclass(frozen=True)
class Query:
    """A question taken apart: `terms` with how often they occur, and a single unspaced character to complete."""

    text: str
    terms: dict[str, int]
    prefix: str = ""


def analyse(text: str) -> Query:
    """Take a question apart; a question of stop words only keeps them, punctuation only gives no term."""
    words = tokens(text[:MAX_CHARS])
    if len(words) == 1 and len(words[0]) == 1 and is_unspaced(words[0]):
        return Query(text, {}, prefix=words[0])
    telling = [word for word in words if word not in STOP_WORDS] or words
    found: Counter[str] = Counter()
    for word in telling:
        found.update(bigrams(word) if is_unspaced(word) else [stem(word)])
    return Query(text, dict(list(found.items())[:MAX_TERMS]))


def letters(text: str) -> int:
    """Return how many letters and digits a question has (S18)."""
    return sum(char.isalnum() for char in fold(text))
