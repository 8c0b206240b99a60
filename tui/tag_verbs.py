"""What can be done to tags: on the one under the cursor or on the marked set, the set in one operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engine.model.enums import TagLevel
from engine.model.errors import MemdeckError
from engine.model.memory import Caller
from engine.model.tags import Evolution, TagLine, TagResult, TagView
from tui.deck import OWNER, DeckScreen
from tui.errors import explain
from tui.i18n import t
from tui.modals.dialogs import ChooseDialog, PromptDialog
from tui.text import visible
from tui.widgets.tag_graph import TagGraph
from tui.words import tag_level

MOST = 100
"""Tags that one operation can change."""

CLOSER = {TagLevel.LOOSE: TagLevel.RELATED, TagLevel.RELATED: TagLevel.SYNONYM}
_FREE = ("tags.new", "tags.view", "tags.walk", "tags.out", "tags.target")
_ONE = ("tags.define", "tags.synonyms", "tags.raise", "tags.unrelate")


class TagVerbs(DeckScreen):
    """Mixin of the verbs; the screen says what they aim at."""

    shown: TagView | None

    @property
    def graph(self) -> TagGraph:
        """The graph around the shown tag."""
        raise NotImplementedError

    def targets(self) -> list[tuple[str, str]]:
        """Return code and name of what a verb acts on."""
        raise NotImplementedError

    def under_cursor(self) -> tuple[str, str] | None:
        """Return code and name of the tag under the cursor."""
        raise NotImplementedError

    def marked(self) -> list[TagLine]:
        """Return the marked tags."""
        raise NotImplementedError

    def target(self) -> TagLine | None:
        """Return the tag that others are to be merged into."""
        raise NotImplementedError

    def set_target(self, code: str | None) -> None:
        """Choose that tag."""
        raise NotImplementedError

    def known(self) -> list[TagLine]:
        """Return what a tag can be related to."""
        raise NotImplementedError

    def acted(self) -> None:
        """Tidy up after a verb."""
        raise NotImplementedError

    def refusal(self, id: str) -> str:
        """Refuse also what has nothing, or too much, to act on."""
        if why := super().refusal(id):
            return why
        if id == "tags.merge" and self.is_mounted:
            return "" if self._sources() else t("screen.tags.mark_sources")
        if id.startswith("tags.") and id not in _FREE and self.is_mounted:
            count = len(self.targets())
            if not count:
                return t("app.refused.nothing_here")
            if id in _ONE and count > 1:
                return t("screen.tags.only_one")
            if count > MOST:
                return t("screen.tags.too_many", n=MOST)
        return ""

    # -- status ----------------------------------------------------------------------------------------------------

    def do_tags_new(self) -> None:
        """Add a tag by its name."""

        def run(name: str | None) -> None:
            if name:
                self._write(lambda: self.deck.engine.add_tag(OWNER, name), "new", visible(name))

        self.app.push_screen(PromptDialog(t("screen.tags.ask.new")), run)

    def do_tags_activate(self) -> None:
        """Take an unexamined tag into use."""
        self._each("activate", self.targets(), self.deck.engine.activate, {"action": "activate"})

    def do_tags_reactivate(self) -> None:
        """Bring a deprecated tag back."""
        self._each("reactivate", self.targets(), self.deck.engine.reactivate, {"action": "activate"})

    def do_tags_deprecate(self) -> None:
        """Take tags out of recall, with a reason that the journal keeps."""
        engine, ones = self.deck.engine, self.targets()

        def run(reason: str | None) -> None:
            if reason is not None:
                action = {"action": "deprecate", "reason": reason or t("screen.tags.no_reason")}
                self._each("deprecate", ones, lambda by, tag: engine.deprecate(by, tag, reason), action)

        self.app.push_screen(PromptDialog(t("screen.tags.ask.deprecate", what=_names(ones))), run)

    # -- texts -----------------------------------------------------------------------------------------------------

    def do_tags_define(self) -> None:
        """Say what the tag means."""
        self._edit("definition", lambda view: view.definition)

    def do_tags_synonyms(self) -> None:
        """Change the other names of the tag."""
        self._edit("synonyms", lambda view: ", ".join(view.synonyms))

    def _edit(self, field: str, text: Callable[[TagView], str]) -> None:
        engine, (code, name) = self.deck.engine, self.targets()[0]

        def ask(view: TagView) -> None:
            before = text(view)

            def run(after: str | None) -> None:
                if after is None or after == before:
                    return
                changes = _synonyms(view.synonyms, after) if field == "synonyms" else {field: after}
                self._write(lambda: engine.edit_tag(OWNER, code, changes), "edit", name)

            title = t(f"screen.tags.ask.{field}", what=visible(name))
            self.app.push_screen(PromptDialog(title, before, hint=t(f"screen.tags.hint.{field}")), run)

        self.read("verb", lambda: engine.tag(OWNER, code), ask)

    # -- relations -------------------------------------------------------------------------------------------------

    def do_tags_relate(self) -> None:
        """Relate the tags to another: choose which, then how closely."""
        ones = self.targets()
        codes = {code for code, _ in ones}
        options = [(line.code, f"{line.name} ({line.cards})") for line in self.known() if line.code not in codes]
        levels = [(level.value, tag_level(level)) for level in TagLevel]
        names = {line.code: line.name for line in self.known()}

        def which(other: tuple[str, ...] | None) -> None:
            if other:
                title = t("screen.tags.ask.level", what=_names(ones), other=visible(names[other[0]]))
                self.app.push_screen(ChooseDialog(title, levels), lambda level: how(other[0], level))

        def how(other: str, level: tuple[str, ...] | None) -> None:
            if level:
                action = {"action": "relate", "other": other, "level": level[0]}
                self._each("relate", ones, lambda by, tag: self.deck.engine.relate(by, tag, other, level[0]), action)

        self.app.push_screen(ChooseDialog(t("screen.tags.ask.relate", what=_names(ones)), options), which)

    def do_tags_raise(self) -> None:
        """Make a relation closer by one level; levels only rise."""

        def run(one: str, other: str, level: TagLevel) -> None:
            if level not in CLOSER:
                self.deck.say(t("screen.tags.closest"), severity="warning")
                return
            closer = CLOSER[level]
            self._write(lambda: self.deck.engine.relate(OWNER, one, other, closer), "raise", tag_level(closer))

        self._with_relation("raise", run)

    def do_tags_unrelate(self) -> None:
        """End a relation."""
        self._with_relation(
            "unrelate",
            lambda one, other, _: self._write(lambda: self.deck.engine.unrelate(OWNER, one, other), "unrelate", ""),
        )

    def _with_relation(self, verb: str, then: Callable[[str, str, TagLevel], None]) -> None:
        """Go on with the relation under the graph's cursor, else with one that is chosen."""
        graph, view = self.graph, self.shown
        branch = graph.branch
        if graph.has_focus and branch and branch.level and branch.parent is not None:
            then(graph.lines[branch.parent].node.code, branch.node.code, branch.level)
            return
        if view is None or not view.relations:
            self.deck.say(t("screen.tags.no_relations"), severity="warning")
            return
        levels = {relation.code: relation.level for relation in view.relations}
        options = [(other.code, f"{other.name} · {tag_level(other.level)}") for other in view.relations]

        def run(chosen: tuple[str, ...] | None) -> None:
            if chosen:
                then(view.code, chosen[0], levels[chosen[0]])

        self.app.push_screen(ChooseDialog(t(f"screen.tags.ask.{verb}", what=visible(view.name)), options), run)

    # -- merging ---------------------------------------------------------------------------------------------------

    def do_tags_target(self) -> None:
        """Choose the tag under the cursor as what the marked ones become, or give that up."""
        here, now = self.under_cursor(), self.target()
        if here is None:
            return
        code, name = here
        if now and now.code == code:
            self.set_target(None)
        else:
            self.set_target(code)
            self.deck.say(t("screen.tags.is_target", what=visible(name)))

    def _sources(self) -> list[str]:
        target = self.target()
        return [line.code for line in self.marked() if line.code != target.code] if target else []

    def do_tags_merge(self) -> None:
        """Show what merging the marked tags into the target would do."""
        if target := self.target():
            self.deck.open_merge(self._sources(), target.code, self._merged)

    def _merged(self) -> None:
        self.set_target(None)
        self.acted()

    # -- writing ---------------------------------------------------------------------------------------------------

    def _each(
        self,
        verb: str,
        ones: Sequence[tuple[str, str]],
        call: Callable[[Caller, str], TagResult],
        action: Mapping[str, object],
    ) -> None:
        """Do a verb to one tag by `call`, or to many by `action` in one operation."""
        if len(ones) == 1:
            code, name = ones[0]
            self._write(lambda: call(OWNER, code), verb, visible(name))
            return
        batch = [{**action, "tag": code} for code, _ in ones]
        self.write(lambda: self.deck.engine.evolve(OWNER, batch), lambda done: self._evolved(verb, done))

    def _write(self, call: Callable[[], TagResult], verb: str, what: str) -> None:
        self.write(call, lambda result: self._done(verb, what, result))

    def _done(self, verb: str, what: str, result: TagResult) -> None:
        if result.op is None:
            self.deck.say(t("screen.tags.unchanged"), severity="warning")
            return
        self.deck.say(t(f"screen.tags.done.{verb}", what=what), undoable=True)
        self.acted()

    def _evolved(self, verb: str, done: Evolution) -> None:
        bad = [result for result in done.results if not result.ok]
        text = t("screen.tags.batch", what=t(f"action.tags.{verb}.label"), n=len(done.results) - len(bad))
        if bad:
            first = explain(MemdeckError(bad[0].code, bad[0].message, ""))
            text += " · " + t("screen.tags.batch_bad", n=len(bad), why=visible(first))
        self.deck.say(text, undoable=done.op is not None, severity="warning" if bad else "information")
        self.acted()


def _names(ones: Sequence[tuple[str, str]]) -> str:
    shown = ", ".join(visible(name) for _, name in ones[:4])
    return shown if len(ones) <= 4 else t("screen.tags.and_more", what=shown, n=len(ones) - 4)


def _synonyms(before: Sequence[str], after: str) -> dict[str, object]:
    """Return the changes from a list of synonyms to a typed one."""
    words = [word.strip() for word in after.replace("，", ",").replace("、", ",").split(",")]
    now = [word for word in words if word]
    return {
        "synonyms": [word for word in now if word not in before],
        "remove_synonyms": [word for word in before if word not in now],
    }
