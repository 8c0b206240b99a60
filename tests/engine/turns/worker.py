"""A process that takes turns until it is killed; it says the card of each turn that was acknowledged."""

from __future__ import annotations

import sys
from pathlib import Path

from engine.facade import open_engine
from engine.model.enums import Origin
from engine.model.memory import Caller


def main() -> None:
    """Take turns in the store that the first argument names, as many as the second says."""
    by = Caller(Origin.AGENT, "worker", session="w")
    with open_engine(Path(sys.argv[1]), env={}) as engine:
        for number in range(int(sys.argv[2])):
            frame = engine.begin_turn(by, f"question number{number} on the gateway", thread="kill")
            said = {
                "tags": [f"topic{number}"],
                "preferences": [{"key": "style", "value": f"s{number}", "confidence": 1}],
            }
            engine.end_turn(by, frame.card, response=f"answer number{number}. " * 12, analysis=said)
            print(frame.card, flush=True)


if __name__ == "__main__":
    main()
