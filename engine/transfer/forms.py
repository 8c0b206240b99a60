"""Tells JSON files of other programs apart by the keys at their head."""

from __future__ import annotations

import re
from pathlib import Path

from engine.transfer.decoding import decode

HEAD = 64 * 1024
JSON_KEY = re.compile(r'"((?:[^"\\]|\\.){1,80})"\s*:')
OWN = re.compile(r'\{\s*"format"\s*:\s*"memdeck-')

MEMDECK = "memdeck-json"
FORMS = {
    MEMDECK: "memdeck's own export",
    "graph-json": "a knowledge graph of the MCP memory server, one JSON object",
    "graph-jsonl": "a knowledge graph of the MCP memory server, JSON lines",
    "graph-labels": "a graph of nodes with labels and properties, JSON lines",
    "chatgpt-conversations": "a ChatGPT export of conversations",
    "claude-conversations": "a Claude export of conversations",
    "claude-memories": "a Claude export of memories",
    "chat-state": "the state of a chat program",
    "event-log": "an event log, JSON lines",
    "json": "JSON of an unknown form",
}
SIGNS: tuple[tuple[str, frozenset[str]], ...] = (
    ("graph-json", frozenset({"entities", "relations"})),
    ("graph-labels", frozenset({"labels", "properties"})),
    ("chatgpt-conversations", frozenset({"mapping", "parent", "children"})),
    ("claude-conversations", frozenset({"chat_messages"})),
    ("claude-memories", frozenset({"conversations_memory"})),
    ("graph-jsonl", frozenset({"entityType", "observations"})),
    ("graph-jsonl", frozenset({"relationType"})),
    ("chat-state", frozenset({"chat_history"})),
    ("chat-state", frozenset({"messages", "role"})),
    ("event-log", frozenset({"ts", "type"})),
    ("event-log", frozenset({"timestamp", "event"})),
)


def form_of(text: str) -> str:
    """Return the form of the head of a file: a key of FORMS, or nothing when it is no JSON."""
    stripped = text.lstrip()
    if not stripped.startswith(("{", "[")):
        return ""
    keys = set(JSON_KEY.findall(stripped))
    if not keys and stripped[1:2] not in "]}":
        return ""
    if OWN.match(stripped):
        return MEMDECK
    return next((form for form, signs in SIGNS if signs <= keys), "json")


def read_head(place: Path) -> str:
    """Return the first 64 KiB of a file as text; raises OSError."""
    with open(place, "rb") as file:
        return decode(file.read(HEAD)).text
