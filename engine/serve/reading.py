"""The tools that only read: context, recall, read and status."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from engine.model.enums import Channel, Kind, Mode, Scope, Type
from engine.model.errors import MemdeckError, invalid
from engine.model.memory import Filter, Page, RecallQuery
from engine.serve.arguments import NEEDED, UNLISTED, Revision, says
from engine.serve.call import Answer, Call
from engine.serve.shapes import RESULT_TOKENS, hit_lines, join_lines, page_of, weigh
from engine.serve.times import end_of

DEFAULT_HITS = 8
_FRAME_TOKENS = 60
_PAGE_TOKENS = 75
_BYTES_A_TOKEN = 4.5
_LEAST_BYTES = 120
_LEAST_ROOM = 40.0
_WIDE = 1000.0
_MOST_REFS = 20
_LONG_LIST = 10


class Context(Struct, frozen=True, kw_only=True):
    """Arguments of context."""

    question: Annotated[str, says("what you are about to do")] = ""
    max_tokens: Annotated[int, Meta(ge=50, le=20_000)] | None = None
    depth: Annotated[Literal["shallow", "medium", "deep"] | None, UNLISTED] = None
    expand: Annotated[bool, UNLISTED] = False
    fresh: Annotated[bool, UNLISTED] = False


_DEPTHS = {"shallow": "summary", "medium": "detail", "deep": "full"}
"""How much of each memory a pack shows, in the words of W52."""


class Recall(Struct, frozen=True, kw_only=True):
    """Arguments of recall; modes strict, historical and belief are C3's words for current with or without a time."""

    query: Annotated[str, NEEDED] = ""
    at: Annotated[str, says("what was true then")] = ""
    known_at: Annotated[str, says("what was believed then")] = ""
    mode: Annotated[
        Literal["current", "associative", "archived", "strict", "historical", "belief"] | None,
        says("associative: at any time", values=["current", "associative", "archived"]),
    ] = None
    topic: str = ""
    tags: list[str] = []
    everywhere: Annotated[bool, says("all workspaces")] = False
    why: bool = False
    limit: Annotated[int, Meta(ge=1, le=100)] | None = None
    cursor: str = ""
    topics: Annotated[list[str], UNLISTED] = []
    types: Annotated[list[Literal["user", "feedback", "project", "reference"]], UNLISTED] = []
    kinds: Annotated[list[Literal["fact", "episode", "note", "correction", "reflection"]], UNLISTED] = []
    scope: Annotated[Literal["global", "workspace", "session", "all"] | None, UNLISTED] = None
    expand: Annotated[bool, UNLISTED] = False
    channel: Annotated[Literal["fused", "text", "tags", "graph"] | None, UNLISTED] = None
    seeds: Annotated[list[str], UNLISTED] = []
    hops: Annotated[int, Meta(ge=0, le=5), UNLISTED] = 2
    days: Annotated[float, Meta(gt=0), UNLISTED] | None = None
    session: Annotated[str, UNLISTED] = ""
    scene: Annotated[str, UNLISTED] = ""
    scene_sub: Annotated[str, UNLISTED] = ""


class Read(Struct, frozen=True, kw_only=True):
    """Arguments of read."""

    refs: Annotated[list[str], says("mem-7 or mem-7@3", form='a list of references: ["mem-7"]')]
    part: Annotated[Literal["body", "overview", "full", "history"], says("full: with all fields")] = "body"
    start_line: Annotated[int, Meta(ge=1)] = 1
    max_bytes: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    revision: Annotated[Revision | None, UNLISTED] = None


class Status(Struct, frozen=True, kw_only=True):
    """Arguments of status."""

    view: Literal["stats", "session", "audit", "conflicts", "topics"] = "stats"


_GIVEN_ALREADY = "the same question as just before: its notes were given already; fresh=true gives all of them again"


def context(call: Call, args: Context) -> Answer:
    """Return the text that an agent should read now, and which memories it holds."""
    more: dict[str, Any] = {"depth": _DEPTHS[args.depth]} if args.depth else {}
    more |= {name: True for name in ("expand", "fresh") if getattr(args, name)}
    pack = call.engine.context(call.caller, args.question, max_tokens=args.max_tokens, **more)
    data: dict[str, object] = {
        "text": pack.text,
        "tokens": pack.tokens,
        "injected": [f"mem-{id}" for id in pack.injected],
    }
    if pack.omitted:
        data["omitted"] = len(pack.omitted)
    return Answer(data, (_GIVEN_ALREADY,) if pack.repeated else ())


def recall(call: Call, args: Recall) -> Answer:
    """Search: one line per hit, the exact number of further ones and the cursor that continues (S32)."""
    topics = (args.topic, *args.topics) if args.topic else tuple(args.topics)
    if not (args.query.strip() or topics or args.tags or args.seeds or args.channel == "graph"):
        raise invalid("query is missing", "give query as words or a question", parameter="query")
    before, cursor = _cursor(args.cursor)
    mode, at_ms, known_ms = _time_mode(args, call.engine.now_ms())
    query = RecallQuery(
        text=args.query,
        mode=mode,
        at_ms=at_ms,
        known_ms=known_ms,
        filter=Filter(
            types=tuple(map(Type, args.types)),
            kinds=tuple(map(Kind, args.kinds)),
            tags=tuple(args.tags),
            topics=topics,
            scopes=(Scope(args.scope),) if args.scope and args.scope != "all" else (),
        ),
        everywhere=args.everywhere or args.scope == "all",
        limit=args.limit or DEFAULT_HITS,
        cursor=cursor,
        why=args.why,
        channel=Channel(args.channel or "fused"),
        seeds=tuple(args.seeds),
        hops=args.hops,
        days=args.days,
        session=args.session or None,
        expand=args.expand,
        scene=args.scene,
        scene_sub=args.scene_sub,
    )
    page = call.engine.recall(call.caller, query)
    shown = before + min(len(page.hits), query.limit)  # what a topic brings along comes on top
    hits = hit_lines(page.hits, asked_for_more=args.limit is not None or args.why, why=args.why)
    data: dict[str, object] = {"hits": hits, "more": 0}
    notes = page.notes
    if page.next_cursor is not None:
        data |= {"more": page.total - shown, "cursor": f"{shown}.{page.next_cursor}"}
        notes = (*notes, f"{page.total - shown} more: recall again with this cursor")
    if page.missing_tags:
        data["missing_tags"] = list(page.missing_tags[:_LONG_LIST])
    if page.malformed_tags and (args.tags or args.channel == "tags"):
        data["malformed_tags"] = list(page.malformed_tags[:_LONG_LIST])
    return Answer(data, notes)


def _cursor(text: str) -> tuple[int, str | None]:
    """Split a cursor into how many hits came before and the engine's own."""
    if not text:
        return 0, None
    before, dot, cursor = text.partition(".")
    if not dot or not before.isdecimal() or len(before) > 9:
        raise invalid("cursor is not understood", "take cursor from the result before, unchanged", parameter="cursor")
    return int(before), cursor


def _time_mode(args: Recall, now_ms: int) -> tuple[Mode, int | None, int | None]:
    """Fold modes and times into one question on the two time axes (C3); a clash names its fix."""
    at, known = end_of("at", args.at, now_ms), end_of("known_at", args.known_at, now_ms)
    mode = args.mode or ("associative" if args.expand and at is None and known is None else "current")
    if mode == "belief" and known is None:
        at, known = None, at
    if (mode == "belief" and known is None) or (mode == "historical" and at is None and known is None):
        wanted = "known_at" if mode == "belief" else "at"
        raise invalid(f"mode {mode} needs {wanted}", f"give {wanted} as a date: 2026-05-01", parameter=wanted)
    if mode in ("archived", "associative", "strict") and (at is not None or known is not None):
        given = "at" if args.at else "known_at"
        raise invalid(
            f"{given} and mode={mode} exclude each other",
            f"leave out mode to ask about that time, or leave out {given}",
            parameter=given,
        )
    return Mode(mode) if mode in ("archived", "associative") else Mode.CURRENT, at, known


def read(call: Call, args: Read) -> Answer:
    """Return bodies by line with their revision; a stale revision gives no content (S33)."""
    refs = args.refs
    if not 0 < len(refs) <= _MOST_REFS:
        raise invalid(f"refs must name 1 to {_MOST_REFS} memories", 'for example refs=["mem-7"]', parameter="refs")
    if len(refs) > 1 and (args.start_line > 1 or args.revision is not None):
        raise invalid("start_line and revision go with one reference", "read one memory at a time")
    room = max(_LEAST_ROOM, (RESULT_TOKENS - _FRAME_TOKENS) / len(refs) - _PAGE_TOKENS)
    notes: list[str] = []
    pages: list[dict[str, object]] = []
    failures: list[MemdeckError] = []
    for ref in refs:
        pinned = f"{ref}@{args.revision}" if args.revision is not None and "@" not in ref else ref
        try:
            page, max_bytes = _page(call, args, pinned, room)
        except MemdeckError as error:
            failures.append(error)
            continue
        pages.append(page_of(page, _WIDE if args.max_bytes or len(refs) == 1 else room / 2))
        if page.start_line == page.end_line and len(page.text.encode()) > max_bytes - 4:
            notes.append(f"line {page.start_line} of {page.ref} may go on: ask for more max_bytes")
    if not pages:
        raise failures[0]
    warnings = tuple(f"{e.code}: {join_lines(e.message)}" for e in failures)
    return Answer({"pages": pages}, tuple(notes), warnings)


def _page(call: Call, args: Read, ref: str, room: float) -> tuple[Page, int]:
    """Read as many bytes as asked for, else what costs about `room` tokens; return the bytes that were allowed, too."""
    max_bytes = args.max_bytes or int(max(_LEAST_BYTES, room * _BYTES_A_TOKEN))
    while True:
        page = call.engine.read(call.caller, ref, part=args.part, start_line=args.start_line, max_bytes=max_bytes)
        weight = weigh(page.text) + min(weigh(page.memory.description), room / 2)
        if args.max_bytes or weight <= room or max_bytes == _LEAST_BYTES:
            return page, max_bytes
        max_bytes = max(_LEAST_BYTES, int(max_bytes * room / weight * 0.95))


def status(call: Call, args: Status) -> Answer:
    """Return numbers, checks or lists; long lists are cut with how many more there are."""
    notes = []
    data = dict(call.engine.status(call.caller, args.view))
    for name, value in data.items():
        if isinstance(value, list | tuple) and len(value) > _LONG_LIST:
            data[name] = list(value[:_LONG_LIST])
            notes.append(f"{name}: {len(value) - _LONG_LIST} more")
    return Answer(data, tuple(notes))
