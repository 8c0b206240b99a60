"""The text channel: what is found, filtered and counted, for any question at all."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from engine.recall.candidates import Candidates
from engine.recall.text import search_text
from engine.store import postings as ix
from engine.store.postings import IndexEntry


@pytest.fixture
def conn() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.executescript(ix.SCHEMA)
    connection.execute("CREATE TABLE versions (vid INTEGER PRIMARY KEY, op_to, valid_from DEFAULT 0, valid_to)")
    yield connection
    connection.close()


def add(conn: sqlite3.Connection, vid: int, text: str, body: str = "", **fields: object) -> None:
    ix.index_version(conn, vid, IndexEntry(vid, description=text, body=body, **fields))  # type: ignore[arg-type]
    conn.execute("INSERT INTO versions (vid) VALUES (?)", (vid,))


def found(conn: sqlite3.Connection, query: str, **more: object) -> list[int]:
    return [hit.vid for hit in search_text(conn, query, **more).hits]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("部署", "用 docker 部署网关"), ("网关", "用 docker 部署网关"), ("docker", "用 docker 部署网关"),
        ("部署区域", "部署区域是上海"), ("証明書", "証明書の期限"), ("계약", "계약은 2월에 끝난다"),
        ("xuong moc", "Xưởng mộc ở Đà Nẵng"), ("xưởng MỘC", "xuong moc o Da Nang"),
        ("5433", "端口是５４３３"), ("５４３３", "port 5433"), ("certificates", "The certificate expires"),
        ("猫", "用户的猫叫芝麻"), ("麻", "用户的猫叫芝麻"), ("🍕", "Friday is 🍕 night"),
    ],
)  # fmt: skip
def test_words_of_any_script_are_found(conn: sqlite3.Connection, query: str, text: str) -> None:
    add(conn, 1, "something else entirely 完全不同")
    add(conn, 2, text)
    assert found(conn, query) == [2]


@pytest.mark.parametrize(
    "query",
    [
        "",
        " ",
        '"',
        "*",
        "NEAR",
        "NEAR/3",
        "-",
        "%",
        "_",
        "()",
        "。！？",
        "a",
        "的",
        "\x00",
        "\ud800",
        "OR AND NOT",
        "'; --",
    ],
)
def test_any_characters_give_a_result_and_no_error(conn: sqlite3.Connection, query: str) -> None:
    add(conn, 1, "plain memory")
    assert search_text(conn, query).total == 0


def test_a_megabyte_is_read_in_part(conn: sqlite3.Connection) -> None:
    add(conn, 1, "needle in the haystack")
    assert found(conn, "needle " + "hay straw " * 100_000) == [1]


def test_pages_cover_every_match_once_and_the_total_is_exact(conn: sqlite3.Connection) -> None:
    for vid in range(1, 26):
        add(conn, vid, f"gateway number {vid}")
    pages = [search_text(conn, "gateway", limit=10, offset=offset) for offset in (0, 10, 20, 30)]
    assert [page.total for page in pages] == [25] * 4
    assert sorted(hit.vid for page in pages for hit in page.hits) == list(range(1, 26))


def test_the_filter_applies_before_the_cut(conn: sqlite3.Connection) -> None:
    for vid in range(1, 31):
        add(conn, vid, "gateway gateway gateway" if vid % 3 else "gateway among many other words of a long text")
    conn.execute("UPDATE versions SET op_to = 5 WHERE vid % 3")
    result = search_text(conn, "gateway", where=Candidates("v.op_to IS ?", (None,)), limit=4)
    assert result.total == 10
    assert all(hit.vid % 3 == 0 for hit in result.hits) and len(result.hits) == 4


def test_the_best_paragraph_is_named_by_its_lines(conn: sqlite3.Connection) -> None:
    add(
        conn,
        1,
        "Notes on operations",
        "# Log\n\nnothing here\n\nThe certificate of the gateway\nexpires in May.\n\nend",
    )
    hit = search_text(conn, "when does the gateway certificate expire").hits[0]
    assert (hit.field, hit.lines) == ("body", (5, 6))
    assert set(hit.terms) == {"gateway", "certif", "expir"}


def test_a_kept_answer_follows_the_clock_and_the_store(
    conn: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.recall.candidates.ASK_ALL", 3)
    for vid in range(1, 9):
        add(conn, vid, f"gateway {vid}")
    conn.execute("UPDATE versions SET valid_to = 500 WHERE vid = 3")
    conn.execute("UPDATE versions SET valid_from = 700 WHERE vid = 4")

    def total(now: int) -> int:
        where = Candidates("v.valid_from <= ? AND (v.valid_to IS NULL OR v.valid_to > ?)", (now, now))
        return search_text(conn, "gateway", where=where, now_ms=now).total

    assert [total(now) for now in (400, 499, 500, 699, 700, 400)] == [7, 7, 6, 6, 7, 7]
    conn.execute("UPDATE versions SET valid_to = 100 WHERE vid = 5")
    assert total(400) == 6
