"""What a write's claim is worth: the door decides, never the claim alone (C10)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple, TypeVar

from engine.model.enums import Authority, Origin, SaidBy
from engine.model.errors import invalid

# Source words are stored and shown as "who said it"; an agent's report never reads like the owner's own word.
_OUTSIDE = "outside"
_OWN_DOORS = {
    Origin.TUI: ("user", Authority.HUMAN),
    Origin.CLI: ("user", Authority.HUMAN),
    Origin.FILE: ("file", Authority.REPORTED),
}
_AGENT = {
    SaidBy.USER: ("agent_reported_user", Authority.REPORTED),
    SaidBy.TOOL: ("tool_output", Authority.OBSERVED),
    SaidBy.ME: ("agent", Authority.INFERRED),
    SaidBy.GUESS: ("agent", Authority.INFERRED),
    SaidBy.OUTSIDE: (_OUTSIDE, Authority.EXTERNAL),
}

_Word = TypeVar("_Word", bound=StrEnum)


class Standing(NamedTuple):
    """What a write is worth: source word, authority (rank 1 to 6), whether it is speculative (C10, T7)."""

    source: str
    authority: Authority
    speculative: bool


def standing(
    origin: Origin | str,
    said_by: SaidBy | str | None = None,
    *,
    imported: int | None = None,
    sources: Iterable[int] = (),
) -> Standing:
    """Return the standing of a write through the door `origin` with the claim `said_by` (C10).

    `imported` is the rank written in an imported object: it can lower the standing, never lift it above
    imported. `sources` are the ranks of the memories that a system derivation rests on. What is
    quoted from outside is external through every door. Raises `invalid_argument` for an unknown word or rank.
    """
    door = _word(Origin, origin, "origin")
    claim = None if said_by is None else _word(SaidBy, said_by, "said_by")
    speculative = claim is SaidBy.GUESS
    if claim is SaidBy.OUTSIDE:
        return Standing(_OUTSIDE, Authority.EXTERNAL, False)
    if door is Origin.SYSTEM:
        return Standing("derived", _derived(sources), speculative)
    if door is Origin.IMPORT:
        return Standing("imported", _imported(claim, imported), speculative)
    source, authority = _AGENT[claim or SaidBy.ME] if door is Origin.AGENT else _OWN_DOORS[door]
    return Standing(source, authority, speculative)


def may_override(new_rank: int, old_rank: int, speculative: bool = False) -> bool:
    """Tell whether a write may supersede, correct or contradict a current memory at once (T7, T18).

    An equal or lower old rank gives way; against a higher one the write waits; a guess never supersedes.
    """
    return not speculative and new_rank >= old_rank


def _derived(sources: Iterable[int]) -> Authority:
    # A derivation that names no source has nothing to stand on.
    return Authority(min(min(sources, default=Authority.EXTERNAL), Authority.INFERRED))


def _imported(claim: SaidBy | None, rank: int | None) -> Authority:
    if rank is not None and not Authority.EXTERNAL <= rank <= Authority.HUMAN:
        raise invalid(f"authority {rank} is not known", "a rank from 1 to 6")
    claimed = Authority.IMPORTED if claim is None else _AGENT[claim][1]
    return Authority(min(claimed, Authority.IMPORTED, Authority.IMPORTED if rank is None else rank))


def _word(kind: type[_Word], value: str, name: str) -> _Word:
    try:
        return kind(value)
    except ValueError:
        raise invalid(f"{name} {value!r} is not known", f"one of {', '.join(kind)}") from None
