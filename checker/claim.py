"""What a certificate claims, and the sequences that the claim is about."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from .errors import Malformed, Rejected
from .model import Model
from .numbers import read_hex
from .reader import Fields, integer, items

LENGTH = 1 << 10


@dataclass(frozen=True, slots=True)
class Task:
    """The largest (or smallest) of `length` tokens out of 0..tokens-1; with `eos`, that token follows and is the query.

    For `min` the tokens are renumbered in reverse, so that everything below speaks of a maximum. Free positions are
    0..free-1, the query stands at position `free`. A class (q, m) holds the sequences with query q and maximum m; with
    an end-of-sequence token there is one query, number 0, below every token.
    """

    kind: str
    length: int
    tokens: int
    eos: int | None
    masses: tuple[tuple[int, ...], ...] | None  # position x token (in the order of the task); None: all 1

    @property
    def free(self) -> int:
        return self.length - 1 if self.eos is None else self.length

    def mass(self, position: int) -> tuple[int, ...]:
        """Weight of each token at a position."""
        return (1,) * self.tokens if self.masses is None else self.masses[position]

    def below(self, m: int) -> list[int]:
        """The mass of tokens 0..m-1 at the free positions from each on: entry i is the product over i..free-1."""
        result = [1]
        for position in reversed(range(self.free)):
            result.append(result[-1] * (m if self.masses is None else sum(self.masses[position][:m])))
        return result[::-1]

    def own_mass(self, q: int) -> int:
        """Weight of the query."""
        return 1 if self.masses is None or self.eos is not None else self.masses[self.free][q]

    @property
    def total(self) -> int:
        """The mass of all inputs: their number, if the distribution is uniform."""
        return prod(sum(self.mass(position)) for position in range(self.length))

    def queries(self, m: int) -> int:
        """The queries of maximum m are 0..queries(m)-1."""
        return m + 1 if self.eos is None else 1

    def holds_max(self, q: int, m: int) -> bool:
        """Is the query token itself the maximum?"""
        return self.eos is None and q == m

    def own_row(self, q: int) -> int:
        """The row of the query's token in EQKE and EVOU."""
        return q if self.eos is None else self.tokens

    def class_size(self, q: int, m: int) -> int:
        """Mass of class (q, m): all tokens at most m, and at least one of them m."""
        free = self.below(m + 1)[0] - (0 if self.holds_max(q, m) else self.below(m)[0])
        return free * self.own_mass(q)

    def token_rows(self) -> list[int]:
        """Rows of the embedding in the order used throughout: tokens, then the end-of-sequence token."""
        order = list(range(self.tokens))
        return (order[::-1] if self.kind == "min" else order) + ([] if self.eos is None else [self.eos])

    def output_columns(self, outputs: int) -> list[int]:
        """Columns of the unembedding: the label of each token in the same order, then all other outputs."""
        labels = self.token_rows()[: self.tokens]
        return labels + list(range(self.tokens, outputs))


# format -> the dtype of its numbers
STORED = {"binary16": "F16", "bfloat16": "BF16", "binary32": "F32", "binary64": "F64"}


@dataclass(frozen=True, slots=True)
class Semantics:
    """What a floating-point program may do: FORMAT.md, "Floating point"."""

    format: str
    exp_ulp: int
    underflow: str

    @property
    def text(self) -> str:
        """The assumptions about the machine."""
        low = "gradual underflow" + ("" if self.underflow == "gradual" else " or flush to zero")
        return (
            f"in every {self.format} evaluation (round to nearest; dot products in any order, fused or not, or wider;"
            f" all else rounded once; softmax less the maximum, exp within {self.exp_ulp} ulp; {low})"
        )


@dataclass(frozen=True, slots=True)
class Claim:
    """lower/total <= P(margin > threshold) <= upper/total, the margin being the right logit minus the best other."""

    task: Task
    threshold: tuple[int, int]  # n, e: the number n * 2**e
    lower: int
    upper: int
    total: int
    semantics: Semantics | None = None  # None: real numbers


def read_semantics(fields: Fields) -> Semantics:
    """The assumptions, all of them stated."""
    result = Semantics(fields.text("format"), fields.integer("exp_ulp", 1, 1 << 20), fields.text("underflow"))
    fields.close()
    if result.format not in STORED or result.underflow not in ("gradual", "flush"):
        text = f"format {result.format[:20]!r}, underflow {result.underflow[:20]!r}"
        raise Malformed("UNKNOWN_CLAIM", text).at(fields.place)
    return result


def read_claim(fields: Fields, model: Model) -> Claim:
    """The claim, against the sizes of the model; only what FORMAT.md lists can be claimed."""
    floating = isinstance(fields.take("semantics"), dict)
    for key, only in (("architecture", "one-layer attention-only"), ("semantics", "real"))[: 1 if floating else 2]:
        if fields.text(key) != only:
            raise Malformed("UNKNOWN_CLAIM", f"{key} {fields.value[key]!r}, this version knows {only!r}").at("claim")
    semantics = read_semantics(fields.inner("semantics")) if floating else None
    task = _read_task(fields.inner("task"), model)
    task = replace(task, masses=_read_masses(fields, task))
    quantity = fields.inner("quantity")
    threshold = quantity.hex("margin_above"), quantity.integer("exponent", -4096, 4096)
    if threshold[0] % 2 == 0 and threshold != (0, 0):
        raise Malformed("NOT_CANONICAL", "margin_above must be odd, or 0 with exponent 0").at(quantity.place)
    quantity.close()
    bounds = fields.inner("bounds")
    claim = Claim(task, threshold, bounds.hex("lower"), bounds.hex("upper"), bounds.hex("total"), semantics)
    bounds.close()
    fields.close()
    if claim.total != task.total:
        raise Malformed("TOTAL", f"total {claim.total}, the task has {task.total} sequences").at(bounds.place)
    if not 0 <= claim.lower <= claim.upper <= claim.total:
        raise Malformed("BOUNDS", f"need 0 <= {claim.lower} <= {claim.upper} <= {claim.total}").at(bounds.place)
    return claim


def _read_task(fields: Fields, model: Model) -> Task:
    kind = fields.text("kind")
    if kind not in ("max", "min"):
        raise Malformed("UNKNOWN_CLAIM", f"task {kind[:20]!r}, known are 'max' and 'min'").at(fields.place)
    sizes = model.sizes
    length = fields.integer("length", 1, LENGTH)
    tokens = fields.integer("tokens", 1, min(sizes["d_vocab"], sizes["d_vocab_out"]))
    eos = fields.take("eos")
    if eos is not None:
        eos = integer(eos, tokens, sizes["d_vocab"] - 1, f"{fields.place}.eos")
    fields.close()
    task = Task(kind, length, tokens, eos, None)
    if task.free + 1 != sizes["n_ctx"]:
        text = f"length {length} needs {task.free + 1} positions, the model has {sizes['n_ctx']}"
        raise Malformed("TASK_LENGTH", text).at(fields.place)
    return task


def _read_masses(fields: Fields, task: Task) -> tuple[tuple[int, ...], ...] | None:
    """ "uniform", or a non-negative weight of each token at each position, not all of a position zero."""
    value = fields.take("distribution")
    if value == "uniform":
        return None
    rows = []
    for number, row in enumerate(items(value, "claim.distribution")):
        place = f"claim.distribution[{number}]"
        weights = tuple(read_hex(item, place) for item in items(row, place))
        if len(weights) != task.tokens or min(weights) < 0 or not any(weights):
            raise Malformed("DISTRIBUTION", f"need {task.tokens} weights, none negative, not all zero").at(place)
        rows.append(weights[::-1] if task.kind == "min" else weights)
    if len(rows) != task.length:
        raise Malformed("DISTRIBUTION", f"{len(rows)} positions, the task has {task.length}").at("claim.distribution")
    if all(weight == 1 for row in rows for weight in row):
        raise Malformed("NOT_CANONICAL", 'all weights are 1: write "uniform"').at("claim.distribution")
    return tuple(rows)


def read_region(fields: Fields, task: Task) -> tuple[tuple[int, int, int], ...]:
    """Classes as ascending, disjoint spans [m, low, high]: queries low..high-1 of maximum m. At least one."""
    spans: list[tuple[int, int, int]] = []
    for number, item in enumerate(fields.items("region")):
        place = f"{fields.place}.region[{number}]"
        if not isinstance(item, list) or len(item) != 3:
            raise Malformed("REGION", "expected [m, low, high]").at(place)
        m = integer(item[0], 0, task.tokens - 1, place)
        low = integer(item[1], 0, task.queries(m) - 1, place)
        high = integer(item[2], low + 1, task.queries(m), place)
        if spans and (m, low) < (spans[-1][0], spans[-1][2]):
            raise Malformed("REGION", f"{[m, low, high]} after {list(spans[-1])}: not ascending").at(place)
        if spans and (m, low) == (spans[-1][0], spans[-1][2]):
            raise Malformed("REGION", f"{[m, low, high]} continues {list(spans[-1])}: join them").at(place)
        spans.append((m, low, high))
    if not spans:
        raise Rejected("EMPTY_REGION", "a count over no class proves nothing")
    return tuple(spans)


def pairs(region: tuple[tuple[int, int, int], ...]) -> Iterator[tuple[int, int]]:
    """The classes (q, m) of a region."""
    for m, low, high in region:
        for q in range(low, high):
            yield q, m


def percent(count: int, total: int) -> str:
    """count/total in per cent, rounded down to six decimals."""
    millionths = count * 10**8 // total
    return f"{millionths // 10**6}.{millionths % 10**6:06} %"


def words(claim: Claim) -> str:
    """The claim as a sentence."""
    task, (n, exponent) = claim.task, claim.threshold
    what = "largest" if task.kind == "max" else "smallest"
    query = "" if task.eos is None else f", followed by token {task.eos} as query"
    margin = "" if n == 0 else f" by a margin above {n} * 2^{exponent}"
    inputs = "inputs"
    if task.masses is not None:
        possible = prod(sum(1 for weight in row if weight) for row in task.masses)
        inputs = f"units of probability, shared unequally by {possible} of {task.tokens**task.length} inputs"
    exactly = "exactly" if claim.lower == claim.upper else "at least"
    where = "over the real numbers" if claim.semantics is None else claim.semantics.text
    text = (
        f"{where}, the model gives the {what} of {task.length} tokens out of {task.tokens}{query}{margin}"
        f" on {exactly} {claim.lower} of {claim.total} {inputs} ({percent(claim.lower, claim.total)})"
    )
    if claim.upper in (claim.lower, claim.total):
        return text
    wrong = claim.total - claim.upper
    return f"{text}, and does not on at least {wrong} ({percent(wrong, claim.total)})"
