"""Batches of changes by agents, and who may do what: everything an agent does to tags can be taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.facade import Engine
from engine.model.enums import Origin, ReviewKind, TagStatus
from engine.model.memory import Caller
from tests.engine.kit import OWNER, agent, problems, put
from tests.engine.tags.kit import by_tags, card, journalled, names, refused, related, status

SYSTEM = Caller(Origin.SYSTEM, "upkeep")


def test_a_batch_does_what_is_reversible_and_proposes_merges(engine: Engine) -> None:
    for name in ("x", "y", "z"):
        card(engine, f"tag {name}", by=agent())
    done = engine.evolve(
        agent(),
        [
            {"action": "deprecate", "tag": "tag x", "reason": "tells nothing apart"},
            {"action": "merge", "tag": "tag y", "target": "tag z"},
            {"action": "activate", "tag": "tag z"},
            {"action": "relate", "tag": "tag y", "other": "tag z", "level": "related"},
            {"action": "align", "tag": "tag z", "definition": "the last one", "dimensions": ["内容"]},
        ],
    )
    assert [(r.number, r.action, r.ok, r.code) for r in done.results] == [
        (1, "deprecate", True, ""), (2, "merge", False, "needs_human"), (3, "activate", True, ""),
        (4, "relate", True, ""), (5, "align", True, ""),
    ]  # fmt: skip
    assert status(engine, "tag x") is TagStatus.DEPRECATED and status(engine, "tag y") is TagStatus.UNEXAMINED
    (item,) = engine.review_items(kinds=(ReviewKind.TAG_MERGE,))
    assert item.id == done.results[1].review and item.title == "tag y → tag z"
    assert related(engine, "tag y") == {"tag z": "related"} and engine.tag(OWNER, "tag z").definition == "the last one"
    engine.undo(OWNER, done.op)
    assert status(engine, "tag x") is status(engine, "tag z") is TagStatus.UNEXAMINED
    assert related(engine, "tag y") == {} and not engine.review_ids(kinds=(ReviewKind.TAG_MERGE,))


@pytest.mark.parametrize(
    ("action", "code"),
    [
        ({}, "invalid_argument"),
        ({"action": "split", "tag": "here"}, "invalid_argument"),
        ({"action": "activate"}, "invalid_argument"),
        ({"action": "activate", "tag": 7}, "invalid_argument"),
        ({"action": "activate", "tag": "nobody"}, "unknown_tag"),
        ({"action": "deprecate", "tag": "here"}, "invalid_argument"),
        ({"action": "deprecate", "tag": "工作", "reason": "x"}, "reserved"),
        ({"action": "relate", "tag": "here", "other": "here", "level": "loose"}, "self_relation"),
        ({"action": "relate", "tag": "here", "other": "there", "level": "best"}, "invalid_argument"),
        ({"action": "relate", "tag": "here", "other": "nobody", "level": "loose"}, "unknown_tag"),
        ({"action": "merge", "tag": "here"}, "invalid_argument"),
        ({"action": "merge", "tag": "here", "target": "here"}, "invalid_argument"),
        ({"action": "align", "tag": "here", "dimensions": ["weather"]}, "invalid_argument"),
    ],
)
def test_one_that_cannot_be_done_is_reported_and_the_rest_still_run(
    engine: Engine, action: dict[str, object], code: str
) -> None:
    engine.add_tag(OWNER, "here")
    engine.add_tag(OWNER, "there")
    good = {"action": "relate", "tag": "here", "other": "there", "level": "synonym"}
    done = engine.evolve(agent(), [action, good])
    assert [(r.ok, r.code) for r in done.results] == [(False, code), (True, "")]
    assert done.results[0].message and "\n" not in done.results[0].message
    assert related(engine, "here") == {"there": "synonym"}


def test_a_batch_that_changes_nothing_leaves_no_operation(engine: Engine, store_dir: Path) -> None:
    engine.add_tag(OWNER, "here")
    before = journalled(store_dir), len(engine.log())
    assert engine.evolve(agent(), []).op is None
    assert engine.evolve(agent(), [{"action": "activate", "tag": "nobody"}]).op is None
    assert engine.evolve(agent(), [{"action": "align", "tag": "here", "definition": ""}]).op is None
    assert (journalled(store_dir), len(engine.log())) == before
    with refused("invalid_argument"):
        engine.evolve(agent(), [{"action": "activate", "tag": "here"}] * 101)


def test_the_owner_merges_by_a_plan_and_not_in_a_batch(engine: Engine) -> None:
    card(engine, "here")
    engine.add_tag(OWNER, "there")
    done = engine.evolve(OWNER, [{"action": "merge", "sources": ["here"], "target": "there"}])
    assert done.results[0].code == "needs_human" and status(engine, "here") is TagStatus.ACTIVE


@pytest.mark.parametrize("by", [agent(), SYSTEM, Caller(Origin.FILE, "vault"), Caller(Origin.IMPORT, "owner")])
def test_only_the_owners_doors_do_what_is_final(engine: Engine, by: Caller) -> None:
    card(engine, "here")
    engine.add_tag(OWNER, "there")
    plan = engine.plan_tag_merge(by, ["here"], "there")
    for final in (
        lambda: engine.apply_tag_merge(by, plan),
        lambda: engine.unrelate(by, "here", "there"),
        lambda: engine.reactivate(by, "here"),
        lambda: engine.decide(by, [1], "accept"),
        lambda: engine.undo(by, 1),
    ):
        with refused("needs_human"):
            final()
    assert engine.propose_tag_merge(by, ["here"], "there").review is not None


def test_everything_an_agent_does_to_tags_is_journalled_under_its_name_and_can_be_taken_back(engine: Engine) -> None:
    engine.add_tag(OWNER, "here")
    engine.add_tag(OWNER, "there")
    codex = agent("codex")
    before = {n: engine.tag(OWNER, n) for n in ("here", "there")}
    ops = [
        engine.relate(codex, "here", "there", "loose").op,
        engine.edit_tag(codex, "here", {"definition": "where we are"}).op,
        engine.deprecate(codex, "there", "unused").op,
    ]
    for op in ops:
        assert op is not None
        operation, changes = engine.operation(op)
        assert (operation.origin, operation.actor) == (Origin.AGENT, "codex") and len(changes) == 1
    for op in reversed(ops):
        engine.undo(OWNER, op)
    after = {n: engine.tag(OWNER, n) for n in ("here", "there")}
    assert {n: (t.status, t.definition, t.relations) for n, t in after.items()} == {
        n: (t.status, t.definition, t.relations) for n, t in before.items()
    }


def test_an_unknown_name_waits_on_no_recall_and_becomes_a_tag_when_a_memory_is_stored(engine: Engine) -> None:
    assert engine.match_tags(agent(), tags=["从未见过"]).missing == ("从未见过",) and names(engine) == set()
    put(engine, "Now it is stored", agent(), tags=("从未见过",))
    assert status(engine, "从未见过") is TagStatus.UNEXAMINED and by_tags(engine, "从未见过") == [1]
    assert problems(engine) == []


def test_a_round_of_upkeep_is_a_run_of_its_own_with_reasons(engine: Engine) -> None:
    put(engine, "From a file", Caller(Origin.IMPORT, "owner"), tags=("东西", "deployment", "deployments"))
    report = engine.govern_tags(SYSTEM)
    operation, changes = engine.operation(report.op or 0)
    assert operation.run == report.run and operation.kind == "govern" and operation.origin is Origin.SYSTEM
    assert "1 tags deprecated, 1 relations proposed" in operation.summary
    assert {(c.table, (c.before or {}).get("status"), (c.after or {}).get("status")) for c in changes} == {
        ("tags", "unexamined", "deprecated"), ("review_items", None, None),
    }  # fmt: skip
    assert report.snapshot in {s.name for s in engine.snapshots()}
