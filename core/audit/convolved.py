"""Where a convolution proof loses (docs/FORMAT.md, `margin_convolution`): its items counted again, one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..problem import Problem
from ..proof import Step
from ..strategies.convolution.exact import Exact, Unsafe
from ..strategies.convolution.items import Item
from ..strategies.convolution.write import tally
from ..task import Region
from ..weights import Precision
from .account import Account, Term

FINER = 4
"""How much shorter the grid steps are in the question what rounding costs."""


def region_of(problem: Problem, step: Step) -> Region:
    """All classes of the maxima listed."""
    return tuple((m, 0, problem.task.queries(m)) for m, _ in _maxima(step))


def _maxima(step: Step) -> list[tuple[int, list[Item]]]:
    entries: Any = step["maxima"]
    return [(int(entry["m"]), [_item(int(entry["m"]), value) for value in entry["items"]]) for entry in entries]


def _item(m: int, value: list[Any]) -> Item:
    rest = tuple((int(output), int(share)) for output, share in value[3])
    item = Item(value[0], m, _members(value[1]), _members(value[2]), rest)
    return item if item.kind == "screen" else replace(item, step=int(value[4], 16), offset=int(value[5]))


def _members(text: str) -> tuple[int, ...]:
    mask = int(text, 16)
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)


def account(problem: Problem, step: Step, weights: Mapping[str, Any]) -> Account:
    """Right and wrong per class, and what each output's items may hide."""
    task, outputs = problem.task, problem.model.d_vocab_out
    exact = _exact(problem, step, weights)
    result = Account.empty(task)
    for m, items in _maxima(step):
        total = tally(m, task, outputs)
        for item in items:
            counts = _counts(exact, item, result)
            total.enter(item, counts)
            if item.kind == "upper":
                label = item.outputs[0] if len(item.outputs) == 1 else -1
                result.outputs[label] = result.outputs.get(label, 0) + sum(counts)
        for q in range(task.queries(m)):
            size = task.class_size(q, m)
            result.right[q, m] = size - min(size, size if total.missing[q] else total.above[q])
            result.wrong[q, m] = total.wrong(q)
    result.outputs_of = "inputs that may fail, by the output they may fail through (an input can count for several)"
    return result


def _exact(problem: Problem, step: Step, weights: Mapping[str, Any]) -> Exact:
    chosen = Precision(int(weights["bits"]), int(weights["grid"]), int(str(step["digits"])))
    return Exact(problem, chosen, int(str(step["unit"])))


def _counts(exact: Exact, item: Item, result: Account | None) -> tuple[int, ...]:
    try:
        return exact.count(item).counts
    except Unsafe:
        # the checker has counted it; only our margin for its rounding is too narrow here
        if (
            result is not None
            and (note := "some items lie too near to a grid line to be counted here") not in result.notes
        ):
            result.notes.append(note)
        return (0,) * len(item.queries)


def terms(problem: Problem, step: Step, weights: Mapping[str, Any], right: int) -> list[Term]:
    """What the grid costs: every step of an upper item a quarter as long."""
    exact, task = _exact(problem, step, weights), problem.task
    finer = 0
    for m, items in _maxima(step):
        total = tally(m, task, problem.model.d_vocab_out)
        for item in items:
            if item.kind in ("screen", "upper"):
                total.enter(item, _finer(exact, item))
        for q in range(task.queries(m)):
            size = task.class_size(q, m)
            finer += size - min(size, size if total.missing[q] else total.above[q])
    return [Term("rounding to the grid", f"if every grid step were 1/{FINER} as long", finer - right)]


def _finer(exact: Exact, item: Item) -> tuple[int, ...]:
    if item.kind == "screen" or item.step < FINER:
        return _counts(exact, item, None)
    for offset in (item.offset, (item.offset + 7) % 64, (item.offset + 19) % 64):
        try:
            return exact.count(replace(item, step=item.step // FINER, offset=offset)).counts
        except Unsafe:
            continue
    return _counts(exact, item, None)
