"""Proofs as lists of steps. A step is a rule's name with its arguments; facts are known by the step's number."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from .task import Region

Json = None | int | str | Sequence["Json"] | Mapping[str, "Json"]
Step = dict[str, Json]

# In which order the factors are multiplied (index of the left one, each time): the d_model x d_model ones first where
# the other side is a vocabulary, from the short end where it is a few positions. Any order is sound.
ORDERS = {"EQKE": (1, 0, 0), "EQKP": (2, 1, 0), "EVOU": (1, 0, 0), "PVOU": (0, 0, 0), "EU": (0,)}


# The arguments that hold numbers of steps
PREMISES: Final = frozenset(
    ("of", "scores", "positions", "weights", "direct", "values", "margins", "exact_direct", "output_positions")
)
FLOAT_PREMISES: Final = frozenset(("errors", "right", "wrong"))


def hexadecimal(n: int) -> str:
    """The one spelling of an integer in a certificate."""
    return f"-{-n:x}" if n < 0 else f"{n:x}"


def region_json(region: Region) -> list[Json]:
    """A region as the certificate writes it."""
    return [list(span) for span in region]


def _moved(value: Json, numbers: Sequence[int]) -> Json:
    """A premise, or a list of premises, after renumbering."""
    if isinstance(value, int):
        return numbers[value]
    return [numbers[cast(int, item)] for item in value] if isinstance(value, list) else value


@dataclass(slots=True)
class Builder:
    """Appends steps; each method returns the number of the step that holds its fact."""

    steps: list[Step] = field(default_factory=list)

    def add(self, rule: str, **arguments: Json) -> int:
        self.steps.append({"rule": rule, **arguments})
        return len(self.steps) - 1

    def append(self, steps: Sequence[Step]) -> list[int]:
        """Add steps with their premises renumbered; one that is there already is not repeated. Their new numbers."""
        known = {json.dumps(step, sort_keys=True): number for number, step in enumerate(self.steps)}
        numbers: list[int] = []
        for step in steps:
            premises = FLOAT_PREMISES if step["rule"] == "float_count" else PREMISES
            new = {key: _moved(value, numbers) if key in premises else value for key, value in step.items()}
            text = json.dumps(new, sort_keys=True)
            if text not in known:
                known[text] = len(self.steps)
                self.steps.append(new)
            numbers.append(known[text])
        return numbers

    def circuit(self, name: str, centre: Json = None) -> int:
        """A circuit as a product of factors."""
        return self.add("circuit", name=name, centre=centre)

    def exact_circuit(self, name: str, centre: Json = None) -> int:
        """A circuit multiplied out."""
        number = self.circuit(name, centre)
        for at in ORDERS[name]:
            number = self.add("product", of=number, at=at)
        return number

    def margins(self, bits: int, grid: int, threshold: tuple[int, int]) -> int:
        """All five circuits, the attention weights, and margins as sums over positions."""
        scores, positions = self.exact_circuit("EQKE"), self.exact_circuit("EQKP")
        values, output_positions = self.exact_circuit("EVOU"), self.exact_circuit("PVOU")
        direct = self.exact_circuit("EU")
        weights = self.add("weights", scores=scores, positions=positions, bits=bits, grid=grid)
        return self.add(
            "margins",
            weights=weights,
            direct=direct,
            values=values,
            positions=output_positions,
            margin_above=hexadecimal(threshold[0]),
            exponent=threshold[1],
        )


@dataclass(frozen=True, slots=True)
class Proof:
    """A finished proof: its steps, and the bounds that its conclusion gives (counts of sequences)."""

    strategy: str
    steps: tuple[Step, ...]
    lower: int
    upper: int
    undecided: int  # sequences that the chosen precision leaves open, ties among them; not right, not wrong
