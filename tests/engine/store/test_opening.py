"""Opening a store: the first time, many at once, half made, foreign, newer, read-only, full, gone, replaced."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.facade import Engine, examine_store, open_engine
from engine.model.clock import FixedClock
from engine.model.errors import MemdeckError
from engine.store import migrations, schema
from engine.store.connection import Store
from tests.engine.kit import OWNER, agent, found, problems, put

ROOT = Path(__file__).parents[3]


def put_by_sql(store: Path, *statements: str) -> None:
    """Change a database without the engine."""
    with closing(sqlite3.connect(store / "memory.db", isolation_level=None)) as conn:
        for statement in statements:
            conn.execute(statement)


# ------------------------------------------------------------------------------------------- first starts
def test_a_new_store_is_private_and_marked(engine: Engine, store_dir: Path) -> None:
    assert (store_dir.stat().st_mode & 0o777, (store_dir / "memory.db").stat().st_mode & 0o777) == (0o700, 0o600)
    with closing(sqlite3.connect(store_dir / "memory.db")) as conn:
        assert conn.execute("PRAGMA application_id").fetchone()[0] == schema.APPLICATION_ID
        assert conn.execute("PRAGMA user_version").fetchone()[0] == migrations.LATEST
        assert conn.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


@pytest.mark.parametrize("name", ("with space", "100%25", "what?mode=rw", "a#b", "部署", "é&=;'\""))
def test_any_character_in_a_path(tmp_path: Path, name: str) -> None:
    with open_engine(tmp_path / name / "store", env={}) as engine:
        put(engine, "Paths may hold anything")
        snapshot = engine.create_snapshot(OWNER).name
        engine.restore_snapshot(OWNER, snapshot)
        assert engine.verify_snapshot(snapshot).good and problems(engine) == []
    with open_engine(tmp_path / name / "store", env={}, read_only=True) as engine:
        assert found(engine, "paths anything") == [1]
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_ten_threads_open_a_new_store_at_once(store_dir: Path) -> None:
    failures: list[BaseException] = []

    def start(number: int) -> None:
        try:
            with open_engine(store_dir, env={}) as engine:
                put(engine, f"Starter {number} was here", subject=str(number))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=start, args=(n,)) for n in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with open_engine(store_dir, env={}) as engine:
        assert len(engine.memory_ids(OWNER)) == 10


def test_a_first_start_that_was_cut_short_is_finished(store_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(conn: sqlite3.Connection) -> None:
        migrations.m001_initial(conn)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", (cut,))
        with pytest.raises(KeyboardInterrupt):
            open_engine(store_dir, env={})
    assert (store_dir / "memory.db").exists()
    with open_engine(store_dir, env={}) as engine:
        assert put(engine, "All tables are there").op == 1 and problems(engine) == []


@pytest.mark.parametrize("left", ("nothing", "an empty file", "an empty database"))
def test_what_a_killed_first_start_leaves_is_no_obstacle(store_dir: Path, left: str) -> None:
    store_dir.mkdir()
    if left == "an empty file":
        (store_dir / "memory.db").touch()
    elif left == "an empty database":
        put_by_sql(store_dir, "PRAGMA journal_mode = WAL")
    with open_engine(store_dir, env={}) as engine:
        assert put(engine, "All tables are there").op == 1


# ------------------------------------------------------------------------------------------- other files
def test_a_newer_store_is_refused_untouched(engine: Engine, store_dir: Path) -> None:
    put(engine, "Written today")
    engine.close()
    put_by_sql(store_dir, f"PRAGMA user_version = {migrations.LATEST + 1}")
    before = (store_dir / "memory.db").read_bytes()
    for read_only in (False, True):
        with pytest.raises(MemdeckError) as refused:
            open_engine(store_dir, env={}, read_only=read_only)
        assert (refused.value.code, "update memdeck" in refused.value.hint) == ("newer_store", True)
    assert (store_dir / "memory.db").read_bytes() == before


@pytest.mark.parametrize(
    "statements",
    (
        ("CREATE TABLE recipes (name TEXT)",),
        ("PRAGMA application_id = 7",),
        ("PRAGMA user_version = 1", "CREATE TABLE recipes (name TEXT)"),
    ),
)
def test_the_database_of_another_program_is_refused_untouched(store_dir: Path, statements: tuple[str, ...]) -> None:
    store_dir.mkdir()
    put_by_sql(store_dir, *statements)
    before = (store_dir / "memory.db").read_bytes()
    with pytest.raises(MemdeckError, match="no memdeck store"):
        open_engine(store_dir, env={})
    assert (store_dir / "memory.db").read_bytes() == before


def test_a_file_of_noise_is_called_damaged_and_stays(store_dir: Path) -> None:
    store_dir.mkdir()
    (store_dir / "memory.db").write_bytes(b"not a database at all" * 500)
    with pytest.raises(MemdeckError, match="damaged"):
        open_engine(store_dir, env={})
    assert (store_dir / "memory.db").read_bytes() == b"not a database at all" * 500


def test_a_store_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(MemdeckError, match="no store can be made"):
            open_engine(place, env={})


def test_reading_makes_no_store(tmp_path: Path) -> None:
    with pytest.raises(MemdeckError) as missing:
        open_engine(tmp_path / "nowhere", env={}, read_only=True)
    assert missing.value.code == "not_found" and not (tmp_path / "nowhere").exists()


# ------------------------------------------------------------------------------------------- migrations
@pytest.fixture
def second_schema(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return what makes the program newer by one migration."""
    from engine.store import connection, restore

    def step(conn: sqlite3.Connection) -> None:
        conn.execute("CREATE TABLE IF NOT EXISTS later (x)")

    def upgrade() -> None:
        monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, step))
        for module in (migrations, connection, restore):
            monkeypatch.setattr(module, "LATEST", migrations.LATEST + (module is migrations))

    return upgrade


def test_an_older_store_is_brought_up_to_date_after_a_snapshot(
    engine: Engine, store_dir: Path, second_schema: Callable[[], None]
) -> None:
    put(engine, "Written by the older program")
    old = engine.create_snapshot(OWNER).name
    engine.close()
    second_schema()
    with pytest.raises(MemdeckError) as refused:
        open_engine(store_dir, env={}, read_only=True)
    assert refused.value.code == "read_only"
    with open_engine(store_dir, env={}) as newer:
        assert found(newer, "older program") == [1]
        assert [s.reason for s in newer.snapshots() if s.kind == "protection"] == ["before migration to schema 2"]
        newer.restore_snapshot(OWNER, old)
        with newer._desk.store.read() as conn:
            assert conn.execute("SELECT count(*) FROM later").fetchone() == (0,), "an old snapshot is brought up too"
        assert put(newer, "Written by the newer program").state == "active"


def test_a_migration_that_fails_leaves_the_old_store(
    engine: Engine, store_dir: Path, monkeypatch: pytest.MonkeyPatch, second_schema: Callable[[], None]
) -> None:
    put(engine, "Written by the older program")
    engine.close()

    def broken(conn: sqlite3.Connection) -> None:
        conn.execute("CREATE TABLE half (x)")
        raise sqlite3.OperationalError("no such thing")

    with monkeypatch.context() as patch:
        second_schema()
        patch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS[:1], broken))
        with pytest.raises(MemdeckError):
            open_engine(store_dir, env={})
    with closing(sqlite3.connect(store_dir / "memory.db")) as conn:
        assert conn.execute("PRAGMA user_version").fetchone() == (1,)
        assert conn.execute("SELECT count(*) FROM sqlite_master WHERE name = 'half'").fetchone() == (0,)


# ------------------------------------------------------------------------------------------- read-only
def mounted(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], capture_output=True).returncode == 0


@pytest.fixture
def read_only(store_dir: Path) -> Iterator[Callable[[], Path]]:
    """Return what makes the store's directory read-only, also for root."""

    def lock() -> Path:
        place = str(store_dir)
        if os.geteuid() == 0:
            if not (mounted("--bind", place, place) and mounted("-o", "remount,ro,bind", place)):
                pytest.skip("root cannot mount here, and no permission stops it from writing")
        else:
            store_dir.chmod(0o500)
            for path in store_dir.iterdir():
                path.chmod(0o400)
        return store_dir

    yield lock
    if os.geteuid() == 0:
        subprocess.run(["umount", "-l", str(store_dir)], capture_output=True)
    else:
        store_dir.chmod(0o700)


def test_a_read_only_directory_is_read(engine: Engine, read_only: Callable[[], Path]) -> None:
    put(engine, "Written before the door closed")
    engine.close()
    place = read_only()
    assert examine_store(place) == []
    with open_engine(place, env={}) as reader:
        assert reader.read_only and found(reader, "door closed", agent()) == [1]
        assert {f.check for f in reader.doctor() if f.level == "error"} == set()
        for write in (
            lambda: put(reader, "Too late"),
            lambda: reader.forget(OWNER, ["mem-1"]),
            lambda: reader.create_snapshot(OWNER),
            lambda: reader.undo(OWNER),
            lambda: reader.set_setting(OWNER, "recall.limit", 3),
            lambda: reader.doctor(reindex=True),
        ):
            with pytest.raises(MemdeckError) as refused:
                write()
            assert refused.value.code == "read_only"


def test_a_read_only_directory_of_a_live_store_is_read_as_it_is(
    engine: Engine, store_dir: Path, read_only: Callable[[], Path]
) -> None:
    put(engine, "Still in the write-ahead log")
    assert (store_dir / "memory.db-wal").stat().st_size
    place = read_only()
    assert examine_store(place) == []
    with open_engine(place, env={}) as reader:
        assert found(reader, "write-ahead log", agent()) == [1]


def test_a_damaged_store_is_called_damaged_where_nothing_can_be_written_too(
    engine: Engine, store_dir: Path, read_only: Callable[[], Path]
) -> None:
    put(engine, "Written before the damage")
    engine.close()
    data = bytearray((store_dir / "memory.db").read_bytes())
    data[4096 : 4096 * 4] = b"\xff" * (4096 * 3)
    (store_dir / "memory.db").write_bytes(data)
    (finding,) = examine_store(read_only())
    assert (finding.level, finding.check) == ("error", "database")


def test_a_log_that_cannot_be_read_in_is_not_passed_over(
    engine: Engine, store_dir: Path, tmp_path: Path, read_only: Callable[[], Path]
) -> None:
    put(engine, "Still in the write-ahead log")
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("memory.db", "memory.db-wal"):
        shutil.copy(store_dir / name, copy / name)
    engine.close()
    for path in store_dir.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in copy.iterdir():
        shutil.copy(path, store_dir / path.name)
    place = read_only()
    assert examine_store(place) == []
    with pytest.raises(MemdeckError) as refused:
        open_engine(place, env={})
    assert refused.value.code == "read_only" and "open the store once" in refused.value.hint


def test_no_store_is_made_where_nothing_can_be_written(store_dir: Path, read_only: Callable[[], Path]) -> None:
    store_dir.mkdir()
    read_only()
    with pytest.raises(MemdeckError) as refused:
        open_engine(store_dir, env={})
    assert refused.value.code == "read_only"


# ------------------------------------------------------------------------------------------- a full disk
@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a file system of three megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    if not mounted("-t", "tmpfs", "-o", "size=3m", "tmpfs", str(place)):
        pytest.skip("mounting a small file system is not permitted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], capture_output=True)


def test_a_full_disk_loses_nothing_and_the_store_goes_on(small_disk: Path) -> None:
    with open_engine(small_disk / "store", env={}) as engine:
        put(engine, "The first fact fits")
        ballast = small_disk / "ballast"
        free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize
        ballast.write_bytes(b"x" * max(0, free - 300_000))
        written, refused = 1, None
        for n in range(2000):
            try:
                put(engine, f"Fact number {n} about {n * 7919}", subject=str(n), body="long " * 2000)
                written += 1
            except MemdeckError as error:
                refused = error
                break
        assert refused is not None and refused.code == "disk_full" and "nothing was written" in refused.hint
        assert len(engine.memory_ids(OWNER)) == written == engine.change_token()[1]
        for call in (
            lambda: put(engine, "Again", body="long " * 20_000),
            lambda: engine.create_snapshot(OWNER),
            lambda: engine.export(small_disk / "export.json"),
        ):
            with pytest.raises(MemdeckError) as full:
                call()
            assert full.value.code == "disk_full"
        assert [p.name for p in (small_disk / "store" / "snapshots").iterdir()] == []
        assert sorted(p.name for p in small_disk.iterdir()) == ["ballast", "store"]
        ballast.unlink()
        assert put(engine, "There is room again").id > written
        assert engine.create_snapshot(OWNER).good is not False and problems(engine) == []
    with open_engine(small_disk / "store", env={}) as engine:
        assert len(engine.memory_ids(OWNER)) == written + 1


def test_no_room_for_a_new_store(small_disk: Path) -> None:
    free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize
    (small_disk / "ballast").write_bytes(b"x" * (free - 40_000))
    with pytest.raises(MemdeckError) as full:
        open_engine(small_disk / "store", env={})
    assert full.value.code == "disk_full"
    (small_disk / "ballast").unlink()
    with open_engine(small_disk / "store", env={}) as engine:
        assert put(engine, "There is room now").op == 1


def test_the_lock_is_given_back_when_its_file_cannot_be_written(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        assert put(engine, "Who holds the lock is only for information").op == 1
    with open_engine(engine.store_dir, env={}) as other:
        assert put(other, "And it was given back").op == 2


# ------------------------------------------------------------------------------------------- gone and replaced
def test_a_store_that_was_removed_is_said_to_be_gone(engine: Engine, store_dir: Path) -> None:
    put(engine, "Here today")
    shutil.rmtree(store_dir)
    for call in (lambda: put(engine, "Gone tomorrow"), lambda: engine.counts(OWNER), lambda: engine.memory_ids(OWNER)):
        with pytest.raises(MemdeckError) as gone:
            call()
        assert gone.value.code == "internal" and "\n" not in str(gone.value)
    assert not store_dir.exists(), "nothing is made in its place"


def test_a_store_that_was_replaced_is_opened_anew(
    engine: Engine, store_dir: Path, tmp_path: Path, clock: FixedClock
) -> None:
    put(engine, "In the first store")
    with open_engine(tmp_path / "second", clock=clock, env={}) as second:
        put(second, "In the second store"), put(second, "And one more there")
    store_dir.rename(tmp_path / "away")
    (tmp_path / "second").rename(store_dir)
    assert found(engine, "second store") == [1] and len(engine.memory_ids(OWNER)) == 2
    assert put(engine, "Written to what stands there now").id == 3
    with open_engine(store_dir, env={}) as other:
        assert len(other.memory_ids(OWNER)) == 3
    with open_engine(tmp_path / "away", env={}) as away:
        assert len(away.memory_ids(OWNER)) == 1


def test_a_removed_lock_file_is_made_again(engine: Engine, store_dir: Path) -> None:
    (store_dir / "memory.db.lock").unlink()
    assert put(engine, "Locks come and go").op == 1 and (store_dir / "memory.db.lock").exists()


def test_a_closed_store_says_so(engine: Engine) -> None:
    engine.close()
    engine.close()
    for call in (lambda: put(engine, "Too late"), lambda: engine.counts(OWNER)):
        with pytest.raises(MemdeckError, match="is closed"):
            call()


def test_closing_while_others_read_is_safe(store_dir: Path) -> None:
    for _ in range(5):
        engine = open_engine(store_dir, env={})
        for n in range(3):
            put(engine, f"Fact number {n} about {n * 71}", subject=str(n))
        stopped: list[str] = []

        def read(engine: Engine = engine, stopped: list[str] = stopped) -> None:
            try:
                while True:
                    engine.memory_rows(OWNER, [1, 2, 3])
            except MemdeckError as error:
                stopped.append(error.code)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        engine.close()
        for thread in threads:
            thread.join(10)
        assert stopped == ["internal"] * 4


def test_a_read_in_another_thread_is_interrupted(engine: Engine) -> None:
    begun, said = threading.Event(), list[str]()

    def slow() -> None:
        try:
            with engine._desk.store.read() as conn:
                begun.set()
                conn.execute(
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1e9) SELECT sum(i) FROM n"
                ).fetchone()
        except MemdeckError as error:
            said.append(error.message)

    thread = threading.Thread(target=slow)
    thread.start()
    begun.wait(5)
    while thread.is_alive():
        engine.interrupt()
        thread.join(0.05)
    assert said == ["interrupted"]
    assert engine.counts(OWNER).memories == 0


def test_a_reader_sees_one_moment(engine: Engine, store_dir: Path) -> None:
    put(engine, "Before")
    store: Store = engine._desk.store
    with store.read() as conn:
        assert conn.execute("SELECT count(*) FROM memories").fetchone() == (1,)
        with open_engine(store_dir, env={}) as other:
            put(other, "Meanwhile in another place")
        with store.read() as nested:
            assert nested.execute("SELECT count(*) FROM memories").fetchone() == (1,)
    assert len(engine.memory_ids(OWNER)) == 2


def test_an_error_inside_a_write_leaves_nothing(engine: Engine, store_dir: Path) -> None:
    put(engine, "Before")
    store: Store = engine._desk.store
    with pytest.raises(ZeroDivisionError), store.write(OWNER, "test") as tx:
        tx.next_id("memory")
        raise ZeroDivisionError
    assert engine.change_token() == (1, 1) and put(engine, "Afterwards the same").id == 2
