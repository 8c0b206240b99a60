"""Mends the SVG that Rich exports: wide characters get their two cells, fonts are local ones; then PNG by resvg."""

from __future__ import annotations

import html
import re
from pathlib import Path

from rich.cells import cell_len

CELL = 12.2
"""Width of a cell in the units of Rich's SVG."""

_TEXT = re.compile(
    r'<text class="(?P<class>[^"]*)" x="(?P<x>[\d.]+)" y="(?P<y>[\d.]+)" textLength="[\d.]+"(?P<rest>[^>]*)>'
    r"(?P<text>[^<]*)</text>"
)
_FONT_FACE = re.compile(r"@font-face\s*\{[^}]*\}")
_FAMILY = "'Fira Code','Noto Sans Mono CJK SC','DejaVu Sans Mono',monospace"

_FONTS = (
    "/usr/share/fonts/truetype/firacode/FiraCode-Regular.ttf",
    "/usr/share/fonts/truetype/firacode/FiraCode-Bold.ttf",
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Bold.ttc",
    "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf",
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
)


def mend(svg: str) -> str:
    """Return the SVG with every run of text on the cell grid and without a font from the network."""
    svg = _FONT_FACE.sub("", svg)
    svg = re.sub(r"font-family:\s*Fira Code[^;]*;", f"font-family: {_FAMILY};", svg)
    return _TEXT.sub(_split, svg)


def _split(found: re.Match[str]) -> str:
    text = html.unescape(found["text"])
    pieces: list[str] = []
    at = 0
    for run in re.findall(r"[\x20-\x7e\xa0-\u02ff\u2010-\u2e7f]+|[^\x20-\x7e\xa0-\u02ff\u2010-\u2e7f]", text):
        width = cell_len(run)
        if run.strip() and width:
            x = float(found["x"]) + at * CELL
            shown = html.escape(run).replace(" ", "&#160;").replace("\xa0", "&#160;")
            anchor = ""
            if len(run) == 1 and width == 2:
                x += CELL
                anchor = ' text-anchor="middle"'
                length = ""
            else:
                length = f' textLength="{width * CELL:.1f}"'
            start = f'<text class="{found["class"]}" x="{x:.1f}" y="{found["y"]}"'
            pieces.append(f"{start}{length}{anchor}{found['rest']}>{shown}</text>")
        at += width
    return "".join(pieces)


def to_png(svg: str, path: Path, *, width: int = 1480) -> None:
    """Draw a mended SVG into a PNG file; the fonts are Debian's fonts-noto-cjk, -firacode and -dejavu-core."""
    import resvg_py

    data = resvg_py.svg_to_bytes(
        svg_string=svg,
        width=width,
        skip_system_fonts=True,
        font_files=[font for font in _FONTS if Path(font).exists()],
        font_family="Fira Code",
        monospace_family="Noto Sans Mono CJK SC",
    )
    path.write_bytes(bytes(data))
