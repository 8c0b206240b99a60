"""Which workspace a folder belongs to.

A workspace is the main folder of the git repository that the client works in: worktrees of one repository share
it, two repositories of the same folder name do not. It is named by its canonical path, so a moved folder is a new
workspace. Outside of any repository there is none, unless a folder was named outright.
"""

from __future__ import annotations

from pathlib import Path


def workspace_of(folder: Path, *, named: bool = False) -> str | None:
    """Return the workspace that a folder belongs to, None outside of git; a folder `named` outright counts itself."""
    try:
        folder = folder.resolve()
        for place in (folder, *folder.parents):
            if (main := _main_folder(place)) is not None:
                return str(main)
    except OSError:
        return None
    return str(folder) if named else None


def _main_folder(place: Path) -> Path | None:
    """Return the main folder of the repository whose (work)tree begins at `place`."""
    git = place / ".git"
    if git.is_dir():
        return place
    if not git.is_file():
        return None
    head = git.read_text(encoding="utf-8", errors="replace").strip()
    if not head.startswith("gitdir:"):
        return place
    private = (place / head.removeprefix("gitdir:").strip()).resolve()
    common = private / "commondir"
    if not common.is_file():
        return place
    shared = (private / common.read_text(encoding="utf-8", errors="replace").strip()).resolve()
    return shared.parent if shared.name == ".git" else shared
