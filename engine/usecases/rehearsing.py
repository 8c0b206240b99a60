"""What changed settings would change: recent questions asked again under both, nothing written (design: rehearsal)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.model.enums import Origin
from engine.model.errors import invalid
from engine.model.memory import Caller, RecallQuery
from engine.model.receipts import Rehearsal, Replayed
from engine.settings import check
from engine.store.ephemeral import KEPT_QUESTIONS, Question, recent_questions
from engine.usecases.changing import require_owner
from engine.usecases.contexts import context
from engine.usecases.desk import Desk
from engine.usecases.reading import recall


def rehearse(desk: Desk, by: Caller, changes: Mapping[str, object], limit: int = 50) -> Rehearsal:
    """Return which results of the last `limit` different questions would come and go under changed settings.

    Questions of agents are asked again as they were, searches for what recall lists, others for what a first pack
    holds, against the store as it is now. Raises invalid_argument for a setting or value that cannot be.
    """
    require_owner(by, "rehearse settings")
    if not changes:
        raise invalid("no setting is to be changed", "name at least one: recall.limit=5")
    if not 1 <= limit <= KEPT_QUESTIONS:
        raise invalid(f"limit={limit} is not between 1 and {KEPT_QUESTIONS}", "leave it out for fifty")
    checked = {name: check(name, value) for name, value in changes.items()}
    other = replace(desk, settings=desk.settings.changed(checked))
    desk.backlog.flush()
    with desk.store.read() as conn:
        asked = recent_questions(conn, KEPT_QUESTIONS)
    different = list({(q.kind, q.actor, q.workspace, q.text): q for q in reversed(asked)}.values())[::-1][:limit]
    changed = []
    for question in different:
        now, then = _found(desk, question), _found(other, question)
        goes, comes = (tuple(id_ for id_ in mine if id_ not in theirs) for mine, theirs in ((now, then), (then, now)))
        if goes or comes:
            changed.append(Replayed(question.kind, question.actor, question.text, goes, comes))
    return Rehearsal(checked, len(different), tuple(changed))


def _found(desk: Desk, question: Question) -> tuple[int, ...]:
    by = Caller(Origin.AGENT, question.actor, workspace=question.workspace)
    if question.kind == "recall":
        page = recall(desk, by, RecallQuery(question.text, limit=desk.settings.number("recall.limit")))
        return tuple(hit.memory.id for hit in page.hits)
    return context(desk, by, question.text, preview=True).injected
