"""Search terms of a text in any script: stemmed words where blanks part words, character bigrams where they do not.

Both sides of a search go through `fold`, so width, case and accents never matter: `Ｐｏｒｔ ５４３３`, `PORT 5433` and
`port 5433` are one text, as are `Xưởng` and `xuong`.
"""

from __future__ import annotations

import re
import unicodedata

from engine.rules.stem import stem

MAX_TERM = 64
"""Characters of one term that count; the rest of a longer run (hashes, encoded data) is ignored."""

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3100-\u312f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # kana, bopomofo, Han
    "\u1100-\u11ff\uac00-\ud7af"  # Hangul
    "\U00020000-\U0003ffff"
)
_INDIC_SIGNS = "\u0900-\u0963\u0966-\u0dff"
_PICTURES = "\u2600-\u27bf\U0001f000-\U0001faff"
_ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")
_TOKEN = re.compile(
    rf"(?P<run>[{_UNSPACED}]+)"
    rf"|(?P<picture>[{_PICTURES}])"
    rf"|(?:(?![{_UNSPACED}])[^\W_]|[{_INDIC_SIGNS}])+(?:'[a-z]+)?"
)
_MARKS = re.compile("[\u0300-\u036f]")
_FOLDED = str.maketrans(
    {
        "đ": "d",
        "ø": "o",
        "ł": "l",
        "æ": "ae",
        "œ": "oe",
        "ı": "i",
        "ð": "d",
        "þ": "th",
        "’": "'",
        "‘": "'",
        "ʼ": "'",
    }
)
_UNSPACED_RUN = re.compile(rf"[{_UNSPACED}]+")


def fold(text: str) -> str:
    """Return `text` in lower case, compatibility forms unified, Latin accents dropped (Vietnamese included)."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).casefold()
    text = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", text)))
    return text.translate(_FOLDED)


def tokens(text: str) -> list[str]:
    """Return the words of `text` in order, unstemmed, and its unspaced runs whole; punctuation is dropped."""
    folded = fold(text)
    if folded.isascii():
        return _ASCII_WORD.findall(folded)
    return [found.group()[:MAX_TERM] if found.lastgroup is None else found.group() for found in _TOKEN.finditer(folded)]


def is_unspaced(token: str) -> bool:
    """True when the token is a run of a script that parts words by no blanks."""
    return _UNSPACED_RUN.match(token) is not None


def bigrams(run: str) -> list[str]:
    """Return the character bigrams of an unspaced run; a single character stands for itself."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def index_terms(text: str) -> list[str]:
    """Return the terms of `text` in order, with repetitions: stems of words and bigrams of unspaced runs."""
    return split_terms(text)[0]


def split_terms(text: str) -> tuple[list[str], list[str]]:
    """Return the terms of `text`, and beside them the single characters of its unspaced runs.

    A character alone is weak evidence (`食物` and `主食` share one): a search orders by it what it found by terms,
    and falls back on it.
    """
    folded = fold(text)
    if folded.isascii():
        return [stem(word[:MAX_TERM]) for word in _ASCII_WORD.findall(folded)], []
    terms: list[str] = []
    characters: list[str] = []
    for match in _TOKEN.finditer(folded):
        token = match.group()
        if match.lastgroup == "run":
            terms += bigrams(token)
            if len(token) > 1:
                characters += token
        else:
            terms.append(stem(token[:MAX_TERM]))
    return terms, characters
