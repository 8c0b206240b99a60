"""The interface's words in English and Chinese: `t("app.title")` with named parameters, from locale/*.yaml."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import yaml

LANGUAGES = ("en", "zh")
_LOCALE_DIR = Path(__file__).with_name("locale")
_language = "en"


def set_language(language: str) -> None:
    """Choose the language of every later `t`; an unknown one means English."""
    global _language
    _language = language if language in LANGUAGES else "en"


def language() -> str:
    """Return the language in use: `en` or `zh`."""
    return _language


def choose_language(option: str | None = None, env: Mapping[str, str] | None = None, setting: str | None = None) -> str:
    """Return the first of `--lang`, MEMDECK_LANG, the setting and the system's locale that names a language we have."""
    env = os.environ if env is None else env
    system = (env.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    for wish in (option, env.get("MEMDECK_LANG"), setting, *system):
        code = (wish or "").lower().replace("-", "_").split("_")[0].split(".")[0]
        if code in LANGUAGES:
            return code
    return "en"


@cache
def catalogue(language: str) -> dict[str, str]:
    """Return every text of a language by its dotted key."""
    with (_LOCALE_DIR / f"{language}.yaml").open(encoding="utf-8") as file:
        tree = yaml.load(file, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return dict(_flatten(tree or {}, ""))


def _flatten(tree: Mapping[str, object], prefix: str) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for key, value in tree.items():
        if isinstance(value, Mapping):
            pairs += _flatten(value, f"{prefix}{key}.")
        else:
            pairs.append((f"{prefix}{key}", str(value)))
    return pairs


def has(key: str) -> bool:
    """Return whether English has a text for `key`."""
    return key in catalogue("en") or f"{key}.other" in catalogue("en")


def t(key: str, /, **params: object) -> str:
    """Return the text of `key` with its {parameters} filled in; English when the language lacks it, else the key.

    A key with the forms `one` and `other` is chosen by the parameter `n`.
    """
    forms = (f"{key}.one", f"{key}.other") if params.get("n") == 1 else (f"{key}.other",)
    for texts in (catalogue(_language), catalogue("en")):
        for name in (key, *forms):
            if name in texts:
                return texts[name].format_map(_Given(params)) if params else texts[name]
    return key


class _Given(dict[str, object]):
    """Parameters by name; one that is missing stays visible as `{name}` instead of raising."""

    def __missing__(self, key: str) -> str:
        return f"{{{key}}}"
