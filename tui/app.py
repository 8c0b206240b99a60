"""The frame of the terminal app: modes, theme, language, live store, undo; everything else is in the screens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from textual.command import CommandPalette
from textual.filter import LineFilter
from textual.reactive import reactive
from textual.screen import Screen

from engine.model.errors import MemdeckError
from engine.model.memory import NOW, AsOf
from engine.model.records import Counts, Finding, SettingInfo
from tui import i18n, state, themes
from tui.actions import ACTIONS, TABS
from tui.deck import OWNER, DeckScreen
from tui.errors import explain
from tui.flows import Flows
from tui.guard import GUARD
from tui.i18n import t
from tui.keymap import FILE_NAME, load_keymap
from tui.modals.help import HelpDialog
from tui.palette import ActionProvider
from tui.paths import style_sheets
from tui.screens.later import PlaybookScreen, TasksScreen
from tui.screens.memories import MemoriesScreen
from tui.screens.settings import SettingsScreen
from tui.screens.tags import TagsScreen
from tui.screens.topics import TopicsScreen
from tui.text import moment, visible_block
from tui.widgets.bars import StatusLine
from tui.words import few
from tui.work import Work

if TYPE_CHECKING:
    from engine.facade import Engine, Restored, UndoResult

POLL_SECONDS = 0.5
"""How often the store is asked whether anybody wrote."""

TEND_AFTER, TEND_EVERY = 60, 600
"""Seconds from the start to the first upkeep, and from one upkeep to the next."""

BLANK = "blank"
"""The mode that is shown for a moment while the tabs are built anew."""

Severity = Literal["information", "warning", "error"]


class MemdeckApp(Flows):
    """memdeck for its owner: six tabs over one store."""

    TITLE = "memdeck"
    CSS_PATH = cast("list[Any]", style_sheets())
    MODES: ClassVar[dict[str, Any]] = {
        "memories": MemoriesScreen,
        "topics": TopicsScreen,
        "playbook": PlaybookScreen,
        "tasks": TasksScreen,
        "tags": TagsScreen,
        "settings": SettingsScreen,
        BLANK: Screen,
    }
    COMMANDS: ClassVar[set[Any]] = {ActionProvider}
    HORIZONTAL_BREAKPOINTS = [(0, "-tiny"), (60, "-narrow"), (100, "-wide")]  # noqa: RUF012 - so Textual declares it

    counts: reactive[Counts | None] = reactive(None)
    """The numbers of the status line, as of the last change of the store."""

    def __init__(self, engine: Engine, *, lang: str = "en", state_path: Path | None = None) -> None:
        super().__init__()
        i18n.set_language(lang)
        self.engine = engine
        self.as_of: AsOf = NOW
        self.state = state.AppState(state_path or engine.store_dir / state.FILE_NAME)
        self.work = Work(self, engine, self.fail)
        self.keymap, self._keymap_problems = load_keymap(engine.store_dir / FILE_NAME)
        self._token: tuple[int, int] | None = None
        self._last_tab = TABS[0]
        self._lost = False
        self.unwell = ""
        self._said: Severity = "information"
        for theme in themes.THEMES:
            self.register_theme(theme)

    def on_mount(self) -> None:
        """Go where the owner was, and begin to watch the store."""
        wanted = self.state.get("theme", themes.DARK.name)
        self.theme = wanted if wanted in self.available_themes else themes.DARK.name
        tab = self.state.get("tab", TABS[0])
        self.switch_mode(tab if tab in TABS else TABS[0])
        for problem in self._keymap_problems:
            self.say(problem, severity="warning")
        self.look()
        self.set_interval(POLL_SECONDS, self.look)
        self.work.read(self, "check", self.engine.last_check, self._checked)
        self.set_timer(TEND_AFTER, self._begin_tending)

    def on_unmount(self) -> None:
        """Leave the place to the next start."""
        self.state.set("theme", self.theme)
        self.state.save()

    # -- the live store --------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Ask whether anybody wrote; unless the last question still runs."""
        if not self.work.busy(self, "look"):
            self.work.read(self, "look", self.engine.change_token, self._token_seen, self._store_lost)

    def _token_seen(self, token: tuple[int, int]) -> None:
        if self._lost:
            self._lost = False
            self._alarm("")
        if token == self._token:
            return
        first = self._token is None
        self._token = token
        self.work.read(self, "counts", lambda: self.engine.counts(OWNER), self._counted)
        if not first:
            for screen in self.deck_screens():
                screen.store_changed()

    def _counted(self, counts: Counts) -> None:
        self.counts = counts

    def _store_lost(self, error: MemdeckError) -> None:
        if not self._lost:
            self._lost = True
            self._alarm(explain(error))

    # -- upkeep ----------------------------------------------------------------------------------------------------

    def _begin_tending(self) -> None:
        self.tend()
        self.set_interval(TEND_EVERY, self.tend)

    def tend(self) -> None:
        """Do what is due: audit log, snapshot of the day, check of the day; then show what the check found."""

        def call() -> tuple[int, list[Finding]] | None:
            self.engine.tend()
            return self.engine.last_check()

        if not self.engine.read_only:
            self.work.write(call, self._checked)

    def _checked(self, found: tuple[int, list[Finding]] | None) -> None:
        """Let the status line say what was wrong at the last check, until a later one finds nothing."""
        at, problems = found or (0, [])
        self.unwell = t("app.unwell", at=moment(at), n=len(problems)) if problems else ""
        for screen in self.deck_screens():
            screen.query_one(StatusLine).warn(self.unwell)

    def _alarm(self, text: str) -> None:
        for screen in self.deck_screens():
            screen.query_one(StatusLine).alarm(text)

    def deck_screens(self) -> Iterable[DeckScreen]:
        """Return every screen of ours that exists, in front or not."""
        for stack in self._screen_stacks.values():
            yield from (screen for screen in stack if isinstance(screen, DeckScreen) and screen.is_mounted)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Let every line of every widget pass the guard, after Textual's own filters."""
        return [*super().get_line_filters(), GUARD]

    # -- saying things ---------------------------------------------------------------------------------------------

    def say(self, text: str, *, undoable: bool = False, severity: Severity = "information") -> None:
        """Show a short message in place of the last one; one that can be taken back names the key."""
        if undoable:
            text += " · " + t("app.undo_hint")
        if severity == self._said == "information":
            self.clear_notifications()
        self._said = severity
        self.notify(visible_block(text), severity=severity, timeout=4 if severity == "information" else 8, markup=False)

    def fail(self, error: MemdeckError) -> None:
        """Show a refusal of the engine in the owner's language."""
        self.say(explain(error), severity="error")

    def refusal(self, id: str) -> str:
        """Return why a writing action is impossible now; empty when it is not."""
        if self.engine.read_only:
            return t("app.refused.read_only")
        if not self.as_of.is_now and ACTIONS[id].scope != "app":
            return t("app.refused.past")
        return ""

    # -- global actions --------------------------------------------------------------------------------------------

    def action_tab(self, tab: str) -> None:
        """Go to a tab by its name."""
        if tab != self.current_mode:
            self._last_tab = self.current_mode
            self.state.set("tab", tab)
            self.switch_mode(tab)

    def do_tab_last(self) -> None:
        """Go to the tab that was shown before."""
        self.action_tab(self._last_tab)

    def do_app_undo(self) -> None:
        """Take back the owner's last operation."""
        self.work.write(lambda: self.engine.undo(OWNER), self.undone)

    def do_app_redo(self) -> None:
        """Do again what was undone last."""
        self.work.write(lambda: self.engine.redo(OWNER), self._redone)

    def undone(self, result: UndoResult) -> None:
        """Say what was taken back."""
        self.say(t("app.undone", op=few(result.undone)))
        self.look()

    def _redone(self, result: UndoResult) -> None:
        self.say(t("app.redone", op=few(result.undone)))
        self.look()

    def restored(self, report: Restored) -> None:
        """Say what a restore brought back."""
        self.say(t("screen.settings.restored", n=report.memories, name=report.protection))
        self.do_app_refresh()

    def setting_changed(self, info: SettingInfo) -> None:
        """Let a setting of the interface take effect at once."""
        if info.name == "lang":
            self.call_later(self._speak, i18n.choose_language(setting=str(info.value)))

    def do_app_language(self) -> None:
        """Switch to the other language and keep it as the setting."""
        other = "zh" if i18n.language() == "en" else "en"
        self.call_later(self._speak, other)
        self.work.write(lambda: self.engine.set_setting(OWNER, "lang", other), lambda _: self.look())

    async def _speak(self, language: str) -> None:
        """Build the tabs anew in another language; each finds its place in the state."""
        i18n.set_language(language)
        here = self.current_mode
        self.switch_mode(BLANK)
        for mode, screen in self.MODES.items():
            if mode in self._screen_stacks and mode != BLANK:
                await self.remove_mode(mode)
                self.add_mode(mode, screen)
        self.switch_mode(here)

    def do_app_theme(self) -> None:
        """Go to the next of our themes."""
        names = [theme.name for theme in themes.THEMES]
        here = names.index(self.theme) if self.theme in names else -1
        self.theme = names[(here + 1) % len(names)]
        self.say(self.theme)

    def do_app_help(self) -> None:
        """Show every key."""
        if isinstance(self.screen, DeckScreen):
            self.push_screen(HelpDialog(self.screen.NAME, self.keymap))

    def do_app_palette(self) -> None:
        """Find an action by its name."""
        self.push_screen(CommandPalette(placeholder=t("screen.palette.placeholder")))

    def do_app_refresh(self) -> None:
        """Read everything again."""
        self._token = None
        self.look()
        for screen in self.deck_screens():
            screen.store_changed()

    def do_app_back(self) -> None:
        """Leave a flow; at the root of a tab leave the app."""
        if len(self.screen_stack) > 1:
            self.pop_screen()

    def do_app_quit(self) -> None:
        """End the app."""
        self.exit()

    def exit(self, *args: Any, **kwargs: Any) -> None:
        """End the app, whoever asked for it; nothing that is still read is shown."""
        self.work.stop()
        super().exit(*args, **kwargs)


def _go(tab: str) -> Any:
    def go(self: MemdeckApp) -> None:
        self.action_tab(tab)

    go.__doc__ = f"Go to the tab {tab}."
    return go


for _tab in TABS:
    setattr(MemdeckApp, f"do_tab_{_tab}", _go(_tab))
