"""What a step can establish. Facts are immutable; only the rules build them."""

from dataclasses import dataclass

from .numbers import Matrix
from .task import Semantics


@dataclass(frozen=True, slots=True)
class Factored:
    """A circuit equals `approx` (nothing: zero) plus the product of `factors`."""

    circuit: str
    centre: Matrix | None
    approx: Matrix | None
    factors: tuple[Matrix, ...]


@dataclass(frozen=True, slots=True)
class Admissible:
    """For each row q and columns i, j of a circuit C: (C - approx)[q,i] - (C - approx)[q,j] <= bound[q] (a column)."""

    circuit: str
    centre: Matrix | None
    approx: Matrix | None
    bound: Matrix


@dataclass(frozen=True, slots=True)
class Weights:
    """For every query q, enclosures of unnormalised attention weights, as integers over 2**bits.

    Token weight of row t: exp((EQKE[q,t] - max_t EQKE[q,t]) / sqrt(d_head)); position weight of i: the same with
    EQKP[q,i]. The weight of token t at position i is their product, up to a positive factor common to the query.
    `order` lists the free positions by ascending EQKP[q,.].
    """

    bits: int
    token_low: tuple[tuple[int, ...], ...]
    token_high: tuple[tuple[int, ...], ...]
    position_low: tuple[tuple[int, ...], ...]
    position_high: tuple[tuple[int, ...], ...]
    order: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Margins:
    """Weights and exact logit contributions, times 2**exponent: output o reaches the right token m less the threshold
    iff the sum over positions of weight * (direct + values + positions at o, minus the same at m, + shift) is >= 0."""

    weights: Weights
    threshold: tuple[int, int]
    exponent: int
    shift: int
    direct: tuple[tuple[int, ...], ...]  # EU: queries x outputs
    values: tuple[tuple[int, ...], ...]  # EVOU: token rows x outputs
    positions: tuple[tuple[int, ...], ...]  # PVOU: positions x outputs


@dataclass(frozen=True, slots=True)
class Count:
    """In the classes of `region`, at least `right` sequences have a margin above the threshold and `wrong` have not."""

    threshold: tuple[int, int]
    region: tuple[tuple[int, int, int], ...]
    right: int
    wrong: int
    semantics: Semantics | None = None  # over the real numbers, or in every evaluation of a floating-point program
    part: int = 0  # of the claim's distribution


@dataclass(frozen=True, slots=True)
class Mixed:
    """The same over all parts of the claim's distribution, each counted as often as its share says."""

    threshold: tuple[int, int]
    right: int
    wrong: int
    semantics: Semantics | None


@dataclass(frozen=True, slots=True)
class Conclusion:
    """Of all sequences of the claim, at least `lower` and at most `upper` have a margin above the threshold.

    Without a threshold: the mean log-loss lies between `lower` and `upper`, in units of 2**-LOSS_BITS nats.
    """

    threshold: tuple[int, int] | None
    lower: int
    upper: int
    semantics: Semantics | None = None


@dataclass(frozen=True, slots=True)
class FloatError:
    """No logit of the program is further than bound[q] from the true one, for query q, times 2**exponent.

    `parts` are the largest error of the logarithm of an attention weight, what it does to a logit, and what errors of
    values, and of everything after the average, do to a logit.
    """

    semantics: Semantics
    exponent: int
    bound: tuple[int, ...]
    parts: tuple[int, int, int, int]


Fact = Factored | Admissible | Weights | Margins | FloatError | Count | Mixed | Conclusion
