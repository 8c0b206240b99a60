"""What turns bring back and keep: depth, injection, preferences, feedback, threads, events, cleaning (W52-W64, W70)."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from engine.facade import Engine
from engine.model.clock import FixedClock
from engine.model.enums import ReviewKind, State
from engine.model.errors import MemdeckError
from engine.model.memory import RecallQuery
from engine.model.turns import EventDraft
from tests.engine.kit import DAY_MS, OWNER, agent, found, put, rows
from tests.engine.turns.conftest import AGENT, Turn


def feedback(engine: Engine, ref: str) -> str:
    return engine.card(OWNER, ref).feedback


# ------------------------------------------------------------------ depth and injection


def test_depth_gives_one_two_or_three_parts(engine: Engine, turn: Turn) -> None:
    frame, _ = turn("网关的证书怎么续期？", "证书由定时任务续期。" * 40)
    parts = {route: dict(engine.deliver(AGENT, frame.card, route).parts) for route in ("shallow", "medium", "deep")}
    assert [list(p) for p in parts.values()] == [
        ["summary"], ["summary", "overview"], ["summary", "overview", "original"],
    ]  # fmt: skip
    assert "证书由定时任务续期。" * 40 in parts["deep"]["original"]
    assert "网关的证书怎么续期？" in parts["deep"]["original"]
    with pytest.raises(MemdeckError):
        engine.deliver(AGENT, frame.card, "abyss")


@pytest.mark.parametrize(("mode", "parts"), [("off", 0), ("summary", 1), ("detail", 2), ("full", 3)])
def test_injection_puts_so_many_parts_before_the_model(engine: Engine, turn: Turn, mode: str, parts: int) -> None:
    turn(
        "网关的证书怎么续期？",
        "看手册第三章。",
        analysis={"summary": "续期的办法", "overview": "手册的第三章说得很清楚"},
    )
    frame = engine.begin_turn(AGENT, "证书续期", analysis={"tags": ["证书"], "injection": mode})
    texts = ("续期的办法", "手册的第三章说得很清楚", "agent: 看手册第三章。")
    assert [text in frame.context for text in texts] == [number < parts for number in range(3)]
    assert ("related memory" in frame.context) is (parts > 0) and len(frame.memory) == 1


def test_the_context_has_its_sections_in_order(engine: Engine, turn: Turn, clock: FixedClock) -> None:
    liked = {"tags": ["网关"], "preferences": [{"key": "风格", "value": "简洁", "confidence": 0.6}]}
    first, _ = turn("看看网关", "网关很好。", analysis=liked, begin={"tags": ["网关"]})
    clock.at_ms += 7 * DAY_MS
    begin = {"tags": ["网关"], "scene": "工作", "emotion": "着急", "intent": "查询", "context_summary": "问网关"}
    other = agent(session="s2")  # whose messages say nothing of this session's cards
    frame = engine.begin_turn(other, "再看看网关", analysis=begin)
    words = "当前消息 再看看网关 理解 查询 工作 着急 问网关 相关记忆 网关很好。 70% 风格=简洁 记录_".split()
    order = [frame.context.index(word) for word in words]
    assert order == sorted(order)
    # One tag, seven days old: exp(-0.35) = 0.7047.
    assert round(frame.memory[0].confidence, 4) == 0.7047
    assert engine.card(AGENT, first.card).record_id in frame.context
    assert frame.context == engine.begin_turn(other, "再看看网关", analysis=begin).context


def test_stored_text_is_data_in_the_context(engine: Engine, turn: Turn) -> None:
    turn("网关", "```\n# heading\n</memdeck-notes>\n```", analysis={"tags": ["网关"], "summary": "## not\na heading"})
    frame = engine.begin_turn(AGENT, "网关", analysis={"tags": ["网关"], "injection": "full"})
    assert "</memdeck-notes>" not in frame.context
    assert "\n## not" not in frame.context and "````text" in frame.context


def test_recall_changes_no_tag(engine: Engine, turn: Turn) -> None:
    turn("看看网关的监控", "好", analysis={"tags": ["网关", "监控"]})
    before = rows(engine.store_dir, "SELECT * FROM tags"), rows(engine.store_dir, "SELECT * FROM tag_relations")
    engine.recall(AGENT, RecallQuery("从未见过的标签 网关"))
    frame = engine.begin_turn(AGENT, "从未见过的词", analysis={"tags": ["从未见过", "网关"]})
    assert (frame.waiting, frame.malformed) == (("从未见过",), ("网关",))
    assert before == (
        rows(engine.store_dir, "SELECT * FROM tags"),
        rows(engine.store_dir, "SELECT * FROM tag_relations"),
    )


def test_facts_come_back_beside_turns(engine: Engine) -> None:
    put(engine, "The gateway listens on port 8443")
    frame = engine.begin_turn(AGENT, "which port does the gateway listen on?")
    assert [(r.memory, r.card) for r in frame.memory] == [(1, "")] and "port 8443" in frame.context


def test_nothing_to_search_for_is_no_error(engine: Engine) -> None:
    put(engine, "The gateway listens on port 8443")
    assert engine.recall(AGENT, RecallQuery("。")).hits == ()
    assert engine.begin_turn(AGENT, "。").memory == ()


# ------------------------------------------------------------------ preferences and feedback


def test_the_last_value_of_a_preference_holds_and_goes_with_its_card(
    engine: Engine, turn: Turn, clock: FixedClock
) -> None:
    refs = []
    for value, confidence in (("简洁", 0.6), ("详细", 0.7), ("花哨", 0.3)):
        frame, _ = turn("写周报", analysis={"preferences": [{"key": "风格", "value": value, "confidence": confidence}]})
        refs.append(frame.card)
        clock.at_ms += 1000
    assert [(p.key, p.value) for p in engine.preferences(AGENT)] == [("风格", "详细")]
    engine.forget(OWNER, [refs[1]])
    assert [(p.key, p.value) for p in engine.preferences(AGENT)] == [("风格", "简洁")]


def test_a_no_rejects_the_card_before_even_without_a_frame(engine: Engine, turn: Turn) -> None:
    first, _ = turn("部署网关", "我重启了打印机。")
    second = engine.begin_turn(AGENT, "不对，你理解错了")
    assert (second.card, second.feedback) == ("", "rejected")
    assert feedback(engine, first.card) == "rejected"
    assert engine.begin_turn(AGENT, "部署网关").memory == ()
    assert engine.preferences(AGENT) == []


def test_a_yes_or_a_follow_up_confirms_and_another_topic_is_ignored(engine: Engine, turn: Turn) -> None:
    first, _ = turn("部署网关", "好了")
    second, _ = turn("谢谢，再看看日志", "好了")
    third, _ = turn("日志轮转怎么设", "好了", begin={"tags": ["日志"]})
    engine.begin_turn(AGENT, "晚餐吃火锅")
    assert [feedback(engine, f.card) for f in (first, second, third)] == ["confirmed", "confirmed", "ignored"]


def test_feedback_stays_in_its_thread_and_session(engine: Engine, turn: Turn) -> None:
    first, _ = turn("部署网关", thread="a")
    engine.begin_turn(AGENT, "不对，重来", thread="b")
    engine.begin_turn(agent(session="s2"), "不对，重来", thread="a")
    assert feedback(engine, first.card) == ""


def test_the_agents_own_judgement_counts(engine: Engine, turn: Turn) -> None:
    first, _ = turn("部署网关")
    turn("晚餐吃火锅", analysis={"feedback": "partial"})
    assert feedback(engine, first.card) == "partial"


# ------------------------------------------------------------------ threads


@pytest.mark.parametrize(
    "name", ["a/b:c", "../../etc/passwd", "..", "C:\\x", "线程一", "a\0b", " ", "x" * 500, "\n/\n"]
)
def test_a_thread_may_have_any_name_and_leads_nowhere(engine: Engine, turn: Turn, name: str) -> None:
    frame, _ = turn("deploy the gateway", thread=name)
    path = PurePosixPath(engine.card(AGENT, frame.card).source_path)
    assert len(path.parts) == 3 and path.parts[0] == "threads" and ".." not in path.parts and "\0" not in str(path)
    assert engine.overview(AGENT, str(path)) and len(str(path)) < 150


def test_threads_are_kept_apart_and_recall_crosses_them(engine: Engine, turn: Turn) -> None:
    one, _ = turn("deploy the gateway", thread="a/b")
    other, _ = turn("deploy the gateway again", "x", thread="a_b")
    default, _ = turn("deploy the gateway once more", "y")
    cards = [engine.card(AGENT, frame.card) for frame in (one, other, default)]
    assert len({PurePosixPath(c.source_path).parent for c in cards}) == 3
    assert cards[2].thread == "default" and found(engine, "gateway", AGENT) == [1, 2, 3]
    assert [engine.get(OWNER, f"mem-{n}").seq for n in (1, 2, 3)] == [1, 1, 1]


# ------------------------------------------------------------------ events


def test_events_are_listed_by_day_and_steps_by_parent(engine: Engine, clock: FixedClock, turn: Turn) -> None:
    turn("deploy the gateway", "done")
    parent = engine.add_event(AGENT, EventDraft("task", context="release 5", rating="good"))
    for number in range(3):
        clock.at_ms += 1000
        engine.add_event(AGENT, EventDraft("action", "step", parent, input=f"step {number}", steps=("a", "b")))
    clock.at_ms += DAY_MS
    engine.add_event(AGENT, EventDraft("system", input="the day after"))
    assert [event.input for event in engine.event_steps(OWNER, parent)] == ["step 0", "step 1", "step 2"]
    assert engine.event_days(OWNER) == {"2026-11-30": 1, "2026-11-29": 5}
    today = engine.events(OWNER, "2026-11-29")
    assert [e.type for e in today] == ["chat", "task", "action", "action", "action"]
    assert (today[0].response, today[0].status, today[0].route, today[1].rating) == (
        "done",
        "completed",
        "shallow",
        "good",
    )


def test_a_day_can_be_deleted_and_brought_back(engine: Engine, turn: Turn) -> None:
    turn("deploy the gateway", "done")
    assert engine.forget_events(OWNER, "2026-11-29") == 1
    assert engine.events(OWNER, "2026-11-29") == [] and engine.forget_events(OWNER, "2026-11-29") == 0
    engine.undo(OWNER)
    assert len(engine.events(OWNER, "2026-11-29")) == 1


@pytest.mark.parametrize(
    "draft",
    [EventDraft("gossip"), EventDraft(level="leap"), EventDraft(status="done"), EventDraft(level="step"),
     EventDraft(parent=1)],
)  # fmt: skip
def test_an_event_that_cannot_be_is_refused(engine: Engine, draft: EventDraft) -> None:
    with pytest.raises(MemdeckError):
        engine.add_event(AGENT, draft)
    with pytest.raises(MemdeckError, match="event 7"):
        engine.add_event(AGENT, EventDraft(level="step", parent=7))


def test_agents_do_not_read_the_events_of_a_day(engine: Engine, turn: Turn) -> None:
    turn("deploy the gateway")
    for read in (lambda: engine.events(AGENT, "2026-11-29"), lambda: engine.event_days(AGENT)):
        with pytest.raises(MemdeckError):
            read()
    for day in ("", "yesterday", "2026-13-01", "99999-01-01"):
        with pytest.raises(MemdeckError, match="no day"):
            engine.events(OWNER, day)


# ------------------------------------------------------------------ cleaning


def test_a_card_is_named_for_the_archive_at_121_days_and_not_before(
    engine: Engine, turn: Turn, clock: FixedClock
) -> None:
    turn("deploy the gateway")
    clock.at_ms += 120 * DAY_MS
    assert engine.clean_turns(OWNER) == []
    clock.at_ms += DAY_MS
    named = engine.clean_turns(OWNER)
    assert [n.memory for n in named] == [1] and round(named[0].weight, 3) == 0.297
    assert engine.get(OWNER, "mem-1").state is State.ACTIVE


def test_the_owner_decides_what_is_archived(engine: Engine, turn: Turn, clock: FixedClock) -> None:
    turn("deploy the gateway")
    turn("deploy the printer")
    put(engine, "a fact is no turn")
    engine.lock(OWNER, "mem-2")
    clock.at_ms += 400 * DAY_MS
    assert [n.memory for n in engine.clean_turns(AGENT, propose=True)] == [1]
    item = engine.review_items(kinds=[ReviewKind.FORGET_REQUEST])[0]
    engine.clean_turns(AGENT, propose=True)
    assert len(engine.review_items(kinds=[ReviewKind.FORGET_REQUEST])) == 1
    assert engine.get(OWNER, "mem-1").state is State.ACTIVE
    engine.decide(OWNER, [item.id], "accept")
    assert [engine.get(OWNER, f"mem-{n}").state for n in (1, 2, 3)] == [State.ARCHIVED, State.ACTIVE, State.ACTIVE]
    engine.undo(OWNER)
    assert engine.get(OWNER, "mem-1").state is State.ACTIVE


def test_a_recall_is_an_access(engine: Engine, turn: Turn, clock: FixedClock) -> None:
    frame, _ = turn("deploy the gateway")
    clock.at_ms += 60 * DAY_MS
    assert round(engine.card(OWNER, frame.card).weight, 3) == 0.5
    engine.recall(AGENT, RecallQuery("gateway"))
    engine.usage([1])
    card = engine.card(OWNER, frame.card)
    assert (round(card.weight, 3), card.last_access_at) == (0.575, clock.at_ms)
    clock.at_ms += 1000
    engine.begin_turn(AGENT, "the gateway again")
    engine.usage([1])
    assert engine.card(OWNER, frame.card).last_access_at == clock.at_ms
