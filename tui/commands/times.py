"""Times on the command line: read as the engine reads them, shown in local time (R23)."""

from __future__ import annotations

from datetime import datetime

import click

from engine.model.clock import LOCAL
from engine.model.errors import MemdeckError
from tui.commands.base import clock, t


class Moment(click.ParamType):
    """A date or time such as 2026-05-01 or yesterday, as UTC milliseconds: where the period begins, or ends."""

    name = "moment"

    def __init__(self, *, end: bool = False) -> None:
        self._end = end

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the text, or refuse it as bad usage."""
        from engine.rules.bitemporal import parse_when

        if isinstance(value, int):
            return value
        try:
            start, end = parse_when(str(value), now_ms=clock(trusted=True).now_ms(), tz=LOCAL)
        except (MemdeckError, ValueError, OverflowError):
            self.fail(t("cli.bad_moment", value=value), param, ctx)
        return start if end is None or not self._end else max(start, end - 1)


SINCE = Moment()
"""Where the named period begins."""

UNTIL = Moment(end=True)
"""The last millisecond of the named period: what was so on a day is what was so when it ended."""


def local(ms: int | None) -> str:
    """Show UTC milliseconds as local time to the minute; empty for none."""
    return "" if ms is None else datetime.fromtimestamp(ms / 1000).strftime("%Y-%m-%d %H:%M")
