"""Looking at turns: cards, overviews, preferences, scenes, events by day, and which cards may be archived."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from engine.model.clock import LOCAL
from engine.model.enums import Kind, Mode, ReviewKind, Status
from engine.model.errors import invalid, not_found
from engine.model.memory import Caller, Filter, Memory
from engine.model.turns import Card, Event, EventDraft, Nomination, Preference, Recollection, TagTie
from engine.rules.decay import cleaning_weight
from engine.rules.perception import ROUTES, VOCABULARY, parts_of
from engine.store import turns as store
from engine.store.ephemeral import read_usage
from engine.store.review import open_item
from engine.store.rows import dump, load_memories
from engine.store.selection import Selection, list_selection, recall_selection
from engine.usecases.changing import require_owner
from engine.usecases.desk import Desk, current, resolve
from engine.usecases.turn_analysis import turn_of
from engine.usecases.turn_recall import recollect
from engine.usecases.turn_text import clean_text, thread_name

DAY_MS = 86_400_000.0
MOST_NOMINATED, LEAST_WEIGHT, LEAST_AGE_DAYS = 100, 0.3, 30
"""How many cards a clean-up names, and the weight below and the age above which it names one (W61)."""

TYPES, LEVELS = ("chat", "file", "action", "task", "system"), ("point", "step")


def card(desk: Desk, by: Caller, ref: str) -> Card:
    """Return a turn with all its fields; raises not_found for anything that is no turn (W3)."""
    memory, _ = _turn(desk, by, ref)
    turn = turn_of(memory)
    suffix = str(turn.get("suffix", ""))
    with desk.store.read() as conn:
        preferences = store.preferences_of(conn, [memory.id]).get(memory.id, ())
        usage = read_usage(conn, [memory.id]).get(memory.id)
        feedback = store.feedback_of(conn, [memory.id]).get(memory.id, "")
    ties = turn.get("relation_tags")
    accessed = _last_access(memory, usage.last_recall if usage else None)
    now = desk.store.clock.now_ms()
    return Card(
        id=store.CARD + suffix, memory=memory.id, record_id=store.RECORD + suffix, event_id=store.EVENT + suffix,
        thread=memory.thread or "", status=memory.status,
        perception={str(k): str(v) for k, v in memory.perception.items()}, scene=memory.scene,
        scene_sub=memory.scene_sub, content_tags=memory.tags,
        relation_tags=tuple(
            TagTie(str(t["from"]), str(t["to"]), float(t["strength"])) for t in (ties if isinstance(ties, list) else ())
        ),
        summary=memory.description, overview=memory.body, preferences=preferences,
        weight=_weight(memory, accessed, now), created_at=memory.recorded_ms, last_access_at=accessed,
        source_path=str(turn.get("path", "")), feedback=feedback, full_text="file" if turn.get("source") else "db",
        full_text_path=str(turn.get("source", "")),
    )  # fmt: skip


def _turn(desk: Desk, by: Caller, ref: str) -> tuple[Memory, Event]:
    memory = current(desk, by, resolve(desk, by, ref))
    with desk.store.read() as conn:
        event = store.event_of(conn, memory.id) if memory.kind is Kind.EPISODE else None
    if event is None:
        raise not_found(f"turn {ref[:60]!r}", "take the card's id from the answer to turn begin")
    return memory, event


def overview(desk: Desk, by: Caller, ref: str) -> str:
    """Return the overview of a turn by its id, reference or path (W59)."""
    return _turn(desk, by, ref)[0].body


def deliver(desk: Desk, by: Caller, ref: str, route: str = ROUTES[0]) -> Recollection:
    """Return a turn by depth: shallow its summary, medium the overview too, deep what was really said too (W52)."""
    if route not in ROUTES:
        raise invalid(f"depth {route[:40]!r} is not known", f"one of: {', '.join(ROUTES)}")
    memory, _ = _turn(desk, by, ref)
    with desk.store.read() as conn:
        return recollect(conn, [memory], {memory.id: (1.0, "")}, parts_of(route))[0]


def _visible(desk: Desk, by: Caller) -> Selection:
    now = desk.store.clock.now_ms()
    return recall_selection(
        by, Mode.CURRENT, Filter(), valid_ms=now, known=None, moved=False, everywhere=by.is_owner
    )  # fmt: skip


def preferences(desk: Desk, by: Caller) -> list[Preference]:
    """Return the newest value of each preference in what the caller may recall, by key (W55)."""
    chosen = _visible(desk, by)
    with desk.store.read() as conn:
        return store.preferences_where(conn, chosen.sql, chosen.values)


def scenes(desk: Desk, by: Caller) -> dict[str, tuple[str, ...]]:
    """Return the four scenes and those that memories name besides, each with its sub-scenes (W33)."""
    found: dict[str, dict[str, None]] = {scene: {} for scene in VOCABULARY["scene"]}
    chosen = _visible(desk, by)
    with desk.store.read() as conn:
        rows = conn.execute(
            f"SELECT DISTINCT v.scene, v.scene_sub FROM versions v WHERE v.scene <> '' AND {chosen.sql} ORDER BY 1, 2",
            chosen.values,
        ).fetchall()
    for scene, sub in rows:
        found.setdefault(scene, {}).update({sub: None} if sub else {})
    return {scene: tuple(subs) for scene, subs in found.items()}


# ------------------------------------------------------------------ events


def events(desk: Desk, by: Caller, day: str) -> list[Event]:
    """Return the events of a local day in the order of time; the owner's alone to see in full."""
    require_owner(by, "read the events of a day")
    begins, ends = _day(day)
    with desk.store.read() as conn:
        return store.events_where(conn, "e.at >= ? AND e.at < ?", begins, ends)


def event_steps(desk: Desk, by: Caller, parent: int) -> list[Event]:
    """Return the steps of an event in the order of time."""
    require_owner(by, "read events")
    with desk.store.read() as conn:
        return store.events_where(conn, "e.parent = ?", parent)


def event_days(desk: Desk, by: Caller) -> dict[str, int]:
    """Return how many events each local day has, newest first."""
    require_owner(by, "read events")
    with desk.store.read() as conn:
        rows = conn.execute("SELECT at FROM events WHERE op_to IS NULL ORDER BY at DESC").fetchall()
    return dict(Counter(datetime.fromtimestamp(at / 1000, LOCAL).date().isoformat() for (at,) in rows))


def add_event(desk: Desk, by: Caller, event: EventDraft) -> int:
    """Note an event; returns its number.

    Raises invalid_argument for an unknown type, level or status and for a step without a parent, not_found for a parent
    that is not there (W57).
    """
    for name, value, choices in (
        ("type", event.type, TYPES), ("level", event.level, LEVELS), ("status", event.status, tuple(Status)),
    ):  # fmt: skip
        if value not in choices:
            raise invalid(f"{name}={value[:40]!r} is not known", f"one of: {', '.join(choices)}")
    if (event.level == "step") is not (event.parent is not None):
        raise invalid("a step names its parent, and nothing else does", "give level=step and parent together")
    keep = desk.settings.flag("turns.keep_text")
    safe = {
        name: clean_text(desk.settings, by, text)[0]
        for name, text in (("input", event.input), ("response", event.response), ("context", event.context))
    }
    steps = [clean_text(desk.settings, by, step)[0] for step in event.steps]
    with desk.store.write(by, "event") as tx:
        if event.parent is not None and not store.events_where(tx.conn, "e.event_id = ?", event.parent):
            raise not_found(f"event {event.parent}", "see the events of the day")
        number = store.open_event(
            tx,
            {
                "type": event.type, "level": event.level, "parent": event.parent, "thread": thread_name(event.thread),
                "context": safe["context"], "steps": dump(steps), "status": event.status, "route": event.route,
                "rating": event.rating,
            },
            user_input=safe["input"] if keep else "", response=safe["response"] if keep else "",
        )  # fmt: skip
        tx.describe(f"event {number}: {event.type}")
    return number


def forget_events(desk: Desk, by: Caller, day: str) -> int:
    """Take the events of a local day out of the lists, as one operation that can be undone; returns how many."""
    require_owner(by, "delete the events of a day")
    found = events(desk, by, day)
    if not found:
        return 0
    with desk.store.write(by, "event_forget") as tx:
        number = store.close_events(tx, found)
        tx.describe(f"{number} events of {day} taken out")
    return number


def _day(day: str) -> tuple[int, int]:
    try:
        return store.day_bounds(day)
    except (ValueError, OverflowError):
        raise invalid(f"{day[:40]!r} is no day", "write it as 2026-11-29") from None


# ------------------------------------------------------------------ cleaning


def clean_turns(desk: Desk, by: Caller, *, propose: bool = False) -> list[Nomination]:
    """Return the completed cards whose weight sank below 0.3 and that are older than 30 days, lightest first (W61).

    Nothing is archived here: with `propose` the owner is asked, as one review item, which is decided like any other.
    """
    desk.backlog.flush()
    now = desk.store.clock.now_ms()
    chosen = list_selection(by, Filter(kinds=(Kind.EPISODE,)), valid_ms=None, known=None)
    with desk.store.read() as conn:
        ids = [r[0] for r in conn.execute(
            "SELECT v.memory_id FROM versions v JOIN memories m ON m.id = v.memory_id"
            f" WHERE m.recorded_at < ? AND v.status = 'completed' AND {chosen.sql}",
            (int(now - LEAST_AGE_DAYS * DAY_MS), *chosen.values),
        )]  # fmt: skip
        usage = read_usage(conn, ids)
        cards = [m for m in load_memories(conn, ids, bodies=False) if not m.locked and not m.baseline]
    found = [_nomination(m, usage[m.id].last_recall if m.id in usage else None, now) for m in cards]
    light = sorted((n for n in found if n.weight < LEAST_WEIGHT), key=lambda n: (n.weight, n.memory))[:MOST_NOMINATED]
    if light and propose:
        _propose(desk, by, light)
    return light


def _nomination(memory: Memory, recalled: int | None, now: int) -> Nomination:
    idle = None if recalled is None else (now - recalled) / DAY_MS
    age = (now - memory.recorded_ms) / DAY_MS
    return Nomination(memory.id, memory.description, cleaning_weight(age, idle), age, idle)


def _propose(desk: Desk, by: Caller, light: Sequence[Nomination]) -> None:
    ids = [n.memory for n in light]
    with desk.store.write(by, "nominate") as tx:
        open_item(
            tx, ReviewKind.FORGET_REQUEST, "clean:turns", title=f"archive {len(ids)} turns that nobody came back to",
            evidence={"reason": "weight", "asked_by": by.actor, "weights": [round(n.weight, 3) for n in light[:20]]},
            proposal={"ids": ids, "how": "archive"},
        )  # fmt: skip
        tx.describe(f"{len(ids)} turns named for the archive")


def _last_access(memory: Memory, recalled: int | None) -> int | None:
    ended = memory.known_from_ms if memory.status is Status.COMPLETED else None
    return recalled if ended is None or (recalled is not None and recalled > ended) else ended


def _weight(memory: Memory, accessed: int | None, now: int) -> float:
    idle = None if accessed is None else (now - accessed) / DAY_MS
    return cleaning_weight((now - memory.recorded_ms) / DAY_MS, idle)
