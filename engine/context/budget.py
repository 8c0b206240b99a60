"""The session's two pools: bodies and gap cards, and how a ledger goes on from pack to pack (S21-S25)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from engine.rules.textnorm import fold
from engine.store.ephemeral import Ledger

CARD_SHARE = 0.05
CARD_LEAST, CARD_MOST = 1_024, 4_096
KEPT_CARDS = 64


class Pools(NamedTuple):
    """How many bytes a session may be given: of bodies, and of gap cards beside them."""

    body: int
    card: int


def pools(session_bytes: int) -> Pools:
    """Split a session's cap: cards get 5 %, at least 1,024 and at most 4,096 bytes, bodies the rest (S22)."""
    card = min(max(int(session_bytes * CARD_SHARE), CARD_LEAST), CARD_MOST)
    return Pools(session_bytes - card, card)


def signature(question: str, picks: Iterable[str]) -> str:
    """Return by what the same question with the same picks is known again; baseline is no pick (S21)."""
    text = "\n".join([" ".join(fold(question).split()), *picks])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def reset(ledger: Ledger, *, baseline_only: bool = False) -> Ledger:
    """Return a ledger that begins anew: both pools, signatures and cards at once, the sections given once, too (S25).

    A resumed session only gets its baseline again: what it was given before still stands in its transcript (S20).
    """
    if baseline_only:
        return ledger._replace(core=False, baseline=False)
    return ledger._replace(body_bytes=0, card_bytes=0, core=False, baseline=False, signature="", cards=())


def with_card(ledger: Ledger, sign: str) -> tuple[str, ...]:
    """Return the cards shown, with one more; the oldest are forgotten."""
    return (*ledger.cards, sign)[-KEPT_CARDS:]
