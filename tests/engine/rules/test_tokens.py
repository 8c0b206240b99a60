from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rules.tokens import estimate_tokens

CASES = Path(__file__).parents[2] / "cases"

ENGLISH = (
    "The kiosk image has no time zone of its own, so every room starts it with TZ set from the building's plan. "
    "When a reader borrows a bundle, the shortest loan decides for all of them, and each item comes back one by one. "
    "Don't mirror the folder with --delete unless Robin said yes in the same message; that cost us a week in April."
)
CHINESE = (
    "站长偏好先给结论，再给理由，周末不打扰。节目单以星期五下午六点半为准，改动要在前一天告诉播音组。"
    "播放机只在校内可达，录音笔插上之后要等绿灯亮了再导入，否则最后一段会丢。发版前必须先跑一遍全部测试。"
)
JAPANESE = "月曜日の朝は印刷機を掃除してから始めます。用紙は棚の二段目にあり、足りないときは先に注文してください。"
VIETNAMESE = "Xưởng in nhãn mở cửa lúc bảy giờ sáng, máy cắt phải được kiểm tra trước khi chạy lô hàng đầu tiên."
JSON = json.dumps(
    {"id": 42, "tags": ["print", "label", "room"], "valid_from": "2026-03-01T08:00:00Z", "items": [
        {"name": f"slot-{n}", "size": n * 12, "open": n % 2 == 0, "note": "shortest loan decides"} for n in range(6)]}
)  # fmt: skip
INDENTED = json.dumps(json.loads(JSON), indent=2)


@pytest.fixture(scope="module")
def real_count() -> Callable[[str], int]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # its loader uses an old way to read its own data
        import bpe_openai

        encoding = bpe_openai.get_encoding("o200k_base")
    return lambda text: len(encoding.encode(text))


@pytest.mark.parametrize("text", [ENGLISH, CHINESE, JAPANESE, VIETNAMESE, JSON, INDENTED])
def test_close_to_the_real_vocabulary(text: str, real_count: Callable[[str], int]) -> None:
    real = real_count(text)
    assert abs(estimate_tokens(text) - real) <= 0.15 * real


def test_close_on_whole_memory_directories(real_count: Callable[[str], int]) -> None:
    for directory in ("en-lantern", "zh-zhiyuan", "zh-xiaozhan", "vi-xuongnhan", "en-fernhouse"):
        texts = [p.read_text("utf-8") for p in sorted((CASES / directory).rglob("*.md"))]
        real = sum(map(real_count, texts))
        assert texts and abs(sum(map(estimate_tokens, texts)) - real) <= 0.15 * real, directory


def test_nothing_costs_nothing() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens(" ") == 1


@given(st.text(st.characters(), max_size=200), st.text(st.characters(), max_size=50))
def test_an_estimate_is_whole_and_grows_with_the_text(text: str, more: str) -> None:
    assert 0 <= estimate_tokens(text) <= 2 * len(text) + 1
    assert estimate_tokens(text + " " + more) >= estimate_tokens(text) - 1
