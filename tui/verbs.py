"""What can be done to memories, the same on every screen that shows them: one row or the marked set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from engine.model.errors import MemdeckError
from engine.model.memory import Draft, Memory, WriteResult
from tui.deck import OWNER, DeckScreen
from tui.editor import edit_outside
from tui.i18n import t
from tui.modals.dialogs import ConfirmDialog, PromptDialog, TypedConfirmDialog
from tui.text import visible

MANY = 20
"""More targets than this are asked about first."""


class MemoryVerbs(DeckScreen):
    """Mixin of the verbs; the screen says what they aim at."""

    def targets(self) -> Sequence[int]:
        """Return the marked memories, or the one under the cursor."""
        raise NotImplementedError

    def current_id(self) -> int | None:
        """Return the number of the memory under the cursor."""
        raise NotImplementedError

    def with_memory(self, then: Callable[[Memory], None]) -> None:
        """Read the memory under the cursor as it is now and go on with it: lists may lag and carry no bodies."""
        if (id := self.current_id()) is not None:
            self.read("verb", lambda: self.deck.engine.get(OWNER, f"mem-{id}"), then)

    def acted(self) -> None:
        """Tidy up after a verb: marks have done their duty."""

    def refusal(self, id: str) -> str:
        """Refuse also what has nothing to act on."""
        if why := super().refusal(id):
            return why
        if id.startswith("memory.") and id != "memory.new" and not self.targets():
            return t("app.refused.nothing_here")
        if id == "memory.merge" and len(self.targets()) != 2:
            return t("app.refused.mark_two")
        return ""

    def do_memory_new(self) -> None:
        """Write a memory by hand."""
        self.deck.open_form(None)

    def do_memory_edit(self) -> None:
        """Edit the memory in a form."""
        self.with_memory(self.deck.open_form)

    def do_memory_editor(self) -> None:
        """Edit the text in the owner's editor: the first line is the sentence, the rest the body."""
        self.with_memory(self._edit_outside)

    def _edit_outside(self, memory: Memory) -> None:
        before = f"{memory.description}\n\n{memory.body}".rstrip("\n") + "\n"
        try:
            after = edit_outside(self.app, f"mem-{memory.id}", before)
        except MemdeckError as error:
            self.deck.fail(error)
            return
        was, now = _sentence_and_body(before), _sentence_and_body(after)
        changes = {field: text for field, text in now.items() if text != was[field]}
        if not changes:
            self.deck.say(t("screen.form.nothing"))
            return
        self.write(
            lambda: self.deck.engine.edit(OWNER, memory.ref, changes),
            lambda result: self.deck.say(t("screen.form.saved", ref=result.ref), undoable=True),
        )

    def do_memory_archive(self) -> None:
        """Archive the targets."""
        self._forget("archive")

    def do_memory_restore(self) -> None:
        """Bring the targets back."""
        self._forget("restore")

    def do_memory_forget(self) -> None:
        """Forget the targets; undoing brings them back."""
        self._forget("forget")

    def _forget(self, how: str) -> None:
        refs = [f"mem-{id}" for id in self.targets()]

        def run(sure: bool | None = True) -> None:
            if sure:
                self.write(lambda: self.deck.engine.forget(OWNER, refs, how=how), done)

        def done(results: list[WriteResult]) -> None:
            what = refs[0] if len(refs) == 1 else t("app.memories", n=len(refs))
            self.deck.say(t(f"app.done.{how}", what=what), undoable=True)
            self.acted()

        if len(refs) > MANY:
            self.app.push_screen(ConfirmDialog(t(f"app.ask.{how}", n=len(refs))), run)
        else:
            run()

    def do_memory_lock(self) -> None:
        """Lock or unlock the memory under the cursor: agents cannot touch a locked one."""
        self.with_memory(self._lock)

    def _lock(self, memory: Memory) -> None:
        key = "app.done.unlock" if memory.locked else "app.done.lock"
        self.write(
            lambda: self.deck.engine.lock(OWNER, f"mem-{memory.id}", not memory.locked),
            lambda _: self.deck.say(t(key, what=f"mem-{memory.id}"), undoable=True),
        )

    def do_memory_merge(self) -> None:
        """Merge the other marked memory into the one under the cursor (C5)."""
        first, second = self.targets()
        target, source = (first, second) if self.current_id() == first else (second, first)

        def run(sure: bool | None) -> None:
            if sure:
                self.write(lambda: self.deck.engine.merge(OWNER, f"mem-{source}", f"mem-{target}"), done)

        def done(_: WriteResult) -> None:
            self.deck.say(t("app.done.merge", source=f"mem-{source}", target=f"mem-{target}"), undoable=True)
            self.acted()

        self.app.push_screen(ConfirmDialog(t("app.ask.merge", source=f"mem-{source}", target=f"mem-{target}")), run)

    def do_memory_supersede(self) -> None:
        """Say what is true from now on; the old memory stays true of its time (C2)."""
        self.with_memory(partial(self._replace, was="outdated"))

    def do_memory_correct(self) -> None:
        """Say what was wrong all along (C6)."""
        self.with_memory(partial(self._replace, was="wrong"))

    def _replace(self, old: Memory, was: str) -> None:
        def run(text: str | None) -> None:
            if text and text != old.description:
                draft = Draft(text, type=old.type, tags=old.tags, topics=old.topics, subject=old.subject)
                self.write(
                    lambda: self.deck.engine.remember(OWNER, draft, replaces=old.ref, was=was),
                    lambda result: self.deck.say(
                        t(f"app.done.{was}", what=f"mem-{old.id}", new=f"mem-{result.id}"), undoable=True
                    ),
                )

        self.app.push_screen(PromptDialog(t(f"app.ask.{was}", what=f"mem-{old.id}"), old.description), run)

    def do_memory_expunge(self) -> None:
        """Erase one memory for good, from journal and snapshots too; the only verb that `u` cannot take back."""
        id = self.current_id()
        ref = f"mem-{id}"

        def run(sure: bool | None) -> None:
            if sure:
                self.write(
                    lambda: self.deck.engine.expunge(OWNER, ref),
                    lambda report: self.deck.say(
                        t("app.done.expunge_pending" if report.pending else "app.done.expunge", what=ref)
                    ),
                )

        self.app.push_screen(TypedConfirmDialog(t("app.ask.expunge", what=ref), f"erase {id}"), run)

    def do_memory_copy(self) -> None:
        """Copy the reference."""
        self._copy(lambda memory: memory.ref)

    def do_memory_copy_text(self) -> None:
        """Copy the text."""
        self._copy(lambda memory: f"{memory.description}\n\n{memory.body}".strip())

    def _copy(self, text: Callable[[Memory], str]) -> None:
        def copy(memory: Memory) -> None:
            self.app.copy_to_clipboard(text(memory))
            self.deck.say(t("app.copied", what=visible(text(memory).splitlines()[0][:60])))

        self.with_memory(copy)


def _sentence_and_body(text: str) -> dict[str, str]:
    first, _, rest = text.partition("\n")
    return {"description": first.strip(), "body": rest.strip("\n")}
