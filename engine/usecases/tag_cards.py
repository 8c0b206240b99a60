"""Cards by tags: the best for those of a text, for names or for codes, and all that carry some (W30, W35, W42)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from engine.model.enums import Mode
from engine.model.errors import invalid
from engine.model.memory import Caller, Filter, Hit
from engine.model.tags import TagCards
from engine.recall.candidates import Candidates
from engine.recall.tags import CONSIDERED, Cue, extracted, match_top, named
from engine.store.rows import load_memories
from engine.store.selection import recall_selection
from engine.store.vocabulary import Vocabulary
from engine.usecases.desk import Desk
from engine.usecases.reading import memory_ids


def match_tags(
    desk: Desk,
    by: Caller,
    text: str,
    tags: Sequence[str] | None,
    *,
    codes: Sequence[str] = (),
    scene: str = "",
    scene_sub: str = "",
    top: int,
) -> TagCards:
    """Return at most `top` cards for `codes`, else for `tags`, else for the tags that stand in `text`; writes nothing.

    Only completed memories that the caller may recall are considered. No tag at all finds nothing (W13).
    """
    if not 1 <= top <= CONSIDERED:
        raise invalid(f"top={top} is not between 1 and {CONSIDERED}", "leave it out for three")
    now = desk.store.clock.now_ms()
    chosen = recall_selection(by, Mode.CURRENT, Filter(), valid_ms=now, known=None, moved=False, everywhere=by.is_owner)
    with desk.store.read() as conn:
        vocabulary = Vocabulary(conn)
        cue = _cue(vocabulary, text, tags, codes)
        where = Candidates(chosen.sql, chosen.values)
        match = match_top(vocabulary, cue, where=where, now_ms=now, scene=scene, scene_sub=scene_sub, top=top)
        memories = {m.id: m for m in load_memories(conn, [hit.memory_id for hit in match.hits])}
    hits = tuple(
        Hit(memories[hit.memory_id], hit.score.total, hit.why, parts=hit.parts())
        for hit in match.hits
        if hit.memory_id in memories
    )
    return TagCards(hits, match.codes, cue.missing, cue.dropped, cue.malformed)


def _cue(vocabulary: Vocabulary, text: str, tags: Sequence[str] | None, codes: Sequence[str]) -> Cue:
    if codes:
        found = {code: vocabulary.by_code(code) for code in codes}
        names = [tag.name for tag in found.values() if tag is not None]
        cue = named(vocabulary, names)
        return Cue(cue.tags, tuple(code for code, tag in found.items() if tag is None), cue.dropped, cue.malformed)
    return extracted(vocabulary, text) if tags is None else named(vocabulary, tags)


def tagged(desk: Desk, by: Caller, tags: Sequence[str], *, every: bool) -> array[int]:
    """Return the memories that carry every one of `tags`, or any of them, newest first, as a list shows them (W30)."""
    if not every or not tags:
        return memory_ids(desk, by, Filter(tags=tuple(tags))) if tags else array("q")
    first, *others = (memory_ids(desk, by, Filter(tags=(tag,))) for tag in tags)
    common = set(first).intersection(*others)
    return array("q", (id for id in first if id in common))
