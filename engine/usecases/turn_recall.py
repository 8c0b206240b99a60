"""What a turn brings back: cards by tags, the rest by text, in as many parts as were asked for (W52-W54)."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from engine.context.choice import choose
from engine.context.fence import cut, fenced, harmless, quoted
from engine.model.enums import Kind, Mode
from engine.model.memory import Caller, Filter, Memory
from engine.model.turns import Analysis, Frame, Preference, Recollection
from engine.recall.candidates import Candidates
from engine.recall.tags import Cue, match_top
from engine.rules.perception import injection_of, parts_of, route_of
from engine.store import turns as store
from engine.store.ephemeral import Question
from engine.store.rows import load_memories
from engine.store.selection import Selection, recall_selection
from engine.store.vocabulary import Vocabulary
from engine.usecases.ageing import silent
from engine.usecases.desk import Desk
from engine.usecases.turn_analysis import turn_of

TOP = 3
"""Memories that a turn brings back (W35)."""

SUMMARY, OVERVIEW, ORIGINAL = "summary", "overview", "original"
MAX_OVERVIEW, MAX_ORIGINAL = 400, 1_500
"""Characters of one part in the text for the model."""


def bring_back(desk: Desk, by: Caller, text: str, cue: Cue, analysis: Analysis) -> tuple[Recollection, ...]:
    """Return the memories that fit a message best, by the depth that its analysis asks for, and count them (W64).

    Nothing is written to the vocabulary (W11). Cards whose answer was rejected are left out (W37).
    """
    now = desk.store.clock.now_ms()
    with desk.store.read() as conn:
        found = _found(desk, conn, by, text, cue, analysis, now)
        memories = load_memories(conn, list(found))
        parts = max(parts_of(route_of(analysis)), parts_of("", injection_of(analysis)))
        recollections = recollect(conn, memories, found, parts)
    if found and not by.is_owner:
        desk.backlog.count("recalls", found, now)
        desk.backlog.ask(Question(now, "turn", by.actor, by.workspace, text, tuple(found)))
    return recollections


def _found(
    desk: Desk, conn: sqlite3.Connection, by: Caller, text: str, cue: Cue, analysis: Analysis, now: int
) -> dict[int, tuple[float, str]]:
    """Return memories with their confidence and why they are there, best first."""

    passed_over = silent(desk)

    def choosing(mode: Mode, flt: Filter) -> Selection:
        return recall_selection(
            by, mode, flt, valid_ms=now, known=None, moved=False, everywhere=False, silent=passed_over
        )

    chosen = choosing(Mode.CURRENT, Filter())
    match = match_top(
        Vocabulary(conn), cue, where=Candidates(chosen.sql, chosen.values), now_ms=now, scene=analysis.scene,
        scene_sub=analysis.scene_sub, top=TOP,
    )  # fmt: skip
    found = {hit.memory_id: (min(hit.score.total, 1.0), hit.why) for hit in match.hits}
    threshold = desk.settings.number("context.relevance") / 100
    choice = choose(conn, text, choosing, now_ms=now, threshold=threshold, most=TOP)
    shares = dict(choice.scores)
    for candidate in choice.found:
        id_ = candidate.memory.id
        if id_ not in found:
            found[id_] = (shares.get(id_, 0.0), candidate.why)
    best = sorted(found.items(), key=lambda pair: (-pair[1][0], -pair[0]))
    return dict(best[:TOP])


def recollect(
    conn: sqlite3.Connection, memories: Sequence[Memory], found: Mapping[int, tuple[float, str]], parts: int
) -> tuple[Recollection, ...]:
    """Return memories in one to three parts: the summary, the overview, what was really said (W52)."""
    preferences = store.preferences_of(conn, [m.id for m in memories])
    recollections = []
    for memory in memories:
        event = store.event_of(conn, memory.id) if memory.kind is Kind.EPISODE else None
        said = event.said if event else ""
        given = [(SUMMARY, memory.description), (OVERVIEW, memory.body), (ORIGINAL, said)][:parts]
        suffix = turn_of(memory).get("suffix")
        confidence, why = found.get(memory.id, (1.0, ""))
        recollections.append(
            Recollection(
                memory.id, memory.ref, f"{store.CARD}{suffix}" if suffix else "",
                tuple((name, text) for name, text in given if text), memory.tags, confidence,
                preferences.get(memory.id, ()), why,
            )
        )  # fmt: skip
    return tuple(recollections)


def rendered(frame: Frame, text: str) -> str:
    """Return the text for the model: the message, what it is after, the memories; stored text is fenced (W54).

    With injection off there is no section of memories, though there may be some (W53).
    """
    sections = [f"## 当前消息 · current message\n{text}", f"## 理解 · reading\n{_reading(frame)}"]
    parts = parts_of(frame.route, frame.injection)
    if parts and frame.memory:
        sections.append("\n".join(["## 相关记忆 · related memory", *(_block(r, parts) for r in frame.memory)]))
    return "\n\n".join(sections)


def _reading(frame: Frame) -> str:
    scene = "/".join(part for part in (frame.scene, frame.scene_sub) if part)
    named = (
        ("意图 intent", frame.intent), ("场景 scene", scene), ("情绪 emotion", frame.perception.get("emotion", "")),
        ("摘要 context", frame.context_summary),
    )  # fmt: skip
    return " · ".join(f"{name}: {quoted(word, 120)}" for name, word in named if word)


def _block(found: Recollection, parts: int) -> str:
    texts = dict(found.parts)
    about = [f"{found.confidence:.0%}"]
    if found.tags:
        about.append("标签 tags: " + ", ".join(quoted(tag, 40) for tag in found.tags))
    if found.preferences:
        about.append("偏好 preferences: " + _said(found.preferences))
    about.append(found.card.replace(store.CARD, store.RECORD) or found.ref)
    lines = [f"- {quoted(texts.get(SUMMARY, ''), 200)} ({'; '.join(about)})"]
    if parts > 1 and texts.get(OVERVIEW):
        lines.append(f"  > {quoted(texts[OVERVIEW], MAX_OVERVIEW)}")
    if parts > 2 and texts.get(ORIGINAL):
        lines.append(fenced(cut(harmless(texts[ORIGINAL]), MAX_ORIGINAL)).rstrip("\n"))
    return "\n".join(lines)


def _said(preferences: Sequence[Preference]) -> str:
    return ", ".join(f"{quoted(p.key, 40)}={quoted(p.value, 80)}" for p in preferences)
