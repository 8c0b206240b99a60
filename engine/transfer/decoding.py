"""Bytes of a text file to text and back: encoding, byte-order mark and line ends, without losing one of them (S8)."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

MIXED = "mixed"
FOREIGN_SHARE = 0.1
"""Up to this share of bytes that are no UTF-8 a file counts as damaged UTF-8, above it as another encoding."""

UTF16 = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
HIGH = re.compile(rb"[\x80-\xff]")
HIGH_PAIR = re.compile(rb"[\x80-\xff]{2}")
UTF8_RUN = re.compile(rb"(?:[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})+")
CONTROL = re.compile(r"[\x01-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text with LF ends (verbatim when `eol` is mixed); `raw` holds the bytes where the text cannot give them back."""

    text: str
    eol: str = "\n"
    bom: bool = False
    encoding: str = "utf-8"
    raw: bytes | None = None


def decode(data: bytes) -> Decoded:
    """Read any bytes as text, never failing: UTF-8, UTF-16 with a mark, GB18030, Windows-1252, or damaged UTF-8."""
    bom, encoding, payload = split_mark(data)
    text, encoding = read_text(payload, encoding)
    eol = line_end(text)
    if eol == "\r\n":
        text = text.replace("\r\n", "\n")
    decoded = Decoded(text, eol, bom, encoding)
    return decoded if encode(decoded) == data else Decoded(text, eol, bom, encoding, raw=data)


def encode(decoded: Decoded) -> bytes:
    """Give back the bytes of a text; the inverse of `decode`."""
    if decoded.raw is not None:
        return decoded.raw
    text = decoded.text.replace("\n", "\r\n") if decoded.eol == "\r\n" else decoded.text
    mark = codecs.BOM_UTF8
    for utf16_mark, name in UTF16:
        if decoded.encoding == name:
            mark = utf16_mark
    return (mark if decoded.bom else b"") + text.encode(decoded.encoding, "replace")


def split_mark(data: bytes) -> tuple[bool, str, bytes]:
    """Split a byte-order mark off: (was there one, the encoding that it names, the rest)."""
    if data.startswith(codecs.BOM_UTF8):
        return True, "utf-8", data[3:]
    for mark, name in UTF16:
        if data.startswith(mark):
            return True, name, data[2:]
    return False, "utf-8", data


def read_text(payload: bytes, encoding: str) -> tuple[str, str]:
    """Return the text and the encoding by which it was read."""
    try:
        return payload.decode(encoding), encoding
    except UnicodeDecodeError:
        pass
    if encoding != "utf-8":
        return payload.decode(encoding, "replace"), encoding
    high = len(HIGH.findall(payload))
    foreign = len(HIGH.findall(UTF8_RUN.sub(b"", payload)))
    if foreign > high * FOREIGN_SHARE:
        for other in ("gb18030",) if HIGH_PAIR.search(payload) else ("cp1252",):
            try:
                return payload.decode(other), other
            except UnicodeDecodeError:
                continue
    return read_damaged(payload), "utf-8"


def read_damaged(payload: bytes) -> str:
    """Read UTF-8 with foreign bytes in it: a readable GB18030 run becomes its characters, any other byte U+FFFD."""
    parts: list[str] = []
    while payload:
        try:
            parts.append(payload.decode("utf-8"))
            break
        except UnicodeDecodeError as error:
            parts.append(payload[: error.start].decode("utf-8"))
            pair = payload[error.start : error.start + 2]
            try:
                parts.append(pair.decode("gb18030") if len(pair) == 2 and pair[1] >= 0x80 else "\ufffd")
                payload = payload[error.start + (2 if parts[-1] != "\ufffd" else 1) :]
            except UnicodeDecodeError:
                parts.append("\ufffd")
                payload = payload[error.start + 1 :]
    return "".join(parts)


def line_end(text: str) -> str:
    """Return the line end of a text: LF, CR LF, or mixed for anything else."""
    returns = text.count("\r")
    if not returns:
        return "\n"
    return "\r\n" if returns == text.count("\r\n") == text.count("\n") else MIXED


def looks_binary(text: str) -> bool:
    """Tell whether a decoded text is no text: many control characters, or zeros for a third of it."""
    return len(CONTROL.findall(text)) * 20 > len(text) or text.count("\0") * 3 > len(text) > 0
