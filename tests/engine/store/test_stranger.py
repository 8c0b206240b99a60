"""Kinds of fault that a stranger found: a test for each kind."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from engine.facade import Engine, open_engine
from engine.model.clock import FixedClock
from engine.model.enums import Origin, State
from engine.model.errors import MemdeckError
from engine.model.memory import Caller, Draft, RecallQuery

ME = Caller(Origin.CLI, "owner")
AGENT = Caller(Origin.AGENT, "alice", session="s1")
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
NOON = 1_800_000_000_000


@pytest.fixture
def engine(tmp_path: Path):
    with open_engine(tmp_path / "store", clock=FixedClock(NOON)) as opened:
        yield opened


def bytes_of(engine: Engine) -> bytes:
    """Return everything that stands in the store's directory."""
    return b"".join(p.read_bytes() for p in engine.store_dir.rglob("*") if p.is_file())


@pytest.mark.parametrize(
    "act",
    [
        lambda e: e.forget(ME, ["mem-1"], reason=f"leaked {TOKEN}"),
        lambda e: e.forget(AGENT, ["mem-1"], reason=f"leaked {TOKEN}"),
        lambda e: e.remember(Caller(Origin.AGENT, TOKEN), Draft("trams run until midnight")),
        lambda e: e.remember(Caller(Origin.AGENT, "a", session=TOKEN), Draft("trams run until midnight")),
        lambda e: e.remember(Caller(Origin.AGENT, "a", workspace=f"/home/{TOKEN}"), Draft("trams run until midnight")),
    ],
)
def test_no_door_brings_a_secret_in_beside_the_text(engine: Engine, act) -> None:
    engine.remember(ME, Draft("the ferry leaves at seven"))
    with pytest.raises(MemdeckError) as refused:
        act(engine)
    assert refused.value.code == "refused_secret"
    engine.create_snapshot(ME)
    assert TOKEN.encode() not in bytes_of(engine)


def test_a_clients_key_is_not_kept_as_it_is(engine: Engine) -> None:
    engine.remember(AGENT, Draft("trams run until midnight"), key=TOKEN)
    assert TOKEN.encode() not in bytes_of(engine)


def test_a_key_stands_for_one_request_and_no_longer_than_what_it_did(engine: Engine) -> None:
    first = engine.remember(ME, Draft("trams run until midnight"), key="k")
    assert engine.remember(ME, Draft("trams run until midnight"), key="k").ref == first.ref
    with pytest.raises(MemdeckError, match="used for another text"):
        engine.remember(ME, Draft("the cellar floods in april"), key="k")
    engine.undo(ME)
    again = engine.remember(ME, Draft("trams run until midnight"), key="k")
    assert again.id != first.id and engine.recall(ME, RecallQuery("trams")).total == 1


def test_an_agent_does_not_restore_what_the_owner_put_away(engine: Engine) -> None:
    engine.remember(AGENT, Draft("the lantern hangs in the hall"))
    engine.forget(ME, ["mem-1"], how="archive")
    with pytest.raises(MemdeckError) as refused:
        engine.forget(AGENT, ["mem-1"], how="restore", reason="needed")
    assert refused.value.code == "not_found"


def test_a_name_belongs_to_who_weighs_most(engine: Engine) -> None:
    engine.remember(ME, Draft("deploy on Tuesdays only", name="deploy"))
    engine.remember(AGENT, Draft("a quite different note", name="deploy"))
    assert engine.get(ME, "deploy").id == 1
    assert engine.get(AGENT, "deploy").id == 1


def test_undo_stops_at_what_is_final_instead_of_reaching_behind_it(engine: Engine) -> None:
    engine.remember(ME, Draft("the ferry leaves at seven"))
    engine.edit(ME, "mem-1@1", {"description": "the ferry leaves at eight"})
    snapshot = engine.create_snapshot(ME)
    engine.remember(ME, Draft("the harbour office opens at nine"))
    engine.restore_snapshot(ME, snapshot.name)
    with pytest.raises(MemdeckError, match="restore") as refused:
        engine.undo(ME)
    assert "memdeck undo 2" in refused.value.hint
    assert engine.get(ME, "mem-1").description == "the ferry leaves at eight"


def test_what_ends_only_later_is_still_true_and_can_be_replaced_or_corrected(engine: Engine) -> None:
    year = 365 * 86_400_000
    engine.remember(ME, Draft("the rate is five percent"))
    engine.remember(ME, Draft("the rate is six percent", valid_from=NOON + 5 * year), replaces="mem-1@1")
    assert engine.recall(ME, RecallQuery("rate")).hits[0].memory.id == 1
    engine.remember(ME, Draft("the rate is five and a half percent", valid_from=NOON + year), replaces="mem-1")
    assert engine.recall(ME, RecallQuery("rate", at_ms=NOON + 2 * year)).hits[0].memory.id == 3


def test_what_is_over_can_be_put_right(engine: Engine) -> None:
    engine.remember(ME, Draft("the office was in Bergen", valid_from=NOON - 1000))
    engine.remember(ME, Draft("the office is in Oslo"), replaces="mem-1@1")
    engine.remember(ME, Draft("the office was in Stavanger"), replaces="mem-1", was="wrong")
    then = engine.recall(ME, RecallQuery("office", at_ms=NOON - 500)).hits
    assert [h.memory.description for h in then] == ["the office was in Stavanger"]
    assert engine.get(ME, "mem-1").state is State.SUPERSEDED


def test_a_match_takes_a_date_as_a_person_writes_it(engine: Engine) -> None:
    engine.remember(ME, Draft("the rate is five percent", valid_from=NOON - 40 * 86_400_000))
    engine.remember(ME, Draft("the rate is six percent in the shop"))
    plan = engine.match(ME, {"before": "2027-01-01"})
    assert plan.refs == ("mem-1@1",)
    with pytest.raises(MemdeckError):
        engine.match(ME, {"before": "some day"})


def test_a_damaged_text_is_named_and_never_served_copied_as_good_or_written_on(tmp_path: Path) -> None:
    with open_engine(tmp_path / "store") as engine:
        engine.remember(ME, Draft("alpha beta gamma"))
        good = engine.create_snapshot(ME)
    with sqlite3.connect(tmp_path / "store" / "memory.db") as conn:
        for (name,) in conn.execute(
            "SELECT name FROM sqlite_master WHERE type='trigger' AND tbl_name='texts'"
        ).fetchall():
            conn.execute(f"DROP TRIGGER {name}")
        conn.execute("UPDATE texts SET text = 'alpha BETA gamma' WHERE text = 'alpha beta gamma'")
    conn.close()
    with open_engine(tmp_path / "store") as engine:
        assert "BETA" not in engine.recall(ME, RecallQuery("alpha")).hits[0].memory.description
        for act in (lambda: engine.read(ME, "mem-1"), lambda: engine.edit(ME, "mem-1@1", {"name": "x"})):
            with pytest.raises(MemdeckError, match="damaged"):
                act()
        copy = engine.create_snapshot(ME)
        assert engine.verify_snapshot(copy.name).good is False and engine.verify_snapshot(good.name).good
        rows = next(f for f in engine.doctor() if f.check == "rows")
        assert "mem-1@1" in rows.message and good.name in rows.mend


def test_an_erasure_takes_the_names_that_came_with_the_memory(engine: Engine) -> None:
    engine.remember(ME, Draft("the cellar floods in april", tags=("zanzibarite", "shared"), topics=("quillwort",)))
    engine.remember(ME, Draft("the attic is dry all year", tags=("shared",)))
    engine.expunge(ME, "mem-1")
    engine.close()
    held = bytes_of(engine)
    assert b"zanzibarite" not in held and b"quillwort" not in held and b"shared" in held


def test_a_cursor_goes_on_in_another_session(engine: Engine) -> None:
    for number in range(3):
        engine.remember(ME, Draft(f"locker {number} stands in the harbour office"))
    first = engine.recall(Caller(Origin.AGENT, "a", session="one"), RecallQuery("harbour", limit=2))
    rest = engine.recall(
        Caller(Origin.AGENT, "a", session="two"), RecallQuery("harbour", limit=2, cursor=first.next_cursor)
    )
    assert {h.memory.id for h in (*first.hits, *rest.hits)} == {1, 2, 3} and rest.next_cursor is None


def test_an_export_from_before_a_table_existed_comes_in_whole(engine: Engine, tmp_path: Path) -> None:
    engine.remember(ME, Draft("the ferry leaves at seven", tags=("harbour",)))
    out = tmp_path / "all.json"
    engine.export(out)
    document = json.loads(out.read_text("utf-8"))
    for later in ("events", "preferences", "entities"):
        document["tables"].pop(later, None)
    out.write_text(json.dumps(document, ensure_ascii=False), "utf-8")
    with open_engine(tmp_path / "other") as other:
        other.run_import(ME, out)
        assert other.get(ME, "mem-1").tags == ("harbour",)
        assert not [f for f in other.doctor() if f.level == "error"]
    document["tables"].pop("versions")
    out.write_text(json.dumps(document, ensure_ascii=False), "utf-8")
    with pytest.raises(MemdeckError, match="does not fit together"):
        engine.run_import(ME, out)
