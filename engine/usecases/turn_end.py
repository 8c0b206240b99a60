"""The completion of a turn: it writes what is at hand and puts what takes time aside, in one operation (W44-W51)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.model.enums import Origin, ReviewKind, State, Status
from engine.model.errors import MemdeckError, not_found
from engine.model.ids import parse_ref
from engine.model.memory import Caller, Memory, WriteResult
from engine.model.turns import Analysis
from engine.rules.admission import Checks, admit
from engine.rules.digest import fallback_summary, local_overview
from engine.rules.perception import read_analysis
from engine.rules.textnorm import clip, one_line
from engine.store import turns as store
from engine.store.memories import fingerprint, new_version, set_state
from engine.store.review import open_item
from engine.store.rows import load_memories
from engine.store.transaction import Tx
from engine.usecases.beginning import WAITS, note_blocked, refuse_forgotten
from engine.usecases.desk import Desk, reload
from engine.usecases.drafts import gate
from engine.usecases.turn_analysis import apply_analysis
from engine.usecases.turn_text import clean_text, without_secrets
from engine.usecases.turns import AGENT, LOCAL, begin_turn

ENDS = (Status.COMPLETED, Status.INTERRUPTED, Status.FAILED)


def end_turn(
    desk: Desk,
    by: Caller,
    card: str,
    *,
    response: str,
    user_input: str | None = None,
    status: str = Status.COMPLETED,
    analysis: object = None,
    error: str = "",
) -> WriteResult:
    """Complete a frame and return at once; what takes time waits as a job of the same operation (W44, W50, W51).

    Ending a turn twice changes nothing (W48). `user_input` None keeps the message of the beginning. The answer's state
    is active, quarantined or pending. Raises not_found for an unknown card (W46), invalid_status for an unknown status
    (W45), needs_human for a turn that was forgotten before.
    """
    if status not in ENDS:
        shown = ", ".join(ENDS)
        raise MemdeckError("invalid_status", f"a turn cannot end as {str(status)[:40]!r}", f"one of: {shown}")
    memory = _card(desk, card)
    if memory.status is not Status.PENDING:
        return _ended_already(memory)
    answer, notes = clean_text(desk.settings, by, response)
    asked = None
    if user_input is not None:
        asked, said = clean_text(desk.settings, by, user_input)
        notes = tuple(dict.fromkeys((*notes, *said)))
    found = read_analysis(without_secrets(desk.settings, by, analysis))
    fault = one_line(clean_text(desk.settings, by, error)[0], 200) if error else ""
    try:
        with desk.store.write(by, "turn_end") as tx:
            return _complete(desk, tx, by, _Ending(memory.id, asked, answer, Status(status), found, fault, notes))
    except _Ended as ended:
        return _ended_already(ended.memory)
    except MemdeckError as refused:
        if refused.code == "needs_human":
            note_blocked(desk, str(refused.params["fingerprint"]), by)
        raise


def save_turn(
    desk: Desk,
    by: Caller,
    message: str,
    response: str,
    *,
    thread: str = "",
    analysis: object = None,
    source_path: str = "",
    key: str | None = None,
) -> WriteResult:
    """Store a turn that is over, with both texts; nothing is looked up for it (W49).

    A process that is killed in between leaves a frame, which the same `key` completes.
    """
    frame = begin_turn(
        desk, by, message, thread=thread, analysis=analysis, key=key, recalls=False, always=True,
        source_path=clean_text(desk.settings, by, source_path)[0],
    )  # fmt: skip
    return end_turn(desk, by, frame.card, response=response, analysis=analysis)


@dataclass(frozen=True)
class _Ending:
    """What a completion brings."""

    memory_id: int
    asked: str | None
    answer: str
    status: Status
    analysis: Analysis
    fault: str
    notes: tuple[str, ...]


class _Ended(Exception):
    """Somebody else ended the turn meanwhile."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory.ref)
        self.memory = memory


def _ended_already(memory: Memory) -> WriteResult:
    state = "active" if memory.state is State.ACTIVE else memory.state.value
    note = f"already_completed: the turn ended as {memory.status.value}"
    return WriteResult(memory.ref, memory.id, memory.revision, state, None, (note,))


def _card(desk: Desk, card: str) -> Memory:
    """Return the memory of a turn by its id or reference; raises not_found for anything that is no turn (W46)."""
    with desk.store.read() as conn:
        suffix = store.suffix_of(card.strip())
        ref = parse_ref(card)
        number = store.memory_of(conn, suffix) if suffix is not None else ref.id if ref else None
        found = load_memories(conn, [number]) if number is not None and number < 1 << 62 else []
        if not found or store.event_of(conn, found[0].id) is None:
            raise not_found(f"turn {clip(card, 60)!r}", "take the card's id from the answer to turn begin")
    return found[0]


def _complete(desk: Desk, tx: Tx, by: Caller, ending: _Ending) -> WriteResult:
    memory = reload(tx, ending.memory_id)
    event = store.event_of(tx.conn, memory.id)
    if memory.status is not Status.PENDING or event is None:
        raise _Ended(memory)
    if memory.state is not State.ACTIVE:
        raise not_found(f"turn mem-{memory.id}", f"it was {memory.state.value} meanwhile; begin another one")
    # Where no text is kept the beginning's first sentence has to stand for the question.
    asked = ending.asked if ending.asked is not None else event.input or memory.description
    print_ = fingerprint(tx, asked, ending.answer)
    refuse_forgotten(tx, by, print_)
    done = ending.status is Status.COMPLETED
    keep = desk.settings.flag("turns.keep_text")
    store.finish_event(
        tx, event.id, status=ending.status.value, user_input=ending.asked, response=ending.answer, keep=keep
    )
    plain: dict[str, object] = {
        "status": ending.status.value, "fingerprint": print_,
        "description": fallback_summary(asked, ending.answer, ending.fault) or memory.description,
        "body": local_overview(asked, ending.answer) if done else "",
    }  # fmt: skip
    notes, state = list(ending.notes), "active"
    if done:
        cause = _cause(desk, by, f"{asked}\n{ending.answer}\n{_words(ending.analysis)}")
        if cause:
            new_version(tx, memory.id, plain)
            set_state(tx, memory.id, State.QUARANTINED, cause)
            item = open_item(
                tx, ReviewKind.QUARANTINE, f"quarantine:{memory.id}", title=one_line(asked, 200), memory_id=memory.id,
                evidence={"cause": cause}, proposal={},
            )  # fmt: skip
            state = "quarantined" if cause == "injection" else "pending"
            notes.append(f"{_CAUSES[cause]}: {WAITS}")
        else:
            item = None
            notes += _settle(desk, tx, memory, ending.analysis, plain)
            text = {} if keep else {"input": asked, "response": ending.answer}
            store.queue_job(tx.conn, {"memory": memory.id, "analysed": ending.analysis.found, **text}, tx.at)
    else:
        item = None
        new_version(tx, memory.id, plain)
    tx.describe(f"turn ends ({ending.status.value}): {one_line(ending.answer or asked, 80)}")
    now = reload(tx, memory.id, bodies=False)
    return WriteResult(now.ref, now.id, now.revision, state, tx.op, tuple(notes), review=item)


_CAUSES = {"injection": "it reads like orders to an agent", "review": "every agent write waits for review"}


def _cause(desk: Desk, by: Caller, text: str) -> str:
    """Return why a completed turn has to wait for the owner; empty when it need not."""
    checks = gate(desk.settings, by)
    if checks.injection and admit(text, checks=Checks(noise=False, secret=False)).check == "injection":
        return "injection"
    held = by.origin is Origin.AGENT and desk.settings.word("review.agents") == "all"
    return "review" if held else ""


def _settle(desk: Desk, tx: Tx, memory: Memory, analysis: Analysis, plain: Mapping[str, object]) -> list[str]:
    """Apply the caller's analysis and let the names that waited become tags; a fault there loses no turn (W47)."""
    tier = AGENT if analysis.found else LOCAL
    try:
        with tx.attempt():
            return [f"analysed by {tier}", *apply_analysis(desk, tx, memory, analysis, plain)]
    except MemdeckError as error:
        new_version(tx, memory.id, plain)
        return [f"analysis_failed: {error.message}"]


def _words(analysis: Analysis) -> str:
    parts = [analysis.summary, analysis.overview, analysis.context_summary, *(t.name for t in analysis.tags)]
    return "\n".join([*parts, *(f"{p.key} {p.value}" for p in analysis.preferences)])
