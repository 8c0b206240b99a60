"""The beginning of a turn: a frame that nobody else sees, and what memory holds on its message (W43, W7, W9).

A frame is a memory of kind episode and status pending. Its tier says who analysed it: the calling agent, a model in
full or by key words, or rules.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from engine.model.enums import Kind, State, Status
from engine.model.errors import invalid
from engine.model.memory import Caller, Draft
from engine.model.turns import Analysis, Analyst, Frame
from engine.recall.tags import Cue, extracted, named
from engine.rules.admission import Checks
from engine.rules.extraction import salient
from engine.rules.feedback import is_explicit, judge_feedback
from engine.rules.perception import DEFAULTS, injection_of, key_words, read_analysis, route_of
from engine.rules.tagging import quality_gate
from engine.rules.textnorm import one_line
from engine.store import turns as store
from engine.store.journal import cancelled
from engine.store.memories import fingerprint, insert_memory
from engine.store.rows import dump, load_memories
from engine.store.tags import set_links, tags_of
from engine.store.transaction import Tx
from engine.store.vocabulary import Vocabulary
from engine.usecases.desk import Desk
from engine.usecases.drafts import prepare
from engine.usecases.remembering import key_of
from engine.usecases.turn_recall import bring_back, rendered
from engine.usecases.turn_text import clean_text, overview_path, thread_name, without_secrets

log = logging.getLogger("memdeck.turns")

AGENT, MODEL, KEYWORDS, LOCAL = "agent", "model", "keywords", "local"
"""Who analysed a turn: the calling agent, a model in full, a model by key words, rules (R16, W7)."""

HISTORY, NO_HISTORY = 10, "(no history)"
"""How many completed cards an analysis is given, and what it is given when there are none (W9)."""

_UNADMITTED = Checks(noise=False, secret=False, injection=False)


@dataclass(frozen=True)
class _Read:
    """What was made of the beginning of a turn: the analysis, who made it, and the names of its tags."""

    analysis: Analysis
    tier: str
    names: tuple[str, ...]


def begin_turn(
    desk: Desk,
    by: Caller,
    text: str,
    *,
    thread: str = "",
    analysis: object = None,
    key: str | None = None,
    analyst: Analyst | None = None,
    recalls: bool = True,
    source_path: str = "",
    always: bool = False,
) -> Frame:
    """Write a pending frame for what a user said and return it with what memory holds on it (W43).

    `analysis` is the caller's own (a mapping or JSON); without a tag in it a model is asked, else rules answer (W7).
    Where nothing of the text can be found again there is no frame: the card is empty. Existing tags are posted, unknown
    names wait for the completion (R5). Secrets are taken out. Without `recalls` nothing is looked up; `always` writes a
    frame in any case. Raises invalid_argument for an empty or too long text.
    """
    thread = thread_name(thread)
    text, notes = clean_text(desk.settings, by, text)
    if not text:
        raise invalid("there is no message", "give what the user said")
    read = _read(desk, text, without_secrets(desk.settings, by, analysis), analyst)
    with desk.store.read() as conn:
        cue = named(Vocabulary(conn), read.names)
    feedback = _judge_previous(desk, by, thread, text, cue)
    memory = bring_back(desk, by, text, cue, read.analysis) if recalls else ()
    scene, scene_sub = read.analysis.scene, read.analysis.scene_sub
    frame = Frame(
        card="", ref="", thread=thread, tier=read.tier, perception=_perception(read), scene=scene, scene_sub=scene_sub,
        route=route_of(read.analysis), injection=injection_of(read.analysis),
        tags=tuple(dict.fromkeys(tag.name for tag in cue.tags.values())), waiting=cue.missing,
        malformed=cue.malformed, memory=memory, context="", context_summary=read.analysis.context_summary or text[:30],
        feedback=feedback, notes=notes,
    )  # fmt: skip
    frame = replace(frame, context=rendered(frame, text))
    if not (read.names or always):
        return replace(frame, notes=(*notes, "nothing in it can be found again, so no frame was written"))
    return _write_frame(desk, by, frame, text, cue, key, source_path)


class _Repeated(Exception):
    """The key was answered before; leaves the write block so that nothing is written."""

    def __init__(self, card: str, ref: str) -> None:
        super().__init__(card)
        self.card, self.ref = card, ref


def _write_frame(
    desk: Desk, by: Caller, frame: Frame, text: str, cue: Cue, key: str | None, source_path: str
) -> Frame:
    try:
        with desk.store.write(by, "turn_begin") as tx:
            said = fingerprint(tx, text, "").hex()
            _refuse_repetition(tx, by, key, said)
            memory_id = tx.next_id("memory")
            suffix = store.new_suffix(tx, memory_id)
            _open_frame(desk, tx, by, frame, text, memory_id, suffix, source_path)
            set_links(tx, memory_id, {tag.id for tag in cue.tags.values() if tag.is_recalled})
            card, ref = store.CARD + suffix, f"mem-{memory_id}@1"
            tx.describe(f"turn begins: {one_line(text, 100)}")
            if key:
                tx.conn.execute(
                    "INSERT OR REPLACE INTO idempotency (actor, key, op, at, answer) VALUES (?, ?, ?, ?, ?)",
                    (by.actor, key_of(key), tx.op, tx.at, dump({"card": card, "ref": ref, "said": said})),
                )
    except _Repeated as before:
        return replace(frame, card=before.card, ref=before.ref, notes=(*frame.notes, "answered before: same key"))
    return replace(frame, card=card, ref=ref)


def _refuse_repetition(tx: Tx, by: Caller, key: str | None, said: str) -> None:
    """Raise `_Repeated` when the key began a turn with the same text, unless that was taken back since.

    Raises invalid_argument when the key was used for something else.
    """
    if not key:
        return
    row = tx.conn.execute(
        "SELECT op, answer FROM idempotency WHERE actor = ? AND key = ?", (by.actor, key_of(key))
    ).fetchone()
    if row is None or row[0] in cancelled(tx.conn):
        return
    answer = json.loads(row[1])
    if answer.get("said") != said:
        raise invalid("this key was used for another text", "take a new key for each turn")
    raise _Repeated(str(answer["card"]), str(answer["ref"]))


def _open_frame(
    desk: Desk, tx: Tx, by: Caller, frame: Frame, text: str, memory_id: int, suffix: str, source_path: str
) -> None:
    turn: dict[str, object] = {
        "suffix": suffix, "path": overview_path(frame.thread, suffix), "tier": frame.tier, "route": frame.route,
        "injection": frame.injection, "waiting": list(frame.waiting),
        "context_summary": frame.context_summary,
    }  # fmt: skip
    if source_path:
        turn["source"] = source_path
    seq = tx.conn.execute("SELECT coalesce(max(seq), 0) + 1 FROM versions WHERE thread = ?", (frame.thread,))
    draft = Draft(
        one_line(text, 200), kind=Kind.EPISODE, status=Status.PENDING, thread=frame.thread, seq=seq.fetchone()[0],
        scene=frame.scene, scene_sub=frame.scene_sub, perception=dict(frame.perception), extra={"turn": turn},
    )  # fmt: skip
    prepared = prepare(draft, by, _UNADMITTED, tx.at)
    prepared.columns["fingerprint"] = fingerprint(tx, text, "")
    insert_memory(tx, prepared.columns, text=prepared.text, body="", state=State.ACTIVE, number=memory_id)
    store.open_event(
        tx,
        {
            "memory_id": memory_id, "thread": frame.thread, "suffix": suffix, "status": Status.PENDING.value,
            "route": frame.route, "context": frame.context_summary,
        },
        user_input=text if desk.settings.flag("turns.keep_text") else "",
    )  # fmt: skip


def _read(desk: Desk, text: str, given: object, analyst: Analyst | None) -> _Read:
    """Analyse a message by the first tier that finds a tag; perception of a better tier is kept (W7)."""
    own = read_analysis(given)
    names = quality_gate(tag.name for tag in own.tags).kept
    if names:
        return _Read(own, AGENT, names)
    if analyst is not None and not own.found:
        asked = read_analysis(ask(lambda: analyst.perceive(text, history(desk))))
        names = quality_gate(tag.name for tag in asked.tags).kept
        if names:
            return _Read(asked, MODEL, names)
        words = key_words(ask(lambda: analyst.keywords(text)))
        if kept := quality_gate(words).kept:
            return _Read(_plain(asked, text), KEYWORDS, kept)
    with desk.store.read() as conn:
        known = extracted(Vocabulary(conn), text).tags
    names = quality_gate(salient(text, known=known)).kept
    if own.found:
        return _Read(own, AGENT, names)
    return _Read(_plain(own, text) if names else own, LOCAL, names)


def _plain(analysis: Analysis, text: str) -> Analysis:
    """Return what the lower tiers say of a message: a query, summed up by its beginning (W7)."""
    perception = {**analysis.perception, "intent": "查询"}
    return replace(analysis, perception=perception, context_summary=text[:30], found=True)


def ask(question: Callable[[], str]) -> str:
    """Ask a model; whatever goes wrong there counts as no answer (W47)."""
    try:
        return str(question())
    except Exception:
        log.warning("the model gave no analysis", exc_info=True)
        return ""


def history(desk: Desk) -> str:
    """Return the last ten completed cards, one a line with summary and tags, or a mark that there are none (W9)."""
    with desk.store.read() as conn:
        rows = conn.execute(
            "SELECT e.memory_id FROM events e JOIN states s ON s.memory_id = e.memory_id AND s.op_to IS NULL"
            " AND s.state = 'active' WHERE e.op_to IS NULL AND e.status = 'completed' AND e.type = 'chat'"
            " ORDER BY e.event_id DESC LIMIT ?",
            (HISTORY,),
        ).fetchall()
        cards = load_memories(conn, [row[0] for row in rows], bodies=False)
    return "\n".join(f"- {m.description} [{', '.join(m.tags)}]" for m in cards) or NO_HISTORY


def _perception(read: _Read) -> Mapping[str, str]:
    return {**DEFAULTS, **read.analysis.perception}


def _judge_previous(desk: Desk, by: Caller, thread: str, text: str, cue: Cue) -> str:
    """Judge from what the user says now what the last card of the thread was worth, and note it (W56)."""
    with desk.store.read() as conn:
        before = store.previous_card(conn, thread, by.session)
        if before is None:
            return ""
        known = store.feedback_of(conn, [before])
        tags = {tag.key for tag in Vocabulary(conn).by_ids(tags_of(conn, before)).values()}
    if before in known and not is_explicit(text):
        return ""
    judged = judge_feedback(text, before=tags, now={tag.key for tag in cue.tags.values()})
    if not desk.store.read_only:
        with desk.store.exclusive() as conn:
            store.set_feedback(conn, before, judged)
    return judged
