"""Relations and scores as pure rules: how far each level is followed, and what a card is worth."""

from __future__ import annotations

import math
from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.enums import TagLevel
from engine.rules.tag_relations import Edges, expand, is_upgrade, overlap, proposed_level, stronger
from engine.rules.tag_score import brightness, scene_bonus, score, strength, with_feedback

SYNONYM, RELATED, LOOSE = TagLevel


def graph(*edges: tuple[int, int, TagLevel]):
    def neighbours(ids: Collection[int]) -> Edges:
        return {
            one: [(b if a == one else a, level) for a, b, level in edges if one in (a, b)] for one in ids
        }  # fmt: skip

    return neighbours


def test_levels_only_rise() -> None:
    assert [is_upgrade(None, level) for level in TagLevel] == [True] * 3
    assert is_upgrade(LOOSE, RELATED) and is_upgrade(RELATED, SYNONYM) and is_upgrade(LOOSE, SYNONYM)
    assert not any(is_upgrade(level, level) for level in TagLevel)
    assert not is_upgrade(SYNONYM, RELATED) and not is_upgrade(RELATED, LOOSE)
    assert stronger(LOOSE, SYNONYM) is stronger(SYNONYM, LOOSE) is SYNONYM


def test_synonyms_are_followed_for_three_hops() -> None:
    chain = graph(*((n, n + 1, SYNONYM) for n in range(1, 5)))
    assert {id: path.hops for id, path in expand(1, chain).items()} == {1: 0, 2: 1, 3: 2, 4: 3}


def test_related_is_followed_once_and_only_from_the_named_tag_loose_never() -> None:
    assert set(expand(1, graph((1, 2, RELATED), (2, 3, RELATED)))) == {1, 2}
    assert set(expand(1, graph((1, 2, LOOSE)))) == {1}
    assert set(expand(1, graph((1, 2, SYNONYM), (2, 3, RELATED)))) == {1, 2}, "not from a synonym"
    assert set(expand(1, graph((1, 2, RELATED), (2, 3, SYNONYM)))) == {1, 2}, "and no further from a related one"


def test_a_way_over_synonyms_is_better_than_a_related_edge() -> None:
    reached = expand(1, graph((1, 3, RELATED), (1, 2, SYNONYM), (2, 3, SYNONYM), (3, 4, SYNONYM)))
    assert {id: (path.level, path.hops) for id, path in reached.items()} == {
        1: (SYNONYM, 0), 2: (SYNONYM, 1), 3: (SYNONYM, 2), 4: (SYNONYM, 3),
    }  # fmt: skip


@given(st.lists(st.tuples(st.integers(1, 8), st.integers(1, 8), st.sampled_from(list(TagLevel))), max_size=20))
def test_cycles_end_and_only_the_tag_itself_counts_in_full(edges: list[tuple[int, int, TagLevel]]) -> None:
    reached = expand(1, graph(*edges))
    assert reached[1].weight == 1.0
    assert all(0 < path.weight < 1 and 1 <= path.hops <= 3 for id, path in reached.items() if id != 1)


def test_names_alike_propose_a_relation() -> None:
    assert overlap("标签池", "标签池管理") == 0.5 and proposed_level("标签池", "标签池管理") is RELATED
    assert proposed_level("deployment", "deployments") is SYNONYM
    assert proposed_level("标签池", "网关") is None and proposed_level("猫", "狗") is None
    assert proposed_level("sprint12", "sprint13") is None, "other numbers are other things"


def test_strength_is_the_share_of_the_questions_tags() -> None:
    assert strength([1, 1], 4) == 0.5
    assert strength([1, 1, 1], 2) == 1.0 and strength([], 0) == 0.0


@pytest.mark.parametrize(("days", "factor"), [(0, 1.0), (1, 0.951), (7, 0.705), (14, 0.497), (30, 0.223)])
def test_age_takes_its_share(days: int, factor: float) -> None:
    found = score(1.0, days, None, 0.0)
    assert found is not None and found.total == pytest.approx(factor, abs=5e-4)


def test_feedback_lifts_drops_or_does_nothing() -> None:
    assert with_feedback(0.5, "confirmed") == pytest.approx(0.6) and with_feedback(0.9, "confirmed") == 1.0
    assert with_feedback(1.0, "rejected") is None
    assert [with_feedback(0.5, word) for word in ("ignored", "partial", None)] == [0.5] * 3


@pytest.mark.parametrize(
    ("days", "sub", "total"), [(0, "代码评审", 0.70), (7, "", 0.452)], ids=["both", "category only"]
)
def test_the_scene_is_added_last(days: int, sub: str, total: float) -> None:
    bonus = scene_bonus("工作", "代码评审", "工作", sub)
    found = score(0.5, days, None, bonus)
    assert found is not None and found.total == pytest.approx(total, abs=1e-3)


def test_a_sub_scene_counts_only_inside_its_scene() -> None:
    assert scene_bonus("生活", "代码评审", "工作", "代码评审") == 0
    assert scene_bonus("", "", "", "") == 0
    assert scene_bonus("Work", "", "work", "") == 0.1


def test_a_star_shines_with_its_mentions_and_fades() -> None:
    assert brightness(0, 10, 0) == 0.0 and brightness(10, 10, 0) == pytest.approx(1.0)
    assert brightness(3, 10, 0) < brightness(10, 10, 0)
    fading = [brightness(10, 10, days) for days in (0, 1, 30, 3000)]
    assert fading == sorted(fading, reverse=True) and fading[-1] >= 0.4
    assert all(0 <= brightness(m, 10, 0) <= 1 for m in range(-1, 20)) and not math.isnan(brightness(1, 0, 0))
