"""The one exception of the certifier: a stable code, a place, and a text that says what to do."""

from __future__ import annotations

SHOWN_LIMIT = 80
"""Longest piece of foreign text, in characters, that a message repeats."""


class CompactProofsError(Exception):
    """Input that cannot be used, or a claim that cannot be made.

    `code` is stable and upper case (MODEL_SHAPE); `text` is lower case, gives both values (found and
    needed) and says what to do. `file` and `place` (a tensor, a setting, a step) may be empty and be filled
    in by a caller that knows them, with `within`. All four are positional, so that the error survives the
    trip from a worker process.
    """

    def __init__(self, code: str, text: str, file: str = "", place: str = "") -> None:
        super().__init__(code, text, file, place)
        self.code = code
        self.text = text
        self.file = file
        self.place = place

    def within(self, file: str = "", place: str = "") -> CompactProofsError:
        """The same error with an empty file or place filled in."""
        return CompactProofsError(self.code, self.text, self.file or file, self.place or place)

    def __str__(self) -> str:
        parts = (self.file, self.place, self.code, self.text)
        return printable(": ".join(part for part in parts if part))


def shown(value: object) -> str:
    """`repr` of a foreign value, cut to a length fit for a message."""
    text = repr(value)
    return text if len(text) <= SHOWN_LIMIT else text[: SHOWN_LIMIT - 3] + "..."


def printable(text: str) -> str:
    """The text on one line, fit for a terminal: every other character as an escape."""
    # Names come from untrusted files: a newline would forge a second message, an escape sequence would
    # reach the terminal, and a lone surrogate would make printing itself fail.
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
