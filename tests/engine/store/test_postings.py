"""The derived index stays equal to what a rebuild would make, whatever is written, closed or expunged."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.store import index_reader as reader
from engine.store import passages
from engine.store import postings as ix
from engine.store.postings import IndexEntry

WORDS = ("deploy", "gateway", "certificate", "部署网关", "证书过期", "Xưởng mộc", "5433")


@pytest.fixture
def conn() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.executescript(ix.SCHEMA)
    yield connection
    connection.close()


def entry(text: str, **fields: object) -> IndexEntry:
    return IndexEntry(memory_id=1, description=text, **fields)  # type: ignore[arg-type]


def dump(conn: sqlite3.Connection) -> dict[str, object]:
    """Everything that the index says, by term instead of by term id."""
    names = dict(conn.execute("SELECT tid, term FROM ix_terms"))
    return {
        "postings": sorted(
            (block, names[tid], *rest) for block, tid, *rest in conn.execute("SELECT * FROM ix_postings")
        ),
        "blocks": [row for row in conn.execute("SELECT * FROM ix_blocks ORDER BY block") if row[1]],
        "docs": conn.execute("SELECT * FROM ix_docs ORDER BY vid").fetchall(),
        "terms": sorted(names.values()),
    }


def test_a_version_is_found_under_each_of_its_fields(conn: sqlite3.Connection) -> None:
    ix.index_version(
        conn,
        7,
        IndexEntry(1, "cat_name", "My cat is 芝麻", "It likes tuna.", ("pet",), ("animals",), "Ming", "t1", 3, 0),
    )
    found = reader.find_terms(
        conn, ["cat", "name", "芝麻", "tuna", "pet", "anim", passages.SUBJECT + "ming", passages.DAY + "19700101"]
    )
    assert len(found) == 8
    assert all(list(rows.vids) == [7] for rows in reader.postings(conn, found.values()).values())


def test_statistics_count_current_versions_only(conn: sqlite3.Connection) -> None:
    ix.index_many(conn, [(1, entry("gateway old", current=False)), (2, entry("gateway new"))])
    tid = reader.find_terms(conn, ["gateway"])["gateway"]
    assert list(reader.postings(conn, [tid])[tid].vids) == [1, 2]
    assert reader.postings(conn, [tid])[tid].live == 1
    ix.set_current(conn, 2, False)
    assert reader.postings(conn, [tid])[tid].live == 0
    assert reader.live_versions(conn) == 0
    ix.set_current(conn, 1, True)
    ix.set_current(conn, 1, True)
    assert reader.postings(conn, [tid])[tid].summaries == 1
    assert ix.check(conn) == []


def test_paragraphs_have_exact_line_numbers() -> None:
    body = "# Title\n\nfirst\nparagraph\n\n\n```\ncode\n\nmore code\n```\n\nlast"
    assert [(p.first, p.last) for p in passages.passages_of(body)] == [(1, 1), (3, 4), (7, 11), (13, 13)]
    long = "\n".join(["word " * 60] * 20)
    spans = [(p.first, p.last) for p in passages.passages_of(long)]
    assert spans[0][0] == 1 and spans[-1][1] == 20
    assert all(a[1] + 1 == b[0] for a, b in pairwise(spans))


def test_expunged_text_is_gone_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    conn = sqlite3.connect(path)
    conn.executescript(ix.SCHEMA)
    ix.index_many(conn, [(n, entry(f"common word{n}", body="zanzibar" if n == 5 else "")) for n in range(1, 50)])
    conn.commit()
    assert b"zanzibar" in path.read_bytes()
    ix.drop_versions(conn, [5])
    conn.commit()
    conn.close()
    assert b"zanzibar" not in path.read_bytes()
    assert b"word5\x00" not in path.read_bytes()


def test_check_names_what_is_wrong(conn: sqlite3.Connection) -> None:
    ix.index_many(conn, [(1, entry("one two")), (2, entry("two three"))])
    assert ix.check(conn) == []
    conn.execute("UPDATE ix_postings SET live = 9 WHERE tid = (SELECT tid FROM ix_terms WHERE term = 'two')")
    conn.execute("DELETE FROM ix_postings WHERE tid = (SELECT tid FROM ix_terms WHERE term = 'three')")
    conn.execute("CREATE TABLE versions (vid INTEGER PRIMARY KEY)")
    conn.execute("INSERT INTO versions VALUES (1), (3)")
    problems = "\n".join(ix.check(conn))
    assert "statistics" in problems and "differ from the passages" in problems
    assert "version 3 is not indexed" in problems and "version 2 is indexed but not stored" in problems


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("index"), st.integers(1, 12), st.lists(st.sampled_from(WORDS), max_size=4), st.booleans()),
        st.tuples(st.just("current"), st.integers(1, 12), st.booleans()),
        st.tuples(st.just("drop"), st.lists(st.integers(1, 12), max_size=3)),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_any_history_of_writes_equals_a_rebuild(steps: list[tuple[object, ...]]) -> None:
    conn = sqlite3.connect(":memory:")
    conn.executescript(ix.SCHEMA)
    model: dict[int, IndexEntry] = {}
    for step in steps:
        if step[0] == "index":
            _, number, words, current = step
            vid = number * 900  # spread over several blocks
            model[vid] = entry(" ".join(words), thread="t", seq=number, current=current)
            ix.index_version(conn, vid, model[vid])
        elif step[0] == "current":
            _, number, current = step
            vid = number * 900
            ix.set_current(conn, vid, current)
            if vid in model:
                model[vid] = IndexEntry(**{**model[vid].__dict__, "current": current})
        else:
            vids = [number * 900 for number in step[1]]
            ix.drop_versions(conn, vids)
            for vid in vids:
                model.pop(vid, None)
    assert ix.check(conn) == []
    written = dump(conn)
    ix.rebuild(conn, model.items())
    assert written == dump(conn)
