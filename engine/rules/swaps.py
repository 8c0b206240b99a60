"""Statements that differ only in a value, or in which side of a comparison a thing stands (C25)."""

from __future__ import annotations

import re

from engine.rules.textnorm import has_cjk

# Digits inside a word or an identifier belong to its name.
_NUMBER = re.compile(r"(?<![a-z0-9_])\d+(?:[.,:]\d+)*(?!_)")
_ANCHOR = re.compile(rf"{_NUMBER.pattern}|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day")
# In Chinese text a foreign word is nearly always a name.
_ZH_ANCHOR = re.compile(
    rf"{_NUMBER.pattern}|[a-z][a-z0-9+#.-]*|(?:周|星期|礼拜)[一二三四五六日天]|[上下]午|早上|晚上|[前后]端|[前后]台|"
    r"客户端|服务端|[东南西北]边"
)
# Numbers that say which thing is meant, not how it is: another number is another thing.
_NAMING = re.compile(
    r"(?:issue|ticket|pr|room|step|chapter|week|day|part|item|slot|line|page|invoice|order|build|task|row|id|no\.?|mem-|#|"
    r"第)\W{0,3}\d|\d{4}-\d{1,2}(?:-\d{1,2})?|\d{4}年|\d{1,2}月|\d{1,2}[日号]|\b(?:19|20)\d\d\b"
)
# Attributes with one value at a time.
_ATTRIBUTE = re.compile(
    r"name|colou?r|language|editor|address|city|birthday|\bage\b|version|\bport\b|time ?zone|e-?mail|phone|title|size|"
    r"height|weight|default|deadline|favou?rite|preferred|primary|current|capital|owner|manager|licen[cs]e|framework|"
    r"database|名字|姓名|颜色|语言|编辑器|地址|城市|生日|年龄|版本|端口|时区|邮箱|电话|尺寸|身高|体重|默认|截止|最喜欢|首选|"
    r"主要|当前|负责人|许可证|框架|数据库|职业|血型|昵称"
)
_IS = re.compile(
    r"(?P<what>\S+\s.{2,60}?|.*[\u4e00-\u9fff].{1,40}?)\s*(?:\bis\b|\bare\b|\bwas\b|=|:|：|是|叫|为)\s*"
    r"(?P<value>[^.,;:。，；：]{1,30})[.!。！]?"
)
_COMPARED = re.compile(
    r"(?P<one>[\w+#-]+) (?:over|instead of|rather than|before|after|ahead of) (?:the )?(?P<other>[\w+#-]+)"
)
_MAX_VALUE_WORDS = 3
_LONGEST_STATEMENT = 160


def values_swapped(one: str, other: str) -> bool:
    """Tell whether two folded statements differ only in a number, an attribute's value or a comparison's sides."""
    return _other_number(one, other) or _other_value(one, other) or _other_side(one, other)


def subjects_differ(one: str, other: str) -> bool:
    """Tell whether each of two folded statements names a number, a weekday or a place that the other does not name."""
    pattern = _ZH_ANCHOR if has_cjk(one) and has_cjk(other) else _ANCHOR
    first, second = set(pattern.findall(one)), set(pattern.findall(other))
    return bool(first - second and second - first)


def _other_number(one: str, other: str) -> bool:
    first, second = _NUMBER.findall(one), _NUMBER.findall(other)
    # A row of several other numbers is another row, not a correction of this one.
    if len(first) != len(second) or sum(a != b for a, b in zip(first, second, strict=True)) != 1:
        return False
    same_words = _bare(_NUMBER.sub("0", one)) == _bare(_NUMBER.sub("0", other))
    return same_words and not _NAMING.search(one) and not _NAMING.search(other)


def _other_value(one: str, other: str) -> bool:
    if max(len(one), len(other)) > _LONGEST_STATEMENT:
        return False
    first, second = _IS.fullmatch(one.strip()), _IS.fullmatch(other.strip())
    if not first or not second or _bare(first["what"]) != _bare(second["what"]) or not _ATTRIBUTE.search(first["what"]):
        return False
    values = [value.split() for value in (first["value"], second["value"])]
    if any(len(value) > _MAX_VALUE_WORDS for value in values):
        return False
    short, long = sorted((_bare(first["value"]), _bare(second["value"])), key=len)
    # "blue" and "dark blue" refine each other.
    return short not in long


def _other_side(one: str, other: str) -> bool:
    sides = {(match["one"], match["other"]) for match in _COMPARED.finditer(one)}
    return any((match["other"], match["one"]) in sides for match in _COMPARED.finditer(other))


def _bare(text: str) -> str:
    return "".join(ch for ch in text if ch.isalnum())
