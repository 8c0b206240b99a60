"""The option --demo: the application on the sample store, in a directory that goes when it ends."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tui.commands import base


def run_demo() -> None:
    """Build the sample, open the application on it, and leave nothing behind."""
    from engine.facade import open_engine
    from tui.app import MemdeckApp
    from tui.sample import SampleClock, build_sample

    with tempfile.TemporaryDirectory(prefix="memdeck-demo-") as folder:
        store = Path(folder) / "store"
        build_sample(store)
        with open_engine(store, clock=SampleClock()) as engine:
            MemdeckApp(engine, lang=base.language()).run()
