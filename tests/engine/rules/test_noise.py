from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rules.noise import is_noise

NOISE = """
ok|OK!|okay.|ＯＫ|谢谢|谢谢！|收到|收到，谢谢|好的|好的好的|ok ok thanks!|thanks|Thanks a lot!!|yes|hmm|hmmm...
嗯|嗯嗯|哈哈|哈哈哈哈|!!!|。。。|👍|👍🏽👍|❤️|HEARTBEAT_OK|heartbeat|[heartbeat] 2026-03-19 12:00 ok|ping
No problem|Got it, thanks!|了解です|ありがとうございます|네 감사합니다|ㅋㅋㅋ|知道了|在吗|好，收到|OK 👌
yes please|Thank you so much|sounds good|okkk|you're welcome|明白了，谢谢！|好的，没问题|辛苦了|noted.|k|oh no
はい、わかりました|vâng ạ|心跳正常|nothing to report|ok\u200bok|謝謝
"""
FACTS = """
用户24岁|I'm vegan|Port 8080|No meat|Yes to tea|好人|好的习惯|收到货款100元|谢谢茶馆|ok google|Thanks Robin|42
C++|R|Good Friday is off|喜欢猫|不吃香菜|是素食者|对花生过敏|可以跳步|No nuts|OKR|kubernetes|Hi-C|niece|never
行政部|早餐吃粥|Ping is 30 ms|ping host 10.0.0.1|Heartbeat interval 30s|心跳间隔30秒|继续教育|继续保持中文回答
在上海|叫我小明|2026-03-19|18:30|user: yes|Ahmad|完成度80%|草莓|笑话|对不起|了不起|牛奶过敏|赞比亚|好莱坞
Done: 3 of 5|no sugar|fine art|n=3|y = x|Oh Sehun|Nguyễn|Go|哈尔滨|哈利|左利手|B型血|No.5|Hanoi|好丽友|嗯山
이름은 민수|名前はケン|tên là Lan
"""


@pytest.mark.parametrize("text", [item for line in NOISE.split("\n") for item in line.split("|")])
def test_noise(text: str) -> None:
    assert is_noise(text)


@pytest.mark.parametrize("text", [item for line in FACTS.split("\n") for item in line.split("|") if item])
def test_a_short_fact_is_not_noise(text: str) -> None:
    assert not is_noise(text)


@given(st.lists(st.sampled_from(["ok", "谢谢", "好的", "thanks", "嗯", "👍", "!", "yes"]), max_size=8))
def test_any_chain_of_noise_is_noise(words: list[str]) -> None:
    assert is_noise(" ".join(words))


@given(
    st.sampled_from(["ok, ", "好的，", "thanks! ", ""]),
    st.sampled_from(["用户养了一只猫", "port 5433", "Robin is left-handed"]),
)
def test_a_fact_after_a_courtesy_is_kept(courtesy: str, fact: str) -> None:
    assert not is_noise(courtesy + fact)


@pytest.mark.parametrize("unit", ["好了", "ok ", "haha ", "heart beat ", "bye bye ", "o", "哈", "h", "1 "])
def test_no_text_makes_it_slow(unit: str) -> None:
    started = time.process_time()
    is_noise((unit * 80)[:79] + "x")
    is_noise(unit * 100_000)
    assert time.process_time() - started < 0.5
