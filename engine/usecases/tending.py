"""What a store needs now and then while a process is open on it: audit log, snapshot of the day, check of the day."""

from __future__ import annotations

import json
import logging
from contextlib import suppress

from engine.model.errors import MemdeckError
from engine.model.records import Finding
from engine.store import checks, snapshots
from engine.store.audit import export_audit
from engine.usecases.desk import Desk

log = logging.getLogger("memdeck.upkeep")

CHECK_EVERY_MS = 86_400_000
"""A check in the background comes at most once a day."""
CURSOR = "last_check"


def tend(desk: Desk) -> list[Finding]:
    """Do what is due and return what the check of the day found wrong; empty when it was not due or all is well.

    Each part goes on without the others: a full disk that stops a snapshot does not stop the check.
    """
    if desk.store.read_only:
        return []
    keep = desk.settings.number("snapshots.keep_auto")
    for part in (export_audit, lambda store: snapshots.daily_snapshot(store, keep)):
        try:
            part(desk.store)
        except MemdeckError as error:
            log.warning("%s", error.message)
    return _check_of_the_day(desk)


def _check_of_the_day(desk: Desk) -> list[Finding]:
    now = desk.store.clock.now_ms()
    before = last_check(desk)
    if before is not None and 0 <= now - before[0] < CHECK_EVERY_MS:
        return []
    try:
        wrong = [f for f in checks.check_store(desk.store, deep=True) if f.level in ("error", "warning")]
        _remember(desk, now, wrong)
    except MemdeckError as error:
        wrong = [Finding("error", "database", error.message, error.hint)]
    for finding in wrong:
        log.warning("%s: %s; %s", finding.check, finding.message, finding.mend)
    return wrong


def _remember(desk: Desk, now: int, wrong: list[Finding]) -> None:
    value = json.dumps({"at": now, "wrong": [[f.level, f.check, f.message, f.mend] for f in wrong]}, ensure_ascii=False)
    with desk.store.exclusive() as conn:
        conn.execute(
            "INSERT INTO cursors (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (CURSOR, value),
        )


def last_check(desk: Desk) -> tuple[int, list[Finding]] | None:
    """Return when the store was checked last (UTC milliseconds) and what was wrong then; None before that."""
    with desk.store.read() as conn:
        row = conn.execute("SELECT value FROM cursors WHERE name = ?", (CURSOR,)).fetchone()
    if row is None:
        return None
    with suppress(ValueError, KeyError, TypeError):
        found = json.loads(row[0])
        return int(found["at"]), [Finding(*parts) for parts in found["wrong"]]
    return None
