"""Differences between two texts, by the character where that is readable (Chinese has no spaces), else by the line."""

from __future__ import annotations

from difflib import SequenceMatcher

from textual.content import Content

from tui.text import visible_block

BY_CHARACTER = 2000
"""Texts up to this many characters are compared by the character, longer ones by the line."""

GONE, COME = "$error strike", "$success underline"


def difference(old: str, new: str) -> Content:
    """Return `new` with what came underlined and what went struck out."""
    old, new = visible_block(old), visible_block(new)
    if old == new:
        return Content(new)
    if max(len(old), len(new)) > BY_CHARACTER:
        return _joined(old.splitlines(keepends=True), new.splitlines(keepends=True))
    return _joined(list(old), list(new))


def _joined(old: list[str], new: list[str]) -> Content:
    pieces: list[Content] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            pieces += [Content.styled("".join(old[a:b]), GONE), Content.styled("".join(new[c:d]), COME)]
        else:
            pieces.append(Content("".join(new[c:d])))
    return Content("").join(pieces)
