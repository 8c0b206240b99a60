"""A refusal of the engine in the owner's language."""

from __future__ import annotations

from engine.model.errors import MemdeckError
from tui import i18n


def explain(error: MemdeckError) -> str:
    """Return one line: the translated text of the code, else the engine's own words; then its hint."""
    key = f"error.{error.code}"
    known = i18n.language() != "en" and i18n.has(key)
    text = i18n.t(key, **{**error.params, "message": error.message}) if known else error.message
    return f"{text} ({error.hint})" if error.hint else text
