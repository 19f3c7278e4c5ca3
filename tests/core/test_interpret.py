"""Statistics, residuals and ablations on small random models against direct computations."""

from __future__ import annotations

from itertools import product
from math import sqrt

import numpy as np
import pytest
from compactproofs.core.ablation import AblatedProblem, ablate, enumerated, subsets
from compactproofs.core.arrays import from_arrays
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.exact import Floats
from compactproofs.core.interpret import averaged, copy_failures, diagonal_lead, spectrum, statistics
from compactproofs.core.problem import Problem
from compactproofs.core.residuals import residual_statistics, residuals
from compactproofs.core.task import task_for

TOKENS, LENGTH, WIDTH = 5, 3, 4
ROOT = sqrt(WIDTH)


def weights(seed: int, length: int = LENGTH, tokens: int = TOKENS) -> dict[str, Floats]:
    generator = np.random.default_rng(seed)

    def draw(*shape: int) -> Floats:
        return generator.normal(0, 0.8, shape).astype(np.float32)

    return {
        "embed.W_E": draw(tokens, WIDTH),
        "pos_embed.W_pos": draw(length, WIDTH),
        **{f"blocks.0.attn.W_{name}": draw(1, WIDTH, WIDTH) for name in "QKVO"},
        "unembed.W_U": draw(WIDTH, tokens),
    }


def problem(seed: int, length: int = LENGTH, tokens: int = TOKENS) -> Problem:
    model = from_arrays(weights(seed, length, tokens))
    return Problem(model, task_for(model))


def plain(seed: int) -> dict[str, Floats]:
    """The averaged circuits by the textbook formula."""
    w = {name.rsplit("_", 1)[-1]: a.astype(np.float64) for name, a in weights(seed).items()}
    w = {name: a[0] if a.ndim == 3 else a for name, a in w.items()}
    mean = w["pos"].mean(axis=0)
    query, key, place = w["E"] + w["pos"][-1], w["E"] + mean, w["pos"] - mean
    scores, values = query @ w["Q"] @ w["K"].T, w["V"] @ w["O"] @ w["U"]
    return {
        "EQKE": scores @ key.T,
        "EQKP": scores @ place.T,
        "EVOU": key @ values,
        "PVOU": place @ values,
        "EU": query @ w["U"],
    }


@pytest.mark.parametrize("name", ["EQKE", "EQKP", "EVOU", "PVOU", "EU"])
def test_averaged_circuits(name: str) -> None:
    np.testing.assert_allclose(averaged(problem(1)).floats(name), plain(1)[name], atol=1e-12)


def test_statistics_against_their_definitions() -> None:
    found, circuits = statistics(problem(2)), plain(2)
    sigma = np.linalg.svd(circuits["EQKE"])[1]
    assert found.sigma_1 == pytest.approx(sigma[0])
    assert found.ratio == pytest.approx(sigma[0] / sigma[1])
    slopes = [
        (row[i] - row[j]) / (i - j) / ROOT for row in circuits["EQKE"] for i in range(5) for j in range(5) if i != j
    ]
    assert found.slope == pytest.approx(np.mean(slopes))
    assert found.step == pytest.approx((circuits["EQKE"][:, -1] - circuits["EQKE"][:, 0]).mean() / 4 / ROOT)
    assert found.eqkp_size == pytest.approx(np.abs(circuits["EQKP"]).mean() / ROOT)
    assert found.pvou_size == pytest.approx(np.abs(circuits["PVOU"]).mean())
    assert found.eu_size == pytest.approx(np.abs(circuits["EU"]).mean())
    assert found.evou_diagonal == pytest.approx(np.diagonal(circuits["EVOU"]).mean())


def test_the_query_vector_is_positive_on_average() -> None:
    for seed in range(5):
        found = spectrum(averaged(problem(seed)))
        assert found.query.mean() >= 0
        np.testing.assert_allclose(np.linalg.norm(found.key), 1)


def test_copy_failures_agree_with_the_lead_of_the_diagonal() -> None:
    for seed in range(5):
        form = averaged(problem(seed))
        assert copy_failures(form) == [t for t, lead in enumerate(diagonal_lead(form)) if lead >= 0]


def test_residuals_have_lost_their_components() -> None:
    rest = residuals(problem(3, tokens=12))
    assert np.linalg.matrix_rank(rest.q) == WIDTH - 1
    assert np.linalg.matrix_rank(rest.e_q, tol=1e-9) == WIDTH - 2
    found = residual_statistics(rest, count=5)
    assert found.exact <= found.spectral * (1 + 1e-12) <= found.norms * (1 + 1e-9)
    assert found == residual_statistics(rest, count=5)


def test_there_are_32_ablations() -> None:
    assert len(set(subsets())) == 32


@pytest.mark.parametrize("removed", [(), ("EQKP",), ("EU", "PVOU"), ("EQKE",), ("EVOU", "EQKP")])
def test_ablations_count_what_direct_evaluation_counts(removed: tuple[str, ...]) -> None:
    p = problem(4)
    c = AblatedProblem(p.model, p.task, removed=frozenset(removed)).circuits
    eqke, eqkp = c.eqke.floats() / ROOT, c.eqkp.floats() / ROOT
    right = 0
    for t in product(range(TOKENS), repeat=LENGTH):
        w = np.exp(eqke[t[-1], list(t)] + eqkp[t[-1]])
        logits = c.eu.floats()[t[-1]] + (w / w.sum()) @ (c.evou.floats()[list(t)] + c.pvou.floats())
        right += int(np.delete(logits, max(t)).max() < logits[max(t)])
    assert ablate(p, removed).right == right
    assert enumerated(AblatedProblem(p.model, p.task, removed=frozenset(removed))) == right


def test_a_model_without_circuits_is_never_right() -> None:
    """All logits tie; the published argmax would call the sequence of zeros right."""
    assert ablate(problem(5), ("EU", "EQKE", "EQKP", "EVOU", "PVOU")).right == 0


@pytest.mark.parametrize("length", [1, 2, 4])
def test_enumeration_for_other_lengths(length: int) -> None:
    p = problem(6, length)
    assert enumerated(p) == ablate(p, ()).right


def test_long_sequences_are_not_enumerated() -> None:
    with pytest.raises(CompactProofsError, match="ABLATION_TOO_LARGE"):
        ablate(problem(7, length=12), ("EQKE",))
