from __future__ import annotations

import sqlite3
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rules.textnorm import (
    clean_input,
    clip,
    clusters,
    fingerprint_text,
    fold,
    has_cjk,
    is_cjk,
    one_line,
    visible,
)

ANY_TEXT = st.text(st.characters(), max_size=60)  # lone surrogates included
FAMILY = "👨\u200d👩\u200d👧"
SCOTLAND = "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ＰＯＲＴ８０８０", "port8080"),
        ("Straße", "STRASSE"),
        ("Việt", "vie\u0323\u0302t"),
        ("ｶﾀｶﾅ", "カタカナ"),
    ],
)
def test_fold_makes_forms_of_the_same_word_equal(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@given(ANY_TEXT)
def test_fold_is_stable(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    "variant",
    [
        "User likes tea",
        "  user  likes\n tea. ",
        "ＵＳＥＲ likes\u200b tea！",
        "User\u2060 likes tea…",
        "\ufeffUser likes tea",
    ],
)
def test_fingerprint_of_the_same_content(variant: str) -> None:
    assert fingerprint_text(variant) == "user likes tea"


def test_fingerprint_keeps_what_differs() -> None:
    assert fingerprint_text("port 8080") != fingerprint_text("port 8081")
    assert fingerprint_text("?!") == "?!"
    assert fingerprint_text("C++") == "c++"
    assert fingerprint_text("用户 24 岁。") == "用户24岁"


@given(ANY_TEXT)
def test_fingerprint_is_stable_and_encodable(text: str) -> None:
    once = fingerprint_text(text)
    once.encode("utf-8")
    assert fingerprint_text(once) == once


@given(ANY_TEXT)
def test_clean_input_is_storable_and_changes_only_surrogates(text: str) -> None:
    cleaned = clean_input(text)
    cleaned.encode("utf-8")
    if not any("\ud800" <= ch <= "\udfff" for ch in text):
        assert cleaned == text


def test_clean_input_joins_pairs_and_replaces_the_rest() -> None:
    assert clean_input("a\ud83d\ude00b") == "a😀b"
    assert clean_input("a\ud83db\udc00") == "a\ufffdb\ufffd"


def test_nul_and_controls_survive_sqlite() -> None:
    text = clean_input("a\x00b\x1b[31m\u202ec\ufffe")
    row = sqlite3.connect(":memory:").execute("SELECT ?", (text,)).fetchone()
    assert row == (text,)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred\x07", "␛[31mred␇"),
        ("a\x00b\x7f\x9bc", "a␀b␡⟨U+009B⟩c"),
        ("pay\u202eecila", "pay⟨U+202E⟩ecila"),
        ("lone \udc80", "lone ⟨U+DC80⟩"),
        ("one\r\ntwo\rthree\tx", "one\ntwo␍three\tx"),
        ("hid\u200bden\U000e0041", "hid⟨U+200B⟩den⟨U+E0041⟩"),
        (FAMILY + SCOTLAND + "❤️ naïve 中文", FAMILY + SCOTLAND + "❤️ naïve 中文"),
    ],
)
def test_visible(raw: str, shown: str) -> None:
    assert visible(raw) == shown


@given(ANY_TEXT)
def test_visible_is_harmless_and_stable(text: str) -> None:
    shown = visible(text)
    shown.encode("utf-8")
    assert not any(unicodedata.category(ch) in ("Cc", "Cs") and ch not in "\n\t" for ch in shown)
    assert not any(ch in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" for ch in shown)
    assert visible(shown) == shown


def test_cjk_covers_three_languages_and_nothing_else() -> None:
    assert all(is_cjk(ch) for ch in "中𠮷々あアー한ㄅｱ")
    assert not any(is_cjk(ch) for ch in "aé1。，、 🙂Яไ「")
    assert has_cjk("port 端口") and not has_cjk("port 8080 🙂")


def test_clusters_keep_what_a_reader_sees_as_one() -> None:
    assert list(clusters("e\u0301" + FAMILY + "👍🏽🇨🇳🇻🇳한\r\n" + SCOTLAND)) == [
        "e\u0301", FAMILY, "👍🏽", "🇨🇳", "🇻🇳", "한", "\r\n", SCOTLAND,
    ]  # fmt: skip
    assert list(clusters("\u1112\u1161\u11ab")) == ["\u1112\u1161\u11ab"]


@given(ANY_TEXT, st.integers(1, 40))
def test_clip_respects_limit_and_clusters(text: str, limit: int) -> None:
    short = clip(text, limit)
    assert len(short) <= limit
    if len(text) > limit:
        body = short.removesuffix("…")
        ends = {"".join(list(clusters(text))[:n]).rstrip() for n in range(len(text) + 1)}
        assert body in ends


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# Title\n\nBody.", "Title"),
        ("\n---\n- [ ] Ship it. Then rest.", "Ship it."),
        ("发版前先跑测试。然后升版本号。", "发版前先跑测试。"),
        ("Use e.g. ruff or mypy. Never both.", "Use e.g. ruff or mypy."),
        ("1. Open the door. 2. Go in.", "1. Open the door."),
        ("Version 1.2.3 is out! Party.", "Version 1.2.3 is out!"),
        ("🙂", "🙂"),
        ("", ""),
    ],
)
def test_one_line(text: str, line: str) -> None:
    assert one_line(text) == line


def test_one_line_clips_without_cutting_a_family() -> None:
    assert one_line("ab" + FAMILY + "cd", 5) == "ab…"
    assert one_line("e\u0301" * 10, 6) == "e\u0301e\u0301…"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("牙医周二上午来", "牙医 周二 上午来"),
        ("The boiler code is seven blue", "The boiler code is: seven-blue!"),
        ("港务办公室周六也关门", "港务办公室 周六 也 关门！"),
    ],
)
def test_the_same_content_with_other_blanks_and_marks_has_one_fingerprint(one: str, other: str) -> None:
    assert fingerprint_text(one) == fingerprint_text(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("use C", "use C++"),
        ("v1.2.3", "v123"),
        ("at 5:30", "at 530"),
        ("3,000 pages", "3000 pages"),
        ("不，要", "不要"),
    ],
)
def test_marks_that_carry_meaning_stay_in_the_fingerprint(one: str, other: str) -> None:
    assert fingerprint_text(one) != fingerprint_text(other)
