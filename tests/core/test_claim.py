"""The claim language: what it reads, what it refuses and where."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from compactproofs.core.checkpoint import load
from compactproofs.core.claim import dyadic, parse, task_of, tasks_of
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
        ("", "CLAIM_SYNTAX: column 1: expected 'accuracy', 'E[log-loss]', 'P(margin > ...)'"),
        ("E[log-loss] >= 1", "CLAIM_SYNTAX: found '>=': a share of inputs is bounded from below"),
        ("accuracy <= 99%", "CLAIM_SYNTAX: found '<='"),
        ("E[accuracy]", "CLAIM_SYNTAX: column 3: expected 'log-loss'"),
        ("accuracy when 1/2 (uniform) + 1/3 (query in {1})", "CLAIM_SHARES: shares of a mixture"),
        ("accuracy when 1/2 (uniform)", "CLAIM_SYNTAX: column 28: expected"),
        ("accuracy when answer in {1}", "CLAIM_SYNTAX: column 15: expected"),
        ("accuracy of", "CLAIM_SYNTAX: column 12: expected 'max' or 'min'"),
        ("accuracy of max when position x in {1}", "CLAIM_SYNTAX: column 31: expected a number"),
        ("accuracy when query in {1..}", "CLAIM_SYNTAX: column 28: expected a number"),
        (
            "accuracy of 11 tokens",
            "CLAIM_SYNTAX: column 13: expected 'max' or 'min', found '11 tokens'; say what of them, as in"
            " 'accuracy of max of 11 tokens'",
        ),
        ("accuracy >= 99% of", "CLAIM_SYNTAX: column 17: expected the end of the claim"),
        ("P(margin > 1/3)", "CLAIM_VALUE: 1/3 is not of the form"),
        ("accuracy >= 99", "CLAIM_VALUE: at least 9900 % of the inputs: no share is above 100 %; did you mean 99%?"),
        ("accuracy >= 1/0", "CLAIM_VALUE: a fraction has denominator 0"),
        ("accuracy when query in {99999999999}", "CLAIM_TOKEN: token 99999999999"),
    ],
)
def test_syntax_errors_point_at_the_column(text: str, message: str) -> None:
    with pytest.raises(CompactProofsError) as caught:
        parse(text)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("accuracy of max of 65 tokens", "TASK_TOKENS: the claim is about 65 tokens, 0..64; the model has 64, 0..63"),
        ("accuracy of max of 0 tokens", "TASK_TOKENS: the claim is about 0 tokens, that is none"),
        ("accuracy of max with query token 64", "TASK_EOS: this model has no extra token .* its tokens are 0..63,"),
        ("accuracy of max with query token 0", "TASK_EOS: the tokens below the query token are compared"),
        ("accuracy of max of 40 tokens with query token 7", "TASK_EOS: .* write 'of 7 tokens with query token 7'"),
        ("accuracy when position 4 in {1}", "CLAIM_POSITION"),
        ("accuracy when query in {64}", "CLAIM_TOKEN"),
        ("accuracy when query in {5..3}", r"CLAIM_TOKEN: the set \{5..3\} is empty"),
        ("accuracy when query ~ 1/2 {1} + 1/4 {2}", "CLAIM_SHARES"),
        ("accuracy of min when maximum in {1}", "CLAIM_ANSWER"),
        ("accuracy when maximum in {1} and query in {2}", "CLAIM_ANSWER"),
        ("accuracy when maximum in {1} and maximum in {2}", "CLAIM_ANSWER"),
        ("accuracy when maximum in {64}", "CLAIM_TOKEN"),
        ("accuracy when position 3 in {1} and query in {3}", "CLAIM_TOKEN: no token meets .* position 3, .* on query"),
        ("accuracy when every position ~ 1/2 {1} + 1/2 {2} and query ~ 1/3 {1} + 2/3 {2}", "CLAIM_SHARES: position 3"),
        ("accuracy when 1/2 (uniform) + 1/2 (query in {1})", "CLAIM_NOT_PLAIN"),
        ("E[log-loss]", "CLAIM_NOT_PLAIN"),
    ],
)
def test_claims_that_do_not_fit_the_model(text: str, message: str) -> None:
    with pytest.raises(CompactProofsError, match=message):
        task_of(parse(text), MODEL)


def test_a_mixture_has_the_stated_probabilities() -> None:
    claim = parse("accuracy when 1/3 (uniform) + 2/3 (query in {0..7} and maximum in {8..63}) >= 1/2")
    parts = tasks_of(claim, MODEL)
    mass = [share * task.total for share, task in parts]
    assert Fraction(mass[0], sum(mass)) == Fraction(1, 3)
    assert parts[0][1].masses is None and parts[0][1].maxima is None
    assert parts[1][1].maxima == tuple(range(8, 64))
    assert parts[1][1].total == (64**3 - 8**3) * 8
    assert claim.bound == Fraction(1, 2)


def test_a_given_minimum_is_counted_from_above() -> None:
    task = tasks_of(parse("accuracy of min when minimum in {0..1}"), MODEL)[0][1]
    assert task.maxima == (62, 63)
    assert task.total == 64**4 - 62**4
    assert tasks_of(parse("accuracy when maximum in {0..63}"), MODEL)[0][1].maxima is None


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


@pytest.mark.parametrize("swapped", [False, True])
def test_all_conditions_on_a_position_hold_in_any_order(swapped: bool) -> None:
    conditions = ["every position in {1..3}", "query in {2..5}", "position 0 ~ 1/4 {0..1} + 3/4 {3..8}"]
    task = task_of(parse("accuracy when " + " and ".join(conditions[:: -1 if swapped else 1])), MODEL)
    assert task.masses is not None
    kept = [{t: mass for t, mass in enumerate(row) if mass} for row in task.masses]
    assert kept == [{1: 1, 3: 1}, {1: 1, 2: 1, 3: 1}, {1: 1, 2: 1, 3: 1}, {2: 1, 3: 1}]
