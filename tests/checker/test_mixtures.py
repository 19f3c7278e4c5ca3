"""Mixtures of distributions, given answers and the mean log-loss against every input of tiny models."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from certificates import asked, judge, planted, random_model, spelled
from compactproofs.checker.kernel import read_document
from compactproofs.checker.words import words
from compactproofs.core.claim import Claim, Condition, parse
from compactproofs.core.model import Model
from compactproofs.core.question import LOSS_BITS
from compactproofs.core.task import task_for
from oracle import Oracle

SEEDS = 60


def token_set(generator: random.Random, vocab: int) -> str:
    chosen = sorted(generator.sample(range(vocab), generator.randint(1, vocab)))
    return "{" + ",".join(map(str, chosen)) + "}"


def conditions(generator: random.Random, kind: str, vocab: int, length: int) -> str:
    """Some conditions, as words of the claim language."""
    found = []
    if generator.random() < 0.5:
        found.append(f"{kind}imum in {{{','.join(map(str, range(vocab)[generator.randint(0, vocab - 1) :][:2]))}}}")
    if generator.random() < 0.5:
        found.append(f"query in {token_set(generator, vocab)}")
    if generator.random() < 0.5:
        place = f"position {generator.randrange(length)}"
        found.append(f"{place} ~ 1/3 {token_set(generator, vocab)} + 2/3 {token_set(generator, vocab)}")
    return " and ".join(found) or "uniform"


def claims(seed: int, quantity: str) -> tuple[Model, str]:
    """A tiny model, and a claim about a mixture that has inputs."""
    generator = random.Random(seed)
    vocab, length = generator.choice([(1, 2), (2, 1), (2, 3), (3, 2), (3, 3), (4, 2)])
    model = random_model(seed, vocab=vocab, context=length)
    kind = generator.choice(("max", "min"))
    shares = generator.choice(
        [(1,), (Fraction(1, 3), Fraction(2, 3)), (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))]
    )
    parts = [(share, conditions(generator, kind, vocab, length)) for share in shares]
    scenario = parts[0][1] if len(parts) == 1 else " + ".join(f"{share} ({text})" for share, text in parts)
    return model, f"{quantity} of {kind} when {scenario}"


def masses(claim: Claim, model: Model) -> dict[tuple[int, ...], Fraction]:
    """Probability of every input, from the words alone."""
    task = task_for(model, claim.kind)
    every = list(Oracle(model, task).sequences())
    result = dict.fromkeys(every, Fraction(0))
    for share, found in claim.parts:
        weight = {tokens: _weight(tokens, found, task) for tokens in every}
        total = sum(weight.values())
        for tokens in every:
            result[tokens] += share * weight[tokens] / total
    return result


def _weight(tokens: tuple[int, ...], found: tuple[Condition, ...], task: Any) -> Fraction:
    weight = Fraction(1)
    for position, token in enumerate(tokens):
        here = [c for c in found if c.place == position or (c.place == "query" and position == task.length - 1)]
        for condition in here:
            weight *= sum((share / len(s) for share, s in condition.shares if token in s), Fraction(0))
    answer = max(tokens) if task.kind == "max" else min(tokens)
    allowed = [set(c.shares[0][1]) for c in found if str(c.place).endswith("imum")]
    return weight if all(answer in one for one in allowed) else Fraction(0)


def accepted(value: dict[str, Any]) -> tuple[Fraction, Fraction]:
    """The bounds of a certificate that the checker accepts."""
    outcome = judge(spelled(value))
    assert outcome.verdict == "VERIFIED", outcome.text
    ends = {key: int(text, 16) for key, text in value["claim"]["bounds"].items()}
    return Fraction(ends["lower"], ends["total"]), Fraction(ends["upper"], ends["total"])


def possible(text: str, model: Model) -> bool:
    """Has every part of the mixture an input?"""
    claim = parse(text)
    task = task_for(model, claim.kind)
    every = list(Oracle(model, task).sequences())
    return all(any(_weight(tokens, found, task) for tokens in every) for _, found in claim.parts)


@pytest.mark.parametrize("strategy", ["margin-tree", "brute-force", "margin-convolution"])
@pytest.mark.parametrize("start", range(0, SEEDS, 20))
def test_mixtures_are_counted_as_they_are_worded(start: int, strategy: str) -> None:
    tried = 0
    for seed in range(start, start + 20):
        model, text = claims(seed, "P(margin > -1/8)")
        if not possible(text, model):
            continue
        claim = parse(text)
        oracle = Oracle(model, task_for(model, claim.kind), (-1, -3))
        weight = masses(claim, model)
        truth = sum((weight[tokens] for tokens, right in oracle.all() if right), Fraction(0))
        lower, upper = accepted(asked(model, text, strategy, 0.05 if strategy == "margin-convolution" else None))
        assert lower <= truth <= upper, text
        if strategy != "margin-convolution" and not oracle.ties():
            assert lower == upper == truth, text
        tried += 1
    assert tried >= 12


def _real(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


@pytest.mark.parametrize("seed", range(24))
def test_the_mean_loss_lies_between_its_bounds(seed: int) -> None:
    model, text = claims(seed, "E[log-loss]")
    if seed % 4 == 3:
        model, text = planted(noise=seed), "E[log-loss]"
    if not possible(text, model):
        pytest.skip("a part of the mixture has no input")
    claim = parse(text)
    weight = masses(claim, model)
    oracle = Oracle(model, task_for(model, claim.kind))
    with mpmath.workdps(30):
        truth = sum(_real(weight[tokens]) * oracle.loss(tokens) for tokens in weight if weight[tokens])
        lower, upper = accepted(asked(model, text))
        assert _real(lower) <= truth <= _real(upper), (text, lower, truth, upper)
        others = oracle.outputs - 1
        if others == 1:  # then both ends are the same function of the margin, and only the bands' width is lost
            assert _real(upper) <= truth * mpmath.e + mpmath.mpf(2) ** (2 - LOSS_BITS)


def test_no_program_has_a_proved_loss() -> None:
    from compactproofs.core.errors import CompactProofsError
    from compactproofs.core.log_loss import log_loss
    from compactproofs.core.question import question_of
    from compactproofs.core.semantics import Semantics
    from compactproofs.core.strategies import prove

    question = question_of(parse("E[log-loss]"), planted(), None, Semantics("binary32", 4, "flush"))
    with pytest.raises(CompactProofsError, match="LOSS_SEMANTICS"):
        log_loss(question, lambda problem, gap: prove("margin-tree", problem))


def test_more_answers_than_can_be_summed_in_time_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """2^22 of them are seconds; here the limit is made small."""
    value = asked(planted(noise=1), "accuracy when maximum in {1}")
    assert judge(spelled(value)).verdict == "VERIFIED"
    monkeypatch.setattr("compactproofs.checker.claim.ANSWERS", 1)
    outcome = judge(spelled(value))
    assert (outcome.verdict, outcome.code) == ("RESOURCE", "TOO_MANY_VALUES")


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ("in {0, 1}", "2 equally likely inputs out of 5 whose largest token is one of 1 given ones"),
        ("~ 1/4 {0} + 3/4 {1}", "4 units of probability, shared unequally by 2 of 5 inputs whose largest token"),
    ],
)
def test_the_sentence_says_how_many_inputs_with_given_answers_there_are(first: str, said: str) -> None:
    value = asked(planted(context=2), f"accuracy when maximum in {{2}} and position 0 {first} and query in {{2}}")
    assert said in words(read_document(spelled(value)).claim)
