"""Arguments of a tool from one struct: how they are read, what a mistake is called, and their JSON schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, inspect

from engine.model.errors import MemdeckError, invalid
from engine.serve.shapes import join_lines

UNLISTED = Meta(extra={"unlisted": True})
"""Marks a parameter that is accepted, but not shown in the schema (6.2)."""

NEEDED = Meta(extra={"needed": True})
"""Marks a parameter that the schema calls required although a handler can do without it in some cases."""

Revision: TypeAlias = Annotated[int, Meta(ge=1)]

S = TypeVar("S", bound=msgspec.Struct)


def says(description: str, **extra: object) -> Meta:
    """Describe a parameter. `values` shows fewer choices than are accepted, `form` words the accepted form."""
    return Meta(description=description, extra=extra or None)


class _Parameter:
    """One field of a struct, with what msgspec knows of it laid out flat."""

    def __init__(self, field: inspect.Field, hint: Any) -> None:
        self.name = field.encode_name
        self.required = field.required
        self.hint = hint
        self.type, self.extra, json = _unwrap(field.type)
        self.description = str(json.get("description", ""))
        self.choices: list[str] = self.extra.get("values") or _choices(hint)

    @property
    def listed(self) -> bool:
        return not self.extra.get("unlisted")

    @property
    def needed(self) -> bool:
        return self.required or bool(self.extra.get("needed"))

    def schema(self) -> dict[str, object]:
        schema = _schema(self.type)
        if isinstance(self.type, inspect.LiteralType):
            schema["enum"] = self.choices
        if self.description:
            schema["description"] = self.description
        return schema

    def read(self, value: object) -> object:
        """Convert one value or raise `invalid_argument` that names the parameter and the accepted form."""
        try:
            return msgspec.convert(_soften(value, self.type), self.hint, strict=False)
        except (msgspec.ValidationError, RecursionError):
            raise invalid(f"{self.name} is not understood", self.form(), parameter=self.name) from None

    def form(self) -> str:
        """Say in one sentence what the parameter takes."""
        form = self.extra.get("form") or _form(self.type, self.choices)
        return f"give {self.name} as {form}"


def _unwrap(kind: inspect.Type) -> tuple[inspect.Type, dict[str, Any], dict[str, Any]]:
    """Take `Annotated` and `| None` off a type; return it with both kinds of metadata."""
    extra: dict[str, Any] = {}
    json: dict[str, Any] = {}
    while True:
        if isinstance(kind, inspect.Metadata):
            extra |= kind.extra or {}
            json |= kind.extra_json_schema or {}
            kind = kind.type
        elif isinstance(kind, inspect.UnionType):
            kind = next(t for t in kind.types if not isinstance(t, inspect.NoneType))
        else:
            return kind, extra, json


def _schema(kind: inspect.Type) -> dict[str, object]:
    match kind:
        case inspect.BoolType():
            return {"type": "boolean"}
        case inspect.IntType():
            return {"type": "integer"}
        case inspect.FloatType():
            return {"type": "number"}
        case inspect.ListType():
            return {"type": "array", "items": _schema(_unwrap(kind.item_type)[0])}
        case inspect.DictType():
            return {"type": "object"}
        case inspect.StructType():
            return {"type": "object", "properties": {p.name: p.schema() for p in parameters(kind.cls) if p.listed}}
        case _:
            return {"type": "string"}


def _choices(hint: Any) -> list[str]:
    """Return the values of the Literal inside a type in their written order."""
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    return [choice for part in get_args(hint) for choice in _choices(part)]


def _form(kind: inspect.Type, choices: list[str]) -> str:
    match kind:
        case inspect.LiteralType():
            return "one of " + ", ".join(choices)
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return "a whole number" + _bounds(kind.ge, kind.le)
        case inspect.FloatType():
            return "a number" + _bounds(kind.ge, kind.le)
        case inspect.DictType():
            return "an object"
        case inspect.ListType():
            return "a list of " + (", ".join(choices) or "texts")
        case inspect.StructType():
            return "an object with any of " + ", ".join(p.name for p in parameters(kind.cls) if p.listed)
        case _:
            return "a text"


def _bounds(low: float | None, high: float | None) -> str:
    return f" from {low} to {high}" if low is not None and high is not None else ""


def _soften(value: object, kind: inspect.Type) -> object:
    """Read what models and shells send for the same thing: a JSON text for a list, one text for a list of one."""
    if isinstance(kind, inspect.LiteralType) and isinstance(value, str):
        return value.strip().lower()
    if isinstance(kind, inspect.StrType) and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(kind, inspect.IntType) and isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(kind, inspect.ListType | inspect.StructType | inspect.DictType) and isinstance(value, str):
        if value.lstrip()[:1] in ("[", "{"):
            try:
                return msgspec.json.decode(value)
            except msgspec.DecodeError:
                return value
        return [value] if isinstance(kind, inspect.ListType) else value
    return value


_known: dict[type, tuple[_Parameter, ...]] = {}


def parameters(struct: type) -> tuple[_Parameter, ...]:
    """Return the parameters of a struct in the order of their definition."""
    if struct not in _known:
        hints = get_type_hints(struct, include_extras=True)
        info = inspect.type_info(struct)
        assert isinstance(info, inspect.StructType)
        _known[struct] = tuple(_Parameter(f, hints[f.name]) for f in info.fields)
    return _known[struct]


def input_schema(struct: type) -> dict[str, object]:
    """Return the compact JSON schema of a tool's arguments: no titles, no references."""
    listed = [p for p in parameters(struct) if p.listed]
    schema: dict[str, object] = {"type": "object", "properties": {p.name: p.schema() for p in listed}}
    if required := [p.name for p in listed if p.needed]:
        schema["required"] = required
    return schema


def read_arguments(struct: type[S], given: Mapping[str, object], renames: Mapping[str, str]) -> tuple[S, list[str]]:
    """Make a struct of what a caller sent; the notes name what was ignored. Raises `invalid_argument`.

    `renames` maps other spellings of 6.2 to ours; null counts as not given.
    """
    known = {p.name: p for p in parameters(struct)}
    values: dict[str, object] = {}
    ignored = []
    for name, value in given.items():
        parameter = known.get(name) or known.get(renames.get(name, ""))
        if name == "_meta" or value is None:
            continue
        if parameter is None:
            ignored.append(join_lines(name)[:40])
        elif parameter.name not in values or name in known:
            values[parameter.name] = parameter.read(value)
    missing = [p for p in known.values() if p.required and p.name not in values]
    if missing:
        raise _missing(missing[0])
    return struct(**values), [f"unknown argument ignored: {', '.join(ignored[:10])}"] if ignored else []


def _missing(parameter: _Parameter) -> MemdeckError:
    return invalid(f"{parameter.name} is missing", parameter.form(), parameter=parameter.name)
