"""Relations between tags: levels that only rise, how far each is followed, and which names may mean the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from engine.model.enums import TagLevel

RANK: Mapping[TagLevel, int] = {TagLevel.LOOSE: 1, TagLevel.RELATED: 2, TagLevel.SYNONYM: 3}
"""How strong a relation is: synonym over related over loose (W21)."""

SYNONYM_HOPS = 3
"""How many synonym edges in a row are followed; a related edge is followed once, a loose one never (W22)."""

ALIKE = 0.5
"""From here on the bigrams of two names propose a relation (W28)."""

NEARLY_EQUAL = 0.75
"""From here on the proposal is that they mean the same."""

_NUMBER = re.compile(r"\d+")

Edges = Mapping[int, Iterable[tuple[int, TagLevel]]]
"""The relations of some tags: tag to its neighbours with the level of each."""


def is_upgrade(old: TagLevel | None, new: TagLevel) -> bool:
    """Tell whether a relation of level `new` may be written over `old`: only upwards (W21)."""
    return old is None or RANK[new] > RANK[old]


def stronger(one: TagLevel | None, other: TagLevel) -> TagLevel:
    """Return the stronger of two levels."""
    return other if one is None or RANK[other] > RANK[one] else one


@dataclass(frozen=True)
class Path:
    """How a tag was reached from one that a query names: the level of the edges and their number (0 = itself)."""

    level: TagLevel
    hops: int

    @property
    def weight(self) -> float:
        """Return how much of a hit a card of this tag is: 1 for the tag itself, always less through a relation."""
        return 0.9**self.hops if self.level is TagLevel.SYNONYM else 0.5


ITSELF = Path(TagLevel.SYNONYM, 0)


def expand(named: int, neighbours: Callable[[Collection[int]], Edges]) -> dict[int, Path]:
    """Return every tag that counts for a named one, with the shortest path to it (W22).

    Synonyms of synonyms are followed for SYNONYM_HOPS edges; a related edge only from the named tag itself, and no
    further from there. `neighbours` is asked once for each step.
    """
    reached = {named: ITSELF}
    edge: list[int] = [named]
    for hops in range(1, SYNONYM_HOPS + 1):
        if not edge:
            break
        following: list[int] = []
        for own in neighbours(edge).values():
            for tag, level in own:
                if level is TagLevel.SYNONYM and _is_nearer(reached.get(tag), hops):
                    reached[tag] = Path(level, hops)
                    following.append(tag)
                elif level is TagLevel.RELATED and hops == 1 and tag not in reached:
                    reached[tag] = Path(level, 1)
        edge = following
    return reached


def _is_nearer(known: Path | None, hops: int) -> bool:
    """Tell whether a way over synonyms is new, or better than the related edge that was found before."""
    return known is None or known.level is TagLevel.RELATED


def bigrams(key: str) -> frozenset[str]:
    """Return the character bigrams of a name's key; a single character stands for itself."""
    return frozenset(key[i : i + 2] for i in range(len(key) - 1)) or frozenset((key,))


def overlap(one: str, other: str) -> float:
    """Return the intersection over union of the bigrams of two keys, 0 to 1 (W28)."""
    a, b = bigrams(one), bigrams(other)
    return len(a & b) / len(a | b)


def proposed_level(one: str, other: str) -> TagLevel | None:
    """Return the relation that the keys of two names suggest, None when they are not alike (W28).

    Names with other numbers are names of other things: `sprint 12` and `sprint 13`.
    """
    value = overlap(one, other)
    if value < ALIKE or _NUMBER.findall(one) != _NUMBER.findall(other):
        return None
    return TagLevel.SYNONYM if value >= NEARLY_EQUAL else TagLevel.RELATED
