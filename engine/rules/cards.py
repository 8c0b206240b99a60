"""Payment card numbers in text: issuer prefix, length, grouping and the Luhn digit must all fit (C7)."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SEPARATOR = "[ \u00a0\u2007\u2009\u202f\\-\u2010-\u2015.·_]"
_RUN = re.compile(rf"(?<![A-Za-z0-9.+])[0-9](?:{_SEPARATOR}?[0-9]){{12,}}(?![A-Za-z0-9])")
# One digit and twelve more characters that could belong to a card: cheap, and rare enough in prose.
_GATE = re.compile(r"[0-9][0-9 ._\u00a0-\u00b7\u2007-\u202f-]{12}")
_GROUP = re.compile("[0-9]+")
_ISSUER = re.compile(
    r"""
      4(?:\d{12}|\d{15}|\d{18})                                                   # Visa
    | (?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}            # Mastercard
    | 3[47]\d{13}                                                                 # American Express
    | (?:6011|65\d\d|64[4-9]\d)\d{12,15}                                          # Discover
    | 35(?:2[89]|[3-8]\d)\d{12,15}                                                # JCB
    | 62\d{14,17}                                                                 # UnionPay
    | 3(?:0[0-5]|[68]\d)\d{11}                                                    # Diners Club
    | 220[0-4]\d{12}                                                              # Mir
    | (?:50|5[6-8]|6[37])\d{14}                                                   # Maestro
    """,
    re.VERBOSE,
)
# How people and issuers group the digits, as lengths: a table of years or amounts rarely looks like this.
_GROUPINGS = re.compile(r"\d+|4,4,4,4(?:,[1-3])?|4,4,4,1|4,6,[45]|6,7|6,1[0-3]|1(?:,1){12,18}")
_MAX_GROUPS = 19
_OTHER_NUMBER = re.compile(
    r"(?:order|invoice|tracking|serial|isbn|imei|phone|tel|mobile|issue|build|ticket|订单|訂單|单号|單號|运单|流水|编号|"
    r"編號|电话|電話|手机|手機)\w{0,3}(?:\s*(?:id|no|nr|number|code|号|號|号码|号碼))?\.?[\s:：#=]{0,3}\Z|\d\.\Z",
    re.IGNORECASE,
)


def card_spans(text: str) -> list[tuple[int, int]]:
    """Return the half-open ranges of card numbers (13 to 19 digits, separators allowed) in `text`."""
    if not _GATE.search(text):
        return []
    return [span for run in _RUN.finditer(text) for span in _cards_in(run)]


def luhn(digits: str) -> bool:
    """Tell whether the last of `digits` is the Luhn check digit of the others."""
    doubled = [sum(divmod(2 * int(d), 10)) for d in digits[-2::-2]]
    return (sum(doubled) + sum(int(d) for d in digits[-1::-2])) % 10 == 0


def _cards_in(run: re.Match[str]) -> Iterator[tuple[int, int]]:
    # An expiry date or another number may stand right before or after the card, so every stretch of groups is tried.
    groups = [(m.start(), m.end()) for m in _GROUP.finditer(run.string, *run.span())]
    first = 0
    while first < len(groups):
        after = next((n for n in _ends(groups, first) if _is_card(run.string, groups, first, n)), None)
        if after is not None:
            yield groups[first][0], groups[after - 1][1]
        first = after or first + 1


def _ends(groups: list[tuple[int, int]], first: int) -> range:
    return range(min(len(groups), first + _MAX_GROUPS), first, -1)


def _is_card(text: str, groups: list[tuple[int, int]], first: int, after: int) -> bool:
    taken = groups[first:after]
    lengths = [end - start for start, end in taken]
    if not (13 <= sum(lengths) <= 19 and _GROUPINGS.fullmatch(",".join(map(str, lengths)))):
        return False
    digits = "".join(text[start:end] for start, end in taken)
    if not (_ISSUER.fullmatch(digits) and luhn(digits)):
        return False
    if len(taken) == 1:
        # A bare run of digits that the text itself calls something else is taken at its word; a fraction is no card.
        return not _OTHER_NUMBER.search(text[max(0, taken[0][0] - 24) : taken[0][0]])
    neighbours = groups[max(0, first - 1) : first] + groups[after : after + 1]
    return lengths[0] not in [end - start for start, end in neighbours]
