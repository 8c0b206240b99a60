"""How memories look in a tool's result: one line each, within a budget of tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from engine.model.enums import State
from engine.model.memory import Hit, Memory, Page, WriteResult
from engine.rules.textnorm import clip as cut

RESULT_TOKENS = 600
"""The size of one result unless the caller asks for more (C48)."""

_PIECES = re.compile(r"[A-Za-z\u00c0-\u1fff]{1,24}|[0-9]{1,3}|[^\sA-Za-z0-9]|\n")
_FRAME_TOKENS = 60
_HIT_TOKENS = 40
_WIDE_LINE_TOKENS = 60


def join_lines(text: str) -> str:
    """Join the lines of a text with spaces; nothing else is changed, memories are data."""
    return " ".join(part.strip() for part in text.splitlines()).strip()


def _cost(piece: str) -> float:
    """Estimate the tokens of one piece of text, rather too high."""
    first = piece[0]
    if first > "\uffff":
        return 3.0
    if first >= "\u2000" or not first.isalpha():
        return 1.0
    plain = piece.islower() or piece.istitle()
    return max(1.0, len(piece) / (6 if plain and piece.isascii() else 2))


def weigh(text: str) -> float:
    """Estimate how many tokens a text costs at most: words, groups of three digits, signs, other characters."""
    return sum(map(_cost, _PIECES.findall(text)))


def clip(text: str, tokens: float) -> str:
    """Cut a text to about so many tokens, with an ellipsis where something went."""
    spent = 0.0
    for piece in _PIECES.finditer(text):
        spent += _cost(piece[0])
        if spent > tokens:
            near = max(0, piece.start() - 16)  # clusters are short: only the end needs care
            return text[:near] + cut(text[near : piece.start() + 16], piece.start() - near + 1)
    return text


def moment(ms: int) -> str:
    """Render UTC milliseconds in local time, as a date alone at midnight."""
    local = datetime.fromtimestamp(ms / 1000).astimezone()
    if (local.hour, local.minute, local.second) == (0, 0, 0):
        return local.date().isoformat()
    return local.isoformat(timespec="minutes")


def hit_lines(hits: Sequence[Hit], *, asked_for_more: bool, why: bool) -> list[dict[str, object]]:
    """Shape a page of hits so that it fits one result, or with wider lines when the caller asked for more."""
    room = _WIDE_LINE_TOKENS if asked_for_more else (RESULT_TOKENS - _FRAME_TOKENS) / max(1, len(hits)) - _HIT_TOKENS
    return [_hit(hit, min(room, _WIDE_LINE_TOKENS), why) for hit in hits]


def _hit(hit: Hit, tokens: float, why: bool) -> dict[str, object]:
    memory = hit.memory
    line: dict[str, object] = {"ref": memory.ref, "text": clip(join_lines(memory.description), tokens)}
    line["why"] = join_lines(hit.why) if why else clip(join_lines(hit.why), 14)
    if hit.lines:
        line["lines"] = f"{hit.lines[0]}-{hit.lines[1]}"
    line |= _marks(memory)
    if why:
        line["score"] = round(hit.score, 4)
        line["parts"] = dict(hit.parts)
        if hit.passage:
            line["passage"] = hit.passage
    return line


def _marks(memory: Memory) -> dict[str, object]:
    """Say what a reader has to know before trusting a line; nothing for a plain current memory."""
    marks: dict[str, object] = {}
    if memory.state is not State.ACTIVE:
        marks["state"] = memory.state.value
    if memory.valid_to is not None:
        marks["until"] = moment(memory.valid_to)
    if memory.speculative:
        marks["guess"] = True
    if memory.conflict:
        marks["conflict"] = [f"mem-{id}" for id in memory.conflict[:3]]
    return marks


def page_of(page: Page, tokens: float) -> dict[str, object]:
    """Shape one page of a memory's text with its lines, its revision and where to read on."""
    memory = page.memory
    shaped: dict[str, object] = {"ref": page.ref, "text": clip(join_lines(memory.description), tokens)}
    if memory.type:
        shaped["type"] = memory.type.value
    shaped["source"] = memory.source
    shaped["since"] = moment(memory.valid_from)
    shaped |= _marks(memory)
    for name, values in (("topics", memory.topics), ("tags", memory.tags)):
        if values:
            shaped[name] = list(values)
    if page.part != "body":
        shaped["part"] = page.part
    shaped["body"] = page.text
    if page.total_lines:
        shaped["lines"] = f"{page.start_line}-{page.end_line} of {page.total_lines}"
    if page.next_line is not None:
        shaped["next_line"] = page.next_line
    return shaped


def written(result: WriteResult) -> dict[str, object]:
    """Shape what became of one write: reference, id, revision and state."""
    shaped: dict[str, object] = {
        "ref": result.ref,
        "id": f"mem-{result.id}",
        "revision": result.revision,
        "state": result.state,
    }
    if result.seen_again:
        shaped["seen_again"] = True
    if result.review is not None:
        shaped["review"] = result.review
    return shaped
