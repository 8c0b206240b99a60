"""Values to the lines of a YAML header, quoted so that every reader gets back what was written (S9)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from engine.transfer.header import Entry, core


class Removed:
    """The type of `REMOVED`."""


REMOVED: Final = Removed()
"""A value for `frontmatter.edit` that drops the key."""

BREAK = re.compile(r"[ \t]*[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+\s*")
UNPRINTABLE = re.compile(r"[\x00-\x08\x0e-\x1b\x1f\x7f-\x9f\ufeff\ufffe\uffff]")
SURROGATE = re.compile(r"[\ud800-\udfff]")
PLAIN = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`](?:[^\s:#]|:(?=[^\s])|(?<=\S)#|[ ](?=[^#\s]))*")
PLAIN_ITEM = re.compile(r"[^\[\]{},:\"'#]*")
AMBIGUOUS = re.compile(r"(?:y|n|yes|no|on|off|true|false|null|~|[-+.\d].*|=|<<)", re.I)
DAY = re.compile(r"\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?")


def value_lines(key: str, value: object, indent: str, old: Entry | None = None) -> list[str]:
    """Write a key with its value as header lines, in the manner of `old`; nothing for `REMOVED`."""
    if value is REMOVED:
        return []
    if isinstance(value, Mapping):
        lines = [f"{indent}{key}:" if value else f"{indent}{key}: {{}}"]
        for name, item in value.items():
            lines += value_lines(quote_key(str(name)), item, f"{indent}  ")
        return lines
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return list_lines(key, value, indent, old)
    text = old.text if old else ""
    return [f"{indent}{key}: {scalar(value, text[:1])}"]


def list_lines(key: str, items: Sequence[object], indent: str, old: Entry | None) -> list[str]:
    """Write a list as a block where the old one was a block, as a comma string where it was one, else in brackets."""
    if old is not None and old.more and old.more[0].strip().startswith("-") and items:
        first = old.more[0]
        inner = first[: len(first) - len(first.lstrip())]
        return [f"{indent}{key}:", *(f"{inner}- {item_text(item)}" for item in items)]
    texts = [str(item) for item in items]
    commas = old is not None and old.text[:1] not in ("", "[") and "," in old.text
    if commas and items and not any("," in text for text in texts):
        return [f"{indent}{key}: {scalar(', '.join(texts), '')}"]
    return [f"{indent}{key}: [{', '.join(item_text(item) for item in items)}]"]


def item_text(item: object) -> str:
    """Write one item of a list; stricter than a value, because commas and brackets end an item."""
    text = scalar(item, "")
    return text if text[:1] in "'\"" or PLAIN_ITEM.fullmatch(text) else single(text)


def scalar(value: object, style: str) -> str:
    """Write one value; `style` is the first character of the old text, so that its quotes are kept."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    text = SURROGATE.sub("\ufffd", str(value))
    folded = BREAK.sub(" ", text)
    if UNPRINTABLE.search(folded):
        return double(folded)
    if style == '"':
        return double(folded)
    if style == "'" or folded != text or not folded:
        return single(folded)
    if DAY.fullmatch(folded):
        return folded
    plain = PLAIN.fullmatch(folded) and not AMBIGUOUS.fullmatch(folded) and core(folded) == folded
    return folded if plain else single(folded)


def single(text: str) -> str:
    """Put text into single quotes, doubling those inside."""
    return "'" + text.replace("'", "''") + "'"


def double(text: str) -> str:
    """Put text into double quotes with escapes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    return '"' + UNPRINTABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", escaped) + '"'


def quote_key(key: str) -> str:
    """Write a key, quoted when it would not be read as one."""
    return key if re.fullmatch(r"[^\W\d][\w .-]*", key) and key == key.strip() else single(BREAK.sub(" ", key))
