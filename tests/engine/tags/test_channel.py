"""The tags channel: what it finds, in which order and why, alone and as a bonus, and that recall writes nothing."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.facade import Engine
from engine.model.clock import FixedClock
from engine.model.enums import Channel, Kind, Mode, Origin, Scope, Status
from engine.model.memory import Caller, Filter, Hit, RecallPage, RecallQuery
from engine.recall.tags import LONGEST_NAME, extracted
from engine.store.vocabulary import Vocabulary
from tests.engine.kit import DAY_MS, OWNER, agent, day, put
from tests.engine.tags.kit import by_tags, card, journalled, refused

IMPORT = Caller(Origin.IMPORT, "owner")


def page(engine: Engine, text: str = "", *tags: str, channel: Channel = Channel.TAGS, **how: object) -> RecallPage:
    query = RecallQuery(text, channel=channel, filter=Filter(tags=tags), **how)  # type: ignore[arg-type]
    return engine.recall(OWNER, query)


def only(hits: tuple[Hit, ...]) -> Hit:
    (hit,) = hits
    return hit


def judge(engine: Engine, memory: int, word: str) -> None:
    """Say what became of an earlier recall of a memory."""
    with engine._desk.store.exclusive() as conn:
        conn.execute("INSERT OR REPLACE INTO usage (memory_id, feedback) VALUES (?, ?)", (memory, word))


# --- recall only reads ---


def test_recall_changes_no_tag_and_names_what_is_missing(engine: Engine, store_dir: Path) -> None:
    card(engine, "部署")
    before = journalled(store_dir)
    for channel in Channel:
        found = page(engine, "从未见过 部署", "从未见过", "部署", channel=channel)
        assert found.missing_tags == ("从未见过",)
    page(engine, "从未见过的标签")
    engine.match_tags(OWNER, tags=["从未见过", "。"])
    engine.match_tags(agent(), "部署 没见过")
    assert journalled(store_dir) == before


def test_tags_without_definition_or_dimensions_are_reported_in_passing(engine: Engine) -> None:
    card(engine, "部署", "网关")
    engine.edit_tag(OWNER, "网关", {"definition": "入口", "dimensions": ["内容"]})
    assert page(engine, "", "部署", "网关").malformed_tags == ("部署",)
    assert page(engine, "部署到网关").malformed_tags == ("部署",)
    assert engine.match_tags(OWNER, tags=["部署", "网关"]).malformed == ("部署",)
    assert engine.tag(OWNER, "部署").lacks == ("definition", "dimensions")


@pytest.mark.parametrize("text", ["。", "", "  ", "?!", "\u200b", "从未见过", "x" * 100_000, "标" * 100_000])
def test_nothing_to_search_by_finds_nothing(engine: Engine, text: str) -> None:
    card(engine, "部署")
    found = page(engine, text)
    assert (found.hits, found.total, found.next_cursor) == ((), 0, None)
    assert engine.match_tags(OWNER, text).hits == ()


# --- names in a text ---


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("怎么部署网关？", {"部署", "网关"}),
        ("the code-review of the GATEWAY", {"Code Review", "gateway"}),
        ("标签池管理的负责人", {"标签池管理"}),
        ("标签池和管理", {"标签池"}),
        ("熊猫馆", set()),
        ("猫", {"猫"}),
        ("猫, 狗", {"猫"}),
        ("Friday is 🍕 night", {"🍕"}),
        ("we rewrote it in C++ and C#", {"C++"}),
        ("gate way", {"gateway"}),
        ("gate. Way", set()),
        ("gateways", set()),
        ("ｇａｔｅｗａｙ", {"gateway"}),
        ("词汇表在哪", {"标签池"}),
    ],
)
def test_tags_are_found_inside_a_text(engine: Engine, text: str, named: set[str]) -> None:
    for name in ("部署", "网关", "Code Review", "gateway", "标签池", "标签池管理", "猫", "🍕", "C++"):
        engine.add_tag(OWNER, name)
    engine.edit_tag(OWNER, "标签池", {"synonyms": ["词汇表"]})
    with engine._desk.store.read() as conn:
        assert {tag.name for tag in extracted(Vocabulary(conn), text).tags.values()} == named


@given(st.text(max_size=300))
def test_any_text_can_be_looked_through(text: str) -> None:
    from engine.recall.tags import _spans

    for first, last, begin, end in _spans(text):
        assert 0 < last - first <= LONGEST_NAME and text[begin:end].strip()


# --- relations ---


def test_relations_are_followed_as_far_as_each_level_goes(engine: Engine) -> None:
    for name in "abcde":
        card(engine, f"tag {name}")
    for one, other in ("ab", "bc", "cd", "de"):
        engine.relate(OWNER, f"tag {one}", f"tag {other}", "synonym")
    assert by_tags(engine, "tag a") == [1, 2, 3, 4], "three hops, the nearer first"
    for name in "fgh":
        card(engine, f"tag {name}")
    engine.relate(OWNER, "tag a", "tag f", "related")
    engine.relate(OWNER, "tag f", "tag g", "related")
    engine.relate(OWNER, "tag a", "tag h", "loose")
    assert set(by_tags(engine, "tag a")) == {1, 2, 3, 4, 6}
    assert set(by_tags(engine, "tag b")) == {1, 2, 3, 4, 5}, "a related edge only from the named tag"


def test_a_deprecated_tag_is_no_bridge(engine: Engine) -> None:
    for name in ("one", "two", "three"):
        card(engine, f"tag {name}")
    engine.relate(OWNER, "tag one", "tag two", "synonym")
    engine.relate(OWNER, "tag two", "tag three", "synonym")
    engine.deprecate(OWNER, "tag two")
    assert by_tags(engine, "tag one") == [1]
    dropped = page(engine, "", "tag two")
    assert dropped.hits == () and dropped.notes == ("tag_deprecated: 'tag two' finds nothing",)


def test_a_stored_synonym_reaches_the_main_tag_and_a_synonym_that_is_a_tag_is_looked_up(engine: Engine) -> None:
    card(engine, "标签池")
    engine.edit_tag(OWNER, "标签池", {"synonyms": ["标签库", "词汇表"]})
    hit = only(page(engine, "", "标签库").hits)
    assert hit.why == "tags: 标签池 (through 标签库, synonym)" and hit.parts["strength"] == 1.0
    card(engine, "词汇表")
    assert set(by_tags(engine, "标签池")) == set(by_tags(engine, "词汇表")) == {1, 2}


def test_a_receipt_says_how_each_tag_was_reached(engine: Engine) -> None:
    for name in "abc":
        card(engine, f"tag {name}")
    engine.relate(OWNER, "tag a", "tag b", "synonym")
    engine.relate(OWNER, "tag b", "tag c", "synonym")
    card(engine, "tag r")
    engine.relate(OWNER, "tag a", "tag r", "related")
    whys = {hit.memory.id: hit.why for hit in page(engine, "", "tag a").hits}
    assert whys == {
        1: "tags: tag a",
        2: "tags: tag b (through tag a, synonym, 1 hop)",
        3: "tags: tag c (through tag a, synonym, 2 hops)",
        4: "tags: tag r (through tag a, related, 1 hop)",
    }
    hit = page(engine, "", "tag a").hits[0]
    assert hit.parts["codes"] == [engine.tag_code(OWNER, "tag a")] and hit.parts["names"] == ["tag a"]
    assert {"strength", "decay", "feedback", "scene"} <= hit.parts.keys()


# --- the score ---


def test_strength_is_the_share_and_an_indirect_card_never_reaches_one(engine: Engine) -> None:
    card(engine, "one", "two")
    card(engine, "near")
    for name in ("one", "two", "three", "four"):
        engine.add_tag(OWNER, name)
    engine.relate(OWNER, "one", "near", "synonym")
    hits = {h.memory.id: h for h in page(engine, "", "one", "two", "three", "four").hits}
    assert hits[1].score == hits[1].parts["strength"] == 0.5
    assert 0 < hits[2].score < 0.25
    assert page(engine, "", "one", "nobody").hits[0].score == 0.5, "an unknown tag is one that the card has not"
    assert page(engine, "", "one", "one", "ONE").hits[0].score == 1.0, "a tag counts once"
    assert max(h.score for h in page(engine, "", "one").hits if h.memory.id == 2) < 1.0


def test_age_counts_from_when_a_card_was_made(engine: Engine, clock: FixedClock) -> None:
    card(engine, "shop")
    clock.at_ms += 7 * DAY_MS
    card(engine, "shop")
    new, old = page(engine, "", "shop").hits
    assert (new.memory.id, new.score, old.memory.id) == (2, 1.0, 1)
    assert old.score == pytest.approx(0.705, abs=5e-4)
    engine.recall(OWNER, RecallQuery("Ana"))
    assert page(engine, "", "shop").hits[1].score == old.score, "not from the last recall"


def test_an_imported_card_is_as_old_as_its_source_says(engine: Engine) -> None:
    put(engine, "From a file", IMPORT, tags=("shop",), dated_at=day("2026-11-22", hour=12))
    assert only(page(engine, "", "shop").hits).score == pytest.approx(0.705, abs=5e-4)


def test_feedback_lifts_and_drops(engine: Engine) -> None:
    for _ in range(3):
        card(engine, "shop", "other")
    engine.add_tag(OWNER, "third")
    judge(engine, 1, "rejected")
    judge(engine, 2, "confirmed")
    judge(engine, 3, "ignored")
    found = page(engine, "", "shop", "other", "third")
    assert [(h.memory.id, round(h.score, 3)) for h in found.hits] == [(2, 0.8), (3, 0.667)]
    assert found.total == 2, "a rejected card is no match"
    judge(engine, 1, "partial")
    assert len(page(engine, "", "shop").hits) == 3


def test_the_scene_adds_after_age(engine: Engine, clock: FixedClock) -> None:
    engine.add_tag(OWNER, "third")
    card(engine, "shop", scene="工作", scene_sub="代码评审")
    clock.at_ms += 7 * DAY_MS
    card(engine, "shop", scene="工作", scene_sub="代码评审")
    asked = page(engine, "", "shop", "third", scene="工作", scene_sub="代码评审")
    assert [round(h.score, 2) for h in asked.hits] == [0.70, 0.55]
    category = page(engine, "", "shop", "third", scene="工作")
    assert category.hits[1].score == pytest.approx(0.452, abs=1e-3)
    assert page(engine, "", "shop", "third", scene="生活", scene_sub="代码评审").hits[0].score == 0.5


def test_only_completed_cards_count_and_before_any_cut(engine: Engine) -> None:
    done = card(engine, "shop", kind=Kind.EPISODE)
    for word in (Status.PENDING, Status.PENDING, Status.INTERRUPTED, Status.FAILED, Status.PENDING):
        card(engine, "shop", kind=Kind.EPISODE, status=word)
    assert [h.memory.id for h in engine.match_tags(OWNER, tags=["shop"], top=1).hits] == [done]
    assert by_tags(engine, "shop") == [done] and page(engine, "", "shop", limit=1).total == 1


def test_what_may_not_be_recalled_is_not_found_by_tags(engine: Engine, clock: FixedClock) -> None:
    card(engine, "shop")
    card(engine, "shop", by=agent(workspace="/w"), scope=Scope.WORKSPACE)
    card(engine, "shop", by=agent(session="s"), scope=Scope.SESSION)
    for n, how in ((4, "forget"), (5, "archive")):
        card(engine, "shop")
        engine.forget(OWNER, [f"mem-{n}"], how=how)
    card(engine, "shop", valid_to=clock.now_ms() - 1, valid_from=clock.now_ms() - DAY_MS)
    assert by_tags(engine, "shop", by=agent()) == [1]
    assert set(by_tags(engine, "shop", by=agent(workspace="/w"))) == {1, 2}
    assert set(by_tags(engine, "shop", by=agent(session="s"))) == {1, 3}
    assert by_tags(engine, "shop", by=agent(), mode=Mode.ARCHIVED) == [5]
    assert set(by_tags(engine, "shop", by=agent(), mode=Mode.ASSOCIATIVE)) == {1, 5, 6}
    assert [h.memory.id for h in engine.match_tags(agent(), tags=["shop"]).hits] == [1]


def test_recall_as_of_then_uses_the_tags_of_then(engine: Engine, clock: FixedClock) -> None:
    card(engine, "shop")
    engine.add_tag(OWNER, "store", synonyms=["Laden"])
    then = clock.now_ms()
    clock.at_ms += 1000
    engine.edit(OWNER, "mem-1@1", {"tags": ["store"]})
    engine.edit_tag(OWNER, "store", {"remove_synonyms": ["Laden"]})
    assert by_tags(engine, "shop") == [] and by_tags(engine, "store") == [1]
    assert by_tags(engine, "shop", known_ms=then) == [1] and by_tags(engine, "store", known_ms=then) == []
    assert page(engine, "", "Laden").missing_tags == ("Laden",)
    assert page(engine, "", "Laden", known_ms=then).missing_tags == ()


def test_order_is_by_score_then_newer_then_number_and_always_the_same(engine: Engine, clock: FixedClock) -> None:
    shuffle = random.Random(4)
    for n in range(40):
        clock.at_ms += shuffle.choice((0, 0, 1000))
        card(engine, *(t for t in ("a1", "b1", "c1") if shuffle.random() < 0.6 or (t == "a1" and n % 2)))
    hits = page(engine, "", "a1", "b1", "c1", limit=100).hits
    keys = [(-h.score, -h.memory.recorded_ms, h.memory.id) for h in hits]
    assert keys == sorted(keys) and len(hits) > 20
    for _ in range(20):
        again = page(engine, "", "a1", "b1", "c1", limit=100).hits
        assert [(h.memory.id, h.score) for h in again] == [(h.memory.id, h.score) for h in hits]


def test_pages_of_the_channel_together_are_the_whole(engine: Engine) -> None:
    for _ in range(12):
        card(engine, "shop")
    first = page(engine, "", "shop", limit=5)
    second = page(engine, "", "shop", limit=5, cursor=first.next_cursor)
    third = page(engine, "", "shop", limit=5, cursor=second.next_cursor)
    ids = [h.memory.id for p in (first, second, third) for h in p.hits]
    assert ids == by_tags(engine, "shop") and len(set(ids)) == first.total == 12 and third.next_cursor is None


# --- entry points and bounds ---


def test_a_match_considers_fifty_and_returns_three(engine: Engine) -> None:
    for n in range(80):
        put(engine, f"Card {n}", IMPORT, tags=("shop",))
    assert len(engine.match_tags(OWNER, tags=["shop"]).hits) == 3
    assert len(engine.match_tags(OWNER, tags=["shop"], top=50).hits) == 50
    assert len(engine.match_tags(OWNER, tags=["shop"], top=1).hits) == 1
    for top in (0, 51):
        with refused("invalid_argument"):
            engine.match_tags(OWNER, tags=["shop"], top=top)


def test_a_match_by_text_by_tags_and_by_codes(engine: Engine) -> None:
    card(engine, "部署", scene="工作")
    code = engine.tag_code(OWNER, "部署") or ""
    for found in (
        engine.match_tags(OWNER, "怎么部署？"),
        engine.match_tags(OWNER, tags=["部署"]),
        engine.match_tags(OWNER, codes=[code]),
    ):
        assert (only(found.hits).memory.id, found.codes) == (1, (code,))
    assert only(engine.match_tags(OWNER, codes=[code], scene="工作").hits).score == pytest.approx(1.1)
    assert engine.match_tags(OWNER, codes=["TAG_CONTENT_X_999"]).missing == ("TAG_CONTENT_X_999",)
    assert engine.match_tags(OWNER, "怎么部署？", tags=[]).hits == () == engine.match_tags(OWNER).hits


def test_cards_with_every_tag_and_with_any(engine: Engine) -> None:
    card(engine, "shop", "garden")
    card(engine, "shop")
    card(engine, "garden")
    card(engine, "paper")
    assert list(engine.tagged(OWNER, ["shop", "Garden"])) == [1]
    assert list(engine.tagged(OWNER, ["shop", "garden"], every=False)) == [3, 2, 1]
    assert list(engine.tagged(OWNER, ["shop", "nobody"])) == list(engine.tagged(OWNER, [])) == []
    engine.forget(OWNER, ["mem-1"])
    assert list(engine.tagged(agent(), ["shop", "garden"])) == []


# --- as a bonus ---


def test_where_no_tag_matches_the_fused_result_is_the_text_alone(engine: Engine) -> None:
    for n in range(30):
        put(engine, f"The gateway number {n} stands in hall {n % 4}", IMPORT, tags=(f"tag {n}",))
    for text in ("gateway", "which gateway stands in hall 3", "x", "。", "number 7"):
        one, other = (page(engine, text, channel=channel, limit=30) for channel in (Channel.FUSED, Channel.TEXT))
        assert one == other


def test_a_tag_lifts_within_bounds_and_brings_in_what_only_a_relation_finds(engine: Engine) -> None:
    put(engine, "The certificate of the shop expires in May")
    put(engine, "The certificate of the hall expires in June", tags=("garden",))
    put(engine, "Renewal is due", tags=("TLS",))
    engine.add_tag(OWNER, "certificate")
    engine.relate(OWNER, "certificate", "TLS", "synonym")
    text = {h.memory.id: h.score for h in page(engine, "certificate of the garden", channel=Channel.TEXT).hits}
    fused = {h.memory.id: h for h in page(engine, "certificate of the garden", channel=Channel.FUSED).hits}
    assert 3 not in text and fused[3].why == "tags: TLS (through certificate, synonym, 1 hop)"
    best = max(text.values())
    for id, hit in fused.items():
        assert 0 <= hit.score - text.get(id, 0.0) <= 0.2 * best + 1e-9
    assert fused[2].score > text[2] and fused[1].score == text[1]
    assert "tags: garden" in fused[2].why and fused[2].parts["tags"] > 0


def test_a_tag_that_too_many_cards_carry_lifts_nothing(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.recall.fuse.COMMON_TAG", 5)
    for n in range(6):
        put(engine, f"Window {n}", IMPORT, tags=("everywhere",))
    assert page(engine, "everywhere", channel=Channel.FUSED) == page(engine, "everywhere", channel=Channel.TEXT) or all(
        "tags:" not in h.why for h in page(engine, "everywhere", channel=Channel.FUSED).hits
    )
    assert len(page(engine, "everywhere").hits) == 6, "alone it finds them"
