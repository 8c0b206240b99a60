"""What an agent should read now: the material of the pack, taken from the store, and what is counted of it (R12)."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from pathlib import PurePath

from engine.context import budget
from engine.context.choice import Choice, choose
from engine.context.draft import FOR_BUDGET, Limits, Material
from engine.context.notes import Depth
from engine.context.pack import build_pack
from engine.context.sections import Provider, baseline_order, core_order, is_core
from engine.model.enums import Mode
from engine.model.errors import invalid
from engine.model.memory import Caller, Filter, Memory
from engine.model.packs import ContextPack
from engine.rules.textnorm import clip
from engine.store import selection
from engine.store.ephemeral import Ledger, Question
from engine.store.rows import load_memories
from engine.usecases.ageing import asleep, silent
from engine.usecases.desk import Desk

CORE_CANDIDATES = 60
"""How many of the newest memories of the core kinds are looked at for 400 characters."""

QUESTION_CHARS = 4_000
"""A question is a sentence: what lies behind its first thousands of characters is pasted text."""

NEWEST = "v.valid_from DESC, v.memory_id DESC"

PROVIDERS: dict[str, Provider] = {}
"""The lines of persona, playbook, tasks and checkpoint by section name, put here by the rooms that own them."""


def context(
    desk: Desk,
    by: Caller,
    question: str = "",
    *,
    max_tokens: int | None = None,
    depth: str | None = None,
    expand: bool = False,
    fresh: bool = False,
    preview: bool = False,
    most_chars: int | None = None,
) -> ContextPack:
    """Return the pack for a question within `max_tokens`.

    In a named session of an agent core and baseline come once, the same question is not answered twice in a row, and
    bytes are counted against the session (S20-S25); `fresh` begins anew, as after a compaction. `expand` brings the
    other memories of a topic along (C18). `preview` shows the same and counts nothing. Raises invalid_argument for a
    size or depth that cannot be.
    """
    question = clip(question, QUESTION_CHARS)
    limits = _limits(desk, max_tokens, depth, most_chars)
    with desk.store.read() as conn:
        ledger = _ledger(desk, conn, by)
        if ledger and fresh:
            ledger = budget.reset(ledger)
        choice = choose(
            conn,
            question,
            lambda mode, flt: _selection(desk, by, mode, flt),
            now_ms=desk.store.clock.now_ms(),
            threshold=desk.settings.number("context.relevance") / 100,
            most=limits.memories,
            expand=expand,
            dormant=asleep(desk, by),
        )
        material = _material(desk, conn, by, question, choice, limits, ledger)
    pack, after = build_pack(material, limits, ledger)
    if not preview and not by.is_owner:
        _record(desk, by, question, pack, after, material.now_ms)
        if pack.text and os.environ.get("MEMDECK_DEBUG") == "1":
            print(_debug_line(pack, choice), file=sys.stderr)
    return pack


def reset_session(desk: Desk, by: Caller, *, baseline_only: bool = False) -> None:
    """Begin a session's ledger anew after a compaction or clearing, or only its baseline after a resume (S20, S25)."""
    with desk.store.read() as conn:
        ledger = _ledger(desk, conn, by)
    if ledger and ledger.packs:
        desk.backlog.keep(budget.reset(ledger, baseline_only=baseline_only))


def _limits(desk: Desk, max_tokens: int | None, depth: str | None, most_chars: int | None) -> Limits:
    number = desk.settings.number
    tokens = number("context.max_tokens") if max_tokens is None else max_tokens
    if tokens < 1:
        raise invalid(f"max_tokens={tokens} leaves room for nothing", "leave it out")
    return Limits(
        tokens=tokens,
        memories=number("context.memories"),
        baseline=number("context.baseline"),
        max_chars=number("context.max_chars"),
        stale_days=number("context.stale_days"),
        session_bytes=number("context.session_bytes"),
        depth=_depth(depth or desk.settings.word("context.depth")),
        most_chars=most_chars,
    )


def _depth(text: str) -> Depth:
    try:
        return Depth(text)
    except ValueError:
        raise invalid(f"depth={text[:40]!r} is not known", f"one of: {', '.join(Depth)}") from None


def _ledger(desk: Desk, conn: sqlite3.Connection, by: Caller) -> Ledger | None:
    if by.session is None or by.is_owner:
        return None
    return desk.backlog.ledger(conn, by.session) or Ledger(by.session)


def _selection(desk: Desk, by: Caller, mode: Mode, flt: Filter) -> selection.Selection:
    now = desk.store.clock.now_ms()
    return selection.recall_selection(
        by, mode, flt, valid_ms=now, known=None, moved=False, everywhere=False, silent=silent(desk)
    )


def _material(
    desk: Desk,
    conn: sqlite3.Connection,
    by: Caller,
    question: str,
    choice: Choice,
    limits: Limits,
    ledger: Ledger | None,
) -> Material:
    current = _selection(desk, by, Mode.CURRENT, Filter())
    core: list[Memory] = []
    baseline: list[Memory] = []
    if not (ledger and ledger.core):
        corrections = _fixed(conn, current, "correction", "v.kind = 'correction'", NEWEST, CORE_CANDIDATES)
        personal = _fixed(conn, current, "personal", "v.type IN ('user', 'feedback')", NEWEST, CORE_CANDIDATES)
        core = core_order(m for m in {m.id: m for m in (*corrections, *personal)}.values() if is_core(m))
    if not (ledger and ledger.baseline):
        # Some may stand in the core section already, so more are fetched than fit.
        most = limits.baseline + CORE_CANDIDATES
        order = "v.baseline_priority DESC, v.name"
        baseline = baseline_order(_fixed(conn, current, "baseline", "v.baseline = 1", order, most))
    return Material(
        question=question,
        now_ms=desk.store.clock.now_ms(),
        core=core,
        baseline=baseline,
        found=choice.found,
        beyond=choice.beyond,
        below=choice.below,
        archived=choice.archived,
        dormant=choice.dormant,
        place=f"global + {PurePath(by.workspace).name or by.workspace}" if by.workspace else "global",
        providers=PROVIDERS,
    )


def _fixed(
    conn: sqlite3.Connection, chosen: selection.Selection, index: str, condition: str, order: str, limit: int
) -> list[Memory]:
    """Return the first memories of a kind from the index that holds just these."""
    rows = conn.execute(
        f"SELECT v.memory_id FROM versions v INDEXED BY versions_{index}"
        f" WHERE {condition} AND {chosen.sql} ORDER BY {order} LIMIT ?",
        (*chosen.values, limit),
    )
    return load_memories(conn, [id_ for (id_,) in rows])


def _record(desk: Desk, by: Caller, question: str, pack: ContextPack, after: Ledger | None, now: int) -> None:
    if pack.injected:
        desk.backlog.count("injected", pack.injected, now)
    if after:
        desk.backlog.keep(after._replace(at=now, actor=by.actor or after.actor, workspace=by.workspace))
    if question.strip():
        desk.backlog.ask(Question(now, "context", by.actor, by.workspace, question, pack.injected))


def _debug_line(pack: ContextPack, choice: Choice) -> str:
    """Return one line of JSON that says how a pack came about (S69)."""
    return json.dumps(
        {
            "scanned": choice.matches,
            "hits": len(choice.scores),
            "scores": {f"mem-{id_}": score for id_, score in choice.scores},
            "picked": [f"mem-{c.memory.id}" for c in choice.found],
            "injected": [f"mem-{id_}" for id_ in pack.injected],
            "chars": len(pack.text),
            "skippedByBudget": sum(reason in FOR_BUDGET for _, reason in pack.omitted),
        }
    )
