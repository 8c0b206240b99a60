"""What is counted beside the memories: how often they were found, read and used, and what sessions were given (S43)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.model.errors import MemdeckError, invalid
from engine.model.memory import Caller, Page, RecallPage, RecallQuery
from engine.model.receipts import FEEDBACK
from engine.model.records import MemoryUse, SessionUse
from engine.rules.tag_score import REJECTED
from engine.store import ephemeral
from engine.store.ephemeral import Question
from engine.store.rows import load_memories
from engine.usecases.desk import Desk, current, may_see, resolve

RESET = "reset"
"""Takes back what was kept of a memory."""


def note_recall(desk: Desk, by: Caller, query: RecallQuery, page: RecallPage) -> None:
    """Count what an agent's question found; the owner's own looking around counts for nothing."""
    if by.is_owner:
        return
    now, ids = desk.store.clock.now_ms(), tuple(hit.memory.id for hit in page.hits)
    desk.backlog.count("recalls", ids, now)
    if query.text.strip():
        desk.backlog.ask(Question(now, "recall", by.actor, by.workspace, query.text, ids))


def note_read(desk: Desk, by: Caller, page: Page) -> None:
    """Count that an agent read a memory's text."""
    if not by.is_owner:
        desk.backlog.count("read", (page.memory.id,), desk.store.clock.now_ms())


def report_use(desk: Desk, by: Caller, refs: Sequence[str]) -> int:
    """Count memories that an agent says it made use of; returns how many. Raises not_found, then nothing counts."""
    ids = tuple(dict.fromkeys(resolve(desk, by, ref).id for ref in refs))
    desk.backlog.count("used", ids, desk.store.clock.now_ms())
    return len(ids)


def report_feedback(desk: Desk, by: Caller, ref: str, word: str) -> str:
    """Keep what became of a memory, or have the owner take that back with RESET; returns the word kept, else "" (W37).

    It changes no revision and no journalled row. Raises not_found, invalid_argument for another word, read_only, and
    locked where an agent rejects what the owner pinned: rejecting takes it out of sight (S49).
    """
    allowed = (*FEEDBACK, RESET) if by.is_owner else FEEDBACK
    if word not in allowed:
        raise invalid(f"feedback={word[:40]!r} is not known", f"one of: {', '.join(allowed)}")
    memory = current(desk, by, resolve(desk, by, ref))
    if word == REJECTED and memory.locked and not by.is_owner:
        raise MemdeckError("locked", f"mem-{memory.id} is locked", "tell the owner what is wrong with it")
    kept = None if word == RESET else word
    with desk.store.exclusive() as conn:
        ephemeral.set_feedback(conn, memory.id, kept)
    return kept or ""


def feedback(desk: Desk, by: Caller) -> dict[int, str]:
    """Return what is kept of memories that the caller may see, the newest memory first."""
    with desk.store.read() as conn:
        kept = ephemeral.all_feedback(conn)
        seen = {m.id for m in load_memories(conn, list(kept), bodies=False) if may_see(by, m)}
    return {id_: word for id_, word in kept.items() if id_ in seen}


def usage(desk: Desk, ids: Sequence[int]) -> dict[int, MemoryUse]:
    """Return the numbers of memories; what was never counted has only zeros."""
    desk.backlog.flush()
    with desk.store.read() as conn:
        found = ephemeral.read_usage(conn, ids)
    return {
        id_: MemoryUse(u.injected, u.read, u.used, u.recalls, u.last_recall, u.feedback or "")
        for id_ in ids
        for u in [found.get(id_, ephemeral.Usage())]
    }


def sessions(desk: Desk, limit: int = 20) -> list[SessionUse]:
    """Return what the last sessions were given, newest first."""
    desk.backlog.flush()
    with desk.store.read() as conn:
        return [_session(ledger) for ledger in ephemeral.read_ledgers(conn, limit)]


def session_numbers(desk: Desk, by: Caller) -> dict[str, object]:
    """Return what this session was given; for a caller without one, what each agent and the last sessions were."""
    with desk.store.read() as conn:
        if by.session is not None:
            own = desk.backlog.ledger(conn, by.session)
            return {"injected_tokens": own.tokens if own else 0, "packs": own.packs if own else 0}
    given = sessions(desk)
    with desk.store.read() as conn:
        by_agent = ephemeral.tokens_by_actor(conn)
    return {
        "injected_tokens_by_agent": by_agent,
        "sessions": [{"session": s.session, "agent": s.agent, "tokens": s.tokens, "packs": s.packs} for s in given],
    }


def _session(ledger: ephemeral.Ledger) -> SessionUse:
    return SessionUse(
        ledger.session, ledger.actor, ledger.workspace, ledger.at, ledger.packs, ledger.tokens,
        ledger.body_bytes + ledger.card_bytes,
    )  # fmt: skip
