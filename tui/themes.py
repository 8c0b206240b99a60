"""Three themes whose colours all stand in the 256-colour palette, so that surfaces stay apart without true colour."""

from __future__ import annotations

from textual.theme import Theme

DARK = Theme(
    name="memdeck-dark",
    primary="#5fafff",
    secondary="#87d7af",
    accent="#ffaf5f",
    warning="#ffd75f",
    error="#ff5f87",
    success="#87d787",
    foreground="#dadada",
    background="#121212",
    surface="#1c1c1c",
    panel="#303030",
    variables={"footer-key-foreground": "#ffaf5f", "input-selection-background": "#005f87"},
)

LIGHT = Theme(
    name="memdeck-light",
    primary="#005faf",
    secondary="#00875f",
    accent="#af5f00",
    warning="#875f00",
    error="#af005f",
    success="#008700",
    foreground="#1c1c1c",
    background="#ffffff",
    surface="#eeeeee",
    panel="#d0d0d0",
    dark=False,
)

CONTRAST = Theme(
    name="memdeck-contrast",
    primary="#00ffff",
    secondary="#00ff00",
    accent="#ffff00",
    warning="#ffff00",
    error="#ff5f5f",
    success="#00ff00",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#3a3a3a",
)

THEMES = (DARK, LIGHT, CONTRAST)
