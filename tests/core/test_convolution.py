"""Margin convolution on the certifier's side: the counting of tails, and the goals that a search works towards."""

from __future__ import annotations

import itertools
from math import prod

import numpy as np
import pytest
from compactproofs.core.arrays import from_arrays
from compactproofs.core.claim import parse, task_of
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.exact import Floats
from compactproofs.core.model import Model
from compactproofs.core.problem import Problem
from compactproofs.core.strategies import prove
from compactproofs.core.strategies.convolution import AUTO, Goal, estimate, margin_convolution
from compactproofs.core.strategies.convolution import strategy as module
from compactproofs.core.strategies.convolution.block import Draft, block_of
from compactproofs.core.strategies.convolution.exact import Unsafe
from compactproofs.core.strategies.convolution.items import Item, mask
from compactproofs.core.strategies.convolution.search import Search, State
from compactproofs.core.strategies.convolution.strategy import measured
from compactproofs.core.strategies.convolution.tails import estimate as estimated
from compactproofs.core.strategies.convolution.tails import tails
from compactproofs.core.strategies.convolution.terms import view
from compactproofs.core.strategies.margin_tree import margin_tree
from compactproofs.core.task import task_for


def planted(tokens: int, context: int, seed: int = 1, pull: float = 1.5, gain: float = 30.0) -> Model:
    return from_arrays(weights(tokens, context, seed, pull, gain))


def weights(tokens: int, context: int, seed: int, pull: float, gain: float) -> dict[str, Floats]:
    """Token t is (t, 1), output o gives t*o - o*o/2, attention grows with t; with noise, so that some inputs fail."""
    rng = np.random.default_rng(seed)
    t = np.arange(tokens, dtype=np.float64)

    def noisy(array: Floats, size: float = 0.15) -> Floats:
        return np.asarray(np.round((array + size * rng.standard_normal(array.shape)) * 1024) / 1024)

    return {
        "embed.W_E": noisy(np.stack([t, np.ones(tokens)], axis=1)),
        "pos_embed.W_pos": noisy(np.zeros((context, 2))),
        "blocks.0.attn.W_Q": noisy(np.array([[[0.0], [1.0]]])),
        "blocks.0.attn.W_K": noisy(np.array([[[pull], [0.0]]])),
        "blocks.0.attn.W_V": noisy(np.array([[[1.0], [0.0]]])),
        "blocks.0.attn.W_O": noisy(np.array([[[gain, 0.0]]])),
        "unembed.W_U": noisy(np.stack([t, -(gain + 1) * t * t / (2 * t.clip(1))])),
    }


def problem(tokens: int = 6, context: int = 4, **options: float) -> Problem:
    model = planted(tokens, context, **options)  # type: ignore[arg-type]
    return Problem(model, task_for(model))


def gap(found: Problem, goal: Goal) -> float:
    proof = margin_convolution(found, goal=goal)
    return (proof.upper - proof.lower) / found.task.total


# --- tails -------------------------------------------------------------------------------------------


def counted(rows: list[list[tuple[int, int]]], threshold: int) -> int:
    """Mass of the choices whose sum reaches the threshold."""
    choices = itertools.product(*rows)
    return sum(prod(mass for _, mass in choice) for choice in choices if sum(c for c, _ in choice) >= threshold)


def test_exact_tails_against_enumeration() -> None:
    rng = np.random.default_rng(2)
    for _ in range(400):
        rows = [
            {int(rng.integers(-9, 10)): int(rng.choice((0, 1, 1, 3))) for _ in range(rng.integers(1, 5))}
            for _ in range(rng.integers(0, 4))
        ]
        thresholds = [int(n) for n in rng.integers(-30, 31, rng.integers(1, 4))]
        found, operations = tails(rows, thresholds)
        assert found == [counted([list(row.items()) for row in rows], n) for n in thresholds]
        assert operations >= 0


def test_estimated_tails_against_enumeration() -> None:
    rng = np.random.default_rng(3)
    for _ in range(400):
        free, tokens = int(rng.integers(0, 4)), int(rng.integers(1, 5))
        cells = rng.integers(-9, 10, (free, tokens))
        masses = rng.integers(0, 4, (free, tokens)) + np.eye(tokens, dtype=np.int64)[[0] * free]
        share = masses / masses.sum(axis=1, keepdims=True) if free else np.ones((0, tokens))
        thresholds, needs = rng.integers(-30, 31, 3), np.array([0.0, 1.0, 1.0])
        found = estimated(cells, share, thresholds, needs)
        assert found is not None
        rows = [list(zip(map(int, c), map(int, w), strict=True)) for c, w in zip(cells, masses, strict=True)]
        for threshold, need, got in zip(thresholds, needs, found.share, strict=True):
            want = counted(rows, int(threshold)) - int(need) * counted([row[:-1] for row in rows], int(threshold))
            assert got == pytest.approx(want / masses.sum(axis=1).prod(), abs=1e-12)


def test_a_grid_that_the_checker_would_refuse_is_unsafe() -> None:
    with pytest.raises(Unsafe):
        tails([{0: 1, 70_000: 1}, {0: 1, 70_000: 1}], [70_001])


def test_the_operations_of_an_estimate_are_those_of_the_count() -> None:
    found = problem()
    seen = view(found, 5)
    block = block_of(seen, True)
    draft = Draft("upper", np.arange(6), (4,), 1 / 32)
    writer = module.Writer(found, 64, block.scale / 1024)
    evaluated = block.evaluate(draft)
    assert evaluated is not None
    exact = writer.exact.count(block.item(evaluated, writer.unit))
    assert exact.operations == pytest.approx(evaluated.operations, rel=0.05)
    shares = [n / 6**3 for n in exact.counts]
    assert shares == pytest.approx(list(evaluated.share), abs=0.02)


# --- goals -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", [0.3, 0.05, 0.01])
def test_a_gap_is_reached(wanted: float) -> None:
    found = problem()
    assert gap(found, Goal(gap=wanted)) <= wanted
    truth = margin_tree(found).lower
    proof = margin_convolution(found, goal=Goal(gap=wanted))
    assert proof.lower <= truth <= proof.upper


def test_inputs_whose_maximum_stands_at_a_light_position_are_counted_on_finer_grids() -> None:
    """Attention to positions falls by a factor of e^20, so that small terms decide between most inputs."""
    arrays, attention = weights(6, 6, 1, 3.0, 30.0), "blocks.0.attn."
    for name, axis in (("embed.W_E", 1), ("pos_embed.W_pos", 1), ("unembed.W_U", 0), (attention + "W_O", 2)):
        arrays[name] = np.insert(arrays[name], 2, 0.0, axis=axis)
    for name in ("W_Q", "W_K", "W_V"):
        arrays[attention + name] = np.insert(arrays[attention + name], 2, 0.0, axis=1)
    arrays[attention + "W_Q"][0, :, 0] = 0, 1, 0
    arrays[attention + "W_K"][0, :, 0] = 3, 0, 1
    arrays["pos_embed.W_pos"][:] = [[0, 0, -score] for score in (4, 20, 0, 12, 16, 8)]
    model = from_arrays(arrays)
    found = Problem(model, task_for(model))
    proof = margin_convolution(found, goal=Goal(gap=0.12))
    assert proof.lower <= margin_tree(found).lower <= proof.upper


def test_a_lower_bound_is_reached_by_a_shorter_proof_the_lower_it_is() -> None:
    found = problem()
    truth = margin_tree(found).lower / found.task.total
    lengths = []
    for share in (0.2, 0.6, 0.95):
        proof, operations = measured(found, lambda done, total: None, Goal(least=share * truth))
        assert proof.lower >= share * truth * found.task.total
        lengths.append(operations)
    assert lengths == sorted(lengths)


def test_a_goal_out_of_reach_says_what_was_reached() -> None:
    with pytest.raises(CompactProofsError) as caught:
        margin_convolution(problem(), goal=Goal(least=1.0))
    assert caught.value.code == "GOAL_NOT_REACHED"
    assert "%" in caught.value.text


def test_a_budget_below_the_circuits_is_refused() -> None:
    with pytest.raises(CompactProofsError) as caught:
        margin_convolution(problem(), goal=Goal(operations=10))
    assert caught.value.code == "BUDGET_TOO_SMALL"


def test_a_goal_is_only_for_strategies_that_have_one() -> None:
    with pytest.raises(CompactProofsError) as caught:
        prove("cubic", problem(), goal=AUTO)
    assert caught.value.code == "GOAL_STRATEGY"


def test_an_interrupted_search_gives_its_best_only_if_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[State] = []
    run = Search.run

    def interrupted(self: Search, watch: object) -> bool:
        def after_a_while(state: State) -> None:
            seen.append(state)
            if len(seen) % 5 == 0:
                raise KeyboardInterrupt

        return run(self, after_a_while)

    monkeypatch.setattr(Search, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        margin_convolution(problem(), goal=Goal(gap=1e-6))
    proof = margin_convolution(problem(), goal=Goal(gap=1e-6, interruptible=True))
    assert 0 < proof.lower <= proof.upper


def test_an_estimate_is_near_the_proof() -> None:
    found = problem()
    assert estimate(found) == pytest.approx(margin_convolution(found).lower, rel=0.01)


@pytest.mark.parametrize(
    "text",
    [
        "accuracy of min of 5 tokens",
        "P(margin > 1/2) of max of 6 tokens",
        "accuracy of max of 6 tokens when query ~ 3/4 {0..2} + 1/4 {3..5}",
        "accuracy of max of 6 tokens when position 0 in {1, 4}",
    ],
)
def test_claims(text: str) -> None:
    model = planted(6, 4)
    claim = parse(text)
    found = Problem(model, task_of(claim, model), claim.threshold)
    proof = margin_convolution(found, goal=Goal(gap=0.02, keep=True))
    assert proof.lower <= margin_tree(found).lower <= proof.upper
    assert (proof.upper - proof.lower) / found.task.total <= 0.05


def test_some_maxima_alone_prove_their_part() -> None:
    found = problem()
    parts = [
        margin_convolution(found, goal=Goal(gap=0.01, keep=True), maxima=frozenset(m)) for m in ((0, 1, 2), (3, 4, 5))
    ]
    whole = margin_tree(found).lower
    assert sum(part.lower for part in parts) <= whole
    assert sum(found.task.total - part.upper for part in parts) <= found.task.total - whole


def test_the_same_problem_gives_the_same_proof() -> None:
    assert margin_convolution(problem()).steps == margin_convolution(problem()).steps


def test_an_item_as_written() -> None:
    assert mask((0, 2, 5)) == "25"
    assert Item("screen", 3, (0, 1), (2,)).json() == ["screen", "3", "4", []]
    assert Item("both", 3, (0,), (2,), ((1, 16),), 255, 7).json() == ["both", "1", "4", [[1, 16]], "ff", 7]
