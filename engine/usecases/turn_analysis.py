"""What an analysis makes of a completed turn: summary, overview, scene, tags, preferences, relations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from engine.model.enums import Origin, TagLevel, TagStatus, TagType
from engine.model.errors import MemdeckError
from engine.model.memory import Memory
from engine.model.turns import Analysis, TagDraft, TagTie
from engine.rules.digest import short_summary
from engine.rules.perception import kept_preferences
from engine.rules.tagging import dimension_words, quality_gate, tag_key
from engine.rules.textnorm import clip
from engine.store import turns as store
from engine.store.memories import new_version
from engine.store.rows import dump
from engine.store.tags import change_tag
from engine.store.transaction import Tx
from engine.store.vocabulary import Tag, Vocabulary
from engine.usecases.desk import Desk
from engine.usecases.tag_links import tag_memory
from engine.usecases.tagging import relate_rows

RELATED = 0.5
"""A tie of at least this strength relates two tags; a weaker one is loose (W3)."""

MAX_OVERVIEW = 2_000


def apply_analysis(
    desk: Desk, tx: Tx, memory: Memory, analysis: Analysis, plain: Mapping[str, object] | None = None
) -> list[str]:
    """Write what an analysis says of a turn, as part of an operation; returns what is to be said of it.

    `plain` are columns that are written along with it, and stand where the analysis says nothing. Empty fields leave
    what is there, the scene of the frame included (W29, W33). Names that waited become tags now.
    """
    turn = turn_of(memory)
    notes = _tags(tx, memory, analysis, turn)
    kept = kept_preferences(analysis.preferences)
    if len(kept) < len(analysis.preferences):
        notes.append(f"{len(analysis.preferences) - len(kept)} preferences were too uncertain, or given twice")
    store.put_preferences(tx, memory.id, kept)
    notes += _relations(desk, tx, analysis.relations)
    if analysis.feedback and memory.thread is not None:
        event = store.event_of(tx.conn, memory.id)
        before = store.previous_card(tx.conn, memory.thread, tx.by.session, event.id if event else None)
        if before is not None:
            store.set_feedback(tx.conn, before, analysis.feedback)
    ties = [{"from": t.one, "to": t.other, "strength": t.strength} for t in analysis.relations]
    changes: dict[str, object] = dict(plain or {}) | {
        "extra": dump({**memory.extra, "turn": {**turn, "waiting": [], **({"relation_tags": ties} if ties else {})}})
    }
    if analysis.summary:
        changes["description"] = short_summary(analysis.summary)
    if analysis.overview:
        changes["body"] = clip(analysis.overview, MAX_OVERVIEW)
    if analysis.scene:
        # Another scene takes its own sub-scene, or none: the frame's belonged to the old one.
        same = analysis.scene == memory.scene
        changes |= {"scene": analysis.scene, "scene_sub": analysis.scene_sub or (memory.scene_sub if same else "")}
    elif analysis.scene_sub:
        changes["scene_sub"] = analysis.scene_sub
    if analysis.perception:
        changes["perception"] = dump({**memory.perception, **analysis.perception})
    new_version(tx, memory.id, changes)
    return notes


def turn_of(memory: Memory) -> Mapping[str, object]:
    """Return what a card keeps of its turn beside the memory's own fields."""
    turn = memory.extra.get("turn")
    return turn if isinstance(turn, Mapping) else {}


def waiting_names(memory: Memory) -> list[str]:
    """Return the names of a card that are no tags yet (R5)."""
    names = turn_of(memory).get("waiting")
    return [str(name) for name in names] if isinstance(names, list) else []


def _tags(tx: Tx, memory: Memory, analysis: Analysis, turn: Mapping[str, object]) -> list[str]:
    names = [*(tag.name for tag in analysis.tags), *memory.tags, *waiting_names(memory)]
    gate = quality_gate(names)
    tagged = tag_memory(tx, memory.id, gate.kept)
    given = {tag_key(tag.name): tag for tag in analysis.tags}
    found = Vocabulary(tx.conn).resolve(gate.kept)
    for name, tag in found.items():
        draft = given.get(tag_key(name))
        if draft is not None and tag.key == tag_key(name):
            _define(tx, tag, draft)
    refused = [f"tag {name!r} was left out: {why}" for name, why in gate.refused if tag_key(name) in given]
    return [*tagged.notes, *refused]


def _define(tx: Tx, tag: Tag, draft: TagDraft) -> None:
    """Fill what a tag lacks with what an analysis says of it; nothing that is there is overwritten (W29, W44)."""
    synonyms = {tag_key(s): s for s in quality_gate(draft.synonyms, most=4).kept if tag_key(s) != tag.key}
    kinds = tuple(TagType)
    fresh = tag.status is TagStatus.UNEXAMINED and not tag.definition
    change_tag(
        tx, tag,
        definition=None if tag.definition else "；".join(draft.definitions)[:200] or None,
        dimensions=None if tag.dimensions else dimension_words(draft.dimensions) or None,
        synonyms=synonyms if synonyms and not tag.synonyms else None,
        type=TagType(draft.type) if fresh and draft.type in kinds else None,
    )  # fmt: skip


def _relations(desk: Desk, tx: Tx, ties: Iterable[TagTie]) -> list[str]:
    """Relate tags as an analysis says; what cannot be related is said and the rest goes on (W21)."""
    held = tx.by.origin is not Origin.TUI and desk.settings.word("review.agents") == "all"
    notes = []
    for tie in ties:
        level = TagLevel.RELATED if tie.strength >= RELATED else TagLevel.LOOSE
        try:
            with tx.attempt():
                relate_rows(tx, tie.one, tie.other, level, propose=held)
        except MemdeckError as error:
            notes.append(f"{error.code}: {error.message}")
    return notes
