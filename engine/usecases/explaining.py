"""Why a memory is among the answers to a question, or why not: the very rules and ranks of recall (R9, W41)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from engine.context.relevance import gate_for
from engine.model.clock import iso
from engine.model.memory import Caller, Hit, Memory, RecallQuery
from engine.model.receipts import ChannelReceipt, Explanation, Refusal
from engine.recall.candidates import Candidates
from engine.recall.receipts import Standing, standing
from engine.rules.decay import DAY_MS, activation, longevity
from engine.store.ephemeral import Usage, read_usage
from engine.store.rows import load_memories, open_at
from engine.store.selection import Condition
from engine.usecases.ageing import ageing, dormant_of
from engine.usecases.asking import Asked, ask
from engine.usecases.desk import Desk, current, resolve


class _Use(NamedTuple):
    """How a memory was used, and how long ago it was touched."""

    usage: Usage
    idle_days: float

    @property
    def activation(self) -> float:
        return round(activation(self.idle_days * 24, self.usage.recalls), 6)


def explain(desk: Desk, by: Caller, query: RecallQuery, ref: str) -> Explanation:
    """Return why a question finds a memory, or which rule leaves it out or what outranks it.

    Nothing is counted. Raises not_found for what the caller may not know of, invalid_argument for a question that
    cannot be answered.
    """
    memory = current(desk, by, resolve(desk, by, ref))
    desk.backlog.flush()
    with desk.store.read() as conn:
        asked = ask(desk, conn, by, query)
        use = _use(desk, conn, memory)
        row = conn.execute(
            f"SELECT v.vid FROM versions v WHERE v.memory_id = ? AND {open_at('v', asked.known)}", (memory.id,)
        ).fetchone()
        if row is None:
            unknown = Refusal("known", "it was not known at that moment")
            why = f"left out by {unknown.rule}: {unknown.detail}"
            return _explanation(desk, memory, use, (), (unknown,), query.limit, why)
        vid = int(row[0])
        then = load_memories(conn, [memory.id], known=asked.known)[0]
        left_out = tuple(
            Refusal(rule, _detail(desk, rule, then, asked, use))
            for rule, condition in asked.rules().items()
            if not _holds(conn, vid, condition)
        )
        where = asked.candidates()
        if left_out:  # what it would be worth if it were scored
            where = Candidates(f"({where.sql}) OR v.vid = ?", (*where.params, vid))
        ranks = standing(
            conn, query, where=where, known=asked.known, now_ms=asked.valid_ms, cue=asked.cue
        )  # fmt: skip
        channels = ranks.channels(conn, vid)
        last = _last_shown(conn, ranks, query.limit)
        lines = _lines(channels)
        fit = gate_for(conn, query.text).judge(conn, vid, lines)
        asleep = memory.id in dormant_of(desk, conn, [memory.id])
    why = _why(query, channels, left_out, last)
    return _explanation(
        desk, memory, use, channels, left_out, query.limit, why, last, max(fit.summary, fit.passage), asleep
    )  # fmt: skip


def with_receipts(
    desk: Desk, conn: sqlite3.Connection, asked: Asked, vids: Mapping[int, int], hits: Sequence[Hit]
) -> tuple[Hit, ...]:
    """Return hits with the rank in each channel and the use of each memory among their parts; `vids` by memory."""

    ranks = standing(
        conn, asked.query, where=asked.candidates(), known=asked.known, now_ms=asked.valid_ms, cue=asked.cue
    )  # fmt: skip
    full = []
    for hit in hits:
        use = _use(desk, conn, hit.memory)
        channels = {c.name: c.rank for c in ranks.channels(conn, vids[hit.memory.id]) if c.rank is not None}
        used = {"recalls": use.usage.recalls, "idle_days": use.idle_days, "activation": use.activation}
        parts = {**hit.parts, "ranks": channels, "use": used, "state": hit.memory.state.value}
        full.append(replace(hit, parts=parts))
    return tuple(full)


def _explanation(
    desk: Desk,
    memory: Memory,
    use: _Use,
    channels: tuple[ChannelReceipt, ...],
    left_out: tuple[Refusal, ...],
    limit: int,
    why: str,
    last: tuple[str, float] | None = None,
    share: float = 0.0,
    asleep: bool = False,
) -> Explanation:
    first = channels[0] if channels else ChannelReceipt("", None, 0)
    terms = first.parts.get("matched", [])
    return Explanation(
        memory=memory,
        found=not left_out and first.rank is not None and first.rank <= limit,
        why=why,
        rank=first.rank,
        total=first.total,
        score=first.score,
        channels=channels,
        filtered=left_out,
        terms=tuple(map(str, terms)) if isinstance(terms, list) else (),
        parts={name: value for name, value in first.parts.items() if isinstance(value, float)},
        last_shown=last,
        share=round(share, 6),
        gate=desk.settings.number("context.relevance") / 100,
        feedback=use.usage.feedback or "",
        recalls=use.usage.recalls,
        idle_days=use.idle_days,
        activation=use.activation,
        dormant=asleep,
    )


def _use(desk: Desk, conn: sqlite3.Connection, memory: Memory) -> _Use:
    usage = read_usage(conn, [memory.id]).get(memory.id, Usage())
    touched = max(memory.recorded_ms, usage.last_recall or 0)
    return _Use(usage, round((desk.store.clock.now_ms() - touched) / DAY_MS, 2))


def _holds(conn: sqlite3.Connection, vid: int, condition: Condition) -> bool:
    found = conn.execute(f"SELECT 1 FROM versions v WHERE v.vid = ? AND ({condition.sql})", (vid, *condition.values))
    return found.fetchone() is not None


def _last_shown(conn: sqlite3.Connection, ranks: Standing, limit: int) -> tuple[str, float] | None:
    """Return reference and score of the last memory of the first page when there are more behind it."""
    last = ranks.at(limit)
    if last is None or ranks.at(limit + 1) is None:
        return None
    row = conn.execute("SELECT memory_id, revision FROM versions WHERE vid = ?", (last[0],)).fetchone()
    return f"mem-{row[0]}@{row[1]}", last[1]


def _lines(channels: tuple[ChannelReceipt, ...]) -> tuple[int, int] | None:
    lines = next((c.parts["lines"] for c in channels if "lines" in c.parts), None)
    return (int(lines[0]), int(lines[1])) if isinstance(lines, list) else None


def _why(
    query: RecallQuery,
    channels: tuple[ChannelReceipt, ...],
    left_out: tuple[Refusal, ...],
    last: tuple[str, float] | None,
) -> str:
    first = channels[0] if channels else ChannelReceipt(query.channel.value, None, 0)
    place = f"rank {first.rank} of {first.total}"
    if left_out:
        reasons = "; ".join(f"{refusal.rule}: {refusal.detail}" for refusal in left_out)
        return f"left out by {reasons}" + (f" (else {place})" if first.rank else " (and no term in common)")
    if first.rank is None:
        return "no term in common: no channel finds it"
    if first.rank > query.limit and last is not None:
        return (
            f"outranked: {place}; the last shown, rank {query.limit}, is {last[0]} with {last[1]:.3f}"
            f" against {first.score or 0.0:.3f}"
        )
    said = [c.why for c in channels if c.rank is not None and c.why]
    return f"{place}: " + "; ".join(dict.fromkeys(said))


def _detail(desk: Desk, rule: str, memory: Memory, asked: Asked, use: _Use) -> str:
    """Say what a rule found; the filter's chips say what they ask for and what the memory has."""
    flt = asked.filter
    if rule == "state":
        locked = "" if flt.locked is None else f" and {'locked' if memory.locked else 'not locked'}"
        return f"it is {memory.state.value}{locked}"
    if rule == "validity":
        until = f" until {iso(memory.valid_to)}" if memory.valid_to is not None else ""
        return f"it is true from {iso(memory.valid_from)}{until}, asked for {iso(asked.valid_ms)}"
    if rule == "dormant":
        limit = ageing(desk).after_days * longevity(use.usage.recalls)
        return f"untouched for {use.idle_days:.0f} days, dormant after {limit:.0f}; a recall ends it"
    has: dict[str, object] = {
        "types": memory.type.value, "kinds": memory.kind.value, "origins": memory.origin.value,
        "actors": memory.actor, "scopes": memory.scope.value, "topics": list(memory.topics),
        "tags": list(memory.tags),
    }  # fmt: skip
    if rule in has:
        wanted, own = (json.dumps(value, ensure_ascii=False) for value in (getattr(flt, rule), has[rule]))
        return f"the filter asks for {wanted}, it has {own}"
    return {
        "status": f"its turn is {memory.status.value}",
        "hidden": "it was forgotten or set apart since",
        "scope": f"it belongs to the {memory.scope.value} {memory.scope_key or ''}".strip(),
        "text": f"it does not hold {flt.text!r}",
        "rejected": "it was rejected; resetting the feedback brings it back",
    }[rule]
