"""Text forms that everybody shares: for comparing, for fingerprints, for a terminal and for storing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

# Characters without ink and width: soft hyphen, joiners, direction marks, byte-order mark, selectors, tags.
INVISIBLE = (
    "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e01ef"
)

_INVISIBLE_RE = re.compile(f"[{INVISIBLE}]+")
_SURROGATE_RE = re.compile("[\ud800-\udfff]")
_TRAILING_RE = re.compile(r"[\s.,;:!?~…。，、；：！？～·]+\Z")

_CJK_RE = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff"
    "\uf900-\ufaff\uff66-\uffdc\U0001b000-\U0001b16f\U00020000-\U000323af]"
)

# What a terminal would act on, or what would let text lie about its order: C0 but tab and newline, DEL, C1,
# line separators, direction embeddings, overrides and isolates, lone surrogates, width-less characters that
# hide words, and tag characters outside a flag emoji.
_UNSAFE_RE = re.compile(
    "\U0001f3f4[\U000e0020-\U000e007e]{2,6}\U000e007f|\r\n"
    "|[\x00-\x08\x0b-\x1f\x7f-\x9f\u180e\u200b\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)

# Marks between words of spaced scripts: not inside a number, a hyphen only between two letters. Between Han a comma
# can turn the sense (不，要), so it stays.
_PARTING_RE = re.compile(r"[,;:!?](?=\s)|\.(?=\s)|(?<=[^\W\d_])-(?=[^\W\d_])")
_UNSPACED_RE = re.compile(rf"(?<={_CJK_RE.pattern}) | (?={_CJK_RE.pattern})")
_LEAD_RE = re.compile(r"(?:#{1,6}\s+|>\s*|[-*+•]\s+(?:\[[ xX]\]\s+)?)+")
_SENTENCE_RE = re.compile(r"[。！？](?:[”」』）])?|[.!?][\"')\]”’]?(?=\s)")
_ABBREVIATION_RE = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|no|nr|mr|mrs|ms|dr|prof|st|approx|fig)|\b\w)\.\Z", re.IGNORECASE
)


def fold(text: str) -> str:
    """Return `text` for comparison: NFKC and casefold, stable when applied again."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text)
    # Folding can undo the composition and composing can expose a letter to fold, so both run twice.
    for _ in range(2):
        folded = unicodedata.normalize("NFKC", folded.casefold())
    return folded


def fingerprint_text(text: str) -> str:
    """Return the canonical form of "the same content" for keyed fingerprints; always encodable as UTF-8.

    Folded, zero-width characters removed, white space collapsed, punctuation that only parts words or ends what
    is said dropped unless nothing else would be left; blanks beside unspaced scripts go too. `C++` and `1.5` keep
    theirs.
    """
    bare = fold(_INVISIBLE_RE.sub("", clean_input(text)))
    spaced = " ".join(_INVISIBLE_RE.sub("", bare).split())
    parted = " ".join(_PARTING_RE.sub(" ", spaced).split())
    return _TRAILING_RE.sub("", _UNSPACED_RE.sub("", parted)) or spaced


def clean_input(text: str) -> str:
    """Return `text` as storable Unicode: surrogate pairs joined, lone surrogates turned into U+FFFD.

    Everything else is kept as data: NUL, other control characters, escapes, bidi marks, non-characters.
    SQLite stores a NUL inside TEXT and the driver reads it back whole, but SQL functions such as `length`
    and `LIKE` stop at it, so measure and match such texts in Python.
    """
    if not _SURROGATE_RE.search(text):
        return text
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return _SURROGATE_RE.sub("\ufffd", joined)


def visible(text: str) -> str:
    """Return `text` for showing in a terminal: nothing in it can move the cursor, colour, reorder or hide.

    Control characters become their pictures (`␛`, `␀`), bidi overrides, hidden characters and lone
    surrogates become `⟨U+202E⟩`. Newline, tab, emoji joiners and selectors stay; CR LF becomes a newline.
    """
    return _UNSAFE_RE.sub(_picture, text)


def _picture(match: re.Match[str]) -> str:
    found = match.group()
    if found == "\r\n":
        return "\n"
    if len(found) > 1:
        return found
    code = ord(found)
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


def is_cjk(ch: str) -> bool:
    """Tell whether one character is Han, kana, bopomofo or Hangul, the scripts compared by bigrams."""
    return _CJK_RE.match(ch) is not None


def has_cjk(text: str) -> bool:
    """Tell whether any character of `text` is Han, kana, bopomofo or Hangul."""
    return _CJK_RE.search(text) is not None


def clusters(text: str) -> Iterator[str]:
    """Yield what a reader takes for one character: a base with its marks, joined emoji, flags, syllables."""
    start = 0
    for pos in range(1, len(text)):
        if not _continues(text, start, pos):
            yield text[start:pos]
            start = pos
    if text:
        yield text[start:]


def _continues(text: str, start: int, pos: int) -> bool:
    before, ch = text[pos - 1], text[pos]
    if ch < "\u0300":
        return before == "\r" and ch == "\n"
    if ch == "\u200d" or "\U0001f3fb" <= ch <= "\U0001f3ff" or "\U000e0020" <= ch <= "\U000e007f":
        return before not in "\r\n"
    if before == "\u200d":
        return unicodedata.category(ch) == "So"
    if "\U0001f1e6" <= ch <= "\U0001f1ff":
        return "\U0001f1e6" <= before <= "\U0001f1ff" and pos - start == 1
    if "\u1160" <= ch <= "\u11ff":
        return "\u1100" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3"
    return unicodedata.category(ch)[0] == "M" and before not in "\r\n"


def clip(text: str, limit: int) -> str:
    """Return at most `limit` code points of `text`, with `…` when cut and never inside a grapheme cluster."""
    if len(text) <= limit:
        return text
    kept = 0
    for cluster in clusters(text[: limit + 64]):
        if kept + len(cluster) > limit - 1:
            break
        kept += len(cluster)
    return (text[:kept].rstrip() + "…")[: max(limit, 0)]


def one_line(text: str, limit: int = 120) -> str:
    """Return the first sentence of the first line with words, without Markdown marks, cut to `limit`."""
    for line in text.splitlines():
        bare = " ".join(_LEAD_RE.sub("", line.strip(), count=1).split())
        if any(ch.isalnum() for ch in bare):
            return clip(_first_sentence(bare), limit)
    return clip(" ".join(text.split()), limit)


def _first_sentence(line: str) -> str:
    for match in _SENTENCE_RE.finditer(line):
        sentence = line[: match.end()]
        # "1." opens a list and "e.g." is not an end.
        if not _ABBREVIATION_RE.search(sentence):
            return sentence
    return line
