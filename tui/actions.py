"""The one registry of what a person can do in the app: it makes bindings, footer, help, palette and the key sheet."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from textual.binding import Binding

from tui.i18n import t

TABS = ("memories", "topics", "playbook", "tasks", "tags", "settings")
"""The six tabs in the order of their keys 1 to 6."""


@dataclass(frozen=True)
class Action:
    """One thing to do: `keys` as Textual names them, `scope` where it applies, `call` the façade method behind it.

    `writes` actions are refused while looking at the past or at a read-only store. `footer` ranks it in the key
    line (0 = not shown). `danger` is "" (undone with `u`) or "forever" (a typed confirmation).
    """

    id: str
    keys: tuple[str, ...]
    scope: str
    call: str = ""
    writes: bool = False
    footer: int = 0
    danger: str = ""

    @property
    def label(self) -> str:
        """Return its short name in the interface's language."""
        return t(f"action.{self.id}.label")

    @property
    def help(self) -> str:
        """Return one sentence about it in the interface's language."""
        return t(f"action.{self.id}.help")


def _a(id: str, keys: str, call: str = "", *, footer: int = 0, danger: str = "", writes: bool | None = None) -> Action:
    """Make an action: its scope is the id's first word, and with a `call` it writes unless told otherwise."""
    scope = id.split(".")[0]
    return Action(id, tuple(keys.split()), scope, call, bool(call) if writes is None else writes, footer, danger)


ACTIONS: Mapping[str, Action] = {
    action.id: action
    for action in (
        *(_a(f"tab.{tab}", str(number)) for number, tab in enumerate(TABS, 1)),
        _a("tab.last", "minus"),
        _a("app.help", "question_mark f1", footer=9),
        _a("app.palette", "colon ctrl+p", footer=1),
        _a("app.undo", "u", "undo", footer=5),
        _a("app.redo", "U", "redo"),
        _a("app.journal", "at", "log", writes=False, footer=1),
        _a("app.review", "w", "review_items", writes=False, footer=2),
        _a("app.refresh", "ctrl+r f5"),
        _a("app.language", "f2", "set_setting"),
        _a("app.theme", "f3"),
        _a("app.back", "escape q"),
        _a("app.quit", "ctrl+q Q"),
        _a("list.down", "j down"),
        _a("list.up", "k up"),
        _a("list.page_down", "ctrl+d pagedown"),
        _a("list.page_up", "ctrl+u pageup"),
        _a("list.first", "g home"),
        _a("list.last", "G end"),
        _a("list.pane_down", "J"),
        _a("list.pane_up", "K"),
        _a("list.open", "enter", footer=4),
        _a("marks.toggle", "space"),
        _a("marks.range", "v"),
        _a("marks.all", "asterisk"),
        _a("marks.clear", "backslash"),
        _a("memory.new", "n", "remember", footer=3),
        _a("memory.edit", "e", "edit", footer=3),
        _a("memory.editor", "E", "edit"),
        _a("memory.supersede", "s", "remember"),
        _a("memory.correct", "c", "remember"),
        _a("memory.archive", "x", "forget", footer=3),
        _a("memory.restore", "r", "forget"),
        _a("memory.forget", "D delete", "forget"),
        _a("memory.lock", "l", "lock"),
        _a("memory.merge", "m", "merge"),
        _a("memory.expunge", "ctrl+x", "expunge", danger="forever"),
        _a("memory.copy", "y"),
        _a("memory.copy_text", "Y"),
        _a("browse.filter", "slash", "memory_ids", writes=False, footer=6),
        _a("browse.chips", "f", "memory_ids", writes=False),
        _a("browse.order", "o", "memory_ids", writes=False),
        _a("browse.preview", "p"),
        _a("browse.grow", "plus"),
        _a("browse.shrink", "underscore"),
        _a("browse.same", "comma", "memory_ids", writes=False),
        _a("browse.ask", "a", "recall", writes=False, footer=5),
        _a("browse.context", "A", "context", writes=False),
        _a("browse.import", "i", "run_import"),
        _a("browse.connect", "C"),
        _a("time.focus", "t", "memory_ids", writes=False, footer=2),
        _a("time.leave", "T"),
        _a("time.baseline", "b", "memory_ids", writes=False),
        _a("detail.older", "left_square_bracket", "history", writes=False, footer=2),
        _a("detail.newer", "right_square_bracket", "history", writes=False, footer=2),
        _a("review.accept", "a", "decide", footer=8),
        _a("review.reject", "r", "decide", footer=8),
        _a("review.reject_why", "R", "decide"),
        _a("review.edit", "e", "decide", footer=7),
        _a("review.defer", "d", "decide", footer=7),
        _a("review.skip", "s", footer=6),
        _a("review.accept_kind", "A", "decide"),
        _a("review.way_keep", "1", "decide"),
        _a("review.way_new", "2", "decide"),
        _a("review.way_split", "3", "edit decide"),
        _a("review.way_merge", "4", "decide"),
        _a("review.kind", "f", "review_items", writes=False, footer=3),
        _a("review.source", "o", "get", writes=False),
        _a("journal.undo", "x", "undo", footer=6),
        _a("journal.undo_run", "X", "undo", footer=5),
        _a("journal.mine", "m", "log", writes=False, footer=4),
        _a("named.filter", "slash", footer=5),
        _a("tags.view", "f", "find_tags", writes=False, footer=4),
        _a("tags.walk", "right", "ego_graph", writes=False, footer=5),
        _a("tags.out", "left"),
        _a("tags.new", "n", "add_tag"),
        _a("tags.define", "e", "edit_tag"),
        _a("tags.synonyms", "s", "edit_tag"),
        _a("tags.relate", "l", "relate evolve", footer=6),
        _a("tags.raise", "plus", "relate"),
        _a("tags.unrelate", "X", "unrelate"),
        _a("tags.activate", "a", "activate evolve", footer=3),
        _a("tags.deprecate", "x", "deprecate evolve", footer=3),
        _a("tags.reactivate", "r", "reactivate evolve"),
        _a("tags.target", "greater_than_sign", footer=3),
        _a("tags.merge", "m", "plan_tag_merge", footer=6),
        _a("merge.apply", "a", "apply_tag_merge", footer=8),
        _a("merge.pane", "tab", footer=3),
        _a("context.ask", "slash a", "context", writes=False, footer=7),
        _a("context.session", "s", "sessions", writes=False, footer=6),
        _a("settings.edit", "e", "set_setting", footer=6),
        _a("settings.reset", "x", "reset_setting", footer=5),
        _a("settings.snapshot", "n", "create_snapshot", footer=4),
        _a("settings.restore", "r", "restore_snapshot", footer=3, danger="forever"),
        _a("settings.doctor", "d", "doctor", writes=False, footer=4),
        _a("settings.mend", "F", "doctor"),
        _a("settings.lift", "l", "lift_tombstone"),
        _a("settings.import", "i", "run_import"),
        _a("settings.export", "E", "export", writes=False),
        _a("settings.cleanup", "c", "cleanup"),
        _a("settings.connect", "C"),
        _a("connect.write", "a", footer=6),
        _a("connect.remove", "x", footer=5),
        _a("import.run", "a", "run_import", footer=6),
        _a("form.save", "ctrl+s", "remember edit", footer=6),
        _a("conflict.theirs", "1 h left", footer=5),
        _a("conflict.yours", "2 l right", footer=5),
        _a("conflict.apply", "a", "edit", footer=6),
    )
}
"""Every action by id."""

SCREENS: Mapping[str, tuple[str, ...]] = {
    "memories": ("app", "tab", "list", "marks", "browse", "memory", "time"),
    "topics": ("app", "tab", "list", "named"),
    "playbook": ("app", "tab"),
    "tasks": ("app", "tab"),
    "tags": ("app", "tab", "list", "marks", "named", "tags"),
    "settings": ("app", "tab", "list", "settings"),
    "journal": ("app", "tab", "list", "journal"),
    "detail": ("app", "tab", "list", "memory", "detail"),
    "difference": ("app", "tab", "list"),
    "merge": ("app", "list", "merge"),
    "context": ("app", "list", "context"),
    "review": ("app", "list", "marks", "review"),
    "import": ("app", "list", "import"),
    "connect": ("app", "list", "connect"),
    "form": ("app", "form"),
    "conflict": ("app", "list", "conflict"),
}
"""Which scopes each screen answers to; keys are unique within a screen."""

_SYMBOLS = {
    "minus": "-", "question_mark": "?", "colon": ":", "at": "@", "asterisk": "*", "backslash": "\\", "slash": "/",
    "plus": "+", "underscore": "_", "comma": ",", "left_square_bracket": "[", "right_square_bracket": "]",
    "exclamation_mark": "!", "full_stop": ".", "equals_sign": "=",
    "greater_than_sign": ">",
}  # fmt: skip
_CHINESE_TWINS = {
    "\\": "、", "_": "—", "[": "【", "]": "】", ".": "。", "@": "＠", "/": "／", "-": "－", ">": "》",
}  # fmt: skip


def shown_key(key: str) -> str:
    """Return a key as a person reads it: `question_mark` → `?`, `ctrl+p` → `^p`."""
    if key.startswith("ctrl+"):
        return "^" + key[5:]
    return _SYMBOLS.get(key, {"escape": "esc", "pagedown": "pgdn", "pageup": "pgup"}.get(key, key))


def wide_twins(key: str) -> tuple[str, ...]:
    """Return the names of the full-width keys that a Chinese input method sends for `key`."""
    char = _SYMBOLS.get(key, key)
    if len(char) != 1 or not 0x21 <= ord(char) <= 0x7E:
        return ()
    twins = {chr(ord(char) + 0xFEE0), _CHINESE_TWINS.get(char, "")} - {""}
    return tuple(sorted(_key_name(twin) for twin in twins))


def _key_name(char: str) -> str:
    """Return the name that Textual gives to the key of a character."""
    return char if char.isalnum() else unicodedata.name(char).lower().replace("-", "_").replace(" ", "_")


def on_screen(screen: str) -> list[Action]:
    """Return the actions of a screen, its own before the global ones."""
    scopes = SCREENS[screen]
    return sorted(
        (action for action in ACTIONS.values() if action.scope in scopes),
        key=lambda action: action.scope in ("app", "tab"),
    )


def bindings(screen: str, keymap: Mapping[str, tuple[str, ...]]) -> Iterable[Binding]:
    """Make the bindings of a screen with the owner's keymap laid over, full-width twins included."""
    for action in on_screen(screen):
        for number, key in enumerate(keymap.get(action.id, action.keys)):
            for name in (key, *wide_twins(key)):
                yield Binding(name, f"act('{action.id}')", action.label, show=number == 0 and name == key)
