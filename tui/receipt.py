"""Why a memory is among the answers of recall: matched words, tag paths, and the parts of its score."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from textual.content import Content

from engine.model.memory import Hit
from tui.i18n import has, t
from tui.text import clip, visible

BAR = 16
"""Cells of the longest bar."""

MATCH = "$warning bold underline"


def matched(hit: Hit) -> tuple[str, ...]:
    """Return the words of the question that were found in a memory."""
    words = hit.parts.get("matched")
    return tuple(map(str, words)) if isinstance(words, list) else ()


def marked(text: Content, words: Sequence[str]) -> Content:
    """Return a text in which each of the words stands out, wherever one begins."""
    if not words:
        return text
    longest_first = sorted(words, key=len, reverse=True)
    pattern = "|".join((r"\b" if word.isascii() else "") + re.escape(word) for word in longest_first)
    return text.highlight_regex(re.compile(pattern, re.IGNORECASE), style=MATCH)


def receipt(hit: Hit, rank: int) -> Content:
    """Return the receipt of an answer that stands at `rank`, counted from 1."""
    lines = [
        Content.assemble((f"#{rank}  ", "bold $accent"), t("screen.recall.score", score=f"{hit.score:.2f}")),
        Content.assemble((t("screen.recall.why") + "  ", "$text-muted"), visible(_why(hit.why))),
    ]
    if hit.lines:
        first, last = hit.lines
        lines.append(Content.assemble((t("screen.recall.lines") + "  ", "$text-muted"), f"{first}-{last}"))
    numbers = {name: float(value) for name, value in hit.parts.items() if isinstance(value, int | float)}
    return Content("\n").join([*lines, *_bars(numbers)])


def _bars(numbers: Mapping[str, float]) -> list[Content]:
    most = max((abs(value) for value in numbers.values()), default=0.0) or 1.0
    return [
        Content.assemble(
            (clip(part_word(name), 12), "$text-muted"),
            ("#" * round(BAR * abs(value) / most) + " ", "$primary"),
            f"{value:.3f}".rstrip("0").rstrip("."),
        )
        for name, value in sorted(numbers.items(), key=lambda pair: -abs(pair[1]))
    ]


def part_word(name: str) -> str:
    """Return what a part of a score is called, else its own name."""
    key = f"screen.recall.part.{name}"
    return t(key) if has(key) else name


def _why(why: str) -> str:
    """Return the reasons with each field or channel named in the interface's language."""
    reasons = []
    for reason in why.split("; "):
        name, colon, rest = reason.partition(": ")
        reasons.append(part_word(name) + colon + rest)
    return "; ".join(reasons)
