"""The four ways a check can end without success.

Each carries a stable code and a text; the kernel adds the step and the rule, the command line adds the file.
Success has no class here: it is built in one place, at the end of kernel.check.
"""


def printable(text: str) -> str:
    """The text in printable ASCII: what comes from a file must not steer a terminal or forge a line."""
    return "".join(c if " " <= c <= "~" else ascii(c)[1:-1] for c in text)


class Refusal(Exception):
    """A check that did not succeed; `verdict` and `status` are fixed by the subclass."""

    verdict = "INTERNAL"
    status = 3

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code
        self.text = text
        self.place = ""

    def at(self, place: str) -> "Refusal":
        """Name the place, unless one closer to the fault was named already."""
        if not self.place:
            self.place = place
        return self

    def __str__(self) -> str:
        return f"{self.place}: {self.code}: {self.text}" if self.place else f"{self.code}: {self.text}"


class Rejected(Refusal):
    """The file is well formed but does not prove what it claims."""

    verdict = "REJECTED"
    status = 1


class Malformed(Refusal):
    """The file, or the command, is not of the form that FORMAT.md describes."""

    verdict = "MALFORMED"
    status = 2


class Exhausted(Refusal):
    """A limit on size, operations, memory or time was reached: nothing is known."""

    verdict = "RESOURCE"
    status = 4
