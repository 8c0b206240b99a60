"""One tag in full: status, definition, synonyms, numbers, what it stands beside, and its newest memories."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from engine.model.memory import Memory
from engine.model.tags import TagView
from tui.i18n import t
from tui.text import day, visible
from tui.words import tag_status


def tag_card(view: TagView, count: int, memories: Sequence[Memory]) -> Content:
    """Return the card of a tag that `count` memories carry, with the newest of them."""
    stats = view.stats
    numbers = t(
        "screen.tags.numbers", hits=stats.hit_count, others=stats.association_count, weight=f"{stats.avg_weight:.2f}"
    )
    since = t("screen.tags.since", first=day(stats.first_seen_ms) or "-", last=day(stats.last_hit_ms) or "-")
    facts = [
        ("definition", view.definition),
        ("dimensions", ", ".join(view.dimensions)),
        ("synonyms", ", ".join(view.synonyms)),
        ("redirects", ", ".join(view.redirects)),
        ("merged_to", view.merged_to),
        ("lacks", ", ".join(t(f"screen.tags.lack.{lack}") for lack in view.lacks)),
        ("stats", f"{numbers} · {since}"),
        ("together", ", ".join(f"{name} ({n})" for name, n in view.together)),
    ]
    lines = [
        Content.assemble((visible(view.name), "bold $accent"), f"  {tag_status(view.status)}  ", (view.code, "dim")),
        *(
            Content.assemble((t(f"screen.tags.{label}") + "  ", "$text-muted"), visible(text))
            for label, text in facts
            if text
        ),
        Content(""),
        Content.styled(f"{t('screen.named.carried', n=count)} · {t('screen.named.enter')}", "$text-muted"),
    ]
    lines += [
        Content.assemble((day(memory.recorded_ms) + "  ", "$text-muted"), visible(memory.description))
        for memory in memories
    ]
    return Content("\n").join(lines)
