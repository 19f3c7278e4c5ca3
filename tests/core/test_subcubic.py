"""Names, exactness and reproducibility of the sub-cubic strategies; their truth is tested beside the checker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from compactproofs.core.checkpoint import load
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.exact import Exact, to_floats
from compactproofs.core.grid import COMBINATIONS, ERROR_OPTIONS, EU_OPTIONS, choice, choices
from compactproofs.core.problem import Problem
from compactproofs.core.proof import Builder
from compactproofs.core.strategies import every, strategy
from compactproofs.core.strategies.subcubic import EDITIONS, parse
from compactproofs.core.strategies.subcubic.chain import Chain, dyadic, least, ranges
from compactproofs.core.strategies.subcubic.proof import certified, prepare, search
from compactproofs.core.strategies.subcubic.published import published
from compactproofs.core.strategies.subcubic.search import PAPER, TIGHT, Rule
from compactproofs.core.task import task_for
from compactproofs.emit.certificate import document, encode

MODEL = Path(__file__).resolve().parents[2] / "models" / "max_of_4_v64_seed123.safetensors"


def silent(done: int, total: int) -> None:
    """No progress."""


@pytest.fixture(scope="module")
def problem() -> Iterator[Problem]:
    model = load(str(MODEL))
    yield Problem(model, task_for(model))


def bound(problem: Problem, number: int, rule: Rule = PAPER) -> float:
    chosen = choice(number)
    prepared = prepare(problem, chosen, rule)
    found = search(problem, prepared, chosen, rule, silent)
    return certified(problem, found) / problem.task.total


# --- names -----------------------------------------------------------------------------------------------


def test_numbers_and_option_names_mean_the_same_hundred_strategies() -> None:
    names = [f"subcubic:{a},{b},{c}" for a in EU_OPTIONS for b in COMBINATIONS for c in ERROR_OPTIONS]
    assert [parse(name).choice.number for name in names] == list(range(1, 101))
    assert [parse(f"subcubic:{n}").choice for n in range(1, 101)] == list(choices())


def test_the_edition_is_part_of_the_name() -> None:
    assert EDITIONS == ("sound", "as-published", "tight")
    assert [parse(f"subcubic:7:{e}").name for e in EDITIONS] == [
        "subcubic:7",
        "subcubic:7:as-published",
        "subcubic:7:tight",
    ]
    assert parse("subcubic:mean_query+max_diff,mean_query+diff,svd:tight").name == "subcubic:1:tight"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("subcubic:0", "STRATEGY_NUMBER"),
        ("subcubic:101", "STRATEGY_NUMBER"),
        ("subcubic:10000001", "STRATEGY_NUMBER"),
        ("subcubic:²", "STRATEGY_NAME"),
        ("subcubic:", "STRATEGY_NAME"),
        ("subcubic:1:fast", "STRATEGY_NAME"),
        ("subcubic:max_diff,mean_query+diff", "STRATEGY_NAME"),
        ("subcubic:max_diff,mean_query+diff,max", "STRATEGY_NAME"),
        ("cubical", "STRATEGY_NAME"),
    ],
)
def test_unknown_names_are_refused(name: str, code: str) -> None:
    with pytest.raises(CompactProofsError) as caught:
        strategy(name)
    assert caught.value.code == code


def test_every_lists_the_papers_102_and_ours() -> None:
    names = every("sound")
    assert names[:2] == ["brute-force", "cubic"] and names[2] == "subcubic:1" and names[101] == "subcubic:100"
    assert "margin-tree" in names[102:] and "auto" not in names


# --- exact mirrors ---------------------------------------------------------------------------------------


def product(factors: tuple[Exact, ...]) -> Exact:
    result = factors[0]
    for factor in factors[1:]:
        result = result @ factor
    return result


def test_peels_and_products_keep_the_circuit_exactly() -> None:
    rng = np.random.default_rng(3)
    shapes = [(5, 3), (3, 4), (4, 2), (2, 6)]
    factors = tuple(dyadic(rng.standard_normal(a * b), 30).ints.reshape(a, b) for a, b in shapes)
    chain = Chain(Builder(), 0, None, tuple(Exact(ints, -20 - i) for i, ints in enumerate(factors)))
    whole = product(chain.factors)
    for at, (a, b) in enumerate(shapes):
        chain = chain.peel(at, dyadic(rng.standard_normal(a), 7), dyadic(rng.standard_normal(b), 9))
    assert chain.approx is not None
    for later in (chain, chain.product(1), chain.joined(1), chain.joined(3)):
        assert later.approx is not None
        difference = later.approx + product(later.factors) - whole
        assert not difference.ints.any()
    bounds = [split.range_chain([None]) for split in map(chain.joined, (1, 2, 3))]
    bounds += [chain.range_chain([dyadic(rng.standard_normal(b)) for _, b in shapes[:-1]]), chain.joined(1).norm()]
    true = ranges(product(chain.factors)).floats()
    assert all((b.bound.floats() >= true * (1 - 1e-12)).all() for b in bounds)
    smallest = least(chain.builder, bounds).bound.floats()
    assert np.array_equal(smallest, np.minimum.reduce([b.bound.floats() for b in bounds]))


def test_witnesses_are_short_and_near() -> None:
    values = np.array([1e-30, -3.75, 0.1])
    row = dyadic(values, 20)
    assert max(abs(int(n)).bit_length() for n in row.ints.ravel()) <= 21
    assert np.abs(to_floats(row.ints, row.exponent) - values).max() <= 2.0**-18
    assert not dyadic(np.zeros(3)).ints.any()


# --- on a trained model ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["subcubic:3", "subcubic:61", "subcubic:69:tight", "subcubic:70:as-published"])
def test_the_same_input_gives_the_same_bytes(problem: Problem, name: str) -> None:
    again = Problem(load(str(MODEL)), problem.task)
    first, second = (encode(document(p, strategy(name).find(p, silent))) for p in (problem, again))
    assert first == second
    assert len(first) < 200_000


def test_estimates_are_the_proved_numbers_but_for_the_published_edition(problem: Problem) -> None:
    for name in ("subcubic:8", "subcubic:61:tight"):
        assert strategy(name).estimate(problem) == strategy(name).find(problem, silent).lower
    published_number = strategy("subcubic:70:as-published").estimate(problem)
    assert published_number == published(problem, choice(70), silent).count
    assert strategy("subcubic:70:as-published").find(problem, silent).lower > published_number  # m - g + 1, not m - g


def test_repairs_make_the_bounds_better(problem: Problem) -> None:
    result = published(problem, choice(69), silent)
    searched = published(problem, choice(69), silent, repaired_search=True)
    assert result.count < result.repaired < searched.repaired
    assert searched.repaired / problem.task.total < bound(problem, 69) < bound(problem, 69, TIGHT)


def test_dominated_options_are_dominated(problem: Problem) -> None:
    assert bound(problem, 99) <= bound(problem, 79)  # the range of all of EU against that of its rows
    assert bound(problem, 70) <= bound(problem, 69)  # a rank-one EQKE against all of it
    assert bound(problem, 74) <= bound(problem, 73)  # recursion against the best split
    assert bound(problem, 79) <= bound(problem, 69)  # no pivot against the best


def test_each_refinement_helps(problem: Problem) -> None:
    plain = bound(problem, 69)
    for refinement in ("envelope", "best_wrong", "own_query", "summary"):
        assert bound(problem, 69, replace(PAPER, **{refinement: True})) >= plain


def test_the_singular_query_direction_is_too_long_unless_repaired(problem: Problem) -> None:
    assert bound(problem, 29) < 1e-5 < 0.1 < bound(problem, 29, TIGHT)


def test_the_published_code_knows_no_end_token(problem: Problem) -> None:
    task = task_for(problem.model, tokens=60)
    with pytest.raises(CompactProofsError) as caught:
        published(Problem(problem.model, task), choice(1), silent)
    assert caught.value.code == "PUBLISHED_TASK"
