"""The engine's closed vocabularies in the interface's language."""

from __future__ import annotations

from collections.abc import Sequence

from engine.model.enums import Origin
from tui.i18n import has, t

FEW = 8
"""So many names are listed in one line; the others are counted."""


def few(names: Sequence[object]) -> str:
    """Return names on one line: the first ones, and how many more there are."""
    shown = ", ".join(map(str, names[:FEW]))
    return t("app.few", names=shown, n=len(names) - FEW) if len(names) > FEW else shown


def door(origin: Origin) -> str:
    """Return the door that a write came through."""
    return t(f"app.origin.{origin.value}")


def operation_word(kind: str) -> str:
    """Return a kind of operation; one without a translation shows itself."""
    key = f"app.op.{kind}"
    return t(key) if has(key) else kind


def review_kind(kind: str) -> str:
    """Return a kind of review item; a new kind without a text shows its own name."""
    key = f"review.kind.{kind}"
    return t(key) if has(key) else str(kind).replace("_", " ")


REVIEW_TAB = {"topic_proposal": "topics", "tag_merge": "tags", "tag_relation": "tags"}
"""The tab where a kind of review item is counted; every other kind is about memories."""


def tag_status(status: str) -> str:
    """Return where a tag stands."""
    return t(f"screen.tags.status.{status}")


def tag_level(level: str) -> str:
    """Return how close two tags are."""
    return t(f"screen.tags.level.{level}")
