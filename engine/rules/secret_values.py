"""Whether the word after "password" or "token" is a real one, or a placeholder, a reference or plain prose."""

from __future__ import annotations

import math
import re
from collections import Counter

# `password: required`, `token = none`: words that describe a field and are never its content.
_DESCRIBING = frozenset(
    """
    password passwd passphrase passcode pass pwd secret token apikey api_key api-key key credential credentials
    string str text number int integer bool boolean object bytes char varchar type value values field input output
    required optional mandatory empty blank none null nil undefined unset missing unknown default hidden masked
    encrypted hashed plain plaintext true false yes no on off enabled disabled todo tbd tba n/a na redacted removed
    revoked expired rotated changed change reset forgot forgotten lost wrong invalid incorrect valid correct same
    different see ask use used using set get stored kept held read write readonly read-only your mine ours the this
    that it in at by from via with without not never only one two per each every any all both file env environment
    vault keychain keyring bitwarden lastpass 1password keepass manager prompt interactive generated generate random
    auto automatic manual secure strong weak long short shared private public local remote basic bearer oauth saml
    ldap sso mfa totp otp jwt bcrypt scrypt argon argon2 header cookie session changeme change-me changeit test
    testing example sample dummy fake placeholder foo bar baz
    """.split()
)
_ALGORITHM = re.compile(
    r"(?:sha|md|hs|rs|es|ps|aes|rsa|ed|argon|bcrypt|scrypt|pbkdf|oauth|base|utf|totp|hmac|ecdsa|iso|rfc|tls|ssl|"
    r"http|gpt|ipv|web|erc|pkcs)[-_.]?\d{1,5}(?:[-_/.]\d{1,4})?(?:[-_]?[a-z]{2,5})?|1password",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"[xX*•.…_\-?#]+|.*(?:[xX]{4}|\*{3}|•{3}|\.{3}|…).*|[<\[({].*|%[A-Z_]+%|.*[-_]here|"
    r"(?:your|insert|replace|enter|put|paste)[-_].*|"
    r"(?:example|sample|dummy|fake|placeholder|test|foo|change|todo)[-_]?"
    r"(?:me|it|key|token|pass|password|secret|value)?",
    re.IGNORECASE | re.DOTALL,
)
_REFERENCE = re.compile(
    r"\$[\{(].*|\$[A-Z_][A-Z0-9_]*|\$[a-z_]+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"  # ${X}, $X, API_KEY_NAME
    r"|(?:~|\.{1,2})/.*|/[A-Za-z][\w.-]*/.*|[A-Za-z]:\\.*|.*://.*|[\w.+-]+@[\w-]+(?:\.\w+)+"  # paths, addresses
    r"|(?i:process|os|env|environ|config|cfg|conf|settings?|self|this|args|opts?|options|req|request|res|response|ctx"
    r"|secrets?|vars?|module|system|data|body|user|params?|props|vault|keyring)(?:[.\[]|->).*"
    r"|(?:vault|op|arn|ssm|aws|file|keyring|env|import):.*"
    r"|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*[\[(].*|[a-z_]+(?:\.[A-Za-z_]+)+"  # calls, subscripts, dotted names
    r"|[a-z]+(?:_[a-z]+)*_(?:password|passwd|pass|pwd|secret|token|key)|[\w.]*PrivateKey\w*",  # variables, types
    re.DOTALL,
)
_DATE_OR_RANGE = re.compile(
    r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?:T.*)?|\d{1,3}[-–~]\d{1,4}|\d{1,2}:\d{2}(?::\d{2})?|v?\d+(?:\.\d+)+"
    r"|\d{1,4}[-+]?(?:char|digit|bit|byte|letter)\w*(?:-\w+)*",
    re.IGNORECASE,
)
_SLUG_PART = re.compile(r"[A-Za-z]?[a-z]*|v?\d{1,4}[a-z]?|[a-z]{1,8}\d{1,3}[a-z]?")
_UNIT = re.compile(
    r"\s*(?:%|[-\s]?(?:tokens?|char|byte|bit|digit|letter|word|symbol|iteration|round|time|ms|sec|min|hour|day|week|"
    r"month|year|user|item|entr|k\b|个|位|字|次|天|小时|分|秒|元|条|年|月))",
    re.IGNORECASE,
)


def is_placeholder(value: str) -> bool:
    """Tell whether `value` only stands for a secret: `xxxx`, `<your-token>`, `${API_KEY}`, `process.env.TOKEN`."""
    return (
        value.lower() in _DESCRIBING
        or _PLACEHOLDER.fullmatch(value) is not None
        or _REFERENCE.fullmatch(value) is not None
    )


def is_password(value: str, *, explicit: bool, after: str = "") -> bool:
    """Tell whether `value` beside a password word is a password.

    `explicit` means quoted or written after a tight `=`, where even a plain word counts; `after` is the text that
    follows, so that `password: 1200 tokens` is an amount.
    """
    if is_placeholder(value) or _ALGORITHM.fullmatch(value) or _DATE_OR_RANGE.fullmatch(value):
        return False
    if value.isdigit():
        return 4 <= len(value) <= 20 and not _UNIT.match(after)
    letters, digits, symbols = _classes(value)
    if letters and digits:
        return len(value) >= 6
    if symbols and (letters or digits):
        return len(value) >= 6
    if _is_scrambled(value):
        return len(value) >= 8
    return explicit and letters and len(value) >= 6 and value.split("-")[0].lower() not in _DESCRIBING


def is_key(value: str, *, minimum: int = 8) -> bool:
    """Tell whether `value` beside a key or token word is random enough to be one."""
    if len(value) < minimum or is_placeholder(value) or _ALGORITHM.fullmatch(value):
        return False
    if _DATE_OR_RANGE.fullmatch(value) or value.isdigit():
        return False
    letters, digits, _ = _classes(value)
    if not digits:
        return len(value) >= 16 and _is_scrambled(value)
    longest = max(map(len, re.split(r"[-_./:]", value)))
    return longest >= 16 or (letters and entropy(value) >= 2.75 and not _is_slug(value))


def entropy(value: str) -> float:
    """Return the Shannon entropy of the characters of `value`, in bits per character."""
    counts = Counter(value).values()
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)


def _is_slug(value: str) -> bool:
    # Words and short numbers joined by dashes are names of things: `q3-roadmap-draft-2`, `o200k_base`.
    parts = re.split(r"[-_./:]", value)
    return len(parts) > 1 and all(_SLUG_PART.fullmatch(part) for part in parts)


def _is_scrambled(value: str) -> bool:
    # Letters alone are a key only when the case jumps about as no CamelCase name does.
    chunks = re.findall("[A-Z]+[a-z]*|[a-z]+", value)
    return value.isalpha() and len(value) < 3 * len(chunks)


def _classes(value: str) -> tuple[bool, bool, bool]:
    letters = any(ch.isalpha() for ch in value)
    digits = any(ch.isdigit() for ch in value)
    symbols = any(ch in "!@#$%^&*?~+=" for ch in value)
    return letters, digits, symbols
