"""The time bar: two axes, what was true and what was known, each with its moment and how much lies where."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from engine.model.memory import AsOf
from tui.i18n import t
from tui.text import moment

ZOOMS = ("hour", "day", "week", "month", "year")
AXES = ("valid", "known")
_STEPS = {
    "hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7), "month": timedelta(days=30),
    "year": timedelta(days=365),
}  # fmt: skip
_BLOCKS = " .:-=+*#%@"
_WIDE = {
    "ｈ": "left",
    "ｌ": "right",
    "＋": "plus",
    "－": "minus",
    "＝": "equals_sign",
    "。": "full_stop",
    "ｂ": "b",
    "Ｔ": "T",
}


class TimeBar(Widget, can_focus=True):
    """Moves a moment on both axes; the screen reads what it posts."""

    class Moved(Message):
        """Another moment was chosen."""

        def __init__(self, as_of: AsOf) -> None:
            super().__init__()
            self.as_of = as_of

        def can_replace(self, message: Message) -> bool:
            """Only the newest move of a burst counts."""
            return isinstance(message, TimeBar.Moved)

    class DateWanted(Message):
        """The owner wants to type a date."""

    class Baseline(Message):
        """The owner wants to compare this moment with another."""

    class Left(Message):
        """The owner goes back to the list; the moment stays."""

    def __init__(self) -> None:
        super().__init__(id="time-bar")
        self.as_of = AsOf()
        self._now_ms = 0
        self._axis = 0
        self._zoom = 1
        self._both = True
        self._samples: dict[str, Sequence[int]] = {"valid": (), "known": ()}

    def show(self, as_of: AsOf, now_ms: int, valid: Sequence[int], known: Sequence[int]) -> None:
        """Show a moment and a sample of when memories begin and were recorded."""
        self.as_of, self._now_ms = as_of, now_ms
        self._samples = {"valid": valid, "known": known}
        self.refresh()

    def set_moment(self, ms: int | None) -> None:
        """Go to a moment on the chosen axis, or on both while they are tied; None is now."""
        if ms is not None and ms >= self._now_ms and (self._both or self._axis == 1):
            ms = None
        if self._both:
            self.as_of = AsOf(ms, ms)
        elif self._axis == 0:
            self.as_of = AsOf(ms, self.as_of.known_ms)
        else:
            self.as_of = AsOf(self.as_of.valid_ms, ms)
        self.refresh()
        self.post_message(self.Moved(self.as_of))

    def on_key(self, event: events.Key) -> None:
        """Move, zoom, change or tie the axes; other keys go on to the screen."""
        key = _WIDE.get(event.key, {"fullwidth_plus_sign": "plus", "fullwidth_hyphen_minus": "minus",
                                    "fullwidth_equals_sign": "equals_sign",
                                    "ideographic_full_stop": "full_stop"}.get(event.key, event.key))  # fmt: skip
        if not self._handle(key):
            return
        event.stop()
        event.prevent_default()
        self.refresh()

    def _handle(self, key: str) -> bool:
        moves = {"left": -1, "h": -1, "right": 1, "l": 1, "shift+left": -7, "shift+right": 7}
        if key in moves:
            here = self.as_of.valid_ms if self._axis == 0 else self.as_of.known_ms
            step = _STEPS[ZOOMS[self._zoom]] * moves[key]
            self.set_moment((self._now_ms if here is None else here) + int(step.total_seconds() * 1000))
        elif key in ("plus", "minus"):
            self._zoom = max(0, min(self._zoom + (1 if key == "minus" else -1), len(ZOOMS) - 1))
        elif key in ("up", "down", "k", "j"):
            self._axis = 1 - self._axis
        elif key == "equals_sign":
            self._both = not self._both
        elif key == "full_stop":
            self.as_of = AsOf()
            self.post_message(self.Moved(self.as_of))
        elif key == "enter":
            self.post_message(self.DateWanted())
        elif key == "b":
            self.post_message(self.Baseline())
        elif key in ("escape", "tab"):
            self.post_message(self.Left())
        else:
            return False
        return True

    def render(self) -> Content:
        """Draw both axes and the keys."""
        lines = [self._axis_line(number) for number in range(2)]
        lines.append(
            Content.styled(t("screen.time.hint", zoom=t(f"screen.time.zoom.{ZOOMS[self._zoom]}")), "$text-muted")
        )
        return Content("\n").join(lines)

    def _axis_line(self, number: int) -> Content:
        axis = AXES[number]
        ms = self.as_of.valid_ms if number == 0 else self.as_of.known_ms
        chosen = self.has_focus and (self._both or number == self._axis)
        label = f"{'>' if chosen else ' '} {t(f'screen.time.{axis}')}  "
        value = f"  {moment(ms) or t('screen.time.now')}"
        width = max(10, self.size.width - cell_len(label) - 20)
        bars = histogram(self._samples[axis], self._now_ms, width)
        at = width - 1 if ms is None else position(ms, self._samples[axis], self._now_ms, width)
        track = Content.assemble((bars[:at], "$primary"), ("|", "bold $warning"), (bars[at + 1 :], "$text-muted"))
        return Content.assemble((label, "bold" if chosen else ""), track, (value, "bold $accent"))


def _span(samples: Sequence[int], now_ms: int) -> tuple[int, int]:
    start = min(samples, default=now_ms)
    return (start, now_ms) if start < now_ms else (now_ms - 86_400_000, now_ms)


def position(ms: int, samples: Sequence[int], now_ms: int, width: int) -> int:
    """Return the cell of a moment on an axis of `width` cells."""
    start, end = _span(samples, now_ms)
    return max(0, min(width - 1, (ms - start) * (width - 1) // (end - start)))


def histogram(samples: Sequence[int], now_ms: int, width: int) -> str:
    """Return one character per cell that grows with the number of samples in it."""
    counts = [0] * width
    for ms in samples:
        counts[position(ms, samples, now_ms, width)] += 1
    most = max(counts, default=0) or 1
    return "".join(_BLOCKS[-(-count * (len(_BLOCKS) - 1) // most)] for count in counts)
