"""Which memories qualify: the share of a question's weight that a memory covers."""

from __future__ import annotations

import pytest

from engine.context.relevance import Gate, Relevance, inverse_frequency
from engine.facade import Engine
from tests.engine.context.conftest import agent, put


@pytest.fixture
def thirty(engine: Engine) -> Engine:
    """Thirty memories of which twelve say 怎么 in their summary."""
    for number in range(12):
        put(engine, f"第{number}件事该怎么办", subject=f"a{number}")
    put(engine, "用户的猫叫芝麻，黄色短毛")
    put(engine, "收尾的清单", aliases=("待办",))
    for number in range(16):
        put(engine, f"harbour note {number}", subject=f"b{number}")
    return engine


def given(engine: Engine, question: str) -> set[int]:
    return set(engine.context(agent(None), question).injected)


def test_common_units_alone_do_not_qualify(thirty: Engine) -> None:
    pack = thirty.context(agent(None), "今天天气怎么样")
    assert pack.injected == () and pack.text == ""
    assert {left.reason for left in pack.left_out} == {"relevance"}
    assert "0.04 < 0.10" in {left.detail for left in pack.left_out}


def test_an_alias_and_a_name_qualify(thirty: Engine) -> None:
    assert given(thirty, "我有什么待办") == {14}
    assert given(thirty, "我的猫叫什么") == {13}


def test_the_measure_has_the_documented_values() -> None:
    def share(held: dict[str, int], question: dict[str, int]) -> float:
        weights = {term: inverse_frequency(30, count) for term, count in question.items()}
        return sum(weights[term] for term in held) / sum(weights.values())

    weather = dict.fromkeys(("今天", "天天", "天气", "气怎", "么样"), 0) | {"怎么": 12}
    assert round(share({"怎么": 12}, weather), 3) == 0.042
    todo = {"我有": 0, "有什": 0, "么待": 0, "什么": 12, "待办": 1}
    assert round(share({"待办": 1}, todo), 3) == 0.186
    cat = {"我的": 0, "的猫": 1, "猫叫": 1, "叫什": 0, "什么": 12}
    assert round(share({"的猫": 1, "猫叫": 1}, cat), 3) == 0.398


def test_a_short_question_is_not_looked_for_in_bodies(engine: Engine) -> None:
    put(engine, "运维手册", body="部署之后继续观察一小时。\n\n证书过期时间是六月。")
    assert given(engine, "继续") == set()
    assert given(engine, "证书过期时间") == {1}


def test_the_best_paragraph_of_a_long_text_takes_one_place(engine: Engine) -> None:
    weak = "\n\n".join(f"Paragraph {n} about the ferry." for n in range(50))
    put(engine, "Ferry handbook", body=weak)
    put(engine, "Ferry timetable", body="The winter ferry leaves at seven.")
    text = engine.context(agent(None), "when does the winter ferry leave").text
    assert "leaves at seven" in text and text.count("Ferry handbook") == 1


def test_at_most_the_configured_number_is_shown_and_the_rest_counted(engine: Engine) -> None:
    for number in range(30):
        put(engine, f"The lighthouse has lamp {number}", subject=f"lamp {number}")
    pack = engine.context(agent(None), "lighthouse lamp")
    assert len(pack.injected) == 10
    assert "20 more matching notes" in pack.text


def test_bodies_alone_count_where_no_summary_does() -> None:
    gate = Gate({"a": 1.0, "b": 1.0}, {}, letters=8)
    body_only = Relevance(0.0, 0.2)
    assert gate.admit([body_only], 0.10) == [True]
    assert gate.admit([body_only, Relevance(0.5, 0.5)], 0.10) == [False, True]
    assert gate.admit([Relevance(0.0, 0.6), Relevance(0.5, 0.5)], 0.10) == [True, True]
    assert Gate({"a": 1.0}, {}, letters=3).admit([Relevance(0.0, 0.2)], 0.10) == [False]


@pytest.mark.parametrize("question", ["", " ", "?", "。。。", "a", "!!!!", "%_%", '"" * NEAR -', "x" * 1_000_000])
def test_any_question_gives_a_pack(engine: Engine, question: str) -> None:
    put(engine, "The harbour is quiet")
    assert engine.context(agent(None), question).injected == ()
