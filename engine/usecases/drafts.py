"""From what a caller asks to remember to what may be stored: limits, defaults, admission and standing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from engine.model.enums import Kind, Origin, SaidBy, Scope, Type
from engine.model.errors import MemdeckError, invalid
from engine.model.memory import Caller, Draft, Triple
from engine.rules.admission import Checks, Verdict, admit
from engine.rules.authority import Standing, standing
from engine.rules.textnorm import clean_input, fold, one_line
from engine.rules.triples import without_marks
from engine.settings import Settings
from engine.store.rows import dump

MAX_TEXT_BYTES = 524_288
"""A memory's text and body together, in UTF-8 bytes; equal is allowed (S7)."""
MAX_DESCRIPTION = 400
MAX_TAGS, MAX_TAG_CHARS = 20, 40
MAX_ALIASES, MAX_ALIAS_CHARS = 24, 60
MAX_TOPICS, MAX_NAME_CHARS = 20, 200
MAX_TRIPLES, MAX_TERM_CHARS, MAX_TYPE_CHARS = 100, 200, 60
LONG_KEY_CHARS = 20
_ONLY_NOISE = Checks(noise=True, secret=False, injection=False)
_FAR_MS = 253_402_300_799_999
"""The last millisecond of the year 9999; no calendar date lies beyond."""


@dataclass(frozen=True)
class Prepared:
    """A draft that passed its checks: the columns of its version, its texts, and what admission said."""

    draft: Draft
    text: str
    body: str
    columns: dict[str, object]
    standing: Standing
    verdict: Verdict
    notes: tuple[str, ...]
    skipped: int = 0

    @property
    def print_(self) -> bytes:
        """The keyed fingerprint of the content, once the store has given it."""
        value = self.columns["fingerprint"]
        assert isinstance(value, bytes)
        return value


def gate(settings: Settings, by: Caller) -> Checks:
    """Return which checks of admission are on for a door (C7); a file that was kept is no noise."""
    return Checks(
        noise=settings.flag("admission.noise") and by.origin is not Origin.IMPORT,
        secret=settings.flag("admission.secret"),
        injection=settings.flag("admission.injection"),
    )


def prepare(draft: Draft, by: Caller, checks: Checks, now: int) -> Prepared:
    """Check and complete a draft; raises invalid_argument, refused_noise or refused_secret.

    A long or many-lined text becomes the body, and its first sentence the description.
    """
    notes: list[str] = []
    text, body = clean_input(draft.text).strip(), clean_input(draft.body)
    if not text and not body.strip():
        raise invalid("there is nothing to remember: the text is empty", "say the fact in one sentence")
    size = len(text.encode()) + len(body.encode())
    if size > MAX_TEXT_BYTES:
        raise invalid(
            f"the text has {size:,} bytes; a memory holds at most {MAX_TEXT_BYTES:,}",
            "split it, or keep a summary and a path",
        )
    if not body and (len(text) > MAX_DESCRIPTION or "\n" in text):
        text, body = one_line(text, MAX_DESCRIPTION), text
    elif not text:
        text = one_line(body, MAX_DESCRIPTION)
    text = " ".join(text.split("\n"))
    triples, skipped = _triples(draft.triples, notes)
    draft = replace(
        draft,
        name=_line(draft.name, MAX_NAME_CHARS),
        subject=_line(draft.subject, MAX_NAME_CHARS),
        tags=_names(draft.tags, MAX_TAGS, MAX_TAG_CHARS, "tags", notes),
        aliases=_names(draft.aliases, MAX_ALIASES, MAX_ALIAS_CHARS, "aliases", notes),
        topics=_names(draft.topics, MAX_TOPICS, MAX_NAME_CHARS, "topics", notes),
        triples=triples,
        entity_types=_entity_types(draft.entity_types),
        mentions=tuple(name for name in (_line(m, MAX_TERM_CHARS) for m in draft.mentions) if name),
        said_by=_said_by(draft, triples, by),
    )
    _check_times(draft)
    if not (math.isfinite(draft.confidence) and 0 <= draft.confidence <= 1):
        raise invalid(f"confidence {draft.confidence} is not between 0 and 1", "leave it out, or give 0 to 1")
    verdict = inspect(draft, text, body, checks)
    stand = standing(by.origin, draft.said_by, imported=draft.imported_authority)
    scope, key = _scope(draft, by)
    valid_from = draft.valid_from if draft.valid_from is not None else min(draft.dated_at or now, now)
    if draft.valid_to is not None and draft.valid_to <= valid_from:
        raise invalid("it ends before it begins", "give `until` a later time than `since`")
    columns: dict[str, object] = {
        "kind": draft.kind.value, "type": (draft.type or Type.REFERENCE).value, "name": draft.name,
        "aliases": dump(list(draft.aliases)), "subject": draft.subject, "valid_from": valid_from,
        "valid_to": draft.valid_to, "dated_at": draft.dated_at, "scope": scope.value, "scope_key": key,
        "thread": draft.thread, "seq": draft.seq, "source": draft.imported_source or stand.source,
        "origin": by.origin.value, "actor": by.actor, "authority": int(stand.authority),
        "confidence": min(draft.confidence, 0.6) if stand.speculative else draft.confidence,
        "speculative": int(stand.speculative), "manually_corrected": 0, "status": draft.status.value,
        "baseline": int(draft.baseline), "baseline_priority": draft.baseline_priority, "scene": draft.scene,
        "scene_sub": draft.scene_sub, "perception": dump(dict(draft.perception)), "extra": dump(dict(draft.extra)),
    }  # fmt: skip
    return Prepared(draft, text, body, columns, stand, verdict, tuple(notes), skipped)


def inspect(draft: Draft, text: str, body: str, checks: Checks) -> Verdict:
    """Run admission over everything that would be stored (C7); raises refused_noise or refused_secret.

    An injection comes back as the verdict: the caller stores it quarantined.
    """
    if checks.noise and not body and admit(text, checks=_ONLY_NOISE).check == "noise":
        raise MemdeckError(
            "refused_noise",
            "this says nothing worth keeping, so it was not stored",
            "remember a fact, a wish or a decision",
            check="noise",
        )
    triples = (f"{t.subject} {t.relation} {t.object} {t.subject_type} {t.object_type}" for t in draft.triples)
    parts = (
        text, body, draft.name, draft.subject, *draft.aliases, *draft.tags, *draft.topics, *triples,
        *_strings(draft.entity_types), *draft.mentions, *_strings(draft.extra), *_strings(draft.perception),
    )  # fmt: skip
    verdict = admit("\n".join(part for part in parts if part), checks=replace(checks, noise=False))
    if verdict.check == "secret":
        raise MemdeckError(
            "refused_secret",
            f"this holds a secret ({verdict.kind.replace('_', ' ')}), so nothing of it was stored",
            "say where the secret is kept instead of the secret itself",
            check="secret",
            kind=verdict.kind,
        )
    return verdict


def _strings(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)


def _scope(draft: Draft, by: Caller) -> tuple[Scope, str | None]:
    """A write goes to the workspace when one is known, else it is global (C9)."""
    scope = draft.scope or (Scope.WORKSPACE if (draft.scope_key or by.workspace) and not by.is_owner else Scope.GLOBAL)
    if scope is Scope.GLOBAL:
        return scope, None
    own = by.workspace if scope is Scope.WORKSPACE else by.session
    key = draft.scope_key if draft.scope_key and by.origin is not Origin.AGENT else own
    if not key:
        raise invalid(f"no {scope.value} is known here", f"leave the scope out, or start memdeck in a {scope.value}")
    return scope, key


def _check_times(draft: Draft) -> None:
    for name, value in (("since", draft.valid_from), ("until", draft.valid_to), ("dated", draft.dated_at)):
        if value is not None and not -_FAR_MS <= value <= _FAR_MS:
            raise invalid(f"`{name}` is no date between the years 1 and 9999", "write it as 2026-11-29")


def _line(text: str, limit: int) -> str:
    return " ".join(clean_input(text).split())[:limit]


def _names(values: Iterable[str], most: int, chars: int, what: str, notes: list[str]) -> tuple[str, ...]:
    kept: dict[str, str] = {}
    for value in values:
        name = _line(value, 10_000)
        if not fold(name).strip() or not any(ch.isalnum() or ord(ch) > 0x2190 for ch in name):
            continue
        if len(name) > chars:
            notes.append(f"{what}: one was cut to {chars} characters")
        kept.setdefault(fold(name[:chars]), name[:chars])
    if len(kept) > most:
        notes.append(f"{what}: only the first {most} of {len(kept)} were kept")
    return tuple(kept.values())[:most]


def _triples(triples: Iterable[Triple], notes: list[str]) -> tuple[tuple[Triple, ...], int]:
    """Return the complete triples, marks of a guess turned into a flag (T7), and how many were incomplete (T4)."""
    kept, skipped = [], 0
    for triple in triples:
        marked = [without_marks(_line(p, MAX_TERM_CHARS)) for p in (triple.subject, triple.relation, triple.object)]
        subject, relation, object = parts = [part for part, _ in marked]
        if not all(parts):
            skipped += 1
            continue
        if long := next((part for part in parts if len(part) > LONG_KEY_CHARS), ""):
            notes.append(f"long_key: {long[:30]}… reads like a sentence; split it into short statements")
        one, other = _line(triple.subject_type, MAX_TYPE_CHARS), _line(triple.object_type, MAX_TYPE_CHARS)
        guess = triple.speculative or any(found for _, found in marked)
        kept.append(Triple(subject, relation, object, one, other, guess, triple.weight))
    if skipped:
        notes.append(f"{skipped} triple{'s' if skipped > 1 else ''} without subject, relation or object skipped")
    if len(kept) > MAX_TRIPLES:
        raise invalid(f"{len(kept)} triples at once; at most {MAX_TRIPLES}", "send them in several calls")
    return tuple(kept), skipped


def _said_by(draft: Draft, triples: Iterable[Triple], by: Caller) -> SaidBy | None:
    """Return who said it; what an agent marks as a guess in words counts as one (T7)."""
    guesses = [triple.speculative for triple in triples]
    marked = by.origin is Origin.AGENT and draft.said_by is None and without_marks(draft.text)[1]
    return SaidBy.GUESS if marked or (guesses and all(guesses)) else draft.said_by


def _entity_types(types: Mapping[str, str]) -> dict[str, str]:
    pairs = ((_line(name, MAX_TERM_CHARS), _line(type_, MAX_TYPE_CHARS)) for name, type_ in types.items())
    return {name: type_ for name, type_ in pairs if name and type_}


def is_deduplicated(draft: Draft) -> bool:
    """Tell whether the same content again is only evidence; imported files and turns keep rows of their own."""
    return draft.kind not in (Kind.NOTE, Kind.EPISODE)
