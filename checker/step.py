"""One step of a proof as a rule sees it: its arguments, its premises, the model and the task."""

from dataclasses import dataclass
from typing import TypeVar

from .claim import Task
from .errors import Rejected
from .facts import Fact
from .model import Model
from .numbers import Meter
from .reader import Fields, integer

F = TypeVar("F")


@dataclass(frozen=True, slots=True)
class Step:
    """Rules read everything through this; they do not know where in the proof they stand."""

    fields: Fields
    earlier: tuple[Fact, ...]
    used: set[int]
    model: Model
    task: Task
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

    def agree(self, name: str, derived: int) -> int:
        """A stated result must be exactly the derived one."""
        stated = self.fields.hex(name)
        if stated != derived:
            raise Rejected("STATED_RESULT", f"{name} stated {stated}, derived {derived}")
        return derived
