"""How memories look in a tool's result: one line each, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from engine.model.enums import State
from engine.model.memory import Hit, Memory, Page, WriteResult

RESULT_TOKENS = 600
"""The size of one result unless the caller asks for more (C48)."""

_FRAME_TOKENS = 60
_HIT_TOKENS = 40
_WIDE_LINE_TOKENS = 60


def one_line(text: str) -> str:
    """Join the lines of a text with spaces; nothing else is changed, memories are data."""
    return " ".join(part.strip() for part in text.splitlines()).strip()


def cost(char: str) -> float:
    """Estimate the tokens of one character, rather too high: letters 1/4, digits and signs 1/2, others 1."""
    if char.isascii():
        return 0.25 if char.isalpha() or char == " " else 0.5
    return 1.0


def clip(text: str, tokens: float) -> str:
    """Cut a text to about so many tokens, with an ellipsis where something went."""
    if len(text) <= tokens:
        return text
    spent = 0.0
    for at, char in enumerate(text):
        spent += cost(char)
        if spent > tokens:
            return text[:at].rstrip() + "…"
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
    line: dict[str, object] = {"ref": memory.ref, "text": clip(one_line(memory.description), tokens)}
    line["why"] = one_line(hit.why) if why else clip(one_line(hit.why), 14)
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


def page_of(page: Page) -> dict[str, object]:
    """Shape one page of a memory's text with its lines, its revision and where to read on."""
    memory = page.memory
    shaped: dict[str, object] = {"ref": page.ref, "text": one_line(memory.description)}
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
