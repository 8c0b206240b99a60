"""The tags channel: from the tags that a question names, over their relations, to the memories that carry them.

Names become tags (redirects followed, deprecated ones dropped), relations widen them, postings give the cards. A card's
strength is the share of the question's tags that it has; decay, feedback and scene make it the score (W34, W36-W38).
Nothing here writes (W11).
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from engine.model.enums import Channel, TagStatus
from engine.model.memory import RecallQuery
from engine.recall.candidates import EVERYTHING, Candidates
from engine.rules import tag_score
from engine.rules.tag_relations import Path, expand
from engine.rules.tag_score import Score
from engine.rules.tagging import is_name, shown_name, tag_key
from engine.rules.terms import is_unspaced
from engine.store.rows import open_at
from engine.store.tag_lists import has_more_cards
from engine.store.vocabulary import Tag, Vocabulary

TOP = 3
"""Cards that a single match returns unless more are asked for; it considers CONSIDERED, the strongest first (W35)."""
CONSIDERED = 50

MOST_EXPANDED = 100
"""Tags that one question is widened to (W35)."""

MAX_UNITS = 240
LONGEST_NAME = 8
"""Words or unspaced characters of a text that are searched for tags, and of a name that can be found in it."""

_UNIT = re.compile(r"[^\W_]+|[^\w\s]", re.UNICODE)
_DAY_MS = 86_400_000.0


@dataclass(frozen=True)
class Cue:
    """The tags of a question: each name with its tag, the unknown and deprecated names, and the malformed tags."""

    tags: Mapping[str, Tag]
    missing: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    malformed: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Return how many different tags the question names, unknown ones included."""
        return len({tag.id for tag in self.tags.values()}) + len(self.missing)


NO_CUE = Cue({})


@dataclass(frozen=True)
class Reached:
    """One tag of a card and how the question came to it: the name that was asked for, and the path from there."""

    tag: Tag
    asked: str
    path: Path

    @property
    def why(self) -> str:
        """Say in a few words how the tag was reached (W41)."""
        by_name = tag_key(self.asked) == self.tag.key
        if self.path.hops == 0:
            return self.tag.name if by_name else f"{self.tag.name} (through {self.asked}, synonym)"
        hops = f"{self.path.hops} hop{'s' if self.path.hops > 1 else ''}"
        return f"{self.tag.name} (through {self.asked}, {self.path.level.value}, {hops})"


@dataclass(frozen=True)
class TagHit:
    """One version that matches, with the parts of its score and the tags that it was reached by."""

    vid: int
    memory_id: int
    score: Score
    reached: tuple[Reached, ...]

    @property
    def why(self) -> str:
        """Return the receipt in one line: the tags with their paths."""
        return "tags: " + ", ".join(r.why for r in self.reached)

    def parts(self) -> dict[str, object]:
        """Return the receipt in full, as plain values (W41)."""
        return {
            "names": [r.tag.name for r in self.reached], "codes": [r.tag.code for r in self.reached],
            "paths": [r.why for r in self.reached], "strength": round(self.score.strength, 6),
            "decay": round(self.score.decay, 6), "feedback": self.score.feedback, "scene": self.score.scene,
        }  # fmt: skip


@dataclass(frozen=True)
class TagMatch:
    """All cards that a cue finds, best first, and the cue itself."""

    cue: Cue
    hits: tuple[TagHit, ...] = ()
    codes: tuple[str, ...] = field(default=())


def cue_of(vocabulary: Vocabulary, query: RecallQuery) -> Cue:
    """Return what a question says of tags: those it asks for, else those in its text where the channel listens."""
    if query.filter.tags:
        return named(vocabulary, query.filter.tags)
    return extracted(vocabulary, query.text) if query.channel in (Channel.TAGS, Channel.FUSED) else NO_CUE


def named(vocabulary: Vocabulary, names: Iterable[str]) -> Cue:
    """Return the cue of names that a caller gives (W42)."""
    wanted = {tag_key(name): shown_name(name) for name in names if is_name(name)}
    found = vocabulary.resolve(wanted.values())
    tags = {name: tag for name, tag in found.items() if tag.status is not TagStatus.DEPRECATED}
    return _cue(tags, [n for n in wanted.values() if n not in found], [n for n in found if n not in tags])


def extracted(vocabulary: Vocabulary, text: str) -> Cue:
    """Return the cue of a text: every tag whose name or synonym stands in it, the longest first (W13, W42).

    Names of one unspaced character count only where they stand alone, so that one is not found inside another word.
    """
    spans = [(first, last, text[begin:end]) for first, last, begin, end in _spans(text)]
    keys = {part: tag_key(part) for *_, part in spans}
    known = vocabulary.by_keys(keys.values()) if keys else {}
    taken: set[int] = set()
    tags: dict[str, Tag] = {}
    for first, last, part in sorted(spans, key=lambda span: (span[0] - span[1], span[0])):
        tag = known.get(keys[part])
        if tag is not None and taken.isdisjoint(range(first, last)):
            taken.update(range(first, last))
            if tag.status is not TagStatus.DEPRECATED and tag.id not in {t.id for t in tags.values()}:
                tags[part] = tag
    return _cue(tags, [], [])


def _cue(tags: Mapping[str, Tag], missing: Sequence[str], dropped: Sequence[str]) -> Cue:
    malformed = dict.fromkeys(tag.name for tag in tags.values() if tag.lacks)
    return Cue(tags, tuple(missing), tuple(dropped), tuple(malformed))


def _spans(text: str) -> list[tuple[int, int, int, int]]:
    """Return every run of up to LONGEST_NAME units that may be a name: first unit, last, and where it stands."""
    units: list[tuple[int, int, bool]] = []
    for match in _UNIT.finditer(text[: MAX_UNITS * 20]):
        units += _units(match)
        if len(units) >= MAX_UNITS:
            break
    units = units[:MAX_UNITS]
    joined = [a[1] == b[0] and a[2] and b[2] for a, b in pairwise(units)]
    spans = []
    for first in range(len(units)):
        for last in range(first + 1, min(first + LONGEST_NAME, len(units)) + 1):
            begin, end = units[first][0], units[last - 1][1]
            if any(ch in "\n。！？!?;；,，" for ch in text[begin:end]):
                break
            if last - first == 1 and units[first][2] and _is_inside(joined, first):
                continue
            spans.append((first, last, begin, end))
    return spans


def _units(match: re.Match[str]) -> list[tuple[int, int, bool]]:
    """Return the units of one run: characters where no blanks part words, else the word (start, end, unspaced)."""
    begin, word = match.start(), match.group()
    found: list[tuple[int, int, bool]] = []
    start = 0
    for n, ch in enumerate(word):
        if is_unspaced(ch):
            if start < n:
                found.append((begin + start, begin + n, False))
            found.append((begin + n, begin + n + 1, True))
            start = n + 1
    if start < len(word):
        found.append((begin + start, begin + len(word), False))
    return found


def _is_inside(joined: Sequence[bool], unit: int) -> bool:
    return (unit > 0 and joined[unit - 1]) or (unit < len(joined) and joined[unit])


def match_cue(
    vocabulary: Vocabulary,
    cue: Cue,
    *,
    where: Candidates = EVERYTHING,
    now_ms: int = 0,
    scene: str = "",
    scene_sub: str = "",
    most: int | None = None,
) -> TagMatch:
    """Return every card that a cue finds among the versions that `where` admits, best first, ties newer first (W40).

    An empty cue finds nothing (W42). `now_ms` is what the age of a card is seen from. A tag that more than `most` cards
    carry is passed over.
    """
    ways = _ways(vocabulary, cue) if cue.tags else {}
    if most is not None:
        ways = {id: own for id, own in ways.items() if not has_more_cards(vocabulary.conn, id, most)}
    if not ways:
        return TagMatch(cue)
    tags = vocabulary.by_ids(ways)
    hits = []
    for card in _cards(vocabulary, ways, where):
        reached = [(asked, path, tags[id]) for id in card.tags for asked, path in ways[id].items()]
        best: dict[int, Reached] = {}
        for asked, path, tag in reached:
            own = cue.tags[asked].id
            if own not in best or path.weight > best[own].path.weight:
                best[own] = Reached(tag, asked, path)
        share = tag_score.strength((r.path.weight for r in best.values()), cue.size)
        bonus = tag_score.scene_bonus(card.scene, card.scene_sub, scene, scene_sub)
        score = tag_score.score(share, (now_ms - card.at_ms) / _DAY_MS, card.feedback, bonus)
        if score is not None:
            shown = sorted(best.values(), key=lambda r: (-r.path.weight, r.tag.id))
            hits.append(
                (-score.total, -card.at_ms, card.memory_id, TagHit(card.vid, card.memory_id, score, tuple(shown)))
            )
    hits.sort(key=lambda h: h[:3])
    return TagMatch(cue, tuple(h[3] for h in hits), tuple(dict.fromkeys(tag.code for tag in cue.tags.values())))


def match_top(
    vocabulary: Vocabulary,
    cue: Cue,
    *,
    where: Candidates = EVERYTHING,
    now_ms: int = 0,
    scene: str = "",
    scene_sub: str = "",
    top: int = TOP,
) -> TagMatch:
    """Return the best `top` cards of the CONSIDERED ones with most of the cue's tags, the newest of equals (W35)."""
    whole = match_cue(vocabulary, cue, where=where, now_ms=now_ms, scene=scene, scene_sub=scene_sub)
    strongest = sorted(enumerate(whole.hits), key=lambda pair: (-pair[1].score.strength, pair[0]))[:CONSIDERED]
    return TagMatch(cue, tuple(hit for _, hit in sorted(strongest, key=lambda pair: pair[0])[:top]), whole.codes)


def _ways(vocabulary: Vocabulary, cue: Cue) -> dict[int, dict[str, Path]]:
    """Return every tag that counts for the cue, with the path from each name that reaches it (W22)."""
    ways: dict[int, dict[str, Path]] = defaultdict(dict)
    for name, tag in cue.tags.items():
        reached = sorted(expand(tag.id, vocabulary.neighbours).items(), key=lambda pair: (-pair[1].weight, pair[0]))
        for id, path in reached[:MOST_EXPANDED]:
            ways[id][name] = path
    return ways


@dataclass(frozen=True)
class _Card:
    vid: int
    memory_id: int
    tags: tuple[int, ...]
    scene: str
    scene_sub: str
    at_ms: int
    feedback: str | None


def _cards(vocabulary: Vocabulary, ids: Collection[int], where: Candidates) -> list[_Card]:
    """Return the versions that carry any of the tags and may be returned."""
    carried = {old: new for old, new in vocabulary.merged.items() if new in ids}
    rows = vocabulary.conn.execute(
        "SELECT v.vid, v.memory_id, l.tag_id, v.scene, v.scene_sub, coalesce(v.dated_at, m.recorded_at), u.feedback"
        " FROM memory_tags l JOIN versions v ON v.memory_id = l.memory_id JOIN memories m ON m.id = l.memory_id"
        " LEFT JOIN usage u ON u.memory_id = l.memory_id"
        f" WHERE l.tag_id IN (SELECT value FROM json_each(?)) AND {open_at('l', vocabulary.known)}"
        f" AND ({where.sql or open_at('v', vocabulary.known)})",
        (json.dumps([*ids, *carried]), *where.params),
    ).fetchall()
    tags: dict[int, dict[int, None]] = defaultdict(dict)
    cards: dict[int, Sequence[object]] = {}
    for vid, memory_id, tag_id, *rest in rows:
        tags[vid][carried.get(tag_id, tag_id)] = None
        cards[vid] = (memory_id, *rest)
    return [
        _Card(vid, int(str(row[0])), tuple(tags[vid]), str(row[1] or ""), str(row[2] or ""), int(str(row[3])),
              None if row[4] is None else str(row[4]))
        for vid, row in cards.items()
    ]  # fmt: skip
