"""The tool tag: looking up and tending the vocabulary; what is final is only proposed (W21-W29)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Struct

from engine.model.errors import invalid
from engine.model.tags import TagResult, TagView
from engine.serve.arguments import NEEDED, UNLISTED, says
from engine.serve.call import Answer, Call
from engine.serve.shapes import join_lines

_SHOWN = 12


class Tag(Struct, frozen=True, kw_only=True):
    """Arguments of tag."""

    action: Literal["get", "find", "relate", "activate", "deprecate", "align", "merge", "add", "evolve"] = "get"
    name: Annotated[str, NEEDED] = ""
    other: Annotated[str, says("relate, merge: the other tag")] = ""
    level: Literal["synonym", "related", "loose"] | None = None
    definition: str = ""
    dimensions: Annotated[list[str], UNLISTED] = []
    synonyms: list[str] = []
    reason: str = ""
    actions: Annotated[list[dict[str, Any]], UNLISTED] = []


def tag(call: Call, args: Tag) -> Answer:
    """Do one action on a tag, or a batch; a merge becomes a proposal that the owner decides."""
    if args.action == "evolve":
        return _evolve(call, args)
    if args.action == "find":
        return _find(call, args)
    if not args.name.strip():
        raise invalid("name is missing", "give name as the tag", parameter="name")
    if args.action == "get":
        return Answer(_shown(call.engine.tag(call.caller, args.name)))
    return _changed(call, args)


def _find(call: Call, args: Tag) -> Answer:
    found = call.engine.find_tags(call.caller, args.name)
    shown = [f"{line.name} ({line.cards})" for line in found[:_SHOWN]]
    return Answer({"tags": shown, "more": max(0, len(found) - _SHOWN)})


def _changed(call: Call, args: Tag) -> Answer:
    engine, by = call.engine, call.caller
    fields = {"definition": args.definition, "dimensions": args.dimensions, "synonyms": args.synonyms}
    match args.action:
        case "relate":
            result = engine.relate(by, args.name, _other(args), args.level or "related")
        case "merge":
            result = engine.propose_tag_merge(by, [args.name], _other(args), reason=args.reason)
        case "activate":
            result = engine.activate(by, args.name)
        case "deprecate":
            if not args.reason.strip():
                raise invalid("reason is missing", "say why the tag tells nothing apart", parameter="reason")
            result = engine.deprecate(by, args.name, args.reason)
        case "add":
            result = engine.add_tag(
                by, args.name, definition=args.definition, dimensions=args.dimensions, synonyms=args.synonyms
            )
        case _:
            result = engine.edit_tag(by, args.name, fields)
    return _written(call, result)


def _other(args: Tag) -> str:
    if not args.other.strip():
        raise invalid("other is missing", "give other as the second tag", parameter="other")
    return args.other


def _written(call: Call, result: TagResult) -> Answer:
    data: dict[str, object] = {"tag": result.name, "code": result.code, "status": result.status.value}
    if result.review is not None:
        data["review"] = result.review
    return Answer(data | {"store": call.store}, result.notes)


def _evolve(call: Call, args: Tag) -> Answer:
    done = call.engine.evolve(call.caller, args.actions)
    results = [
        {"n": r.number, "ok": r.ok} | ({"code": r.code} if r.code else {}) | ({"note": r.message} if r.message else {})
        for r in done.results
    ]
    return Answer({"results": results, "store": call.store})


def _shown(view: TagView) -> dict[str, object]:
    """Shape a tag for one result: what it means, what it leads to, and what surrounds it."""
    shown: dict[str, object] = {
        "tag": view.name, "code": view.code, "status": view.status.value, "memories": view.cards,
    }  # fmt: skip
    extra: dict[str, object] = {
        "definition": join_lines(view.definition),
        "dimensions": list(view.dimensions),
        "synonyms": list(view.synonyms[:_SHOWN]),
        "merged_into": view.merged_to,
        "redirects": list(view.redirects[:_SHOWN]),
        "relations": [f"{r.level.value}: {r.name}" for r in view.relations[:_SHOWN]],
        "beside": [name for name, _ in view.together[:_SHOWN]],
        "lacks": list(view.lacks),
    }
    return shown | {name: value for name, value in extra.items() if value}
