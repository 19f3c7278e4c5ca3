"""Why a convolution proof counts inputs as failing that do not fail: its relaxations undone one after the other.

Pairs of an item and an input that it counts are drawn with equal chances, so that the share of the pairs which survive
a stage is that share of all that is counted. Each stage is a subset of the one before, hence the differences add up.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from ..exact import Floats, Ints
from ..problem import Problem
from ..strategies.convolution.exact import Exact
from ..strategies.convolution.items import Item
from ..strategies.convolution.terms import View, bound_terms, relative_differences, view
from ..task import Task
from .account import WRONG, Term, summed
from .counted import Grid, Indices

Bools = npt.NDArray[np.bool_]
PAIRS = 20_000
"""Pairs drawn; a tenth of a term is then known to about 2 %."""
INPUTS = 10_000
"""Inputs drawn from classes that no bound is given for."""

STAGES = (
    ("rounding to the grid", "if terms were not rounded up to grid steps"),
    ("attention error", "if queries of an item did not share their worst attention weights"),
    ("direct path", "if queries of an item did not share their largest EU"),
    ("positions", "if EVOU and PVOU of several outputs were not bounded apart"),
    ("outputs together", "if each output of an item were bounded on its own"),
    ("earlier outputs", "if an item left out all inputs that fail through outputs of earlier items"),
    ("union over outputs", "if an input that several items count were counted once"),
)
"""What each stage undoes, after all before it."""
UNCOVERED = "classes without items", "if a class whose outputs no items cover had a bound"
HOPELESS = "classes given up", "if a bound that is as large as its class were a better one"
LEFT_OUT = "classes left out", "if the proof did not leave out some maxima or queries"
MEANING = (
    "one after the other, in this order, measured in doubles on inputs drawn from those that the proof does not "
    "count as right; the parts add up to all of them"
)


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Pairs of one item (None: of a class as a whole): queries, and the free tokens (pairs x positions)."""

    item: Item | None
    queries: Indices
    tokens: Indices


@dataclass(slots=True)
class Survivors:
    """Of the pairs: how many there are, how many are left after each stage; at last by weights 1/(items that count
    the input), with their squares."""

    pairs: int
    left: list[int]
    once: float = 0.0
    squares: float = 0.0


def terms(problem: Problem, exact: Exact, listed: Mapping[int, Sequence[Item]], counts: Counts) -> list[Term]:
    """The parts of what the proof does not count as right, among the maxima listed."""
    generator = np.random.default_rng(0)
    found = Survivors(0, [0] * (len(STAGES) - 1))
    pairs = _shares([int(n) for n in counts.pairs.values()], PAIRS, generator)
    chosen = dict(zip(counts.pairs, pairs, strict=True))
    for m, items in listed.items():
        _enter(view(problem, m), items, list(_drawn(exact, m, items, counts, chosen, generator)), found)
    unproved = [*_unproved(problem, UNCOVERED, counts.uncovered), *_unproved(problem, HOPELESS, counts.hopeless)]
    return summed([*_terms(sum(counts.pairs.values()), found), *unproved])


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Masses: `pairs` by (number of the item, place of the query), in classes that have a bound; classes (maximum ->
    queries) for which no bound is given, and those whose bound is no less than the class."""

    pairs: dict[tuple[int, int, int], int]
    uncovered: dict[int, Ints]
    hopeless: dict[int, Ints]

    def given_up(self, m: int) -> Ints:
        """Masses of the classes of a maximum for which nothing is proved."""
        total: Ints = self.uncovered[m] + self.hopeless[m]
        return total


def _shares(masses: Sequence[int], draws: int, generator: np.random.Generator) -> list[int]:
    """How many of the draws fall to each."""
    total = sum(masses)
    if not total:
        return [0] * len(masses)
    return [int(n) for n in generator.multinomial(draws, _normalised([n / total for n in masses]))]


def _normalised(shares: Sequence[float]) -> Floats:
    array = np.array(shares, dtype=np.float64)
    result: Floats = array / array.sum()
    return result


def _drawn(
    exact: Exact,
    m: int,
    items: Sequence[Item],
    counts: Counts,
    chosen: Mapping[tuple[int, int, int], int],
    generator: np.random.Generator,
) -> Iterator[Drawn]:
    """The pairs of each item of a maximum."""
    task = exact.problem.task
    for number, item in enumerate(items):
        each = [chosen.get((m, number, place), 0) for place in range(len(item.queries))]
        if any(each):
            cells, thresholds = exact.cells(item)
            queries = np.repeat(np.array(item.queries, dtype=np.int64), each)
            has = np.array([task.holds_max(int(q), m) for q in queries], dtype=bool)
            wanted = np.repeat(np.array(thresholds, dtype=np.int64), each)
            yield Drawn(item, queries, Grid(task, m, cells).draw(wanted, has, generator))


def _unbounded(task: Task, m: int, masses: Ints, draws: int, generator: np.random.Generator) -> Drawn:
    """Inputs of classes of a maximum, in proportion to their masses."""
    queries = np.repeat(np.arange(len(masses)), _shares([int(n) for n in masses], draws, generator))
    has = np.array([task.holds_max(int(q), m) for q in queries], dtype=bool)
    return Drawn(None, queries, Grid.everything(task, m).draw(np.zeros(len(queries), dtype=np.int64), has, generator))


def draw_classes(
    task: Task, masses: Mapping[int, Ints], draws: int, generator: np.random.Generator
) -> Iterator[tuple[int, Drawn]]:
    """Inputs of classes (maximum -> mass of each query), in proportion to the masses, by maximum."""
    shares = _shares([int(n.sum()) for n in masses.values()], draws, generator)
    for (m, each), inputs in zip(masses.items(), shares, strict=True):
        if inputs:
            yield m, _unbounded(task, m, each, inputs, generator)


def weight_sums(seen: View, drawn: Drawn) -> Floats:
    """The sum of the attention weights of each input, in the units of `failing`."""
    result: Floats = _weights(seen, drawn).sum(axis=1) + seen.own[drawn.queries]
    return result


def failing(seen: View, drawn: Drawn) -> Floats:
    """Pairs x outputs: the sum that is not negative iff the input fails through the output; at m itself −1."""
    result = np.full((len(drawn.queries), seen.outputs), -1.0)
    if seen.others:
        result[:, list(seen.others)] = _sums(seen, drawn, np.array(seen.others, dtype=np.int64), ())
    return result


def _weights(seen: View, drawn: Drawn) -> Floats:
    """Pairs x free positions: weight of the token there, in the input's own attention."""
    ratio = np.exp(np.take_along_axis(seen.ratio[drawn.queries], drawn.tokens, axis=1))
    result: Floats = ratio * seen.place[drawn.queries]
    return result


def _sums(seen: View, drawn: Drawn, outputs: Indices, rest: tuple[tuple[int, int], ...]) -> Floats:
    """Pairs x outputs: the sums of one output at a time, less the shares of the rest."""
    queries, free = drawn.queries, seen.free
    direct, own, values, positions = relative_differences(seen, queries, outputs, rest, -1)
    weights = _weights(seen, drawn)
    sums = (own + positions[free] + direct) * seen.own[queries][:, None]
    for i in range(free):
        sums += weights[:, i, None] * (values[drawn.tokens[:, i]] + positions[i] + direct)
    result: Floats = sums
    return result


def stages(seen: View, drawn: Drawn, failures: Bools) -> list[Bools]:
    """Which pairs of an item are left after each stage but the last."""
    item = drawn.item
    if item is None:
        raise ValueError("pairs of no item")
    queries, tokens, free = drawn.queries, drawn.tokens, seen.free
    named = np.array(item.outputs, dtype=np.int64)
    outputs = named if len(named) else np.array(seen.others, dtype=np.int64)
    members = np.array(item.queries, dtype=np.int64)
    term, own = bound_terms(seen, "upper", members, named, item.rest)
    places = np.searchsorted(members, queries)
    where = np.arange(free)
    shared = term[where, tokens].sum(axis=1) + own[places]
    weights = _weights(seen, drawn)
    # the largest differences of the whole set of queries, then of each query
    direct, _, values, positions = relative_differences(seen, members, named, item.rest, -1)
    middle = positions.mean(axis=0)
    place = (positions[:free] - middle).max(axis=1, initial=-np.inf)
    token = (values + direct.max(axis=0) + middle).max(axis=1)
    attention = (weights * (token[tokens] + place)).sum(axis=1) + own[places]
    each = (values[None] + (direct + middle)[:, None]).max(axis=2)
    apart = (weights * (each[places[:, None], tokens] + place)).sum(axis=1) + own[places]
    together = np.zeros(len(queries))
    direct, own_values, values, positions = relative_differences(seen, queries, outputs, item.rest, -1)
    for i in range(free):
        together += weights[:, i] * (values[tokens[:, i]] + positions[i] + direct).max(axis=1)
    together += (direct + own_values + positions[free]).max(axis=1) * seen.own[queries]
    single = _sums(seen, drawn, outputs, item.rest).max(axis=1)
    earlier = failures[:, [p for p, _ in item.rest]].any(axis=1)
    true = failures[:, outputs].any(axis=1) & ~earlier
    left, result = np.ones(len(queries), dtype=bool), []
    for bound in (shared, attention, apart, together, single):
        left = left & (bound >= 0)
        result.append(left)
    return [*result, result[-1] & true]


def _enter(seen: View, items: Sequence[Item], drawn: Sequence[Drawn], found: Survivors) -> None:
    """Count the pairs of a maximum that are left after each stage."""
    for each in drawn:
        failures = failing(seen, each) >= 0
        left = stages(seen, each, failures)
        found.pairs += len(each.queries)
        for stage, mask in enumerate(left):
            found.left[stage] += int(mask.sum())
        times = np.zeros(len(each.queries))
        for item in items:
            if item.kind == "upper":
                outputs = list(item.outputs or seen.others)
                earlier = failures[:, [p for p, _ in item.rest]].any(axis=1)
                times += np.isin(each.queries, item.queries) & failures[:, outputs].any(axis=1) & ~earlier
        share = left[-1] / np.maximum(times, 1.0)
        found.once += float(share.sum())
        found.squares += float((share**2).sum())


def _terms(counted: int, found: Survivors) -> list[Term]:
    """The differences between the stages, and their standard errors."""
    n = max(found.pairs, 1)
    left: list[float] = [n, *found.left, found.once]
    levels = [counted * round(share * 2**20) // (n << 20) for share in left]
    # what a pair loses in the last stage is a part of it; before, all or nothing
    squares = [a - b for a, b in itertools.pairwise(left[:-1])]
    squares.append(found.left[-1] - 2 * found.once + found.squares)
    result = [
        Term(
            *words,
            levels[i] - levels[i + 1],
            _scaled(counted, sqrt(max(square - (left[i] - left[i + 1]) ** 2 / n, 0)) / n),
        )
        for i, (words, square) in enumerate(zip(STAGES, squares, strict=True))
    ]
    spread = sqrt(max(found.squares - found.once**2 / n, 0.0)) / n
    return [*result, Term(*WRONG, levels[-1], _scaled(counted, spread))]


def left_out(problem: Problem, masses: Ints) -> list[Term]:
    """The parts of classes (queries x maxima: their masses, or zero) that no step of the proof counts."""
    return _unproved(problem, LEFT_OUT, {m: masses[: problem.task.queries(m), m] for m in problem.task.possible()})


def _unproved(problem: Problem, words: tuple[str, str], masses: Mapping[int, Ints]) -> list[Term]:
    """What the model gets right, and what it gets wrong, of classes (maximum -> mass of each query) without a bound."""
    generator, wrong = np.random.default_rng(1), 0
    total = sum(int(n.sum()) for n in masses.values())
    if not total:
        return []
    for m, drawn in draw_classes(problem.task, masses, INPUTS, generator):
        wrong += int((failing(view(problem, m), drawn) >= 0).any(axis=1).sum())
    failed, share = (2 * total * wrong + INPUTS) // (2 * INPUTS), wrong / INPUTS
    error = _scaled(total, sqrt(share * (1 - share) / INPUTS))
    return [Term(*words, total - failed, error), Term(*WRONG, failed, error)]


def _scaled(mass: int, share: float) -> int:
    """A share of a mass that may exceed all doubles, rounded up."""
    return -(-mass * round(share * 2**40) >> 40)
