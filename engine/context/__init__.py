"""The injection pack: what an agent should read now, within a budget."""
