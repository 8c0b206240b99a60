"""Text made safe for cells: control characters shown, emoji sequences reduced, cuts made by width."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache

from rich.cells import cell_len, set_cell_size

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_BLOCK_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]")
_JOINED = re.compile(
    "(?:\u200d[^\\s\\w]\ufe0f?|[\ufe00-\ufe0f\u20e3]|[\U0001f3fb-\U0001f3ff]|[\U000e0020-\U000e007f])+"
)
_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]")
_HIDDEN = re.compile(
    "\U0001f3f4[\U000e0020-\U000e007e]{2,6}\U000e007f"  # a flag of a part of a country; no other text has such tags
    "|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
_ODD = re.compile("[^\x20-\x7e\u00a1-\u02ff\u0370-\u1fff\u3000-\ud7a3\uff01-\uffe6]")


def visible(text: str) -> str:
    """Return `text` on one line in which every character takes the width that terminals agree on.

    Controls become spaces or a visible mark, joined emoji their first member, flags their two letters, and
    invisible and direction-changing characters go.
    """
    if text.isascii() and text.isprintable():
        return text
    return _safe(_CONTROL.sub(_mark, text))


def visible_block(text: str) -> str:
    """Return `text` with its lines and tabs kept, otherwise as `visible`."""
    return _safe(_BLOCK_CONTROL.sub(_mark, text.replace("\r\n", "\n"))).replace("\t", "    ")


def editable(text: str) -> str:
    """Return `text` for a text area: what would act on the terminal as pictures, all else, emoji too, as it is."""
    return "\r\n".join(_HIDDEN.sub(_picture, line) for line in text.split("\r\n"))


def editable_line(text: str) -> str:
    """Return `text` for an input of one line, otherwise as `editable`."""
    return " ".join(re.split("\r?\n|\t", editable(text)))


def _picture(found: re.Match[str]) -> str:
    char = found[0]
    if len(char) > 1:
        return char
    return chr(0x2400 + ord(char)) if char < " " else "\u2421" if char == "\x7f" else f"⟨U+{ord(char):04X}⟩"


def _mark(found: re.Match[str]) -> str:
    return " " if found[0] in "\t\n\r\x0b\x0c" else "\ufffd"


def _safe(text: str) -> str:
    if not _ODD.search(text):
        return text
    text = _JOINED.sub("", text)
    text = _FLAG.sub(lambda flag: chr(ord(flag[0]) - 0x1F1E6 + ord("A")), text)
    return _INVISIBLE.sub("", text)


@lru_cache(maxsize=4096)
def clip(text: str, cells: int) -> str:
    """Return `text` cut or padded to exactly `cells` cells; a cut is marked with `~`."""
    if cells <= 0:
        return ""
    if cell_len(text) <= cells:
        return set_cell_size(text, cells)
    return set_cell_size(text, cells - 1) + "~"


def day(ms: int | None) -> str:
    """Return the local date of UTC milliseconds, or an empty string for none."""
    return "" if ms is None else _local(ms).strftime("%Y-%m-%d")


def moment(ms: int | None) -> str:
    """Return the local date and time of UTC milliseconds to the minute, or an empty string for none."""
    return "" if ms is None else _local(ms).strftime("%Y-%m-%d %H:%M")


def _local(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000)
