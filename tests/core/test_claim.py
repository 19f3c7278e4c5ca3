"""The claim language: what it reads, what it refuses and where."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from compactproofs.core.checkpoint import load
from compactproofs.core.claim import dyadic, parse, task_of
from compactproofs.core.errors import CompactProofsError
from hypothesis import given
from hypothesis import strategies as st

MODEL = load(Path(__file__).parents[2] / "models" / "max_of_4_v64_seed123.safetensors")


def test_the_shortest_claim_is_about_the_whole_model() -> None:
    task = task_of(parse("accuracy"), MODEL)
    assert (task.kind, task.length, task.tokens, task.eos, task.masses) == ("max", 4, 64, None, None)
    assert task.total == 64**4


def test_every_part() -> None:
    claim = parse("P(margin > -3/4) of min of 32 tokens when position 0 in {0..3, 7} and query in {5} >= 12.5%")
    assert claim.threshold == (-3, -2)
    assert (claim.kind, claim.tokens, claim.bound) == ("min", 32, Fraction(1, 8))
    task = task_of(claim, MODEL)
    assert task.masses is not None
    # the tokens of a minimum are renumbered in reverse
    assert [31 - t for t, weight in enumerate(task.masses[0]) if weight] == [7, 3, 2, 1, 0]
    assert [31 - t for t, weight in enumerate(task.masses[3]) if weight] == [5]
    assert task.masses[1] == (1,) * 32
    assert task.total == 5 * 32 * 32


def test_shares_become_the_smallest_integers() -> None:
    task = task_of(parse("accuracy when every position ~ 3/4 {0..1} + 1/4 {2..63}"), MODEL)
    assert task.masses is not None
    assert set(task.masses) == {(93, 93, *(1,) * 62)}


def test_a_distribution_that_is_uniform_after_all() -> None:
    assert task_of(parse("accuracy when query in {0..63}"), MODEL).masses is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "CLAIM_SYNTAX: column 1: expected 'accuracy', 'P'"),
        ("accuracy of", "CLAIM_SYNTAX: column 12: expected 'max' or 'min'"),
        ("accuracy of max when position x in {1}", "CLAIM_SYNTAX: column 31: expected a number"),
        ("accuracy when query in {1..}", "CLAIM_SYNTAX: column 28: expected a number"),
        ("accuracy >= 99% of", "CLAIM_SYNTAX: column 17: expected the end of the claim"),
        ("P(margin > 1/3)", "CLAIM_VALUE: 1/3 is not of the form"),
        ("accuracy >= 1/0", "CLAIM_VALUE: a fraction has denominator 0"),
        ("accuracy when query in {99999999999}", "CLAIM_TOKEN: token 99999999999"),
    ],
)
def test_syntax_errors_point_at_the_column(text: str, message: str) -> None:
    with pytest.raises(CompactProofsError) as caught:
        parse(text)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("accuracy of max of 65 tokens", "TASK_TOKENS"),
        ("accuracy of max with query token 64", "TASK_EOS"),
        ("accuracy when position 4 in {1}", "CLAIM_POSITION"),
        ("accuracy when query in {64}", "CLAIM_TOKEN"),
        ("accuracy when query in {5..3}", "CLAIM_TOKEN"),
        ("accuracy when query ~ 1/2 {1} + 1/4 {2}", "CLAIM_SHARES"),
    ],
)
def test_claims_that_do_not_fit_the_model(text: str, code: str) -> None:
    with pytest.raises(CompactProofsError) as caught:
        task_of(parse(text), MODEL)
    assert caught.value.code == code


@given(st.integers(-(10**9), 10**9), st.integers(0, 40))
def test_dyadic_numbers_keep_their_value(n: int, power: int) -> None:
    odd, exponent = dyadic(Fraction(n, 1 << power))
    assert Fraction(odd) * Fraction(2) ** exponent == Fraction(n, 1 << power)
    assert odd % 2 == 1 or (odd, exponent) == (0, 0)


@given(st.text(max_size=60))
def test_any_text_is_a_claim_or_an_error_of_ours(text: str) -> None:
    try:
        parse(text)
    except CompactProofsError as error:
        assert error.code.startswith("CLAIM_")
