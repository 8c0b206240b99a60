"""Widgets: they draw what they are given and say what was wished; none of them knows the engine."""
