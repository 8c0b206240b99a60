"""The tools that change something: remember and forget."""

from __future__ import annotations

import re
from typing import Annotated, Literal
from urllib.parse import parse_qsl, quote

from msgspec import Meta, Struct

from engine.model.enums import Kind, SaidBy, Scope, Type
from engine.model.errors import invalid
from engine.model.memory import Draft, Triple, WriteResult
from engine.serve.arguments import NEEDED, UNLISTED, Revision, says
from engine.serve.call import Answer, Call
from engine.serve.shapes import written
from engine.serve.times import start_of

_SHOWN_REFS = 20
PENDING_NOTE = "waits for the owner, who decides; trying again is useless"

_TRIPLES = 'a list of [subject, relation, object], three texts each: [["Ana", "works at", "Acme"]]'
_MATCH_KEYS = ("source", "topic", "subject", "relation", "object", "before")


class Remember(Struct, frozen=True, kw_only=True):
    """Arguments of remember."""

    text: Annotated[str, NEEDED, says("one self-contained sentence")] = ""
    body: Annotated[str, says("details, Markdown")] = ""
    said_by: Annotated[
        Literal["user", "tool", "me", "guess", "outside"] | None, says("who said so; me: your conclusion")
    ] = None
    type: Literal["user", "feedback", "project", "reference"] | None = None
    replaces: Annotated[str, says("what this replaces: mem-7@3")] = ""
    was: Annotated[Literal["outdated", "wrong"] | None, says("what the replaced one was")] = None
    since: Annotated[str, says("date it became true")] = ""
    until: Annotated[str, says("date it stops being true")] = ""
    topics: list[str] = []
    tags: list[str] = []
    scope: Literal["global", "workspace", "session"] | None = None
    triples: Annotated[list[list[str]], says("[subject, relation, object]", form=_TRIPLES)] = []
    name: Annotated[str, UNLISTED] = ""
    kind: Annotated[Literal["fact", "episode", "note", "correction", "reflection"] | None, UNLISTED] = None
    aliases: Annotated[list[str], UNLISTED] = []
    subject: Annotated[str, UNLISTED] = ""
    confidence: Annotated[float, UNLISTED, Meta(ge=0, le=1)] = 1.0
    speculative: Annotated[bool, UNLISTED] = False
    expect_revision: Annotated[Revision | None, UNLISTED] = None
    about: Annotated[str, UNLISTED] = ""
    feedback: Annotated[Literal["confirmed", "partial", "ignored", "rejected"] | None, UNLISTED] = None


class Match(Struct, frozen=True, kw_only=True):
    """What memories to look for before forgetting them."""

    source: str = ""
    topic: str = ""
    subject: str = ""
    relation: str = ""
    object: str = ""
    before: Annotated[str, says("date")] = ""


class Forget(Struct, frozen=True, kw_only=True):
    """Arguments of forget."""

    refs: Annotated[list[str], says("mem-7@3", form='a list of references: ["mem-7@3"]')] = []
    match: Annotated[Match | None, says("only lists, returns a confirm code")] = None
    confirm: Annotated[str, says("code of a match")] = ""
    how: Literal["forget", "archive", "restore"] = "forget"
    reason: Annotated[str, NEEDED] = ""


def remember(call: Call, args: Remember) -> Answer:
    """Store one statement and echo its reference, revision, state and store.

    With `feedback` and without a text it is said what became of the memory `about`, and nothing is stored (W37).
    """
    if args.feedback and not args.text and not args.triples:
        word = call.engine.report_feedback(call.caller, args.about, args.feedback)
        return Answer({"ref": args.about, "feedback": word, "store": call.store})
    notes = []
    if args.feedback or args.about:
        notes.append("about and feedback have no effect with text")
    if args.was and not args.replaces:
        notes.append("was has no effect without replaces")
    result = call.engine.remember(
        call.caller, _draft(call, args), replaces=_replaced(args), was=args.was or "outdated", key=call.key
    )
    data = written(result) | {"store": call.store}
    return Answer(data, (*notes, *_notes(result)), result.warnings)


def _draft(call: Call, args: Remember) -> Draft:
    triples = tuple(_triple(parts) for parts in args.triples)
    # An incomplete triple is skipped with a note (T4); it says nothing by itself.
    complete = [t for t in triples if all(part.strip() for part in (t.subject, t.relation, t.object))]
    text = args.text or "; ".join(f"{t.subject} {t.relation} {t.object}" for t in complete)
    if not text.strip():
        raise invalid("text is missing", "give text as one sentence that says what to remember", parameter="text")
    if args.scope == "workspace" and call.caller.workspace is None:
        raise invalid("no workspace is known here", "leave out scope, or use global or session", parameter="scope")
    now = call.engine.now_ms()
    return Draft(
        text=text,
        body=args.body,
        name=args.name,
        kind=Kind(args.kind or "fact"),
        type=Type(args.type) if args.type else None,
        said_by=_said_by(args),
        aliases=tuple(args.aliases),
        tags=tuple(args.tags),
        topics=tuple(args.topics),
        subject=args.subject,
        valid_from=start_of("since", args.since, now),
        valid_to=start_of("until", args.until, now),
        scope=Scope(args.scope) if args.scope else None,
        confidence=args.confidence,
        triples=triples,
    )


def _triple(parts: list[str]) -> Triple:
    if len(parts) != 3:
        raise invalid("triples is not understood", f"give triples as {_TRIPLES}", parameter="triples")
    subject, relation, object = parts
    return Triple(subject, relation, object)


def _said_by(args: Remember) -> SaidBy | None:
    if args.speculative:
        return SaidBy.GUESS
    return SaidBy(args.said_by) if args.said_by else None


def _replaced(args: Remember) -> str | None:
    if not args.replaces:
        return None
    if args.expect_revision is not None and "@" not in args.replaces:
        return f"{args.replaces}@{args.expect_revision}"
    return args.replaces


def _notes(result: WriteResult) -> tuple[str, ...]:
    if result.state == "pending" and not result.notes:
        return (PENDING_NOTE,)
    return result.notes


def forget(call: Call, args: Forget) -> Answer:
    """Forget, archive or restore by reference, or list what matches and act on its confirm code (C13)."""
    if args.match is not None and not args.confirm and not args.refs:
        return _list_matches(call, args.match, args.how)
    if bool(args.refs) is bool(args.confirm):
        raise invalid("give exactly one of refs, match and confirm", 'for example refs=["mem-7@3"]')
    if not args.reason.strip():
        raise invalid("reason is missing", "give reason as a text: why it may go", parameter="reason")
    if args.confirm:
        code, how, criteria = _confirmed(args)
        results = call.engine.forget_matched(call.caller, criteria, code, how=how, reason=args.reason)
    else:
        results = call.engine.forget(call.caller, args.refs, how=args.how, reason=args.reason)
    return _forgotten(call, results)


def _list_matches(call: Call, match: Match, how: str) -> Answer:
    criteria = _criteria(match)
    plan = call.engine.match(call.caller, criteria, how=how)
    shown = list(plan.refs[:_SHOWN_REFS])
    if not plan.total:
        return Answer({"total": 0, "refs": []}, ("nothing matches",))
    carried = "&".join(f"{key}={_escaped(value)}" for key, value in {"how": how, **criteria}.items())
    confirm = f"{plan.confirm}?{carried}"
    data: dict[str, object] = {"confirm": confirm, "total": plan.total, "refs": shown}
    if plan.total > len(shown):
        data["more"] = plan.total - len(shown)
    return Answer(data, ("nothing is done yet: call forget with this confirm code and a reason",))


def _criteria(match: Match) -> dict[str, str]:
    criteria = {key: value for key in _MATCH_KEYS if (value := getattr(match, key))}
    if not criteria:
        raise invalid("match is empty", "give match as an object with any of " + ", ".join(_MATCH_KEYS))
    return criteria


def _escaped(text: str) -> str:
    """Escape what separates; other scripts stay readable in a confirm code."""
    return re.sub(r"[%&=+\s]", lambda found: quote(found[0], safe=""), text)


def _confirmed(args: Forget) -> tuple[str, str, dict[str, str]]:
    """Return the engine's code, the way and the criteria, which the confirm code carries along."""
    code, _, carried = args.confirm.partition("?")
    criteria = dict(parse_qsl(carried))
    how = criteria.pop("how", args.how)
    if not criteria and args.match is not None:
        criteria = _criteria(args.match)
    if not criteria or not set(criteria) <= set(_MATCH_KEYS):
        raise invalid("confirm is not understood", "take confirm from the result of a match, unchanged")
    return code, how, criteria


def _forgotten(call: Call, results: list[WriteResult]) -> Answer:
    shown = [written(result) for result in results[:_SHOWN_REFS]]
    data: dict[str, object] = {"items": shown, "store": call.store}
    if len(results) > len(shown):
        data["more"] = len(results) - len(shown)
    notes = dict.fromkeys(note for result in results for note in _notes(result))
    warnings = dict.fromkeys(warning for result in results for warning in result.warnings)
    return Answer(data, tuple(notes), tuple(warnings))
