"""Merging tags: proposed by anybody, planned without writing, carried out by the owner alone (W26, R6)."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence

from engine.model.enums import Mode, ReviewKind, TagStatus
from engine.model.errors import MemdeckError, invalid
from engine.model.memory import Caller, Filter
from engine.model.tags import MergePlan, MergeReport, QueryEffect, RelationChange, TagResult
from engine.recall.candidates import Candidates
from engine.recall.tags import extracted, match_cue
from engine.rules.tagging import tag_key
from engine.store.ephemeral import recent_questions
from engine.store.review import open_item
from engine.store.selection import recall_selection
from engine.store.snapshots import make_snapshot
from engine.store.tag_lists import names_of
from engine.store.tag_merge import MergeWork, carry_out, work_out
from engine.store.transaction import Tx
from engine.store.vocabulary import Tag, Vocabulary
from engine.usecases.changing import require_owner
from engine.usecases.desk import Desk
from engine.usecases.tag_views import lines
from engine.usecases.tagging import deprecated, known_tag

QUESTIONS, LOOKED_BACK = 20, 400
"""How many different recent questions a plan answers before and after, of so many that are looked at."""

HITS_COMPARED = 10


def plan_tag_merge(desk: Desk, by: Caller, sources: Sequence[str], target: str) -> MergePlan:
    """Say what merging `sources` into `target` would do, as of now; nothing is written.

    Raises unknown_tag, exists (a source is merged already), tag_deprecated (the target), reserved (a system tag),
    invalid_argument (no source, a merged target, or a tag into itself).
    """
    with desk.store.read() as conn:
        work = merge_work(conn, sources, target)
        return _plan(desk, by, conn, work)


def _chosen(conn: sqlite3.Connection, sources: Sequence[str], target: str) -> tuple[list[Tag], Tag]:
    vocabulary = Vocabulary(conn)
    into = _named(vocabulary, target)
    if into.status is TagStatus.MERGED:
        now = names_of(conn, [into.merged_to or 0]).get(into.merged_to or 0, "")
        raise invalid(f"{into.name!r} is merged into {now!r}", f"merge into {now!r}")
    if into.status is TagStatus.DEPRECATED:
        raise deprecated(into)
    tags = list({tag.id: tag for tag in (_named(vocabulary, name) for name in sources)}.values())
    if not tags:
        raise invalid("there is no tag to merge", "name one or more sources")
    for tag in tags:
        if tag.id == into.id:
            raise invalid(f"{tag.name!r} cannot be merged into itself", "choose another target")
        if tag.status is TagStatus.MERGED:
            raise MemdeckError("exists", f"{tag.name!r} is merged already", "leave it out")
        if tag.source == "system":
            raise MemdeckError("reserved", f"{tag.name!r} is a tag of the system", "merge others into it")
    return tags, into


def _named(vocabulary: Vocabulary, text: str) -> Tag:
    """Return the tag of a code or of its own name; a synonym is no tag of its own and cannot be merged."""
    own = vocabulary.by_code(text.strip()) or vocabulary.own([tag_key(text)]).get(tag_key(text))
    if own is not None:
        return own
    main = known_tag(vocabulary, text)
    raise MemdeckError("unknown_tag", f"{text[:40]!r} is only a synonym of {main.name!r}", f"name {main.name!r} itself")


def _plan(desk: Desk, by: Caller, conn: sqlite3.Connection, work: MergeWork) -> MergePlan:
    names = names_of(conn, {edge.other for edge in work.edges})
    own = {tag.id: tag.name for tag in work.sources} | {work.target.id: work.target.name}
    shown = lines(conn, list(TagStatus), [tag.id for tag in (*work.sources, work.target)])
    effects = _effects(desk, by, conn, work)
    return MergePlan(
        confirm=_confirm(work),
        revision=work.revision,
        sources=tuple(shown[tag.id] for tag in work.sources),
        target=shown[work.target.id],
        moves=work.moves,
        keeps=work.keeps,
        tags_before=work.tags_before,
        tags_after=work.tags_after,
        relations=tuple(
            RelationChange(own[edge.source], own.get(edge.other) or names[edge.other], edge.how, edge.level)
            for edge in work.edges
        ),
        redirects=tuple(tag.name for tag in work.redirects),
        queries=tuple(effect for effect in effects if effect.changes),
        queries_tried=len(effects),
    )


def _confirm(work: MergeWork) -> str:
    """Return the code that stands for this plan and no other."""
    return f"{work.target.id}-{'-'.join(str(tag.id) for tag in work.sources)}-{work.revision[:12]}"[:80]


def _effects(desk: Desk, by: Caller, conn: sqlite3.Connection, work: MergeWork) -> list[QueryEffect]:
    """Answer recent questions that name any tag by the tags channel, as things are and as they would be."""
    now = desk.store.clock.now_ms()
    chosen = recall_selection(by, Mode.CURRENT, Filter(), valid_ms=now, known=None, moved=False, everywhere=True)
    where = Candidates(chosen.sql, chosen.values)
    after = Vocabulary(conn, merged={tag.id: work.target.id for tag in work.sources})
    effects: list[QueryEffect] = []
    for text in dict.fromkeys(question.text for question in recent_questions(conn, LOOKED_BACK)):
        found = [
            tuple(hit.memory_id for hit in match_cue(view, extracted(view, text), where=where, now_ms=now).hits)
            for view in (Vocabulary(conn), after)
        ]
        if any(found):
            effects.append(QueryEffect(text, found[0][:HITS_COMPARED], found[1][:HITS_COMPARED]))
        if len(effects) >= QUESTIONS:
            break
    return effects


def apply_tag_merge(
    desk: Desk,
    by: Caller,
    plan: MergePlan | None = None,
    *,
    sources: Sequence[str] = (),
    target: str = "",
    confirm: str = "",
) -> MergeReport:
    """Carry out a plan, or the merge of `sources` into `target` whose plan gave `confirm`.

    The owner only; a snapshot first, then one operation that can be taken back. Raises stale_revision, and changes
    nothing, when anything that the plan rests on changed since.
    """
    require_owner(by, "merge tags")
    names = [line.code for line in plan.sources] if plan else list(sources)
    into = plan.target.code if plan else target
    expected = plan.confirm if plan else confirm
    with desk.store.read() as conn:
        _check(merge_work(conn, names, into), expected)
    snapshot = make_snapshot(
        desk.store, kind="run", reason="before merging tags", keep=desk.settings.number("snapshots.keep_runs")
    )
    with desk.store.write(by, "tag_merge") as tx:
        work = merge_work(tx.conn, names, into)
        _check(work, expected)
        carry_out(tx, work)
        tx.describe(_summary(work))
    return MergeReport(
        op=tx.op,
        snapshot=snapshot.name,
        sources=tuple(tag.name for tag in work.sources),
        target=work.target.name,
        moved=len(work.moves),
        kept=len(work.keeps),
        relations=dict(Counter(edge.how for edge in work.edges)),
        redirects=len(work.redirects),
    )


def _check(work: MergeWork, expected: str) -> None:
    if _confirm(work) != expected:
        raise MemdeckError(
            "stale_revision", "tags, cards or relations changed since this merge was planned", "plan it again"
        )


def _summary(work: MergeWork) -> str:
    names = ", ".join(tag.name for tag in work.sources[:5]) + (" …" if len(work.sources) > 5 else "")
    return f"merged {names} into {work.target.name}: {len(work.moves)} cards moved"


def propose_tag_merge(desk: Desk, by: Caller, sources: Sequence[str], target: str, *, reason: str = "") -> TagResult:
    """Ask the owner to merge tags; the same proposal waits once (W26). Raises as `plan_tag_merge` does."""
    with desk.store.write(by, "tag_propose", reason=reason) as tx:
        work = merge_work(tx.conn, sources, target)
        item = open_merge_item(tx, work, reason)
        tx.describe(f"proposed: {', '.join(tag.name for tag in work.sources[:5])} into {work.target.name}")
        into = work.target
        return TagResult(into.code, into.name, into.status, tx.op, ("a merge waits for the owner, who decides",), item)


def open_merge_item(tx: Tx, work: MergeWork, reason: str) -> int:
    """Open the review item of a merge as part of an operation."""
    ids = "+".join(str(tag.id) for tag in sorted(work.sources, key=lambda tag: tag.id))
    return open_item(
        tx, ReviewKind.TAG_MERGE, f"tag_merge:{ids}:{work.target.id}",
        title=f"{', '.join(tag.name for tag in work.sources)} → {work.target.name}"[:200],
        evidence={"asked_by": tx.by.actor, "reason": reason, "cards": len(work.moves), "both": len(work.keeps)},
        proposal={"sources": [tag.code for tag in work.sources], "target": work.target.code},
    )  # fmt: skip


def merge_work(conn: sqlite3.Connection, sources: Sequence[str], target: str) -> MergeWork:
    """Work out a merge of tags by name or code; raises as `plan_tag_merge` does."""
    return work_out(conn, *_chosen(conn, sources, target))
