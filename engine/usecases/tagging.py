"""The vocabulary's own changes: add, edit, relate, activate, deprecate; agents act only reversibly (W14-W29, R4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.model.enums import Origin, TagLevel, TagStatus, TagType
from engine.model.errors import MemdeckError, invalid
from engine.model.memory import Caller
from engine.model.tags import TagResult
from engine.rules.tag_relations import is_upgrade
from engine.rules.tagging import MAX_NAME
from engine.rules.textnorm import clean_input, clip
from engine.store.tags import change_tag, level_between, set_level
from engine.store.transaction import Tx
from engine.store.vocabulary import Tag, Vocabulary
from engine.usecases.changing import require_owner
from engine.usecases.desk import Desk
from engine.usecases.tag_fields import Fields, admit_texts, check_name
from engine.usecases.tag_links import begin_tag, propose_relation, propose_relations


class Unchanged(Exception):
    """Nothing is to be written; leaves the write block with the answer."""

    def __init__(self, result: TagResult) -> None:
        super().__init__("nothing changes")
        self.result = result


def known_tag(vocabulary: Vocabulary, text: str) -> Tag:
    """Return the tag of a code or name, or raise unknown_tag."""
    tag = vocabulary.find(text) if text.strip() else None
    if tag is None:
        shown = clip(" ".join(clean_input(text).split()), MAX_NAME)
        raise MemdeckError("unknown_tag", f"there is no tag {shown!r}", "list tags, or add it first", tag=shown)
    return tag


def standing_tag(vocabulary: Vocabulary, text: str) -> Tag:
    """Return a tag that is recalled, or raise unknown_tag or tag_deprecated."""
    tag = known_tag(vocabulary, text)
    if tag.status is TagStatus.DEPRECATED:
        raise deprecated(tag)
    return tag


def deprecated(tag: Tag) -> MemdeckError:
    """Make the error for a tag that only the owner can bring back."""
    return MemdeckError(
        "tag_deprecated",
        f"tag {tag.name!r} is deprecated",
        "use another tag; the owner can reactivate it",
        tag=tag.name,
    )


def add_tag(
    desk: Desk,
    by: Caller,
    name: str,
    *,
    kind: str = "",
    definition: str = "",
    dimensions: Sequence[str] = (),
    synonyms: Sequence[str] = (),
) -> TagResult:
    """Add a tag, or return the one that any spelling of the name stands for, with what is given filled in (W14).

    Raises invalid_argument for a name that is none, tag_deprecated for anybody but the owner (W24), generic_rule for
    a word that fits everything.
    """
    fields = Fields.read({"type": kind, "definition": definition, "dimensions": dimensions, "synonyms": synonyms})
    check_name(by, name)
    admit_texts(desk, by, name, definition, *synonyms)
    refuse_held(desk, by)
    try:
        with desk.store.write(by, "tag_add") as tx:
            tag = Vocabulary(tx.conn).find(name)
            note = "" if tag is None else _take_up(tx, by, tag)
            if tag is None:
                tag = begin_tag(tx, name, fields.kind or TagType.CONTENT)
                propose_relations(tx, [tag])
            if not fields.fill(tx, tag) and note == EXISTS:
                raise Unchanged(_result(tag, None, (note,)))
            tx.describe(f"added tag {tag.name}")
            return _result(_again(tx, tag), tx.op, (note,) if note else ())
    except Unchanged as unchanged:
        return unchanged.result


EXISTS = "it exists already"


def _take_up(tx: Tx, by: Caller, tag: Tag) -> str:
    """Say what becomes of a tag that is added again: a deprecated one comes back for the owner (W24)."""
    if tag.status is not TagStatus.DEPRECATED:
        return EXISTS
    if not by.is_owner:
        raise deprecated(tag)
    change_tag(tx, tag, status=TagStatus.ACTIVE)
    return "it was deprecated and is active again"


def edit_tag(desk: Desk, by: Caller, name: str, changes: Mapping[str, object]) -> TagResult:
    """Align a tag: fill only the fields given; an empty one never overwrites, synonyms are added (W19, W29).

    Fields: type, definition, dimensions, synonyms; `remove_synonyms` is the owner's. Raises unknown_tag,
    invalid_argument.
    """
    fields = Fields.read(changes)
    if fields.removed:
        require_owner(by, "remove synonyms")
    admit_texts(desk, by, fields.definition, *fields.synonyms.values())
    refuse_held(desk, by)
    try:
        with desk.store.write(by, "tag_edit") as tx:
            tag = known_tag(Vocabulary(tx.conn), name)
            if not fields.fill(tx, tag):
                raise Unchanged(_result(tag, None, ("nothing changed",)))
            tx.describe(f"edited tag {tag.name}: {', '.join(changes)}")
            return _result(_again(tx, tag), tx.op)
    except Unchanged as unchanged:
        return unchanged.result


def relate(desk: Desk, by: Caller, one: str, other: str, level: str) -> TagResult:
    """Relate two tags, for both sides; only upwards, a weaker level is ignored (W21).

    Raises unknown_tag, self_relation, tag_deprecated, invalid_argument. Where every write of agents waits, an agent's
    becomes a proposal.
    """
    wanted = read_level(level)
    try:
        with desk.store.write(by, "tag_relate") as tx:
            held = _is_held(desk, by)
            tag, notes = relate_rows(tx, one, other, wanted, propose=held)
            if notes and not (held and notes[0] == PROPOSED):
                raise Unchanged(_result(tag, None, notes))
            tx.describe(f"{'proposed' if held else 'related'} {one} – {other}: {wanted.value}")
            return _result(tag, tx.op, notes)
    except Unchanged as unchanged:
        return unchanged.result


PROPOSED = "it waits for the owner, who decides"


def read_level(level: str) -> TagLevel:
    """Return a level by its word, or raise invalid_argument."""
    try:
        return TagLevel(level.strip().lower())
    except ValueError:
        raise invalid(f"level={level!r} is not known", f"one of: {', '.join(TagLevel)}") from None


def relate_rows(tx: Tx, one: str, other: str, level: TagLevel, *, propose: bool = False) -> tuple[Tag, tuple[str, ...]]:
    """Write a relation as part of an operation; a note says why nothing was written."""
    vocabulary = Vocabulary(tx.conn)
    a, b = standing_tag(vocabulary, one), standing_tag(vocabulary, other)
    if a.id == b.id:
        raise MemdeckError("self_relation", f"{one!r} and {other!r} are the same tag", "relate two different tags")
    now = level_between(tx.conn, a.id, b.id)
    if not is_upgrade(now, level):
        return a, (f"they are {now.value if now else ''} already; a weaker level is ignored",)
    if propose:
        opened = propose_relation(tx, a, b, level=level, evidence={})
        return a, (PROPOSED,) if opened else ("it was proposed before",)
    set_level(tx, a.id, b.id, level)
    return a, ()


def unrelate(desk: Desk, by: Caller, one: str, other: str) -> TagResult:
    """End the relation of two tags; the owner's alone, as relations only rise otherwise."""
    require_owner(by, "end a relation")
    with desk.store.write(by, "tag_unrelate") as tx:
        vocabulary = Vocabulary(tx.conn)
        a, b = known_tag(vocabulary, one), known_tag(vocabulary, other)
        if level_between(tx.conn, a.id, b.id) is None:
            raise invalid(f"{a.name!r} and {b.name!r} are not related", "nothing to do")
        set_level(tx, a.id, b.id, None)
        tx.describe(f"ended the relation {a.name} – {b.name}")
        return _result(a, tx.op)


def set_status(desk: Desk, by: Caller, name: str, status: TagStatus, *, reason: str = "") -> TagResult:
    """Activate, deprecate or (the owner) reactivate a tag; raises exists when it stands there already (W23, W24)."""
    kind = "tag_deprecate" if status is TagStatus.DEPRECATED else "tag_activate"
    refuse_held(desk, by)
    with desk.store.write(by, kind, reason=reason) as tx:
        tag = move(tx, by, name, status)
        tx.describe(f"{'deprecated' if status is TagStatus.DEPRECATED else 'activated'} tag {tag.name}")
        return _result(tag, tx.op)


def reactivate(desk: Desk, by: Caller, name: str) -> TagResult:
    """Bring a deprecated tag back; the owner only (W24)."""
    require_owner(by, "bring a deprecated tag back")
    with desk.store.read() as conn:
        tag = known_tag(Vocabulary(conn), name)
    if tag.status is not TagStatus.DEPRECATED:
        raise MemdeckError("exists", f"tag {tag.name!r} is {tag.status.value}", "nothing to bring back")
    return set_status(desk, by, name, TagStatus.ACTIVE)


def move(tx: Tx, by: Caller, name: str, status: TagStatus) -> Tag:
    """Move a tag to a status as part of an operation. Agents leave system tags alone and bring nothing back."""
    tag = known_tag(Vocabulary(tx.conn), name)
    if tag.status is status:
        raise MemdeckError("exists", f"tag {tag.name!r} is {status.value} already", "nothing to do")
    if status is TagStatus.DEPRECATED and tag.source == "system" and not by.is_owner:
        raise MemdeckError("reserved", f"{tag.name!r} is a tag of the system", "only the owner can deprecate it")
    if tag.status is TagStatus.DEPRECATED and not by.is_owner:
        raise deprecated(tag)
    change_tag(tx, tag, status=status)
    return _again(tx, tag)


def _is_held(desk: Desk, by: Caller) -> bool:
    return by.origin is Origin.AGENT and desk.settings.word("review.agents") == "all"


def refuse_held(desk: Desk, by: Caller) -> None:
    """Raise needs_human for an agent where every write of agents waits."""
    if _is_held(desk, by):
        raise MemdeckError("needs_human", "every write of agents waits for review here", "tell the owner about the tag")


def _again(tx: Tx, tag: Tag) -> Tag:
    return Vocabulary(tx.conn).by_ids([tag.id])[tag.id]


def _result(tag: Tag, op: int | None, notes: Sequence[str] = ()) -> TagResult:
    return TagResult(tag.code, tag.name, tag.status, op, tuple(notes))
