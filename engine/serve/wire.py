"""JSON-RPC 2.0 on one line each: what a line says, and the lines that answer it (A6: every bad line is answered)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec

MAX_LINE = 4 * 1024 * 1024
"""The longest line that is read, in bytes."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
UNSUPPORTED_VERSION = -32022
SHUTTING_DOWN = 4001
TOO_MANY = 4002

Id: TypeAlias = int | str

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder()


class WireError(Exception):
    """A line that cannot be served: the JSON-RPC `code`, a message, and the request's id where one was read."""

    def __init__(self, code: int, message: str, id: Id | None = None, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.id = id
        self.data = data


@dataclass(frozen=True, slots=True)
class Request:
    """A method that expects an answer."""

    id: Id
    method: str
    params: dict[str, Any]

    @property
    def meta(self) -> dict[str, Any]:
        """Return `_meta` of the parameters; empty where there is none."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}


@dataclass(frozen=True, slots=True)
class Notification:
    """A method that expects none."""

    method: str
    params: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Response:
    """The other side's answer to a request of ours; `result` is None for an error."""

    id: Id
    result: object


def parse(line: bytes) -> Request | Notification | Response:
    """Read one line; raises WireError with -32700 for what is no JSON and -32600/-32602 for no request."""
    try:
        message = _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise WireError(PARSE_ERROR, "the line is not valid JSON in UTF-8") from None
    except RecursionError:
        raise WireError(PARSE_ERROR, "the JSON is nested too deeply") from None
    if isinstance(message, list):
        raise WireError(INVALID_REQUEST, "batches are not accepted: send one object a line")
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise WireError(INVALID_REQUEST, 'a message is an object with "jsonrpc": "2.0"')
    method = message.get("method")
    if method is None and ("result" in message or "error" in message):
        return Response(_id(message), message.get("result"))
    if not isinstance(method, str):
        raise WireError(INVALID_REQUEST, "method must be a string")
    if "id" not in message:
        if not method.startswith("notifications/"):
            raise WireError(INVALID_REQUEST, "a request needs an id")
        params = message.get("params")
        return Notification(method, params if isinstance(params, dict) else {})
    return Request(_id(message), method, _params(message))


def _id(message: dict[str, Any]) -> Id:
    id = message.get("id")
    if isinstance(id, bool) or not isinstance(id, int | str):
        raise WireError(INVALID_REQUEST, "id must be a string or a whole number")
    return id


def _params(message: dict[str, Any]) -> dict[str, Any]:
    params = message.get("params")
    if params is None:
        return {}
    if not isinstance(params, dict):
        raise WireError(INVALID_PARAMS, "params must be an object of named values", message["id"])
    return params


def parse_answer(line: bytes) -> dict[str, Any]:
    """Read a line that a server sent, as plain values; raises WireError for anything but an object."""
    try:
        message = _decoder.decode(line)
    except (msgspec.DecodeError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise WireError(PARSE_ERROR, "the server's answer is not a JSON object")
    return message


def encode(value: object) -> bytes:
    """Write a value as compact JSON; raises ValueError for a text that UTF-8 cannot carry."""
    return _encoder.encode(value)


def result_line(id: Id, result: object) -> bytes:
    """Return the line that answers request `id`; `result` may be ready-made JSON (`msgspec.Raw`)."""
    return encode({"jsonrpc": "2.0", "id": id, "result": result}) + b"\n"


def error_line(id: Id | None, code: int, message: str, data: object = None) -> bytes:
    """Return the line that refuses request `id` (None: the line could not be read that far)."""
    error: dict[str, object] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return encode({"jsonrpc": "2.0", "id": id, "error": error}) + b"\n"


def request_line(id: Id, method: str, params: object = None) -> bytes:
    """Return the line that asks the other side for `method`."""
    message: dict[str, object] = {"jsonrpc": "2.0", "id": id, "method": method}
    if params is not None:
        message["params"] = params
    return encode(message) + b"\n"
