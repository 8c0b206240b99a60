"""Whether what a user says next confirms or rejects the answer before (W56)."""

from __future__ import annotations

import re
from collections.abc import Collection

from engine.rules.textnorm import fold

_NO = re.compile(
    r"\A\W*(?:不对|不是(?:这样|这个|的|那样)?[，,。！!\s]|不是\Z|错了|错的|搞错|弄错|不行|没用|别这样|重来|重新来"
    r"|你(?:理解|弄|搞|说|记|想|看)错|我不是这个意思|我的意思不是|不是我(?:要|想)的"
    r"|no\b(?![\w\s]*\b(?:problem|worries|doubt|matter|need)\b)|nope\b|wrong\b|incorrect\b"
    r"|(?:that|this|it)(?:'s| is| was)?\s*(?:not|isn't|wasn't|wrong|incorrect)\b"
    r"|(?:you|u)\s+(?:misunderstood|got (?:it|that|me) wrong|are wrong|were wrong)|not what i\b)"
    r"|理解错了|说错了|记错了|不是我想?要的|答非所问|(?:还是|依然|仍然)(?:不行|不对|报错)"
    r"|(?:did not|didn't|does not|doesn't|still not) (?:work|help)(?:ing)?\b|that's not (?:it|right|what)"
)
_YES = re.compile(
    r"\A\W*(?:对(?:的|了|啊|呀|，|,|。|！|!|\Z)|没错|正确|是的|就是(?:这个|这样)|很好|太好了|好极了|完美|不错(?!过)|解决了|搞定"
    r"|可以了|成功了|谢谢|多谢|感谢|yes\b|yeah\b|yep\b|correct\b|exactly\b|right\b(?!\s+(?:now|after|before|away))"
    r"|perfect\b|great\b|thanks\b|thank you\b|(?:that|this|it)(?:'s| is)? (?:right|correct|perfect|great)"
    r"|(?:that|this|it) (?:works|worked|helped)\b|works\b|solved\b|fixed\b|well done\b|nice\b|awesome\b)"
    r"|(?:问题|已经)解决了|说得对|理解对了|正是我(?:要|想)的"
)


def judge_feedback(text: str, *, before: Collection[str], now: Collection[str]) -> str:
    """Return confirmed, rejected or ignored for the turn before.

    Explicit words decide, the no before the yes; else a turn on the same topic confirms and another topic, or none,
    is ignored. `before` and `now` are the keys of the two turns' tags.
    """
    said = fold(text)[:400].replace("’", "'")
    if _NO.search(said):
        return "rejected"
    if _YES.search(said):
        return "confirmed"
    return "confirmed" if set(before) & set(now) else "ignored"


def is_explicit(text: str) -> bool:
    """Tell whether a text says yes or no to what was before."""
    said = fold(text)[:400].replace("’", "'")
    return bool(_NO.search(said) or _YES.search(said))
