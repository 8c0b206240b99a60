"""The scenes of the README's pictures still lead where they say, and the mended SVG keeps every cell in its place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from screenshots.make import SCENES, Scene, draw
from screenshots.svg_cjk import CELL, mend
from tui.i18n import LANGUAGES
from tui.sample import build_sample

PLACE = re.compile(r'<text class="[^"]*" x="([\d.]+)" y="[\d.]+"(?: textLength="([\d.]+)")?[^>]*>([^<]*)</text>')


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("sample") / "store"
    build_sample(store)
    return store


def test_wide_characters_get_their_two_cells():
    svg = '<text class="r1" x="24.4" y="20" textLength="85.4" clip-path="url(#l)">ab部署 c&amp;</text>'
    pieces = PLACE.findall(mend(svg))
    assert [text for _, _, text in pieces] == ["ab", "部", "署", "&#160;c&amp;"]
    assert [float(x) for x, _, _ in pieces] == pytest.approx([24.4 + cells * CELL for cells in (0, 3, 5, 6)], abs=0.06)
    assert [length for _, length, _ in pieces] == ["24.4", "", "", "36.6"]


def test_no_font_comes_from_the_network():
    face = "@font-face { font-family: x; src: url('https://cdn.example/x.woff') }"
    svg = f"<style>{face}\n.a {{ font-family: Fira Code, monospace; }}</style>"
    assert "https://" not in mend(svg)
    assert "Noto Sans Mono CJK SC" in mend(svg)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["memories", "review-conflict", "settings"])
def test_a_scene_is_drawn_and_every_run_has_its_width(sample, name, language):
    (scene,) = [scene for scene in SCENES if scene.name == name]
    svg = draw(sample, scene, language)
    for _, length, text in PLACE.findall(svg):
        if length:
            plain = text.replace("&#160;", " ").replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
            plain = plain.replace("&quot;", '"').replace("&#x27;", "'")
            assert abs(float(length) - cell_len(plain) * CELL) < 0.06
    assert "记" in svg or language == "en", "the tab of the memories is there in every picture"


def test_every_scene_has_a_picture_in_both_languages():
    here = Path(__file__).parents[2] / "screenshots"
    missing = [
        f"{scene.name}-{language}.{kind}"
        for scene in SCENES
        for language in LANGUAGES
        for kind in ("svg", "png")
        if not (here / f"{scene.name}-{language}.{kind}").is_file()
    ]
    assert not missing


def test_scenes_are_named_once():
    assert len({scene.name for scene in SCENES}) == len(SCENES)
    assert all(isinstance(scene, Scene) and scene.size[0] >= 80 for scene in SCENES)
