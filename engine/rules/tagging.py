"""The vocabulary's rules on names: which names are one tag, codes, what is too general, and what a tag needs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from engine.model.enums import TagType
from engine.rules.textnorm import INVISIBLE, clean_input, fold

MAX_NAME = 40
"""Characters of a tag's name (S4)."""

MOST_EXTRACTED = 4
"""Tags that are taken from one text; more locate nothing (W10)."""

MAX_DEFINITION, MAX_SYNONYMS = 200, 24
SHORT_DEFINITION = 10
LEAST_DEFINITIONS, LEAST_SYNONYMS, MOST_SYNONYMS = 2, 2, 4
"""What an extracted tag brings: definitions of at most ten characters, and two to four synonyms (W10)."""

DIMENSIONS: Mapping[str, str] = {"content": "内容", "scene": "场景", "task": "任务", "constraint": "约束"}
"""What a tag can say of a card, by its English word (W10)."""

SYSTEM_TAGS: tuple[tuple[TagType, str, str, str, str], ...] = (
    (TagType.SCENE, "工作", "TAG_SCENE_WORK", "场景", "与工作有关"),
    (TagType.SCENE, "生活", "TAG_SCENE_LIFE", "场景", "与日常生活有关"),
    (TagType.SCENE, "学习", "TAG_SCENE_STUDY", "场景", "与学习有关"),
    (TagType.SCENE, "娱乐", "TAG_SCENE_ENTERTAINMENT", "场景", "与消遣有关"),
    (TagType.TASK, "查询", "TAG_TASK_QUERY", "任务", "要找已有的东西"),
    (TagType.TASK, "创作", "TAG_TASK_CREATION", "任务", "要写出新的东西"),
    (TagType.TASK, "规划", "TAG_TASK_PLANNING", "任务", "要安排以后的事"),
    (TagType.TASK, "执行", "TAG_TASK_EXECUTE", "任务", "要动手做成"),
    (TagType.TASK, "闲聊", "TAG_TASK_CHAT", "任务", "随便聊聊"),
    (TagType.CONSTRAINT, "需要参考", "TAG_CONSTRAINT_REFERENCE", "约束", "要以已有的为据"),
    (TagType.CONSTRAINT, "要有新意", "TAG_CONSTRAINT_INNOVATION", "约束", "不能照搬旧的"),
    (TagType.CONSTRAINT, "要可执行", "TAG_CONSTRAINT_ACTIONABLE", "约束", "要能照着去做"),
)
"""The tags that every store begins with, with fixed codes: type, name, code, dimension, definition (W16)."""

_UNSEEN = re.compile(f"[{INVISIBLE}]+")
_JOINT = re.compile(r"[\s\-_\u2010-\u2015\u30fb\u00b7]+")
_SPACES = re.compile(r"\s+")
_HASH = re.compile(r"\A#+(?=\w)")
_SHOWN_HASH = re.compile(r"\A[#＃]+(?=\w)")
_HIDDEN = re.compile(
    "[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+"
)


def tag_key(name: str) -> str:
    """Return what all spellings of one tag have in common; empty when nothing of the name can be seen.

    Case, width, Unicode form and invisible characters do not count, nor do blanks, hyphens and underscores between
    letters: `Code Review`, `code-review` and `ＣｏｄｅＲｅｖｉｅｗ` are one tag. Between digits they part numbers.
    """
    folded = fold(_UNSEEN.sub("", fold(_HIDDEN.sub("", clean_input(name)))))
    bare = _HASH.sub("", _SPACES.sub(" ", folded).strip())
    return fold(_JOINT.sub(_joined, bare))


def _joined(found: re.Match[str]) -> str:
    """Return what stands for blanks and hyphens in a key: nothing between letters, `-` between digits."""
    text = found.string
    if not found.start() or found.end() == len(text):
        return found[0]
    before, after = text[found.start() - 1], text[found.end()]
    if before.isdigit() and after.isdigit():
        return "-"
    return "" if _is_written(before) and after.isalnum() else found[0]


def _is_written(ch: str) -> bool:
    return ch.isalnum() or unicodedata.category(ch)[0] == "M"


def is_name(name: str) -> bool:
    """Tell whether a text can name a tag: it holds a letter, a digit or a picture; signs alone say nothing."""
    return any(unicodedata.category(ch)[0] in "LN" or unicodedata.category(ch) == "So" for ch in tag_key(name))


def shown_name(name: str) -> str:
    """Return a name as it is stored: on one line, without a leading `#` and what reorders or hides letters."""
    line = " ".join(_HIDDEN.sub("", clean_input(name)).split())
    return _SHOWN_HASH.sub("", line)


CODE = "TAG_"
"""How every code begins."""


def tag_code(kind: TagType, name: str, number: int) -> str:
    """Return the code of a tag; `number` is never used twice, so no two codes are the same (W15)."""
    letters = "".join(ch for ch in unicodedata.normalize("NFKC", name) if ch.isalnum()).upper()
    return f"{CODE}{kind.value.upper()}_{letters[:MAX_NAME] or 'UNKNOWN'}_{number:03d}"


GENERIC = frozenset(
    map(
        tag_key,
        """
        thing things stuff something anything everything problem problems issue issues question questions matter matters
        other others misc miscellaneous general various several some any all etc item items info information content
        contents detail details case cases situation way ways kind kinds type types topic topics subject subjects note
        notes memory memories text texts word words message messages conversation conversations dialogue important
        useful interesting good bad new old now today yesterday tomorrow recently user assistant agent person people
        tag tags untagged none null unknown todo tbd
        东西 问题 事情 事 事物 事项 内容 信息 情况 方面 其他 其它 相关 一般 各种 杂项 资料 一些 这个 那个 什么 时候
        今天 明天 昨天 现在 最近 刚才 用户 助手 对话 消息 文本 文字 备注 记录 记忆 重要 有用 标签 话题 类型
        方式 东东 未知 无
        東西 問題 資訊 資料 內容 情況 相關 各種 雜項 其它 時候 現在 訊息 記錄 記憶 標籤 話題
        もの こと 物事 情報 その他
        """.split(),
    )
)
"""Words that tell no class of memories from another, in English and Chinese (W25)."""


def is_generic(name: str) -> bool:
    """Tell whether a name locates nothing, because it fits any memory (W25)."""
    return tag_key(name) in GENERIC


@dataclass(frozen=True)
class Gate:
    """What the quality gate made of extracted names: those kept, and why others were not (W10)."""

    kept: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]


def quality_gate(names: Iterable[str], *, most: int = MOST_EXTRACTED) -> Gate:
    """Keep at most `most` names that locate a class of memories, one of each spelling, in their order (W10)."""
    kept: dict[str, str] = {}
    refused: list[tuple[str, str]] = []
    for name in names:
        key, shown = tag_key(name), shown_name(name)
        if reason := _fault(name, key, len(shown)):
            refused.append((shown[:MAX_NAME], reason))
        elif key in kept:
            refused.append((shown, "given twice"))
        elif len(kept) >= most:
            refused.append((shown, f"more than {most}"))
        else:
            kept[key] = shown
    return Gate(tuple(kept.values()), tuple(refused))


def _fault(name: str, key: str, length: int) -> str:
    if not is_name(name):
        return "no name"
    if length > MAX_NAME:
        return f"longer than {MAX_NAME} characters"
    return "generic" if key in GENERIC else ""


def shortcomings(definitions: Iterable[str], synonyms: Iterable[str], dimensions: Iterable[str]) -> tuple[str, ...]:
    """Return what an extracted tag lacks: short definitions, synonyms, or a dimension (W10)."""
    short = [d for d in definitions if 0 < len(d.strip()) <= SHORT_DEFINITION]
    known = dimension_words(dimensions)
    lacks = []
    if len(short) < LEAST_DEFINITIONS:
        lacks.append("definitions")
    if not LEAST_SYNONYMS <= len({tag_key(s) for s in synonyms}) <= MOST_SYNONYMS:
        lacks.append("synonyms")
    if not known:
        lacks.append("dimension")
    return tuple(lacks)


def dimension_words(dimensions: Iterable[str]) -> tuple[str, ...]:
    """Return the known ones among dimensions, given in either language and alone or joined by commas (W8, W10)."""
    given = [part.strip() for text in dimensions for part in re.split("[,，、]", text)]
    words = (DIMENSIONS.get(fold(part), part) for part in given)
    return tuple(dict.fromkeys(word for word in words if word in DIMENSIONS.values()))


def is_defined_as(definition: str, wanted: Iterable[str]) -> bool:
    """Tell whether a tag's definition fits one of a caller's: either holds the other, case aside (W18)."""
    own = fold(definition).strip()
    return bool(own) and any(part in own or own in part for text in wanted if (part := fold(text).strip()))


def malformations(definition: str, dimensions: object) -> tuple[str, ...]:
    """Return what a stored tag lacks that recall reports in passing: definition, dimensions, or their form (W12)."""
    found = [] if definition.strip() else ["definition"]
    if not isinstance(dimensions, list) or not all(isinstance(d, str) for d in dimensions):
        return (*found, "form")
    return tuple(found) if dimensions else (*found, "dimensions")
