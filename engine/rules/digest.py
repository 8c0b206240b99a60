"""What stands for a turn in short: its summary and its overview, made without a model (W44, W47)."""

from __future__ import annotations

import re

from engine.rules.textnorm import clip, has_cjk, one_line

SUMMARY_CHARS = 30
"""What a summary is wished to have (W44)."""
FALLBACK_CHARS = 100
"""Characters of the answer that stand in for a summary (W47)."""
MOST_SUMMARY = 400
OVERVIEW_LEAST, OVERVIEW_MOST = 100, 200

_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_MARKS = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•]\s+|\d+[.)、]\s*|>\s*)", re.MULTILINE)
_SENTENCE = re.compile(r"[^。！？!?\n]*?(?:[。！？!?]+|\.(?=\s|\Z)|\n|\Z)", re.DOTALL)
_POLITE = re.compile(
    r"\A(?:sure|certainly|of course|absolutely|great question|thanks|thank you|ok|okay|好的|好|当然|没问题|谢谢|可以)"
    r"[\s,，.。!！:：]*(?:\Z|(?=i['’]ll|let me|here|我来|下面))",
    re.IGNORECASE,
)


def fallback_summary(user_input: str, response: str, error: str = "") -> str:
    """Return the first 100 characters of the answer on one line; the error of a failed turn, else the question (W45).

    Nothing to say at all gives an empty text.
    """
    text = next((t for t in (error, response, user_input) if t.strip()), "")
    return " ".join(text.split())[:FALLBACK_CHARS].strip()


def short_summary(text: str) -> str:
    """Return a summary that somebody made, on one line and not longer than a description."""
    return clip(" ".join(text.split()), MOST_SUMMARY)


def local_overview(user_input: str, response: str) -> str:
    """Return about 100 to 200 characters on a turn: what was asked, then the sentences that answer it (W44)."""
    asked = one_line(user_input, 60) if user_input.strip() else ""
    said = list(_sentences(response))
    if not said:
        return clip(" ".join(user_input.split()), OVERVIEW_MOST)
    joint = "：" if has_cjk(asked or said[0]) else " → "
    text = f"{asked}{joint}" if asked else ""
    for sentence in said:
        longer = f"{text}{'' if not text or has_cjk(sentence) or text.endswith(joint) else ' '}{sentence}"
        if len(longer) > OVERVIEW_MOST and len(text) >= OVERVIEW_LEAST:
            break
        text = longer
        if len(text) >= OVERVIEW_MOST:
            break
    return clip(text, OVERVIEW_MOST)


def _sentences(text: str) -> list[str]:
    plain = _MARKS.sub("", _FENCE.sub("\n", text[:20_000]))
    found = (" ".join(match[0].split()) for match in _SENTENCE.finditer(plain))
    return [s for s in found if any(ch.isalnum() for ch in s) and not _POLITE.match(s)][:40]
