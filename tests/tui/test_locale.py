"""Both languages say the same things with the same parameters."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest
from rich.cells import cell_len

from tui import i18n


def _placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.fixture(autouse=True)
def _english():
    yield
    i18n.set_language("en")


def test_both_languages_have_the_same_keys():
    assert sorted(i18n.catalogue("en")) == sorted(i18n.catalogue("zh"))


def test_both_languages_have_the_same_placeholders():
    english, chinese = i18n.catalogue("en"), i18n.catalogue("zh")
    differing = {k for k in english if _placeholders(english[k]) != _placeholders(chinese.get(k, ""))}
    assert not differing


def test_no_text_is_empty():
    for language in i18n.LANGUAGES:
        assert not [key for key, text in i18n.catalogue(language).items() if not text.strip()]


def test_an_unknown_key_shows_itself_and_a_missing_parameter_stays_visible(monkeypatch):
    assert i18n.t("no.such.key") == "no.such.key"
    monkeypatch.setitem(i18n.catalogue("en"), "x", "{a} and {b}")
    assert i18n.t("x", a=1) == "1 and {b}"


def test_falls_back_to_english(monkeypatch):
    monkeypatch.setitem(i18n.catalogue("en"), "only.english", "hello")
    i18n.set_language("zh")
    assert i18n.t("only.english") == "hello"


def test_one_and_other_are_chosen_by_n(monkeypatch):
    monkeypatch.setitem(i18n.catalogue("en"), "m.one", "one memory")
    monkeypatch.setitem(i18n.catalogue("en"), "m.other", "{n} memories")
    assert [i18n.t("m", n=n) for n in (0, 1, 2)] == ["0 memories", "one memory", "2 memories"]


@pytest.mark.parametrize(
    ("option", "env", "setting", "expected"),
    [
        ("zh", {"MEMDECK_LANG": "en"}, "en", "zh"),
        (None, {"MEMDECK_LANG": "zh", "LANG": "en_US.UTF-8"}, None, "zh"),
        (None, {"LANG": "en_US.UTF-8"}, "zh", "zh"),
        (None, {"LANG": "zh_CN.UTF-8"}, None, "zh"),
        (None, {"LANG": "C.UTF-8"}, None, "en"),
        ("fr", {}, None, "en"),
    ],
)
def test_the_language_is_the_first_wish_that_can_be_met(option, env, setting, expected):
    assert i18n.choose_language(option, env, setting) == expected


def test_every_kind_of_operation_has_a_word_that_fits_its_column():
    engine = Path(__file__).parents[2] / "engine"
    source = "\n".join(path.read_text(encoding="utf-8") for path in engine.rglob("*.py"))
    kinds = set(re.findall(r'\.write\(\s*by, "([a-z_]+)"', source))
    assert {"remember", "tag_merge"} <= kinds
    for language in i18n.LANGUAGES:
        words = {kind: i18n.catalogue(language).get(f"app.op.{kind}", "") for kind in kinds}
        assert not [kind for kind, word in words.items() if not 0 < cell_len(word) <= 10]
