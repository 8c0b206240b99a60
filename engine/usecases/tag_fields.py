"""A tag's fields as a caller gives them: checked, completed, and written over what is there (W19, W29)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from engine.model.enums import TagType
from engine.model.errors import MemdeckError, invalid
from engine.model.memory import Caller
from engine.rules.admission import Checks, admit
from engine.rules.tagging import (
    DIMENSIONS,
    MAX_DEFINITION,
    MAX_NAME,
    MAX_SYNONYMS,
    dimension_words,
    is_generic,
    is_name,
    shown_name,
    tag_key,
)  # fmt: skip
from engine.rules.textnorm import clean_input, clip
from engine.store.tags import change_tag
from engine.store.transaction import Tx
from engine.store.vocabulary import Tag
from engine.usecases.desk import Desk
from engine.usecases.drafts import gate


@dataclass(frozen=True)
class Fields:
    """Fields of a tag as a caller gives them, checked; empty ones leave what is there (W29)."""

    kind: TagType | None = None
    definition: str = ""
    dimensions: tuple[str, ...] = ()
    synonyms: Mapping[str, str] = field(default_factory=dict)
    removed: frozenset[str] = frozenset()

    @classmethod
    def read(cls, changes: Mapping[str, object]) -> Fields:
        """Check the fields; raises invalid_argument that names the one that will not do."""
        known = ("type", "definition", "dimensions", "synonyms", "remove_synonyms")
        unknown = [name for name in changes if name not in known]
        if unknown:
            raise invalid(f"a tag has no field {unknown[0]!r}", f"one of: {', '.join(known)}")
        definition = " ".join(clean_input(_text(changes, "definition")).split())
        if len(definition) > MAX_DEFINITION:
            raise invalid(
                f"a definition has at most {MAX_DEFINITION} characters, not {len(definition)}", "say it shorter"
            )
        given = _words(changes, "dimensions")
        dimensions = dimension_words(given)
        if given and not dimensions:
            shown = ", ".join(f"{zh} ({en})" for en, zh in DIMENSIONS.items())
            raise invalid(f"dimensions {', '.join(given)[:60]!r} are not known", f"one of: {shown}")
        return cls(_kind(changes), definition, dimensions, _synonyms(_words(changes, "synonyms")),
                   frozenset(map(tag_key, _words(changes, "remove_synonyms"))))  # fmt: skip

    def fill(self, tx: Tx, tag: Tag) -> bool:
        """Write what is given over what a tag has; True when anything changed."""
        synonyms = {k: v for k, v in (dict(tag.synonyms) | dict(self.synonyms)).items() if k not in self.removed}
        synonyms.pop(tag.key, None)
        if len(synonyms) > MAX_SYNONYMS:
            raise invalid(f"a tag has at most {MAX_SYNONYMS} synonyms, not {len(synonyms)}", "keep those people use")
        return change_tag(
            tx, tag, type=self.kind, definition=self.definition or None, dimensions=self.dimensions or None,
            synonyms=synonyms,
        )  # fmt: skip


def _text(changes: Mapping[str, object], name: str) -> str:
    value = changes.get(name, "")
    if value is not None and not isinstance(value, str):
        raise invalid(f"{name} takes a text", "")
    return value or ""


def _words(changes: Mapping[str, object], name: str) -> list[str]:
    value = changes.get(name) or ()
    if isinstance(value, str):
        value = [part for part in value.replace("，", ",").replace("、", ",").split(",")]
    if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
        raise invalid(f"{name} takes a list of words", f'for example {name}=["one", "two"]')
    return [v for v in value if v.strip()]


def _kind(changes: Mapping[str, object]) -> TagType | None:
    word = _text(changes, "type").strip().lower()
    try:
        return TagType(word) if word else None
    except ValueError:
        raise invalid(f"type={word[:40]!r} is not known", f"one of: {', '.join(TagType)}") from None


def _synonyms(names: Sequence[str]) -> dict[str, str]:
    for name in names:
        if not is_name(name) or len(shown_name(name)) > MAX_NAME:
            raise invalid(f"synonym {clip(name, 30)!r} is no name", f"letters or digits, at most {MAX_NAME} characters")
    return {tag_key(name): shown_name(name) for name in names}


def check_name(by: Caller, name: str) -> None:
    shown = shown_name(name)
    if not is_name(name):
        raise invalid(f"{clip(shown, 30)!r} names nothing", "a tag's name holds a letter, a digit or a picture")
    if len(shown) > MAX_NAME:
        raise invalid(f"a tag's name has at most {MAX_NAME} characters, not {len(shown)}", "use a word or two")
    if is_generic(name) and not by.is_owner:
        raise MemdeckError(
            "generic_rule", f"{shown!r} fits everything", "use a word that tells memories apart", tag=shown
        )


def admit_texts(desk: Desk, by: Caller, *texts: str) -> None:
    """Keep secrets and orders out of the vocabulary, as out of memories (C7)."""
    checks = gate(desk.settings, by)
    wanted = Checks(noise=False, secret=checks.secret, injection=checks.injection)
    verdict = admit("\n".join(text for text in texts if text), checks=wanted)
    if verdict.check == "secret":
        raise MemdeckError("refused_secret", "this holds a secret, so nothing of it was stored", "leave it out")
    if verdict.check == "injection":
        raise MemdeckError("refused_injection", "this reads like orders to an agent", "say what the tag means")
