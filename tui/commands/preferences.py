"""The commands settings and profile."""

from __future__ import annotations

import click

from engine.model.records import SettingInfo
from engine.settings import profiles
from tui.commands import base
from tui.commands.base import t


@base.group("settings", help="cli.settings.help")
def settings_command() -> None:
    """Values that change how the store behaves."""


def shown(value: object) -> str:
    """Show a value as it is typed."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def setting_line(info: SettingInfo) -> str:
    """Show a setting with its value, where that comes from, its bounds and what it is for."""
    bounds = f"{info.low}-{info.high}" if info.kind == "int" else "|".join(info.choices) or "on|off"
    pending = "" if info.pending is None else f" ({t('cli.settings.pending', value=shown(info.pending))})"
    origin = t(f"cli.settings.{info.origin}")
    return f"{info.name:<27} {shown(info.value):<6}{pending} {origin:<8} {bounds:<12} {t(info.help)}"


@settings_command.command("list", cls=base.Command, help="cli.settings.list")
def list_settings() -> None:
    """List every setting."""
    with base.opened() as engine:
        infos = engine.settings()
        base.answer(infos, map(setting_line, infos))


@settings_command.command("get", cls=base.Command, help="cli.settings.get")
@click.argument("name")
def get_setting(name: str) -> None:
    """Show one setting."""
    with base.opened() as engine:
        info = engine.setting(name)
        base.answer(info, [setting_line(info)])


@settings_command.command("set", cls=base.Command, help="cli.settings.set")
@click.argument("name")
@click.argument("value")
def set_setting(name: str, value: str) -> None:
    """Change one setting."""
    by = base.caller()
    with base.opened(make=True) as engine:
        info = engine.set_setting(by, name, value)
        base.answer(info, [setting_line(info)])


@settings_command.command("reset", cls=base.Command, help="cli.settings.reset")
@click.argument("name")
def reset_setting(name: str) -> None:
    """Go back to the environment, the file or the default."""
    by = base.caller()
    with base.opened() as engine:
        info = engine.reset_setting(by, name)
        base.answer(info, [setting_line(info)])


@base.group("profile", help="cli.profile.help")
def profile_command() -> None:
    """One profile is one store in a directory of its own."""


@profile_command.command("list", cls=base.Command, help="cli.profile.list")
def list_profiles() -> None:
    """List the profiles that have a store, and the default one."""
    found = profiles()
    rows = [{"name": name, "path": path, "exists": exists} for name, path, exists in found]
    lines = [f"{name:<16} {path}{'' if exists else ' ' + t('cli.profile.empty')}" for name, path, exists in found]
    base.answer(rows, lines)
