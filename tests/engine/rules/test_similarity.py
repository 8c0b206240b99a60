from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rules.similarity import judge, nearest, similarity

ANY_TEXT = st.text(st.characters(), max_size=60)

# The calibration table of C-CAL.
CALIBRATION = [
    (1.000, "duplicate", "发版前依次执行五步不可跳步", "发版前依次执行五步不可跳步"),
    (0.759, "duplicate", "功能发版前必须先跑一遍全部测试", "功能发版前一定要先跑一遍全部测试"),
    (0.694, "neither", "用户偏好简洁的代码风格写法", "用户一直喜欢简洁的代码风格写法"),
    (0.522, "neither", "发布之前要先在本地跑测试", "上线之前记得先在本地跑测验"),
    (0.000, "neither", "发版前依次执行五步", "今天下午去公园散心"),
    (0.915, "conflict", "纯文档改动只推提交记录所以要升版本号", "纯文档改动只推提交记录所以不要升版本号"),
    (0.786, "conflict", "提交代码之前必须跑一遍单元测试", "提交代码之前不要跑一遍单元测试"),
    (0.420, "conflict", "功能发版前五步要全做不跳步", "功能发版前五个环节在时间紧时可以跳步"),
]

CONFLICTS = [
    ("Always run the tests before a release", "Never run the tests before a release"),
    ("You must rebase before merging", "You must not rebase before merging"),
    ("Use tabs for indentation", "Do not use tabs for indentation"),
    ("Use tabs for indentation", "Don’t use tabs for indentation"),
    ("Enable the cache in production", "Disable the cache in production"),
    ("The user likes coriander", "The user doesn't like coriander"),
    ("Robin eats meat", "Robin does not eat meat"),
    ("The API is public", "The API is not public"),
    ("Pushing to main is allowed", "Pushing to main is forbidden"),
    ("Deploying on Fridays is allowed", "Deploying on Fridays is not allowed"),
    ("Tests are required before a merge", "Tests are optional before a merge"),
    ("Prefer tabs over spaces", "Prefer spaces over tabs"),
    ("Use tabs, not spaces", "Use spaces, not tabs"),
    ("Turn the lights on at night", "Turn the lights off at night"),
    ("Commit messages must be written in English", "Commit messages must never be written in English"),
    ("The server listens on port 8080", "The server listens on port 9090"),
    ("Robin is 24 years old", "Robin is 25 years old"),
    ("The user's favourite colour is blue", "The user's favourite colour is green"),
    ("Clean the press before printing", "Clean the press after printing"),
    ("Robin loves the early shift", "Robin hates the early shift"),
    ("用户24岁", "用户25岁"),
    ("用户最喜欢的颜色是蓝色", "用户最喜欢的颜色是绿色"),
    ("用户喜欢吃香菜", "用户不喜欢吃香菜"),
    ("用户喜欢吃香菜", "用户讨厌吃香菜"),
    ("生产环境启用缓存", "生产环境禁用缓存"),
    ("允许直接推送到主分支", "禁止直接推送到主分支"),
    ("发版之前清理印刷机", "发版之后清理印刷机"),
    ("代码注释可以用英文写", "代码注释不可以用英文写"),
    ("缩进用制表符，不用空格", "缩进用空格，不用制表符"),
    ("回答问题时先给结论", "回答问题时不要先给结论"),
    ("Máy in phải tắt vào ban đêm", "Máy in không phải tắt vào ban đêm"),
]

NEITHER = [
    # other subject, other object, other time
    ("Never push to main", "Always push to the backup server"),
    ("Alice does not like tea", "Bob likes tea"),
    ("Do not deploy on Fridays", "Deploy on Mondays"),
    ("Don't use tabs in Python", "Use tabs in Makefiles"),
    ("Do not call Robin in the morning", "Call Ada in the morning"),
    ("每周五下午不要发布新版本", "每周一下午可以发布新版本"),
    ("用户不喜欢香菜", "妈妈喜欢香菜"),
    ("前端代码不要使用全局缓存机制", "后端代码可以使用全局缓存机制"),
    ("不要用制表符缩进 Python", "用制表符缩进 Makefile"),
    # unrelated, with negations
    ("The user does not eat meat", "The printer has no paper"),
    ("No release without a review", "The cat is not allowed on the press"),
    ("不要在周五发版", "用户不吃香菜"),
    ("没有写下来的就当没发生", "播放机只在校内可达"),
    # other days, numbers and values of something that may have several
    ("Clean the cutter on Mondays before the first job", "Clean the cutter on Fridays before the first job"),
    ("每周五下午发布新版本", "每周一下午发布新版本"),
    ("用 Python 写导入脚本", "用 Rust 写导入脚本"),
    ("Issue 12 is fixed", "Issue 13 is fixed"),
    ("The daily report of 2026-06-02 is filed", "The daily report of 2026-06-03 is filed"),
    ("2026年6月2日的日报已归档", "2026年6月3日的日报已归档"),
    ("The user likes the cat and the dog", "The user likes the bird and the fish"),
    ("用户是素食者", "用户是程序员"),
    ("The user has a cat", "The user has a dog"),
    ("🎉", "🚀"),
]

DUPLICATES = [
    ("Don't forget to run the tests before a release", "Run the tests before a release"),
    ("The press is cleaned on Fridays.", "the press is cleaned on fridays"),
    ("The user likes coriander very much", "The user likes coriander"),
    ("The user does not eat meat at all", "The user does not eat meat"),
    ("不得不先跑一遍全部测试再发版", "必须先跑一遍全部测试再发版"),
    ("Not only the press but the cutter is cleaned daily", "The press and the cutter are cleaned daily"),
    ("Never push to main without a review", "Push to main with a review"),
    ("ＵＳＥＲ likes tea", "user likes tea"),
    ("🎉", "🎉"),
    ("我", "我"),
]


@pytest.mark.parametrize(("value", "kind", "a", "b"), CALIBRATION)
def test_the_calibration_table(value: float, kind: str, a: str, b: str) -> None:
    got = judge(a, b)
    assert (got.kind, round(got.similarity, 3)) == (kind, value)


@pytest.mark.parametrize(
    ("kind", "a", "b"),
    [("conflict", *pair) for pair in CONFLICTS]
    + [("neither", *pair) for pair in NEITHER]
    + [("duplicate", *pair) for pair in DUPLICATES],
)
def test_pairs(kind: str, a: str, b: str) -> None:
    assert judge(a, b).kind == kind
    assert judge(b, a).kind == kind


SENTENCES = st.sampled_from([text for pair in CONFLICTS + NEITHER + DUPLICATES for text in pair])


@given(ANY_TEXT | SENTENCES, ANY_TEXT | SENTENCES)
def test_symmetric_and_in_range(a: str, b: str) -> None:
    assert judge(a, b) == judge(b, a)
    assert 0 <= similarity(a, b) <= 1


@given(ANY_TEXT | SENTENCES)
def test_everything_repeats_itself(text: str) -> None:
    assert judge(text, text) == ("duplicate", 1.0)


@pytest.mark.parametrize("unit", ["不", "不要", "是", "not ", "a is ", "1 ", "tea over milk "])
def test_long_bodies_are_judged_quickly(unit: str) -> None:
    body = (unit * 4000)[:4000]
    started = time.process_time()
    judge(body, body[:-3] + "zq")
    assert time.process_time() - started < 0.5


def test_nearest_keeps_one_rival() -> None:
    others = [
        "The press is cleaned on Mondays",
        "Always run the tests before a release",
        "Run the tests before a release of the app",
        "Never run all the tests before a release",
    ]
    rival = nearest("Never run the tests before a release", others)
    assert rival is not None and (rival.position, rival.kind) == (3, "duplicate")
    rival = nearest("Never run the tests before a release", others[:3])
    assert rival is not None and (rival.position, rival.kind) == (1, "conflict")
    assert nearest("Robin is left-handed", others) is None
    assert nearest("anything", []) is None
