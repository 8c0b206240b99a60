"""What is wrong with a settings file, before it is known which file that is."""

from __future__ import annotations


class BadSettings(Exception):
    """A settings text that must not be touched: `why` in a few words, `line` counted from 1."""

    def __init__(self, why: str, line: int) -> None:
        super().__init__(why)
        self.why = why
        self.line = line


def line_at(text: str, position: int) -> int:
    """Return the line, counted from 1, on which a character stands."""
    return text.count("\n", 0, position) + 1


def line_end_of(text: str) -> str:
    """Return how a text ends its lines; a text of one line gets a plain newline."""
    return "\r\n" if "\r\n" in text else "\n"
