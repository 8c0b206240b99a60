"""The `memdeck` command: hooks of agents go straight to their answer, everything else to the command line."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command that stands in the arguments; a hook may take 300 ms in all, so it loads nothing else."""
    if sys.argv[1:2] == ["hook"]:
        from engine.serve.hook import main as answer

        answer(sys.argv[2:])
    from tui.cli import main as run

    run()


if __name__ == "__main__":
    main()
