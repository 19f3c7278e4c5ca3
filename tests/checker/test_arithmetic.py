"""Enclosures of exp and sqrt: the certifier's by MPFR, the checker's by integers, and the truth between both ends."""

from __future__ import annotations

from itertools import pairwise

import mpmath
import pytest
from compactproofs.checker.numbers import EXPONENT, Exp, Matrix, Meter, floor_div, product, sqrt_bounds
from compactproofs.checker.rules.margins import softmax_terms
from compactproofs.core.weights import enclose
from hypothesis import example, given, settings
from hypothesis import strategies as st

ANY = 10**12


def checker_ends(row: list[int], exponent: int, d_head: int, bits: int, grid: int) -> list[tuple[int, int]]:
    """The checker's lower and upper ends of exp((s - max) / sqrt(d)), over 2**bits."""
    exp = Exp(bits, grid, Meter(ANY))
    low, high = softmax_terms(Matrix((tuple(row),), exponent), sqrt_bounds(d_head, grid + 32), exp, grid)
    return list(zip(low[0], high[0], strict=True))


def truth(row: list[int], exponent: int, d_head: int, bits: int) -> list[mpmath.mpf]:
    """The same numbers at far more digits than either side uses."""
    top = max(row)
    with mpmath.workprec(bits + 600):
        root = mpmath.sqrt(d_head)
        return [mpmath.ldexp(mpmath.exp(mpmath.ldexp(mpmath.mpf(s - top), exponent) / root), bits) for s in row]


rows = st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=5)
exponents = st.integers(-60, -30)
heads = st.integers(1, 70)
widths = st.sampled_from([8, 20, 64, 130, 300])


@settings(max_examples=150, deadline=None)
@given(rows, exponents, heads, widths, st.sampled_from([8, 24, 72, 140, 300]))
@example([0, 0], -30, 1, 64, 72)
@example([2**40, -(2**40)], -30, 2, 64, 72)
@example([0, -1], -60, 64, 300, 300)
def test_both_enclosures_hold_the_truth(row: list[int], exponent: int, d_head: int, bits: int, grid: int) -> None:
    theirs = checker_ends(row, exponent, d_head, bits, grid)
    ours = enclose(row, exponent, d_head, bits)
    with mpmath.workprec(bits + 600):
        for value, (low, high), a, b in zip(truth(row, exponent, d_head, bits), theirs, *ours, strict=True):
            assert low <= value <= high
            assert a <= value <= b
            assert max(low, a) <= min(high, b)  # neither side can be wrong while the other is right


@settings(max_examples=60, deadline=None)
@given(rows, exponents, heads, st.sampled_from([64, 130]))
def test_enclosures_are_tight(row: list[int], exponent: int, d_head: int, bits: int) -> None:
    """With eight bits of grid to spare a weight is off by few units; the certifier's band counts on it."""
    for low, high in checker_ends(row, exponent, d_head, bits, bits + 8):
        assert high - low <= 4
    for low, high in zip(*enclose(row, exponent, d_head, bits), strict=True):
        assert high - low <= 1


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**200), st.integers(0, 300))
def test_square_roots(n: int, bits: int) -> None:
    low, high = sqrt_bounds(n, bits)
    assert low * low <= n << (2 * bits) <= high * high
    assert high - low <= 1


@settings(max_examples=200, deadline=None)
@given(st.integers(-(2**80), 2**80), st.integers(-100, 100), st.integers(1, 2**80))
def test_quotients_round_down(n: int, shift: int, d: int) -> None:
    from fractions import Fraction

    exact = Fraction(n) * Fraction(2) ** shift / d
    assert floor_div(n, shift, d) <= exact < floor_div(n, shift, d) + 1
    assert -floor_div(-n, shift, d) - 1 < exact <= -floor_div(-n, shift, d)


WITNESSES = (
    (3893924827815215, 1125899906842624),
    (1381846513289487, 70368744177664),
)


@pytest.mark.parametrize(("n", "d"), WITNESSES)
def test_points_where_an_interval_library_fails(n: int, d: int) -> None:
    """mpmath/mpmath#1181: the upper end of iv.exp lies below exp(x) at these points (the checker encloses exp(-x))."""
    exponent = -(d.bit_length() - 1)
    assert 1 << -exponent == d
    for bits, grid in ((53, 53), (113, 121), (200, 220)):
        (low, high) = checker_ends([0, -n], exponent, 1, bits, grid)[1]
        value = truth([0, -n], exponent, 1, bits)[1]
        with mpmath.workprec(bits + 600):
            assert low <= value <= high


@pytest.mark.parametrize("bits", [8, 64, 200])
def test_beyond_the_cutoff_nothing_is_claimed_but_smallness(bits: int) -> None:
    for x in (bits, bits + 1, 10**6, 10**30):
        assert checker_ends([0, -x], 0, 1, bits, 16)[1] == (0, 1)
    low, high = checker_ends([0, -bits * 256 + 1], -8, 1, bits, 16)[1]
    assert 0 <= low < high <= 2


def test_equal_scores_have_weight_one_exactly() -> None:
    for bits, grid in ((8, 8), (64, 72), (4096, 512)):
        assert checker_ends([5, 5], -3, 7, bits, grid) == [(1 << bits, 1 << bits)] * 2


def test_exponential_decreases() -> None:
    """Along a grid, in the ends that the checker uses."""
    ends = checker_ends([0, *(-i for i in range(1, 600))], -5, 1, 64, 72)
    assert all(a[0] >= b[0] and a[1] >= b[1] for a, b in pairwise(ends))


matrices = st.integers(1, 3).flatmap(
    lambda n: st.lists(st.lists(st.integers(-(2**70), 2**70), min_size=n, max_size=n), min_size=1, max_size=3)
)


@settings(max_examples=100, deadline=None)
@given(matrices, st.integers(-50, 50), st.integers(-50, 50), st.data())
def test_products_are_exact(left: list[list[int]], a: int, b: int, data: st.DataObject) -> None:
    width = data.draw(st.integers(1, 3))
    right = [[data.draw(st.integers(-(2**70), 2**70)) for _ in range(width)] for _ in left[0]]
    result = product(Matrix(tuple(map(tuple, left)), a), Matrix(tuple(map(tuple, right)), b), Meter(ANY))
    assert result.exponent == a + b
    assert result.rows == tuple(
        tuple(sum(row[k] * right[k][j] for k in range(len(right))) for j in range(width)) for row in left
    )


def test_exponents_cannot_be_blown_up() -> None:
    from compactproofs.checker.errors import Rejected

    with pytest.raises(Rejected, match="EXPONENT_SPREAD"):
        Matrix(((1,),), EXPONENT).scaled_to(-1)
