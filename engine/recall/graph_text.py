"""The graph as a text that an agent reads (T14)."""

from __future__ import annotations

from engine.model.clock import iso
from engine.model.graph import GraphResult, Relation
from engine.rules.triples import GUESS

HEADER = "【记忆检索结果】"
ENTITIES, RELATIONS = "实体:", "关系:"
NOTHING = "(未找到相关记忆)"


def render_graph(result: GraphResult) -> str:
    """Render entities with type and mentions, then relations `a --[r]--> b` with time, session, turn and confidence.

    A guess reads `a --[[推测]r]--> b` (T7). When nothing was found the text says so.
    """
    if not result.entities:
        return f"{HEADER}\n{NOTHING}"
    lines = [HEADER, ENTITIES]
    lines += [f"- {_line(e.name)} ({_line(e.type)}, 提及 {e.mentions} 次)" for e in result.entities]
    if result.relations:
        lines.append(RELATIONS)
        lines += [_relation(relation) for relation in result.relations]
    return "\n".join(lines)


def _relation(relation: Relation) -> str:
    mark = GUESS if relation.speculative else ""
    details = [iso(relation.at_ms)[:16].replace("T", " ")]
    if relation.session:
        details.append(f"会话 {_line(relation.session)}")
    if relation.turn is not None:
        details.append(f"轮次 {relation.turn}")
    details.append(f"置信度 {relation.confidence:g}")
    told = f"{_line(relation.subject)} --[{mark}{_line(relation.relation)}]--> {_line(relation.object)}"
    return f"- {told} ({', '.join(details)})"


def _line(text: str) -> str:
    return " ".join(text.split())
