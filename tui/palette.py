"""The command palette: the registry's actions of the present screen by name, in either language or by id."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

from textual.command import DiscoveryHit, Hit, Provider

from tui.actions import Action, on_screen, shown_key
from tui.deck import DeckScreen
from tui.i18n import catalogue


class ActionProvider(Provider):
    """Offers what the screen below the palette can do now."""

    def _actions(self) -> list[Action]:
        screen = self.screen
        actions = on_screen(screen.NAME) if isinstance(screen, DeckScreen) else []
        return sorted((action for action in actions if action.scope != "list"), key=lambda action: -action.footer)

    def _run(self, id: str) -> None:
        screen = self.screen
        if isinstance(screen, DeckScreen):
            screen.action_act(id)

    async def discover(self) -> AsyncIterator[DiscoveryHit]:
        """Offer everything before anything is typed."""
        for action in self._actions():
            yield DiscoveryHit(_name(action), partial(self._run, action.id), help=action.help)

    async def search(self, query: str) -> AsyncIterator[Hit]:
        """Offer what matches the label, its English label or the action's id."""
        matcher = self.matcher(query)
        for action in self._actions():
            words = (_name(action), catalogue("en").get(f"action.{action.id}.label", ""), action.id)
            score = max(matcher.match(text) for text in words)
            if score > 0:
                yield Hit(score, matcher.highlight(words[0]), partial(self._run, action.id), help=action.help)


def _name(action: Action) -> str:
    return f"{action.label} ({shown_key(action.keys[0])})"
