"""Small typed questions: yes or no, a line of text, a word to type, a choice from a list."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Key, Paste
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from tui.i18n import t
from tui.text import editable_line, visible, visible_block

T = TypeVar("T")

REPEAT_SECONDS = 0.06
"""The same key again within this time is a key held down, not a second press."""


class Dialog(ModalScreen[T], Generic[T]):
    """A box over the screen; escape leaves it without an answer."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title

    def box(self) -> ComposeResult:
        """Yield the widgets inside the box."""
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        """Draw the box."""
        with Vertical(classes="dialog"):
            yield Static(visible_block(self._title), classes="dialog-title", markup=False)
            yield from self.box()

    def action_leave(self) -> None:
        """Give no answer."""
        self.dismiss(None)


class ConfirmDialog(Dialog[bool]):
    """A question that `y` or enter answers with yes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,ｙ,enter", "answer(True)", show=False),
        Binding("n,ｎ,q,ｑ", "answer(False)", show=False),
    ]

    def box(self) -> ComposeResult:
        """Yield the keys that answer."""
        yield Static(t("app.dialog.yes_no"), classes="dialog-keys", markup=False)

    def action_answer(self, answer: bool) -> None:
        """Give the answer."""
        self.dismiss(answer)


class PromptDialog(Dialog[str]):
    """A question for one line of text; enter gives it, possibly empty, and untouched as it was.

    `check` returns what is wrong with a text, or nothing; with a wrong one the question stays open.
    """

    def __init__(
        self,
        title: str,
        value: str = "",
        *,
        hint: str = "",
        placeholder: str = "",
        check: Callable[[str], str] | None = None,
    ) -> None:
        super().__init__(title)
        self._check = check
        self._value = value
        self._hint = hint
        self._placeholder = placeholder

    def box(self) -> ComposeResult:
        """Yield the input and what may be typed."""
        shown, placeholder = editable_line(self._value), visible(self._placeholder)
        yield Input(shown, placeholder=placeholder, select_on_focus=False, max_length=4000)
        yield Static(self._hint or t("app.dialog.enter_esc"), classes="dialog-keys", markup=False)

    @on(Input.Submitted)
    def _given(self, event: Input.Submitted) -> None:
        text = self._value if event.value == editable_line(self._value) else event.value.strip()
        if self._check and (wrong := self._check(text)):
            self.notify(visible(wrong), severity="error", markup=False)
            return
        self.dismiss(text)


class TypedConfirmDialog(Dialog[bool]):
    """For what is large or final: the shown words must be typed by hand; enter alone leaves everything as it is.

    Pasted text and the repeats of a key that is held down do not count.
    """

    def __init__(self, title: str, words: str) -> None:
        super().__init__(title)
        self._words = visible(words)

    def box(self) -> ComposeResult:
        """Yield what to type and where."""
        yield Static(t("app.dialog.type_this", words=self._words), markup=False)
        yield _TypedInput()
        yield Static(t("app.dialog.typed_keys"), classes="dialog-keys", markup=False)

    @on(Input.Submitted)
    def _given(self, event: Input.Submitted) -> None:
        if event.value.strip() == self._words:
            self.dismiss(True)
        elif not event.value.strip():
            self.dismiss(False)
        else:
            event.input.clear()
            self.notify(t("app.dialog.not_the_words"), severity="warning", markup=False)


class _TypedInput(Input):
    """An input that takes no paste and no repeats of a key that is held down."""

    _last: tuple[str, float] = ("", 0.0)

    async def _on_key(self, event: Key) -> None:
        before, self._last = self._last, (event.key, time.monotonic())
        if event.is_printable and event.key == before[0] and self._last[1] - before[1] < REPEAT_SECONDS:
            event.prevent_default()
            event.stop()
            return
        await super()._on_key(event)

    def _on_paste(self, event: Paste) -> None:
        event.prevent_default()
        event.stop()


class ChooseDialog(Dialog["tuple[str, ...]"]):
    """A list to choose from, narrowed by typing: one entry by enter, or with `many` any number, kept on escape."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move(1)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("pagedown", "move(10)", show=False, priority=True),
        Binding("pageup", "move(-10)", show=False, priority=True),
    ]

    def __init__(
        self, title: str, options: Sequence[tuple[str, str]], *, chosen: Sequence[str] = (), many: bool = False
    ) -> None:
        super().__init__(title)
        self._options = options
        self._chosen = set(chosen)
        self._many = many

    def box(self) -> ComposeResult:
        """Yield the narrowing input and the list."""
        yield Input(placeholder=t("app.dialog.narrow"), max_length=200)
        options = OptionList(id="options")
        options.can_focus = False
        yield options
        keys = "app.dialog.toggle_esc" if self._many else "app.dialog.enter_esc"
        yield Static(t(keys), classes="dialog-keys", markup=False)

    def on_mount(self) -> None:
        """Show every option."""
        self._fill("")

    @on(Input.Changed)
    def _narrowed(self, event: Input.Changed) -> None:
        self._fill(event.value)

    def _fill(self, text: str) -> None:
        options = self.query_one(OptionList)
        at = options.highlighted or 0
        options.clear_options()
        words = text.casefold().split()
        shown = [(id, label) for id, label in self._options if all(word in label.casefold() for word in words)]
        for id, label in shown[:500]:
            mark = ("[x] " if id in self._chosen else "[ ] ") if self._many else ""
            options.add_option(Option(mark + visible(label).replace("[", "\\["), id=id))
        options.highlighted = min(at, len(shown) - 1) if shown else None

    def action_move(self, lines: int) -> None:
        """Move the highlight while the input keeps the focus."""
        options = self.query_one(OptionList)
        if options.option_count:
            at = (options.highlighted or 0) + lines
            options.highlighted = max(0, min(at, options.option_count - 1))

    @on(Input.Submitted)
    @on(OptionList.OptionSelected)
    def _taken(self) -> None:
        options = self.query_one(OptionList)
        if options.highlighted is None:
            return
        id = options.get_option_at_index(options.highlighted).id or ""
        if self._many:
            self._chosen ^= {id}
            self._fill(self.query_one(Input).value)
        else:
            self.dismiss((id,))

    def action_leave(self) -> None:
        """Keep what was toggled; a single choice is given up."""
        self.dismiss(tuple(sorted(self._chosen)) if self._many else None)
