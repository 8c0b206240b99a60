"""Synthetic bilingual memories with word frequencies as in real text: the same ones for the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import accumulate

from engine.recall.words import STOP_WORDS
from engine.store.postings import IndexEntry

START_MS = 1_704_067_200_000  # 2024-01-01
SPAN_MS = 2 * 365 * 86_400_000
TURNS = 24
"""Memories of one thread."""

_SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in ("a", "e", "i", "o", "u", "an", "er", "ol")]
_PEOPLE = ("Ming", "Caro", "Devi", "Olu", "Thanh")


class Language:
    """Words of one language with Zipf-like frequencies, and the small words that stand between them."""

    def __init__(self, words: list[str], small: list[str], joint: str, seed: int) -> None:
        self.words = words
        self.weights = list(accumulate(1 / (rank + 8) for rank in range(len(words))))
        self.small = small
        self.joint = joint
        self.random = random.Random(seed)

    def word(self) -> str:
        """Return a word, frequent ones more often."""
        return self.random.choices(self.words, cum_weights=self.weights)[0]

    def text(self, size: int) -> str:
        """Return a text of about `size` words, half of them small ones."""
        chosen = [self.random.choice(self.small) if n % 2 else self.word() for n in range(size)]
        return self.joint.join(chosen)


def english() -> Language:
    """Return pseudo-English: invented words between real function words."""
    source = random.Random(11)
    words = list(dict.fromkeys("".join(source.choices(_SYLLABLES, k=source.choice((2, 2, 3)))) for _ in range(40_000)))
    return Language(words, sorted(STOP_WORDS), " ", 12)


def chinese() -> Language:
    """Return pseudo-Chinese: two-character words from common characters between function characters."""
    source = random.Random(21)
    characters = [chr(0x4E00 + n * 5) for n in range(3_500)]
    weights = list(accumulate(1 / (rank + 10) for rank in range(len(characters))))
    words = list(dict.fromkeys("".join(source.choices(characters, cum_weights=weights, k=2)) for _ in range(40_000)))
    return Language(words, list("的了是在有和就不也我你他这那一"), "", 22)


def memories(count: int) -> Iterator[tuple[int, IndexEntry]]:
    """Yield (version id, entry): turns of English and Chinese threads, every tenth memory with a longer body."""
    languages = (english(), chinese())
    source = random.Random(31)
    for n in range(count):
        thread = n // TURNS
        language = languages[thread % 2]
        body = "\n\n".join(language.text(40) for _ in range(4)) if n % 10 == 0 else ""
        yield (
            n + 1,
            IndexEntry(
                memory_id=n + 1,
                description=language.text(24),
                body=body,
                subject=source.choice(_PEOPLE),
                thread=f"t{thread}",
                seq=n % TURNS,
                dated_ms=START_MS + SPAN_MS * n // count,
            ),
        )


def questions(count: int) -> dict[str, list[str]]:
    """Return questions by kind, of words as frequent as in the memories."""
    en, zh = english(), chinese()
    en.random.seed(41)
    zh.random.seed(42)
    return {
        "question, en": [f"when did {en.text(10)}?" for _ in range(count)],
        "question, zh": [f"{zh.text(10)}什么？" for _ in range(count)],
        "one word": [(en if n % 2 else zh).word() for n in range(count)],
        "message, en": [". ".join(en.text(14) for _ in range(3)) for _ in range(count)],
        "message, zh": ["。".join(zh.text(14) for _ in range(3)) for _ in range(count)],
        "question with a date": [f"what did {en.text(6)} on 3 May 2024?" for _ in range(count)],
    }
