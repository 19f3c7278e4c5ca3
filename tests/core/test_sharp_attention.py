"""Attention so sharp that weights fall below what a proof can hold: the checker still comes to the same counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.model import SHAPES, Model, Tensor, build
from compactproofs.core.problem import Problem
from compactproofs.core.strategies import prove
from compactproofs.core.strategies.brute_force import estimate
from compactproofs.core.task import task_for
from compactproofs.emit.certificate import publish

SIZES = {"1": 1, "d_vocab": 6, "d_vocab_out": 6, "n_ctx": 3, "d_model": 4, "d_head": 2}


def model(seed: int, sharp: float) -> Model:
    """Random weights with W_Q times `sharp`."""
    rng = np.random.default_rng(seed)
    tensors = []
    for name, symbols in SHAPES.items():
        if ".b_" not in name:
            shape = tuple(SIZES[s] for s in symbols)
            values = rng.standard_normal(shape) * (sharp if name.endswith("W_Q") else 1)
            if name == "unembed.W_U":
                values *= 3
            tensors.append(Tensor(name, "F32", shape, values.astype("<f4").tobytes()))
    return build("sharp", tensors, {})


@pytest.mark.parametrize("digits", [None, 16])
@pytest.mark.parametrize("sharp", [1.0, 300.0, 3e4])
@pytest.mark.parametrize("strategy", ["cubic", "margin-tree", "brute-force", "subcubic:70:tight"])
def test_what_is_counted_is_verified(tmp_path: Path, strategy: str, sharp: float, digits: int | None) -> None:
    for seed in range(3):
        drawn = model(seed, sharp)
        problem = Problem(drawn, task_for(drawn), digits=digits)
        try:
            proof = prove(strategy, problem)
        except CompactProofsError as error:
            assert (error.code, strategy, sharp) == ("ATTENTION_TOO_SHARP", "cubic", 3e4)
            continue
        publish(problem, proof, tmp_path / f"{seed}.json")
        assert proof.lower + proof.undecided <= problem.task.total
        if strategy in ("margin-tree", "brute-force"):
            assert proof.upper - proof.lower == proof.undecided
            if sharp == 1.0:
                assert proof.undecided == 0 and proof.lower == estimate(problem)


def test_attention_that_no_proof_can_hold_is_named() -> None:
    drawn = model(0, 1e12)
    with pytest.raises(CompactProofsError, match="ATTENTION_TOO_SHARP"):
        problem = Problem(drawn, task_for(drawn))
        for digits in (64, 1024, 16000):
            problem.within(problem.task.whole(), digits, positions=True)


def test_only_sharp_classes_are_left_out() -> None:
    drawn = model(1, 3e4)
    problem = Problem(drawn, task_for(drawn))
    whole = problem.task.whole()
    kept = problem.within(whole, 64)
    assert 0 < problem.task.mass_of(kept) < problem.task.total
    soft = model(1, 1.0)
    assert Problem(soft, task_for(soft)).within(whole, 64) == whole
