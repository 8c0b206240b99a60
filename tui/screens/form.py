"""The form of a memory: new, or the next version of one; what is not saved stays as a draft."""

from __future__ import annotations

from collections.abc import Iterable

from textual import events, on
from textual.containers import Grid
from textual.widget import Widget
from textual.widgets import Input, Label, Select, Static, TextArea

from engine.model.enums import Type
from engine.model.errors import MemdeckError
from engine.model.memory import Memory, WriteResult
from tui import fields
from tui.deck import OWNER, DeckScreen
from tui.i18n import has, t
from tui.text import editable, editable_line, visible

LINES = ("description", "name", "subject", "topics", "tags", "aliases", "valid_from", "valid_to")
"""Fields of one line."""


PASTE_MOST = 200_000
"""Characters that may be pasted at once: more would hold up the keyboard for seconds."""

LINE_MOST = 4000
"""Characters of a field of one line."""


class BodyArea(TextArea):
    """The body; refuses a paste that would hold everything up."""

    def on_paste(self, event: events.Paste) -> None:
        """Keep an endless paste from the handler of the base class."""
        if len(event.text) > PASTE_MOST:
            event.prevent_default()
            event.stop()
            self.notify(t("screen.form.too_much", n=PASTE_MOST), severity="warning", markup=False)


class FormScreen(DeckScreen):
    """Edits `base`, or writes a new memory when there is none."""

    NAME = "form"
    TAB = "memories"

    def __init__(self, base: Memory | None) -> None:
        super().__init__()
        self._base = base
        self._saved = False
        self._draft_key = f"mem-{base.id}" if base else "new"
        self._filled: dict[str, tuple[str, str]] = {}

    def body(self) -> Iterable[Widget]:
        """Return one line per field and the text below."""
        base = self._base
        title = t("screen.form.edit", ref=base.ref) if base else t("screen.form.new")
        yield Static(title, id="title", markup=False)
        yield Static(id="banner", markup=False)
        with Grid(id="fields"):
            for field in LINES:
                yield Label(t(f"screen.field.{field}"))
                hint = f"screen.hint.{field}"
                yield Input(
                    id=field, placeholder=t(hint) if has(hint) else "", select_on_focus=False, max_length=LINE_MOST
                )
            yield Label(t("screen.field.type"))
            yield Select(
                [(t(f"app.type.{type.value}"), type.value) for type in Type], id="type", compact=True, prompt="-"
            )
            yield Label(t("screen.field.baseline"))
            yield Select(
                [(t("screen.hint.baseline"), "yes")], id="baseline", compact=True, prompt=t("screen.hint.no_baseline")
            )
        yield Label(t("screen.field.body"), id="body-label")
        yield BodyArea(id="body", soft_wrap=True, tab_behavior="focus")

    def on_mount(self) -> None:
        """Fill in the memory, or the draft that was left."""
        texts = {field: fields.as_text(self._base, field) for field in fields.FIELDS}
        drafts = self.deck.state.get("drafts", {})
        draft = drafts.get(self._draft_key)
        if isinstance(draft, dict):
            texts |= {field: str(text) for field, text in draft.items() if field in texts}
            self.deck.say(t("screen.form.draft"))
        self._fill(texts)
        self.query_one("#banner").display = False
        self.query_one("#description").focus()

    def _fill(self, texts: dict[str, str]) -> None:
        """Show the texts so that none acts on the terminal, and keep what each stands for."""
        for field in LINES:
            line = self.query_one(f"#{field}", Input)
            line.value = editable_line(texts[field])
            self._filled[field] = line.value, texts[field]
        if texts["type"]:
            self.query_one("#type", Select).value = texts["type"]
        if texts["baseline"]:
            self.query_one("#baseline", Select).value = "yes"
        body = self.query_one("#body", TextArea)
        body.text = editable(texts["body"])
        self._filled["body"] = body.text, texts["body"]

    def texts(self) -> dict[str, str]:
        """Return every field as it stands in the form; one that was not touched as it is stored."""
        texts = {field: self.query_one(f"#{field}", Input).value for field in LINES}
        for field in ("type", "baseline"):
            chosen = self.query_one(f"#{field}", Select).value
            texts[field] = chosen if isinstance(chosen, str) else ""
        texts["body"] = self.query_one("#body", TextArea).text
        for field, (shown, stored) in self._filled.items():
            texts[field] = stored if texts[field] == shown else texts[field]
        return texts

    def store_changed(self) -> None:
        """Warn while typing when somebody else changed the memory."""
        if (base := self._base) is not None:
            self.read("theirs", lambda: self.deck.engine.get(OWNER, f"mem-{base.id}"), self._seen)

    def _seen(self, now: Memory) -> None:
        banner = self.query_one("#banner", Static)
        banner.display = self._base is not None and now.revision != self._base.revision
        banner.update(visible(t("screen.form.changed", who=now.actor, revision=now.revision)))

    # -- saving ----------------------------------------------------------------------------------------------------

    def refusal(self, id: str) -> str:
        """Refuse to save while looking at the past or at a read-only store."""
        return self.deck.refusal("memory.edit") if id == "form.save" else super().refusal(id)

    @on(Input.Submitted)
    def _next_field(self) -> None:
        self.focus_next()

    def do_form_save(self) -> None:
        """Save; a refusal keeps the form and everything typed."""
        engine, base, texts = self.deck.engine, self._base, self.texts()
        now = self.deck.engine.now_ms()
        try:
            if base is None:
                draft = fields.draft(texts, now)
                self.write(lambda: engine.remember(OWNER, draft), self._done)
                return
            changes = fields.changes(base, texts, now)
        except MemdeckError as error:
            self.deck.fail(error)
            return
        if changes:
            self.write(lambda: engine.edit(OWNER, base.ref, changes), self._done, self._refused)
        else:
            self.deck.say(t("screen.form.nothing"))

    def _done(self, result: WriteResult) -> None:
        self._saved = True
        if self._base is None:
            self.deck.point_at(result.id)
        self._keep_draft(None)
        for note in (*result.notes, *result.warnings):
            self.deck.say(visible(note))
        self.deck.say(t("screen.form.saved", ref=result.ref), undoable=True)
        self.deck.leave(self)

    def _refused(self, error: MemdeckError) -> None:
        theirs = error.params.get("theirs")
        if error.code == "stale_revision" and isinstance(theirs, Memory) and self._base is not None:
            self.deck.open_conflict(self._base, theirs, self.texts(), self._done)
        else:
            self.deck.fail(error)

    def _keep_draft(self, texts: dict[str, str] | None) -> None:
        drafts = dict(self.deck.state.get("drafts", {}))
        drafts.pop(self._draft_key, None)
        if texts is not None:
            drafts[self._draft_key] = texts
        self.deck.state.set("drafts", drafts)

    @on(Input.Changed)
    @on(TextArea.Changed)
    @on(Select.Changed)
    def _typed(self) -> None:
        if not self._saved:
            texts = self.texts()
            differs = any(texts[field] != fields.as_text(self._base, field) for field in fields.FIELDS)
            self._keep_draft(texts if differs else None)

    def do_app_back(self) -> None:
        """Leave; what was typed stays as a draft."""
        if self._draft_key in self.deck.state.get("drafts", {}):
            self.deck.say(t("screen.form.kept"))
        self.deck.leave(self)
