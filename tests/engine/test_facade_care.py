"""Snapshots, restore, the doctor, recovery and the audit log (C39, C40, C41, C43)."""

from __future__ import annotations

import json
import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from engine.facade import Engine, examine_store, open_engine, recover_store
from engine.model.clock import FixedClock
from engine.model.enums import State
from engine.model.errors import MemdeckError
from engine.model.memory import Draft, Filter
from engine.store import audit, snapshots
from tests.engine.kit import DAY_MS, OWNER, agent, found, problems, put, rows

CASES = Path(__file__).parents[1] / "cases"


def make_automatic(engine: Engine) -> str:
    """Make a snapshot of the kind that rotates, whether a day has gone by or not."""
    return snapshots.make_snapshot(engine._desk.store, kind="automatic").name


def names(engine: Engine, kind: str) -> list[str]:
    return [s.name for s in engine.snapshots() if s.kind == kind]


# ------------------------------------------------------------------------------------------- snapshots
def test_five_automatic_ones_are_kept(engine: Engine, clock: FixedClock) -> None:
    for n in range(7):
        put(engine, f"Fact number {n} about {n * 71}", subject=str(n))
        clock.at_ms += 1000
        make_automatic(engine)
    kept = engine.snapshots()
    assert [s.memories for s in kept] == [7, 6, 5, 4, 3]
    assert all(engine.verify_snapshot(s.name).good for s in kept)
    assert sorted(p.name for p in (engine.store_dir / "snapshots").iterdir()) == sorted(
        f"{s.name}{suffix}" for s in kept for suffix in (".db", ".json")
    )


def test_each_kind_has_a_class_of_its_own(engine: Engine, clock: FixedClock, tmp_path: Path) -> None:
    for n in range(7):
        folder = tmp_path / str(n)
        folder.mkdir()
        (folder / "MEMORY.md").write_text(f"- [A](a.md) — fact {n}\n")
        (folder / "a.md").write_text(f"---\nname: a\ndescription: fact number {n} of {n * 71}\n---\n\nbody {n}\n")
        clock.at_ms += 1000
        engine.run_import(OWNER, folder)
    make_automatic(engine)
    for _ in range(4):
        clock.at_ms += 1000
        engine.restore_snapshot(OWNER, names(engine, "automatic")[0])
    assert [len(names(engine, kind)) for kind in ("run", "protection", "automatic")] == [5, 3, 1]


def test_a_day_makes_one_when_something_changed(engine: Engine, clock: FixedClock) -> None:
    put(engine, "Swallows nest under the roof")
    assert engine.daily_snapshot() and engine.daily_snapshot() is None
    clock.at_ms += DAY_MS
    assert engine.daily_snapshot() is None, "nothing changed"
    put(engine, "Owls nest in the barn")
    assert engine.daily_snapshot()
    clock.at_ms -= 3 * DAY_MS
    put(engine, "Ducks nest at the pond")
    assert engine.daily_snapshot(), "a clock that went back does not stop the days"


def test_a_halved_store_does_not_push_good_ones_out(engine: Engine, clock: FixedClock) -> None:
    for n in range(10):
        put(engine, f"Fact number {n} about {n * 71}", subject=str(n))
    for _ in range(5):
        clock.at_ms += 1000
        make_automatic(engine)
    engine.forget(OWNER, [f"mem-{n}" for n in range(1, 8)])
    for _ in range(7):
        clock.at_ms += 1000
        make_automatic(engine)
    assert [s.memories for s in engine.snapshots()] == [3] * 5 + [10] * 5, "neither pushes the other out"


def test_the_newest_is_the_last_made_whatever_the_clock_says(engine: Engine, clock: FixedClock) -> None:
    put(engine, "Swallows nest under the roof")
    for _ in range(5):
        make_automatic(engine)
    clock.at_ms -= 400 * DAY_MS
    made = make_automatic(engine)
    assert engine.snapshots()[0].name == made and len(engine.snapshots()) == 5


def test_what_the_owner_made_stays_until_it_is_deleted(engine: Engine, clock: FixedClock) -> None:
    put(engine, "Swallows nest under the roof")
    made = []
    for _ in range(8):
        clock.at_ms += 1000
        made.append(engine.create_snapshot(OWNER, "mine").name)
        make_automatic(engine)
    assert names(engine, "manual") == made[::-1] and len(names(engine, "automatic")) == 5
    assert engine.delete_snapshot(OWNER, made[3]).name == made[3]
    assert made[3] not in names(engine, "manual") and len(names(engine, "manual")) == 7
    assert not list((engine.store_dir / "snapshots").glob(f"{made[3]}.*"))
    for name in (made[3], "../memory", "no-such"):
        with pytest.raises(MemdeckError) as refused:
            engine.delete_snapshot(OWNER, name)
        assert refused.value.code == "not_found"
    with pytest.raises(MemdeckError) as refused:
        engine.delete_snapshot(agent(), made[0])
    assert refused.value.code == "needs_human" and made[0] in names(engine, "manual")


def test_an_erased_memory_goes_from_the_snapshots_too(engine: Engine) -> None:
    put(engine, "A zeppelin over the lake")
    engine.create_snapshot(OWNER)
    make_automatic(engine)
    left = engine.expunge(OWNER, "mem-1").snapshots_left
    assert len(left) == 2
    for name in left:
        engine.delete_snapshot(OWNER, name)
    assert not any(b"zeppelin" in path.read_bytes() for path in engine.store_dir.rglob("*") if path.is_file())


def test_several_at_the_same_second_are_all_good(engine: Engine) -> None:
    put(engine, "Swallows nest under the roof")
    made: list[str] = []
    threads = [threading.Thread(target=lambda: made.append(engine.create_snapshot(OWNER).name)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 4 and all(engine.verify_snapshot(name).good for name in made)


def test_what_a_killed_process_left_behind_is_swept(engine: Engine) -> None:
    folder = engine.store_dir / "snapshots"
    put(engine, "Swallows nest under the roof")
    engine.create_snapshot(OWNER)
    for name in (".abc.999999999.tmp", ".20261129-x.999999999.json.tmp", ".restore.999999999.tmp-journal"):
        (folder / name).write_bytes(b"half")
    engine.create_snapshot(OWNER)
    assert [p.name for p in folder.iterdir() if p.name.startswith(".")] == []


@pytest.mark.parametrize("where", (0.2, 0.5, 0.95))
def test_a_damaged_snapshot_is_called_bad_and_never_restored(engine: Engine, where: float) -> None:
    put(engine, "Swallows nest under the roof")
    name = engine.create_snapshot(OWNER).name
    flip(engine.store_dir / "snapshots" / f"{name}.db", where)
    assert engine.verify_snapshot(name).good is False
    token = engine.change_token()
    with pytest.raises(MemdeckError, match="is damaged"):
        engine.restore_snapshot(OWNER, name)
    assert engine.change_token() == token
    assert any(name in p for p in problems(engine))


def flip(path: Path, where: float) -> None:
    """Turn over the bits of 64 bytes in a file that nobody has open."""
    data = bytearray(path.read_bytes())
    at = int(len(data) * where)
    data[at : at + 64] = bytes(b ^ 0xFF for b in data[at : at + 64])
    path.write_bytes(data)


# ------------------------------------------------------------------------------------------- restore
def test_restoring_brings_back_and_can_be_brought_back(engine: Engine) -> None:
    put(engine, "Swallows nest under the roof")
    name = engine.create_snapshot(OWNER).name
    put(engine, "Owls nest in the barn")
    engine.edit(OWNER, "mem-1@1", {"description": "Swallows nest in the stable"})
    report = engine.restore_snapshot(OWNER, name)
    assert report.memories == 1 and list(engine.memory_ids(OWNER)) == [1]
    assert engine.get(OWNER, "mem-1").description == "Swallows nest under the roof"
    assert found(engine, "owls barn", agent()) == [] and found(engine, "swallows roof", agent()) == [1]
    assert problems(engine) == []
    engine.restore_snapshot(OWNER, report.protection)
    assert list(engine.memory_ids(OWNER)) == [2, 1]
    assert engine.get(OWNER, "mem-1").description == "Swallows nest in the stable"
    assert problems(engine) == []


def test_numbers_and_the_journal_go_on_after_a_restore(engine: Engine, store_dir: Path) -> None:
    empty = engine.create_snapshot(OWNER).name
    epoch, _ = engine.change_token()
    put(engine, "Swallows nest under the roof"), put(engine, "Owls nest in the barn")
    report = engine.restore_snapshot(OWNER, empty)
    assert report.epoch == epoch + 1
    assert [(o.op, o.kind) for o in engine.log()] == [(3, "restore")]
    assert put(engine, "Ducks nest at the pond").ref == "mem-3@1", "no number is used twice"
    kept = [json.loads(str(r[0])) for r in rows(store_dir, "SELECT record FROM past_journal ORDER BY op")]
    assert [k["op"] for k in kept] == [1, 2]
    assert [k["summary"] for k in kept] == ["Swallows nest under the roof", "Owls nest in the barn"]
    with pytest.raises(MemdeckError, match="final"):
        engine.undo(OWNER, 3)


def test_other_processes_see_the_restored_store(engine: Engine, store_dir: Path) -> None:
    put(engine, "Swallows nest under the roof")
    name = engine.create_snapshot(OWNER).name
    put(engine, "Owls nest in the barn")
    with open_engine(store_dir, env={}) as other:
        before = other.change_token()
        assert found(other, "owls barn") == [2]
        engine.restore_snapshot(OWNER, name)
        assert other.change_token() != before
        assert found(other, "owls barn") == [] and list(other.memory_ids(OWNER)) == [1]
        assert put(other, "Ducks nest at the pond").id == 3
        assert list(engine.memory_ids(OWNER)) == [3, 1]


def test_a_restore_forgets_what_was_answered(engine: Engine) -> None:
    name = engine.create_snapshot(OWNER).name
    engine.remember(agent(), Draft("Trams stop at midnight"), key="k")
    engine.restore_snapshot(OWNER, name)
    assert engine.remember(agent(), Draft("Trams stop at midnight"), key="k").id == 2


# ------------------------------------------------------------------------------------------- export and import
def test_a_whole_export_replaces_the_store(engine: Engine, tmp_path: Path, clock: FixedClock) -> None:
    engine.run_import(OWNER, CASES / "vi-xuongnhan")
    engine.remember(OWNER, Draft("Kept as it is", tags=("a",), topics=("b",)))
    engine.edit(OWNER, f"mem-{max(engine.memory_ids(OWNER))}@1", {"description": "Kept as it was changed"})
    engine.forget(OWNER, ["mem-1"])
    engine.undo(OWNER)
    engine.forget(OWNER, ["mem-2"])
    engine.export(tmp_path / "whole.json")
    everything = Filter(states=tuple(State))
    mine = engine.memory_rows(OWNER, engine.memory_ids(OWNER, everything), bodies=True)
    ops = engine.log(limit=100)
    with open_engine(tmp_path / "other", clock=clock, env={}) as other:
        put(other, "Gone after the import")
        report = other.run_import(OWNER, tmp_path / "whole.json")
        assert report.created == len(mine)
        assert other.memory_rows(OWNER, other.memory_ids(OWNER, everything), bodies=True) == mine
        assert other.log(limit=100)[1:] == ops
        for memory in mine:
            assert other.history(OWNER, memory.uid) == engine.history(OWNER, memory.uid)
        assert found(other, "Gone after the import") == [] and problems(other) == []
        kept = [json.loads(str(r[0]))["summary"] for r in rows(other.store_dir, "SELECT record FROM past_journal")]
        assert kept == ["Gone after the import"], "the journal until now stays readable"
        other.restore_snapshot(OWNER, report.snapshot or "")
        assert found(other, "Gone after the import") == [1]


def test_a_torn_export_changes_nothing(engine: Engine, tmp_path: Path) -> None:
    put(engine, "Swallows nest under the roof")
    engine.export(tmp_path / "whole.json")
    data = (tmp_path / "whole.json").read_bytes()
    (tmp_path / "torn.json").write_bytes(data[: len(data) // 2])
    token = engine.change_token()
    with pytest.raises(MemdeckError):
        engine.run_import(OWNER, tmp_path / "torn.json")
    assert engine.change_token() == token


# ------------------------------------------------------------------------------------------- doctor
def test_a_sound_store_is_in_order(engine: Engine) -> None:
    engine.run_import(OWNER, CASES / "zh-zhiyuan")
    findings = engine.doctor()
    assert [f.check for f in findings][:4] == ["database", "history", "rows", "index"]
    assert {f.level for f in findings} <= {"ok", "hint"}
    assert {f.level for f in engine.doctor(deep=False)} <= {"ok", "hint"}


def tampered(store: Path, *statements: str) -> None:
    """Change the database past its own triggers, as damage would."""
    with closing(sqlite3.connect(store / "memory.db", isolation_level=None)) as conn:
        for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            conn.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            conn.execute(statement)


@pytest.mark.parametrize(
    ("statement", "check", "words"),
    (
        ("UPDATE versions SET name = 'forged' WHERE memory_id = 1", "rows", "does not match its checksum"),
        ("UPDATE texts SET text = 'forged' WHERE text LIKE 'Swallows%'", "rows", "does not match its hash"),
        ("DELETE FROM texts WHERE text LIKE 'Swallows%'", "history", "lost their text"),
        ("DELETE FROM states WHERE memory_id = 1", "history", "versions but no states"),
        ("DELETE FROM versions WHERE memory_id = 1 AND op_to IS NULL", "history", "states but no versions"),
        ("UPDATE versions SET op_to = 1 WHERE op_from = 2", "history", "end before they begin"),
        ("UPDATE versions SET op_from = 1 WHERE op_from = 2", "history", "begin before the one before them ended"),
        ("UPDATE states SET op_from = 99", "history", "operations that are not there"),
        ("UPDATE texts SET text = CAST(x'ff00ff' AS TEXT) WHERE text LIKE 'Swallows%'", "rows", "cannot be read"),
        ("DELETE FROM ix_postings", "index", ""),
    ),
)
def test_the_doctor_names_what_is_wrong(
    engine: Engine, store_dir: Path, statement: str, check: str, words: str
) -> None:
    put(engine, "Swallows nest under the roof")
    engine.edit(OWNER, "mem-1@1", {"description": "Swallows nest in the stable"})
    tampered(store_dir, statement)
    wrong = [f for f in engine.doctor() if f.level == "error"]
    assert any(f.check == check and words in f.message and f.mend for f in wrong), wrong


def test_a_broken_index_is_rebuilt(engine: Engine, store_dir: Path) -> None:
    put(engine, "Swallows nest under the roof")
    tampered(store_dir, "DELETE FROM ix_postings", "DELETE FROM ix_docs")
    assert found(engine, "swallows roof", agent()) == []
    assert [f.check for f in engine.doctor(fix=True) if f.fixed] == ["index"]
    assert found(engine, "swallows roof", agent()) == [1] and problems(engine) == []


def test_an_open_directory_is_closed(engine: Engine, store_dir: Path) -> None:
    store_dir.chmod(0o755)
    assert any(p.startswith("permissions") for p in problems(engine))
    engine.doctor(fix=True)
    assert store_dir.stat().st_mode & 0o777 == 0o700
    assert (store_dir / "memory.db").stat().st_mode & 0o777 == 0o600


# ------------------------------------------------------------------------------------------- damage
def page_of(store: Path, table: str) -> int:
    """Return the byte at which the root page of a table begins."""
    with closing(sqlite3.connect(store / "memory.db")) as conn:
        root = conn.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
        size = conn.execute("PRAGMA page_size").fetchone()[0]
    return (int(root) - 1) * int(size)


def smash(store: Path, at: int) -> None:
    data = bytearray((store / "memory.db").read_bytes())
    data[at : at + 200] = b"\xa5" * 200
    (store / "memory.db").write_bytes(data)


@pytest.fixture
def damaged(store_dir: Path, clock: FixedClock) -> Callable[[str], tuple[Path, str]]:
    """Return what damages a closed store at a table, with the name of its only good snapshot."""

    def damage(table: str) -> tuple[Path, str]:
        with open_engine(store_dir, clock=clock, env={}) as engine:
            put(engine, "Swallows nest under the roof")
            name = engine.create_snapshot(OWNER).name
            clock.at_ms += 1000
            put(engine, "Owls nest in the barn"), put(engine, "Ducks nest at the pond")
            engine.forget(OWNER, ["mem-1"])
            bad = engine.create_snapshot(OWNER).name
        flip(store_dir / "snapshots" / f"{bad}.db", 0.5)
        smash(store_dir, 0 if table == "header" else page_of(store_dir, table))
        return store_dir, name

    return damage


@pytest.mark.parametrize("table", ("header", "sqlite_schema", "versions", "memories"))
def test_a_damaged_file_is_set_aside_and_the_newest_good_snapshot_put_in_its_place(
    damaged: Callable[[str], tuple[Path, str]], clock: FixedClock, table: str
) -> None:
    store, good = damaged("header" if table == "sqlite_schema" else table)
    before = (store / "memory.db").read_bytes()
    if table in ("header", "sqlite_schema"):
        with pytest.raises(MemdeckError, match="damaged"):
            open_engine(store, clock=clock, env={})
    assert (store / "memory.db").read_bytes() == before, "opening touches nothing"
    (finding,) = examine_store(store)
    assert finding.level == "error" and good in finding.mend, "the damaged snapshot is passed over"
    aside = recover_store(store, good)
    assert aside.read_bytes() == before
    with open_engine(store, clock=clock, env={}) as engine:
        assert examine_store(store) == [] and problems(engine)[1:] == []
        assert engine.change_token()[0] == 2 and put(engine, "Geese nest on the island").op == 6
        if table == "versions":
            assert engine.get(OWNER, "mem-1").state is State.DELETED, "what was forgotten since stays forgotten"
            assert put(engine, "Herons nest in the reeds").id == 5, "numbers go on where they can still be read"


def test_recovery_needs_a_good_snapshot(damaged: Callable[[str], tuple[Path, str]]) -> None:
    store, good = damaged("header")
    bad = next(p.stem for p in (store / "snapshots").glob("*.json") if p.stem != good)
    before = (store / "memory.db").read_bytes()
    with pytest.raises(MemdeckError, match="is damaged"):
        recover_store(store, bad)
    assert (store / "memory.db").read_bytes() == before
    shutil.rmtree(store / "snapshots")
    (finding,) = examine_store(store)
    assert "no good snapshot" in finding.mend


def test_damage_met_while_open_is_one_line(engine: Engine, store_dir: Path) -> None:
    for n in range(40):
        put(engine, f"Fact number {n} about {n * 71}", subject=str(n))
    at = page_of(store_dir, "versions")
    engine.close()
    smash(store_dir, at)
    with open_engine(store_dir, env={}) as again:
        with pytest.raises(MemdeckError, match="damaged") as error:
            again.memory_rows(OWNER, range(1, 41))
        assert error.value.params["damaged"] is True
        wrong = [f for f in again.doctor() if f.level == "error"]
        assert wrong[0].check == "database" and "snapshot restore" in wrong[0].mend


# ------------------------------------------------------------------------------------------- audit log
def lines(store: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (store / "audit.jsonl").read_text("utf-8").splitlines()]


def test_a_line_for_each_change_without_its_text(engine: Engine, store_dir: Path) -> None:
    put(engine, "Aunt Berta hides gold", agent(session="s"), body="under the floor", said_by="user")
    engine.remember(OWNER, Draft("Filed properly", topics=("family",)))
    engine.forget(OWNER, ["mem-2"], reason="done")
    engine.close()
    remember, filed, forget = lines(store_dir)
    assert (remember["op"], remember["kind"], remember["ids"]) == (1, "remember", ["mem-1"])
    assert (remember["channel"], remember["source"], remember["session"]) == ("agent", "agent_reported_user", "s")
    assert (filed["topics"], forget["topics"]) == (["topic-1"], ["topic-1"])
    assert filed["fingerprints"] == forget["fingerprints"] != remember["fingerprints"]
    text = (store_dir / "audit.jsonl").read_text("utf-8")
    assert not any(word in text for word in ("Berta", "gold", "floor", "Filed"))


def test_a_torn_line_is_written_again(engine: Engine, store_dir: Path) -> None:
    put(engine, "One is enough"), put(engine, "Two are many")
    engine.close()
    path = store_dir / "audit.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    with open_engine(store_dir, env={}) as again:
        put(again, "Three is a crowd")
    assert [line["op"] for line in lines(store_dir)] == [1, 2, 3]


def test_lines_are_not_written_twice(engine: Engine, store_dir: Path) -> None:
    put(engine, "One is enough")
    assert audit.export_audit(engine._desk.store) == 1
    with engine._desk.store.exclusive() as conn:
        conn.execute("DELETE FROM cursors")
    assert audit.export_audit(engine._desk.store) == 0, "the log itself says how far it got"
    (store_dir / "audit.jsonl").unlink()
    put(engine, "Two are many")
    engine.close()
    assert [line["op"] for line in lines(store_dir)] == [2]


def test_the_log_is_rotated_by_size(engine: Engine, store_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "MAX_BYTES", 2000)
    for n in range(60):
        put(engine, f"Fact number {n} about {n * 71}", subject=str(n))
        audit.export_audit(engine._desk.store)
    files = sorted(p.name for p in store_dir.glob("audit*"))
    assert files == ["audit.1.jsonl", "audit.2.jsonl", "audit.3.jsonl", "audit.4.jsonl", "audit.jsonl"]
    assert all((store_dir / name).stat().st_size <= 2000 for name in files)
    assert lines(store_dir)[-1]["op"] == 60


