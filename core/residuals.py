"""What is left of EQKE after its rank-one structure is taken off (paper, sections 5.3 and H.1.2).

Two components are peeled off E_q and E_k, one off Q and K, as the published code does: the directions are singular
vectors of EQKE and of the remainders. Doubles throughout: nothing here supports a proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod, sqrt
from typing import Final

import numpy as np

from .circuits import factors
from .exact import Floats
from .problem import Problem

RESAMPLE_SEED: Final = 1234
RESAMPLE_COUNT: Final = 100
NAMES: Final = ("E_q⊥", "Q⊥", "K⊥", "E_k⊥")


@dataclass(frozen=True, slots=True)
class Residuals:
    """The four remainders: E_q (tokens x d_model), Q and K (d_model x d_head), E_k (tokens x d_model); d_head."""

    e_q: Floats
    q: Floats
    k: Floats
    e_k: Floats
    d_head: int

    def factors(self) -> tuple[Floats, Floats, Floats, Floats]:
        """In the order of NAMES."""
        return self.e_q, self.q, self.k, self.e_k


@dataclass(frozen=True, slots=True)
class ResidualStatistics:
    """Largest row range of the error of EQKE (unscaled) and bounds on it; two resampled versions of it.

    exact: of the product of remainders; spectral: sqrt(2) times its first singular value; norms: sqrt(2) times the
    product of the remainders' first singular values. shuffled, normal: mean and standard deviation over draws.
    """

    exact: float
    spectral: float
    norms: float
    shuffled_mean: float
    shuffled_std: float
    normal_mean: float
    normal_std: float


def residuals(problem: Problem) -> Residuals:
    """The remainders of a model of the plain task."""
    f = factors(problem.model, problem.task)
    e_q = f.query.floats()
    e_k = f.token.floats() + f.position.floats().mean(axis=0)
    q, k = f.w_q.floats(), f.w_k.floats()
    left, _, right = np.linalg.svd(e_q @ q @ k.T @ e_k.T)
    e_q = _peel(e_q, left[:, 0])
    e_k = _peel(e_k, right[0])
    q, k, e_k = _without_first(q), _without_first(k), _without_first(e_k)
    return Residuals(_without_first(e_q), q, k, e_k, f.w_q.ints.shape[1])


def _peel(matrix: Floats, direction: Floats) -> Floats:
    """The matrix less its component along a direction in the space of its rows' indices."""
    unit = direction / np.linalg.norm(direction)
    rest: Floats = matrix - np.outer(unit, unit @ matrix)
    return rest


def _without_first(matrix: Floats) -> Floats:
    """The matrix less its first singular component."""
    return _peel(matrix, np.linalg.svd(matrix, full_matrices=False)[0][:, 0])


def largest_row_range(e_q: Floats, q: Floats, k: Floats, e_k: Floats) -> float:
    """max over rows of max - min of E_q Q K^T E_k^T."""
    product = e_q @ q @ k.T @ e_k.T
    return float((product.max(axis=1) - product.min(axis=1)).max())


def residual_statistics(rest: Residuals, count: int = RESAMPLE_COUNT, seed: int = RESAMPLE_SEED) -> ResidualStatistics:
    """Compare the error with products of structureless matrices of the same entries."""
    parts = rest.factors()
    generator = np.random.default_rng(seed)
    shuffled = [largest_row_range(*(_shuffled(p, generator) for p in parts)) for _ in range(count)]
    normal = [largest_row_range(*(_normal(p, generator) for p in parts)) for _ in range(count)]
    product = rest.e_q @ rest.q @ rest.k.T @ rest.e_k.T
    return ResidualStatistics(
        exact=largest_row_range(*parts),
        spectral=sqrt(2) * float(np.linalg.norm(product, 2)),
        norms=sqrt(2) * prod(float(np.linalg.norm(p, 2)) for p in parts),
        shuffled_mean=float(np.mean(shuffled)),
        shuffled_std=float(np.std(shuffled)),
        normal_mean=float(np.mean(normal)),
        normal_std=float(np.std(normal)),
    )


def _shuffled(matrix: Floats, generator: np.random.Generator) -> Floats:
    return generator.permutation(matrix.ravel()).reshape(matrix.shape)


def _normal(matrix: Floats, generator: np.random.Generator) -> Floats:
    return generator.normal(matrix.mean(), matrix.std(), matrix.shape)
