"""One tool call in this process, as an agent makes it: what `memdeck call` and hooks use."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from engine.serve.call import Envelope
from engine.serve.dispatch import call_tool
from engine.serve.identity import Identity, new_session, workspace_of

if TYPE_CHECKING:
    from engine.facade import Engine


def run_tool_in_process(
    engine: Engine,
    tool: str,
    arguments: Mapping[str, object],
    *,
    actor: str = "memdeck-call",
    session: str | None = None,
    workspace: Path | None = None,
    key: str | None = None,
) -> Envelope:
    """Run one tool as an agent in this folder's workspace and return its envelope; never raises.

    A session keeps its name over several processes only when it is given.
    """
    named = workspace_of(workspace, named=True) if workspace else workspace_of(Path.cwd())
    identity = Identity(session or new_session(), name=actor, workspace=named)
    return call_tool(engine, identity.caller({}), tool, arguments, key=key)
