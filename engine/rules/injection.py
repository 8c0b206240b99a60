"""Finding orders to an agent in content: overrides, false roles, secrecy, exfiltration, hidden text (C7)."""

from __future__ import annotations

import re

from engine.rules.flatten import flatten
from engine.rules.orders import ORDERS, Order

_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.DOTALL)
_TO_AGENT = re.compile(
    r"\b(?:assistant|agents?|ai|llm|claude|gpt|chatgpt|copilot|gemini|model)\b[^\n]{0,40}?\b(?:must|should|please|run|"
    r"execute|send|upload|delete|fetch|download|reveal|obey|ignore|forward|exfiltrate)\b"
    r"|(?:助手|智能体|模型|ai)[^\n]{0,12}?(?:必须|务必|请|执行|发送|上传|删除|下载|忽略|无视)",
)
# A flag emoji has at most six tag letters; anything longer is text that only a model can read.
_TAGGED = re.compile("[\U000e0020-\U000e007e]{8,}")
# Joiners alternate with letters; a long unbroken run of them carries bits.
_BITS = re.compile("[\u200b-\u200d\u2060-\u2064\ufeff]{16,}|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{8,}")
_LOOK_BACK = 32
_HINTS = sorted(frozenset().union(*(order.needs[0] for order in ORDERS)))
_ASCII_HINTS = [hint for hint in _HINTS if hint.isascii()]


def find_injection(text: str) -> str | None:
    """Return the kind of the first order to an agent in `text`, or None.

    Kinds: override, role, obedience, system_prompt, role_tag, secrecy, exfiltration, hidden. Text in full-width or
    between invisible characters is seen as a model would read it.
    """
    flat = flatten(text)
    if flat.starts is not None and (_TAGGED.search(text) or _BITS.search(text)):
        return "hidden"
    lower = flat.text.lower()
    hints = {hint for hint in (_ASCII_HINTS if lower.isascii() else _HINTS) if hint in lower}
    for order in ORDERS if hints else ():
        if not order.needs[0].isdisjoint(hints) and _may_hold(order, lower) and _holds(order, lower):
            return order.kind
    if "<!--" in lower and any(_TO_AGENT.search(comment) for comment in _COMMENT.findall(lower)):
        return "hidden"
    return None


def _may_hold(order: Order, lower: str) -> bool:
    return all(any(hint in lower for hint in group) for group in order.needs[1:])


def _holds(order: Order, lower: str) -> bool:
    if order.begin is None:
        return order.pattern.search(lower) is not None
    begins = (match.start() for match in order.pattern.finditer(lower))
    return any(order.begin.search(lower[max(0, start - _LOOK_BACK) : start]) for start in begins)

