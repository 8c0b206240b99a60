"""Edits one table of a TOML text and leaves every other character alone: comments, order and blank lines survive."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.connect.faults import BadSettings, line_at, line_end_of

_PIECE = re.compile(
    r'"""(?:[^\\]|\\.)*?"""(?:"{0,2})|\'\'\'.*?\'\'\'(?:\'{0,2})|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}]|\n',
    re.DOTALL,
)
_EQUALS = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|(=)')
_ERROR_LINE = re.compile(r"\(at line (\d+)")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class _Statement:
    """One header or one pair: its full path, its whole lines, and for a pair the bounds of its value."""

    path: tuple[str, ...]
    is_header: bool
    start: int
    end: int
    value: int
    stop: int


def load(text: str) -> dict[str, object]:
    """Return what a text holds; raises BadSettings with the line."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _ERROR_LINE.search(str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        raise BadSettings(f"no valid TOML: {str(error).partition(' (at')[0]}", line) from None
    except RecursionError:
        raise BadSettings("nested too deeply", 1) from None


def put(text: str, path: Sequence[str], entry: Mapping[str, object]) -> str:
    """Set the keys of the table at `path` and keep its other keys; a text that says so already comes back unchanged.

    A table that is missing is appended as a section of its own. Raises BadSettings when the text is invalid or the
    place is closed by an inline table.
    """
    path = tuple(path)
    known = _at(load(text), path)
    if known is not None and all(known.get(key) == value for key, value in entry.items()):
        return text
    ours = _below(text, path)
    header = next((s for s in ours if s.is_header and s.path == path), None)
    if header is None:
        _require_open(text, path)
        return _append(drop(text, path), path, {**(known or {}), **entry})
    for key, value in entry.items():
        text = _put_key(text, path, key, value)
    load(text)
    return text


def drop(text: str, path: Sequence[str]) -> str:
    """Take the table at `path` out, with its sub-tables; comments between its lines stay. Raises BadSettings."""
    load(text)
    path = tuple(path)
    _require_open(text, path)
    for statement in reversed(_below(text, path)):
        before, after = text[: statement.start], text[statement.end :]
        blank = re.search(r"(?:\r?\n|\A)(\r?\n)\Z", before)
        if statement.is_header and blank and (not after.strip() or after.lstrip(" \t").startswith(("\n", "\r"))):
            before = before[: blank.start(1)]
        text = before + after
    return text


def shown(value: object) -> str:
    """Return a value as TOML on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(str(k))} = {shown(v)}" for k, v in value.items()) + " }" if value else "{}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(shown(v) for v in value) + "]"
    return str(value)


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else shown(name)


def _at(document: object, path: Sequence[str]) -> dict[str, object] | None:
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document if isinstance(document, dict) else None


def _below(text: str, path: tuple[str, ...]) -> list[_Statement]:
    return [s for s in _statements(text) if s.path[: len(path)] == path]


def _require_open(text: str, path: tuple[str, ...]) -> None:
    for statement in _statements(text):
        depth = len(statement.path)
        if not statement.is_header and depth < len(path) and path[:depth] == statement.path:
            name = ".".join(statement.path)
            raise BadSettings(f"{name} is an inline table; write it as [{name}]", line_at(text, statement.start))


def _append(text: str, path: tuple[str, ...], entry: Mapping[str, object]) -> str:
    end = line_end_of(text)
    gap = "" if not text else end if text.endswith("\n") else end + end
    lines = [f"[{'.'.join(map(_key, path))}]", *(f"{_key(key)} = {shown(value)}" for key, value in entry.items())]
    return text + gap + end.join(lines) + end


def _put_key(text: str, path: tuple[str, ...], key: str, value: object) -> str:
    wanted = (*path, key)
    found = _below(text, wanted)
    if len(found) == 1 and not found[0].is_header and found[0].path == wanted:
        return text[: found[0].value] + shown(value) + text[found[0].stop :]
    for statement in reversed(found):
        text = text[: statement.start] + text[statement.end :]
    header = next(s for s in _statements(text) if s.is_header and s.path == path)
    end = line_end_of(text)
    gap = "" if text[: header.end].endswith("\n") else end
    return text[: header.end] + f"{gap}{_key(key)} = {shown(value)}{end}" + text[header.end :]


def _statements(text: str) -> Iterator[_Statement]:
    """Yield the headers and pairs of a valid text in order."""
    table: tuple[str, ...] = ()
    position = 0
    while position < len(text):
        line = text.find("\n", position)
        first = text[position : len(text) if line < 0 else line].strip()
        if not first or first.startswith("#"):
            position = len(text) if line < 0 else line + 1
            continue
        end, stop = _bounds(text, position)
        body = text[position:stop]
        if first.startswith("["):
            table = _path_of(tomllib.loads(body))
            yield _Statement(table, True, position, end, position, stop)
        else:
            equals = next(found.start() for found in _EQUALS.finditer(body) if found[1])
            name = _path_of(tomllib.loads(f"{body[:equals]}= 0"))
            value = position + equals + 1
            value += len(text[value:stop]) - len(text[value:stop].lstrip())
            yield _Statement((*table, *name), False, position, end, value, stop)
        position = end


def _bounds(text: str, position: int) -> tuple[int, int]:
    """Return where a statement's last line ends, and where the statement itself does, before spaces and a comment."""
    depth, comment = 0, None
    for piece in _PIECE.finditer(text, position):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(piece[0], 0)
        if piece[0].startswith("#") and not depth:
            comment = piece.start()
        if piece[0] == "\n" and not depth:
            return piece.end(), position + len(text[position : comment or piece.start()].rstrip())
    return len(text), position + len(text[position : comment or len(text)].rstrip())


def _path_of(document: object) -> tuple[str, ...]:
    """Return the one path that a document of a single header or key holds."""
    path = []
    while isinstance(document, dict | list) and document:
        if isinstance(document, list):
            document = document[0]
            continue
        ((key, document),) = document.items()
        path.append(key)
    return tuple(path)
