"""Bounds are printed on the safe side, and one number is never printed as two."""

from __future__ import annotations

from fractions import Fraction

import pytest
from compactproofs.core.decimals import decimal, ends, percent, remains
from hypothesis import given
from hypothesis import strategies as st


@given(st.integers(0, 10**30), st.integers(0, 10**30), st.integers(0, 10**30))
def test_bounds_enclose_what_they_bound(a: int, b: int, c: int) -> None:
    lower, upper, total = *sorted((a, b)), a + b + c + 1
    low, high = (Fraction(text.removesuffix(" %")) for text in ends(lower, upper, total))
    least, most = (Fraction(text.removesuffix(" %")) for text in remains(lower, upper, total))
    assert low <= Fraction(100 * lower, total) < low + Fraction(1, 10**6)
    if lower < upper:
        assert high - Fraction(1, 10**6) < Fraction(100 * upper, total) <= high
    assert (low + most, high + least) == (100, 100)


@pytest.mark.parametrize(
    ("value", "up", "text"),
    [("1/3", False, "0.333"), ("1/3", True, "0.334"), ("-1/3", False, "-0.334"), ("2", True, "2.000")],
)
def test_decimals_err_on_the_stated_side(value: str, up: bool, text: str) -> None:
    assert decimal(Fraction(value), 3, up) == text


def test_an_exact_loss_is_one_number() -> None:
    assert remains(16775454, 16775454, 1 << 24) == ("0.010503 %", "0.010503 %")
    assert percent(1762, 1 << 24) == "0.010502 %"
    assert remains(1, 2, 3) == ("33.333333 %", "66.666667 %")
