"""The settings tab: every setting with its value and where that comes from, snapshots, and the doctor's findings."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from textual import on
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from engine.facade import CleanupReport
from engine.model.records import Finding, SettingInfo, SnapshotInfo, TombstoneInfo
from tui.deck import OWNER, DeckScreen
from tui.i18n import has, t
from tui.modals.dialogs import ChooseDialog, PromptDialog, TypedConfirmDialog
from tui.text import day, moment, visible
from tui.widgets.bars import StatusLine
from tui.widgets.row_table import Cell, RowTable

_LEVELS = {"ok": "row--good", "hint": "row--dim", "warning": "row--warn", "error": "row--bad"}


Item = str | SettingInfo | SnapshotInfo | TombstoneInfo | Finding
"""What a line can be; a text is a heading."""


@dataclass(frozen=True)
class Line:
    """One line of the tab; `at` is its place."""

    at: int
    item: Item


class LineTable(RowTable[Line]):
    """Settings, snapshots and findings under their headings."""

    def row_id(self, row: Line) -> int:
        """Return the line's place."""
        return row.at

    def cells(self, row: Line) -> Sequence[Cell]:
        """Return the line's columns by what it is."""
        item = row.item
        if isinstance(item, SettingInfo):
            look = "row--accent" if item.origin != "default" else "row--dim"
            later = f" ({t('screen.settings.pending')}: {shown(item.pending)})" if item.pending is not None else ""
            return (
                Cell(item.name + " ", 26),
                Cell(shown(item.value) + later, 0, look),
                Cell(t(f"screen.settings.from.{item.origin}"), 13, "row--dim"),
            )
        if isinstance(item, SnapshotInfo):
            kind = f"screen.settings.snapshot_kind.{item.kind}"
            return (
                Cell(moment(item.at_ms) + " ", 18),
                Cell(t(kind) if has(kind) else item.kind, 11, "row--dim"),
                Cell(f"{item.memories} {t('screen.settings.memories')}", 18, "row--accent"),
                Cell(item.reason or item.name, 0, "row--bad" if item.good is False else "row--dim"),
            )
        if isinstance(item, TombstoneInfo):
            blocked = t("screen.settings.blocked", n=item.blocked)
            name = f"mem-{item.memory_id}" if item.memory_id else item.fingerprint[:12]
            return (
                Cell(moment(item.at_ms) + " ", 18),
                Cell(name, 14),
                Cell(f"{item.reason} · {blocked}", 0, "row--dim"),
            )
        if isinstance(item, Finding):
            word = t(f"screen.settings.level.{item.level}")
            return (Cell(word, 9, _LEVELS.get(item.level, "")), Cell(item.check, 16), Cell(item.message, 0))
        return (Cell(item, 0, "row--marked"),)


def shown(value: object) -> str:
    """Return a setting's value as a person reads it."""
    if isinstance(value, bool):
        return t("screen.settings.on" if value else "screen.settings.off")
    return str(value)


class SettingsScreen(DeckScreen):
    """Changes are checked by the engine and take effect at once where they can (S67)."""

    NAME = "settings"
    TAB = "settings"

    def __init__(self) -> None:
        super().__init__()
        self._settings: list[SettingInfo] = []
        self._snapshots: list[SnapshotInfo] = []
        self._tombstones: list[TombstoneInfo] = []
        self._findings: list[Finding] | None = None
        self._lines: list[Line] = []

    def body(self) -> Iterable[Widget]:
        """Return title, lines and the explanation of one."""
        yield Static(t("screen.settings.title"), id="title", markup=False)
        with Container(id="main"):
            yield LineTable(id="lines")
            with VerticalScroll(id="changes", can_focus=False):
                yield Static(id="change-text")

    def on_mount(self) -> None:
        """Begin at the first setting."""
        self.table.focus()

    def reload(self) -> None:
        """Read settings and snapshots again."""
        engine = self.deck.engine
        self.read("settings", lambda: (engine.settings(), engine.snapshots(), engine.tombstones()), self._take)

    def _take(self, found: tuple[list[SettingInfo], list[SnapshotInfo], list[TombstoneInfo]]) -> None:
        first = not self._lines
        self._settings, self._snapshots, self._tombstones = found
        self._list()
        if first:
            self.table.cursor = 1

    def _list(self) -> None:
        newest_first = sorted(self._snapshots, key=lambda snapshot: -snapshot.at_ms)
        items: list[Item] = [t("screen.settings.settings"), *self._settings]
        items += [t("screen.settings.snapshots"), *newest_first]
        if not self._snapshots:
            items.append("  " + t("screen.settings.no_snapshots"))
        items.append(t("screen.settings.tombstones"))
        items += self._tombstones or ["  " + t("screen.settings.no_tombstones")]
        items.append(t("screen.settings.findings"))
        items += ["  " + t("screen.settings.no_findings")] if self._findings is None else self._findings
        self._lines = [Line(at, item) for at, item in enumerate(items)]
        self.table.show(array("q", range(len(items))))

    @on(RowTable.RowsWanted)
    def _rows_wanted(self, wanted: RowTable.RowsWanted) -> None:
        self.table.fill(wanted, [self._lines[id] for id in wanted.ids if id < len(self._lines)])

    def _current(self) -> Item | None:
        at = self.table.current_id
        return self._lines[at].item if at is not None and at < len(self._lines) else None

    @on(RowTable.CursorMoved)
    def _cursor_moved(self) -> None:
        item = self._current()
        text = Content(visible(f"{t('screen.settings.store')}  {self.deck.engine.store_dir}"))
        if isinstance(item, SettingInfo):
            text = _explain_setting(item)
        elif isinstance(item, SnapshotInfo):
            text = _explain_snapshot(item)
        elif isinstance(item, Finding):
            text = Content.assemble(
                visible(item.message),
                "\n\n",
                (t("screen.settings.mend") + "\n", "$text-muted"),
                visible(item.mend or "-"),
            )
        self.query_one("#change-text", Static).update(text)
        self.show_keys()

    def refusal(self, id: str) -> str:
        """Refuse what needs a setting or a snapshot under the cursor."""
        if why := super().refusal(id):
            return why
        item = self._current() if self.is_mounted else None
        if id in ("settings.edit", "settings.reset") and not isinstance(item, SettingInfo):
            return t("screen.settings.pick_setting")
        if id == "settings.reset" and isinstance(item, SettingInfo) and item.origin != "stored":
            return t("screen.settings.not_stored")
        if id == "settings.lift" and not isinstance(item, TombstoneInfo):
            return t("screen.settings.pick_tombstone")
        if id == "settings.restore" and not isinstance(item, SnapshotInfo):
            return t("screen.settings.pick_snapshot")
        return ""

    def do_list_open(self) -> None:
        """Change the setting, or check the snapshot again."""
        item = self._current()
        if isinstance(item, SettingInfo):
            self.action_act("settings.edit")
        elif isinstance(item, SnapshotInfo):
            name = item.name
            self.read("verify", lambda: self.deck.engine.verify_snapshot(name), self._verified)

    def _verified(self, snapshot: SnapshotInfo) -> None:
        good = snapshot.good is not False
        word = t("screen.settings.snapshot_good" if good else "screen.settings.snapshot_bad")
        self.deck.say(f"{snapshot.name}: {word}", severity="information" if good else "error")

    # -- settings --------------------------------------------------------------------------------------------------

    def do_settings_edit(self) -> None:
        """Switch, choose or type the new value."""
        item = self._current()
        if not isinstance(item, SettingInfo):
            return
        title = t("screen.settings.new_value", name=item.name, allowed=_allowed(item))
        if item.kind == "bool":
            self._set(item.name, not item.value)
        elif item.choices:
            options = [(choice, choice) for choice in item.choices]
            self.app.push_screen(
                ChooseDialog(title, options), lambda given: self._set(item.name, given[0]) if given else None
            )
        else:
            self.app.push_screen(PromptDialog(title, str(item.value)), lambda text: self._typed(item, text))

    def _typed(self, item: SettingInfo, text: str | None) -> None:
        if text is None:
            return
        try:
            self._set(item.name, int(text) if item.kind == "int" else text)
        except ValueError:
            self.deck.say(t("screen.settings.no_number", text=visible(text)), severity="error")

    def _set(self, name: str, value: object) -> None:
        self.write(lambda: self.deck.engine.set_setting(OWNER, name, value), self._changed)

    def do_settings_reset(self) -> None:
        """Return to the value of environment, file or default."""
        item = self._current()
        if isinstance(item, SettingInfo):
            self.write(lambda: self.deck.engine.reset_setting(OWNER, item.name), self._changed)

    def _changed(self, info: SettingInfo) -> None:
        key = "screen.settings.set" if info.pending is None else "screen.settings.set_later"
        self.deck.say(t(key, name=info.name, value=shown(info.value), pending=shown(info.pending)), undoable=True)
        self.deck.setting_changed(info)
        self.reload()

    # -- store care ------------------------------------------------------------------------------------------------

    def do_settings_snapshot(self) -> None:
        """Make a snapshot now."""

        def run(reason: str | None) -> None:
            if reason is not None:
                self.write(lambda: self.deck.engine.create_snapshot(OWNER, reason), made)

        def made(snapshot: SnapshotInfo) -> None:
            self.deck.say(t("screen.settings.snapshot_made", name=snapshot.name))
            self.reload()

        self.app.push_screen(PromptDialog(t("screen.settings.snapshot_why")), run)

    def do_settings_restore(self) -> None:
        """Return the store to a snapshot, after the number of its memories was typed."""
        item = self._current()
        if not isinstance(item, SnapshotInfo):
            return
        snapshot = item

        def run(sure: bool | None) -> None:
            if sure:
                self.write(lambda: self.deck.engine.restore_snapshot(OWNER, snapshot.name), self.deck.restored)

        question = t("screen.settings.restore_ask", name=snapshot.name, n=snapshot.memories, at=moment(snapshot.at_ms))
        self.app.push_screen(TypedConfirmDialog(question, f"restore {snapshot.memories}"), run)

    def do_settings_lift(self) -> None:
        """Allow forgotten content to come back."""
        item = self._current()
        if isinstance(item, TombstoneInfo):
            self.write(
                lambda: self.deck.engine.lift_tombstone(OWNER, item.fingerprint),
                lambda _: self.deck.say(t("screen.settings.lifted"), undoable=True),
            )

    def do_settings_doctor(self) -> None:
        """Check everything."""
        self.query_one(StatusLine).place(t("screen.settings.checking"))
        self.read("doctor", self.deck.engine.doctor, self._found)

    def do_settings_mend(self) -> None:
        """Check everything and mend what needs no choice."""
        self.query_one(StatusLine).place(t("screen.settings.checking"))
        self.write(lambda: self.deck.engine.doctor(fix=True), self._found)

    def _found(self, findings: list[Finding]) -> None:
        self._findings = findings
        wrong = sum(finding.level in ("warning", "error") for finding in findings)
        self.query_one(StatusLine).place(t("screen.settings.found", n=wrong))
        self._list()
        first = next((line.at for line in self._lines if isinstance(line.item, Finding)), self.table.cursor)
        self.table.cursor = first

    def do_settings_import(self) -> None:
        """Import memories."""
        self.deck.ask_import()

    def do_settings_export(self) -> None:
        """Write the whole store to a file."""
        engine = self.deck.engine
        day_ = day(engine.now_ms())

        def run(text: str | None) -> None:
            if text:
                path = Path(text).expanduser()
                self.query_one(StatusLine).place(t("screen.settings.exporting"))
                self.read("export", lambda: engine.export(path), lambda n: done(n, path))

        def done(count: int, path: Path) -> None:
            self.query_one(StatusLine).place("")
            self.deck.say(t("screen.settings.exported", n=count, path=visible(str(path))))

        self.app.push_screen(PromptDialog(t("screen.settings.export_ask"), f"~/memdeck-{day_}.json"), run)

    def do_settings_cleanup(self) -> None:
        """Count what was forgotten long ago, and remove it when the owner agrees (T21)."""
        engine = self.deck.engine

        def counted(report: CleanupReport) -> None:
            if not report.memories:
                self.deck.say(t("screen.settings.clean_none"))
                return
            question = t("screen.settings.clean_ask", n=len(report.memories))
            self.app.push_screen(TypedConfirmDialog(question, f"remove {len(report.memories)}"), run)

        def run(sure: bool | None) -> None:
            if sure:
                self.write(lambda: engine.cleanup(OWNER, dry_run=False), done)

        def done(report: CleanupReport) -> None:
            self.deck.say(t("screen.settings.cleaned", n=len(report.memories), name=report.snapshot))
            self.reload()

        self.read("cleanup", lambda: engine.cleanup(OWNER), counted)

    def do_settings_connect(self) -> None:
        """Say how to connect an agent."""
        self.deck.show_connect()


def _allowed(item: SettingInfo) -> str:
    if item.choices:
        return ", ".join(item.choices)
    if item.kind == "bool":
        return f"{t('screen.settings.on')}, {t('screen.settings.off')}"
    return t("screen.settings.between", low=item.low, high=item.high)


def _explain_setting(item: SettingInfo) -> Content:
    facts = [
        ("value", shown(item.value)),
        ("origin", t(f"screen.settings.from.{item.origin}")),
        ("pending", "" if item.pending is None else shown(item.pending)),
        ("range", _allowed(item)),
        ("default", shown(item.default)),
        ("env", item.env),
    ]
    lines = [
        Content.styled(item.name, "bold $accent"),
        Content(t(item.help)) if has(item.help) else Content(""),
        Content(""),
    ]
    lines += [
        Content.assemble((t(f"screen.settings.{key}") + "  ", "$text-muted"), value) for key, value in facts if value
    ]
    return Content("\n").join(lines)


def _explain_snapshot(item: SnapshotInfo) -> Content:
    size = f"{item.bytes / 1_048_576:.1f} MiB"
    return Content("\n").join(
        [
            Content.styled(visible(item.name), "bold $accent"),
            Content(visible(item.reason)),
            Content(""),
            Content.assemble((t("screen.settings.memories") + "  ", "$text-muted"), str(item.memories)),
            Content.assemble((t("screen.settings.size") + "  ", "$text-muted"), size),
            Content.assemble((t("app.journal.op") + "  ", "$text-muted"), str(item.op)),
            Content.assemble(("sha256  ", "$text-muted"), item.sha256[:16]),
        ]
    )
