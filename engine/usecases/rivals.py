"""Near-duplicates and contradictions of what is being remembered: proposals, never decisions (C14, C25).

Compared are current memories of the same subject or a common topic that the text search finds nearest; only the
nearest rival of a kind counts.
"""

from __future__ import annotations

from engine.model.enums import Mode, ReviewKind
from engine.model.memory import Caller, Filter, Memory
from engine.recall.candidates import Candidates
from engine.recall.text import search_text
from engine.rules.authority import may_override
from engine.rules.similarity import judge
from engine.rules.textnorm import fold
from engine.store.facts import rivals_of
from engine.store.review import close_item, open_item
from engine.store.rows import load_memories
from engine.store.selection import recall_selection
from engine.store.transaction import Tx
from engine.usecases.desk import Desk
from engine.usecases.drafts import Prepared

NEAREST = 8
"""How many of the best text matches are compared."""


def propose_rivals(desk: Desk, tx: Tx, by: Caller, prepared: Prepared) -> Memory | None:
    """Return the stronger memory that a new one contradicts, which then has to wait; None when it may be stored.

    A contradiction of an equal or weaker memory, or a near-duplicate, becomes a review item once the new memory
    stands (its number is the next one).
    """
    found = [(judge(_whole(prepared), _text(m)), m) for m in _candidates(desk, tx, by, prepared)]
    conflicts = [(j.similarity, m) for j, m in found if j.kind == "conflict"]
    doubles = [(j.similarity, m) for j, m in found if j.kind == "duplicate"]
    following = int(
        tx.conn.execute("SELECT coalesce((SELECT value FROM counters WHERE name = 'memory'), 0) + 1").fetchone()[0]
    )
    if conflicts:
        similarity, rival = max(conflicts, key=lambda pair: (pair[0], pair[1].id))
        if not may_override(prepared.standing.authority, rival.authority, prepared.standing.speculative):
            return rival
        _open(tx, ReviewKind.CONTRADICTION, following, rival, similarity, prepared)
    elif doubles:
        similarity, rival = max(doubles, key=lambda pair: (pair[0], pair[1].id))
        _open(tx, ReviewKind.NEAR_DUPLICATE, following, rival, similarity, prepared)
    return None


def propose_exclusions(tx: Tx, by: Caller, memory_id: int, text: str) -> None:
    """Put before the owner each current memory whose facts the new one's exclude; both stay as they are (C14)."""
    where = recall_selection(by, Mode.CURRENT, Filter(), valid_ms=tx.at, known=None, moved=False, everywhere=False)
    for rival in load_memories(tx.conn, rivals_of(tx, memory_id, where.sql, where.values), bodies=False):
        open_item(
            tx, ReviewKind.CONTRADICTION, f"{ReviewKind.CONTRADICTION.value}:{memory_id}:{rival.id}", title=text[:200],
            memory_id=memory_id, rival_id=rival.id, evidence={"facts": True, "rival": rival.description[:400]},
            proposal={"decide_between": [memory_id, rival.id]},
        )  # fmt: skip
        # Two texts that differ in one value read like doubles; merging them is no question then.
        close_item(tx, f"{ReviewKind.NEAR_DUPLICATE.value}:{memory_id}:{rival.id}", "their facts exclude each other")


def _candidates(desk: Desk, tx: Tx, by: Caller, prepared: Prepared) -> list[Memory]:
    where = recall_selection(by, Mode.CURRENT, Filter(), valid_ms=tx.at, known=None, moved=False, everywhere=False)
    result = search_text(tx.conn, prepared.text, where=Candidates(where.sql, where.values), limit=NEAREST, now_ms=tx.at)
    ids = [
        r[0] for hit in result.hits for r in tx.conn.execute("SELECT memory_id FROM versions WHERE vid = ?", (hit.vid,))
    ]
    subject, topics = fold(prepared.draft.subject), {fold(t) for t in prepared.draft.topics}
    return [
        m for m in load_memories(tx.conn, ids) if fold(m.subject) == subject or topics & {fold(t) for t in m.topics}
    ]


def _whole(prepared: Prepared) -> str:
    return prepared.text if not prepared.body else f"{prepared.text}\n{prepared.body[:2000]}"


def _text(memory: Memory) -> str:
    return memory.description if not memory.body else f"{memory.description}\n{memory.body[:2000]}"


def _open(tx: Tx, kind: ReviewKind, memory_id: int, rival: Memory, similarity: float, prepared: Prepared) -> None:
    open_item(
        tx,
        kind,
        f"{kind.value}:{memory_id}:{rival.id}",
        title=prepared.text[:200],
        memory_id=memory_id,
        rival_id=rival.id,
        evidence={"similarity": round(similarity, 3), "rival": rival.description[:400]},
        proposal={"merge_into": rival.id}
        if kind is ReviewKind.NEAR_DUPLICATE
        else {"decide_between": [memory_id, rival.id]},
    )
