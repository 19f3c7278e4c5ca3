"""What a proof says of every class (query, maximum), and how what it leaves open is spread."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import isqrt

import numpy as np

from ..exact import Ints
from ..task import Region, Task, pairs

Certified = Callable[[int, int, tuple[int, ...]], bool]
"""(query, maximum, free tokens): does the proof count this input among the right ones?"""


@dataclass(frozen=True, slots=True)
class Share:
    """One part of the inputs: how many there are, how many are proved right, how many proved wrong (masses)."""

    label: str
    size: int
    right: int
    wrong: int

    @property
    def open(self) -> int:
        """Neither proved right nor proved wrong."""
        return self.size - self.right - self.wrong

    @property
    def loss(self) -> int:
        """What the lower bound does not count."""
        return self.size - self.right


@dataclass(frozen=True, slots=True)
class Term:
    """What one part of the reasoning costs: inputs won if it were free (in doubles: an explanation, no proof).

    `error` is a standard error, where inputs were drawn."""

    name: str
    meaning: str
    gained: int
    error: int = 0


WRONG = "the model is wrong", "on these inputs no proof can say anything else"
"""Name and meaning of the term that is no fault of a proof."""


@dataclass(slots=True, eq=False)
class Account:
    """Masses per class (queries x maxima, zero where no class is); `others` and `outputs` where the rule tells them."""

    task: Task
    right: Ints
    wrong: Ints
    others: list[Share] = field(default_factory=list)
    outputs: dict[int, int] = field(default_factory=dict)
    outputs_of: str = ""
    terms: list[Term] = field(default_factory=list)
    terms_of: str = ""
    certified: Certified | None = None
    notes: list[str] = field(default_factory=list)
    mass: Ints | None = None  # of every class, where it is not that of the task: several parts together

    @classmethod
    def empty(cls, task: Task) -> Account:
        """Nothing proved."""
        shape = (max(task.queries(m) for m in range(task.tokens)), task.tokens)
        return cls(task, np.zeros(shape, dtype=object), np.zeros(shape, dtype=object))

    @property
    def sizes(self) -> Ints:
        """Mass of every class."""
        if self.mass is not None:
            return self.mass
        result = np.zeros(self.right.shape, dtype=object)
        for q, m in pairs(self.task.whole()):
            result[q, m] = self.task.class_size(q, m)
        return result

    @property
    def loss(self) -> Ints:
        """What the lower bound does not count, per class."""
        lost: Ints = self.sizes - self.right
        return lost

    def by_maximum(self) -> list[Share]:
        """Shares of the maxima (minima), tokens with the numbers that the model gives them."""
        return self._along(0, self.task.token_rows())

    def by_query(self) -> list[Share]:
        """Shares of the queries."""
        return self._along(1, self.task.query_tokens())

    def _along(self, axis: int, names: list[int]) -> list[Share]:
        size, right, wrong = (table.sum(axis=axis) for table in (self.sizes, self.right, self.wrong))
        return [Share(str(names[i]), int(n), int(right[i]), int(wrong[i])) for i, n in enumerate(size)]

    def times(self, share: int) -> Account:
        """The same of a part that counts so many times."""
        return Account(
            task=self.task,
            right=self.right * share,
            wrong=self.wrong * share,
            others=[Share(s.label, s.size * share, s.right * share, s.wrong * share) for s in self.others],
            outputs={output: mass * share for output, mass in self.outputs.items()},
            outputs_of=self.outputs_of,
            terms=[Term(t.name, t.meaning, t.gained * share, t.error * share) for t in self.terms],
            terms_of=self.terms_of,
            notes=list(self.notes),
            mass=self.sizes * share,
        )

    def add(self, other: Account) -> None:
        """Join the account of a disjoint region, or of another part."""
        if self.mass is not None and other.mass is not None:
            self.mass = self.mass + other.mass
        self.right = self.right + other.right
        self.wrong = self.wrong + other.wrong
        self.others = _joined(self.others, other.others)
        for output, mass in other.outputs.items():
            self.outputs[output] = self.outputs.get(output, 0) + mass
        self.outputs_of = self.outputs_of or other.outputs_of
        self.terms, self.terms_of = summed([*self.terms, *other.terms]), self.terms_of or other.terms_of
        self.notes += [note for note in other.notes if note not in self.notes]
        self.certified = self.certified or other.certified


def _joined(left: list[Share], right: list[Share]) -> list[Share]:
    if not left or not right:
        return left or right
    pairs_ = zip(left, right, strict=True)
    return [Share(a.label, a.size + b.size, a.right + b.right, a.wrong + b.wrong) for a, b in pairs_]


def summed(terms: Iterable[Term]) -> list[Term]:
    """Terms of one name together; their errors are independent. What the model gets wrong stands last."""
    found: dict[str, Term] = {}
    for term in terms:
        known = found.get(term.name, Term(term.name, term.meaning, 0))
        error = isqrt(known.error**2 + term.error**2)
        found[term.name] = Term(term.name, term.meaning, known.gained + term.gained, error)
    return sorted(found.values(), key=lambda term: term.name == WRONG[0])


def sizes_by_others(task: Task, region: Region) -> list[int]:
    """Mass of the inputs with n = 0, 1, ... free tokens other than the maximum, in the classes of a region."""
    result = [0] * (task.free + 1)
    for m, low, high in region:
        counts = [1]
        for position in range(task.free):
            mass = task.mass(position)
            same, below = mass[m], sum(mass[:m])
            counts = [same * a + below * b for a, b in zip([*counts, 0], [0, *counts], strict=True)]
        for q in range(low, high):
            for n, count in enumerate(counts):
                if task.holds_max(q, m) or n < task.free:
                    result[n] += count * task.own_mass(q)
    return result
