"""The registry: no key twice on a screen, both languages, full-width twins, the owner's own keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from tui import actions, i18n
from tui.actions import ACTIONS, SCREENS, on_screen, shown_key, wide_twins
from tui.keymap import TERMINAL_KEYS, check_keymap, load_keymap
from tui.keysheet import BEGIN, END, key_sheet


@pytest.mark.parametrize("screen", SCREENS)
def test_no_key_means_two_things_on_a_screen(screen):
    holders: dict[str, str] = {}
    for action in on_screen(screen):
        for key in [name for each in action.keys for name in (each, *wide_twins(each))]:
            assert holders.setdefault(key, action.id) == action.id
    assert holders


def test_every_action_is_reachable_by_a_key_that_terminals_send():
    used = {scope for scopes in SCREENS.values() for scope in scopes}
    for action in ACTIONS.values():
        assert action.scope in used
        assert action.keys
        assert not TERMINAL_KEYS & set(action.keys)
        assert all(key not in ("up", "down") or action.scope == "list" for key in action.keys)


def test_every_ctrl_key_has_a_plain_alternative_unless_it_is_meant_for_inputs():
    only_ctrl = {a.id for a in ACTIONS.values() if all(key.startswith("ctrl+") for key in a.keys)}
    assert only_ctrl == {"memory.expunge", "form.save"}


@pytest.mark.parametrize("language", i18n.LANGUAGES)
def test_every_action_has_label_and_help_in_both_languages(language):
    texts = i18n.catalogue(language)
    for id in ACTIONS:
        assert texts[f"action.{id}.label"]
        assert texts[f"action.{id}.help"]


def test_no_text_is_left_for_an_action_that_is_gone():
    known = {f"action.{id}.{part}" for id in ACTIONS for part in ("label", "help")}
    assert {key for key in i18n.catalogue("en") if key.startswith("action.")} == known


def test_the_key_sheet_names_every_action():
    sheet = key_sheet()
    for action in ACTIONS.values():
        assert action.help in sheet
        assert f"`{shown_key(action.keys[0])}`" in sheet


def test_wide_twins_are_the_names_that_textual_gives_to_the_keys():
    from textual.keys import _character_to_key

    for char in "aZ1?:/[]@*_-+,\\":
        name = _character_to_key(char)
        twins = wide_twins(name if name in actions._SYMBOLS else char)
        assert _character_to_key(chr(ord(char) + 0xFEE0)) in twins
    assert _character_to_key("、") in wide_twins("backslash")
    assert wide_twins("enter") == wide_twins("ctrl+p") == wide_twins("f1") == ()


def test_a_keymap_changes_keys():
    assert check_keymap({"memory.archive": ("X",)}) == ({"memory.archive": ("X",)}, [])


def test_a_keymap_swaps_two_keys():
    wishes = {"memory.archive": ("e",), "memory.edit": ("x",)}
    assert check_keymap(wishes) == (wishes, [])


@pytest.mark.parametrize(
    ("id", "keys", "said"),
    [
        ("memory.fly", ("z",), "no action memory.fly"),
        ("memory.archive", ("e",), "belongs to memory.edit"),
        ("memory.archive", ("u",), "belongs to app.undo"),
        ("memory.archive", ("ctrl+m",), "no terminal sends"),
        ("memory.archive", ("hyper+x",), "no terminal sends"),
        ("memory.archive", (), "no terminal sends"),
    ],
)
def test_what_a_keymap_cannot_have_is_refused_in_one_line(id, keys, said):
    accepted, problems = check_keymap({id: keys, "memory.lock": ("L",)})
    assert accepted == {"memory.lock": ("L",)}
    assert len(problems) == 1
    assert said in problems[0]


def test_a_keymap_file(tmp_path):
    path = tmp_path / "keymap.yaml"
    assert load_keymap(path) == ({}, [])
    path.write_text("memory.archive: X\nbrowse.filter: ['ctrl+f', '&']\n", encoding="utf-8")
    assert load_keymap(path)[0]["memory.archive"] == ("X",)
    for text in ("- a\n- b\n", "a: [\n", "\x00"):
        path.write_text(text, encoding="utf-8")
        keymap, problems = load_keymap(path)
        assert keymap == {}
        assert len(problems) == 1
        assert "\n" not in problems[0]


@pytest.mark.parametrize("screen", SCREENS)
def test_every_action_of_a_screen_has_somebody_who_does_it(screen):
    from tui.app import MemdeckApp
    from tui.deck import DeckScreen

    def kinds(base):
        for kind in base.__subclasses__():
            yield kind
            yield from kinds(kind)

    makers = [kind for kind in kinds(DeckScreen) if getattr(kind, "NAME", "") == screen]
    assert makers
    for maker in makers:
        for action in on_screen(screen):
            name = "do_" + action.id.replace(".", "_")
            assert hasattr(maker, name) or hasattr(MemdeckApp, name), name


def test_every_call_of_an_action_is_a_method_of_the_engine():
    from engine.facade import Engine

    for action in ACTIONS.values():
        assert all(hasattr(Engine, name) for name in action.call.split()), action.id


def test_the_key_sheet_of_the_readme_is_current():
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert readme.count(BEGIN) == readme.count(END) == 1
    shown = readme.partition(BEGIN)[2].partition(END)[0]
    assert shown.strip() == key_sheet().strip(), "put the output of `python -m tui.keysheet en` into README.md"
