"""Every error that memdeck shows to a person or an agent: a code with parameters, a message and a hint."""

from __future__ import annotations

CODES = frozenset(
    """
    invalid_argument not_found exists stale_revision revision_changed locked reserved refused_noise refused_secret
    refused_injection refused_authority generic_rule rule_conflict duplicate needs_human limit_reached unknown_tag
    self_relation tag_deprecated invalid_status too_early unknown_tool busy read_only disk_full newer_store internal
    """.split()
)


class MemdeckError(Exception):
    """A refusal in one line: `code` is one of CODES, `message` says what is wrong, `hint` what to do next.

    `params` carries the values that a translated message needs; agents read `message` and `hint` in English.
    """

    def __init__(self, code: str, message: str, hint: str = "", **params: object) -> None:
        if code not in CODES:
            raise ValueError(f"unknown error code {code!r}")
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.params = params

    def as_dict(self) -> dict[str, object]:
        """Return the `error` member of the envelope: `{code, message, hint}`."""
        return {"code": self.code, "message": self.message, "hint": self.hint}


def invalid(message: str, hint: str = "", **params: object) -> MemdeckError:
    """Make an `invalid_argument` error, by far the commonest one."""
    return MemdeckError("invalid_argument", message, hint, **params)


def not_found(what: str, hint: str = "") -> MemdeckError:
    """Make a `not_found` error for the reference or name `what`."""
    return MemdeckError("not_found", f"{what} does not exist", hint, ref=what)
