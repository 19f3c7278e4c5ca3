"""One step of a proof as a rule sees it: its arguments, its premises, the model and the claim."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from .claim import Claim
from .errors import Malformed, Rejected
from .facts import Fact
from .model import Model
from .numbers import Matrix, Meter, read_hex
from .reader import Fields, integer
from .task import Task

F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class Step:
    """Rules read everything through this; they do not know where in the proof they stand."""

    fields: Fields
    earlier: Sequence[Fact | None]  # None: no later step mentions it
    used: set[int]
    model: Model
    task: Task  # that of the part of the claim that the step counts
    claim: Claim
    meter: Meter

    def premise(self, key: str, kind: type[F]) -> F:
        """The fact that the earlier step named by `key` established."""
        return self.fact(self.fields.take(key), kind, f"{self.fields.place}.{key}")

    def premises(self, key: str, kind: type[F]) -> tuple[F, ...]:
        """The facts of a list of earlier steps: at least two, all different."""
        numbers = self.fields.items(key)
        place = f"{self.fields.place}.{key}"
        facts = tuple(self.fact(number, kind, f"{place}[{i}]") for i, number in enumerate(numbers))
        if len(facts) < 2:
            raise Rejected("PREMISES", f"{len(facts)} premises, at least 2")
        if len({str(number) for number in numbers}) != len(numbers):
            raise Rejected("PREMISES", f"{numbers}: a premise is repeated")
        return facts

    def fact(self, number: object, kind: type[F], place: str) -> F:
        index = integer(number, 0, 10**9, place)
        if index >= len(self.earlier):
            raise Rejected("FORWARD_REFERENCE", f"{place} is step {index}, only steps before {len(self.earlier)} count")
        fact = self.earlier[index]
        if not isinstance(fact, kind):
            raise Rejected("PREMISE_KIND", f"step {index} is {type(fact).__name__}, {place} needs {kind.__name__}")
        self.used.add(index)
        self.fields.premises.append(index)
        return fact

    def require_uniform(self) -> None:
        """Refuse other distributions, for rules that count sequences by their shape."""
        if self.task.masses is not None:
            raise Rejected("NOT_UNIFORM", "this rule counts inputs of the uniform distribution only")

    def class_size(self, q: int, m: int) -> int:
        """Mass of class (q, m)."""
        self.meter.charge(2 * (self.task.free + 1) * (1 if self.task.masses is None else m + 1))
        return self.task.class_size(q, m)

    def agree(self, name: str, derived: int) -> int:
        """A stated result must be exactly the derived one."""
        stated = self.fields.hex(name)
        if stated != derived:
            raise Rejected("STATED_RESULT", f"{name} stated {stated}, derived {derived}")
        return derived


def read_vector(fields: Fields, length: int) -> Matrix:
    """{exponent, values}: a row of `length` numbers. Every vector that a proof may choose freely is written so."""
    exponent = fields.integer("exponent", -4096, 4096)
    values = fields.each("values", read_hex)
    fields.close()
    if len(values) != length:
        raise Malformed("VECTOR_LENGTH", f"{len(values)} numbers, {length} needed").at(fields.place)
    return Matrix((values,), exponent)
