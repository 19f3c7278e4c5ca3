"""One class (q, m) by itself: where the loss is, a chain of outputs that each count only what those before miss.

The loss of a sum over outputs is that inputs with several winners count several times. If o wins and p does not, then
y_o - y_m - share (y_p - y_m) >= 0 for any share >= 0, and mostly that holds for few inputs or for none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .block import Block, Draft, Found
from .items import Rest
from .moves import EVEN, FINE, FINEST, SHARES, Move, rank, split_screen
from .terms import Indices

SERIOUS = 0.02  # share of the leading output's count above which another output gets an item of its own
LOOKED_AT = 12  # outputs that get one at most
LEANS = 3
SPARE = 0.1  # of what all may lose, what a class may in each of its items, in proportion to its size
PAYS = 0.8  # what a grid four times as fine must leave of a count
MOST_OPERATIONS = 1_000_000  # of one item of a class


def class_move(block: Block, q: int, aim: float, two_sided: bool) -> Move:
    """All items of a query replaced by its own. `aim`: what all classes together may lose, as a share of all inputs."""
    touched = [each for each in block.found.values() if q in each.draft.queries]
    kept = [each for each in touched if len(each.draft.queries) > 1]
    shrunk = tuple(replace(each.draft, queries=each.draft.queries[each.draft.queries != q]) for each in kept)
    upper, singles = _upper(block, np.array([q]), SPARE * aim)
    lower = _lower(block, singles) if two_sided else []
    return Move(tuple(each.number for each in touched), (*shrunk, *upper, *lower))


def _counted(block: Block, draft: Draft) -> tuple[Draft, float]:
    """The draft at the finest step up to its own that the grid allows, with its count; 1 where there is none."""
    found: Found | None = None
    while found is None and draft.step < 4:
        found = block.evaluate(draft)
        if found is None:
            draft = replace(draft, step=draft.step * 2)
    return draft, found.total if found is not None else 1.0


def _refined(block: Block, draft: Draft, enough: float = 0.0) -> tuple[Draft, float]:
    """Finer steps as long as they pay. Where the maximum stands at a light position, small terms decide."""
    draft, count = _counted(block, draft)
    up = draft.kind != "lower"
    while draft.step > FINEST and not (up and count <= enough):
        found = block.evaluate(replace(draft, step=draft.step / 4))
        if found is None or found.operations > MOST_OPERATIONS:
            break
        if found.total >= PAYS * count if up else PAYS * found.total <= count:
            break
        draft, count = found.draft, found.total
    return draft, count


def _upper(block: Block, queries: Indices, enough: float) -> tuple[list[Draft], list[tuple[Draft, float]]]:
    """Items that cover all outputs, and outputs by themselves with their counts, largest first.

    Counts up to `enough` need not be made smaller.
    """
    outputs = block.view.others
    screened, others = split_screen(block, queries, outputs)
    drafts = [Draft("screen", queries, screened)] if screened else []
    if not others:
        return drafts, []
    ranked = rank(block, queries, others)
    base = Draft("upper", queries, (), FINE)
    most = 0.0
    alone: dict[int, tuple[Draft, float]] = {}
    for o in ranked[:LOOKED_AT]:
        alone[o] = _refined(block, replace(base, outputs=(o,)), max(SERIOUS * most, enough))
        most = max(most, alone[o][1])
    alone = dict(sorted(alone.items(), key=lambda entry: -entry[1][1]))
    first, *_ = alone
    singles = list(alone.values())
    drafts.append(replace(singles[0][0], level=(0,)))
    small = max(SERIOUS * singles[0][1], enough)
    left = tuple(o for o in ranked if o != first)
    for share in SHARES:
        screened, left = split_screen(block, queries, left, ((first, share),))
        if screened:
            drafts.append(Draft("screen", queries, screened, 1.0, ((first, share),), (len(drafts),)))
    taken = [first]
    for group in _groups([o for o in alone if o in left], [o for o in left if o not in alone]):
        draft, count = alone.get(group[0]) or _refined(block, replace(base, outputs=group), small)
        drafts.append(_leaning(block, replace(draft, level=(len(drafts),)), count, taken, small))
        taken.extend(group if len(group) == 1 else ())
    return drafts, singles


def _groups(single: list[int], rest: list[int]) -> Iterator[tuple[int, ...]]:
    yield from ((o,) for o in single)
    yield from (tuple(rest[i : i + 16]) for i in range(0, len(rest), 16))


def _leaning(block: Block, draft: Draft, count: float, taken: list[int], small: float) -> Draft:
    """The draft with the shares of outputs before it that leave the least to count."""
    best, least = draft, count
    rest: Rest = ()
    for _ in range(LEANS):
        if least <= small:
            break
        trials = (
            _counted(block, replace(draft, rest=(*rest, (p, share))))
            for p in taken[:4]
            if p not in dict(rest)
            for share in SHARES
        )
        trial, count = min(trials, key=lambda pair: pair[1], default=(best, least))
        if count >= 0.9 * least:
            break
        best, least, rest = trial, count, trial.rest
    return best


def _lower(block: Block, singles: list[tuple[Draft, float]]) -> list[Draft]:
    """The leading output, and others as far as they fail where those before do not."""
    if not singles or singles[0][1] <= 0:
        return []
    draft, total = _refined(block, replace(singles[0][0], kind="lower"))
    drafts, taken = [draft], [*draft.outputs]
    for upper, most in singles[1:4]:
        if most < SERIOUS * total:
            break
        draft, count = _refined(block, replace(upper, kind="lower"))
        shared = [_shared(block, draft, p) for p in taken]
        gain = count - sum(common for _, common in shared)
        if gain > SERIOUS * total:
            drafts.extend([draft, *(both for both, _ in shared)])
            taken.extend(draft.outputs)
            total += gain
    return drafts


def _shared(block: Block, draft: Draft, p: int) -> tuple[Draft, float]:
    """A bound of what two outputs fail together, by the best mixture."""
    both = replace(draft, kind="both")
    trials = (_counted(block, replace(both, rest=((p, share),))) for share in (EVEN // 4, EVEN // 2, EVEN, EVEN * 2))
    return min(trials, key=lambda pair: pair[1])
