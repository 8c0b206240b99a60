"""`python -m engine.serve --store DIR [--socket PATH | --stdio]`: the doors without the command line."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from engine.model.clock import clock_from_env
from engine.model.errors import MemdeckError


def main(argv: list[str] | None = None) -> int:
    """Serve a store until it is told to stop; return 0, or 1 after one line on stderr."""
    parser = argparse.ArgumentParser(prog="python -m engine.serve", description=__doc__)
    parser.add_argument("--store", type=Path, required=True, help="directory of the store")
    parser.add_argument("--socket", type=Path, help="path of the unix socket")
    parser.add_argument("--stdio", action="store_true", help="serve one client on stdin and stdout")
    parser.add_argument("--tools", default="core", help="which tools clients are shown: core, full, wangdefa")
    parser.add_argument("--workspace", type=Path, help="the workspace of all clients")
    options = parser.parse_args(argv)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="memdeck: %(message)s")
    try:
        return _serve(options)
    except MemdeckError as error:
        print(f"memdeck: {error.message}" + (f" ({error.hint})" if error.hint else ""), file=sys.stderr)
        return 1


def _serve(options: argparse.Namespace) -> int:
    from engine.facade import open_engine

    with open_engine(options.store, clock=clock_from_env(trusted=False)) as engine:
        if options.stdio:
            from engine.serve.stdio import serve_stdio

            return serve_stdio(engine, workspace=options.workspace, tools=options.tools)
        from engine.serve.server import serve_socket

        return serve_socket(engine, socket_path=options.socket, workspace=options.workspace, tools=options.tools)


if __name__ == "__main__":
    sys.exit(main())
