"""A merge of tags in words and numbers: what it would do, what it did, what changed since it was planned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from textual.content import Content

from engine.model.tags import MergePlan, MergeReport, QueryEffect, RelationChange
from tui.i18n import t
from tui.text import visible
from tui.words import tag_level

RELATIONS, QUERIES, HITS = 40, 20, 6
"""Lines that are shown of each, and memories of a query's answer."""

WAYS = ("moved", "collapsed", "dropped")
_LOOKS = {"moved": "$success", "collapsed": "$warning", "dropped": "$text-muted"}


def plan_card(plan: MergePlan) -> Content:
    """Return everything that a merge would change."""
    lines = [
        _fact("cards", t("screen.merge.cards_text", moves=len(plan.moves), keeps=len(plan.keeps))),
        _fact("tags_a_card", f"{_spread(plan.tags_before)}  >  {_spread(plan.tags_after)}"),
        _fact("names_kept", ", ".join([*(line.name for line in plan.sources), *plan.redirects])),
        _fact("rules", ", ".join(plan.rules) or t("screen.merge.none")),
        _fact("tasks", ", ".join(plan.tasks) or t("screen.merge.none")),
        _fact("before", t("screen.merge.snapshot_first")),
        _fact("after", t("screen.merge.can_be_undone")),
        Content(""),
        *_relations(plan.relations),
        Content(""),
        *_queries(plan.queries, plan.queries_tried),
    ]
    return Content("\n").join(lines)


def report_card(report: MergeReport) -> Content:
    """Return what a merge did, and how to take it back."""
    relations = " · ".join(f"{t(f'screen.merge.way.{way}')} {report.relations.get(way, 0)}" for way in WAYS)
    lines = [
        Content.styled(t("screen.merge.report"), "bold $success"),
        Content(""),
        _fact("cards", t("screen.merge.cards_done", moves=report.moved, keeps=report.kept)),
        _fact("relations", relations),
        _fact("names_kept", str(len(report.sources) + report.redirects)),
        _fact("snapshot", report.snapshot),
        _fact("operation", str(report.op)),
        Content(""),
        Content(t("screen.merge.undo_how")),
    ]
    return Content("\n").join(lines)


def changes_between(before: MergePlan, after: MergePlan) -> str:
    """Return in one line what changed between two plans of the same merge."""
    was, now = {*before.moves, *before.keeps}, {*after.moves, *after.keeps}
    relations = set(before.relations) ^ set(after.relations)
    tags = sum(
        one != other
        for one, other in zip((*before.sources, before.target), (*after.sources, after.target), strict=False)
    )
    return t("screen.merge.changed", come=len(now - was), gone=len(was - now), relations=len(relations), tags=tags)


def _fact(label: str, text: str) -> Content:
    return Content.assemble((t(f"screen.merge.{label}") + "  ", "$text-muted"), visible(text))


def _spread(counts: Mapping[int, int]) -> str:
    """Return how many cards have how many tags: `1 tag: 4, 2 tags: 3`."""
    return ", ".join(t("screen.merge.with_tags", n=tags, cards=cards) for tags, cards in counts.items()) or "-"


def _relations(changes: Sequence[RelationChange]) -> list[Content]:
    counts = Counter(change.how for change in changes)
    head = " · ".join(f"{t(f'screen.merge.way.{way}')} {counts[way]}" for way in WAYS)
    lines = [Content.assemble((t("screen.merge.relations") + "  ", "bold $primary"), head)]
    for change in sorted(changes, key=lambda change: WAYS.index(change.how))[:RELATIONS]:
        level = f" · {tag_level(change.level)}" if change.level else ""
        text = visible(f"{change.source} - {change.other}{level}")
        lines.append(Content.assemble((f"  {t(f'screen.merge.way.{change.how}')}  ", _LOOKS[change.how]), text))
    return [*lines, *_more(len(changes) - RELATIONS)]


def _queries(effects: Sequence[QueryEffect], tried: int) -> list[Content]:
    head = t("screen.merge.queries_text", n=len(effects), tried=tried)
    lines = [Content.assemble((t("screen.merge.queries") + "  ", "bold $primary"), head)]
    for effect in effects[:QUERIES]:
        lines += [
            Content(visible(f"  {effect.query}")),
            Content.assemble((f"    {t('screen.merge.answer_before')}  ", "$text-muted"), _answer(effect.before)),
            Content.assemble(
                (f"    {t('screen.merge.answer_after')}  ", "$text-muted"), _answer(effect.after, effect.before)
            ),
        ]
    return [*lines, *_more(len(effects) - QUERIES)]


def _answer(ids: Sequence[int], known: Sequence[int] | None = None) -> Content:
    """Return an answer's first memories; those that the answer `known` lacks stand out."""
    shown = [
        Content.styled(f"+mem-{id}", "$success") if known is not None and id not in known else Content(f"mem-{id}")
        for id in ids[:HITS]
    ]
    return Content(" ").join([*shown, *([Content("...")] if len(ids) > HITS else [])]) if ids else Content("-")


def _more(count: int) -> list[Content]:
    return [Content.styled("  " + t("app.journal.more", n=count), "$text-muted")] if count > 0 else []
