"""English word forms: irregular ones by a table, the rest by the published Porter2 algorithm."""

from __future__ import annotations

import re
from functools import lru_cache

_IRREGULAR = """
am be|is be|are be|was be|were be|been be|being be|has have|had have|did do|does do|done do|went go|gone go
goes go|ate eat|eaten eat|became become|began begin|begun begin|bent bend|bit bite|bitten bite|blew blow
blown blow|broke break|broken break|brought bring|built build|bought buy|caught catch|chose choose
chosen choose|came come|cost cost|dealt deal|drew draw|drawn draw|dreamt dream|drank drink|drunk drink
drove drive|driven drive|dug dig|fell fall|fallen fall|fed feed|felt feel|fought fight|found find|flew fly
flown fly|forgot forget|forgotten forget|forgave forgive|forgiven forgive|froze freeze|frozen freeze
gave give|given give|got get|gotten get|grew grow|grown grow|heard hear|held hold|hid hide|hidden hide
hung hang|kept keep|knew know|known know|laid lay|led lead|learnt learn|left leave|lent lend|lost lose
made make|meant mean|met meet|paid pay|ran run|rode ride|ridden ride|rang ring|rung ring|rose rise
risen rise|said say|sang sing|sung sing|sank sink|sunk sink|sat sit|saw see|seen see|sent send|shook shake
shaken shake|shone shine|shot shoot|showed show|shown show|shrank shrink|slept sleep|slid slide|sold sell
sought seek|sewn sew|spoke speak|spoken speak|spent spend|spun spin|spread spread|stole steal|stolen steal
stood stand|stuck stick|struck strike|swam swim|swum swim|swept sweep|swore swear|sworn swear|taught teach
tore tear|torn tear|told tell|thought think|threw throw|thrown throw|took take|taken take
understood understand|woke wake|woken wake|won win|wore wear|worn wear|wove weave|woven weave|wrote write
written write|bled bleed|bred breed|burnt burn|clung cling|crept creep|leapt leap|lit light
overcame overcome|proven prove|rewrote rewrite|rewritten rewrite|rebuilt rebuild|shed shed|men man
women woman|children child|kids kid|feet foot|teeth tooth|mice mouse|geese goose|people person|wives wife
lives life|knives knife|leaves leaf|halves half|selves self|shelves shelf|wolves wolf|loaves loaf
better good|best good|worse bad|worst bad|indices index|matrices matrix|vertices vertex|analyses analysis
criteria criterion|dying die|lying lie|tying tie|mom mother|mum mother|mommy mother|dad father|daddy father
grandma grandmother|grandpa grandfather|bike bicycle|photo picture|photos picture|pic picture|pics picture
pictures picture|tv television|fave favorite|favourite favorite|colour color|neighbour neighbor
theatre theater|centre center|grey gray|programme program
"""
_LEMMA: dict[str, str] = {
    form: base for line in _IRREGULAR.split("\n") for form, base in map(str.split, filter(None, line.split("|")))
}

_FIXED = {
    "skis": "ski", "skies": "sky", "idly": "idl", "gently": "gentl", "ugly": "ugli", "early": "earli",
    "only": "onli", "singly": "singl", "sky": "sky", "news": "news", "howe": "howe", "atlas": "atlas",
    "cosmos": "cosmos", "bias": "bias", "andes": "andes",
}  # fmt: skip
_FIXED_AFTER_1A = frozenset(("inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"))
_VOWELS = "aeiouy"
_R1 = re.compile(r"^(?:gener|commun|arsen)|[aeiouy][^aeiouy]")
_R2 = re.compile(r"[aeiouy][^aeiouy]")
_VOWEL = re.compile(r"[aeiouy]")
_SHORT_END = re.compile(r"(?:[^aeiouy][aeiouy][^aeiouywxY]|^[aeiouy][^aeiouy])$")
_VOWEL_Y = re.compile(r"(?<=[aeiouy])y")
_STEP2 = (
    ("ization", "ize"), ("ational", "ate"), ("fulness", "ful"), ("ousness", "ous"), ("iveness", "ive"),
    ("tional", "tion"), ("biliti", "ble"), ("lessli", "less"), ("entli", "ent"), ("ation", "ate"),
    ("alism", "al"), ("aliti", "al"), ("ousli", "ous"), ("iviti", "ive"), ("fulli", "ful"),
    ("enci", "ence"), ("anci", "ance"), ("abli", "able"), ("izer", "ize"), ("ator", "ate"), ("alli", "al"),
    ("bli", "ble"), ("ogi", "og"), ("li", ""),
)  # fmt: skip
_STEP3 = (
    ("ational", "ate"), ("tional", "tion"), ("alize", "al"), ("icate", "ic"), ("iciti", "ic"),
    ("ative", ""), ("ical", "ic"), ("ness", ""), ("ful", ""),
)  # fmt: skip
_STEP4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize",
    "ion", "al", "er", "ic",
)  # fmt: skip
_STEP2_ENDS = tuple(suffix for suffix, _ in _STEP2)
_STEP3_ENDS = tuple(suffix for suffix, _ in _STEP3)


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the stem of a lower-case English word; irregular forms go to their base form first."""
    return _porter2(_LEMMA.get(word, word))


def _porter2(word: str) -> str:
    if len(word) <= 2:
        return word
    if word in _FIXED:
        return _FIXED[word]
    word = word.lstrip("'")
    if "y" in word:
        if word[0] == "y":
            word = "Y" + word[1:]
        word = _VOWEL_Y.sub("Y", word)
    found = _R1.search(word)
    r1 = found.end() if found else len(word)
    found = _R2.search(word, r1)
    r2 = found.end() if found else len(word)
    word = _step1a(_step0(word))
    if word in _FIXED_AFTER_1A:
        return word
    word = _step1c(_step1b(word, r1))
    word = _step4(_step3(_step2(word, r1), r1, r2), r2)
    return _step5(word, r1, r2).replace("Y", "y")


def _step0(word: str) -> str:
    for suffix in ("'s'", "'s", "'"):
        if word.endswith(suffix):
            return word[: -len(suffix)]
    return word


def _step1a(word: str) -> str:
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith(("ied", "ies")):
        return word[:-2] if len(word) > 4 else word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")) and _VOWEL.search(word[:-2]):
        return word[:-1]
    return word


def _step1b(word: str, r1: int) -> str:
    for suffix in ("eedly", "eed"):
        if word.endswith(suffix):
            return word[: -len(suffix)] + "ee" if len(word) - len(suffix) >= r1 else word
    for suffix in ("ingly", "edly", "ing", "ed"):
        if not word.endswith(suffix):
            continue
        base = word[: -len(suffix)]
        if not _VOWEL.search(base):
            return word
        if base.endswith(("at", "bl", "iz")):
            return base + "e"
        if len(base) > 1 and base[-1] == base[-2] and base[-1] in "bdfgmnprt":
            return base[:-1]
        if len(base) <= r1 and _SHORT_END.search(base):
            return base + "e"
        return base
    return word


def _step1c(word: str) -> str:
    if len(word) > 2 and word[-1] in "yY" and word[-2] not in _VOWELS:
        return word[:-1] + "i"
    return word


def _step2(word: str, r1: int) -> str:
    if not word.endswith(_STEP2_ENDS):
        return word
    for suffix, new in _STEP2:
        if not word.endswith(suffix):
            continue
        base = word[: -len(suffix)]
        if len(base) < r1:
            return word
        if suffix == "ogi" and not base.endswith("l"):
            return word
        if suffix == "li" and (not base or base[-1] not in "cdeghkmnrt"):
            return word
        return base + new
    return word


def _step3(word: str, r1: int, r2: int) -> str:
    if not word.endswith(_STEP3_ENDS):
        return word
    for suffix, new in _STEP3:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base + new if len(base) >= (r2 if suffix == "ative" else r1) else word
    return word


def _step4(word: str, r2: int) -> str:
    if not word.endswith(_STEP4):
        return word
    for suffix in _STEP4:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            if len(base) < r2 or (suffix == "ion" and base[-1:] not in ("s", "t")):
                return word
            return base
    return word


def _step5(word: str, r1: int, r2: int) -> str:
    base = word[:-1]
    if word.endswith("e") and (len(base) >= r2 or (len(base) >= r1 and not _SHORT_END.search(base))):
        return base
    if word.endswith("l") and base.endswith("l") and len(base) >= r2:
        return base
    return word
