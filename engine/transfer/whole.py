"""memdeck's own JSON: the whole store, row for row, one row a line; importing it replaces the store (C43).

Tables of the classes content, journalled and control are in it; derived and ephemeral ones are rebuilt or begin anew.
"""

from __future__ import annotations

import base64
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from engine.model.errors import MemdeckError, invalid
from engine.model.ids import new_uid
from engine.store import mentions, postings, tags
from engine.store.connection import DATABASE, Store
from engine.store.failures import translated
from engine.store.migrations import LATEST, upgrade
from engine.store.rows import index_entry
from engine.store.schema import CONTENT, JOURNALLED

FORMAT = "memdeck-store"
CONTROL = ("meta", "operations", "undone", "undone_left", "counters", "past_journal", "erased")
TABLES = (*CONTROL, *CONTENT, *(t.name for t in JOURNALLED))
REQUIRED = frozenset({"meta", "operations", "counters", "memories", "texts", "versions", "states"})
"""Without these there is no store; a table that an earlier export did not know yet stays as a new store has it."""
Progress = Callable[[int, int], None]


def export_store(store: Store, path: Path, progress: Progress | None = None) -> int:
    """Write the whole store to `path`, by temporary file and rename; returns how many memories it holds."""
    temporary = path.with_name(f".{path.name}.{new_uid()}.tmp")
    try:
        with translated(path), store.read() as conn:
            total = sum(int(conn.execute(f"SELECT count(*) FROM {t}").fetchone()[0]) for t in TABLES)
            with temporary.open("w", encoding="utf-8") as out:
                os.chmod(temporary, 0o600)
                for done, line in enumerate(_lines(conn, total)):
                    out.write(line + "\n")
                    if progress and done % 2000 == 0:
                        progress(min(done, total), total)
                out.flush()
                os.fsync(out.fileno())
            os.replace(temporary, path)
            memories = int(conn.execute("SELECT count(*) FROM memories").fetchone()[0])
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    if progress:
        progress(total, total)
    return memories


def _lines(conn: sqlite3.Connection, total: int) -> Iterator[str]:
    """Yield the document line by line; the lines together are one JSON object."""
    yield f'{{"format": "{FORMAT}", "schema": {LATEST}, "rows": {total}, "tables": {{'
    for number, table in enumerate(TABLES):
        columns = [r[1] for r in conn.execute(f"PRAGMA table_info({table})")]
        yield f'{"," if number else ""}"{table}": {{"columns": {json.dumps(columns)}, "rows": ['
        separator = ""
        for row in conn.execute(f"SELECT * FROM {table}"):
            yield separator + json.dumps([_out(v) for v in row], ensure_ascii=False)
            separator = ","
        yield "]}"
    yield "}}"


def _out(value: object) -> object:
    return {"b64": base64.b64encode(value).decode("ascii")} if isinstance(value, bytes) else value


def _in(value: object) -> object:
    if isinstance(value, dict):
        return base64.b64decode(str(value["b64"]))
    return value


def is_whole(path: Path) -> bool:
    """Tell whether a file begins like a whole export."""
    try:
        with path.open("r", encoding="utf-8", errors="replace") as file:
            return f'"format": "{FORMAT}"' in file.read(200)
    except OSError:
        return False


def build_database(path: Path, target: Path) -> int:
    """Make a database from an export at `target`; returns how many memories it holds.

    Raises invalid_argument for a file of another form or a damaged one, newer_store for one that a newer memdeck wrote;
    `target` is then worth nothing and the store untouched.
    """
    try:
        with path.open("r", encoding="utf-8") as file:
            document = json.load(file)
        tables: Mapping[str, Any] = document["tables"]
        schema = int(document["schema"])
        if document["format"] != FORMAT:
            raise KeyError("format")
    except (OSError, UnicodeDecodeError) as error:
        raise invalid(f"{path} cannot be read", str(error)) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise invalid(
            f"{path.name} is no whole memdeck export, or it is cut short", "export again: `memdeck export json FILE`"
        ) from error
    if schema > LATEST:
        raise MemdeckError(
            "newer_store", f"{path.name} was written by a newer memdeck", "update memdeck; nothing was changed"
        )
    target.unlink(missing_ok=True)
    try:
        with closing(sqlite3.connect(target, isolation_level=None)) as conn:
            upgrade(conn)
            conn.execute("BEGIN IMMEDIATE")
            _fill(conn, tables)
            tags.rebuild_names(conn)
            vids = [r[0] for r in conn.execute("SELECT vid FROM versions ORDER BY vid")]
            postings.rebuild(conn, ((vid, index_entry(conn, vid)) for vid in vids))
            mentions.rebuild(conn)
            conn.execute("COMMIT")
            return int(conn.execute("SELECT count(*) FROM memories").fetchone()[0])
    except (sqlite3.Error, KeyError, TypeError, ValueError) as error:
        raise invalid(
            f"{path.name} does not fit together ({str(error)[:120]})", "export it again from its store"
        ) from error


def unpack(path: Path, directory: Path) -> int:
    """Make a store of an export in a directory that holds none yet; returns how many memories it holds.

    Raises exists, or what `build_database` raises; the directory then holds no store.
    """
    target = directory / DATABASE
    if target.exists():
        raise MemdeckError("exists", f"there is a store in {directory} already", "import into it, or name another one")
    built = directory / f".unpack.{os.getpid()}.tmp"
    with translated(target):
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            memories = build_database(path, built)
            os.chmod(built, 0o600)
            os.replace(built, target)
        finally:
            with suppress(OSError):
                built.unlink(missing_ok=True)
    return memories


def _fill(conn: sqlite3.Connection, tables: Mapping[str, Any]) -> None:
    # The rows carry their own operation numbers, so the triggers that guard new ones stand aside for this load.
    triggers = conn.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        conn.execute(f"DROP TRIGGER {name}")
    for table in TABLES:
        if table in tables:
            conn.execute(f"DELETE FROM {table}")
        part = tables[table] if table in REQUIRED else tables.get(table)
        if part is None:
            continue
        known = {r[1] for r in conn.execute(f"PRAGMA table_info({table})")}
        columns = [str(c) for c in part["columns"]]
        if not known.issuperset(columns):
            raise ValueError(f"unknown columns in {table}")
        statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
        conn.executemany(statement, ([_in(v) for v in row] for row in part["rows"]))
    for _, sql in triggers:
        conn.execute(sql)
