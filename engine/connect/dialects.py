"""The two sorts of settings files behind one shape: read, put an entry in, take it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from engine.connect import json_text, toml_text

COMMAND = "command"
"""The key that tells the entry of a local command from that of a remote server."""


class Dialect(Protocol):
    """How entries of one sort of settings file are read and edited; every method raises BadSettings."""

    def load(self, text: str) -> dict[str, object]:
        """Return what the text holds."""
        ...

    def put(self, text: str, path: Sequence[str], entry: Mapping[str, object]) -> str:
        """Set the keys of the entry at `path`; keys of the owner's own in it stay."""
        ...

    def drop(self, text: str, path: Sequence[str], *, keep: Mapping[str, object]) -> str:
        """Take the entry at `path` out, and what is empty without it, unless it stands in `keep` (what was before)."""
        ...


@dataclass(frozen=True)
class Json:
    """JSON, with comments and trailing commas where the agent allows them."""

    comments: bool = False

    def load(self, text: str) -> dict[str, object]:
        """Return what the text holds."""
        return json_text.load(text, comments=self.comments)

    def put(self, text: str, path: Sequence[str], entry: Mapping[str, object]) -> str:
        """Set the keys of the entry at `path`; the entry of a remote server is replaced as a whole."""
        known = member(self.load(text), path)
        if not isinstance(known, dict) or COMMAND not in known:
            return json_text.put(text, path, dict(entry), comments=self.comments)
        for key, value in entry.items():
            text = json_text.put(text, (*path, key), value, comments=self.comments)
        return text

    def drop(self, text: str, path: Sequence[str], *, keep: Mapping[str, object]) -> str:
        """Take the entry out, then each object around it that is empty now and was not there before."""
        text = json_text.drop(text, path, comments=self.comments)
        for depth in range(len(path) - 1, 0, -1):
            around = path[:depth]
            if member(self.load(text), around) == {} and member(keep, around) is None:
                text = json_text.drop(text, around, comments=self.comments)
        return text


@dataclass(frozen=True)
class Toml:
    """TOML, where the entry is a table."""

    def load(self, text: str) -> dict[str, object]:
        """Return what the text holds."""
        return toml_text.load(text)

    def put(self, text: str, path: Sequence[str], entry: Mapping[str, object]) -> str:
        """Set the keys of the table at `path`; the table of a remote server is replaced as a whole."""
        known = member(self.load(text), path)
        if known is not None and not (isinstance(known, dict) and COMMAND in known):
            text = toml_text.drop(text, path)
        return toml_text.put(text, path, entry)

    def drop(self, text: str, path: Sequence[str], *, keep: Mapping[str, object]) -> str:
        """Take the table out; tables around it need no header of their own."""
        return toml_text.drop(text, path)


def member(document: object, path: Sequence[str]) -> object:
    """Return what stands at `path`, None when nothing does."""
    for key in path:
        document = document.get(key) if isinstance(document, Mapping) else None
    return document
