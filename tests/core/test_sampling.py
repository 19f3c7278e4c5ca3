"""Intervals against exact binomial sums; samplers against enumeration; the published sampler's two faults."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from compactproofs.core.ablation import ablate
from compactproofs.core.arrays import from_arrays
from compactproofs.core.problem import Problem
from compactproofs.core.sampling import at_most, binomial_interval, correct, importance_sample, monte_carlo
from compactproofs.core.task import task_for

TOKENS, LENGTH = 5, 4


@pytest.fixture(scope="module")
def problem() -> Problem:
    """A small model that is right about half of the time, with strong positions."""
    generator = np.random.default_rng(0)
    tokens = np.arange(TOKENS)[:, None]
    arrays = {
        "embed.W_E": np.hstack([np.eye(TOKENS), tokens / TOKENS]),
        "pos_embed.W_pos": generator.normal(0, 0.6, (LENGTH, TOKENS + 1)),
        "unembed.W_U": np.vstack([np.eye(TOKENS), np.zeros((1, TOKENS))]),
        **{f"blocks.0.attn.W_{n}": np.eye(TOKENS + 1)[None] + generator.normal(0, 0.4, (1, 6, 6)) for n in "QKVO"},
    }
    model = from_arrays({name: a.astype(np.float32) for name, a in arrays.items()})
    return Problem(model, task_for(model))


@pytest.mark.parametrize(("count", "samples", "p"), [(0, 5, "1/3"), (3, 10, "1/2"), (9, 10, "4/5"), (40, 60, "3/5")])
def test_binomial_tail_is_the_exact_sum(count: int, samples: int, p: str) -> None:
    exact = sum(comb(samples, i) * Fraction(p) ** i * (1 - Fraction(p)) ** (samples - i) for i in range(count + 1))
    assert at_most(count, samples, float(Fraction(p))) == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize(
    ("right", "samples", "low", "high"),
    [(0, 10, 0.0, 0.308497), (10, 10, 0.691503, 1.0), (7, 20, 0.153909, 0.592189), (50, 100, 0.398321, 0.601679)],
)
def test_clopper_pearson_against_published_values(right: int, samples: int, low: float, high: float) -> None:
    found = binomial_interval(right, samples)
    assert (found.low, found.high) == pytest.approx((low, high), abs=2e-6)


def test_large_samples_keep_their_digits() -> None:
    found = binomial_interval(999_000, 1_000_000)
    assert found.low < 0.999 < found.high
    assert found.high - found.low == pytest.approx(2 * 1.96 * (0.999 * 0.001 / 1e6) ** 0.5, rel=0.02)


def test_monte_carlo_covers_the_truth_and_repeats(problem: Problem) -> None:
    truth = Fraction(ablate(problem, ()).right, problem.task.total)
    found = monte_carlo(problem, 20_000, seed=3, confidence=0.999)
    assert found.low <= truth <= found.high
    assert found == monte_carlo(problem, 20_000, seed=3, confidence=0.999)


def test_the_forward_pass_counts_as_the_enumeration(problem: Problem) -> None:
    every = np.array(list(product(range(TOKENS), repeat=LENGTH)))
    assert int(correct(problem, every).sum()) == ablate(problem, ()).right
    assert int(correct(problem, every, positional=False).sum()) == ablate(problem, ("EQKP",)).right


def test_the_repaired_sampler_is_unbiased_and_the_published_one_is_not(problem: Problem) -> None:
    truth = ablate(problem, ()).right / problem.task.total
    without = ablate(problem, ("EQKP",)).right / problem.task.total
    assert abs(truth - without) > 0.02
    repaired = importance_sample(problem, 2000, seed=1, loses_eqkp=False, uneven=False)
    assert repaired.accuracy == pytest.approx(truth, abs=0.005)
    published = importance_sample(problem, 2000, seed=1)
    assert abs(published.accuracy - truth) > 0.01
    assert importance_sample(problem, 2000, seed=1, uneven=False).accuracy == pytest.approx(without, abs=0.005)


def test_number_of_strata(problem: Problem) -> None:
    """One for c = 0 and m for each larger c that is possible, of every maximum and query."""
    expected = sum(1 + m * (LENGTH - 1 if q == m else LENGTH - 2) for m in range(TOKENS) for q in range(m + 1))
    assert importance_sample(problem, 1, seed=0).strata == expected
