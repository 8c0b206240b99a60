"""Dates in a question, in two languages, absolute and seen from now."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.recall.dates import dates_in

TODAY = date(2024, 5, 15)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what happened on 3 June, 2023?", "2023-06-03", "2023-06-03"),
        ("On May 2nd, which movie did I watch?", "2024-05-02", "2024-05-02"),
        ("on December 24th", "2023-12-24", "2023-12-24"),
        ("在5月2号，我看了哪一部电影？", "2024-05-02", "2024-05-02"),
        ("2023年12月的计划", "2023-12-01", "2023-12-31"),
        ("log of 2024-02-29", "2024-02-29", "2024-02-29"),
        ("the trip in April 2022", "2022-04-01", "2022-04-30"),
        ("what did we decide in May", "2024-05-01", "2024-05-31"),
        ("and in November?", "2023-11-01", "2023-11-30"),
        ("what did I say yesterday", "2024-05-14", "2024-05-14"),
        ("昨天说了什么", "2024-05-14", "2024-05-14"),
        ("last week's meeting", "2024-05-06", "2024-05-12"),
        ("上周的会议", "2024-05-06", "2024-05-12"),
        ("three days ago", "2024-05-12", "2024-05-12"),
        ("两个月前", "2024-03-01", "2024-03-31"),
        ("last month", "2024-04-01", "2024-04-30"),
        ("on Monday", "2024-05-13", "2024-05-13"),
        ("上周三", "2024-05-08", "2024-05-08"),
        ("上个星期天", "2024-05-12", "2024-05-12"),
        ("how was 2022", "2022-01-01", "2022-12-31"),
        ("去年", "2023-01-01", "2023-12-31"),
        ("on 31 February 2023", "2023-02-01", "2023-02-28"),
    ],
)
def test_a_named_time_is_understood(text: str, first: str, last: str) -> None:
    assert [(span.first.isoformat(), span.last.isoformat()) for span in dates_in(text, TODAY)] == [(first, last)]


@pytest.mark.parametrize("text", ["", "I may go", "march on", "version 1.2.3", "99月99日", "the second", "port 5433"])
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert dates_in(text, TODAY) == []


def test_a_memory_is_closer_the_nearer_it_is_dated() -> None:
    (span,) = dates_in("on 3 May 2024", TODAY)
    close = [span.closeness(date(2024, 5, day)) for day in (3, 8, 15, 18)]
    assert close == sorted(close, reverse=True) and close[0] == 1.0 and close[-1] == 0.0
    assert 0 < span.closeness(date(2024, 5, 2)) < 1


@given(st.text(alphabet="0123456789年月日号周上前天 ago-/.maydecweeks", max_size=30), st.dates())
def test_no_text_and_no_day_raises(text: str, today: date) -> None:
    for span in dates_in(text, today):
        assert span.first <= span.last
