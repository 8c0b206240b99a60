"""Batches of changes to the vocabulary by agents and upkeep: what is reversible is done, merges are proposed (W27)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engine.model.enums import TagStatus
from engine.model.errors import MemdeckError, invalid
from engine.model.memory import Caller
from engine.model.tags import ActionResult, Evolution
from engine.store.transaction import Tx
from engine.store.vocabulary import Vocabulary
from engine.usecases.desk import Desk
from engine.usecases.tag_fields import Fields, admit_texts
from engine.usecases.tag_merging import merge_work, open_merge_item
from engine.usecases.tagging import known_tag, move, read_level, refuse_held, relate_rows

MOST_ACTIONS = 100


class _Nothing(Exception):
    """Nothing of a batch was done; leaves the write block so that no operation stays."""


def evolve(desk: Desk, by: Caller, actions: Sequence[Mapping[str, object]]) -> Evolution:
    """Do a batch of actions in one operation; one that cannot be done is reported and the rest still run.

    An action is an object with `action` and `tag`: activate, deprecate (reason), relate (other, level), align
    (definition, dimensions, synonyms, type), or merge (target; waits for the owner: needs_human). At most MOST_ACTIONS.
    """
    refuse_held(desk, by)
    if len(actions) > MOST_ACTIONS:
        raise invalid(f"{len(actions)} actions at once; at most {MOST_ACTIONS}", "send them in several calls")
    results: list[ActionResult] = []
    try:
        with desk.store.write(by, "tag_evolve") as tx:
            done = [_attempt(desk, tx, by, number, action, results) for number, action in enumerate(actions, 1)]
            if not any(done):
                raise _Nothing
            tx.describe(f"{sum(done)} of {len(actions)} changes to tags")
            return Evolution(tx.op, tuple(results))
    except _Nothing:
        return Evolution(None, tuple(results))


def _attempt(
    desk: Desk, tx: Tx, by: Caller, number: int, action: Mapping[str, object], results: list[ActionResult]
) -> bool:
    """Do one action and note what became of it; tell whether anything was written."""
    name = str(action.get("action", ""))
    try:
        with tx.attempt():
            do = _ACTIONS.get(name)
            if do is None:
                raise invalid(f"action={name[:40]!r} is not known", f"one of: {', '.join(_ACTIONS)}")
            result, written = do(desk, tx, by, number, action)
    except MemdeckError as error:
        result, written = ActionResult(number, name[:40], False, error.code, error.message), False
    results.append(result)
    return written


_Done = tuple[ActionResult, bool]


def _activate(desk: Desk, tx: Tx, by: Caller, number: int, action: Mapping[str, object]) -> _Done:
    move(tx, by, _text(action, "tag"), TagStatus.ACTIVE)
    return ActionResult(number, "activate", True), True


def _deprecate(desk: Desk, tx: Tx, by: Caller, number: int, action: Mapping[str, object]) -> _Done:
    if not _text(action, "reason", needed=False).strip():
        raise invalid("reason is missing", "say why the tag tells nothing apart")
    move(tx, by, _text(action, "tag"), TagStatus.DEPRECATED)
    return ActionResult(number, "deprecate", True, message=_text(action, "reason")), True


def _relate(desk: Desk, tx: Tx, by: Caller, number: int, action: Mapping[str, object]) -> _Done:
    level = read_level(_text(action, "level"))
    _, notes = relate_rows(tx, _text(action, "tag"), _text(action, "other"), level)
    return ActionResult(number, "relate", True, message="; ".join(notes)), not notes


def _align(desk: Desk, tx: Tx, by: Caller, number: int, action: Mapping[str, object]) -> _Done:
    given = {k: v for k, v in action.items() if k in ("type", "definition", "dimensions", "synonyms")}
    fields = Fields.read(given)
    admit_texts(desk, by, fields.definition, *fields.synonyms.values())
    changed = fields.fill(tx, known_tag(Vocabulary(tx.conn), _text(action, "tag")))
    return ActionResult(number, "align", True, message="" if changed else "nothing changed"), changed


def _merge(desk: Desk, tx: Tx, by: Caller, number: int, action: Mapping[str, object]) -> _Done:
    given = action.get("sources")
    sources = [str(s) for s in given] if isinstance(given, list | tuple) else [_text(action, "tag")]
    work = merge_work(tx.conn, sources, _text(action, "target"))
    item = open_merge_item(tx, work, _text(action, "reason", needed=False))
    told = "only the owner merges tags; the proposal waits"
    return ActionResult(number, "merge", False, "needs_human", told, item), True


_ACTIONS: Mapping[str, Callable[[Desk, Tx, Caller, int, Mapping[str, object]], _Done]] = {
    "activate": _activate,
    "deprecate": _deprecate,
    "relate": _relate,
    "align": _align,
    "merge": _merge,
}


def _text(action: Mapping[str, object], name: str, *, needed: bool = True) -> str:
    value = action.get(name, "")
    if not isinstance(value, str) or (needed and not value.strip()):
        raise invalid(f"{name} is missing", f"give {name} as a text")
    return value
