"""Where the style sheets are: beside the package in a checkout, inside it in an installed wheel."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent


def styles_dir() -> Path:
    """Return the directory of the style sheets, or raise FileNotFoundError when the installation lacks them."""
    for directory in (_HERE / "styles", _HERE.parent / "styles"):
        if (directory / "app.tcss").is_file():
            return directory
    raise FileNotFoundError("memdeck's style sheets are missing: reinstall memdeck")


def style_sheets() -> list[Path]:
    """Return the style sheets in the order they apply: tokens, app, widgets, then one per screen."""
    directory = styles_dir()
    first = [directory / f"{stem}.tcss" for stem in ("tokens", "app", "widgets")]
    return first + sorted(path for path in directory.glob("*.tcss") if path not in first)
