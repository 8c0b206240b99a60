"""The derived search index: postings by term in blocks of versions, and the passages of each version.

Everything here can be rebuilt from the memories (`rebuild`). Rows are written in the transaction that writes the
version, so a memory can be found as soon as its write is acknowledged. The index covers all versions, for reading as
of another time; its statistics count current ones only.

Postings stand in blocks of `BLOCK` consecutive version ids. A write touches the rows of one block only, a search reads
one row per term and block: version ids (4 bytes each, ascending) beside their weights (1 byte each).
"""

from __future__ import annotations

import hashlib
import math
import re
import sqlite3
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TypeVar

from engine.rules.terms import index_terms

SCHEMA = """
CREATE TABLE IF NOT EXISTS ix_terms (tid INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS ix_blocks (
    block INTEGER PRIMARY KEY, live INTEGER NOT NULL, length INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS ix_postings (
    block INTEGER NOT NULL, tid INTEGER NOT NULL, live INTEGER NOT NULL, summaries INTEGER NOT NULL,
    vids BLOB NOT NULL, weights BLOB NOT NULL, PRIMARY KEY (block, tid)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ix_docs (
    vid INTEGER PRIMARY KEY, live INTEGER NOT NULL, thread INTEGER, seq INTEGER, dated_ms INTEGER,
    length INTEGER NOT NULL, marks INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS ix_docs_thread ON ix_docs (thread, seq) WHERE thread IS NOT NULL;
CREATE TABLE IF NOT EXISTS ix_passages (
    vid INTEGER NOT NULL, n INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    length INTEGER NOT NULL, tids BLOB NOT NULL, weights BLOB NOT NULL, PRIMARY KEY (vid, n)) WITHOUT ROWID;
"""

TABLES = ("ix_terms", "ix_blocks", "ix_postings", "ix_docs", "ix_passages")
BLOCK = 4096
BATCH = 2_000
"""Entries that are written together by `index_many`; bounds its memory."""

SUBJECT, DAY, MONTH = "@", "#", "~"
"""Prefixes of terms that are no words: who a memory is about, and the UTC day and month that it is dated."""

QUESTION = 1
"""Mark of a memory whose text ends as a question."""

PASSAGE_CHARS = 2_000
"""A longer paragraph is parted at a line end."""

LENGTH_PIVOT, LENGTH_SHARE = 16.0, 0.35
"""Term frequency is divided by `1 - LENGTH_SHARE + LENGTH_SHARE * length / LENGTH_PIVOT` (BM25's b)."""

_T = TypeVar("_T")
_BLANK_LINE = re.compile(r"\s*$")
_FENCE = re.compile(r"\s*(```|~~~)")


@dataclass(frozen=True)
class IndexEntry:
    """The searchable fields of one version; `seq` counts positions in the thread, `dated_ms` is UTC milliseconds."""

    memory_id: int
    name: str = ""
    description: str = ""
    body: str = ""
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    subject: str = ""
    thread: str | None = None
    seq: int | None = None
    dated_ms: int | None = None
    current: bool = True


@dataclass(frozen=True)
class Passage:
    """A paragraph of a body: its first and last line, counted from 1, and its text; lines 0-0 are the summary."""

    first: int
    last: int
    text: str


@dataclass(frozen=True)
class _Analysed:
    vid: int
    entry: IndexEntry
    passages: list[tuple[Passage, int, dict[str, float]]]
    special: tuple[str, ...]
    length: int

    def weights(self) -> dict[str, float]:
        """Return each term with its weight: the best of the passages that hold it."""
        best: dict[str, float] = dict.fromkeys(self.special, 1.0)
        for _, _, terms in self.passages:
            for term, weight in terms.items():
                if weight > best.get(term, 0.0):
                    best[term] = weight
        return best


# ------------------------------------------------------------------------------------------- weights
def pack_weight(value: float, in_summary: bool) -> int:
    """Return a length-normalised term frequency as one byte: a logarithmic level and whether the summary holds it."""
    return max(1, min(127, round(24 * math.log1p(4 * value)))) << 1 | in_summary


WEIGHT: tuple[float, ...] = tuple(math.expm1((byte >> 1) / 24) / 4 for byte in range(256))
"""The term frequency that each byte of `weights` stands for; odd bytes are terms of the summary."""


def normalised(terms: Sequence[str]) -> dict[str, float]:
    """Return the length-normalised frequency of each term of a bag of words."""
    if not terms:
        return {}
    norm = 1 - LENGTH_SHARE + LENGTH_SHARE * len(terms) / LENGTH_PIVOT
    return {term: count / norm for term, count in Counter(terms).items()}


# ------------------------------------------------------------------------------------------- analysis
def passages_of(body: str) -> list[Passage]:
    """Part Markdown into paragraphs at blank lines outside code fences; line numbers count from 1 (S17)."""
    found: list[Passage] = []
    held: list[str] = []
    start, size, fenced = 1, 0, False
    for number, line in enumerate(body.split("\n"), 1):
        blank = not fenced and _BLANK_LINE.match(line) is not None
        if held and (blank or size + len(line) > PASSAGE_CHARS):
            found.append(Passage(start, number - 1, "\n".join(held)))
            held, size = [], 0
        if _FENCE.match(line):
            fenced = not fenced
        if not blank:
            start = start if held else number
            held.append(line)
            size += len(line)
    if held:
        found.append(Passage(start, start + len(held) - 1, "\n".join(held)))
    return found


def _without_label(text: str, subject: str) -> str:
    """Drop the speaker's own label from a line of a transcript: the subject is indexed as such."""
    if subject and text.startswith(subject) and text[len(subject) : len(subject) + 1] in (":", "\uff1a"):
        return text[len(subject) + 1 :]
    return text


def _analyse(vid: int, entry: IndexEntry) -> _Analysed:
    description = _without_label(entry.description, entry.subject)
    summary = "\n".join(
        (entry.name.replace("_", " ").replace("-", " "), description, *entry.aliases, *entry.tags)
    )
    passages = [Passage(0, 0, summary), *passages_of(_without_label(entry.body, entry.subject))]
    bags = [index_terms(passage.text) for passage in passages]
    special = [SUBJECT + term for term in dict.fromkeys(index_terms(entry.subject))]
    if entry.dated_ms is not None:
        special += day_terms(entry.dated_ms)
    return _Analysed(
        vid,
        entry,
        [(passage, len(bag), normalised(bag)) for passage, bag in zip(passages, bags, strict=True)],
        tuple(special),
        sum(map(len, bags)),
    )


def day_terms(moment_ms: int) -> list[str]:
    """Return the terms of the UTC day and month of a moment; none when it lies outside the calendar."""
    try:
        moment = datetime.fromtimestamp(moment_ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return []
    return [f"{DAY}{moment:%Y%m%d}", f"{MONTH}{moment:%Y%m}"]


def thread_key(thread: str | None) -> int | None:
    """Return the 63-bit number that stands for a thread's name in the index."""
    if thread is None:
        return None
    return (
        int.from_bytes(hashlib.blake2b(thread.encode("utf-8", "surrogatepass"), digest_size=8).digest()) >> 1
    )


# ------------------------------------------------------------------------------------------- writing
def index_version(conn: sqlite3.Connection, vid: int, entry: IndexEntry) -> None:
    """Index one version, replacing what stood there; part of the caller's transaction."""
    index_many(conn, [(vid, entry)])


def index_many(conn: sqlite3.Connection, entries: Iterable[tuple[int, IndexEntry]]) -> None:
    """Index many versions; ids that are indexed already are replaced. Part of the caller's transaction."""
    remaining = iter(entries)
    while batch := list(islice(remaining, BATCH)):
        _write_batch(conn, [_analyse(vid, entry) for vid, entry in dict(batch).items()])


def _write_batch(conn: sqlite3.Connection, batch: list[_Analysed]) -> None:
    known = _existing(conn, [doc.vid for doc in batch])
    if known:
        drop_versions(conn, known)
    weights = {doc.vid: doc.weights() for doc in batch}
    tids = _term_ids(conn, {term for found in weights.values() for term in found})
    blocks: dict[int, list[_Analysed]] = defaultdict(list)
    for doc in sorted(batch, key=lambda doc: doc.vid):
        blocks[doc.vid // BLOCK].append(doc)
    for block, docs in blocks.items():
        _write_block(conn, block, docs, weights, tids)
    conn.executemany(
        "INSERT INTO ix_docs (vid, live, thread, seq, dated_ms, length, marks) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (doc.vid, doc.entry.current, thread_key(doc.entry.thread), doc.entry.seq, doc.entry.dated_ms,
             doc.length, _marks(doc.entry))
            for doc in batch
        ],
    )  # fmt: skip
    conn.executemany(
        "INSERT INTO ix_passages (vid, n, first, last, length, tids, weights) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [row for doc in batch for row in _passage_rows(doc, tids)],
    )


def _marks(entry: IndexEntry) -> int:
    return QUESTION if (entry.body or entry.description).rstrip().endswith(("?", "\uff1f")) else 0


def _passage_rows(doc: _Analysed, tids: dict[str, int]) -> Iterator[tuple[object, ...]]:
    for n, (passage, length, terms) in enumerate(doc.passages):
        pairs = [(tids[term], pack_weight(weight, n == 0)) for term, weight in terms.items()]
        if n == 0:
            pairs += [(tids[term], 0) for term in doc.special]
        pairs.sort()
        yield (
            doc.vid, n, passage.first, passage.last, length,
            array("I", [tid for tid, _ in pairs]).tobytes(), bytes(weight for _, weight in pairs),
        )  # fmt: skip


def _write_block(
    conn: sqlite3.Connection,
    block: int,
    docs: list[_Analysed],
    weights: dict[int, dict[str, float]],
    tids: dict[str, int],
) -> None:
    vids: dict[int, list[int]] = defaultdict(list)
    packed: dict[int, list[int]] = defaultdict(list)
    live: Counter[int] = Counter()
    summaries: Counter[int] = Counter()
    for doc in docs:
        own = [tids[term] for term in weights[doc.vid]]
        summary = doc.passages[0][2]
        for term, weight in weights[doc.vid].items():
            tid = tids[term]
            vids[tid].append(doc.vid)
            packed[tid].append(pack_weight(weight, term in summary))
        if doc.entry.current:
            live.update(own)
            summaries.update(tids[term] for term in summary)
    rows = {
        tid: (live[tid], summaries[tid], array("I", vids[tid]).tobytes(), bytes(packed[tid])) for tid in vids
    }
    for tid, *old in _rows(conn, block, list(rows)):
        rows[tid] = _merged(old, rows[tid])
    conn.executemany(
        "INSERT OR REPLACE INTO ix_postings (block, tid, live, summaries, vids, weights) VALUES (?, ?, ?, ?, ?, ?)",
        [(block, tid, *rows[tid]) for tid in sorted(rows)],
    )
    _count_block(conn, block, [(doc.length, 1) for doc in docs if doc.entry.current])


def _merged(old: Sequence[object], new: tuple[int, int, bytes, bytes]) -> tuple[int, int, bytes, bytes]:
    live, summaries, vids, weights = old
    assert isinstance(live, int) and isinstance(summaries, int)
    assert isinstance(vids, bytes) and isinstance(weights, bytes)
    all_vids, all_weights = vids + new[2], weights + new[3]
    before, after = array("I", vids), array("I", new[2])
    if before and before[-1] > after[0]:
        pairs = sorted(zip(array("I", all_vids), all_weights, strict=True))
        all_vids, all_weights = array("I", [v for v, _ in pairs]).tobytes(), bytes(w for _, w in pairs)
    return live + new[0], summaries + new[1], all_vids, all_weights


def _count_block(conn: sqlite3.Connection, block: int, changes: Iterable[tuple[int, int]]) -> None:
    """Add (length, +1) or subtract (length, -1) current versions from a block's statistics."""
    changes = list(changes)
    conn.execute(
        "INSERT INTO ix_blocks (block, live, length) VALUES (?, ?, ?)"
        " ON CONFLICT (block) DO UPDATE SET live = live + excluded.live, length = length + excluded.length",
        (block, sum(sign for _, sign in changes), sum(length * sign for length, sign in changes)),
    )


def _term_ids(conn: sqlite3.Connection, terms: set[str]) -> dict[str, int]:
    conn.executemany("INSERT OR IGNORE INTO ix_terms (term) VALUES (?)", [(term,) for term in sorted(terms)])
    return find_terms(conn, terms)


def set_current(conn: sqlite3.Connection, vid: int, current: bool) -> None:
    """Count a version as current or not, when it is closed or opened again; unknown ids are ignored."""
    found = conn.execute("SELECT live, length FROM ix_docs WHERE vid = ?", (vid,)).fetchone()
    if found is None or bool(found[0]) == current:
        return
    sign = 1 if current else -1
    everywhere, summary = _own_terms(conn, vid)
    conn.executemany(
        "UPDATE ix_postings SET live = live + ?, summaries = summaries + ? WHERE block = ? AND tid = ?",
        [(sign, sign * (tid in summary), vid // BLOCK, tid) for tid in sorted(everywhere)],
    )
    _count_block(conn, vid // BLOCK, [(found[1], sign)])
    conn.execute("UPDATE ix_docs SET live = ? WHERE vid = ?", (current, vid))


def _own_terms(conn: sqlite3.Connection, vid: int) -> tuple[set[int], set[int]]:
    """Return all term ids of a version, and those of its summary that count in `summaries`."""
    everywhere: set[int] = set()
    summary: set[int] = set()
    for n, tids, weights in conn.execute("SELECT n, tids, weights FROM ix_passages WHERE vid = ?", (vid,)):
        own = array("I", tids)
        everywhere.update(own)
        if n == 0:
            summary = {tid for tid, weight in zip(own, weights, strict=True) if weight}
    return everywhere, summary


def drop_versions(conn: sqlite3.Connection, vids: Iterable[int]) -> None:
    """Take versions out of the index so that no byte of their text stays in its tables (expunge).

    Freed space is overwritten; terms that nothing else uses go too. Copies in the write-ahead log live until the
    caller truncates it.
    """
    dropped = list(dict.fromkeys(vids))
    secure = conn.execute("PRAGMA secure_delete").fetchone()[0]
    conn.execute("PRAGMA secure_delete = ON")
    touched: set[int] = set()
    for vid in dropped:
        set_current(conn, vid, False)
        own, _ = _own_terms(conn, vid)
        _remove_postings(conn, vid, own)
        conn.execute("DELETE FROM ix_passages WHERE vid = ?", (vid,))
        conn.execute("DELETE FROM ix_docs WHERE vid = ?", (vid,))
        touched |= own
    conn.executemany(
        "DELETE FROM ix_terms WHERE tid = ? AND NOT EXISTS (SELECT 1 FROM ix_blocks AS b"
        " JOIN ix_postings AS p ON p.block = b.block AND p.tid = ix_terms.tid)",
        [(tid,) for tid in touched],
    )
    conn.execute(f"PRAGMA secure_delete = {int(secure)}")


def _remove_postings(conn: sqlite3.Connection, vid: int, tids: set[int]) -> None:
    block = vid // BLOCK
    for tid, live, summaries, vids, weights in _rows(conn, block, sorted(tids)):
        held = array("I", vids)
        at = bisect_left(held, vid)
        if at == len(held) or held[at] != vid:
            continue
        held.pop(at)
        if held:
            conn.execute(
                "UPDATE ix_postings SET live = ?, summaries = ?, vids = ?, weights = ? WHERE block = ? AND tid = ?",
                (live, summaries, held.tobytes(), weights[:at] + weights[at + 1 :], block, tid),
            )
        else:
            conn.execute("DELETE FROM ix_postings WHERE block = ? AND tid = ?", (block, tid))


def rebuild(conn: sqlite3.Connection, entries: Iterable[tuple[int, IndexEntry]]) -> None:
    """Empty the index and fill it from all versions; part of the caller's transaction."""
    for table in TABLES:
        conn.execute(f"DELETE FROM {table}")
    index_many(conn, entries)


# ------------------------------------------------------------------------------------------- reading
@dataclass(frozen=True)
class Corpus:
    """How many current versions the index holds, and how many terms they have together."""

    live: int
    length: int


@dataclass(frozen=True)
class Postings:
    """All versions that hold a term, ascending, with the weight byte of each; the counts are of current ones."""

    live: int
    summaries: int
    vids: array[int]
    weights: bytes

    def weight(self, vid: int) -> int:
        """Return the weight byte of a version, 0 when it does not hold the term."""
        at = bisect_left(self.vids, vid)
        return self.weights[at] if at < len(self.vids) and self.vids[at] == vid else 0


@dataclass(frozen=True)
class Span:
    """A passage of a version: its lines (0-0 is the summary), its length and its terms with their weight bytes."""

    first: int
    last: int
    length: int
    tids: Mapping[int, int]


def corpus(conn: sqlite3.Connection) -> Corpus:
    """Return the statistics of current versions."""
    live, length = conn.execute(
        "SELECT coalesce(sum(live), 0), coalesce(sum(length), 0) FROM ix_blocks"
    ).fetchone()
    return Corpus(live, length)


def postings(conn: sqlite3.Connection, tids: Iterable[int]) -> dict[int, Postings]:
    """Return the postings of each term id that some version holds."""
    live: Counter[int] = Counter()
    summaries: Counter[int] = Counter()
    vids: dict[int, list[bytes]] = defaultdict(list)
    weights: dict[int, list[bytes]] = defaultdict(list)
    for part in _parts(list(tids)):
        rows = conn.execute(
            "SELECT tid, live, summaries, vids, weights FROM ix_postings"
            f" WHERE block IN (SELECT block FROM ix_blocks) AND tid IN ({_marks_for(part)}) ORDER BY block",
            part,
        )
        for tid, current, in_summary, own, own_weights in rows:
            live[tid] += current
            summaries[tid] += in_summary
            vids[tid].append(own)
            weights[tid].append(own_weights)
    return {
        tid: Postings(live[tid], summaries[tid], array("I", b"".join(vids[tid])), b"".join(weights[tid]))
        for tid in vids
    }


def spans(conn: sqlite3.Connection, vid: int) -> list[Span]:
    """Return the passages of a version, the summary first."""
    rows = conn.execute(
        "SELECT first, last, length, tids, weights FROM ix_passages WHERE vid = ? ORDER BY n", (vid,)
    )
    return [
        Span(first, last, length, dict(zip(array("I", tids), weights, strict=True)))
        for first, last, length, tids, weights in rows
    ]


def find_terms_from(conn: sqlite3.Connection, prefix: str, limit: int = 500) -> dict[str, int]:
    """Return the ids of at most `limit` terms that start with `prefix`."""
    query = "SELECT term, tid FROM ix_terms WHERE term >= ? AND term < ? LIMIT ?"
    return dict(conn.execute(query, (prefix, prefix + "\U0010ffff", limit)).fetchall())


def find_terms(conn: sqlite3.Connection, terms: Iterable[str]) -> dict[str, int]:
    """Return the ids of those terms that some version holds."""
    found: dict[str, int] = {}
    for part in _parts(list(terms)):
        query = f"SELECT term, tid FROM ix_terms WHERE term IN ({_marks_for(part)})"
        found.update(conn.execute(query, part).fetchall())
    return found


def _rows(
    conn: sqlite3.Connection, block: int, tids: Sequence[int]
) -> Iterator[tuple[int, int, int, bytes, bytes]]:
    for part in _parts(tids):
        yield from conn.execute(
            "SELECT tid, live, summaries, vids, weights FROM ix_postings"
            f" WHERE block = ? AND tid IN ({_marks_for(part)})",
            (block, *part),
        ).fetchall()


def _existing(conn: sqlite3.Connection, vids: Sequence[int]) -> list[int]:
    found: list[int] = []
    for part in _parts(vids):
        found += [
            vid for (vid,) in conn.execute(f"SELECT vid FROM ix_docs WHERE vid IN ({_marks_for(part)})", part)
        ]
    return found


def _marks_for(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


def _parts(values: Sequence[_T]) -> Iterator[Sequence[_T]]:
    for start in range(0, len(values), 500):
        yield values[start : start + 500]


# ------------------------------------------------------------------------------------------- checking
def check(conn: sqlite3.Connection) -> list[str]:
    """Return what is wrong with the index, one sentence each; reads all of it (for doctor)."""
    problems: list[str] = []
    expected: dict[tuple[int, int], list[int]] = defaultdict(list)
    live: dict[int, bool] = dict(conn.execute("SELECT vid, live FROM ix_docs"))
    for vid, tids in conn.execute("SELECT vid, tids FROM ix_passages ORDER BY vid"):
        if vid not in live:
            problems.append(f"passages of version {vid} have no entry")
        for tid in array("I", tids):
            rows = expected[vid // BLOCK, tid]
            if not rows or rows[-1] != vid:
                rows.append(vid)
    stored = conn.execute("SELECT block, tid, live, vids, weights FROM ix_postings")
    for block, tid, count, vids, weights in stored:
        own = expected.pop((block, tid), [])
        if list(array("I", vids)) != own or len(weights) != len(own):
            problems.append(f"postings of term {tid} in block {block} differ from the passages")
        elif count != sum(live.get(vid, False) for vid in own):
            problems.append(f"the statistics of term {tid} in block {block} are wrong")
    problems += [f"postings of term {tid} in block {block} are missing" for block, tid in expected]
    counted = dict(conn.execute("SELECT vid / ?, sum(live) FROM ix_docs GROUP BY 1", (BLOCK,)))
    for block, count in conn.execute("SELECT block, live FROM ix_blocks"):
        if count != (right := counted.get(block, 0)):
            problems.append(f"block {block} counts {count} current versions instead of {right}")
    return problems + _missing_versions(conn, live)


def _missing_versions(conn: sqlite3.Connection, indexed: dict[int, bool]) -> list[str]:
    if not conn.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'versions'").fetchone():
        return []
    stored = {vid for (vid,) in conn.execute("SELECT vid FROM versions")}
    problems = [f"version {vid} is not indexed" for vid in sorted(stored - indexed.keys())]
    return problems + [f"version {vid} is indexed but not stored" for vid in sorted(indexed.keys() - stored)]
