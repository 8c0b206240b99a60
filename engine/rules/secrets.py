"""Finding secrets in text: a curated list of formats and key words behind a fast prefilter (C7)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from engine.rules.cards import card_spans
from engine.rules.flatten import flatten
from engine.rules.secret_values import is_key, is_password, is_placeholder


class Span(NamedTuple):
    """A secret in a text: half-open range of code points and its kind, such as `api_key` or `card_number`."""

    start: int
    end: int
    kind: str


class _Format(NamedTuple):
    kind: str
    hint: str
    pattern: str


def _format(kind: str, hint: str, pattern: str) -> _Format:
    return _Format(kind, hint, r"(?<![A-Za-z0-9])" + pattern)


# The hint is a literal that stands in every match: texts without it never meet the pattern, which is compiled when
# first needed, because a process that lives for one call needs few of them.
_FORMATS = (
    _format(
        "api_key",
        "sk-",
        r"sk-(?=[\w-]*?(?:(?=[A-Za-z]*\d)[A-Za-z0-9]{10}|[A-Za-z0-9]{20}))[A-Za-z0-9_-]{18,}",
    ),
    _format("aws_key", "AKIA", r"AKIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _format("aws_key", "ASIA", r"ASIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    *(_format("github_token", f"gh{kind}_", rf"gh{kind}_[A-Za-z0-9]{{20,}}") for kind in "pousr"),
    _format("github_token", "github_pat_", r"github_pat_[A-Za-z0-9_]{20,}"),
    *(_format("gitlab_token", f"gl{kind}-", rf"gl{kind}-[A-Za-z0-9_-]{{16,}}") for kind in ("pat", "ptt", "dt", "rt")),
    _format("slack_token", "xox", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    _format("slack_token", "xapp-", r"xapp-\d-[A-Za-z0-9-]{10,}"),
    _format("slack_webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/\w[\w/-]{15,}"),
    _format("discord_webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/\d{10,}/[\w-]{20,}"),
    _format("telegram_token", ":AA", r"\d{8,10}:AA[\w-]{32,}"),
    _format("google_key", "AIza", r"AIza[\w-]{30,}"),
    _format("google_key", "GOCSPX-", r"GOCSPX-[\w-]{20,}"),
    _format("google_key", "ya29.", r"ya29\.[\w-]{20,}"),
    _format("npm_token", "npm_", r"npm_[A-Za-z0-9]{30,}"),
    _format("pypi_token", "pypi-", r"pypi-[A-Z][\w-]{40,}"),
    _format("rubygems_key", "rubygems_", r"rubygems_[a-f0-9]{40,}"),
    _format("nuget_key", "oy2", r"oy2[a-z0-9]{43}"),
    _format("docker_token", "dckr_pat_", r"dckr_pat_[\w-]{20,}"),
    _format("huggingface_token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    _format("sendgrid_key", "SG.", r"SG\.[\w-]{16,}\.[\w-]{16,}"),
    _format("mailgun_key", "key-", r"key-[0-9a-f]{32}(?![0-9A-Za-z])"),
    *(_format("stripe_key", f"k_{mode}_", rf"[sr]k_{mode}_[A-Za-z0-9]{{10,}}") for mode in ("live", "test")),
    _format("stripe_key", "whsec_", r"whsec_[A-Za-z0-9+/=]{20,}"),
    _format("square_token", "sq0", r"sq0(?:csp|atp)-[\w-]{20,}"),
    _format("shopify_token", "shp", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _format("digitalocean_token", "_v1_", r"do[opr]_v1_[a-f0-9]{60,}"),
    _format("groq_key", "gsk_", r"gsk_[A-Za-z0-9]{40,}"),
    _format("xai_key", "xai-", r"xai-[A-Za-z0-9]{60,}"),
    _format("replicate_token", "r8_", r"r8_[A-Za-z0-9]{30,}"),
    _format("perplexity_key", "pplx-", r"pplx-[A-Za-z0-9]{40,}"),
    _format("linear_key", "lin_api_", r"lin_api_[A-Za-z0-9]{30,}"),
    _format("notion_token", "ntn_", r"ntn_[A-Za-z0-9]{40,}"),
    _format("figma_token", "figd_", r"figd_[\w-]{30,}"),
    _format("atlassian_token", "ATATT", r"ATATT[\w=-]{40,}"),
    _format("grafana_token", "glsa_", r"glsa_[A-Za-z0-9_]{30,}"),
    _format("grafana_token", "glc_", r"glc_[A-Za-z0-9+/=]{30,}"),
    _format("sentry_token", "sntrys_", r"sntrys_[A-Za-z0-9+/=_]{30,}"),
    _format("vault_token", "hv", r"hv[sb]\.[\w-]{20,}"),
    _format("databricks_token", "dapi", r"dapi[0-9a-f]{32}"),
    _format("postman_key", "PMAK-", r"PMAK-[a-f0-9]{20,}-[a-f0-9]{30,}"),
    _format("newrelic_key", "NRAK-", r"NRAK-[A-Z0-9]{20,}"),
    _format("tailscale_key", "tskey-", r"tskey-[a-z]+-[\w-]{12,}"),
    _format("supabase_key", "sbp_", r"sbp_[a-f0-9]{40}"),
    _format("supabase_key", "sb_secret_", r"sb_secret_[\w-]{20,}"),
    _format("heroku_key", "HRKU-", r"HRKU-[\w-]{30,}"),
    _format("azure_key", "AccountKey=", r"AccountKey=[A-Za-z0-9+/]{40,}={0,2}"),
    _format("aliyun_key", "LTAI", r"LTAI[A-Za-z0-9]{12,24}(?![A-Za-z0-9])"),
    _format("tencent_key", "AKID", r"AKID(?=[A-Za-z]*\d)[A-Za-z0-9]{13,40}(?![A-Za-z0-9])"),
    _format("age_key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    _format("jwt", "eyJ", r"eyJ[\w-]{8,}\.\s?eyJ[\w-]{8,}\.\s?[\w-]{8,}"),
    _format("jwt", "eyJ", r"eyJ[\w-]{8,}\.[\w-]{0,400}\.[\w-]{16,}(?:\.[\w-]{8,}\.[\w-]{8,})?"),
)


def _letters(word: str) -> str:
    return r"\s*".join(word)


_PRIVATE_KEY = re.compile(
    rf"-{{4,5}}\s*{_letters('BEGIN')}\s*(?:[A-Z0-9]\s*){{0,24}}?{_letters('PRIVATEKEY')}\s*(?:{_letters('BLOCK')})?"
    rf"[\s-]{{0,8}}(?:[\s\S]{{0,12000}}?-{{3,5}}\s*{_letters('END')}[^\n-]{{0,60}}-{{0,5}}|[A-Za-z0-9+/=\s\\]*)"
)
_PUTTY_KEY = re.compile(r"PuTTY-User-Key-File-\d[\s\S]{0,12000}?Private-(?:MAC|Hash): ?[0-9a-f]*")
_URL_PASSWORD = re.compile(
    r"\b(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{1,20})://[^\s/:@\"'<>]{0,128}:(?P<value>[^\s/\"'<>]{1,256})@"
)
_BEARER = re.compile(r"\b[Bb](?:earer|EARER)\s+(?P<value>[A-Za-z0-9._~+/-]{16,}=*)")
_BASIC = re.compile(r"(?i:authorization)[\"']?\s*[:=]\s*[\"']?(?i:basic)\s+(?P<value>[A-Za-z0-9+/]{8,}=*)")
_CURL_USER = re.compile(r"\bcurl\b[^\n|;]{0,200}?\s(?:-u|--user)[\s=]*[\"']?[\w.@-]{1,64}:(?P<value>[^\s\"']{4,128})")
_PIN = re.compile(
    r"\b(?:PIN|CVV|CVC|CVV2)(?:\s?(?i:code|number))?(?:\s*[:：=]\s*|\s+is\s+)(?P<value>\d{3,8})(?!\d|[ ]?(?:%|[a-z]))"
)

# Key words in lower case and the kind of what stands after them.
_WORDS = {
    "pass": "password", "pwd": "password", "secret": "secret", "token": "token", "key": "api_key",
    "credential": "secret", "kennwort": "password", "senha": "password", "mat khau": "password",
}  # fmt: skip
# `pass` alone is a verb and `key` alone a noun of many trades.
_PASS = re.compile(r"word|wd|phrase|code|wort|e\b")
_KEY = re.compile(r"(?P<kind>private|encryption|signing|api|access|auth)[_ -]?\Z")
_KEY_KINDS = {"private": "private_key", "encryption": "secret", "signing": "secret"}
_FOREIGN_WORDS = {
    "密码": "password", "密碼": "password", "口令": "password", "密钥": "secret", "密鑰": "secret", "秘钥": "secret",
    "金鑰": "secret", "令牌": "token", "パスワード": "password", "暗証番号": "password", "秘密鍵": "secret",
    "トークン": "token", "비밀번호": "password", "토큰": "token", "mật khẩu": "password", "khóa bí mật": "secret",
    "пароль": "password", "contraseña": "password",
}  # fmt: skip
_FOREIGN_GATE = re.compile("[密口秘金令パ暗ト비토ậóпñ]")
# Every format has a long stretch without a blank; prose has few, so the hints are looked up there only.
_SHORTEST_FORMAT = 16

_ASSIGNMENT = re.compile(
    r"""
    (?:s|[_-]?(?:value|string|val|text)|[_ -]?access[_ -]?key|[_ -]?key(?:[_-]?base)?|\d{1,2})?    # secret_key, tokens
    (?:\s?[（(][^()（）\n]{0,24}[)）])?                                                              # password (test)
    [\\"'`*_\])]{0,4}
    (?P<gap>\s+(?:for|of|in|on|at|from)(?:\s+[\w@./'-]+){1,5}?)?                                   # token in the file
    (?P<op>
        \s{0,2}(?::=|[:：=＝]{1,2}>?|->|→)\s{0,3}
      | \s+(?:is|was|are|equals|là|es|ist|est)(?:\s+now|\s+still)?[\s:]\s{0,2}
      | \s?(?:[还還就]?[是为為叫]|已?(?:改|设|設|换|重置|设置)[成为為]?了?)\s?[:：]?\s?
      | (?:は|を)\s?
      | (?(gap)(?!)|(?P<bare>[ \t]{1,2}))
    )
    (?:(?i:bearer|basic|token)\s+)?
    (?P<quote>[\\"'`“「『‘*]{0,3})
    (?P<value>[^\s"'`“”「」『』‘’，。；、！？（）<>\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff|]{3,2048}|<)
    """,
    re.VERBOSE,
)
_SET_TO = re.compile(
    r"\b(?:set|changed?|reset|updated?)\s+(?:[\w'-]+\s+){0,4}(?:password|passphrase|passcode|PIN)\s+to\s+[\"'`]?"
    r"(?P<value>[^\s\"'`<>]{4,256})",
    re.IGNORECASE,
)
_FLAG = re.compile(r"(?:^|\s)--(?:[\w-]+[_-])?\Z")  # --password, --db-password
_TRAILING = ".,;:)]}\\*"


def find_secrets(text: str) -> tuple[Span, ...]:
    """Return the secrets in `text` in order, not overlapping; obfuscation by width or hidden characters is undone."""
    flat = flatten(text)
    found = _merge(_all_spans(flat.text))
    return tuple(Span(*flat.original(span.start, span.end), span.kind) for span in found)


def redact(text: str, spans: Iterable[Span]) -> str:
    """Return `text` with every span replaced by `[redacted: kind]`; spans may overlap and come in any order."""
    parts: list[str] = []
    done = 0
    for span in _merge(spans):
        parts += text[done : span.start], f"[redacted: {span.kind}]"
        done = span.end
    return "".join(parts) + text[done:]


def line_of(text: str, pos: int) -> int:
    """Return the number of the line, counted from 1, that holds position `pos` of `text`."""
    return text.count("\n", 0, pos) + 1


def _merge(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Span(last.start, max(last.end, span.end), last.kind)
        elif span.end > span.start:
            merged.append(span)
    return merged


def _all_spans(text: str) -> Iterator[Span]:
    yield from _formats(text)
    if "----" in text or "PuTTY" in text:
        for pattern in (_PRIVATE_KEY, _PUTTY_KEY):
            yield from (Span(*_trimmed(match), "private_key") for match in pattern.finditer(text))
    if "://" in text:
        yield from _url_passwords(text)
    # A capital dotted I is the one letter whose lower case is longer, which would shift every position.
    lower = text.replace("İ", "I").lower()
    yield from _headers(text, lower)
    yield from _assignments(text, lower)
    yield from (Span(start, end, "card_number") for start, end in card_spans(text))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _formats(text: str) -> Iterator[Span]:
    stretches = " ".join([word for word in text.split() if len(word) >= _SHORTEST_FORMAT])
    if not stretches:
        return
    for kind, hint, pattern in _FORMATS:
        if hint in stretches:
            for match in _compiled(pattern).finditer(text):
                if not is_placeholder(match.group()):
                    yield Span(*match.span(), kind)


def _url_passwords(text: str) -> Iterator[Span]:
    for match in _URL_PASSWORD.finditer(text):
        if len(match["value"]) >= 4 and not is_placeholder(match["value"]):
            web = match["scheme"].lower() in ("http", "https", "ftp", "ws", "wss")
            yield Span(*match.span("value"), "basic_auth_url" if web else "connection_string")


def _headers(text: str, lower: str) -> Iterator[Span]:
    if "bearer" in lower:
        for match in _BEARER.finditer(text):
            if is_key(match["value"], minimum=16):
                yield Span(*match.span("value"), "bearer_token")
    if "authorization" in lower:
        yield from (Span(*match.span("value"), "password") for match in _BASIC.finditer(text))
    if "curl" in lower:
        for match in _CURL_USER.finditer(text):
            if not is_placeholder(match["value"]):
                yield Span(*match.span("value"), "password")
    if "PIN" in text or "CV" in text:
        yield from (Span(*match.span("value"), "pin") for match in _PIN.finditer(text))


def _assignments(text: str, lower: str) -> Iterator[Span]:
    yield from _beside(text, lower, _WORDS)
    if not text.isascii() and _FOREIGN_GATE.search(lower):
        yield from _beside(text, lower, _FOREIGN_WORDS)
    if " to " in lower and ("pass" in lower or "pin" in lower):
        for match in _SET_TO.finditer(text):
            value = match["value"].rstrip(_TRAILING)
            if is_password(value, explicit=False):
                yield Span(match.start("value"), match.start("value") + len(value), "password")


def _beside(text: str, lower: str, words: dict[str, str]) -> Iterator[Span]:
    for word, kind in words.items():
        pos = lower.find(word)
        while pos >= 0:
            span = _assigned(text, lower, pos, word, kind)
            if span:
                yield span
            pos = lower.find(word, pos + len(word))


def _assigned(text: str, lower: str, pos: int, word: str, kind: str) -> Span | None:
    if lower.endswith("[redacted: ", 0, pos):
        return None
    end = pos + len(word)
    if word == "key":
        name = _KEY.search(lower, max(0, pos - 16), pos)
        if name is None:
            return None
        kind = _KEY_KINDS.get(name["kind"], kind)
    rest = _PASS.match(lower, end) if word == "pass" else None
    match = _ASSIGNMENT.match(text, rest.end() if rest else end)
    if match is None:
        return None
    value = match["value"].rstrip(_TRAILING)
    start, end = match.start("value"), match.start("value") + len(value)
    quoted = bool(match["quote"].strip("*"))
    if kind != "password":
        strict = match["gap"] or match["bare"]
        good = is_key(value, minimum=16 if strict else 8)
    elif word == "pass" and rest is None:
        variable = match["op"] == "=" and lower.endswith("_", 0, pos)
        good = not match["bare"] and is_password(value, explicit=variable)
        good = good and (variable or not (value.isalpha() or value.isdigit()))
    elif match["bare"]:
        flag = _FLAG.search(text, max(0, pos - 24), pos) is not None
        good = (flag or quoted) and is_password(value, explicit=False)
    else:
        tight = quoted or match["op"] in ("=", "＝")
        good = is_password(value, explicit=tight, after=text[end : end + 12])
    return Span(start, end, kind) if good else None


def _trimmed(match: re.Match[str]) -> tuple[int, int]:
    return match.start(), match.start() + len(match.group().rstrip())
