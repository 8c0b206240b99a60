"""Markdown of a memory's body as styled lines: headings, lists, quotes, code, emphasis; tables stay as written."""

from __future__ import annotations

import re

from textual.content import Content

from tui.text import visible_block

_INLINE = re.compile(
    r"`(?P<code>[^`\n]+)`|\*\*(?P<strong>[^*\n]+)\*\*|\[\[(?P<wiki>[^\]\n]+)\]\]"
    r"|\[(?P<label>[^\]\n]+)\]\((?P<url>[^)\n]*)\)|(?<![\w*])\*(?P<em>[^*\s][^*\n]*)\*(?![\w*])"
)
_STYLE = {"code": "$accent", "strong": "bold", "wiki": "$primary underline", "label": "$primary", "em": "italic"}
_HEADING = re.compile(r"#{1,6}\s+(.*)")
_ITEM = re.compile(r"(\s*)(?:[-*+]|(\d+[.)]))\s+(.*)")
LONGEST = 64 * 1024
"""Characters of a body that are drawn; the rest is announced by `...`."""


def render(text: str) -> Content:
    """Return `text` as lines for a terminal, with every character of the source's words kept."""
    cut = len(text) > LONGEST
    fenced = False
    lines: list[Content] = []
    for line in visible_block(text[:LONGEST]).split("\n"):
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
            lines.append(Content.styled(line, "$text-muted"))
        elif fenced:
            lines.append(Content.styled(line, "$accent"))
        else:
            lines.append(_line(line))
    return Content("\n").join([*lines, Content("...")] if cut else lines)


def _line(line: str) -> Content:
    if found := _HEADING.fullmatch(line):
        return Content.styled(found[1], "bold $primary")
    if line.startswith(">"):
        return Content.styled("| " + line[1:].lstrip(), "$text-muted italic")
    if found := _ITEM.fullmatch(line):
        return Content.assemble(found[1], (found[2] or "-", "$accent"), " ", _inline(found[3]))
    return _inline(line)


def _inline(text: str) -> Content:
    pieces: list[Content] = []
    at = 0
    for found in _INLINE.finditer(text):
        kind = found.lastgroup or ""
        kind = "label" if kind == "url" else kind
        pieces += [Content(text[at : found.start()]), Content.styled(found[kind], _STYLE[kind])]
        at = found.end()
    return Content("").join([*pieces, Content(text[at:])])
