"""Rules about statements of the form subject, relation, object: guesses, wording, and which exclude each other."""

from __future__ import annotations

import re

from engine.rules.textnorm import fold, is_cjk

DEFAULT_TYPE = "Concept"
"""The type of an entity until somebody names one (T2)."""

GUESS = "[推测]"
"""How a guess is marked where statements are shown (T7)."""

_GUESS_RE = re.compile(r"\s*[\[【［]\s*(?:推测|猜测)\s*[\]】］]\s*")

_SINGLE_VALUED = """
age|年龄|岁数
region|区域|地区|部署区域|deployment region
located in|is located in|location|位于|坐落于|所在地|位置
lives in|住在|居住在
is|是|为|=
value|值|取值|content|内容
port|port number|端口|端口号
version|current version|版本|版本号|当前版本
status|状态|current status|当前状态
birthday|date of birth|生日|出生日期
gender|性别|height|身高
price|价格|deadline|due date|截止日期|截止时间
time zone|timezone|时区
capital|首都
"""
SINGLE_VALUED = frozenset(fold(word) for line in _SINGLE_VALUED.split("\n") for word in line.split("|") if word)
"""Relations that hold of one object at a time. What may have many (likes, knows, works with) is never among them."""

_CLASS_RE = re.compile(r"(?:an?\s|[一]?[个名位只种家款]|one of\b|其中)", re.IGNORECASE)


def without_marks(text: str) -> tuple[str, bool]:
    """Take the marks of a guess off a term; tells whether there was one (T7)."""
    bare, count = _GUESS_RE.subn(" ", text)
    return bare.strip(), bool(count)


def normal_relation(relation: str) -> str:
    """Return a relation for comparison: folded, `works_at` like `works at`."""
    return " ".join(fold(relation).replace("_", " ").split()).strip(":： ")


def same_object(one: str, other: str) -> bool:
    """Tell whether two objects are the same word in any case, width or spacing."""
    return " ".join(fold(one).split()) == " ".join(fold(other).split())


def exclude_each_other(relation: str, one: str, other: str) -> bool:
    """Tell whether a subject cannot have both objects in this relation at a time (C14).

    `is a cook` beside `is a father` names two classes, which may both hold.
    """
    if normal_relation(relation) not in SINGLE_VALUED or same_object(one, other):
        return False
    return not (_CLASS_RE.match(one) or _CLASS_RE.match(other))


def statement(subject: str, relation: str, object: str, speculative: bool = False) -> str:
    """Write a statement as one reads it, with blanks between words that need them: `用户[推测]喜欢音乐` (T7)."""
    parts = [subject, *([GUESS] if speculative else []), relation, object]
    text = parts[0]
    for part in parts[1:]:
        text += part if _touches(text[-1:]) and _touches(part[:1]) else f" {part}"
    return text


def _touches(ch: str) -> bool:
    return ch == "" or is_cjk(ch) or ch in "[]"
