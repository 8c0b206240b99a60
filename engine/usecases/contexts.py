"""What an agent should read now: the candidates of the pack, taken from the store (C47, R12)."""

from __future__ import annotations

from engine.context.pack import build_pack, core_order, is_core
from engine.model.enums import Mode
from engine.model.errors import invalid
from engine.model.memory import Caller, Filter, Memory, RecallPage, RecallQuery
from engine.model.records import ContextPack
from engine.rules.textnorm import clip
from engine.store import selection
from engine.store.rows import load_memories
from engine.usecases.desk import Desk
from engine.usecases.reading import recall

CANDIDATES = 60
"""How many of the newest memories of the core kinds are looked at for 400 characters."""


def context(desk: Desk, by: Caller, question: str = "", *, max_tokens: int | None = None) -> ContextPack:
    """Return the pack for a question within `max_tokens`; nothing is written."""
    budget = desk.settings.number("context.max_tokens") if max_tokens is None else max_tokens
    if budget < 1:
        raise invalid(f"max_tokens={budget} leaves room for nothing", "leave it out")
    now = desk.store.clock.now_ms()
    core = core_order(
        m for m in _fixed(desk, by, "(v.kind = 'correction' OR v.type IN ('user', 'feedback'))", now) if is_core(m)
    )
    baseline = sorted(_fixed(desk, by, "v.baseline = 1", now), key=lambda m: (-m.baseline_priority, m.name, m.id))
    page = RecallPage((), 0, None)
    if len(question.strip()) >= 2:
        # A question is a sentence: what lies behind the first thousands of characters is pasted text.
        page = recall(desk, by, RecallQuery(clip(question, 4000), limit=desk.settings.number("recall.limit")))
    return build_pack(core, baseline, page.hits, total=page.total, now_ms=now, max_tokens=budget)


def _fixed(desk: Desk, by: Caller, condition: str, now: int) -> list[Memory]:
    chosen = selection.recall_selection(
        by, Mode.CURRENT, Filter(), valid_ms=now, known=None, moved=False, everywhere=False
    )
    with desk.store.read() as conn:
        ids = [
            r[0]
            for r in conn.execute(
                f"SELECT v.memory_id FROM versions v WHERE {chosen.sql} AND {condition}"
                " ORDER BY v.kind = 'correction' DESC, v.valid_from DESC, v.memory_id DESC LIMIT ?",
                (*chosen.values, CANDIDATES),
            )
        ]
        return load_memories(conn, ids)
