"""Whether two statements about the same thing say the opposite: negation, antonyms, swapped values (C25).

Every content word of a spaced script, and every two characters after a negation in Chinese, carries a sign. Two
statements are opposite when a word they share is affirmed in one and denied in the other, and they keep to one subject.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.rules.stem import stem
from engine.rules.swaps import subjects_differ, values_swapped
from engine.rules.textnorm import fold, has_cjk

_NEGATIONS = frozenset(
    """
    not never no cannot cant dont doesnt didnt wont isnt arent wasnt shouldnt mustnt couldnt neither nor without
    avoid avoids avoiding stop stops refuse refuses refused forbid forbids forbidden prohibit prohibits prohibited
    disallow disallows disallowed ban bans banned không đừng chưa chẳng chớ cấm
    """.split()
)
# "not only", "no matter": the negation belongs to the phrase, not to what follows.
_EMPTY_PHRASES = re.compile(
    r"\b(?:not (?:only|just|merely)|no (?:matter|doubt|problem|(?:later|more|less) than)|(?:can't|cannot) wait)\b"
)
# "don't forget to", "never fail to": an order to do it.
_CANCELLED = re.compile(r"\b(?:do not|don't|dont|never|not) (?:forget|fail|hesitate|neglect|miss) (?:to )?")
# "never push without a review" says when to push, not that one must not.
_CONDITION = frozenset("without unless until except".split())
_CLAUSE_END = frozenset(". , ; : ! ? ( ) — – but and instead so because while then whereas".split())
_IGNORED = frozenset(
    """
    a an the of to in on at for from by with as and or is are was were be been being am it its this that these those
    there here must should always may can could shall need needs needed allow allows allowed permit permits permitted
    have has had ought please ever might would will do does did done strictly really very any all every each only
    ok i we you they he she them him her us my our your their his i'm we're you're it's again still already now
    """.split()
)
# Each word on the left is the right one denied.
_ANTONYMS = {
    "disabl": "enabl", "off": "on", "false": "true", "reject": "accept", "dislik": "like", "hate": "like",
    "after": "befor", "option": "requir", "exclud": "includ", "privat": "public", "async": "sync",
    "decreas": "increas", "close": "open", "last": "first", "less": "more", "minimum": "maximum", "dark": "light",
    "lowercas": "uppercas", "right-hand": "left-hand", "disagre": "agre", "hide": "show", "deni": "grant",
    "unsaf": "safe", "offlin": "onlin", "manual": "automat", "imposs": "possibl", "unabl": "abl",
}  # fmt: skip
_SAME_SIGN = {"love": "like", "mandatori": "requir", "automatical": "automat", "manuali": "manual"}
_KEPT_PREPOSITIONS = frozenset({"on", "off", "before", "after"})
_TOKEN = re.compile(r"[^\W_]+(?:['’.\-_/+#][^\W_]+)*[+#]*|[.,;:!?()—–]")
_SCOPE = 3
_CLAUSE = 60
_QUESTION = re.compile(r"[?？]\s*\Z")

_ZH_PHRASES = (
    (re.compile(r"不能不|不得不|不可不|不会不|必不可少|不可或缺"), "必须"),
    (re.compile(r"不要忘[记了]?|别忘[记了]?|勿忘"), "要"),
    (re.compile(r"不[同过仅但管论断久错足少然如止]|[是能好会要对行]不[是能好会要对行]|对不起|差不多|来不及"), "□"),
    (re.compile(r"[特区分级类个告]别|别[人名的处]|没收"), "□"),
    (re.compile(r"禁用|停用"), "不启用"),
    (re.compile(r"关闭|关掉"), "不打开"),
    (re.compile(r"开启"), "打开"),
    (re.compile(r"讨厌|厌恶"), "不喜欢"),
    (re.compile(r"拒绝"), "不接受"),
    (re.compile(r"(?:之|以)后"), "不之前"),
    (re.compile(r"以前"), "之前"),
    (re.compile(r"(?:不[要得能可许准]以?|禁止|严禁|切勿|请勿|别)不"), ""),
)  # fmt: skip
_ZH_NEGATION = re.compile(
    r"(?:不[要得能可许准应该用必会再需让允]{1,2}[以要许该]?|从[不未]|[绝决]不|切勿|请勿|禁止|严禁|避免|没有|无[需须]|"
    r"[不没勿别未])[再去在把给是]?"
)
_ZH_MODAL = re.compile(r"一定要|必须|应该|应当|需要|务必|可以|允许|总是|始终|而|请|要|可|能|得|都|就|会")
_ZH_CLAUSE = re.compile(r"[，。；：！？、,.;:!?\s]")
_ZH_TARGET = re.compile(r"[a-z][a-z0-9+#.-]*|[^\W□]{2}")
_LIKE = 0.3


def polarity(text: str) -> int:
    """Return 1 for a statement that affirms and -1 for one that denies, by the parity of its negations (C25)."""
    folded = fold(text)
    if has_cjk(folded):
        denials = len(list(_ZH_NEGATION.finditer(_zh_plain(folded))))
    else:
        denials = sum(word in _NEGATIONS or word.endswith("n't") for word in _tokens(folded))
    return -1 if denials % 2 else 1


def opposite(a: str, b: str) -> bool:
    """Tell whether two statements about the same thing contradict each other; symmetric (C25)."""
    one, other = fold(a), fold(b)
    if one == other or _QUESTION.search(one) or _QUESTION.search(other):
        return False
    if values_swapped(one, other):
        return True
    if has_cjk(one) and has_cjk(other):
        return not subjects_differ(one, other) and (_zh_denies(one, other) or _zh_denies(other, one))
    return _signs_clash(_signs(one), _signs(other))


def _tokens(folded: str) -> list[str]:
    plain = _CANCELLED.sub(" ", _EMPTY_PHRASES.sub(" ", folded.replace("’", "'")))
    return _TOKEN.findall(plain)


def _signs(folded: str) -> dict[str, set[int]]:
    """Return each content word's stem with the signs it is used with."""
    signs: dict[str, set[int]] = {}
    for clause in _clauses(_tokens(folded)):
        for word, sign in _signed(clause):
            signs.setdefault(word, set()).add(sign)
    return signs


def _clauses(tokens: list[str]) -> Iterator[list[str]]:
    clause: list[str] = []
    for token in [*tokens, "."]:
        if token in _CLAUSE_END:
            if clause:
                yield clause
            clause = []
        else:
            clause.append(token)


def _signed(clause: list[str]) -> Iterator[tuple[str, int]]:
    denials = [i for i, word in enumerate(clause) if word in _NEGATIONS or word.endswith("n't")]
    conditional = denials and any(word in _CONDITION for word in clause[denials[0] + 1 :])
    signs = {i: 1 for i, word in enumerate(clause) if _is_content(word) and i not in denials}
    for denial in [] if conditional else denials:
        after = [i for i in signs if i > denial][:_SCOPE]
        if after and stem(clause[after[0]]) in _ANTONYMS:
            # Not to disable the cache is to leave the cache alone.
            after = after[:1]
        # "is forbidden" and "is not allowed" deny what stands before them.
        for i in after or list(signs):
            signs[i] = -signs[i]
    for i, sign in signs.items():
        word = stem(clause[i])
        word = _SAME_SIGN.get(word, word)
        yield (_ANTONYMS[word], -sign) if word in _ANTONYMS else (word, sign)


def _is_content(word: str) -> bool:
    return word in _KEPT_PREPOSITIONS or word not in _IGNORED


def _signs_clash(one: dict[str, set[int]], other: dict[str, set[int]]) -> bool:
    shared = one.keys() & other.keys()
    strangers = min(len(one.keys() - shared), len(other.keys() - shared))
    if not shared or strangers > len(shared) // 5:
        return False
    return any(len(one[word]) == 1 == len(other[word]) and one[word] != other[word] for word in shared)


def _zh_plain(folded: str) -> str:
    for pattern, plain in _ZH_PHRASES:
        folded = pattern.sub(plain, folded)
    return folded


def _zh_denies(one: str, other: str) -> bool:
    """Tell whether `one` denies what `other` affirms."""
    denied = dict(_zh_denied(_zh_plain(one)))
    plain = _zh_plain(other)
    denied_there = dict(_zh_denied(plain))
    for target, before in denied.items():
        found = plain.find(target)
        if found >= 0 and target not in denied_there and _same_subject(before, _zh_before(plain, found)):
            return True
    return False


def _zh_denied(plain: str) -> Iterator[tuple[str, str]]:
    for match in _ZH_NEGATION.finditer(plain):
        target = _ZH_TARGET.match(_ZH_MODAL.sub("", plain[match.end() : match.end() + 16]).strip())
        if target:
            yield target.group(), _zh_before(plain, match.start())


def _zh_before(plain: str, end: int) -> str:
    return _ZH_MODAL.sub("", _ZH_CLAUSE.split(plain[max(0, end - _CLAUSE) : end])[-1])


def _same_subject(one: str, other: str) -> bool:
    if not one or not other or one == other:
        return True
    pairs, others = ({text[i : i + 2] for i in range(max(1, len(text) - 1))} for text in (one, other))
    return 2 * len(pairs & others) >= _LIKE * (len(pairs) + len(others))
