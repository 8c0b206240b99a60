"""What is drawn on stderr while a command takes its time, where stderr is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tui.commands import base


def _is_seen() -> bool:
    return sys.stderr.isatty() and not base.options().json


@contextmanager
def progress(title: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a function that is told (done, in all), drawn as a bar; None where nobody would see it."""
    if not _is_seen():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(escape(base.safe(title)), total=None)
        yield lambda done, in_all: bar.update(task, completed=done, total=in_all)


@contextmanager
def waiting(title: str) -> Iterator[None]:
    """Turn a wheel beside what is being done, where its end cannot be known."""
    if not _is_seen():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(title):
        yield
