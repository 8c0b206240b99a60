"""Cohesion tells transcripts from notes that only share a thread, and is measured as the store grows."""

from __future__ import annotations

import random
import sqlite3

import pytest

from engine.store import postings
from engine.store.cohesion import COHESION
from engine.store.index_reader import statistic
from engine.store.postings import IndexEntry


@pytest.fixture
def conn() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.executescript(postings.SCHEMA)
    return connection


def fill(conn: sqlite3.Connection, texts: list[list[str]]) -> float:
    """Index threads of texts; return the cohesion."""
    entries = [
        (100 * t + n + 1, IndexEntry(1, description=text, thread=f"t{t}", seq=n))
        for t, thread in enumerate(texts)
        for n, text in enumerate(thread)
    ]
    postings.index_many(conn, entries)
    found = statistic(conn, COHESION)
    assert found is not None
    return found


def test_turns_of_a_talk_hang_together(conn: sqlite3.Connection) -> None:
    assert fill(conn, [[f"matter{t} and detail{n}" for n in range(5)] for t in range(12)]) > 1.4


def test_unrelated_notes_of_one_import_do_not(conn: sqlite3.Connection) -> None:
    source = random.Random(5)
    words = [f"word{n}" for n in range(12)]
    assert fill(conn, [[" ".join(source.choices(words, k=4)) for _ in range(8)] for _ in range(12)]) < 1.4


def test_a_store_too_small_to_tell_has_none(conn: sqlite3.Connection) -> None:
    assert fill(conn, [["same words", "same words"]]) == 1.0


def test_it_is_measured_anew_as_the_store_grows(conn: sqlite3.Connection) -> None:
    assert fill(conn, [["a b c"]]) == 1.0
    assert fill(conn, [[f"matter{t} and detail{n}" for n in range(5)] for t in range(12)]) > 1.4
