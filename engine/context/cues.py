"""What a question says about itself, in English and Chinese: explicit requests, one's own history, going on.

A cue has to be plain to count: what cannot be judged is not judged (S26).
"""

from __future__ import annotations

import re

MAX_CHARS = 2_000
"""Only the beginning of a long prompt is looked at: what follows is mostly pasted text."""

_PAST_ZH = "上次|之前|以前|先前|当时|那时|曾经|上回|早先|刚才|昨天|前天|上周|上个?月|去年"
_PAST_EN = r"last (?:time|week|month|year)|previously|earlier|back then|yesterday|at the time|in the past"

_VERIFICATION = (
    r"(?:对吧|对吗|对不对|是吧|是吗|是不是|没错吧|没记错|是这样吧|确定是|确认一下)"
    r"|,?\s(?:right|correct|yes|no)\s*\?|\b(?:is|was) (?:it|that|this) (?:right|correct|true|still)\b"
    r"|\b(?:isn't|wasn't|aren't|weren't|didn't|don't|haven't|doesn't) (?:it|that|we|i|you|they)\s*\?"
    r"|\b(?:confirm|verify|double[- ]check) (?:that|whether|if|we|the)\b|\bam i right\b"
)
_CORRECTION = (
    r"不(?:再)?(?:用|要|是|做|走|选)[^，。？！,?!\n]{1,40}了|不再|改(?:成|为|用|到)|换成|应该是|而不是|不是[^，。\n]{1,20}(?:，|,)?(?:而)?是"
    r"|说错了|记错了|弄错了|搞错了|更正|纠正"
    r"|\b(?:no longer|not [^.?!\n]{1,40} any ?more|anymore)\b|\binstead of\b|\b(?:that|this|it)(?:'s| is| was) wrong\b"
    r"|\b(?:switch|chang|mov|migrat)(?:ed|e|ing)? (?:\w+ )?(?:\w+ )?to\b|\bcorrection\b|\bi was wrong\b"
    r"|\bactually,? (?:it|we|the|i|not|that)\b|\bshould(?: have)? be(?:en)?\b[^.?!\n]{0,40}\bnot\b"
)
_BASIS = (
    rf"(?:{_PAST_ZH}|我们|咱们|你)[^。？！\n]{{0,20}}(?:为什么|为何|凭什么|怎么会)"
    rf"|(?:为什么|为何|凭什么)[^。？！\n]{{0,12}}(?:{_PAST_ZH}|没|不用|不选|选了?|决定|定)"
    r"|(?:依据|根据|理由|出处|来源)(?:是什么|在哪|呢|何在)|有什么(?:依据|根据|理由)"
    r"|\bwhy (?:did|didn't|do|don't|have|haven't|had|are|aren't|were|weren't|is|was)(?: not)?"
    r" (?:we|i|you|it|that|the)\b"
    r"|\b(?:on what basis|what(?:'s| is| was) the (?:reason|basis|source|rationale|evidence)|based on what)\b"
    r"|\bwhere (?:did|do) (?:you|we|i) (?:get|have|know) that\b"
)
_OWN_HISTORY = (
    rf"(?:{_PAST_ZH})"
    r"|还?记得|我(?:说|讲|提|定|选|问|告诉|写|用|买|去|喜欢)过|我们?(?:定|决定|约定|商量|讨论|选)(?:的|了|过|好)"
    r"|我的[^，。？！\n]{1,12}(?:是什么|叫什么|是谁|是多少|在哪|哪个|什么时候|呢|吗)|我(?:叫|住|喜欢|爱|讨厌|偏好)[^，。\n]{0,8}(?:什么|哪|谁|吗)"
    r"|\b(?:did|had) (?:i|we)\b|\bhave (?:i|we) (?:ever|already|said|told|decided|agreed|used|tried)\b"
    r"|\b(?:i|we) (?:told|said|decided|agreed|chose|mentioned|discussed)\b"
    r"|\bremember (?:when|that|what|how|the|my|our|which|who)\b|\bdo you remember\b"
    r"|\b(?:what|which|who|where|when)(?:'s| is| was| are| were) (?:my|our)\b"
    rf"|\b(?:we|i|you|my|our)\b[^.?!\n]{{0,60}}\b(?:{_PAST_EN})\b|\b(?:{_PAST_EN})\b[^.?!\n]{{0,60}}\b(?:we|i|you|my|our)\b"
)
_GOING_ON = (
    rf"(?:{_PAST_ZH}|刚刚)|继续|接着(?:做|来|上)?|往下|那个东西|那件事|那个(?:任务|问题|文件)|做到哪"
    rf"|\b(?:{_PAST_EN}|just now|continue|resume|go on|carry on|where were we|pick up where|that thing"
    r"|the other thing)\b"
)


def explicit_request(question: str) -> str:
    """Return `verification`, `correction` or `basis` when that is plainly asked for, else an empty text (S26)."""
    for name, pattern in (("basis", _BASIS), ("verification", _VERIFICATION), ("correction", _CORRECTION)):
        if _found(pattern, question):
            return name
    return ""


def asks_own_history(question: str) -> bool:
    """Tell whether somebody asks after what they themselves said, decided or have (S24)."""
    return bool(_found(_OWN_HISTORY, question))


def going_on_cue(question: str) -> str:
    """Return the words that refer to earlier work (`刚才`, `continue`), empty when there are none (T23)."""
    return _found(_GOING_ON, question)


def _found(pattern: str, question: str) -> str:
    """Return what a pattern finds; it is compiled when first asked for, since most packs need none of them."""
    found = re.search(pattern, question[:MAX_CHARS], re.IGNORECASE)
    return found.group().strip() if found else ""
