"""Estimates of accuracy where the sequences cannot be enumerated: no proofs.

Plain Monte Carlo with an exact binomial (Clopper-Pearson) interval is the estimate to use. The paper's stratified
importance sampler is here as a labelled reproduction of its two faults: its forward pass loses EQKP, and inside a
stratum a sequence with j copies of the largest lower token is drawn j times too often. Either can be switched off.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb, exp, lgamma, log, log1p
from typing import Final

import numpy as np
import numpy.typing as npt

from .exact import Floats
from .problem import Problem

Tokens = npt.NDArray[np.int64]
CHUNK: Final = 1 << 14
"""Sequences evaluated at once."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Two-sided confidence interval of a probability, with the observed share."""

    right: int
    samples: int
    low: float
    high: float

    @property
    def share(self) -> float:
        return self.right / self.samples


@dataclass(frozen=True, slots=True)
class Importance:
    """The paper's estimate: accuracy, number of strata and of sequences drawn, and which faults are in it."""

    accuracy: float
    strata: int
    sequences: int
    loses_eqkp: bool
    uneven: bool


def monte_carlo(problem: Problem, samples: int, seed: int, confidence: float = 0.95) -> Interval:
    """Uniform sequences of the plain task through the real forward pass in doubles; ties count as wrong."""
    generator = np.random.default_rng(seed)
    right = 0
    for start in range(0, samples, CHUNK):
        size = min(CHUNK, samples - start)
        tokens = generator.integers(0, problem.task.tokens, (size, problem.task.length))
        right += int(correct(problem, tokens).sum())
    return binomial_interval(right, samples, confidence)


def correct(problem: Problem, tokens: Tokens, positional: bool = True) -> npt.NDArray[np.bool_]:
    """Whether each row of tokens [sequences, length] has its largest logit strictly at the maximum."""
    view, n = problem.floats, len(tokens)
    query = tokens[:, -1]
    scores = np.take_along_axis(view.token[query], tokens, axis=1)
    # relative to the largest token present, so that the sum of weights never underflows
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    if positional:
        weights *= view.position[query]
    weights /= weights.sum(axis=1, keepdims=True)
    logits = view.direct[query] + weights @ view.positions
    for i in range(tokens.shape[1]):
        logits += weights[:, i, None] * view.values[tokens[:, i]]
    wanted = tokens.max(axis=1)
    own = logits[np.arange(n), wanted]
    logits[np.arange(n), wanted] = -np.inf
    right: npt.NDArray[np.bool_] = own > logits.max(axis=1) + view.shift
    return right


def binomial_interval(right: int, samples: int, confidence: float = 0.95) -> Interval:
    """Clopper-Pearson: both tails hold (1 - confidence) / 2 at most, whatever the true probability."""
    tail = (1 - confidence) / 2
    wrong = samples - right
    low = 0.0 if right == 0 else 1 - _largest(wrong, samples, tail)
    high = 1.0 if wrong == 0 else _largest(right, samples, tail)
    return Interval(right, samples, low, high)


def _largest(count: int, samples: int, tail: float) -> float:
    """The p at which a binomial count of at most `count` has probability `tail`; decreasing in p, so bisect."""
    low, high = count / samples, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if at_most(count, samples, middle) > tail:
            low = middle
        else:
            high = middle
    return high


def at_most(count: int, samples: int, p: float) -> float:
    """P(X <= count) for X binomial(samples, p), summed over the side with fewer terms."""
    if p <= 0 or count >= samples:
        return 1.0
    if p >= 1:
        return 0.0
    if count <= samples - count:
        return min(_mass(0, count, samples, p), 1.0)
    return max(1 - _mass(count + 1, samples, samples, p), 0.0)


def _mass(first: int, last: int, samples: int, p: float) -> float:
    """Sum of binomial probabilities of first..last, relative to the largest of them."""
    i = np.arange(first, last + 1, dtype=np.float64)
    edge = first if first > samples * p else last
    reference = _log_choose(samples, edge) + edge * log(p) + (samples - edge) * log1p(-p)
    # ratios to the edge term by cumulated log quotients: no logarithm of a factorial per term is needed
    steps = np.log((samples - i[:-1]) / (i[:-1] + 1)) + log(p) - log1p(-p)
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    logs += reference - logs[edge - first]
    return float(np.exp(np.maximum(logs, -745.0)).sum()) if len(logs) else exp(reference)


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def importance_sample(
    problem: Problem, per_stratum: int, seed: int, loses_eqkp: bool = True, uneven: bool = True
) -> Importance:
    """The paper's stratified estimate, with its faults unless they are switched off.

    Strata are (maximum m, query q, number c of free tokens below m, largest of these l), weighted by their exact
    share of all sequences. Strata with fewer sequences than `per_stratum` are sampled too (the paper lists them);
    their share is below 1e-3.
    """
    generator = np.random.default_rng(seed)
    wrong, strata, drawn = 0.0, 0, 0
    for tokens, weights, correction in _strata(problem, per_stratum, generator):
        strata += len(weights)
        drawn += len(tokens)
        bad = ~correct(problem, tokens, positional=not loses_eqkp)
        counted = bad.astype(np.float64) if uneven else bad * correction
        wrong += float((counted.reshape(len(weights), -1).mean(axis=1) * weights).sum())
    return Importance(1 - wrong, strata, drawn, loses_eqkp, uneven)


def _strata(
    problem: Problem, per_stratum: int, generator: np.random.Generator
) -> Iterator[tuple[Tokens, Floats, Floats]]:
    """Chunks of strata: sequences (per_stratum of each), share of each stratum, uniform over drawn probability."""
    free, vocabulary = problem.task.free, problem.task.tokens
    for m in range(vocabulary):
        for c in range(free + 1 if m else 1):
            keys = [(q, top) for q in range(m + 1) if q == m or c < free for top in (range(m) if c else (0,))]
            if not keys:
                continue
            size = [comb(free, c) * ((top + 1) ** c - top**c) if c else 1 for _, top in keys]
            weights = np.array([n / problem.task.total for n in size])
            query, largest = np.array(keys).repeat(per_stratum, axis=0).T
            tokens = np.full((len(query), free + 1), m)
            if c:
                tokens[:, :c] = (generator.random((len(query), c)) * (largest[:, None] + 1)).astype(np.int64)
                tokens[:, 0] = largest
            correction = np.ones(len(query))
            if c:
                # a sequence with j copies of l is drawn with probability j / (c (l + 1)^(c - 1)) for each arrangement
                drawn = c * (largest + 1.0) ** (c - 1) / ((largest + 1.0) ** c - largest.astype(np.float64) ** c)
                correction = drawn / (tokens[:, :c] == largest[:, None]).sum(axis=1)
            tokens[:, :free] = generator.permuted(tokens[:, :free], axis=1)
            tokens[:, free] = query
            yield tokens, weights, correction
