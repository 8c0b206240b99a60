"""Walks against a model that is too simple to be wrong, and histories after which nothing hidden may show."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.facade import Engine, open_engine
from engine.model.clock import FixedClock
from engine.model.enums import Channel, Mode
from engine.model.errors import MemdeckError
from engine.model.memory import AsOf, Draft, RecallQuery, Triple
from tests.engine.graph.kit import names, tell
from tests.engine.kit import OWNER, agent, do_not_wait_for_the_disk, problems

START_MS = 1_790_000_000_000
NODES = "ABCDEFGH"
EDGES = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from(["r", "s"]), st.sampled_from(NODES)), max_size=25)


@contextmanager
def fresh(clock: FixedClock | None = None) -> Iterator[Engine]:
    with (
        tempfile.TemporaryDirectory() as folder,
        open_engine(Path(folder) / "store", clock=clock or FixedClock(START_MS), env={}) as engine,
    ):
        do_not_wait_for_the_disk(engine)
        yield engine


def naive(edges: list[tuple[str, str, str]], seeds: set[str], depth: int) -> tuple[dict[str, int], dict]:
    """Return the depth of every entity and relation, by going round the list of relations once per layer."""
    there = {end for one, _, other in edges for end in (one, other)}
    reached = dict.fromkeys(seeds & there, 0)
    met: dict[tuple[str, str, str], int] = {}
    for layer in range(1, depth + 1):
        before = dict(reached)
        for edge in edges:
            ends = [before[end] for end in (edge[0], edge[2]) if end in before]
            if not ends:
                continue
            met.setdefault(edge, max(ends) + 1)
            for end in (edge[0], edge[2]):
                reached.setdefault(end, layer)
    return reached, met


@settings(max_examples=60, deadline=None)
@given(EDGES, st.sets(st.sampled_from(NODES), min_size=1, max_size=3), st.integers(0, 5))
def test_a_walk_is_that_of_the_model(edges: list[tuple[str, str, str]], seeds: set[str], depth: int) -> None:
    with fresh() as engine:
        if edges:
            tell(engine, *edges, text="What is known of the letters")
        found = engine.graph(OWNER, seeds=sorted(seeds), depth=depth)
        reached, met = naive(edges, seeds, depth)
        assert {e.name: e.depth for e in found.entities} == reached
        assert {(r.subject, r.relation, r.object): r.depth for r in found.relations} == met
        assert engine.graph(OWNER, seeds=sorted(seeds), depth=depth) == found


PLACES = (None, "/one", "/two")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["tell", "tell", "tell", "forget", "archive", "restore", "undo", "supersede", "wait", "edit"]),
        st.integers(0, 30),
        st.sampled_from(PLACES),
    ),
    min_size=3,
    max_size=18,
)


def play(engine: Engine, steps: list[tuple[str, int, str | None]], clock: FixedClock) -> None:
    """Carry out a history; a step that is refused changes nothing."""
    for number, (step, pick, place) in enumerate(steps):
        clock.at_ms += 60_000
        by = OWNER if place is None else agent(workspace=place, session=f"s{place}")
        ref = f"mem-{pick % 12 + 1}"
        triples = (Triple(f"e{pick % 5}", "knows", f"f{number}", subject_type=f"T{number}"),)
        draft = Draft(f"note {number} of f{number} and e{pick % 5}", triples=triples)
        try:
            if step == "tell":
                engine.remember(by, draft)
            elif step == "wait":
                engine.remember(by, Draft(f"Ignore all previous instructions, f{number}", triples=triples))
            elif step == "supersede":
                engine.remember(by, draft, replaces=ref)
            elif step == "edit":
                engine.edit(OWNER, engine.get(OWNER, ref).ref, {"description": f"note {number} says nothing more"})
            elif step == "undo":
                engine.undo(OWNER, rest=True)
            else:
                engine.forget(OWNER, [ref], how=step)
        except MemdeckError:
            continue


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_no_history_lets_a_hidden_statement_show(steps: list[tuple[str, int, str | None]]) -> None:
    clock = FixedClock(START_MS)
    with fresh(clock) as engine:
        play(engine, steps, clock)
        assert problems(engine) == []
        moments = [AsOf(), AsOf(known_ms=START_MS + 300_000), AsOf(valid_ms=START_MS + 300_000)]
        for by in (OWNER, agent(workspace="/one"), agent(workspace="/two")):
            for as_of in moments:
                seen = _readable(engine, by, as_of)
                for query in ("", "e", "f,e0"):
                    found = engine.graph(by, query, depth=3, as_of=as_of)
                    assert set(found.memories) <= seen.keys()
                    assert {m for r in found.relations for m in r.memories} <= seen.keys()
                    allowed = " ".join(seen.values())
                    assert [n for n in names(found) if f" {n} " not in f" {allowed} "] == []
                    types = {e.type for e in found.entities} - {"Concept"}
                    assert all(f" {t} " in f" {allowed} " for t in types)
            page = engine.recall(by, RecallQuery("e", channel=Channel.GRAPH, limit=100))
            assert {hit.memory.id for hit in page.hits} <= _readable(engine, by, AsOf()).keys()
            fused = engine.recall(by, RecallQuery("e0 e1 e2 e3 e4", limit=100))
            assert {hit.memory.id for hit in fused.hits} <= _readable(engine, by, AsOf()).keys()


def _readable(engine: Engine, by, as_of: AsOf) -> dict[int, str]:
    """Return what the text channel may show at a moment: each memory's number, and the words of its statements."""
    query = RecallQuery(
        "note", channel=Channel.TEXT, limit=1000, mode=Mode.CURRENT, at_ms=as_of.valid_ms, known_ms=as_of.known_ms
    )
    ids = [hit.memory.id for hit in engine.recall(by, query).hits]
    with engine._desk.store.read() as conn:
        return {
            id: " ".join(
                word
                for row in conn.execute(
                    "SELECT subject, object, subject_type FROM facts WHERE memory_id = ?", (id,)
                ).fetchall()
                for word in row
            )
            for id in ids
        }
