"""The last door before the terminal: nothing that a widget drew can act on the terminal or turn text around."""

from __future__ import annotations

import re

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters that a terminal obeys, or that change the direction of text; none of them takes a cell."""


class TerminalGuard(LineFilter):
    """Takes such characters out of every line of every widget, also of those that show what is being typed."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments without them; a line without any is returned as it is."""
        if not any(UNSAFE.search(segment.text) for segment in segments):
            return segments
        return [Segment(UNSAFE.sub("", segment.text), segment.style, segment.control) for segment in segments]


GUARD = TerminalGuard()
