"""The command edit: single fields by option, or the whole memory in the owner's editor."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path

import click

from engine.model.clock import iso
from engine.model.errors import MemdeckError, invalid
from engine.model.memory import Memory
from tui.commands import base
from tui.commands.base import flat, t
from tui.commands.times import SINCE
from tui.commands.writing import text_of, write_lines

LISTS = ("tags", "topics", "aliases")
TIMES = ("valid_from", "valid_to")
FIELDS = ("description", "name", "type", "kind", "subject", *LISTS, *TIMES, "status")
"""What the editor shows above the body, in this order."""


@base.command("edit", help="cli.edit.help")
@click.argument("ref")
@base.option("--text", help="cli.edit.text")
@base.option("--body", help="cli.edit.body")
@base.option("--body-file", type=click.Path(dir_okay=False, allow_dash=True), help="cli.remember.body_file")
@base.option("--field", "fields", nargs=2, multiple=True, metavar="NAME VALUE", help="cli.edit.field")
@base.option("--reason", default="", help="cli.edit.reason")
def edit_command(
    ref: str,
    text: str | None,
    body: str | None,
    body_file: str | None,
    fields: tuple[tuple[str, str], ...],
    reason: str,
) -> None:
    """Change a memory; without options its text opens in $EDITOR."""
    by = base.caller()
    changes: dict[str, object] = {name: field(name, value) for name, value in fields}
    changes |= {} if text is None else {"description": text}
    changes |= {} if body is None else {"body": body}
    changes |= {} if body_file is None else {"body": text_of(body_file)}
    with base.opened() as engine:
        memory = engine.get(by, ref)
        draft = None if changes else in_editor(memory)
        if draft is not None:
            changes = changed(memory, draft)
            if not changes:
                base.note(t("cli.edit.unchanged"))
                return
        # A reference without a revision means the text that was just read.
        target = ref if "@" in ref else memory.ref
        try:
            result = engine.edit(by, target, changes, reason=reason)
        except MemdeckError as error:
            if draft is not None:
                error.hint = flat(f"{error.hint} {t('cli.edit.kept', path=keep(memory, draft))}")
            raise
        base.answer(result, write_lines(result))


def field(name: str, value: str) -> object:
    """Read the value of --field: lists are separated by commas, dates are dates, an empty date means none."""
    if name in LISTS:
        return [part.strip() for part in value.replace("，", ",").split(",") if part.strip()]
    if name in TIMES:
        return SINCE.convert(value, None, None) if value.strip() else None
    if name in ("baseline", "locked"):
        return value.strip().lower() in ("true", "yes", "1", "on")
    if name == "baseline_priority":
        return int(value) if value.strip().lstrip("+-").isdigit() else value
    return value


# --- the document in the editor ---


def in_editor(memory: Memory) -> str:
    """Let the owner edit a memory as a header and a body; return the text, or raise when there is no editor."""
    if not base.has_terminal():
        raise click.UsageError(t("cli.edit.no_terminal"))
    edited = click.edit(document(memory), extension=".md", require_save=True)
    if edited is None:
        return document(memory)
    return edited


def document(memory: Memory) -> str:
    """Render a memory for the editor: a YAML header, `---`, the body."""
    import yaml

    header = {name: shown(getattr(memory, name)) for name in FIELDS}
    text = yaml.safe_dump(header, allow_unicode=True, sort_keys=False, width=1000)
    return f"{text}---\n{memory.body}"


def shown(value: object) -> object:
    """Return a field as the header shows it."""
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, str) else value if value is None else iso(int(str(value)))


def changed(memory: Memory, text: str) -> dict[str, object]:
    """Return what an edited document changes; raises `invalid_argument` for a header that cannot be read."""
    import yaml

    header, mark, body = text.partition("\n---\n")
    try:
        given = yaml.safe_load(header) if mark else None
    except yaml.YAMLError as error:
        raise invalid(t("cli.edit.bad_header", why=flat(error)), t("cli.edit.kept", path=keep(memory, text))) from None
    if not isinstance(given, Mapping) or set(given) - set(FIELDS):
        why = t("cli.edit.lost_header")
        raise invalid(t("cli.edit.bad_header", why=why), t("cli.edit.kept", path=keep(memory, text)))
    changes = {name: value for name, value in given.items() if value != shown(getattr(memory, name))}
    changes = {name: _value(name, value) for name, value in changes.items()}
    # Editors end a file with a newline, whether the body had one or not.
    body = body if memory.body.endswith("\n") else body.removesuffix("\n")
    if body != memory.body:
        changes["body"] = body
    return changes


def _value(name: str, value: object) -> object:
    if name in TIMES and isinstance(value, date):
        return SINCE.convert(value.isoformat(), None, None) if not isinstance(value, datetime) else _ms(value)
    if name in TIMES and value:
        return SINCE.convert(str(value), None, None)
    return "" if value is None and name not in TIMES else value


def _ms(value: datetime) -> int:
    return int(value.astimezone().timestamp() * 1000)


def keep(memory: Memory, text: str) -> Path:
    """Put an edited text that was refused where its owner finds it again."""
    handle, path = tempfile.mkstemp(prefix=f"memdeck-mem-{memory.id}-", suffix=".md")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    return Path(path)
