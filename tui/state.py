"""What the app remembers between two starts: the tab, filters, cursor, panes, theme and unsaved drafts."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

FILE_NAME = "app-state.json"


class AppState:
    """A small dictionary in a file of the store's directory; a damaged or unwritable file never stops the app."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._values: dict[str, Any] = {}
        with suppress(OSError, ValueError):
            loaded = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(loaded, dict):
                self._values = loaded

    def get(self, name: str, default: Any) -> Any:
        """Return a value of the default's own type; anything else in the file counts as missing."""
        value = self._values.get(name)
        return value if isinstance(value, type(default)) else default

    def set(self, name: str, value: Any) -> None:
        """Remember a JSON value; None forgets it."""
        if value is None:
            self._values.pop(name, None)
        else:
            self._values[name] = value

    def save(self) -> None:
        """Write the file anew, whole or not at all."""
        temporary = self._path.with_name(self._path.name + f".{os.getpid()}.tmp")
        with suppress(OSError):
            temporary.write_text(json.dumps(self._values, ensure_ascii=False, indent=1), encoding="utf-8")
            temporary.chmod(0o600)
            temporary.replace(self._path)
