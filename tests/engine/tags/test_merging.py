"""Merging tags: the plan, the refusals, what moves, staleness, undo, and a process that dies half-way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from engine.facade import Engine, open_engine
from engine.model.clock import FixedClock
from engine.model.enums import Origin, ReviewKind, TagLevel, TagStatus
from engine.model.errors import MemdeckError
from engine.model.memory import AsOf, Caller, Filter
from engine.store.ephemeral import Question
from tests.engine.kit import OWNER, agent, found, problems, put, rows
from tests.engine.tags.kit import by_tags, card, journalled, names, refused, related, status

IMPORT = Caller(Origin.IMPORT, "owner")


def merge(engine: Engine, *sources: str, into: str):
    return engine.apply_tag_merge(OWNER, engine.plan_tag_merge(OWNER, sources, into))


# --- the plan ---


def test_a_plan_says_what_would_change_and_changes_nothing(engine: Engine, store_dir: Path) -> None:
    card(engine, "cert", "TLS", "gateway")
    card(engine, "cert")
    card(engine, "TLS", "gateway")
    engine.relate(OWNER, "cert", "TLS", "synonym")
    engine.relate(OWNER, "cert", "gateway", "related")
    engine.relate(OWNER, "TLS", "gateway", "loose")
    engine.add_tag(OWNER, "x509")
    engine.relate(OWNER, "cert", "x509", "related")
    before = journalled(store_dir)
    plan = engine.plan_tag_merge(OWNER, ["cert"], "TLS")
    assert journalled(store_dir) == before
    assert (plan.moves, plan.keeps) == ((2,), (1,))
    assert (dict(plan.tags_before), dict(plan.tags_after)) == ({1: 1, 3: 1}, {1: 1, 2: 1})
    assert {(r.source, r.other, r.how, r.level) for r in plan.relations} == {
        ("cert", "TLS", "dropped", None),
        ("cert", "gateway", "collapsed", TagLevel.RELATED),
        ("cert", "x509", "moved", TagLevel.RELATED),
    }
    assert (plan.rules, plan.tasks, plan.redirects) == ((), (), ())
    with pytest.raises(FrozenInstanceError):
        plan.confirm = "x"  # type: ignore[misc]
    assert engine.plan_tag_merge(OWNER, ["cert"], "TLS") == plan


def test_a_plan_answers_recent_questions_before_and_after(engine: Engine) -> None:
    card(engine, "cert")
    card(engine, "TLS")
    for text in ("which cert expires", "what about TLS", "who waters the plants", "which cert expires"):
        engine._desk.backlog.ask(Question(1, "recall", "codex", None, text, ()))
    engine.close()  # writes the questions
    with open_engine(engine.store_dir, env={}) as again:
        plan = again.plan_tag_merge(OWNER, ["cert"], "TLS")
        assert {q.query: (q.before, sorted(q.after)) for q in plan.queries} == {
            "which cert expires": ((1,), [1, 2]),
            "what about TLS": ((2,), [1, 2]),
        }
        assert plan.queries_tried == 2


@pytest.mark.parametrize(
    ("sources", "target", "code"),
    [
        ([], "B", "invalid_argument"),
        (["A"], "nobody", "unknown_tag"),
        (["nobody"], "B", "unknown_tag"),
        (["A"], "A", "invalid_argument"),
        (["a"], "Ａ", "invalid_argument"),
        (["A", "B"], "B", "invalid_argument"),
        (["A"], "merged", "invalid_argument"),
        (["merged"], "B", "exists"),
        (["A"], "gone", "tag_deprecated"),
        (["工作"], "B", "reserved"),
        (["Alpha"], "B", "unknown_tag"),
        ([""], "B", "unknown_tag"),
        (["A"], "", "unknown_tag"),
        (["x" * 10_000], "B", "unknown_tag"),
    ],
)
def test_what_cannot_be_merged_is_said_in_one_line(engine: Engine, sources: list[str], target: str, code: str) -> None:
    engine.add_tag(OWNER, "A", synonyms=["Alpha"])
    for name in ("B", "merged", "gone"):
        engine.add_tag(OWNER, name)
    merge(engine, "merged", into="B")
    engine.deprecate(OWNER, "gone")
    with refused(code):
        engine.plan_tag_merge(OWNER, sources, target)
    with refused(code):
        engine.propose_tag_merge(agent(), sources, target)
    assert status(engine, "A") is TagStatus.ACTIVE and not engine.review_ids(kinds=(ReviewKind.TAG_MERGE,))


def test_merges_never_go_round_in_a_circle(engine: Engine) -> None:
    for name in "ABC":
        card(engine, name)
    merge(engine, "A", into="B")
    with refused("invalid_argument"):
        engine.plan_tag_merge(OWNER, ["B"], "A")
    merge(engine, "B", into="C")
    with refused("invalid_argument"):
        engine.plan_tag_merge(OWNER, ["C"], "A")
    assert engine.tag_code(OWNER, "A") == engine.tag_code(OWNER, "B") == engine.tag_code(OWNER, "C"), "one hop each"
    assert engine.tag(OWNER, "C").redirects == ("A", "B") and problems(engine) == []


# --- carrying it out ---


def test_a_merge_moves_cards_and_leaves_a_redirect(engine: Engine) -> None:
    card(engine, "cert", "gateway")
    card(engine, "TLS")
    card(engine, "cert", "TLS")
    report = merge(engine, "cert", into="TLS")
    assert (report.moved, report.kept, report.sources, report.target) == (1, 1, ("cert",), "TLS")
    assert [engine.get(OWNER, f"mem-{n}").tags for n in (1, 2, 3)] == [("gateway", "TLS"), ("TLS",), ("TLS",)]
    assert sorted(by_tags(engine, "TLS")) == sorted(by_tags(engine, "cert")) == [1, 2, 3]
    assert status(engine, "cert") is TagStatus.MERGED and engine.tag(OWNER, "cert").merged_to == "TLS"
    assert names(engine) == {"cert", "TLS", "gateway"}, "the name stays known"
    assert put(engine, "Written later", agent(), tags=("Cert",)).notes == ("tag 'Cert' stands under 'TLS'",)
    assert engine.get(OWNER, "mem-4").tags == ("TLS",)
    assert found(engine, "TLS") == [1, 2, 3, 4], "the text index follows"
    assert {s.name: s.kind for s in engine.snapshots()}[report.snapshot] == "run"
    assert problems(engine) == []


def test_a_merge_rewrites_relations_and_keeps_the_stronger(engine: Engine) -> None:
    for name in ("cert", "SSL", "TLS", "gateway", "x509"):
        engine.add_tag(OWNER, name)
    for one, other, level in (
        ("cert", "SSL", "synonym"), ("cert", "TLS", "synonym"), ("cert", "gateway", "synonym"),
        ("TLS", "gateway", "loose"), ("SSL", "x509", "loose"), ("cert", "x509", "related"),
    ):  # fmt: skip
        engine.relate(OWNER, one, other, level)
    report = merge(engine, "cert", "SSL", into="TLS")
    assert related(engine, "TLS") == {"gateway": "synonym", "x509": "related"}
    assert report.relations == {"dropped": 3, "collapsed": 2, "moved": 1}
    assert related(engine, "cert") == related(engine, "SSL") == {} and problems(engine) == []


def test_what_was_known_before_a_merge_stays_known(engine: Engine, clock: FixedClock) -> None:
    card(engine, "cert")
    engine.add_tag(OWNER, "TLS")
    before = clock.now_ms()
    clock.at_ms += 1000
    merge(engine, "cert", into="TLS")
    assert engine.get(OWNER, "mem-1").tags == ("TLS",)
    assert engine.get(OWNER, "mem-1", as_of=AsOf(known_ms=before)).tags == ("cert",)
    past = AsOf(known_ms=before)
    assert list(engine.memory_ids(OWNER, Filter(tags=("cert",)), as_of=past)) == [1]
    assert list(engine.memory_ids(OWNER, Filter(tags=("TLS",)), as_of=past)) == []


def test_a_merge_copies_no_text_and_makes_no_editor_stale(engine: Engine, store_dir: Path) -> None:
    for start in range(120):
        put(engine, f"Card number {start}", IMPORT, tags=("cert",), body=f"Body of card {start}")
    engine.add_tag(OWNER, "TLS")
    count = "SELECT (SELECT count(*) FROM versions), (SELECT count(*) FROM texts), (SELECT max(revision) FROM versions)"
    before = rows(store_dir, count)
    read = engine.get(OWNER, "mem-7")
    assert merge(engine, "cert", into="TLS").moved == 120
    assert rows(store_dir, count) == before
    assert engine.edit(OWNER, read.ref, {"description": "Written after the merge"}).revision == 2


# --- staleness ---


def _agent_writes_with_it(engine: Engine) -> None:
    put(engine, "An agent writes meanwhile", agent(), tags=("cert",))


def _a_relation_changes(engine: Engine) -> None:
    engine.relate(agent(), "cert", "gateway", "loose")


def _the_target_goes(engine: Engine) -> None:
    engine.deprecate(agent(), "TLS")


def _the_source_is_defined(engine: Engine) -> None:
    engine.edit_tag(agent(), "cert", {"definition": "a certificate"})


@pytest.mark.parametrize(
    "meanwhile", [_agent_writes_with_it, _a_relation_changes, _the_target_goes, _the_source_is_defined]
)
def test_a_stale_plan_is_refused_and_changes_nothing(engine: Engine, store_dir: Path, meanwhile) -> None:
    card(engine, "cert", "gateway")
    engine.add_tag(OWNER, "TLS")
    plan = engine.plan_tag_merge(OWNER, ["cert"], "TLS")
    meanwhile(engine)
    before, snapshots = journalled(store_dir), engine.snapshots()
    with refused("tag_deprecated" if meanwhile is _the_target_goes else "stale_revision"):
        engine.apply_tag_merge(OWNER, plan)
    assert journalled(store_dir) == before and engine.snapshots() == snapshots


def test_what_has_nothing_to_do_with_it_makes_no_plan_stale(engine: Engine) -> None:
    card(engine, "cert")
    engine.add_tag(OWNER, "TLS")
    plan = engine.plan_tag_merge(OWNER, ["cert"], "TLS")
    put(engine, "An agent writes meanwhile", agent(), tags=("garden",))
    engine.edit(OWNER, "mem-1@1", {"description": "The owner edits the card itself"})
    assert engine.apply_tag_merge(OWNER, plan).moved == 1


def test_a_plan_is_carried_out_once_by_the_owner_and_by_its_own_code(engine: Engine) -> None:
    card(engine, "cert")
    engine.add_tag(OWNER, "TLS")
    plan = engine.plan_tag_merge(OWNER, ["cert"], "TLS")
    for by in (agent(), IMPORT, Caller(Origin.SYSTEM)):
        with refused("needs_human"):
            engine.apply_tag_merge(by, plan)
    for wrong in ("", "x", plan.confirm[:-1], plan.confirm + "0"):
        with refused("stale_revision"):
            engine.apply_tag_merge(OWNER, sources=["cert"], target="TLS", confirm=wrong)
    engine.apply_tag_merge(OWNER, sources=["Cert"], target="tls", confirm=plan.confirm)
    with refused("exists"):
        engine.apply_tag_merge(OWNER, plan)


def test_agents_that_write_while_merges_are_planned_lose_nothing(engine: Engine, store_dir: Path) -> None:
    engine.add_tag(OWNER, "TLS")
    card(engine, "cert")
    failures: list[BaseException] = []

    def write() -> None:
        try:
            for n in range(25):
                put(engine, f"Agent's card {n}", agent(), tags=("cert", f"own {n % 3}"))
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    merged = stale = 0
    while not merged and stale < 500:
        try:
            engine.apply_tag_merge(OWNER, engine.plan_tag_merge(OWNER, ["cert"], "TLS"))
            merged += 1
        except MemdeckError as error:
            assert error.code == "stale_revision"
            stale += 1
    thread.join()
    assert not failures and merged == 1
    assert len(by_tags(engine, "TLS")) == 26 and problems(engine) == []
    assert rows(store_dir, "SELECT count(*) FROM memory_tags l JOIN tags t USING (tag_id) WHERE l.op_to IS NULL"
                           " AND t.op_to IS NULL AND t.name = 'cert'") == [(0,)]  # fmt: skip


# --- undo ---


def shape(engine: Engine) -> dict[str, object]:
    """Return what a caller sees of tags and cards, without the times of rows."""
    tags = {n: engine.tag(OWNER, n) for n in sorted(names(engine))}
    return {
        "tags": {n: (t.status, t.merged_to, t.redirects, t.relations, t.cards) for n, t in tags.items()},
        "cards": {m.id: set(m.tags) for m in engine.memory_rows(OWNER, list(engine.memory_ids(OWNER)))},
    }


def prepared(engine: Engine) -> dict[str, object]:
    card(engine, "cert", "gateway")
    card(engine, "TLS", "cert")
    engine.add_tag(OWNER, "oldest")
    merge(engine, "oldest", into="cert")
    engine.relate(OWNER, "cert", "gateway", "related")
    engine.relate(OWNER, "cert", "TLS", "synonym")
    return shape(engine)


def test_undo_restores_everything_and_redo_does_it_again(engine: Engine) -> None:
    before = prepared(engine)
    merge(engine, "cert", into="TLS")
    after = shape(engine)
    assert engine.tag(OWNER, "TLS").redirects == ("cert", "oldest")
    engine.undo(OWNER)
    assert shape(engine) == before and problems(engine) == []
    engine.redo(OWNER)
    assert shape(engine) == after and problems(engine) == []


@pytest.mark.parametrize("rest", [False, True])
def test_undo_is_refused_once_something_was_built_on_it(engine: Engine, rest: bool) -> None:
    prepared(engine)
    op = merge(engine, "cert", into="TLS").op
    engine.add_tag(OWNER, "security")
    merge(engine, "TLS", into="security")
    after = shape(engine)
    with refused("exists"):
        engine.undo(OWNER, op, rest=rest)
    assert shape(engine) == after
    engine.undo(OWNER)
    engine.undo(OWNER, op)
    assert status(engine, "cert") is TagStatus.ACTIVE and problems(engine) == []


def test_a_card_that_was_retagged_since_is_named_and_can_be_left(engine: Engine) -> None:
    prepared(engine)
    op = merge(engine, "cert", into="TLS").op
    engine.edit(OWNER, "mem-1@1", {"tags": ["gateway"]})
    with pytest.raises(MemdeckError) as error:
        engine.undo(OWNER, op)
    assert error.value.params["left"] == ("mem-1",)
    engine.undo(OWNER, op, rest=True)
    assert engine.get(OWNER, "mem-1").tags == ("gateway",) and set(engine.get(OWNER, "mem-2").tags) == {"TLS", "cert"}
    assert problems(engine) == []


def test_what_comes_later_beside_a_merge_does_not_stand_in_its_way(engine: Engine) -> None:
    prepared(engine)
    op = merge(engine, "cert", into="TLS").op
    put(engine, "A new card", agent(), tags=("cert", "garden"))
    engine.edit_tag(OWNER, "TLS", {"definition": "transport security"})
    engine.undo(OWNER, op)
    assert engine.tag(OWNER, "TLS").definition == "transport security"
    assert engine.get(OWNER, "mem-3").tags == ("TLS", "garden") and problems(engine) == []


# --- proposals ---


def test_what_an_agent_wants_merged_waits_and_the_owner_decides(engine: Engine) -> None:
    card(engine, "cert")
    engine.add_tag(OWNER, "TLS")
    answer = engine.propose_tag_merge(agent("codex"), ["cert"], "TLS", reason="the same")
    assert engine.propose_tag_merge(agent(), ["Cert"], "tls").review == answer.review, "asked twice, waits once"
    assert status(engine, "cert") is TagStatus.ACTIVE
    (item,) = engine.review_items(kinds=(ReviewKind.TAG_MERGE,))
    assert (item.title, item.evidence["cards"], item.evidence["reason"]) == ("cert → TLS", 1, "the same")
    with refused("needs_human"):
        engine.decide(agent(), [item.id], "accept")
    snapshots = len(engine.snapshots())
    decision = engine.decide(OWNER, [item.id], "accept")
    assert len(engine.snapshots()) == snapshots + 1
    assert by_tags(engine, "TLS") == [1] and status(engine, "cert") is TagStatus.MERGED
    engine.undo(OWNER, decision.op)
    assert status(engine, "cert") is TagStatus.ACTIVE and problems(engine) == []
    assert list(engine.review_ids(kinds=(ReviewKind.TAG_MERGE,))) == [item.id]


def test_a_proposal_that_no_longer_holds_is_refused_and_the_rest_go_on(engine: Engine) -> None:
    for name in "ABC":
        card(engine, name)
    first = engine.propose_tag_merge(agent(), ["A"], "B").review
    second = engine.propose_tag_merge(agent(), ["C"], "B").review
    merge(engine, "A", into="C")
    decided = engine.decide(OWNER, [first, second], "accept")
    assert decided.decided == (second,) and "merged already" in decided.refused[0][1]
    assert engine.tag_code(OWNER, "A") == engine.tag_code(OWNER, "B") and problems(engine) == []


def test_a_rejected_merge_changes_nothing(engine: Engine, store_dir: Path) -> None:
    card(engine, "A")
    engine.add_tag(OWNER, "B")
    item = engine.propose_tag_merge(agent(), ["A"], "B").review
    engine.decide(OWNER, [item], "reject")
    assert status(engine, "A") is TagStatus.ACTIVE and by_tags(engine, "B") == []


# --- a process that dies ---


def _whole(store: Path, cards: int) -> str:
    """Return whether a store holds the old or the new state; fail on anything between."""
    with open_engine(store, env={}) as engine:
        assert problems(engine) == []
        is_merged = status(engine, "cert") is TagStatus.MERGED
        assert len(by_tags(engine, "TLS")) == (cards if is_merged else 0)
        assert (len(by_tags(engine, "cert")), related(engine, "gateway")) == (
            cards, {"TLS" if is_merged else "cert": "related"},
        )  # fmt: skip
    return "new" if is_merged else "old"


MERGE = """
import sys
from pathlib import Path
from engine.facade import open_engine
from engine.model.enums import Origin
from engine.model.memory import Caller
with open_engine(Path(sys.argv[1]), env={}) as engine:
    owner = Caller(Origin.CLI, "owner")
    plan = engine.plan_tag_merge(owner, ["cert"], "TLS")
    print("go", flush=True)
    engine.apply_tag_merge(owner, plan)
    print("done", flush=True)
"""


def _kill_after(store: Path, seconds: float) -> None:
    process = subprocess.Popen([sys.executable, "-c", MERGE, str(store)], stdout=subprocess.PIPE, text=True,
                               cwd=Path(__file__).parents[3], env={**os.environ, "PYTHONPATH": "."})  # fmt: skip
    assert process.stdout is not None and process.stdout.readline() == "go\n"
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()


def _fill(store: Path, cards: int) -> None:
    with open_engine(store, env={}) as engine:
        for n in range(cards):
            put(engine, f"Card number {n}", IMPORT, tags=("cert",), body="Some words. " * 30)
        engine.add_tag(OWNER, "TLS")
        engine.add_tag(OWNER, "gateway")
        engine.relate(OWNER, "cert", "gateway", "related")


def test_a_merge_that_is_killed_leaves_the_old_or_the_new_state(store_dir: Path) -> None:
    _fill(store_dir, 60)
    for delay in (0.0, 0.03, 0.06):
        _kill_after(store_dir, delay)
        if _whole(store_dir, 60) == "new":
            break


@pytest.mark.torture
def test_a_merge_killed_anywhere_leaves_the_old_or_the_new_state(store_dir: Path) -> None:
    """Kill ever later until the merge comes through; MEMDECK_TORTURE=20 kills at twenty times as many points."""
    _fill(store_dir, 300)
    step_s = 0.05 / int(os.environ.get("MEMDECK_TORTURE", "1"))
    seen = ["old"]
    while seen[-1] == "old" and len(seen) < 1000:
        _kill_after(store_dir, step_s * len(seen))
        seen.append(_whole(store_dir, 300))
    assert seen[-1] == "new"
