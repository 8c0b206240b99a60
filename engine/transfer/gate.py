"""What an importer asks of the admission rules (C7): where secrets stand, and whether a text may come in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from engine.rules.admission import ALL, Checks, Span, admit, find_secrets, redact

TALK = re.compile(r"^(?:user|assistant|human|system)\s*[:：]", re.M | re.I)
SESSION = re.compile(r"\A\s*#\s*Session\b|\*\*Session (?:Key|ID)\*\*", re.I)
HEARTBEAT = re.compile(r"heartbeat|心跳", re.I)


class Gate(Protocol):
    """The admission rules as an importer uses them."""

    def find_secrets(self, text: str) -> Sequence[Span]:
        """Return the secrets in a text, in order."""
        ...

    def redact(self, text: str, spans: Sequence[Span]) -> str:
        """Return the text with each secret replaced by `[redacted: kind]`."""
        ...

    def refusal(self, text: str) -> str:
        """Return the check that a text fails, `noise` or `injection`, or nothing."""
        ...


@dataclass(frozen=True, slots=True)
class AdmissionGate:
    """The admission rules, with the checks that the owner left on."""

    checks: Checks = ALL

    def find_secrets(self, text: str) -> Sequence[Span]:
        """Return the secrets in a text, in order."""
        return find_secrets(text) if self.checks.secret else ()

    def redact(self, text: str, spans: Sequence[Span]) -> str:
        """Return the text with each secret replaced by `[redacted: kind]`."""
        return redact(text, tuple(spans))

    def refusal(self, text: str) -> str:
        """Return the check that a text fails, `noise` or `injection`, or nothing."""
        return admit(text, checks=replace(self.checks, secret=False)).check or ""


def is_transcript(body: str) -> bool:
    """Tell whether a text is a talk written down: outside material that may carry orders."""
    return bool(SESSION.search(body)) and len(TALK.findall(body)) > 1


def only_heartbeats(headings: Sequence[str]) -> bool:
    """Tell whether a day's notes are nothing but signs of life: every section below the title says so."""
    return len(headings) > 1 and all(HEARTBEAT.search(heading) for heading in headings[1:])
