"""Error bounds of floating-point programs, held against numpy's float32 on a shipped model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from compactproofs.core.checkpoint import load
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.float_semantics import find_float, float_error, gap, shifted
from compactproofs.core.model import Model
from compactproofs.core.problem import Problem
from compactproofs.core.semantics import NAMES, Semantics, semantics
from compactproofs.core.strategies import STRATEGIES, estimate, prove
from compactproofs.core.task import task_for

MODEL = Path(__file__).resolve().parents[2] / "models" / "max_of_4_v64_seed123.safetensors"
Array = np.ndarray
Product = Callable[[Array, Array], Array]


@pytest.fixture(scope="module")
def model() -> Model:
    return load(str(MODEL))


def plain(a: Array, b: Array) -> Array:
    return a @ b


def one_by_one(a: Array, b: Array) -> Array:
    """In the order of the index, each product and sum rounded."""
    total = np.zeros((len(a), b.shape[1]), dtype=a.dtype)
    for j in range(a.shape[1]):
        total = total + a[:, j : j + 1] * b[j]
    return total


def fused_at_random(a: Array, b: Array) -> Array:
    """In a random order; the product is exact in float64, so each step is a fused one but for double rounding."""
    total = np.zeros((len(a), b.shape[1]))
    for j in np.random.default_rng(5).permutation(a.shape[1]):
        exact = a[:, j : j + 1].astype(np.float64) * b[j].astype(np.float64)
        total = (total + exact).astype(np.float32).astype(np.float64)
    return total.astype(a.dtype)


def largest_first(a: Array, b: Array) -> Array:
    """Each entry's terms sorted by size: small ones get lost one after the other."""
    terms = a[:, :, None] * b[None]
    order = np.argsort(-np.abs(terms), axis=1)
    total = np.zeros((len(a), b.shape[1]), dtype=a.dtype)
    for j in range(a.shape[1]):
        total = total + np.take_along_axis(terms, order[:, j : j + 1], axis=1)[:, 0]
    return total


def forward(model: Model, tokens: Array, dtype: type, product: Product, reciprocal: bool = False) -> Array:
    """The model in one format."""

    def tensor(name: str) -> Array:
        stored = model.tensor(name)
        return np.frombuffer(stored.data, "<f4").reshape(-1, stored.shape[-1]).astype(dtype)

    def head(x: Array, name: str) -> Array:
        return product(x, tensor(f"blocks.0.attn.W_{name}"))

    x = tensor("embed.W_E")[tokens] + tensor("pos_embed.W_pos")
    count, length, width = x.shape
    query = head(x[:, -1], "Q")
    key, value = (head(x.reshape(-1, width), name).reshape(count, length, -1) for name in "KV")
    root = dtype(np.sqrt(dtype(width)))
    scores = np.stack([(query * key[:, i]).sum(axis=1, dtype=dtype) for i in range(length)], axis=1)
    scores = scores * (dtype(1) / root) if reciprocal else scores / root
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = powers / powers.sum(axis=1, keepdims=True, dtype=dtype)
    average = (weights[:, :, None] * value).sum(axis=1, dtype=dtype)
    return product(x[:, -1] + head(average, "O"), tensor("unembed.W_U"))


@pytest.mark.parametrize("product", [plain, one_by_one, fused_at_random, largest_first])
@pytest.mark.parametrize("reciprocal", [False, True])
def test_float32_stays_within_the_bound(model: Model, product: Product, reciprocal: bool) -> None:
    task = task_for(model)
    bound = float_error(model, task, Semantics("binary32"))
    tokens = np.random.default_rng(1).integers(0, task.tokens, (800, task.length))
    true = forward(model, tokens, np.float64, plain)
    off = np.abs(forward(model, tokens, np.float32, product, reciprocal) - true).max(axis=1)
    allowed = np.array([float(bound.number(bound.bound[q])) for q in tokens[:, -1]])
    ratio = float((off / allowed).max())
    assert 1e-4 < ratio < 0.1  # float64 stands in for the real numbers: its own errors are 2^-29 of these


def test_inputs_with_large_margins_are_right_in_float32(model: Model) -> None:
    task = task_for(model)
    far = float(gap(float_error(model, task, Semantics("binary32"))))
    rng = np.random.default_rng(2)
    tokens = rng.integers(0, 3, (4000, task.length)) + rng.integers(0, task.tokens - 2, (4000, 1))
    tokens = np.minimum(tokens, task.tokens - 1)  # neighbours are what the model confuses
    label = tokens.max(axis=1)

    def margin(logits: Array) -> Array:
        own = np.take_along_axis(logits, label[:, None], axis=1)
        others = np.where(np.arange(logits.shape[1]) == label[:, None], -np.inf, logits)
        return (own - others.max(axis=1, keepdims=True))[:, 0]

    true, computed = (margin(forward(model, tokens, dtype, plain)) for dtype in (np.float64, np.float32))
    assert (computed[true > far] > 0).all()
    assert (computed[true <= -far] <= 0).all()
    assert (true <= -far).sum() > 10


def test_the_bound_of_float32_is_small_and_that_of_float64_tiny(model: Model) -> None:
    task = task_for(model)
    values = {name: float_error(model, task, Semantics(full)) for name, full in NAMES.items() if "16" not in name}
    assert values["float32"].largest < Fraction(2, 100)
    assert values["float64"].largest < values["float32"].largest / 2**28
    for bound in values.values():
        assert max(bound.bound) == bound.softmax + bound.values + bound.unembedding


def test_more_freedom_gives_larger_bounds(model: Model) -> None:
    task = task_for(model)
    base = float_error(model, task, Semantics("binary32", 1, "gradual")).largest
    assert base < float_error(model, task, Semantics("binary32", 64, "gradual")).largest
    assert base <= float_error(model, task, Semantics("binary32", 1, "flush")).largest


def test_weights_that_the_format_cannot_hold(model: Model) -> None:
    for name in ("binary16", "bfloat16"):
        with pytest.raises(CompactProofsError) as caught:
            float_error(model, task_for(model), Semantics(name))
        assert caught.value.code == "FLOAT_FORMAT"


def test_names_of_semantics() -> None:
    assert semantics("real") is None
    assert semantics("float32") == Semantics("binary32", 4, "flush")
    for wrong in (("binary8", 4, "flush"), ("binary32", 0, "flush"), ("binary32", 4, "sometimes")):
        with pytest.raises(CompactProofsError) as caught:
            Semantics(*wrong)
        assert caught.value.code == "SEMANTICS"


def test_shifted_thresholds_are_canonical() -> None:
    assert shifted((0, 0), Fraction(0)) == (0, 0)
    assert shifted((3, -1), Fraction(1, 2)) == (1, 1)
    assert shifted((3, -1), Fraction(-3, 2)) == (0, 0)
    assert shifted((0, 0), Fraction(-6, 64)) == (-3, -5)


def test_real_numbers_need_no_second_proof(model: Model) -> None:
    problem = Problem(model, task_for(model))
    find = STRATEGIES["cubic"].find
    assert find_float(problem, find, lambda done, total: None) == find(problem, lambda done, total: None)


def test_float32_costs_little(model: Model) -> None:
    """The exact count over the real numbers lies between the two of the program, and the three are near."""
    problem = Problem(model, task_for(model))
    program = replace(problem, semantics=Semantics("binary32"))
    real, floating = prove("margin-tree", problem), prove("margin-tree", program)
    assert floating.lower <= real.lower <= real.upper <= floating.upper
    assert floating.undecided == floating.upper - floating.lower < 1000
    assert estimate("cubic", program) <= estimate("cubic", problem)
    names = [step["rule"] for step in floating.steps]
    assert names.count("weights") == 1
    assert names.count("margins") == 2
