"""Convolution proofs taken apart: counts by number of other tokens, draws with equal chances, and stages that nest."""

from __future__ import annotations

import itertools
from math import prod, sqrt
from pathlib import Path

import numpy as np
import pytest
from compactproofs.core.audit import convolved, stages
from compactproofs.core.audit.counted import Grid
from compactproofs.core.audit.losses import Losses, analyse, parts_of
from compactproofs.core.audit.scan import scan
from compactproofs.core.checkpoint import load
from compactproofs.core.claim import parse, task_of
from compactproofs.core.problem import Problem
from compactproofs.core.proof import Proof
from compactproofs.core.strategies.convolution import Goal, margin_convolution
from compactproofs.core.strategies.convolution.exact import Exact
from compactproofs.core.strategies.convolution.terms import view
from compactproofs.core.task import Task, pairs
from compactproofs.core.weights import Precision

MODEL = Path(__file__).parents[2] / "models" / "max_of_4_v64_seed519.safetensors"
CASES = (
    ("accuracy of max of 10 tokens", 0.05),
    ("accuracy of min of 9 tokens", 0.001),
    ("accuracy of max of 8 tokens when every position ~ 3/4 {0..4} + 1/4 {5..7}", 0.02),
    ("P(margin > 1/2) of max of 14 tokens", 0.05),
)


def random_grid(generator: np.random.Generator) -> Grid:
    k, v = int(generator.integers(2, 5)), int(generator.integers(2, 5))
    masses = None
    if generator.random() < 0.5:
        masses = tuple(tuple(int(n) for n in generator.integers(0, 4, v)) for _ in range(k))
    task, m = Task("max", k, v, None, masses), int(generator.integers(v))
    return Grid(task, m, generator.integers(-9, 9, (task.free, m + 1)).tolist())


def reached(grid: Grid, threshold: int) -> dict[tuple[int, ...], int]:
    """Masses of the fillings that reach a threshold, one by one."""
    found = {}
    for free in itertools.product(range(grid.m + 1), repeat=grid.task.free):
        mass = prod(grid.task.mass(i)[t] for i, t in enumerate(free))
        if mass and sum(grid.cells[i][t] for i, t in enumerate(free)) >= threshold:
            found[free] = mass
    return found


@pytest.mark.parametrize("seed", range(40))
def test_counts_and_draws_are_those_of_enumeration(seed: int) -> None:
    generator = np.random.default_rng(seed)
    grid = random_grid(generator)
    thresholds = [int(n) for n in generator.integers(-20, 20, 3)]
    for threshold, counts in zip(thresholds, grid.by_others(thresholds), strict=True):
        every = reached(grid, threshold)
        wanted = [0] * (grid.task.free + 1)
        for free, mass in every.items():
            wanted[sum(t != grid.m for t in free)] += mass
        assert counts == wanted
        for has in (False, True):
            chosen = {free: mass for free, mass in every.items() if has or grid.m in free}
            if chosen:
                drawn = grid.draw(np.full(2000, threshold), np.full(2000, has), generator)
                times = dict.fromkeys(chosen, 0)
                for row in map(tuple, drawn.tolist()):
                    times[row] += 1  # a filling that does not count would be no key
                for free, mass in chosen.items():
                    expected = 2000 * mass / sum(chosen.values())
                    assert abs(times[free] - expected) < 6 * sqrt(expected + 1)


def made(text: str, gap: float) -> tuple[Problem, Proof, Losses]:
    model, claim = load(MODEL), parse(text)
    problem = Problem(model, task_of(claim, model), claim.threshold)
    proof = margin_convolution(problem, goal=Goal(gap=gap, keep=True))
    return problem, proof, analyse(problem, proof.steps, (proof.lower, proof.upper))


@pytest.mark.parametrize(("text", "gap"), CASES)
def test_parts_of_a_convolution_proof_add_up(text: str, gap: float) -> None:
    problem, proof, losses = made(text, gap)
    account, total = losses.account, problem.task.total
    assert losses.agrees
    assert sum(share.size for share in account.others) == total
    assert sum(share.right for share in account.others) == proof.lower
    assert sum(share.wrong for share in account.others) == total - proof.upper
    assert sum(term.gained for term in account.terms) == total - proof.lower
    assert all(term.gained >= 0 for term in account.terms)
    (wrong,) = (term for term in account.terms if term.name == "the model is wrong")
    assert abs(wrong.gained - int(scan(problem).account.wrong.sum())) <= 5 * wrong.error + 1


@pytest.mark.parametrize(("text", "gap"), CASES)
def test_drawn_stages_are_those_of_all_counted_inputs(text: str, gap: float) -> None:
    """The same with every pair of an item and an input instead of drawn ones: weights are the inputs' masses."""
    problem, proof, losses = made(text, gap)
    task = problem.task
    (part,) = parts_of(problem, proof.steps)
    step = proof.steps[part.number]
    margins = proof.steps[int(str(step["margins"]))]
    weights = proof.steps[int(str(margins["weights"]))]
    chosen = Precision(int(str(weights["bits"])), int(str(weights["grid"])), int(str(step["digits"])))
    exact, listed = Exact(problem, chosen, int(str(step["unit"]))), convolved.listed(step)
    left = [0] * (len(stages.STAGES) + 1)
    wrong = 0
    for m, items in listed.items():
        seen = view(problem, m)
        bound = [q for q in range(task.queries(m)) if losses.account.right[q, m]]
        failing_once: set[tuple[int, tuple[int, ...]]] = set()
        for item in (each for each in items if each.kind == "upper"):
            cells, thresholds = exact.cells(item)
            for q, threshold in zip(item.queries, thresholds, strict=True):
                counted = reached(Grid(task, m, cells), threshold) if q in bound else {}
                each = [(free, n) for free, n in counted.items() if m in free or task.holds_max(q, m)]
                masses = np.array([n * task.own_mass(q) for _, n in each])
                tokens = np.array([free for free, _ in each], dtype=np.int64).reshape(-1, task.free)
                drawn = stages.Drawn(item, np.full(len(each), q), tokens)
                failures = stages.failing(seen, drawn) >= 0
                masks = stages.stages(seen, drawn, failures)
                for stage, mask in enumerate([np.ones(len(each), dtype=bool), *masks]):
                    left[stage] += int(masses[mask].sum())
                for (free, _), mass, fails in zip(each, masses, masks[-1], strict=True):
                    if fails and (q, free) not in failing_once:
                        failing_once.add((q, free))
                        wrong += int(mass)
    left[-1] = wrong
    by_name = {term.name: term for term in losses.account.terms}
    for (name, _), before, after in zip(stages.STAGES, left, left[1:], strict=False):
        assert before >= after
        assert abs(by_name[name].gained - (before - after)) <= 5 * by_name[name].error + left[0] / stages.PAIRS
    # every wrong input of a class with a bound is counted, and stays to the end
    model = scan(problem).account.wrong
    bounded = sum(int(model[q, m]) for q, m in pairs(task.whole()) if losses.account.right[q, m])
    assert wrong == bounded
