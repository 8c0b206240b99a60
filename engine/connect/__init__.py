"""Connects agents to memdeck by editing their own settings files, and finds the memories that they hold already.

A plan lists the edits; nothing is written before `apply`, and `prove` starts what was written once.
"""

from __future__ import annotations

from engine.connect.agents import AGENTS, Agent, Places, Reach, agent_named
from engine.connect.found import FoundMemories, found_memories
from engine.connect.hook_proof import HookProof, prove_hooks
from engine.connect.plan import (
    Connection,
    Edit,
    Plan,
    apply,
    connections,
    plan_connect,
    plan_removal,
    read_hooks,
    read_server,
)  # fmt: skip
from engine.connect.proof import Proof, prove
from engine.connect.server import HookCommand, Server, installed_hooks, installed_server
from engine.connect.settings_file import backup_of

__all__ = [
    "AGENTS", "Agent", "Connection", "Edit", "FoundMemories", "HookCommand", "HookProof", "Places", "Plan", "Proof",
    "Reach", "Server", "agent_named", "apply", "backup_of", "connections", "found_memories", "installed_hooks",
    "installed_server", "plan_connect", "plan_removal", "prove", "prove_hooks", "read_hooks", "read_server",
]  # fmt: skip
