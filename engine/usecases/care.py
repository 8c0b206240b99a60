"""Care of the store: snapshots, restore, doctor, and recovery of a damaged file."""

from __future__ import annotations

import os
from pathlib import Path

from engine.model.clock import SystemClock, iso
from engine.model.errors import MemdeckError, not_found
from engine.model.memory import Caller
from engine.model.records import Finding, SnapshotInfo
from engine.store import checks, restore, snapshots
from engine.store.audit import export_audit
from engine.store.connection import DATABASE, Store
from engine.usecases.changing import require_owner
from engine.usecases.desk import Desk
from engine.usecases.forgetting import wipe_free_space


def create_snapshot(desk: Desk, by: Caller, reason: str = "") -> SnapshotInfo:
    """Make a verified copy of the store now; it stays until the owner deletes it."""
    require_owner(by, "make a snapshot")
    return snapshots.make_snapshot(desk.store, kind="manual", reason=reason or "by hand")


def delete_snapshot(desk: Desk, by: Caller, name: str) -> SnapshotInfo:
    """Delete a snapshot for good, with everything that only it still holds; the owner only."""
    require_owner(by, "delete a snapshot")
    if desk.store.read_only:
        raise MemdeckError(
            "read_only", f"{desk.store.directory} is open for reading only", "make it writable or use --store DIR"
        )
    return snapshots.delete_snapshot(desk.store, name)


def restore_snapshot(desk: Desk, by: Caller, name: str) -> restore.Restored:
    """Bring the store back to a snapshot; a protection snapshot is made first."""
    require_owner(by, "restore a snapshot")
    return restore.restore_snapshot(desk.store, name, by)


def doctor(desk: Desk, *, fix: bool = False, deep: bool = True, reindex: bool = False) -> list[Finding]:
    """Check everything and say what is wrong and how to mend it; `fix` mends what can be mended without a choice."""
    if reindex:
        count = checks.rebuild_index(desk.store)
        reindexed = [Finding("ok", "reindex", f"the search index was rebuilt from {count} versions", fixed=True)]
    else:
        reindexed = []
    found = checks.check_store(desk.store, deep=deep)
    found += [Finding("hint", "settings", note, "correct config.yaml") for note in desk.settings.notes]
    if fix and not desk.store.read_only:
        found = [_fix(desk, finding) for finding in found]
        export_audit(desk.store)
    return [*reindexed, *found]


def _fix(desk: Desk, finding: Finding) -> Finding:
    if finding.level in ("ok", "hint"):
        return finding
    if finding.check in ("index", "graph"):
        count = checks.rebuild_index(desk.store)
        return Finding("ok", finding.check, f"rebuilt from {count} versions", fixed=True)
    if finding.check == "permissions":
        os.chmod(desk.store.directory, 0o700)
        return Finding("ok", "permissions", "only you can open the store now", fixed=True)
    if finding.check == "expunge" and wipe_free_space(desk):
        return Finding("ok", "expunge", "the erasure is finished", fixed=True)
    return finding


def examine(directory: Path) -> list[Finding]:
    """Say what is wrong with a store that cannot be opened, and which snapshot is the newest good one."""
    path = directory / DATABASE
    if not path.exists():
        raise not_found(f"a store in {directory}", "check --store or --profile")
    problem = checks.is_damaged(path)
    if not problem:
        return []
    store = Store(directory, read_only=True)
    good = next((s for s in snapshots.list_snapshots(store) if snapshots.verify_snapshot(store, s.name).good), None)
    if good is None:
        mend = "no good snapshot was found; keep the file and ask for help"
    else:
        saved = f"{good.memories} memories of {iso(good.at_ms)}"
        mend = f"`memdeck snapshot restore {good.name}` sets the damaged file aside and brings back {saved}"
    return [Finding("error", "database", f"{path} is damaged ({problem})", mend)]


def recover(directory: Path, name: str) -> Path:
    """Put a good snapshot in the place of a damaged database; returns where the damaged file was set aside (C41)."""
    stamp = iso(SystemClock().now_ms())[:19].replace(":", "").replace("-", "")
    aside = directory / f"{DATABASE}.damaged-{stamp}"
    restore.recover_content(Store(directory), name, aside)
    return aside
