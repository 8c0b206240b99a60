"""Random histories: what was known stays known, whatever was done, taken back and brought back since.

A model in a few lines says what each memory should be. Every row of a memory is a stack of the operations that stand;
an undo takes its operation off the top, and is refused when it is not there.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.facade import Engine, open_engine
from engine.model.clock import FixedClock
from engine.model.errors import MemdeckError
from engine.model.memory import AsOf, Draft, Memory
from engine.store.journal import changes
from engine.store.rows import load_memories
from engine.store.schema import JOURNALLED
from tests.engine.kit import OWNER, do_not_wait_for_the_disk, found, problems, put

START = 1_795_953_600_000
TAGS = ("red", "blue", "grün")
Row = tuple[int, str]
"""One row of a memory: its number, and `text`, `state`, `tag:x` or `tomb:x`."""


@dataclass(frozen=True)
class Text:
    """What a version says."""

    words: str
    valid_from: int
    valid_to: int | None = None


@dataclass(frozen=True)
class Place:
    """Where a memory stands."""

    state: str = "active"
    target: int | None = None
    locked: bool = False


@dataclass
class Done:
    """An operation and the rows that it changed.

    An undo either took entries off (`adds` is False) or put them back; `entries` are those, `stacks` what it left.
    """

    kind: str
    rows: dict[Row, object] = field(default_factory=dict)
    of: int | None = None
    adds: bool = True
    entries: dict[Row, tuple[int, object]] = field(default_factory=dict)
    stacks: dict[Row, tuple[tuple[int, object], ...]] = field(default_factory=dict)


class Model:
    """What the store should hold."""

    def __init__(self) -> None:
        self.stacks: dict[Row, tuple[tuple[int, object], ...]] = {}
        self.before: dict[int, Place | None] = {}
        self.ops: dict[int, Done] = {}
        self.count = 0

    @property
    def gone(self) -> set[int]:
        """What is taken back at this moment; an undo that was taken back takes nothing back."""
        gone: set[int] = set()
        for op in sorted(self.ops, reverse=True):
            of = self.ops[op].of
            if of is not None and op not in gone:
                gone.add(of)
        return gone

    def value(self, row: Row) -> object:
        stack = self.stacks.get(row, ())
        return stack[-1][1] if stack else None

    def text(self, number: int) -> Text | None:
        value = self.value((number, "text"))
        assert value is None or isinstance(value, Text)
        return value

    def place(self, number: int) -> Place | None:
        value = self.value((number, "state"))
        assert value is None or isinstance(value, Place)
        return value

    def tags(self, number: int) -> set[str]:
        return {tag for tag in TAGS if self.value((number, f"tag:{tag}"))}

    def _note_places(self, change: Callable[[], None]) -> None:
        """Carry out a change and remember where each memory stood before it moved last."""
        old = {n: self.place(n) for n in range(1, self.count + 1)}
        change()
        for number, place in old.items():
            if self.place(number) != place:
                self.before[number] = place

    def do(self, op: int, kind: str, rows: dict[Row, object]) -> None:
        changed = {row: value for row, value in rows.items() if self.value(row) != value}

        def change() -> None:
            for row, value in changed.items():
                self.stacks[row] = (*self.stacks.get(row, ()), (op, value))

        self._note_places(change)
        self.ops[op] = Done(kind, changed)

    def undo(self, op: int, of: int, kind: str, left: set[int]) -> None:
        done = self.ops[of]
        mine = Done(kind, of=of, adds=not done.adds)

        def change() -> None:
            for row in done.rows:
                if row[0] in left:
                    continue
                stack = self.stacks[row]
                mine.entries[row] = stack[-1] if done.adds else done.entries[row]
                self.stacks[row] = mine.stacks[row] = stack[:-1] if done.adds else (*stack, done.entries[row])
                mine.rows[row] = None

        self._note_places(change)
        self.ops[op] = mine

    def blocked(self, of: int) -> set[int]:
        """Return the memories that a later operation, which still stands, changed."""
        done = self.ops[of]
        return {row[0] for row in done.rows if not self._on_top(of, done, row)}

    def _on_top(self, of: int, done: Done, row: Row) -> bool:
        stack = self.stacks.get(row, ())
        if done.of is None:
            return bool(stack) and stack[-1][0] == of
        return stack == done.stacks[row]


class Play:
    """A store and the model beside it, through one history."""

    def __init__(self, engine: Engine, clock: FixedClock) -> None:
        self.engine, self.clock, self.model = engine, clock, Model()
        self.seen: dict[int, dict[int, Memory]] = {}
        self.times: dict[int, int] = {}
        self.words = 0

    def run(self, steps: list[tuple[str, int, int, int]]) -> None:
        for name, a, b, tick in steps:
            self.clock.at_ms += tick
            before = self.engine.change_token()[1]
            getattr(self, name)(a, b)
            now = self.engine.change_token()[1]
            assert now in (before, before + 1), "a step is one operation, or none"
            if now > before:
                self.times[now] = self.clock.at_ms
                self.seen[now] = self.everything()
            self.compare()

    # --------------------------------------------------------------------------------------- steps
    def fresh(self) -> str:
        self.words += 1
        return f"note number{self.words} says word{self.words}"

    def pick(self, a: int) -> int:
        return a % self.model.count + 1 if self.model.count else 1

    def expect(self, possible: bool, call: Callable[[], object]) -> bool:
        """Carry out a call that has to be refused exactly when the model says so."""
        try:
            call()
        except MemdeckError as refused:
            assert not possible, refused
            return False
        assert possible
        return True

    def newest(self) -> int:
        return self.engine.change_token()[1]

    def remember(self, a: int, b: int) -> None:
        text, tags = self.fresh(), tuple(t for n, t in enumerate(TAGS) if b >> n & 1)
        self.model.count += 1
        number = self.model.count
        answer = put(self.engine, text, subject=f"s{number}", tags=tags)
        assert answer.id == number
        rows: dict[Row, object] = {(number, f"tag:{t}"): True for t in tags}
        rows |= {(number, "text"): Text(text, self.clock.at_ms), (number, "state"): Place()}
        self.model.do(self.newest(), "remember", rows)

    def edit(self, a: int, b: int) -> None:
        number, text = self.pick(a), self.fresh()
        old = self.model.text(number)
        revision = self.engine.get(OWNER, f"mem-{number}").revision if old else 1
        changes = {"description": text}
        if self.expect(old is not None, lambda: self.engine.edit(OWNER, f"mem-{number}@{revision}", changes)):
            assert old
            self.model.do(self.newest(), "edit", {(number, "text"): Text(text, old.valid_from, old.valid_to)})

    def retag(self, a: int, b: int) -> None:
        number, tags = self.pick(a), [t for n, t in enumerate(TAGS) if b >> n & 1]
        old = self.model.text(number)
        revision = self.engine.get(OWNER, f"mem-{number}").revision if old else 1
        possible = old is not None and set(tags) != self.model.tags(number)
        if self.expect(possible, lambda: self.engine.edit(OWNER, f"mem-{number}@{revision}", {"tags": tags})):
            self.model.do(self.newest(), "edit", {(number, f"tag:{t}"): (t in tags) or None for t in TAGS})

    def supersede(self, a: int, b: int) -> None:
        number, text = self.pick(a), self.fresh()
        old, place, at = self.model.text(number), self.model.place(number), self.clock.at_ms
        possible = place is not None and place.state == "active"
        call = lambda: self.engine.remember(OWNER, Draft(text), replaces=f"mem-{number}")  # noqa: E731
        if not self.expect(possible, call):
            return
        assert old and place
        self.model.count += 1
        new = self.model.count
        end = max(at, old.valid_from)
        ends = end if old.valid_to is None or end < old.valid_to else old.valid_to
        rows: dict[Row, object] = {(new, f"tag:{t}"): True for t in self.model.tags(number)}
        rows |= {
            (new, "text"): Text(text, at),
            (new, "state"): Place(),
            (number, "text"): Text(old.words, old.valid_from, ends),
            (number, "state"): Place("superseded", new, place.locked),
        }
        self.model.do(self.newest(), "remember", rows)

    def correct(self, a: int, b: int) -> None:
        number, text = self.pick(a), self.fresh()
        old, place = self.model.text(number), self.model.place(number)
        possible = place is not None and place.state == "active"
        call = lambda: self.engine.remember(OWNER, Draft(text), replaces=f"mem-{number}", was="wrong")  # noqa: E731
        if self.expect(possible, call):
            assert old
            self.model.do(self.newest(), "remember", {(number, "text"): Text(text, old.valid_from, old.valid_to)})

    def forget(self, a: int, b: int) -> None:
        self._remove(a, "deleted", "forget")

    def archive(self, a: int, b: int) -> None:
        self._remove(a, "archived", "archive")

    def _remove(self, a: int, state: str, how: str) -> None:
        number = self.pick(a)
        place, text = self.model.place(number), self.model.text(number)
        possible = place is not None and not place.locked
        possible = possible and (place.state != "deleted" if how == "forget" else place.state == "active")  # type: ignore[union-attr]
        if self.expect(possible, lambda: self.engine.forget(OWNER, [f"mem-{number}"], how=how)):
            assert place and text
            rows: dict[Row, object] = {(number, "state"): Place(state, None, place.locked)}
            if how == "forget":
                rows[number, f"tomb:{text.words}"] = True
            self.model.do(self.newest(), how, rows)

    def restore(self, a: int, b: int) -> None:
        number = self.pick(a)
        place, text = self.model.place(number), self.model.text(number)
        possible = place is not None and place.state in ("deleted", "archived", "merged")
        if self.expect(possible, lambda: self.engine.forget(OWNER, [f"mem-{number}"], how="restore")):
            assert place and text
            before = self.model.before.get(number)
            back = Place("active", None, place.locked)
            if place.state == "deleted" and before and before.state == "superseded":
                back = Place("superseded", before.target, place.locked)
            rows: dict[Row, object] = {(number, "state"): back, (number, f"tomb:{text.words}"): None}
            self.model.do(self.newest(), "restore_memory", rows)

    def lock(self, a: int, b: int) -> None:
        number = self.pick(a)
        place, locked = self.model.place(number), bool(b % 2)
        possible = place is not None and place.locked != locked
        if self.expect(possible, lambda: self.engine.lock(OWNER, f"mem-{number}", locked)):
            assert place
            self.model.do(self.newest(), "lock", {(number, "state"): Place(place.state, place.target, locked)})

    def merge(self, a: int, b: int) -> None:
        one, other = self.pick(a), self.pick(b)
        places = [self.model.place(n) for n in (one, other)]
        possible = one != other and all(p is not None and p.state == "active" for p in places)
        if self.expect(possible, lambda: self.engine.merge(OWNER, f"mem-{one}", f"mem-{other}")):
            assert places[0]
            rows: dict[Row, object] = {(other, f"tag:{t}"): True for t in self.model.tags(one)}
            rows[one, "state"] = Place("merged", other, places[0].locked)
            self.model.do(self.newest(), "merge", rows)

    def undo_last(self, a: int, b: int) -> None:
        standing = [op for op, d in self.model.ops.items() if d.of is None and op not in self.model.gone]
        self._take_back(max(standing, default=None), lambda: self.engine.undo(OWNER), "undo", rest=False)

    def redo(self, a: int, b: int) -> None:
        of = None
        for op in sorted(self.model.ops, reverse=True):
            kind = self.model.ops[op].kind
            if kind == "undo" and op not in self.model.gone:
                of = op
            if of or kind not in ("undo", "redo"):
                break
        self._take_back(of, lambda: self.engine.redo(OWNER), "redo", rest=False)

    def undo_any(self, a: int, b: int) -> None:
        ops = sorted(self.model.ops)
        of = ops[a % len(ops)] if ops else 1
        rest = bool(b % 2)
        of_known = of if of in self.model.ops and of not in self.model.gone else None
        self._take_back(of_known, lambda: self.engine.undo(OWNER, of, rest=rest), "undo", rest=rest)

    def _take_back(self, of: int | None, call: Callable[[], object], kind: str, *, rest: bool) -> None:
        left = self.model.blocked(of) if of is not None else set()
        numbers = {row[0] for row in self.model.ops[of].rows} if of is not None else set()
        possible = of is not None and bool(numbers - left) and (rest or not left)
        if self.expect(possible, call):
            assert of is not None
            self.model.undo(self.newest(), of, kind, left)

    # --------------------------------------------------------------------------------------- comparing
    def everything(self) -> dict[int, Memory]:
        rows = self.engine.memory_rows(OWNER, range(1, self.model.count + 1), bodies=True)
        return {m.id: m for m in rows}

    def compare(self) -> None:
        model, store = self.model, self.everything()
        assert set(store) == {n for n in range(1, model.count + 1) if model.text(n)}
        for number, memory in store.items():
            text, place = model.text(number), model.place(number)
            assert text and place
            assert (memory.description, memory.valid_from, memory.valid_to) == (
                text.words, text.valid_from, text.valid_to,
            )  # fmt: skip
            assert (memory.state, memory.target, memory.locked) == (place.state, place.target, place.locked)
            assert set(memory.tags) == model.tags(number)
        tombs = [row for row in model.stacks if row[1].startswith("tomb:") and model.value(row)]
        assert len(self.engine.tombstones()) == len(tombs)
        now = self.clock.at_ms
        assert found(self.engine, "note") == sorted(
            m.id
            for m in store.values()
            if m.state in ("active", "superseded") and m.valid_from <= now and (m.valid_to is None or now < m.valid_to)
        ), "strict recall: nothing deleted, merged, archived or no longer valid"

    def check_the_past(self) -> None:
        ids = range(1, self.model.count + 1)
        with self.engine._desk.store.read() as conn:
            for op, seen in self.seen.items():
                then = {m.id: m for m in load_memories(conn, ids, known=op)}
                assert {n: _known(m) for n, m in then.items()} == {n: _known(m) for n, m in seen.items()}
        for moment in {*self.times.values()}:
            op = max((o for o, at in self.times.items() if at <= moment), default=0)
            then = {m.id: m for m in self.engine.memory_rows(OWNER, ids, as_of=AsOf(known_ms=moment), bodies=True)}
            assert {n: _known(m) for n, m in then.items()} == {n: _known(m) for n, m in self.seen[op].items()}

    def check_the_journal(self) -> None:
        """Replay every change: each begins where the one before it ended, and together they make what is there."""
        replayed: dict[tuple[object, ...], object] = {}
        keys = {t.name: t.key for t in JOURNALLED}
        with self.engine._desk.store.read() as conn:
            for op in range(self.newest() + 1):  # the system's tags were there before the first
                for change in changes(conn, op):
                    if change.table == "tombstones":
                        continue  # shown without their key, which is a fingerprint
                    row = change.after or change.before or {}
                    key = (change.table, *(row.get(k, change.key) for k in keys[change.table]))
                    assert replayed.get(key) == change.before, (op, key)
                    replayed[key] = change.after
            for table in JOURNALLED:
                count = conn.execute(f"SELECT count(*) FROM {table.name} WHERE op_to IS NULL").fetchone()[0]
                if table.name != "tombstones":
                    assert count == sum(1 for k, v in replayed.items() if k[0] == table.name and v is not None)

    def check_the_index(self) -> None:
        before = {q: found(self.engine, q) for q in ("note", *TAGS, "word1", "word2", "word3")}
        assert problems(self.engine) == []
        self.engine.doctor(reindex=True)
        assert {q: found(self.engine, q) for q in before} == before


def _known(memory: Memory) -> dict[str, object]:
    """A memory as known then, without what only the future could tell: when it would end to be known."""
    return {k: v for k, v in memory.__dict__.items() if k not in ("known_to", "known_to_ms")} | {
        "tags": set(memory.tags)
    }


STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ("remember", "remember", "edit", "retag", "supersede", "correct", "forget", "archive", "restore", "lock",
             "merge", "undo_last", "undo_last", "undo_any", "undo_any", "redo", "redo")
        ),
        st.integers(0, 40),
        st.integers(0, 7),
        st.sampled_from((0, 0, 1, 1000, 60_000, -1, -1000, -60_000)),
    ),
    max_size=30,
)  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("histories")


def play(place: Path, steps: list[tuple[str, int, int, int]]) -> None:
    """Run one history in a new store, then look back on all of it."""
    clock = FixedClock(START)
    store = place / str(sum(1 for _ in place.iterdir()))
    with open_engine(store, clock=clock, env={}) as engine:
        do_not_wait_for_the_disk(engine)
        game = Play(engine, clock)
        game.run(steps)
        game.check_the_past()
        game.check_the_journal()
        game.check_the_index()


HISTORIES = 40 * int(os.environ.get("MEMDECK_TORTURE", "1"))
QUIET = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture)


@settings(max_examples=HISTORIES, deadline=None, suppress_health_check=QUIET, print_blob=True)
@given(steps=STEPS)
def test_any_history_stays_true(place: Path, steps: list[tuple[str, int, int, int]]) -> None:
    play(place, steps)
