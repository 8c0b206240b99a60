"""Reading: one memory by line, its history, lists of any length, recall, counts and status."""

from __future__ import annotations

import base64
import hashlib
import json
import sqlite3
from array import array
from collections import Counter
from collections.abc import Collection, Sequence

from engine.model.clock import iso
from engine.model.enums import Kind, ReviewKind, State
from engine.model.errors import MemdeckError, invalid, not_found
from engine.model.memory import NOW, AsOf, Caller, Filter, Hit, Memory, Page, RecallPage, RecallQuery
from engine.model.records import Counts, Named, TombstoneInfo
from engine.recall.fuse import search
from engine.recall.text import TextHit
from engine.rules.textnorm import one_line
from engine.store import journal, review, selection
from engine.store.rows import load_memories, load_versions, marks
from engine.store.tag_lists import NOBODY, uses
from engine.store.turns import event_of
from engine.usecases.ageing import dormant_of
from engine.usecases.asking import ask
from engine.usecases.desk import Desk, may_see, require_whole, resolve
from engine.usecases.explaining import with_receipts
from engine.usecases.siblings import with_siblings

PARTS = ("body", "overview", "full", "history")


def get(desk: Desk, by: Caller, ref_text: str, as_of: AsOf = NOW) -> Memory:
    """Return a memory as it is, or as it was known at a moment; raises not_found."""
    ref = resolve(desk, by, ref_text)
    with desk.store.read() as conn:
        known = None if as_of.known_ms is None else journal.operation_at(conn, as_of.known_ms)
        found = load_memories(conn, [ref.id], known=known)
    if not found or not (may_see(by, found[0]) if known is None else True):
        raise not_found(
            f"mem-{ref.id}", "it was not known at that moment" if known is not None else "see `memdeck history`"
        )
    return found[0]


def history(desk: Desk, by: Caller, ref_text: str) -> list[Memory]:
    """Return every version of a memory, oldest first."""
    ref = resolve(desk, by, ref_text)
    with desk.store.read() as conn:
        return load_versions(conn, ref.id)


def read(
    desk: Desk,
    by: Caller,
    ref_text: str,
    *,
    part: str = "body",
    start_line: int = 1,
    max_bytes: int = 8192,
    as_of: AsOf = NOW,
) -> Page:
    """Return a piece of a memory's text by whole lines (S33).

    A reference with a revision that is no longer current raises `revision_changed` without content. A single line
    longer than `max_bytes` is cut at a character. `part` is one of PARTS.
    """
    if part not in PARTS:
        raise invalid(f"part={part!r} is not known", f"one of: {', '.join(PARTS)}")
    if start_line < 1 or max_bytes < 1:
        raise invalid("start_line and max_bytes count from 1", "leave them out to read from the start")
    ref = resolve(desk, by, ref_text)
    memory = require_whole(get(desk, by, f"mem-{ref.id}", as_of))
    if ref.revision is not None and ref.revision != memory.revision and as_of.is_now:
        raise MemdeckError(
            "revision_changed",
            f"mem-{memory.id} is at revision {memory.revision}, not {ref.revision}",
            f"read mem-{memory.id} again without a revision",
        )
    lines = _text_of(desk, by, memory, part).split("\n")
    if start_line > len(lines):
        raise invalid(f"there is no line {start_line}; the text has {len(lines)}", "start at 1")
    taken: list[str] = []
    size = 0
    for line in lines[start_line - 1 :]:
        size += len(line.encode()) + 1
        if size > max_bytes and taken:
            break
        taken.append(line if size <= max_bytes else line.encode()[:max_bytes].decode("utf-8", "ignore"))
    end = start_line + len(taken) - 1
    whole = "\n".join(lines)
    return Page(
        memory.ref,
        part,
        "\n".join(taken),
        start_line,
        end,
        len(lines),
        len(whole.encode()),
        end + 1 if end < len(lines) else None,
        memory,
    )


def _text_of(desk: Desk, by: Caller, memory: Memory, part: str) -> str:
    if part == "overview":
        return memory.body if memory.kind is Kind.EPISODE and memory.body else memory.description
    if part == "full":
        said = _said(desk, memory) if memory.kind is Kind.EPISODE else ""
        return "\n\n".join(text for text in (memory.description, memory.body, said) if text)
    if part == "history":
        return "\n".join(
            f"@{m.revision} {iso(m.known_from_ms)} {m.origin.value} {m.actor}: {m.description}"
            for m in history(desk, by, f"mem-{memory.id}")
        )
    return memory.body or memory.description


def _said(desk: Desk, memory: Memory) -> str:
    """Return what was really said in a turn (W52)."""
    with desk.store.read() as conn:
        event = event_of(conn, memory.id)
    return event.said if event else ""


def memory_ids(desk: Desk, by: Caller, flt: Filter, as_of: AsOf = NOW, order: str = "newest") -> array[int]:
    """Return the ids of a list as 64-bit integers; the owner sees every scope."""
    if order not in selection.ORDERS:
        raise invalid(f"order={order!r} is not known", f"one of: {', '.join(selection.ORDERS)}")
    with desk.store.read() as conn:
        return selection.memory_ids(conn, _list_selection(conn, by, flt, as_of), order)


def _list_selection(conn: sqlite3.Connection, by: Caller, flt: Filter, as_of: AsOf) -> selection.Selection:
    known = None if as_of.known_ms is None else journal.operation_at(conn, as_of.known_ms)
    valid = as_of.valid_ms if as_of.valid_ms is not None else as_of.known_ms
    return selection.list_selection(by, flt, valid_ms=valid, known=known)


def memory_rows(desk: Desk, by: Caller, ids: Sequence[int], as_of: AsOf = NOW, bodies: bool = False) -> list[Memory]:
    """Return the rows of a page of a list, in order; what is gone meanwhile is left out."""
    with desk.store.read() as conn:
        known = None if as_of.known_ms is None else journal.operation_at(conn, as_of.known_ms)
        if known is not None and not by.is_owner:
            # What was forgotten since is not shown to agents as known then either.
            ids = [m.id for m in load_memories(conn, ids, bodies=False) if may_see(by, m)]
        return [m for m in load_memories(conn, ids, known=known, bodies=bodies) if may_see(by, m)]


def recall(desk: Desk, by: Caller, query: RecallQuery) -> RecallPage:
    """Return the memories that answer a question, best first, with an exact total and a cursor (S32).

    Time mode, state, scope and filter come before any scoring. `at` alone means true then, `known_at` alone believed
    then. `channel` chooses how matches are scored (R11). With `why` each hit says its rank in every channel. Raises
    invalid_argument for a cursor of another question, and for a question that cannot be answered.
    """
    with desk.store.read() as conn:
        asked = ask(desk, conn, by, query)
        known, cue, offset = asked.known, asked.cue, _offset(query, by)
        result = search(
            conn, query, where=asked.candidates(), known=known, offset=offset, now_ms=asked.valid_ms, cue=cue
        )
        vids = [hit.vid for hit in result.hits]
        ids = {
            r[0]: r[1]
            for r in conn.execute(
                "SELECT vid, memory_id FROM versions WHERE vid IN (SELECT value FROM json_each(?))", (json.dumps(vids),)
            )
        }
        memories = {m.id: m for m in load_memories(conn, [ids[v] for v in vids], known=known)}
        asleep = dormant_of(desk, conn, list(memories))
        hits = tuple(_hit(hit, memories[ids[hit.vid]], asleep) for hit in result.hits if ids[hit.vid] in memories)
        if query.why and hits:
            hits = with_receipts(desk, conn, asked, {number: vid for vid, number in ids.items()}, hits)
        seen = offset + len(hits)
        if query.expand and not offset:
            hits = with_siblings(conn, asked, hits)
    cursor = _cursor(query, by, seen) if seen < result.total else None
    notes = tuple(f"tag_deprecated: {name!r} finds nothing" for name in cue.dropped)
    return RecallPage(hits, result.total, cursor, notes, cue.missing, cue.malformed)


def _hit(hit: TextHit, memory: Memory, asleep: Collection[int] = ()) -> Hit:
    passage = ""
    if hit.lines:
        passage = "\n".join(memory.body.split("\n")[hit.lines[0] - 1 : hit.lines[1]])
    said = f"{hit.field}: {', '.join(hit.terms[:6])}" if hit.terms else "" if hit.why else hit.field
    label = "dormant" if memory.id in asleep else ""
    why = "; ".join(part for part in (said, hit.why, label) if part)
    return Hit(memory, hit.score, why, hit.lines, passage, {"matched": list(hit.terms), **hit.parts})


def _signature(query: RecallQuery, by: Caller) -> str:
    key = json.dumps(
        [
            query.text,
            query.mode,
            query.at_ms,
            query.known_ms,
            repr(query.filter),
            query.everywhere,
            query.channel,
            query.seeds,
            query.hops,
            query.days,
            query.session,
            query.scene,
            query.scene_sub,
            by.workspace,
        ],
        ensure_ascii=False,
    )
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:10]


def _cursor(query: RecallQuery, by: Caller, offset: int) -> str:
    return base64.urlsafe_b64encode(f"{offset}.{_signature(query, by)}".encode()).decode().rstrip("=")


def _offset(query: RecallQuery, by: Caller) -> int:
    if not query.cursor:
        return 0
    wrong = invalid("this cursor belongs to another question", "repeat the question without it")
    try:
        padded = query.cursor + "=" * (-len(query.cursor) % 4)
        offset, signature = base64.urlsafe_b64decode(padded.encode("ascii")).decode("ascii").split(".")
    except (ValueError, UnicodeError):
        raise wrong from None
    if signature != _signature(query, by) or not offset.isdecimal() or len(offset) > 12:
        raise wrong
    return int(offset)


def counts(desk: Desk, by: Caller) -> Counts:
    """Return the numbers of the status line; each equals the length of the list that it names (C51)."""
    now = desk.store.clock.now_ms()
    with desk.store.read() as conn:
        by_state = dict(
            conn.execute("SELECT s.state, count(*) FROM states s WHERE s.op_to IS NULL GROUP BY s.state").fetchall()
        )
        # Counting all of a type and taking off the few that are not active costs one pass over an index.
        by_type = Counter(
            dict(conn.execute("SELECT type, count(*) FROM versions WHERE op_to IS NULL GROUP BY type").fetchall())
        )
        others = [s.value for s in State if s is not State.ACTIVE]
        by_type -= Counter(
            dict(
                conn.execute(
                    "SELECT v.type, count(*) FROM states s JOIN versions v ON v.memory_id = s.memory_id"
                    f" AND v.op_to IS NULL WHERE s.op_to IS NULL AND s.state IN ({marks(len(others))}) GROUP BY v.type",
                    others,
                ).fetchall()
            )
        )
        topics = conn.execute("SELECT count(*) FROM topics WHERE op_to IS NULL AND status = 'active'").fetchone()[0]
        tags = conn.execute(f"SELECT count(*) FROM tags t WHERE {_LISTED}").fetchone()[0]
        waiting = review.count_by_kind(conn, now)
    return Counts(
        memories=by_state.get(State.ACTIVE.value, 0), topics=topics, tasks=0, rules=0, tags=tags,
        review=sum(waiting.values()), by_state=by_state, by_type=dict(by_type), review_by_kind=waiting,
    )  # fmt: skip


_LISTED = (
    "t.op_to IS NULL AND t.status IN ('active', 'unexamined') AND (t.source <> 'system'"
    " OR EXISTS (SELECT 1 FROM memory_tags l WHERE l.tag_id = t.tag_id AND l.op_to IS NULL))"
)
"""Tags that are recalled by themselves; a system tag counts once a memory carries it."""


def tags(desk: Desk) -> list[Named]:
    """Return the tags that are recalled, with how many current memories carry each, most used first."""
    with desk.store.read() as conn:
        rows = conn.execute(
            f"SELECT t.tag_id, t.code, t.name, t.status, t.definition, t.synonyms FROM tags t WHERE {_LISTED}"
        ).fetchall()
        use = uses(conn)
    named = [
        Named(r[1], r[2], use.get(r[0], NOBODY).cards, r[3], r[4], tuple(dict(json.loads(r[5])).values())) for r in rows
    ]
    return sorted(named, key=lambda tag: (-tag.count, tag.name))


def topics(desk: Desk) -> list[Named]:
    """Return all topics with how many current memories stand under each, by name."""
    with desk.store.read() as conn:
        rows = conn.execute(
            "SELECT t.code, t.name, (SELECT count(*) FROM memory_topics l JOIN states s ON s.memory_id = l.memory_id"
            " AND s.op_to IS NULL AND s.state = 'active' WHERE l.topic_id = t.topic_id AND l.op_to IS NULL), t.status,"
            " t.description, t.aliases FROM topics t WHERE t.op_to IS NULL ORDER BY t.name"
        ).fetchall()
    return [Named(r[0], r[1], r[2], r[3], r[4], tuple(json.loads(r[5]))) for r in rows]


def tombstones(desk: Desk) -> list[TombstoneInfo]:
    """Return what stays forgotten, newest first, with how often it was blocked since."""
    with desk.store.read() as conn:
        rows = conn.execute(
            "SELECT t.fingerprint, t.memory_id, t.reason, o.at, coalesce(b.times, 0) FROM tombstones t"
            " JOIN operations o ON o.op = t.op_from LEFT JOIN blocked b ON b.fingerprint = t.fingerprint"
            " WHERE t.op_to IS NULL ORDER BY t.vid DESC"
        ).fetchall()
    return [TombstoneInfo(r[0].hex(), r[1], r[2], r[3], r[4]) for r in rows]


VIEWS = ("stats", "session", "audit", "conflicts", "topics")


def status(desk: Desk, by: Caller, view: str = "stats") -> dict[str, object]:
    """Return numbers and short lists as plain values; `view` is one of VIEWS."""
    if view not in VIEWS:
        raise invalid(f"view={view!r} is not known", f"one of: {', '.join(VIEWS)}")
    now = desk.store.clock.now_ms()
    if view == "topics":
        return {"topics": [{"name": t.name, "memories": t.count} for t in topics(desk) if t.state == "active"]}
    with desk.store.read() as conn:
        if view == "conflicts":
            kinds = [ReviewKind.AUTHORITY, ReviewKind.CONTRADICTION]
            ids = review.item_ids(conn, kinds=kinds, states=["open"], now_ms=now)
            items = review.load_items(conn, ids[:50])
            return {
                "conflicts": [
                    {"review": i.id, "new": i.memory_id, "current": i.rival_id, "text": one_line(i.title)}
                    for i in items
                ],
                "total": len(ids),
            }
        if view == "session":
            rows = conn.execute(
                "SELECT kind, count(*) FROM operations WHERE session IS ? GROUP BY kind", (by.session,)
            ).fetchall()
            return {"session": by.session, "workspace": by.workspace, "agent": by.actor, "operations": dict(rows)}
        if view == "audit":
            ops = journal.operations(conn, limit=20)
            return {
                "operations": [
                    {"op": o.op, "at": iso(o.at_ms), "kind": o.kind, "door": o.origin.value, "by": o.actor} for o in ops
                ]
            }
    numbers = counts(desk, by)
    return {
        "store": desk.store.directory.name, "memories": numbers.memories, "by_type": dict(numbers.by_type),
        "by_state": {k: v for k, v in numbers.by_state.items() if by.is_owner or k not in ("deleted", "quarantined")},
        "topics": numbers.topics, "tags": numbers.tags, "waiting_for_owner": numbers.review,
        "waiting_by_kind": dict(numbers.review_by_kind), "time": iso(now),
    }  # fmt: skip
