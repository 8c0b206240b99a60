"""Every setting in one table; the panel wins over the environment, config.yaml and the default (S67)."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.model.errors import MemdeckError, invalid

if TYPE_CHECKING:
    from engine.model.records import SettingInfo

CONFIG_NAME = "config.yaml"
"""The file in a store's directory that a person may write by hand."""

STORE_ENV = "MEMDECK_STORE"
"""Names the directory of the default profile's store."""

_ON = frozenset({"on", "true", "yes", "1"})
_OFF = frozenset({"off", "false", "no", "0"})
_PROFILE = re.compile(r"\w[\w.-]{0,63}")

LEGACY = frozenset({"assimilate", "overlap", "community", "maxClusterSize"})
"""Thresholds of a removed clustering: accepted in a config and ignored with a note (C52)."""


@dataclass(frozen=True)
class Setting:
    """One row of the schema: `kind` is int, bool or choice; `low` and `high` bound an int, both included.

    `help` names the explaining text in the locale files and `shown` the group it stands in. A setting with
    `restart` keeps the value that it had when the store was opened.
    """

    name: str
    default: int | bool | str
    kind: str
    shown: str
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()
    restart: bool = False

    @property
    def env(self) -> str:
        """Return the environment variable that sets it: `recall.limit` → `MEMDECK_RECALL_LIMIT`."""
        return "MEMDECK_" + self.name.replace(".", "_").upper()

    @property
    def help(self) -> str:
        """Return the key of its explanation in the locale files."""
        return "cli.setting." + self.name.replace(".", "_")

    @property
    def allowed(self) -> str:
        """Say in English which values it takes."""
        if self.kind == "int":
            return f"a whole number from {self.low} to {self.high}"
        return "on or off" if self.kind == "bool" else "one of " + ", ".join(self.choices)


def _int(name: str, default: int, low: int, high: int, shown: str, *, restart: bool = False) -> Setting:
    return Setting(name, default, "int", shown, low=low, high=high, restart=restart)


def _bool(name: str, default: bool, shown: str) -> Setting:
    return Setting(name, default, "bool", shown)


def _choice(name: str, default: str, choices: tuple[str, ...], shown: str) -> Setting:
    return Setting(name, default, "choice", shown, choices=choices)


SCHEMA: Mapping[str, Setting] = {
    setting.name: setting
    for setting in (
        _bool("admission.noise", True, "admission"),
        _bool("admission.secret", True, "admission"),
        _bool("admission.injection", True, "admission"),
        _choice("review.agents", "off", ("off", "all"), "admission"),
        _int("recall.limit", 10, 1, 30, "reading"),
        _int("read.max_bytes", 8192, 256, 65536, "reading"),
        _int("context.max_tokens", 2000, 200, 20000, "reading"),
        _choice("context.depth", "detail", ("off", "summary", "detail", "full"), "reading"),
        _int("context.memories", 10, 1, 30, "reading"),
        _int("context.relevance", 10, 0, 100, "reading"),
        _int("context.baseline", 8, 1, 50, "reading"),
        _int("context.max_chars", 1500, 200, 20000, "reading"),
        _int("context.stale_days", 1, 0, 365, "reading"),
        _int("context.session_bytes", 61440, 4096, 524288, "reading"),
        _choice("ageing.policy", "report", ("off", "report", "auto"), "ageing"),
        _int("ageing.dormant_after_days", 180, 1, 36500, "ageing"),
        _bool("turns.enabled", False, "turns"),
        _bool("turns.keep_text", True, "turns"),
        _int("snapshots.keep_auto", 5, 1, 50, "store"),
        _int("snapshots.keep_runs", 5, 1, 50, "store"),
        _int("snapshots.keep_protection", 3, 1, 50, "store"),
        _int("writer.deadline_ms", 5000, 100, 60000, "store", restart=True),
        _choice("lang", "auto", ("auto", "en", "zh"), "interface"),
    )
}
"""All settings in the order in which a person sees them."""

Value = int | bool | str


class Settings:
    """The values in effect for one store.

    `stored` returns what the owner set in the panel (name → value), `env` and the file are read once, here.
    """

    def __init__(
        self,
        stored: Callable[[], Mapping[str, object]] = dict,
        *,
        env: Mapping[str, str] | None = None,
        config_path: Path | None = None,
    ) -> None:
        self._stored = stored
        self._env = os.environ if env is None else env
        self._file, self.notes = read_config(config_path) if config_path else ({}, ())
        at_start = stored()
        self._fixed = {s.name: self._resolve(s, at_start) for s in SCHEMA.values() if s.restart}

    def changed(self, changes: Mapping[str, Value]) -> Settings:
        """Return the same settings as if the owner had set some; what needs a restart stays as it is."""
        other = copy(self)
        other._stored = lambda: {**self._stored(), **changes}
        return other

    def get(self, name: str) -> Value:
        """Return the value in effect; an unknown name raises `invalid_argument`."""
        return self._in_effect(require(name), self._stored())[0]

    def number(self, name: str) -> int:
        """Return the value of an int setting."""
        return int(self.get(name))

    def flag(self, name: str) -> bool:
        """Return the value of a bool setting."""
        return bool(self.get(name))

    def word(self, name: str) -> str:
        """Return the value of a choice setting."""
        return str(self.get(name))

    def info(self, name: str) -> SettingInfo:
        """Return one setting with its value, where that comes from, and what it becomes at the next start."""
        return self._info(require(name), self._stored())

    def all(self) -> list[SettingInfo]:
        """Return every setting in the schema's order."""
        stored = self._stored()
        return [self._info(setting, stored) for setting in SCHEMA.values()]

    def _info(self, setting: Setting, stored: Mapping[str, object]) -> SettingInfo:
        from engine.model.records import SettingInfo  # a process that only reads values never needs it

        value, origin = self._in_effect(setting, stored)
        later = self._resolve(setting, stored)[0]
        return SettingInfo(
            name=setting.name,
            value=value,
            origin=origin,
            default=setting.default,
            kind=setting.kind,
            low=setting.low,
            high=setting.high,
            choices=setting.choices,
            env=setting.env,
            help=setting.help,
            pending=None if later == value else later,
        )

    def _in_effect(self, setting: Setting, stored: Mapping[str, object]) -> tuple[Value, str]:
        return self._fixed[setting.name] if setting.restart else self._resolve(setting, stored)

    def _resolve(self, setting: Setting, stored: Mapping[str, object]) -> tuple[Value, str]:
        """Return the value and its origin: stored, env, file or default.

        A stored value that no longer fits (written by another version) falls through like an illegal one.
        """
        layers = (
            ("stored", strict(setting, stored.get(setting.name))),
            ("env", lenient(setting, self._env.get(setting.env))),
            ("file", lenient(setting, self._file.get(setting.name))),
        )
        for origin, value in layers:
            if value is not None:
                return value, origin
        return setting.default, "default"


def require(name: str) -> Setting:
    """Return the schema's row or raise `invalid_argument` naming the nearest thing to do."""
    setting = SCHEMA.get(name)
    if setting is None:
        raise invalid(f"there is no setting {name[:80]!r}", "see `memdeck settings list`", name=name)
    return setting


def check(name: str, value: object) -> Value:
    """Return the value as its setting stores it, or raise `invalid_argument` that names the range (S67)."""
    setting = require(name)
    checked = strict(setting, value)
    if checked is None:
        shown = "nothing" if value is None else repr(value)[:80]
        allowed = setting.allowed
        raise invalid(f"{name} cannot be {shown}", f"it takes {allowed}", name=name, allowed=allowed)
    return checked


def strict(setting: Setting, value: object) -> Value | None:
    """Read a value from the panel; None when it is illegal or out of range."""
    parsed = _parse(setting, value)
    if setting.kind == "int" and parsed is not None and parsed != _clamp(setting, int(parsed)):
        return None
    return parsed


def lenient(setting: Setting, value: object) -> Value | None:
    """Read a value from the environment or file: out of range is clamped, illegal or blank is None (S67)."""
    parsed = _parse(setting, value)
    return _clamp(setting, int(parsed)) if setting.kind == "int" and parsed is not None else parsed


def _parse(setting: Setting, value: object) -> Value | None:
    if setting.kind == "bool":
        if isinstance(value, bool):
            return value
        word = str(value).strip().lower()
        return True if word in _ON else False if word in _OFF else None
    if setting.kind == "int":
        return _whole_number(value)
    # YAML reads a bare `off` as false: the choice of that name was meant.
    word = "off" if value is False else str(value).strip().lower()
    return word if word in setting.choices else None


def _whole_number(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    text = str(value).strip()
    return int(text) if re.fullmatch(r"[+-]?\d{1,18}", text) else None


def _clamp(setting: Setting, number: int) -> int:
    assert setting.low is not None and setting.high is not None
    return max(setting.low, min(setting.high, number))


def read_config(path: Path) -> tuple[dict[str, object], tuple[str, ...]]:
    """Read `config.yaml` (`recall.limit: 7` or nested) into name → value, with notes on what was not taken.

    A missing file is normal. A broken one changes nothing and is named in a note: a typing error in a
    settings file may not lock its owner out.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}, ()
    except (OSError, UnicodeDecodeError) as error:
        return {}, (f"{path.name} cannot be read and was ignored: {error}",)
    import yaml  # a store without a config file never pays for it

    try:
        document = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError) as error:
        return {}, (f"{path.name} is not valid YAML and was ignored: {' '.join(str(error).split())[:200]}",)
    if document is None:
        return {}, ()
    if not isinstance(document, Mapping):
        return {}, (f"{path.name} holds no `name: value` lines and was ignored",)
    values: dict[str, object] = {}
    notes: list[str] = []
    for name, value in _flatten(document):
        note = _note(path.name, name, value)
        if note:
            notes.append(note)
        if name in SCHEMA:
            values[name] = value
    return values, tuple(notes)


def _flatten(document: Mapping[object, object], prefix: str = "") -> list[tuple[str, object]]:
    """Turn nested mappings into dotted names. YAML may read a key as something else than text."""
    pairs: list[tuple[str, object]] = []
    for key, value in document.items():
        name = f"{prefix}{key}"
        pairs += _flatten(value, f"{name}.") if isinstance(value, Mapping) else [(name, value)]
    return pairs


def _note(file: str, name: str, value: object) -> str:
    """Say why a line of the config has no effect, or not the effect it states; empty when all is well."""
    if name.rpartition(".")[2] in LEGACY:
        return f"{file}: {name} is accepted and ignored: memories are no longer clustered"
    setting = SCHEMA.get(name)
    if setting is None:
        return f"{file}: {name[:80]} is no setting and was ignored"
    taken = lenient(setting, value)
    if taken is None:
        return f"{file}: {name} cannot be {value!r} and was ignored; it takes {setting.allowed}"
    if taken != strict(setting, value):
        return f"{file}: {name} was cut to {taken}; it takes {setting.allowed}"
    return ""


# --- where stores live ---


def profiles_root(env: Mapping[str, str] | None = None) -> Path:
    """Return the directory that holds one directory per profile; `MEMDECK_HOME` moves it."""
    home = (os.environ if env is None else env).get("MEMDECK_HOME", "").strip()
    if home:
        return directory(home)
    import platformdirs  # not needed where the store is named

    return platformdirs.user_data_path("memdeck", appauthor=False)


def check_profile(name: str) -> str:
    """Return the profile's name; one that could be a path or a hidden directory is an `invalid_argument`."""
    if not _PROFILE.fullmatch(name) or name != unicodedata.normalize("NFC", name):
        raise invalid(
            f"{name[:80]!r} is no profile name",
            "use up to 64 letters, digits, '.', '_' and '-', beginning with a letter or digit",
            name=name,
        )
    return name


def directory(text: str) -> Path:
    """Return the absolute path that a person wrote; an unknown `~user` is an `invalid_argument`."""
    try:
        return Path(text).expanduser().absolute()
    except RuntimeError as error:
        raise invalid(f"{text[:200]!r} names no directory: {error}") from None


def default_store(profile: str = "default", env: Mapping[str, str] | None = None) -> Path:
    """Return the directory of a profile's store; `MEMDECK_STORE` stands in for the default profile only.

    A profile that was asked for by name is never silently swapped for another store.
    """
    env = os.environ if env is None else env
    check_profile(profile)
    named = env.get(STORE_ENV, "").strip()
    if named and profile == "default":
        return directory(named)
    return profiles_root(env) / profile


def profiles(env: Mapping[str, str] | None = None) -> list[tuple[str, Path, bool]]:
    """Return (name, directory, whether a store is there) by name; the default profile is always listed."""
    found = {"default": default_store("default", env)}
    try:
        entries = sorted(profiles_root(env).iterdir())
    except OSError:
        entries = []
    for entry in entries:
        if (entry / "memory.db").is_file() and _is_profile(entry.name):
            found.setdefault(entry.name, entry)
    return [(name, path, (path / "memory.db").is_file()) for name, path in sorted(found.items())]


def _is_profile(name: str) -> bool:
    try:
        return check_profile(name) == name
    except MemdeckError:
        return False
