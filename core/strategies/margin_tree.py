"""The exact number of wrong sequences by branch and bound (docs/FORMAT.md, "Margin tree").

The float screen says which outputs matter; the tree is walked in integers with a band around zero that is wider than
the checker's own radius, so that what is decided here is decided there. A sequence inside the band raises the
precision; only ties survive that.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..errors import CompactProofsError
from ..problem import Problem
from ..progress import Progress, best_so_far
from ..proof import Builder, Proof, hexadecimal, region_json
from ..screen import survivors
from ..task import Region, Task, pairs, region_of
from ..weights import Enclosure, Precision, precision

DIGITS = (64, 128, 480)
BAND = 8  # in units of the last digit of a weight; the checker's enclosures are off by at most 2
RIM = 32  # parts of the band: what is undecided, but not within one of them, the checker may decide
LIMIT = 20_000_000


@dataclass(frozen=True, slots=True)
class Table:
    """One output in one class: per free position the terms of tokens 0..m, what may still come, and the band."""

    terms: tuple[tuple[int, ...], ...]
    ranked: tuple[tuple[tuple[int, int], ...], ...]  # (term, token), ascending
    best: tuple[int, ...]  # most that positions after this one can add
    best_with_m: tuple[int | None, ...]  # the same with token m among them
    worst: tuple[int, ...]
    start: int
    band: int


@dataclass(slots=True)
class Tally:
    """What was found, and how many nodes were visited."""

    right: int = 0
    wrong: int = 0
    undecided: int = 0
    nodes: int = 0


def margin_tree(
    problem: Problem,
    progress: Progress = lambda done, total: None,
    nodes: int = LIMIT,
    first: int = 0,
) -> Proof:
    """Proof of the exact count, or of that among the maxima from `first` on: a shorter proof of less.

    Errors: TREE_TOO_LARGE when more than `nodes` nodes are needed.
    """
    task, ladder = problem.task, problem.ladder(DIGITS)
    whole = tuple(span for span in task.whole() if span[0] >= first)
    classes = set(pairs(problem.within(whole, ladder[-1])))
    alive = {m: survivors(problem, m).alive for m in task.possible() if m >= first}
    for digits in ladder:
        chosen = precision(problem.circuits, digits)
        tally = Tally()
        for q, (token, position) in enumerate(problem.enclosures(chosen)):
            progress(q, problem.circuits.eqke.ints.shape[0])
            for m in alive:
                if (q, m) in classes and task.class_size(q, m):
                    outputs = [int(o) for o in alive[m][q].nonzero()[0]]
                    tables = [_table(problem, q, m, o, token, position, chosen) for o in outputs]
                    found = _walk(tables, q, m, task, tally, nodes)
                    if found[1] and digits == ladder[-1] and _unsure(tables, q, m, task, found):
                        classes.remove((q, m))
                        continue
                    tally.wrong, tally.undecided = tally.wrong + found[0], tally.undecided + found[1]
                    tally.right += task.class_size(q, m) - sum(found)
            best_so_far(progress, tally.right, task.total)
        if not tally.undecided:
            break
    return _proof(problem, chosen, tally, whole, problem.some(region_of(classes)))


def _unsure(tables: list[Table], q: int, m: int, task: Task, found: tuple[int, int]) -> bool:
    """Is a sum of the class between a tie, where even the checker's band covers it, and the rim of ours?"""
    return _walk([replace(table, band=table.band // RIM) for table in tables], q, m, task, Tally(), LIMIT) != found


def wrong_in_class(
    problem: Problem,
    q: int,
    m: int,
    outputs: list[int],
    weights: tuple[Enclosure, Enclosure],
    chosen: Precision,
    limit: int = LIMIT,
) -> tuple[int, int]:
    """Wrong and undecided mass of one class, in which these outputs may win. Errors: TREE_TOO_LARGE."""
    tables = [_table(problem, q, m, o, *weights, chosen) for o in outputs]
    return _walk(tables, q, m, problem.task, Tally(), limit)


def estimate(problem: Problem, progress: Progress = lambda done, total: None) -> int:
    """Right sequences by the same walk; printed as an estimate because no checker has seen it."""
    return margin_tree(problem, progress).lower


def _proof(problem: Problem, chosen: Precision, tally: Tally, whole: Region, region: Region) -> Proof:
    builder, task = Builder(), problem.task
    margins = builder.margins(chosen.bits, chosen.grid, problem.threshold)
    right = task.mass_of(region) - tally.wrong - tally.undecided
    count = builder.add(
        "margin_tree",
        margins=margins,
        region=region_json(region),
        digits=chosen.digits,
        right=hexadecimal(right),
        wrong=hexadecimal(tally.wrong),
    )
    builder.add("conclude", of=count)
    undecided = task.mass_of(whole) - right - tally.wrong
    return Proof("margin-tree", tuple(builder.steps), right, task.total - tally.wrong, undecided)


def relative_weights(token: Enclosure, position: Enclosure, m: int, chosen: Precision) -> tuple[list[int], list[int]]:
    """Token and position weights cut to `digits` bits relative to token m and to the largest position."""
    shift = max(token[0][m].bit_length() - chosen.digits, 0)
    cut = max(chosen.bits - chosen.digits, 0)
    return [n >> shift for n in token[0]], [n >> cut for n in position[0]]


def _table(problem: Problem, q: int, m: int, o: int, token: Enclosure, position: Enclosure, chosen: Precision) -> Table:
    logits, own = problem.logits, problem.task.own_row(q)
    u, p = relative_weights(token, position, m, chosen)
    base = logits.direct[q][o] - logits.direct[q][m] + logits.shift
    values = [row[o] - row[m] + base for row in logits.values]
    places = [row[o] - row[m] for row in logits.positions]
    terms = [tuple(p[i] * u[t] * (values[t] + places[i]) for t in range(m + 1)) for i in range(problem.task.free)]
    best, worst = [0], [0]
    with_m: list[int | None] = [None]
    for row in reversed(terms[1:]):
        head = with_m[-1]
        with_m.append(best[-1] + row[m] if head is None else max(best[-1] + row[m], head + max(row)))
        best.append(best[-1] + max(row))
        worst.append(worst[-1] + min(row))
    used = [values[t] for t in range(m + 1)] + [values[own]]
    largest = max(map(abs, used)) + max(map(abs, places))
    heaviest = max(max(u[: m + 1]), u[own])
    rows = [*range(m + 1), own]
    exact = position[0] == position[1] and all(token[0][t] == token[1][t] for t in rows)  # equal scores: no radius
    band = 0 if exact else len(places) * largest * (max(p) * BAND + heaviest * BAND + BAND * BAND)
    return Table(
        terms=tuple(terms),
        ranked=tuple(tuple(sorted((term, t) for t, term in enumerate(row))) for row in terms),
        best=tuple(reversed(best)),
        best_with_m=tuple(reversed(with_m)),
        worst=tuple(reversed(worst)),
        start=p[-1] * u[own] * (values[own] + places[-1]),
        band=band,
    )


def _walk(tables: list[Table], q: int, m: int, task: Task, tally: Tally, limit: int) -> tuple[int, int]:
    """The mass of one class that is wrong, and that is undecided; nodes are added to the tally."""
    own, free = task.own_mass(q), task.free
    if free == 0:
        fails = any(table.start >= table.band for table in tables)
        return own * fails, own * (not fails and any(table.start >= -table.band for table in tables))
    wrong = undecided = 0
    at_most, below = task.below(m + 1), task.below(m)
    masses = [task.mass(position) for position in range(free)]

    def visit(level: int, has: bool, live: list[tuple[Table, int]], mass: int) -> None:
        nonlocal wrong, undecided
        tally.nodes += 1
        if tally.nodes > limit:
            text = f"the margin tree has more than {limit} nodes; use another strategy"
            raise CompactProofsError("TREE_TOO_LARGE", text)
        after = level + 1
        lost: set[int] = set()
        followers: dict[int, list[tuple[Table, int]]] = {}
        for table, total in live:
            lost.update(_at_least(table, level, table.band - total - table.worst[level]))
            for t in _candidates(table, level, -table.band - total, has, m):
                followers.setdefault(t, []).append((table, total + table.terms[level][t]))
        for t in lost:
            wrong += mass * masses[level][t] * (at_most[after] - (0 if has or t == m else below[after]))
        for t, children in followers.items():
            if t in lost:
                continue
            if after == free:
                undecided += mass * masses[level][t]
            else:
                visit(after, has or t == m, children, mass * masses[level][t])

    if tables:
        visit(0, task.holds_max(q, m), [(table, table.start) for table in tables], own)
    return wrong, undecided


def _at_least(table: Table, level: int, needed: int) -> Iterator[int]:
    """Tokens whose term is at least `needed`."""
    ranked = table.ranked[level]
    for _, t in ranked[bisect.bisect_left(ranked, (needed, -1)) :]:
        yield t


def _candidates(table: Table, level: int, needed: int, has: bool, m: int) -> Iterator[int]:
    """Tokens after which the sum can reach `needed` with token m somewhere."""
    if has:
        yield from _at_least(table, level, needed - table.best[level])
        return
    with_m = table.best_with_m[level]
    if with_m is not None:
        yield from (t for t in _at_least(table, level, needed - with_m) if t != m)
    if table.terms[level][m] + table.best[level] >= needed:
        yield m
