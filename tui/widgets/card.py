"""One memory in full: badges, both intervals, where it came from, its text (C56)."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from engine.model.enums import State
from engine.model.memory import Hit, Memory
from tui.i18n import has, t
from tui.markdown import render
from tui.receipt import marked, matched, receipt
from tui.text import moment, visible

_STATE_LOOK = {State.ACTIVE: "$success", State.QUARANTINED: "$warning", State.DELETED: "$error"}


class MemoryCard(VerticalScroll, can_focus=False):
    """The preview: scrolls by mouse or with the pane focused; shows one memory or says that there is none."""

    def compose(self) -> ComposeResult:
        """Make the one piece of text that the card is."""
        yield Static(id="card-text")

    def show(self, memory: Memory | None, hit: Hit | None = None, rank: int = 0) -> None:
        """Show another memory from its top; as an answer of recall it begins with its receipt."""
        text = card(memory, matched(hit) if hit else ()) if memory else Content("")
        if memory and hit:
            text = Content("\n").join([receipt(hit, rank), Content(""), text])
        self.query_one("#card-text", Static).update(text)
        self.scroll_home(animate=False)


def badges(memory: Memory) -> Content:
    """Return state, type, kind and every special mark as words."""
    words = [
        (t(f"app.state.{memory.state.value}"), _STATE_LOOK.get(memory.state, "$text-muted") + " reverse"),
        *([(t(f"app.type.{memory.type.value}"), "$primary")] if memory.type else []),
        (t(f"app.kind.{memory.kind.value}"), "$primary"),
    ]
    special = (
        (memory.locked, "locked"),
        (memory.baseline, "baseline"),
        (memory.manually_corrected, "corrected"),
        (memory.speculative, "guess"),
        (bool(memory.conflict), "conflict"),
    )
    words += [(t(f"app.badge.{name}"), "$warning") for given, name in special if given]
    return Content(" ").join(Content.styled(f" {word} ", look) for word, look in words)


def interval(start: int | None, end: int | None) -> str:
    """Return a half-open interval in local time, with a word for an end that is open."""
    return f"{moment(start)} .. {moment(end) or t('app.card.open')}"


def card(memory: Memory, words: Sequence[str] = ()) -> Content:
    """Return everything about one version of a memory, its body rendered last, with `words` marked in its text."""
    facts = [
        ("valid", interval(memory.valid_from, memory.valid_to)),
        ("known", interval(memory.known_from_ms, memory.known_to_ms)),
        ("recorded", moment(memory.recorded_ms)),
        ("source", _source(memory)),
        ("name", memory.name),
        ("subject", memory.subject),
        ("topics", ", ".join(memory.topics)),
        ("tags", " ".join(f"#{tag}" for tag in memory.tags)),
        ("aliases", ", ".join(memory.aliases)),
        ("scope", "" if memory.scope.value == "global" else f"{memory.scope.value} {memory.scope_key or ''}"),
        ("seen", t("app.card.times", n=memory.seen_again) if memory.seen_again else ""),
        ("rivals", ", ".join(f"mem-{rival}" for rival in memory.conflict)),
        ("target", f"mem-{memory.target}" if memory.target else ""),
        ("cause", memory.cause),
    ]
    lines = [
        Content.assemble((memory.ref, "bold $accent"), "  ", badges(memory)),
        Content(""),
        marked(Content.styled(visible(memory.description), "bold"), words),
        Content(""),
    ]
    lines += [
        Content.assemble((f"{t(f'app.card.{name}')}  ", "$text-muted"), visible(value))
        for name, value in facts
        if value
    ]
    if memory.body:
        lines += [Content(""), marked(render(memory.body), words)]
    return Content("\n").join(lines)


def _source(memory: Memory) -> str:
    door = t(f"app.origin.{memory.origin.value}")
    authority = t(f"app.authority.{memory.authority.name.lower()}")
    return " · ".join(part for part in (memory.actor, door, _claim(memory.source), authority) if part)


def _claim(source: str) -> str:
    key = f"app.source.{source}"
    return t(key) if has(key) else source
