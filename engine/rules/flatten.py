"""Text as a detector should see it: obfuscation undone, every position mapped back to the original."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from engine.rules.textnorm import INVISIBLE

# Full-width and mathematical letters and digits look like ASCII to a reader and to a model.
_LOOKALIKE = "\uff0d\uff0e\uff10-\uff19\uff20-\uff3a\uff3f\uff41-\uff5a\U0001d400-\U0001d7ff"
_GATE = re.compile(f"[{INVISIBLE}\u0300-\u036f{_LOOKALIKE}]")
_ODD = re.compile(f"[{INVISIBLE}]+|(?P<plain>[^\\W\\d_][\u0300-\u036f]+|[{_LOOKALIKE}])")


class Flat(NamedTuple):
    """A flattened text; `starts[i]` is where its character i began in the original, None when nothing changed."""

    text: str
    starts: list[int] | None = None

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Map a non-empty half-open range of `text` to the range of the original that produced it."""
        if self.starts is None:
            return start, end
        return self.starts[start], max(self.starts[end], self.starts[end - 1] + 1)


def flatten(text: str) -> Flat:
    """Return `text` without invisible characters, with look-alike letters as ASCII and accents composed."""
    if text.isascii() or not _GATE.search(text):
        return Flat(text)
    parts: list[str] = []
    starts: list[int] = []
    done = 0
    for match in _ODD.finditer(text):
        parts.append(text[done : match.start()])
        starts.extend(range(done, match.start()))
        done = match.end()
        if match["plain"]:
            plain = unicodedata.normalize("NFKC", match["plain"])
            parts.append(plain)
            starts.extend([match.start()] * len(plain))
    parts.append(text[done:])
    starts.extend(range(done, len(text) + 1))
    return Flat("".join(parts), starts)
