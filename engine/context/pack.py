"""Assembling the context pack in the order of R12, within the budgets of a session.

The same store, ledger, question and day give the same bytes. What changes most stands last, so that hosts can cache
the front. A pack is empty when no section has anything to say.
"""

from __future__ import annotations

from engine.context import budget, cues, gap
from engine.context.draft import Draft, Limits, Material, Space
from engine.context.fence import quoted
from engine.context.notes import Depth
from engine.context.sections import (
    CORE,
    DISCIPLINE,
    HANDLE,
    PERSONA,
    PLAYBOOK,
    TASKS,
    Asking,
    core_line,
    fill,
    provided,
    says_all,
)
from engine.model.packs import ContextPack, PackBudget
from engine.rules.tokens import estimate_tokens
from engine.store.ephemeral import Ledger

HEADING_CHARS = 80


def build_pack(material: Material, limits: Limits, ledger: Ledger | None) -> tuple[ContextPack, Ledger | None]:
    """Return the pack and the ledger after it; without a session nothing is given only once and nothing is counted."""
    draft = Draft(material, limits)
    asking = Asking(material.question, cues.going_on_cue(material.question) if material.providers else "")
    draft.add("discipline", DISCIPLINE, len(DISCIPLINE), "chars")
    for room in (PERSONA, PLAYBOOK):
        draft.add(room.name, provided(material.providers, room, asking), room.cap, "chars")
    if not (ledger and ledger.core):
        _add_core(draft)
    if not (ledger and ledger.baseline):
        _add_baseline(draft)
    sign = _signature(material)
    again = bool(ledger and sign and ledger.signature == sign)
    request = cues.explicit_request(material.question) if again else ""
    repeated = again and not request
    if repeated:
        draft.leave([c.memory for c in material.found], "repeat")
    else:
        _add_relevant(draft, Space(draft, ledger))
    for room in (TASKS, HANDLE):
        draft.add(room.name, provided(material.providers, room, asking), room.cap, "chars")
    if not repeated:
        _add_gap(draft, ledger)
    if len(draft.sections) == 1:
        draft.sections.clear()
    else:
        _add_status(draft, ledger)
    pack = _pack(draft, ledger, repeated, request)
    return pack, ledger and _carried_on(ledger, draft, pack, sign)


def _signature(material: Material) -> str:
    if not material.question.strip():
        return ""
    return budget.signature(material.question, (c.pick for c in material.found if not c.memory.baseline))


def _add_core(draft: Draft) -> None:
    memories = draft.material.core
    text, taken = fill(CORE, [core_line(memory) for memory in memories])
    draft.add("core", text, CORE.cap, "chars")
    for memory in (memories[place] for place in taken):
        draft.take(memory, "core", whole=not memory.body.strip() and says_all(memory))


def _add_baseline(draft: Draft) -> None:
    most, depth = draft.limits.baseline, draft.limits.depth
    fixed = [memory for memory in draft.material.baseline if memory.id not in draft.whole]
    if fixed:
        depth = Depth.SUMMARY if depth is Depth.SUMMARY else Depth.FULL
        text = "## Always\n" + "".join(draft.note(memory, depth=depth) for memory in fixed[:most])
        draft.add("baseline", text, most, "notes", used=len(fixed[:most]))
    for memory in fixed[:most]:
        draft.take(memory, "baseline")
    draft.leave(fixed[most:], "baseline", f"> {most}")


def _add_relevant(draft: Draft, space: Space) -> None:
    """Add what answers the question, best first, as long as it fits; then group it by topic (C16)."""
    found = [c for c in draft.material.found if c.memory.id not in draft.whole]
    if draft.limits.depth is Depth.OFF:
        draft.leave([c.memory for c in found], "off")
        return
    groups: dict[str, str] = {}
    for candidate in found:
        topic, memory = candidate.topic, candidate.memory
        block = draft.note(memory, candidate.lines, why="via topic" if candidate.sibling else "")
        if topic not in groups:
            block = f"## Relevant: {quoted(topic, HEADING_CHARS)}\n{block}" if topic else f"## Relevant\n{block}"
        refusal = space.refuses(block, always=memory.baseline)
        if refusal:
            draft.leave([memory], refusal)
            continue
        space.spend(block)
        groups[topic] = groups.get(topic, "") + block
        draft.take(memory, candidate.why)
    without_topic = groups.pop("", "")
    text = "".join(groups.values()) + without_topic
    draft.add("relevant", text, draft.limits.tokens, "tokens", used=estimate_tokens(text))


def _add_gap(draft: Draft, ledger: Ledger | None) -> None:
    """Add the gap card unless the session saw the same one or has no bytes left for cards (S22, S24)."""
    material, limits = draft.material, draft.limits
    if limits.depth is Depth.OFF:
        return
    missing = [c.memory for c in material.found if c.memory.id in draft.for_budget]
    draft.leave(material.beyond, "number", f"> {limits.memories}")
    asked = not material.found and cues.asks_own_history(material.question)
    card = gap.card(
        gap.Gap([*missing, *material.beyond], len(missing), asked, material.archived, material.place, material.dormant)
    )
    size = len(card.encode())
    if ledger is not None:
        full = ledger.card_bytes + size > budget.pools(limits.session_bytes).card
        if full or gap.signature(card) in ledger.cards:
            return
    draft.add("gap", card, gap.MAX_BYTES, "bytes", used=size)


def _add_status(draft: Draft, ledger: Ledger | None) -> None:
    """Add how many notes stand here, the session's bytes against its cap, and what was left out for budget (S29)."""
    cap, over = draft.limits.session_bytes, len(draft.for_budget)
    omitted = f" · 因预算省略 {over} (left out for budget)" if over else ""
    cards = (ledger.card_bytes if ledger else 0) + len(draft.text_of("gap").encode())
    bodies = ledger.body_bytes if ledger else 0
    bodies += len(draft.text().encode()) + 1 - len(draft.text_of("gap").encode())
    line = ""
    # The line counts its own bytes, too: measured once with a figure of the same width.
    for _ in range(2):
        size = bodies + len(line.encode())
        beyond = " · over the pool of bodies" if size > budget.pools(cap).body else ""
        line = f"(memdeck: {len(draft.reasons)} notes · session {size + cards}/{cap} bytes{omitted}{beyond})\n"
    draft.add("status", line, len(line), "chars")


def _pack(draft: Draft, ledger: Ledger | None, repeated: bool, request: str) -> ContextPack:
    text = draft.text()
    pools = budget.pools(draft.limits.session_bytes)
    before = ledger.body_bytes + ledger.card_bytes if ledger else 0
    return ContextPack(
        text=text,
        sections=tuple((section.name, estimate_tokens(section.text)) for section in draft.sections),
        injected=tuple(draft.reasons) if text else (),
        omitted=tuple((o.id, o.reason) for o in draft.left_out if o.id in draft.for_budget or o.reason == "number"),
        tokens=estimate_tokens(text),
        parts=tuple(draft.sections),
        reasons=draft.reasons,
        left_out=(*draft.left_out, *draft.material.below),
        budget=PackBudget(
            draft.limits.session_bytes, pools.body, pools.card, before, before + len(text.encode()) if ledger else 0
        ),
        repeated=repeated,
        request=request,
    )


def _carried_on(ledger: Ledger, draft: Draft, pack: ContextPack, sign: str) -> Ledger:
    """Return the ledger after a pack; the sections given once count as given when they really stand in it (S20)."""
    card = draft.text_of("gap")
    size = len(card.encode())
    after = ledger._replace(signature=sign or ledger.signature)
    if not pack.text:
        return after
    return after._replace(
        packs=ledger.packs + 1,
        tokens=ledger.tokens + pack.tokens,
        body_bytes=ledger.body_bytes + len(pack.text.encode()) - size,
        card_bytes=ledger.card_bytes + size,
        core=ledger.core or bool(draft.text_of("core")),
        baseline=ledger.baseline or any(memory.id in draft.reasons for memory in draft.material.baseline),
        cards=budget.with_card(ledger, gap.signature(card)) if card else ledger.cards,
    )
