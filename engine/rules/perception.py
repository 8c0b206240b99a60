"""What a turn is like: the vocabularies of perception, their defaults, and a tolerant reading of analyses (W5, W6, W8).

An analysis may come as JSON inside other text, with upstream's names or ours, in either case. What cannot be read is
left out; nothing here raises.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from engine.model.turns import Analysis, Preference, TagDraft, TagTie
from engine.rules.textnorm import clean_input, fold

VOCABULARY: Mapping[str, Mapping[str, str]] = {
    "genre": {
        "记叙文": "narrative", "散文": "essay", "议论文": "argument", "说明文": "exposition", "意识流": "stream",
    },
    "time": {"现在": "now", "昨天": "yesterday", "今天": "today", "刚才": "just now", "上次": "last time"},
    "scene": {"工作": "work", "生活": "life", "学习": "study", "娱乐": "entertainment"},
    "emotion": {"疲惫": "tired", "开心": "happy", "着急": "anxious", "中性": "neutral", "愤怒": "angry"},
    "state": {"正常": "normal", "想被理解": "wants understanding", "放松": "relaxed", "紧张": "tense"},
    "context": {"技术讨论": "technical", "工作执行": "execution", "生活闲聊": "chat", "情绪表达": "emotion"},
    "intent": {"查询": "query", "创作": "creation", "规划": "planning", "执行": "execute", "闲聊": "chat"},
}  # fmt: skip
"""What each field of perception can be, with its English word; another value is kept as it is given (W5)."""

ROUTES = ("shallow", "medium", "deep")
"""How many parts of a memory a turn gets back: summary, overview, original (W52)."""

INJECTIONS = ("off", "summary", "detail", "full")
"""How much of a memory is put before the model (W53)."""

FEEDBACK = ("confirmed", "partial", "rejected", "ignored")
LEAST_CONFIDENCE = 0.4
"""A preference that is less sure is dropped (W55)."""

DEFAULTS: Mapping[str, str] = {"intent": "闲聊"}
"""What is taken when an analysis fails (W5); its route is then shallow and its injection off."""

_QUIET_CONTEXTS = frozenset({"生活闲聊", "情绪表达"})
_BY_ROUTE = {"shallow": "summary", "medium": "detail", "deep": "full"}
_MOST_TAGS, _MOST_PREFERENCES, _MOST_TIES = 12, 20, 12
_LONGEST_WORD, _LONGEST_TEXT = 60, 2_000
_LONGEST_JSON = 200_000

_CANON = {field: {fold(en): zh for zh, en in words.items()} for field, words in VOCABULARY.items()}


def read_analysis(given: object) -> Analysis:
    """Return what can be read of a mapping, or of a text's JSON from its first `{` to its last `}` (W8)."""
    values = _object(given)
    if not values:
        return Analysis()
    perception = {field: word for field in VOCABULARY if (word := _word(field, _perceived(values, field)))}
    scene = perception.pop("scene", "")
    # semantic_tags count only where there are no structured ones (W8).
    tags = _tags(values.get("structuredtags")) or _tags(values.get("tags")) or _tags(values.get("semantictags"))
    insight = values.get("insight")
    if isinstance(insight, Mapping):
        inner = _plain_keys(insight)
        values = {**inner, **values}
        tags = tags or _tags(inner.get("contenttags"))
    read = Analysis(
        perception=perception,
        scene=scene,
        scene_sub=_text(_perceived(values, "scenesub"), _LONGEST_WORD),
        route=_choice(_perceived(values, "route"), ROUTES),
        injection=_choice(values.get("injection", values.get("injectionmode")), INJECTIONS),
        context_summary=_text(values.get("contextsummary"), _LONGEST_TEXT),
        tags=tags,
        summary=_text(values.get("summary"), _LONGEST_TEXT),
        overview=_text(values.get("overview"), _LONGEST_TEXT),
        preferences=_preferences(values.get("preferences")),
        relations=_ties(values.get("relationtags", values.get("relations"))),
        feedback=_choice(values.get("feedback"), FEEDBACK),
    )
    return replace(read, found=read != Analysis())


def route_of(analysis: Analysis) -> str:
    """Return the depth that an analysis asks for; shallow when it says none (W5)."""
    return analysis.route or ROUTES[0]


def injection_of(analysis: Analysis) -> str:
    """Return how much is put before the model: as said, off for chat and emotion or a failed analysis (W5, W53)."""
    if analysis.injection:
        return analysis.injection
    quiet = analysis.perception.get("context") in _QUIET_CONTEXTS or analysis.perception.get("intent") == "闲聊"
    return INJECTIONS[0] if quiet or not analysis.found else _BY_ROUTE[route_of(analysis)]


def parts_of(route: str, injection: str | None = None) -> int:
    """Return how many parts of a memory are given: 1 to 3 by depth, or 0 to 3 by injection mode (W52, W53)."""
    return ROUTES.index(route) + 1 if injection is None else INJECTIONS.index(injection)


def kept_preferences(found: Iterable[Preference]) -> tuple[Preference, ...]:
    """Return the preferences that are sure enough, the last value of each key (W55)."""
    last = {fold(p.key): p for p in found if p.confidence >= LEAST_CONFIDENCE}
    return tuple(last.values())


def key_words(text: str) -> tuple[str, ...]:
    """Return three to five key words of a model's answer: a JSON list or object, or words parted by commas (W7)."""
    start, end = text.find("["), text.rfind("]")
    words: object = None
    if 0 <= start < end:
        words = _decoded(text[start : end + 1])
    if not isinstance(words, list):
        values = _object(text)
        words = next((v for v in values.values() if isinstance(v, list)), None)
    if not isinstance(words, list):
        words = re.split(r"[,，、;；\n]+", text) if text.strip() and "{" not in text else []
    shown = (_text(word, _LONGEST_WORD) for word in words)
    return tuple(dict.fromkeys(word for word in shown if word))[:5]


# ------------------------------------------------------------------ reading


def _object(given: object) -> dict[str, object]:
    if isinstance(given, Mapping):
        return _plain_keys(given)
    if not isinstance(given, str):
        return {}
    text = given[:_LONGEST_JSON]
    start, end = text.find("{"), text.rfind("}")
    value = _decoded(text[start : end + 1]) if 0 <= start < end else None
    return _plain_keys(value) if isinstance(value, Mapping) else {}


def _decoded(text: str) -> object:
    for attempt in (text, re.sub(r",\s*([}\]])", r"\1", text)):
        try:
            return json.loads(attempt, strict=False)
        except (ValueError, RecursionError):
            continue
    return None


def _plain_keys(values: Mapping[object, object]) -> dict[str, object]:
    """Return the values under names without case and signs: `Structured_Tags` and `structuredTags` are one."""
    return {"".join(ch for ch in fold(str(key)) if ch.isalnum()): value for key, value in values.items()}


def _perceived(values: Mapping[str, object], field: str) -> object:
    """Return a field of perception, which may stand in an object of its own."""
    inner = values.get("perception")
    nested = _plain_keys(inner).get(field) if isinstance(inner, Mapping) else None
    return values.get(field) if nested is None else nested


def _word(field: str, value: object) -> str:
    text = _text(value, _LONGEST_WORD)
    return _CANON[field].get(fold(text), text)


def _text(value: object, limit: int) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return " ".join(clean_input(str(value)).split())[:limit]


def _choice(value: object, choices: tuple[str, ...]) -> str:
    # YAML and some models write a bare off as false.
    word = "off" if value is False else fold(_text(value, _LONGEST_WORD))
    return word if word in choices else ""


def _number(value: object, default: float) -> float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return default
    try:
        number = float(value)
    except ValueError:
        return default
    return min(1.0, max(0.0, number)) if number == number else default


def _words(value: object) -> tuple[str, ...]:
    """Return words given as a list, or as one text parted by commas."""
    if isinstance(value, str):
        value = re.split(r"[,，、;；|]+", value)
    items = value if isinstance(value, list | tuple) else ()
    shown = (_text(item, _LONGEST_WORD * 2) for item in items)
    return tuple(word for word in shown if word)


def _tags(value: object) -> tuple[TagDraft, ...]:
    if isinstance(value, str):
        value = list(_words(value))
    drafts = [_tag(item) for item in value] if isinstance(value, list | tuple) else []
    return tuple(draft for draft in drafts if draft is not None)[:_MOST_TAGS]


def _tag(item: object) -> TagDraft | None:
    if isinstance(item, str):
        name = _text(item, _LONGEST_WORD)
        return TagDraft(name) if name else None
    if not isinstance(item, Mapping):
        return None
    values = _plain_keys(item)
    name = _text(values.get("tag", values.get("name")), _LONGEST_WORD)
    if not name:
        return None
    # A list of dimensions is one text joined by commas, and the other way round (W8).
    return TagDraft(
        name,
        type=fold(_text(values.get("type"), _LONGEST_WORD)),
        definitions=_definitions(values.get("definitions", values.get("definition"))),
        dimensions=_words(values.get("dimension", values.get("dimensions"))),
        synonyms=_words(values.get("synonyms")),
    )


def _definitions(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list | tuple) else [value]
    return tuple(text for item in items if (text := _text(item, 200)))


def _preferences(value: object) -> tuple[Preference, ...]:
    if isinstance(value, Mapping):
        value = [{"key": key, "value": word} for key, word in value.items()]
    found = []
    for item in value if isinstance(value, list | tuple) else ():
        if isinstance(item, Mapping):
            fields = _plain_keys(item)
            key, text = _text(fields.get("key"), _LONGEST_WORD), _text(fields.get("value"), 200)
            if key and text:
                found.append(Preference(key, text, _number(fields.get("confidence"), 0.5)))
    return tuple(found[:_MOST_PREFERENCES])


def _ties(value: object) -> tuple[TagTie, ...]:
    found = []
    for item in value if isinstance(value, list | tuple) else ():
        if isinstance(item, Mapping):
            fields = _plain_keys(item)
            one, other = _text(fields.get("from"), _LONGEST_WORD), _text(fields.get("to"), _LONGEST_WORD)
            if one and other:
                found.append(TagTie(one, other, _number(fields.get("strength"), 0.5)))
    return tuple(found[:_MOST_TIES])
