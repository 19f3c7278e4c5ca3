"""Where a convolution proof loses (docs/FORMAT.md, `margin_convolution`): its items counted again, one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..exact import Ints
from ..problem import Problem
from ..proof import Step
from ..strategies.convolution.exact import Exact, Unsafe
from ..strategies.convolution.items import Item
from ..strategies.convolution.write import Tally, tally
from ..task import Region
from ..weights import Precision
from . import stages
from .account import Account, Share, sizes_by_others
from .counted import Grid

Listed = dict[int, list[Item]]


def region_of(problem: Problem, step: Step) -> Region:
    """All classes of the maxima listed."""
    return tuple((m, 0, problem.task.queries(m)) for m in listed(step))


def listed(step: Step) -> Listed:
    """The items of each maximum."""
    entries: Any = step["maxima"]
    return {int(entry["m"]): [_item(int(entry["m"]), value) for value in entry["items"]] for entry in entries}


def _item(m: int, value: list[Any]) -> Item:
    rest = tuple((int(output), int(share)) for output, share in value[3])
    item = Item(value[0], m, _members(value[1]), _members(value[2]), rest)
    return item if item.kind == "screen" else replace(item, step=int(value[4], 16), offset=int(value[5]))


def _members(text: str) -> tuple[int, ...]:
    mask = int(text, 16)
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)


def account(problem: Problem, step: Step, weights: Mapping[str, Any], deep: bool) -> Account:
    """Right and wrong per class and per number of other tokens, and what each output's items may hide; `deep`: also
    what each relaxation costs."""
    task = problem.task
    chosen = Precision(int(weights["bits"]), int(weights["grid"]), int(str(step["digits"])))
    exact, maxima = Exact(problem, chosen, int(str(step["unit"]))), listed(step)
    result, counts = Account.empty(task), stages.Counts({}, {}, {})
    bands = np.zeros((3, task.free + 1), dtype=object)  # sizes, right, wrong
    for m, items in maxima.items():
        bands += _maximum(exact, m, items, result, counts)
    if (bands[1] < 0).any():
        result.notes.append("an input counts as failing once for each item: with some numbers of other tokens, more do")
    result.others = [Share(str(n), *map(int, column)) for n, column in enumerate(bands.T)]
    result.outputs_of = "inputs that may fail, by the output they may fail through (an input can count for several)"
    if deep:
        result.terms, result.terms_of = stages.terms(problem, exact, maxima, counts), stages.MEANING
    return result


def _maximum(exact: Exact, m: int, items: Sequence[Item], result: Account, counts: stages.Counts) -> Ints:
    """Enter one maximum; its sizes, right and wrong inputs by number of other tokens."""
    task = exact.problem.task
    total, made = tally(m, task, exact.problem.model.d_vocab_out), list[list[Ints]]()
    above = np.zeros((task.queries(m), task.free + 1), dtype=object)
    for item in items:
        made.append(_counted(exact, item, result))
        total.enter(item, [int(each.sum()) for each in made[-1]])
        if item.kind == "upper":
            above[list(item.queries)] += np.array(made[-1], dtype=object).reshape(len(item.queries), -1)
            label = item.outputs[0] if len(item.outputs) == 1 else -1
            result.outputs[label] = result.outputs.get(label, 0) + sum(int(each.sum()) for each in made[-1])
    bands = np.zeros((3, task.free + 1), dtype=object)
    counts.uncovered[m], counts.hopeless[m] = (np.zeros(task.queries(m), dtype=object) for _ in range(2))
    for q in range(task.queries(m)):
        sizes = np.array(sizes_by_others(task, ((m, q, q + 1),)), dtype=object)
        size = int(sizes.sum())
        if total.missing[q] or total.above[q] >= size:
            (counts.uncovered if total.missing[q] else counts.hopeless)[m][q] = size
            above[q] = sizes
        wrong = _certain(total, q, items, made, task.free)
        bands += np.array([sizes, sizes - above[q], wrong], dtype=object)
        result.right[q, m], result.wrong[q, m] = size - int(above[q].sum()), int(wrong.sum())
    for number, item in enumerate(items):
        if item.kind == "upper":
            given_up = counts.given_up(m)
            masses = {(m, number, place): int(made[number][place].sum()) for place in range(len(item.queries))}
            counts.pairs.update({key: n for key, n in masses.items() if n and not given_up[item.queries[key[2]]]})
    return bands


def _counted(exact: Exact, item: Item, result: Account) -> list[Ints]:
    """For each query the count of an item, by number of other tokens."""
    task = exact.problem.task
    nothing = [np.zeros(task.free + 1, dtype=object) for _ in item.queries]
    if item.kind == "screen":
        return nothing
    try:
        cells, thresholds = exact.cells(item)
    except Unsafe:
        # the checker has counted it; only our margin for its rounding is too narrow here
        note = "some items lie too near to a grid line to be counted here"
        result.notes += [note] if note not in result.notes else []
        return nothing
    found = []
    for q, counts in zip(item.queries, Grid(task, item.m, cells).by_others(thresholds), strict=True):
        if not task.holds_max(q, item.m):
            counts[task.free] = 0  # without the maximum the input is of another class
        found.append(np.array(counts, dtype=object) * task.own_mass(q))
    return found


def _certain(total: Tally, q: int, items: Sequence[Item], made: Sequence[Sequence[Ints]], free: int) -> Ints:
    """Certain failures of a query by number of other tokens, in the combination that the checker takes."""
    single: dict[int, Ints] = {}
    double: dict[frozenset[int], Ints] = {}
    for item, counts in zip(items, made, strict=True):
        if q in item.queries and item.kind in ("lower", "both"):
            count = counts[item.queries.index(q)]
            if item.kind == "lower":
                single[item.outputs[0]] = count
            else:
                double[frozenset((item.outputs[0], item.rest[0][0]))] = count
    wrong = total.wrong(q)
    for count in single.values():
        if int(count.sum()) == wrong:
            return count
    found: Ints = np.zeros(free + 1, dtype=object)
    taken: list[int] = []
    for output, count in single.items():
        gain = count - sum((double.get(frozenset((output, other)), count) for other in taken), start=0 * count)
        if int(gain.sum()) > 0:
            found = found + gain
            taken.append(output)
    return found
