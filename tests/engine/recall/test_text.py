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
    monkeypatch.setattr("engine.recall.candidates.ASK_ALL", 0.0)
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


def transcript(conn: sqlite3.Connection, *lines: tuple[str, str], thread: str = "talk", first: int = 1) -> None:
    """Store the turns of a conversation, then strangers enough that neighbours are seen to belong together."""
    for n, (speaker, text) in enumerate(lines):
        add(conn, first + n, f"{speaker}: {text}", subject=speaker, thread=thread, seq=n)


def cohesive(conn: sqlite3.Connection) -> None:
    for n in range(20):
        words = f"topic{n} matter{n}"
        transcript(conn, ("Ann", f"{words} one"), ("Bob", f"{words} two"), thread=f"other {n}", first=500 + 2 * n)


def test_the_turn_beside_the_words_of_the_question_is_found(conn: sqlite3.Connection) -> None:
    transcript(
        conn, ("Ann", "What did you pick for the kitchen wall?"), ("Bob", "A warm yellow, of course."), ("Ann", "Nice.")
    )
    cohesive(conn)
    result = search_text(conn, "kitchen wall")
    assert [hit.vid for hit in result.hits[:2]] == [1, 2]
    assert result.hits[1].field == "context" and result.hits[1].terms == ()
    assert result.total == len(result.hits) == 3


def test_neighbours_are_no_context_where_they_have_nothing_in_common(conn: sqlite3.Connection) -> None:
    for n in range(40):
        add(conn, n + 1, f"note{n} about subject{n}", thread="import", seq=n)
    assert found(conn, "note7") == [8]


def test_a_neighbour_that_the_filter_refuses_lends_nothing(conn: sqlite3.Connection) -> None:
    transcript(conn, ("Ann", "Which colour for the kitchen wall?"), ("Bob", "A warm yellow, of course."))
    cohesive(conn)
    conn.execute("UPDATE versions SET op_to = 9 WHERE vid = 1")
    assert search_text(conn, "kitchen wall", where=Candidates("v.op_to IS NULL")).total == 0


def test_the_named_speaker_comes_first(conn: sqlite3.Connection) -> None:
    transcript(conn, ("Ann", "I play the violin."), ("Bob", "I play the violin."), thread="a")
    transcript(conn, ("Bob", "I play the violin."), ("Ann", "I play the violin."), thread="b", first=11)
    assert set(found(conn, "which violin does Bob play", limit=2)) == {2, 11}
    assert set(found(conn, "does Ann play violin with Bob", limit=2)) == {1, 12}


def test_a_named_date_lifts_what_is_dated_then(conn: sqlite3.Connection) -> None:
    day = 86_400_000
    for n in range(1, 29):
        add(conn, n, "we went to the market", dated_ms=1_714_521_600_000 + (n - 1) * day)  # from 2024-05-01
    assert found(conn, "the market on 9 May 2024", limit=1) == [9]
    assert found(conn, "yesterday", now_ms=1_714_521_600_000 + 20 * day, limit=1) == [20]


def test_a_shared_field_of_life_finds_what_no_word_finds(conn: sqlite3.Connection) -> None:
    add(conn, 1, "The printer needs toner")
    add(conn, 2, "Our puppy sleeps on the sofa")
    add(conn, 3, "上海的仓库")
    assert found(conn, "我们的宠物") == [2]
    hit = search_text(conn, "我们的宠物").hits[0]
    assert set(hit.parts) == {"field", "length"} and hit.score == pytest.approx(sum(hit.parts.values()))


def test_questions_of_small_words_only_fall_back_on_them(conn: sqlite3.Connection) -> None:
    add(conn, 1, "Who are you")
    add(conn, 2, "gateway")
    assert found(conn, "who are you?") == [1]
    assert found(conn, "thanks, great") == []


def test_scores_never_rise_and_are_repeatable(conn: sqlite3.Connection) -> None:
    for vid in range(1, 301):
        add(conn, vid, f"gateway {'certificate ' * (vid % 3)} number {vid}")
    pages = [search_text(conn, "gateway certificate", limit=50, offset=offset) for offset in range(0, 300, 50)]
    hits = [hit for page in pages for hit in page.hits]
    assert sorted(hit.vid for hit in hits) == list(range(1, 301))
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert found(conn, "gateway certificate", limit=300) == [hit.vid for hit in hits]


def test_a_file_of_many_weak_paragraphs_has_one_place(conn: sqlite3.Connection) -> None:
    add(conn, 1, "Diary", body="\n\n".join(f"the gateway was fine on day {n}" for n in range(50)))
    add(conn, 2, "Short note", body="The gateway certificate expires in May.")
    result = search_text(conn, "gateway certificate expires")
    assert [hit.vid for hit in result.hits] == [2, 1]
    assert result.total == 2
