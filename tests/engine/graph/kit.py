"""Short words for the tests of the graph."""

from __future__ import annotations

from engine.facade import Engine
from engine.model.graph import GraphResult
from engine.model.memory import Caller, Draft, Triple, WriteResult
from tests.engine.kit import OWNER


def tell(
    engine: Engine, *triples: tuple[str, str, str], by: Caller = OWNER, text: str = "", **more: object
) -> WriteResult:
    """Remember statements, by default in their own words."""
    said = text or "; ".join(" ".join(triple) for triple in triples)
    draft = Draft(said, triples=tuple(Triple(*triple) for triple in triples), **more)  # type: ignore[arg-type]
    return engine.remember(by, draft)


def names(result: GraphResult) -> list[str]:
    """Return the names of a result's entities, in its order."""
    return [entity.name for entity in result.entities]


def told(result: GraphResult) -> set[tuple[str, str, str]]:
    """Return a result's relations as plain triples."""
    return {(r.subject, r.relation, r.object) for r in result.relations}
