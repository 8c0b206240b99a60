"""Which form something to import has, and the plan for the forms that can be read."""

from __future__ import annotations

from datetime import tzinfo
from pathlib import Path

from engine.model.errors import invalid
from engine.transfer.forms import FORMS, form_of, read_head
from engine.transfer.gate import Gate
from engine.transfer.graph import GRAPHS, plan_graph
from engine.transfer.markdown_dir import plan_directory
from engine.transfer.plan import ImportPlan, Progress
from engine.transfer.walk import reason

MARKDOWN = "markdown"
UNKNOWN = "unknown"
READABLE = "Markdown files, directories of them, and graphs of the MCP memory server can be imported"


def detect(path: Path | str) -> str:
    """Return the form of a path: `markdown`, a key of `FORMS`, or `unknown`; a missing path is an error."""
    place = Path(path)
    if not place.exists():
        raise invalid(f"there is no file or directory {path}", "check the path")
    if place.is_dir() or place.suffix.lower() == ".md":
        return MARKDOWN
    if not place.is_file():
        return UNKNOWN
    try:
        return form_of(read_head(place)) or UNKNOWN
    except OSError as error:
        raise invalid(f"{path} cannot be read: {reason(error)}", "check the permissions") from error


def plan_import(
    path: Path | str,
    format: str | None = None,
    *,
    gate: Gate | None = None,
    progress: Progress | None = None,
    zone: tzinfo | None = None,
) -> ImportPlan:
    """Plan the import of a file or directory; a form that cannot be read is refused in one line that names it."""
    found = detect(path)
    wanted = format or found
    if wanted not in (MARKDOWN, UNKNOWN, *FORMS):
        raise invalid(f"unknown import format {wanted}", f"formats: {', '.join((MARKDOWN, *GRAPHS))}")
    if found in GRAPHS and wanted in GRAPHS:
        return plan_graph(Path(path), found, gate=gate, progress=progress, zone=zone)
    if found != MARKDOWN:
        what = FORMS.get(found, "of no form that is known")
        if found in GRAPHS:
            raise invalid(f"{Path(path).name} is {what}, not {wanted}", "leave the format out", form=found)
        raise invalid(f"{Path(path).name} is {what}; it cannot be imported as it is", READABLE, form=found)
    if wanted != MARKDOWN:
        raise invalid(f"{Path(path).name} is Markdown, not {wanted}", f"leave the format out, or say {MARKDOWN}")
    return plan_directory(Path(path), gate=gate, progress=progress, zone=zone)
