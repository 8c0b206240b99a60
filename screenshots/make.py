"""Renders every tab and flow over the sample store, in both languages: `python -m screenshots.make [NAME]`."""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from textual.keys import _character_to_key

from engine.facade import Engine, open_engine
from engine.model.clock import FixedClock
from engine.model.enums import Origin
from engine.model.memory import Caller, RecallQuery
from screenshots.svg_cjk import mend, to_png
from tui.app import MemdeckApp
from tui.i18n import LANGUAGES
from tui.sample import OWNER, SAMPLE_NOW, build_sample

HERE = Path(__file__).parent


def govern(engine: Engine) -> None:
    """Relate some of the sample's tags, define one, and let an agent ask for them, so that a merge has effects."""
    for one, other, level in RELATIONS:
        engine.relate(OWNER, one, other, level)
    engine.edit_tag(OWNER, "studio", {"definition": "The room where Low Tide is recorded.", "synonyms": ["录音室"]})
    for question in ("what is broken in the studio", "which audio files are lost", "谁会修发射机"):
        engine.recall(Caller(Origin.AGENT, "claude-code", session="s1"), RecallQuery(question))


RELATIONS = (
    ("studio", "audio", "related"),
    ("studio", "transmitter", "related"),
    ("studio", "节目", "loose"),
    ("节目", "节目单", "related"),
    ("节目", "schedule", "loose"),
    ("transmitter", "storm", "loose"),
    ("audio", "numbers", "loose"),
)


@dataclass(frozen=True)
class Scene:
    """One picture: the keys that lead there (`=text` is typed), in a window of columns by rows.

    `prepare` changes a copy of the store before it is opened.
    """

    name: str
    keys: tuple[str, ...] = ()
    size: tuple[int, int] = (120, 36)
    prepare: Callable[[Engine], None] | None = None


STUDIO = ("5", *["j"] * 11)
MERGE = ("5", "slash", "=audio", "enter", "space", "escape", "slash", "=studio", "enter", "greater_than_sign", "m")

SCENES = (
    Scene("memories", ("j", "j", "space", "space")),
    Scene("memories-narrow", ("j", "j"), (80, 24)),
    Scene("detail", (*["j"] * 9, "enter")),
    Scene("form", ("n",)),
    Scene("chips", ("f",)),
    Scene("past", ("t", "minus", "minus", "left", "left", "left")),
    Scene("review", ("w",)),
    Scene("review-conflict", ("w", "f", "f", "a")),
    Scene("journal", ("at", "j")),
    Scene("topics", ("2",)),
    Scene("playbook", ("3",)),
    Scene("tasks", ("4",)),
    Scene("tags", (*STUDIO, "right", "down"), prepare=govern),
    Scene("tags-narrow", STUDIO, (80, 24), prepare=govern),
    Scene("tag-merge", MERGE, prepare=govern),
    Scene("tag-merge-words", (*MERGE, "a", "=merge"), prepare=govern),
    Scene("tag-merge-report", (*MERGE, "a", "=merge 6", "enter"), prepare=govern),
    Scene("recall", ("a", "=what to pack for the winter market", "enter")),
    Scene("context", ("A", "=what to pack for the winter market", "enter")),
    Scene("settings", ("6", "d")),
    Scene("help", ("question_mark",)),
    Scene("palette", ("colon",)),
)


def draw(store: Path, scene: Scene, language: str) -> str:
    """Return the mended SVG of one scene over a store, which it leaves as it was."""
    with tempfile.TemporaryDirectory() as place:
        if scene.prepare:
            store = Path(shutil.copytree(store, Path(place) / "store"))
            with open_engine(store, clock=FixedClock(SAMPLE_NOW), env={}) as engine:
                scene.prepare(engine)
        with open_engine(store, clock=FixedClock(SAMPLE_NOW), env={}) as engine:
            return asyncio.run(picture(MemdeckApp(engine, lang=language, state_path=Path(place) / "state.json"), scene))


async def picture(app: MemdeckApp, scene: Scene) -> str:
    """Run the app without a terminal, press the scene's keys, return the mended SVG."""
    async with app.run_test(size=scene.size) as pilot:
        await _settle(app)
        for key in scene.keys:
            await pilot.press(*(map(_character_to_key, key[1:]) if key.startswith("=") else [key]))
            await _settle(app)
        await asyncio.sleep(0.3)
        await pilot.pause()
        return mend(app.export_screenshot(title="memdeck"))


async def _settle(app: MemdeckApp) -> None:
    await asyncio.sleep(0.12)
    await app.workers.wait_for_complete()
    await asyncio.sleep(0.02)


def main(names: list[str]) -> None:
    """Write NAME-LANGUAGE.svg and .png beside this file for the named scenes, or for all."""
    with tempfile.TemporaryDirectory() as place:
        store = Path(place) / "sample"
        build_sample(store)
        for scene in SCENES:
            for language in LANGUAGES if not names or scene.name in names else ():
                svg = draw(store, scene, language)
                (HERE / f"{scene.name}-{language}.svg").write_text(svg, encoding="utf-8")
                to_png(svg, HERE / f"{scene.name}-{language}.png")
                sys.stdout.write(f"{scene.name}-{language}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
