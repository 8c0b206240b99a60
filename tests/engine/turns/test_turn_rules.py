"""The pure rules of turns: extraction, reading of analyses, feedback, summaries, the schedule."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.errors import MemdeckError
from engine.model.turns import Analysis, Preference
from engine.rules.digest import fallback_summary, local_overview
from engine.rules.extraction import salient, split_words
from engine.rules.feedback import judge_feedback
from engine.rules.perception import (
    injection_of,
    kept_preferences,
    key_words,
    parts_of,
    read_analysis,
    route_of,
)
from engine.rules.schedule import next_run


class TestExtraction:
    def test_the_example_of_the_third_tier(self) -> None:
        assert split_words("帮我重构 login 模块，123") == ("帮我重构", "login", "模块")
        assert salient("帮我重构 login 模块，123") == ("帮我重构", "login", "模块")

    @pytest.mark.parametrize(
        ("text", "wanted"),
        [
            ("我想把网关的证书续期脚本改成每天凌晨自动运行，并且失败时发告警", {"证书", "脚本", "告警"}),
            ("今天和Lantern Press的编辑讨论了新书封面的排版和纸张预算", {"Lantern Press", "封面"}),
            ("Please help me refactor the login module so that OAuth tokens refresh early.", {"login module", "OAuth"}),
            ("How do I deploy the gateway with Docker Compose on Hetzner?", {"Docker Compose", "Hetzner"}),
            ("データベースの移行スクリプトを書いてください", {"データベース", "移行スクリプト"}),
            ("请用「简洁风格」写周报", {"简洁风格"}),
            ("Where does parse_ref() in engine/model/ids.py raise?", {"parse_ref", "engine/model/ids.py"}),
        ],
    )
    def test_what_a_text_is_about_in_several_scripts(self, text: str, wanted: set[str]) -> None:
        assert wanted <= set(salient(text))

    @pytest.mark.parametrize(
        "text", ["", "。", "你好", "谢谢！", "不对，你理解错了", "ok thanks", "42 100", "😀", "the of and"]
    )
    def test_what_says_nothing_gives_nothing(self, text: str) -> None:
        assert salient(text) == ()

    def test_long_chinese_is_not_one_tag(self) -> None:
        found = salient("我们需要在数据库迁移之前备份全部用户的订单数据")
        assert found and all(len(word) <= 6 for word in found)

    def test_names_that_are_known_come_first(self) -> None:
        text = "请把标签库里的发布流程和监控告警和日志格式和接口文档整理一下"
        assert "标签库" in salient(text, known=["标签库"])
        assert "接口文档" in salient(text, known=["接口文档"])

    def test_what_comes_again_counts_more(self) -> None:
        text = "Compare ink, paper, glue, thread, cloth and varnish for the calendar"
        assert "varnish" in salient(text, also="varnish varnish varnish varnish")

    @given(st.text(max_size=300))
    def test_any_text_gives_at_most_four_distinct_words_of_it(self, text: str) -> None:
        found = salient(text)
        assert len(found) <= 4 and len(set(found)) == len(found)
        assert all(len(word) >= 2 and any(map(str.isalpha, word)) for word in found)


class TestAnalysis:
    def test_the_example_of_tolerant_json(self) -> None:
        found = read_analysis('text {"structured_tags":[{"tag":"a","dimension":["内容","任务"]}]} text')
        assert [tag.name for tag in found.tags] == ["a"]
        assert ",".join(found.tags[0].dimensions) == "内容,任务"

    def test_definition_for_definitions_and_semantic_tags_only_alone(self) -> None:
        found = read_analysis({"structured_tags": [{"tag": "a", "definition": "甲"}], "semantic_tags": ["b"]})
        assert [(t.name, t.definitions) for t in found.tags] == [("a", ("甲",))]
        assert [t.name for t in read_analysis({"structured_tags": [], "semantic_tags": ["b"]}).tags] == ["b"]

    def test_without_a_route_it_is_shallow(self) -> None:
        assert route_of(read_analysis('{"intent": "查询"}')) == "shallow"

    def test_genre_is_kept_in_either_case_and_language(self) -> None:
        assert read_analysis({"Genre": "议论文"}).perception["genre"] == "议论文"
        assert read_analysis({"genre": "Argument"}).perception["genre"] == "议论文"
        assert read_analysis({"perception": {"emotion": "开心", "scene": "work"}}).scene == "工作"

    def test_an_unknown_value_is_kept_as_given(self) -> None:
        assert read_analysis({"emotion": "好奇", "scene": "旅行"}).perception == {"emotion": "好奇"}
        assert read_analysis({"scene": "旅行"}).scene == "旅行"

    @pytest.mark.parametrize("text", ["", "no json", "{", "}{", "{]", '{"a": }', "[1]", None, 7, {"": None}])
    def test_what_cannot_be_read_is_a_failed_analysis(self, text: object) -> None:
        found = read_analysis(text)
        assert (found.tags, route_of(found), injection_of(found)) == ((), "shallow", "off")

    def test_a_trailing_comma_and_a_line_break_in_a_text_are_forgiven(self) -> None:
        assert read_analysis('```json\n{"summary": "one\ntwo", "tags": ["a",],}\n```').summary == "one two"

    @pytest.mark.parametrize(
        ("values", "mode"),
        [
            ({"context": "生活闲聊", "route": "deep"}, "off"),
            ({"context": "情绪表达"}, "off"),
            ({"intent": "闲聊"}, "off"),
            ({"intent": "查询"}, "summary"),
            ({"intent": "查询", "route": "medium"}, "detail"),
            ({"intent": "查询", "route": "deep"}, "full"),
            ({"intent": "闲聊", "injection": "detail"}, "detail"),
            ({"intent": "查询", "injection": False}, "off"),
        ],
    )
    def test_injection_follows_the_route_and_is_off_for_chat(self, values: dict[str, object], mode: str) -> None:
        assert injection_of(read_analysis(values)) == mode

    def test_depth_is_one_to_three_parts(self) -> None:
        assert [parts_of(route) for route in ("shallow", "medium", "deep")] == [1, 2, 3]
        assert [parts_of("", mode) for mode in ("off", "summary", "detail", "full")] == [0, 1, 2, 3]

    def test_weak_preferences_are_dropped_and_the_last_of_a_key_holds(self) -> None:
        assert kept_preferences([Preference("风格", "简洁", 0.3)]) == ()
        kept = kept_preferences([Preference("风格", "简洁", 0.6), Preference("风格", "详细", 0.7)])
        assert [(p.key, p.value) for p in kept] == [("风格", "详细")]
        assert kept_preferences([Preference("k", "v", 0.4)])

    @pytest.mark.parametrize(
        "text", ['["a", "b"]', '{"keywords": ["a", "b"]}', "a, b", "a，b", 'Here: ["a","b"] done'],
    )  # fmt: skip
    def test_key_words_in_any_form(self, text: str) -> None:
        assert key_words(text) == ("a", "b")

    @given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=3)
           | st.dictionaries(st.sampled_from(["tags", "insight", "perception", "preferences", "relations", "scene",
                                              "structured_tags", "tag", "key", "value", "from", "to"]), inner),
           max_leaves=12))  # fmt: skip
    def test_nothing_makes_it_raise(self, value: object) -> None:
        assert isinstance(read_analysis(value), Analysis)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("不对，你理解错了", "rejected"), ("错了，重新来", "rejected"), ("这不是我想要的", "rejected"),
        ("No, that is not what I asked", "rejected"), ("That's wrong.", "rejected"),
        ("It still doesn't work", "rejected"),
        ("对，就是这样", "confirmed"), ("谢谢，解决了", "confirmed"), ("Yes, exactly", "confirmed"),
        ("Perfect, thanks!", "confirmed"), ("this works", "confirmed"),
        ("对不起，打扰了", "ignored"), ("right now I need a list", "ignored"), ("今天天气怎么样", "ignored"),
        ("不错过任何消息的办法", "ignored"), ("nobody answers", "ignored"),
    ],
)  # fmt: skip
def test_explicit_words_judge_the_card_before(text: str, verdict: str) -> None:
    assert judge_feedback(text, before={"a"}, now={"b"}) == verdict


def test_a_follow_up_on_the_same_topic_confirms() -> None:
    assert judge_feedback("那日志呢", before={"网关", "日志"}, now={"日志"}) == "confirmed"
    assert judge_feedback("那日志呢", before={"网关"}, now={"晚餐"}) == "ignored"


def test_the_first_hundred_characters_stand_in_for_a_summary() -> None:
    answer = "字" * 150
    assert fallback_summary("问", answer) == answer[:100]
    assert fallback_summary("问", "", "网络断了") == "网络断了"
    assert fallback_summary("问题", "") == "问题"


def test_an_overview_is_cut_from_question_and_answer() -> None:
    answer = "好的。" + "证书每天凌晨三点检查一次，剩余不足三十天就续期，续期失败会发一封邮件给值班的人。" * 8
    text = local_overview("网关证书怎么续期？", answer)
    assert 100 <= len(text) <= 200
    assert text.startswith("网关证书怎么续期？") and "三点检查" in text and "好的" not in text
    assert local_overview("hi", "") == "hi"
    assert local_overview("", "") == ""


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "every", "how", "due"),
    [
        ("2027-02-28T12:00", "monthly", {"day": 31}, "2027-03-31T03:00"),
        ("2027-02-28T02:00", "monthly", {"day": 31}, "2027-02-28T03:00"),
        ("2028-02-28T12:00", "monthly", {"day": 31}, "2028-02-29T03:00"),
        ("2026-12-31T04:00", "monthly", {"day": 31}, "2027-01-31T03:00"),
        ("2026-12-05T04:00", "monthly", {}, "2027-01-01T03:00"),
        ("2026-11-29T02:59", "daily", {}, "2026-11-29T03:00"),
        ("2026-11-29T03:00", "daily", {}, "2026-11-30T03:00"),
        ("2026-11-29T12:00", "weekly", {}, "2026-11-30T03:00"),
        ("2026-11-30T12:00", "weekly", {}, "2026-12-07T03:00"),
        ("2026-11-30T12:00", "weekly", {"weekday": 7, "hour": 23}, "2026-12-06T23:00"),
    ],
)
def test_the_schedule_knows_the_calendar(now: str, every: str, how: dict[str, int], due: str) -> None:
    assert next_run(at(now), every, **how) == at(due)


def test_manual_has_no_next_run_and_nonsense_is_refused() -> None:
    assert next_run(at("2026-11-29T12:00")) is None
    for wrong in ({"every": "hourly"}, {"every": "daily", "hour": 24}, {"every": "weekly", "weekday": 0},
                  {"every": "monthly", "day": 32}):  # fmt: skip
        with pytest.raises(MemdeckError):
            next_run(at("2026-11-29T12:00"), **wrong)  # type: ignore[arg-type]


@given(
    st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)), st.sampled_from(["daily", "weekly", "monthly"]),
    st.integers(1, 31), st.integers(1, 7), st.integers(0, 23),
)  # fmt: skip
def test_the_next_run_lies_ahead_and_near(now: datetime, every: str, day: int, weekday: int, hour: int) -> None:
    due = next_run(now, every, hour=hour, weekday=weekday, day=day)
    assert due is not None and now < due
    assert (due - now).days <= {"daily": 1, "weekly": 7, "monthly": 31}[every]
