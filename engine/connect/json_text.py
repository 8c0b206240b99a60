"""Edits single members of a JSON text and leaves every other character alone; comments survive where they are allowed.

A path leads through objects by key and through lists by number. Every function takes the whole text and returns the
whole text. With `comments` the text may hold comments and trailing commas, as the agents that allow them read it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from engine.connect.faults import BadSettings, line_at, line_end_of

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_STRING_AT = re.compile(_STRING, re.DOTALL)
_COMMENT = re.compile(rf"{_STRING}|(//[^\n\r]*|/\*.*?(?:\*/|\Z))", re.DOTALL)
_TRAILING = re.compile(rf"{_STRING}|(,)(?=\s*[}}\]])", re.DOTALL)
_BRACKET = re.compile(rf"{_STRING}|[{{}}\[\]]", re.DOTALL)
_SCALAR = re.compile(r"[^\s,\]}]+")
_SPACE = re.compile(r"\s*")
_VISIBLE = re.compile(r"[^\r\n]")
_EMPTY = re.compile(r"\{\s*\}|\[\s*\]")

Path = Sequence[str | int]


@dataclass(frozen=True)
class _Member:
    """One `"key": value` of an object, or one numbered value of a list: where it begins, its value begins, it ends."""

    key: str | int
    start: int
    value: int
    end: int


@dataclass(frozen=True)
class _Text:
    """A JSON text in three views of equal length, so that a position means the same in each of them.

    `bare` has blanks for comments, `flat` for comments and trailing commas: it is plain JSON.
    """

    text: str
    bare: str
    flat: str
    value: dict[str, object]

    @cached_property
    def root(self) -> int:
        """The position of the outermost brace."""
        return self.flat.index("{")

    def members(self, at: int) -> tuple[list[_Member], int]:
        """Return the members of the object or list that opens at `at`, and the position of its closing bracket."""
        found: list[_Member] = []
        close = "}" if self.flat[at] == "{" else "]"
        position = self.skip_space(at + 1)
        while self.flat[position] != close:
            key: str | int = len(found)
            value = position
            if close == "}":
                name = _STRING_AT.match(self.flat, position)
                assert name is not None
                key, value = json.loads(name[0]), self.skip_space(self.flat.index(":", name.end()) + 1)
            end = self.end_of_value(value)
            found.append(_Member(key, position, value, end))
            position = self.skip_space(end)
            if self.flat[position] == ",":
                position = self.skip_space(position + 1)
        return found, position

    def skip_space(self, at: int) -> int:
        """Return the position of the next character that is no space."""
        found = _SPACE.match(self.flat, at)
        return found.end() if found else at

    def end_of_value(self, at: int) -> int:
        """Return the position behind the value that begins at `at`."""
        if self.flat[at] not in "{[":
            found = (_STRING_AT if self.flat[at] == '"' else _SCALAR).match(self.flat, at)
            assert found is not None
            return found.end()
        depth = 0
        for found in _BRACKET.finditer(self.flat, at):
            depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(found[0], 0)
            if not depth:
                return found.end()
        raise AssertionError("a valid text closes its brackets")

    def opens(self, at: int, key: str | int) -> bool:
        """Tell whether what begins at `at` is an object, or a list for a number."""
        return self.flat[at] == ("{" if isinstance(key, str) else "[")

    def find(self, at: int, key: str | int) -> _Member | None:
        """Return the member that counts: the last one of a repeated key."""
        return next((m for m in reversed(self.members(at)[0]) if m.key == key), None)

    def has_trailing_comma(self, after: int, before: int) -> bool:
        """Tell whether a comma follows the last value of an object."""
        return "," in self.bare[after:before]

    def own_line(self, at: int) -> str | None:
        """Return the indentation of what begins at `at`, or None when it does not begin its line."""
        before = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return before if "\n" in self.text[:at] and not before.strip() else None

    @cached_property
    def unit(self) -> str:
        """One step of indentation, as the outermost members have it."""
        members, _ = self.members(self.root)
        return (self.own_line(members[0].start) if members else None) or "  "


def load(text: str, *, comments: bool = False) -> dict[str, object]:
    """Return the object that a text holds, an empty one for a blank text; raises BadSettings with the line."""
    return _read(text, comments).value


def put(text: str, path: Path, value: object, *, comments: bool = False) -> str:
    """Set the member at `path`, making what is missing on the way; a text that says so already comes back unchanged.

    The number of a list's end appends. Raises BadSettings when the text is invalid or something on the way is of
    another kind.
    """
    seen = _read(text, comments)
    if not seen.flat.strip():
        end = line_end_of(text)
        return text + json.dumps(_nested(path, value), ensure_ascii=False, indent=2).replace("\n", end) + end
    at = seen.root
    for depth, key in enumerate(path):
        member = seen.find(at, key)
        if member is None:
            return _insert(seen, at, key, _nested(path[depth + 1 :], value))
        if depth == len(path) - 1:
            if json.loads(seen.flat[member.value : member.end]) == value:
                return text
            return text[: member.value] + _shown(seen, member, value) + text[member.end :]
        if not seen.opens(member.value, path[depth + 1]):
            kind = "object" if isinstance(path[depth + 1], str) else "list"
            raise BadSettings(f'"{key}" is no {kind}', line_at(text, member.value))
        at = member.value
    return text


def drop(text: str, path: Path, *, comments: bool = False) -> str:
    """Take the member at `path` out, with its comma and its line; a text without it comes back unchanged."""
    while True:
        seen = _read(text, comments)
        at: int | None = seen.root if seen.flat.strip() else None
        for key, inner in pairwise(path):
            member = seen.find(at, key) if at is not None else None
            at = member.value if member and seen.opens(member.value, inner) else None
        if at is None or seen.find(at, path[-1]) is None:
            return text
        text = _cut(seen, at, path[-1], comments)
        if isinstance(path[-1], int):  # the next of a list would have the same number
            return text


def _nested(path: Path, value: object) -> object:
    for key in reversed(path):
        value = {key: value} if isinstance(key, str) else [value]
    return value


def _read(text: str, comments: bool) -> _Text:
    bare = _COMMENT.sub(_blank, text) if comments else text
    flat = _TRAILING.sub(_blank, bare) if comments else text
    if not flat.strip():
        return _Text(text, bare, flat, {})
    try:
        value = json.loads(flat)
    except json.JSONDecodeError as error:
        raise BadSettings(f"no valid JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise BadSettings("nested too deeply", 1) from None
    if not isinstance(value, dict):
        raise BadSettings("no JSON object", 1)
    return _Text(text, bare, flat, value)


def _blank(found: re.Match[str]) -> str:
    return _VISIBLE.sub(" ", found[0]) if found[1] else found[0]


def _insert(seen: _Text, at: int, key: str | int, value: object) -> str:
    added = _nested((key,), value)
    members, close = seen.members(at)
    text = seen.text
    comma_at = members[-1].end if members else at + 1
    comma = "," if members and not seen.has_trailing_comma(comma_at, close) else ""
    # Behind the last comment, so that a remark on the line before stays with what it is about.
    place = comma_at + len(text[comma_at:close].rstrip())
    if _is_one_line(seen, at, close, bool(members)):
        spaced = ": " in seen.flat
        new = json.dumps(added, ensure_ascii=False, separators=(", ", ": ") if spaced else (",", ":"))[1:-1]
        gap, after = " " if spaced and members else "", ""
    else:
        end = line_end_of(text)
        outer = _indent_of_line(text, close if "\n" in text[at:close] else at)
        indents = (seen.own_line(member.start) for member in reversed(members))
        inner = next((i for i in indents if i is not None), outer + seen.unit)
        new = json.dumps(added, ensure_ascii=False, indent=seen.unit)[1:-1].strip("\n")
        new = new.removeprefix(seen.unit).replace(f"\n{seen.unit}", f"{end}{inner}")
        gap, after = end + inner, "" if "\n" in text[place:close] else end + outer
    return text[:comma_at] + comma + text[comma_at:place] + gap + new + after + text[place:]


def _is_one_line(seen: _Text, at: int, close: int, has_members: bool) -> bool:
    """An object with members stays on its line; an empty one opens up unless the whole text is one line of members."""
    if has_members or at == seen.root:
        return has_members and "\n" not in seen.text[at:close]
    _, end = seen.members(seen.root)
    return "\n" not in seen.text[seen.root : end]


def _indent_of_line(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _shown(seen: _Text, member: _Member, value: object) -> str:
    if "\n" not in seen.text[member.value : member.end] and not isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    shown = json.dumps(value, ensure_ascii=False, indent=seen.unit)
    return shown.replace("\n", line_end_of(seen.text) + _indent_of_line(seen.text, member.start))


def _cut(seen: _Text, at: int, key: str | int, comments: bool) -> str:
    members, close = seen.members(at)
    index = max(i for i, m in enumerate(members) if m.key == key)
    member = members[index]
    comma = seen.bare.find(",", member.end, members[index + 1].start if index + 1 < len(members) else close)
    if comma < 0 and index:
        comma = seen.bare.index(",", members[index - 1].end)
    start = len(seen.text[: member.start].rstrip())
    for begin in (start, member.start):
        result = _without(seen.text, [(begin, member.end), *([(comma, comma + 1)] if comma >= 0 else [])])
        empty = _EMPTY.match(result, at) if len(members) == 1 else None
        if empty:
            result = f"{result[:at]}{empty[0][0]}{empty[0][-1]}{result[empty.end() :]}"
        try:
            _read(result, comments)
        except BadSettings:  # what stood before it was a remark to the end of its line: the line break has to stay
            continue
        return result
    raise AssertionError("a valid text stays valid")


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + text[end:]
    return text
