"""Salient words and phrases of a text without a model, in English, Chinese, Japanese and Korean (W7's third tier).

Blanks and punctuation part a text first; what is left of a short piece is a phrase as it stands. Longer ones are cut at
words that every text has, and at words that are known; what stands in quotes, looks like a name or comes again counts
more. The result is in the order of the text, so that it reads like it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from engine.rules.concepts import concepts
from engine.rules.extraction_words import FUNCTION_WORDS, NOUNS, PHRASES_OF_NOTHING, STOP_WORDS
from engine.rules.tagging import MAX_NAME, is_generic, tag_key
from engine.rules.terms import is_unspaced
from engine.rules.textnorm import fold

SHORT_RUN = 4
"""Characters of an unspaced run that is a phrase as it stands."""

MAX_CHARS = 8_000
MOST = 4

_URL = re.compile(r"\b(?:https?|ftp|file)://\S+|\b[\w.+-]+@[\w-]+\.[\w.]+|```.*?(?:```|\Z)", re.DOTALL)
_QUOTED = re.compile(r"[「『“《\"`']([^「」『』“”《》\"`'\n]{2,24})[」』”》\"`']")
_PIECE = re.compile(r"[^\W_](?:[\w+#]|[.\-/&'’](?=\w))*[+#]*")
_SENTENCE_START = re.compile(r"(?:\A|[.!?。！？\n:：]\s*|^\s*[-*•]\s*)\Z", re.MULTILINE)
_BREAK = re.compile(r"[^\w\s\-/&'’.+#]|\.\s|\n|\s[-–—]\s")
_HIRAGANA = re.compile("[\u3041-\u309f]+")
_HAN_OR_KANA = re.compile("[\u30a1-\u30ff\u4e00-\u9fff]")
_IDENTIFIER = re.compile(r"[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]|\w[_./+#]\w|[+#]\Z|\A[A-Z]{2,6}\Z|\A[A-Z]{2,}s\Z")
_FUNCTION = re.compile("|".join(sorted(FUNCTION_WORDS, key=lambda word: (-len(word), word))))


@dataclass(frozen=True)
class _Found:
    start: int
    text: str
    score: float


def split_words(text: str) -> tuple[str, ...]:
    """Return the pieces of a text between blanks, punctuation and changes of script: at least two characters, one of
    them a letter, each once (W7)."""
    words = (word for _, word in _pieces(text))
    return tuple(dict.fromkeys(word for word in words if _is_word(word)))


def salient(text: str, *, known: Iterable[str] = (), also: str = "", most: int = MOST) -> tuple[str, ...]:
    """Return at most `most` words and phrases that say what a text is about, in its order.

    `known` are names that stand in it as they are written there: they come first when there are too many. `also` is
    more text on the same matter: what comes again in it counts more.
    """
    plain = _URL.sub(lambda found: " " * len(found[0]), text[:MAX_CHARS])
    found: list[_Found] = []
    rest = plain
    for name in sorted(set(known), key=lambda name: (-len(name), name)):
        at = rest.find(name)
        if at >= 0:
            found.append(_Found(at, name, 10.0))
            rest = rest.replace(name, "\n" + " " * (len(name) - 1))
    for quoted in _QUOTED.finditer(rest):
        if any(ch.isalpha() for ch in quoted[1]) and len(quoted[1].split()) <= 4:
            found.append(_Found(quoted.start(1), quoted[1].strip(), 4.0))
    counts = _counts(plain, also[:MAX_CHARS])
    found += [_Found(at, word, score * _weight(word, counts)) for at, word, score in _candidates(rest)]
    return _best(found, most)


def _best(found: Iterable[_Found], most: int) -> tuple[str, ...]:
    """Return the best of what was found, without what says the same or only a part, in the order of the text."""
    taken: dict[str, _Found] = {}
    spans: list[tuple[int, int]] = []
    for one in sorted(found, key=lambda f: (-f.score, f.start)):
        key = tag_key(one.text)
        if len(taken) == most:
            break
        if not _is_word(one.text) or is_generic(one.text) or len(one.text) > MAX_NAME:
            continue
        end = one.start + len(one.text)
        if any(key in other or other in key for other in taken) or any(one.start < e and s < end for s, e in spans):
            continue
        taken[key] = one
        spans.append((one.start, end))
    return tuple(f.text for f in sorted(taken.values(), key=lambda f: f.start))


def _is_word(word: str) -> bool:
    return len(word) >= 2 and any(ch.isalpha() for ch in word)


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Yield runs of letters and digits with where they begin; a change between spaced and unspaced script parts."""
    for match in _PIECE.finditer(text):
        start = 0
        word = match[0]
        for at in range(1, len(word) + 1):
            if at == len(word) or is_unspaced(word[at]) is not is_unspaced(word[start]):
                piece = word[start:at].strip("-/&.'’_")
                if piece:
                    yield match.start() + start, piece
                start = at


def _candidates(text: str) -> Iterator[tuple[int, str, float]]:
    """Yield (start, phrase, score) of everything that may say what a text is about."""
    phrase: list[tuple[int, str]] = []
    end = 0
    for at, word in _pieces(text):
        spaced = not is_unspaced(word[0])
        if phrase and (not spaced or _BREAK.search(text[end:at])):
            yield from _spaced_phrase(text, phrase)
            phrase = []
        if not spaced:
            yield from _run(at, word)
        elif _is_stop(word):
            yield from _spaced_phrase(text, phrase)
            phrase = []
        else:
            phrase.append((at, word))
        end = at + len(word)
    yield from _spaced_phrase(text, phrase)


def _is_stop(word: str) -> bool:
    folded = fold(word).replace("’", "'")
    return folded in STOP_WORDS or folded.removesuffix("'s") in STOP_WORDS or not any(ch.isalpha() for ch in word)


def _spaced_phrase(text: str, words: list[tuple[int, str]]) -> Iterator[tuple[int, str, float]]:
    """Yield the words of a phrase between stop words; names and identifiers alone, two plain words together."""
    group: list[tuple[int, str]] = []
    for at, word in words:
        if _IDENTIFIER.search(word):
            yield at, word, 2.6
            continue
        if not word[0].isupper() or (len(words) > 1 and _SENTENCE_START.search(text[max(0, at - 3) : at])):
            group.append((at, word))
            continue
        group.append((at, word))
        if len(word) > 2:
            yield at, word, 1.9
    for first in range(len(group)):
        at, word = group[first]
        if len(word) > 2 or len(group) == 1:
            yield at, word, 1.0 + min(len(word), 12) / 40
        if first + 1 < len(group):
            after = group[first + 1]
            joined = text[at : after[0] + len(after[1])]
            if len(joined) <= MAX_NAME and "  " not in joined:
                names = word[0].isupper() and after[1][0].isupper()
                yield at, joined, 2.4 if names else 1.5


def _run(at: int, run: str) -> Iterator[tuple[int, str, float]]:
    """Yield the phrases of a run in a script without blanks."""
    if run in PHRASES_OF_NOTHING:
        return
    if _HIRAGANA.search(run):
        yield from ((at + m.start(), m[0], 1.6) for m in re.finditer("[^\u3041-\u309f]{2,12}", run)
                    if _HAN_OR_KANA.search(m[0]))  # fmt: skip
        return
    if not _HAN_OR_KANA.search(run):
        yield at, run, 1.4
        return
    cut = list(_cut(run))
    if len(run) <= SHORT_RUN and cut:
        yield at, run, 1.7
        return
    for start, piece in cut:
        yield from _words_of(at + start, piece)


def _cut(run: str) -> Iterator[tuple[int, str]]:
    """Yield what stands between the words that every text has."""
    start = 0
    for match in [*_FUNCTION.finditer(run), None]:
        end = len(run) if match is None else match.start()
        if end - start >= 2 and run[start:end] not in PHRASES_OF_NOTHING:
            yield start, run[start:end]
        if match is not None:
            start = match.end()


def _words_of(at: int, piece: str) -> Iterator[tuple[int, str, float]]:
    """Yield the words of a piece: the known ones, what is left between them, else the piece or its head."""
    if len(piece) <= 3:
        yield at, piece, 1.5
        return
    known = list(_known_words(piece))
    if not known:
        if len(piece) <= 6:
            yield at, piece, 1.5
        else:
            yield at + len(piece) - 4, piece[-4:], 1.1  # in Chinese the head of a phrase stands last
        return
    end = 0
    for start, word in [*known, (len(piece), "")]:
        if 2 <= start - end <= 4:
            yield at + end, piece[end:start], 1.2
        if word:
            yield at + start, word, 1.8 if word in NOUNS else 1.3
        end = start + len(word)


def _known_words(piece: str) -> Iterator[tuple[int, str]]:
    at = 0
    while at < len(piece):
        word = next((piece[at : at + n] for n in (4, 3, 2) if piece[at : at + n] in _lexicon()), "")
        if word:
            yield at, word
        at += len(word) or 1


@cache
def _lexicon() -> frozenset[str]:
    return NOUNS | {word for word in concepts() if len(word) == 2 and not word.isascii()}


def _counts(text: str, also: str) -> Counter[str]:
    """Return how often words of spaced scripts come, and pairs of characters of the others."""
    counts: Counter[str] = Counter()
    for _, word in _pieces(fold(f"{text}\n{also}")):
        counts.update([word] if not is_unspaced(word[0]) else (word[i : i + 2] for i in range(len(word) - 1)))
    return counts


def _weight(word: str, counts: Counter[str]) -> float:
    """Return what repetition makes of a word: 1 when it comes once, more by the logarithm."""
    parts = [fold(part) for _, part in _pieces(word)]
    units = [u for p in parts for u in ([p] if not is_unspaced(p[0]) else [p[i : i + 2] for i in range(len(p) - 1)])]
    least = min((counts[unit] for unit in units), default=1)
    return 1.0 + 0.6 * math.log(max(least, 1))
