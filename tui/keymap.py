"""The owner's own keys: keymap.yaml in the store's directory, `action id: key` or a list of keys."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml
from textual.keys import Keys

from tui.actions import _SYMBOLS, ACTIONS, SCREENS, shown_key
from tui.i18n import t

FILE_NAME = "keymap.yaml"

TERMINAL_KEYS = frozenset({"ctrl+m", "ctrl+i", "ctrl+h", "ctrl+j", "ctrl+c", "ctrl+z", "ctrl+left_square_bracket"})
"""Keys that terminals send as enter, tab, backspace or a signal."""

_NAMED = frozenset(key.value for key in Keys if not key.value.startswith("<"))
_FROM_SYMBOL = {symbol: name for name, symbol in _SYMBOLS.items()}


def load_keymap(path: Path) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return the keys that the file changes, and one line for every entry that is refused.

    A missing file changes nothing. Refused are unknown actions, keys that no terminal sends and keys that another
    action of the same screen holds; the other entries apply.
    """
    try:
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}, []
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        return {}, [t("app.keymap.unreadable", file=path.name, why=str(error).splitlines()[0])]
    if tree is None:
        return {}, []
    if not isinstance(tree, Mapping):
        return {}, [t("app.keymap.unreadable", file=path.name, why=t("app.keymap.form"))]
    return check_keymap({str(id): _keys(value) for id, value in tree.items()})


def check_keymap(wishes: Mapping[str, tuple[str, ...]]) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return the wishes that can be met and one line for each that cannot."""
    accepted: dict[str, tuple[str, ...]] = {}
    problems: list[str] = []
    for id, keys in wishes.items():
        if id not in ACTIONS:
            problems.append(t("app.keymap.unknown_action", id=id))
        elif bad := [key for key in keys if not _is_key(key)] or ([""] if not keys else []):
            problems.append(t("app.keymap.bad_key", id=id, key=bad[0]))
        else:
            accepted[id] = keys
    while clash := _first_clash(accepted):
        wish, key, holder = clash
        del accepted[wish]
        problems.append(t("app.keymap.clash", id=wish, key=shown_key(key), holder=holder))
    return accepted, problems


def _first_clash(accepted: Mapping[str, tuple[str, ...]]) -> tuple[str, str, str] | None:
    """Return (changed action, key, action that holds it) of the first clash on any screen."""
    for scopes in SCREENS.values():
        holders: dict[str, str] = {}
        here = [action for action in ACTIONS.values() if action.scope in scopes]
        for action in sorted(here, key=lambda action: action.id in accepted):
            for key in accepted.get(action.id, action.keys):
                if key in holders and holders[key] != action.id:
                    return action.id, key, holders[key]
                holders[key] = action.id
    return None


def _keys(value: object) -> tuple[str, ...]:
    words = value if isinstance(value, list) else [value]
    return tuple(_FROM_SYMBOL.get(word, word) for word in (str(word).strip() for word in words) if word)


def _is_key(key: str) -> bool:
    base = key.removeprefix("ctrl+").removeprefix("shift+").removeprefix("alt+")
    known = len(base) == 1 or base in _SYMBOLS or base in _NAMED or key in _NAMED
    return known and key not in TERMINAL_KEYS
