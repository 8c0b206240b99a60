"""The gate that every write passes: noise, secrets and injected orders, each switchable (C7, S13)."""

from __future__ import annotations

from dataclasses import dataclass

from engine.rules.injection import find_injection
from engine.rules.noise import is_noise
from engine.rules.secrets import Span, find_secrets, line_of, redact

__all__ = ["ALL", "Checks", "Span", "Verdict", "admit", "find_secrets", "line_of", "redact"]


@dataclass(frozen=True)
class Checks:
    """Which checks are on; the fourth check of C7, authority, is decided in `authority`."""

    noise: bool = True
    secret: bool = True
    injection: bool = True


ALL = Checks()


@dataclass(frozen=True)
class Verdict:
    """What admission found: `check` is None, `noise`, `secret` or `injection`, `kind` its sort (C7).

    `spans` are the secrets in the text, half-open and in order; `reason` is one line that quotes nothing of the text.
    """

    check: str | None = None
    kind: str = ""
    spans: tuple[Span, ...] = ()
    reason: str = ""

    @property
    def ok(self) -> bool:
        """True when the text may be stored and recalled."""
        return self.check is None


_ADMITTED = Verdict()


def admit(text: str, *, checks: Checks = ALL) -> Verdict:
    """Judge one text; the first check that objects gives the verdict, and no text makes it raise (C7, S13)."""
    if checks.noise and is_noise(text):
        return Verdict("noise", "noise", reason="nothing in it to remember")
    if checks.secret and (spans := find_secrets(text)):
        return Verdict("secret", spans[0].kind, spans, _secret_reason(text, spans))
    if checks.injection and (kind := find_injection(text)):
        return Verdict("injection", kind, reason=f"it gives orders to an agent ({kind})")
    return _ADMITTED


def _secret_reason(text: str, spans: tuple[Span, ...]) -> str:
    first = spans[0]
    more = f" and {len(spans) - 1} more" if len(spans) > 1 else ""
    return f"a secret ({first.kind}) in line {line_of(text, first.start)}{more}"
