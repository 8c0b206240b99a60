"""What of a turn may be stored, and under which names: no secrets, nothing of our own, no path out of a thread."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from engine.context.fence import without_own
from engine.model.errors import invalid
from engine.model.memory import Caller
from engine.rules.admission import find_secrets, redact
from engine.rules.textnorm import clean_input
from engine.settings import Settings
from engine.store.turns import OVERVIEW
from engine.usecases.drafts import MAX_TEXT_BYTES, gate

DEFAULT_THREAD = "default"
MAX_THREAD = 120


def thread_name(text: str) -> str:
    """Return the name of a thread on one line, `default` for none (W70)."""
    return " ".join(clean_input(text).split())[:MAX_THREAD] or DEFAULT_THREAD


def overview_path(thread: str, suffix: str) -> str:
    """Return where the overview of a turn stands under its thread; no name of a thread leads out of it (W70)."""
    safe = re.sub(r"[^\w.-]", "_", thread).lstrip(".")[:60]
    if safe != thread:
        safe = f"{safe or '_'}-{hashlib.sha256(thread.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
    return f"threads/{safe}/{OVERVIEW}{suffix}.md"


def clean_text(settings: Settings, by: Caller, text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text without what memdeck put into it and without secrets, with notes on what was taken out (W68)."""
    plain = without_own(clean_input(text)).strip()
    if len(plain.encode()) > MAX_TEXT_BYTES:
        raise invalid(
            f"the text has {len(plain.encode()):,} bytes; a turn holds at most {MAX_TEXT_BYTES:,}", "send its end only"
        )
    spans = find_secrets(plain) if gate(settings, by).secret else ()
    if not spans:
        return plain, ()
    return redact(plain, spans), (f"a secret ({spans[0].kind.replace('_', ' ')}) was taken out before it was stored",)


def without_secrets(settings: Settings, by: Caller, value: object) -> object:
    """Return an analysis in which no text holds a secret."""
    if isinstance(value, str):
        return clean_text(settings, by, value)[0]
    if isinstance(value, Mapping):
        return {key: without_secrets(settings, by, inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_secrets(settings, by, inner) for inner in value]
    return value
