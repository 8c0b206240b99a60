"""What of a memory is searchable, taken apart into passages and weighted terms."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from engine.rules.concepts import concepts
from engine.rules.terms import index_terms, split_terms

SUBJECT, DAY, MONTH, CONCEPT = "@", "#", "~", "="
"""Prefixes of terms that are no words: whom a memory is about, the UTC day and month it is dated, its field of life."""

QUESTION, TIMED = 1, 2
"""Marks of a memory: its text ends as a question; its text names a time."""

PASSAGE_CHARS = 2_000
"""A longer paragraph is parted at a line end."""

LENGTH_PIVOT, LENGTH_SHARE = 20.0, 0.3
"""Term frequency is divided by `1 - LENGTH_SHARE + LENGTH_SHARE * length / LENGTH_PIVOT` (BM25's b)."""

_FENCE = re.compile(r"\s*(```|~~~)")
_TIME_WORDS = re.compile(
    r"\b(?:yesterday|to(?:day|night|morrow)|last|next|ago|week(?:end)?|month|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|morning|evening|recently|summer|winter|spring|fall|(?:19|20)\d\d)\b"
    r"|[昨今明前后去]天|[去今明前]年|[上下这]个?(?:周|月|星期)|\d+\s*[年月日号]|[周星期][一二三四五六日天]|小时|分钟|年代",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class IndexEntry:
    """The searchable fields of one version; `seq` counts positions in the thread, `dated_ms` is UTC milliseconds."""

    memory_id: int
    name: str = ""
    description: str = ""
    body: str = ""
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    subject: str = ""
    thread: str | None = None
    seq: int | None = None
    dated_ms: int | None = None
    current: bool = True


@dataclass(frozen=True)
class Passage:
    """A paragraph of a body: its first and last line, counted from 1, and its text; lines 0-0 are the summary."""

    first: int
    last: int
    text: str


@dataclass(frozen=True)
class Weighted:
    """A passage with its length in terms, and each term with its weight byte."""

    first: int
    last: int
    length: int
    terms: dict[str, int]


@dataclass(frozen=True)
class Analysed:
    """A version ready for the index: its passages, the summary first, and its terms that are no words."""

    vid: int
    entry: IndexEntry
    passages: tuple[Weighted, ...]
    special: dict[str, int]
    marks: int

    @property
    def length(self) -> int:
        """Return the number of terms of all passages."""
        return sum(passage.length for passage in self.passages)

    def weights(self) -> dict[str, int]:
        """Return each term with its weight byte: the best of the passages that hold it."""
        best = self.special | self.passages[0].terms
        for passage in self.passages[1:]:
            for term, byte in passage.terms.items():
                held = best.get(term, 0)
                if byte > held:
                    best[term] = byte | held & 1
        return best


def analyse_entry(vid: int, entry: IndexEntry) -> Analysed:
    """Take a version apart for the index."""
    description = _without_label(entry.description, entry.subject)
    name = entry.name.replace("_", " ").replace("-", " ")
    body = _without_label(entry.body, entry.subject)
    parts = [Passage(0, 0, "\n".join((name, description, *entry.aliases, *entry.tags))), *passages_of(body)]
    weighted = tuple(_weighted(part) for part in parts)
    special = dict.fromkeys((SUBJECT + term for term in index_terms(entry.subject)), _ONE)
    if entry.dated_ms is not None:
        special |= dict.fromkeys(day_terms(entry.dated_ms), _ONE)
    special |= _field_weights(term for part in weighted for term in part.terms)
    marks = QUESTION * (body or description).rstrip().endswith(("?", "？"))
    marks |= TIMED * any(_TIME_WORDS.search(part.text) is not None for part in parts)
    return Analysed(vid, entry, weighted, special, marks)


def _without_label(text: str, subject: str) -> str:
    """Drop the speaker's own label from a line of a transcript: the subject is indexed as such."""
    if subject and text.startswith(subject) and text[len(subject) : len(subject) + 1] in (":", "："):
        return text[len(subject) + 1 :]
    return text


def _weighted(passage: Passage) -> Weighted:
    terms, characters = split_terms(passage.text)
    norm = 1 - LENGTH_SHARE + LENGTH_SHARE * len(terms) / LENGTH_PIVOT
    counts = Counter(terms)
    counts.update(characters)
    in_summary = passage.first == 0
    byte_of = {count: pack_weight(count / norm, in_summary) for count in set(counts.values())}
    weights = {term: byte_of[count] for term, count in counts.items()}
    return Weighted(passage.first, passage.last, len(terms), weights)


def _field_weights(terms: Iterable[str]) -> dict[str, int]:
    """Return the fields of life that the terms speak of, as terms weighted by how many of them do."""
    known = concepts()
    counts = Counter(CONCEPT + field for term in terms if term in known for field in known[term])
    return {field: pack_weight(count, False) for field, count in counts.items()}


def day_terms(moment_ms: int) -> list[str]:
    """Return the terms of the UTC day and month of a moment; none when it lies outside the calendar."""
    try:
        moment = datetime.fromtimestamp(moment_ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return []
    return [f"{DAY}{moment:%Y%m%d}", f"{MONTH}{moment:%Y%m}"]


def passages_of(body: str) -> list[Passage]:
    """Part Markdown into paragraphs at blank lines outside code fences; line numbers count from 1 (S17)."""
    found: list[Passage] = []
    held: list[str] = []
    start, size, fenced = 1, 0, False
    for number, line in enumerate(body.split("\n"), 1):
        blank = not fenced and not line.strip()
        if held and (blank or size + len(line) > PASSAGE_CHARS):
            found.append(Passage(start, number - 1, "\n".join(held)))
            held, size = [], 0
        if _FENCE.match(line):
            fenced = not fenced
        if not blank:
            start = start if held else number
            held.append(line)
            size += len(line)
    if held:
        found.append(Passage(start, start + len(held) - 1, "\n".join(held)))
    return found


def key_of(name: str) -> int:
    """Return the 63-bit number that stands for the name of a thread in the index."""
    return int.from_bytes(hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()) >> 1


def group_of(thread: str) -> str:
    """Return what a thread's name says it belongs to: `garden:2024-05` to `garden`, a plain name to itself."""
    cut = max(thread.rfind(":"), thread.rfind("/"))
    return thread[:cut] if cut > 0 else thread


def pack_weight(value: float, in_summary: bool) -> int:
    """Return a length-normalised term frequency as one byte: a logarithmic level, and whether the summary holds it."""
    return max(1, min(127, round(24 * math.log1p(4 * value)))) << 1 | in_summary


_ONE = pack_weight(1.0, False)

WEIGHT: tuple[float, ...] = tuple(math.expm1((byte >> 1) / 24) / 4 for byte in range(256))
"""The term frequency that each byte of `weights` stands for; odd bytes are terms of the summary."""
