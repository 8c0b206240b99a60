"""Search terms in any script, and the stems of English words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rules.concepts import concepts
from engine.rules.stem import stem
from engine.rules.terms import bigrams, fold, index_terms, split_terms, tokens


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("consigning", "consign"), ("consolatory", "consolatori"), ("knightly", "knight"), ("hopping", "hop"),
        ("hoping", "hope"), ("national", "nation"), ("relational", "relat"), ("hesitancy", "hesit"), ("cries", "cri"),
        ("skies", "sky"), ("gas", "gas"), ("kiwis", "kiwi"), ("agreed", "agre"), ("feed", "feed"), ("sized", "size"),
        ("generally", "general"), ("analogously", "analog"), ("digitizer", "digit"), ("by", "by"), ("cat's", "cat"),
        ("happily", "happili"), ("adoption", "adopt"), ("roll", "roll"), ("cease", "ceas"), ("enjoyment", "enjoy"),
    ],
)  # fmt: skip
def test_stems_follow_the_published_examples(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize(("form", "base"), [("went", "go"), ("children", "child"), ("bought", "buying")])
def test_irregular_forms_meet_their_base(form: str, base: str) -> None:
    assert stem(form) == stem(base)


def test_width_case_and_accents_never_matter() -> None:
    assert fold("Ｐｏｒｔ ５４３３") == "port 5433"
    assert index_terms("Xưởng Đà Nẵng") == index_terms("xuong da nang")
    assert fold("がぎ") == "がぎ", "kana keep their voicing marks"
    assert fold("한국어") == "한국어"


def test_unspaced_scripts_give_bigrams_and_beside_them_characters() -> None:
    assert split_terms("用 docker 部署网关") == (["用", "docker", "部署", "署网", "网关"], ["部", "署", "网", "关"])
    assert "국어" in index_terms("한국어 프로젝트")
    assert bigrams("猫") == ["猫"]


@pytest.mark.parametrize("text", ["", "   ", "\"*-%_()'", "。，！？", "\x00\ud800"])
def test_text_without_letters_has_no_terms(text: str) -> None:
    assert index_terms(text) == []


def test_a_picture_is_a_term() -> None:
    assert index_terms("pizza 🍕!") == ["pizza", "🍕"]


@given(st.text())
def test_every_text_can_be_taken_apart(text: str) -> None:
    terms, characters = split_terms(text)
    assert all(terms) and all(len(char) == 1 for char in characters)
    assert all(tokens(text))


def test_the_thesaurus_joins_words_of_two_languages() -> None:
    fields = concepts()
    assert set(fields[stem("puppies")]) & set(fields["小狗"])
    assert set(fields[stem("concert")]) & set(fields["演唱"])
    assert "gateway" not in fields
