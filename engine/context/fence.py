"""Stored text as data: nothing in it can end its fence, pass for a heading or for the end of an injected block."""

from __future__ import annotations

import re

from engine.rules.textnorm import clip, clusters, visible

OPEN, CLOSE = "<memdeck-notes>", "</memdeck-notes>"
"""What stands around a block that memdeck injects; by these it is known again (S14, W68)."""

CUT = "…（截断）"
_TAG = re.compile(r"<(?=\s*/?\s*memdeck)", re.IGNORECASE)
_OWN_BLOCK = rf"{OPEN}.*?(?:{CLOSE}|\Z)"


def marked(text: str) -> str:
    """Return a pack as a block that hosts hand on and `without_own` knows again."""
    return f"{OPEN}\n{text.rstrip()}\n{CLOSE}"


def without_own(text: str) -> str:
    """Return `text` without what memdeck injected into it."""
    return re.sub(_OWN_BLOCK, "", text, flags=re.DOTALL) if OPEN in text else text


def harmless(text: str) -> str:
    """Return stored text in which nothing acts on a terminal or looks like memdeck's own mark."""
    return _TAG.sub("‹", visible(text))


def quoted(text: str, limit: int = 0) -> str:
    """Return stored text on one line, at most `limit` characters when one is given."""
    line = " ".join(harmless(text).split())
    return clip(line, limit) if limit else line


def fenced(text: str) -> str:
    """Return stored text, harmless already, inside a fence longer than any run of backticks in it."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}text\n{text}\n{fence}\n"


def cut(text: str, limit: int) -> str:
    """Return at most `limit` characters of `text`, then the mark of a cut; never inside a grapheme cluster (S19)."""
    if len(text) <= limit:
        return text
    kept = 0
    for cluster in clusters(text[: limit + 64]):
        if kept + len(cluster) > limit:
            break
        kept += len(cluster)
    return text[:kept] + CUT


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
