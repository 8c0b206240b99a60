"""What is one tag and what is none: spellings, codes, words that fit everything, and what an extracted tag needs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.enums import TagType
from engine.rules.tagging import (
    SYSTEM_TAGS,
    dimension_words,
    is_defined_as,
    is_generic,
    is_name,
    malformations,
    quality_gate,
    shortcomings,
    shown_name,
    tag_code,
    tag_key,
)  # fmt: skip


@pytest.mark.parametrize(
    "spellings",
    [
        ("Code Review", "code-review", "CODE_REVIEW", "ＣｏｄｅＲｅｖｉｅｗ", "#code-review"),
        ("code review", "code\u00a0 review", "Co\u200bde Review"),
        ("标签库", "标签 库", "标签-库", "标签・库"),
        ("café", "cafe\u0301", "CAFÉ"),
        ("Straße", "STRASSE"),
        ("ﾃﾞﾌﾟﾛｲ", "デプロイ"),
        ("☕️", "☕"),
        ("२०२६", "२०२६"),
        ("हिन्दी भाषा", "हिन्दी-भाषा"),
    ],
)  # fmt: skip
def test_what_a_person_would_call_the_same_is_one_tag(spellings: tuple[str, ...]) -> None:
    assert len({tag_key(s) for s in spellings}) == 1


@pytest.mark.parametrize(
    "different",
    [
        ("C", "C++", "C#"),
        ("2026-11", "202611"),
        ("1-2", "12"),
        ("café", "cafe"),
        ("Xưởng", "Xuong"),
        ("部署", "部属"),
        ("node.js", "nodejs"),
        ("👍", "👎"),
        ("-v", "v"),
    ],
)
def test_what_a_person_would_tell_apart_is_not(different: tuple[str, ...]) -> None:
    assert len({tag_key(d) for d in different}) == len(different)


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("aA-_ #\u200d1２é\u0301ß　・\u1100\u1161"))))
def test_a_key_is_its_own_key_and_the_shown_name_keeps_it(text: str) -> None:
    key = tag_key(text)
    assert tag_key(key) == key
    if is_name(text):
        assert tag_key(shown_name(text)) == key
        assert "\n" not in shown_name(text) and "\u202e" not in shown_name(text)


@pytest.mark.parametrize("text", ["", "   ", "。。。", "!?", "#", "---", "\u200b", "\u202e\u202c", "…", "()", "+"])
def test_signs_alone_name_nothing(text: str) -> None:
    assert not is_name(text)


@pytest.mark.parametrize("text", ["a", "猫", "7", "🍕", "👩\u200d👧", "C++", "हि", "№"])
def test_a_letter_a_digit_or_a_picture_is_a_name(text: str) -> None:
    assert is_name(text)


def test_codes_have_type_name_and_a_number_that_does_not_run_out() -> None:
    assert tag_code(TagType.SKILL, "Code review", 7) == "TAG_SKILL_CODEREVIEW_007"
    assert tag_code(TagType.CONTENT, "🍕", 13) == "TAG_CONTENT_UNKNOWN_013"
    assert tag_code(TagType.CONTENT, "ａ-b", 1000) == "TAG_CONTENT_AB_1000"
    assert tag_code(TagType.CONTENT, "x" * 500, 1) == f"TAG_CONTENT_{'X' * 40}_001"


@pytest.mark.parametrize("word", ["东西", "问题", "Other", "misc", "Ｓｔｕｆｆ", "THINGS", "その他", "其他", "問題"])
def test_words_that_fit_everything_are_generic(word: str) -> None:
    assert is_generic(word)


@pytest.mark.parametrize("word", ["部署", "gateway", "C++", "问题单", "🍕", "测试"])
def test_words_that_tell_memories_apart_are_not(word: str) -> None:
    assert not is_generic(word)


def test_the_gate_keeps_four_that_locate_and_says_why_not_the_others() -> None:
    gate = quality_gate(["部署", "问题", "东西", "网关", "证书", "回滚", "监控"])
    assert gate.kept == ("部署", "网关", "证书", "回滚")
    assert dict(gate.refused) == {"问题": "generic", "东西": "generic", "监控": "more than 4"}


def test_the_gate_takes_one_spelling_and_no_signs() -> None:
    gate = quality_gate(["Gateway", "gate-way", "。。", "", "x" * 41, "🍕"])
    assert gate.kept == ("Gateway", "🍕")
    assert [reason for _, reason in gate.refused] == ["given twice", "no name", "no name", "longer than 40 characters"]


def test_an_extracted_tag_needs_definitions_synonyms_and_a_dimension() -> None:
    assert shortcomings(["上线流程", "发布步骤"], ["发布", "上线"], ["任务"]) == ()
    assert shortcomings(["上线流程"], ["发布"], ["天气"]) == ("definitions", "synonyms", "dimension")
    assert shortcomings(["x" * 11, "y"], ["a", "b", "c", "d", "e"], ["task"]) == ("definitions", "synonyms")


def test_dimensions_are_read_in_both_languages_and_joined() -> None:
    assert dimension_words(["内容,任务"]) == ("内容", "任务")
    assert dimension_words(["Scene", "场景", "weather"]) == ("场景",)


def test_a_definition_fits_when_one_holds_the_other() -> None:
    assert is_defined_as("水果", ["一种水果"]) and is_defined_as("A red FRUIT", ["fruit"])
    assert not is_defined_as("水果", ["手机品牌"]) and not is_defined_as("", ["x"]) and not is_defined_as("x", [""])


def test_a_stored_tag_is_malformed_without_definition_dimensions_or_form() -> None:
    assert malformations("d", ["任务"]) == ()
    assert malformations(" ", []) == ("definition", "dimensions")
    assert malformations("d", "任务") == ("form",) and malformations("", None) == ("definition", "form")


def test_the_system_has_twelve_tags_with_codes_of_their_own() -> None:
    assert len({code for _, _, code, *_ in SYSTEM_TAGS}) == len({tag_key(n) for _, n, *_ in SYSTEM_TAGS}) == 12
    assert not any(is_generic(name) for _, name, *_ in SYSTEM_TAGS)
