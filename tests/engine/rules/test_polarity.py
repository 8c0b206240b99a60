from __future__ import annotations

import pytest

from engine.rules.polarity import opposite, polarity


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("Always run the tests", 1),
        ("Never run the tests", -1),
        ("Do not run the tests", -1),
        ("You mustn't run the tests", -1),
        ("Don't forget to run the tests", 1),
        ("Not only tabs", 1),
        ("必须跑测试", 1),
        ("不要跑测试", -1),
        ("不得不跑测试", 1),
        ("禁止跳步", -1),
        ("别忘了跑测试", 1),
        ("不同的类别", 1),
        ("Đừng chạy máy cắt", -1),
        ("", 1),
    ],
)
def test_polarity(text: str, sign: int) -> None:
    assert polarity(text) == sign


def test_double_negation_affirms() -> None:
    assert not opposite("Do not disable the cache", "Enable the cache")
    assert not opposite("不要禁用缓存", "启用缓存")


def test_a_refined_value_is_no_contradiction() -> None:
    assert not opposite("The favourite colour is blue", "The favourite colour is dark blue")
