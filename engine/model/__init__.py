"""The vocabulary of memdeck: dataclasses, enums, ids, errors and the clock (standard library only)."""
