"""One strategy on one model: the bound, its costs, and the checker's word."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...core.cost import (
    Sizes,
    brute_force_dimensions,
    brute_force_flops,
    cubic_dimensions,
    cubic_flops,
    subcubic_dimensions,
    subcubic_flops,
)
from ...core.errors import CompactProofsError
from ...core.grid import choice
from ...core.problem import Problem
from ...core.proof import Proof
from ...core.strategies import convolution, margin_tree
from ...core.strategies import strategy as strategy_of
from ...core.strategies.subcubic.published import published
from ..certificate import publish
from .gaps import certified_by_gap
from .studies import TREE_LENGTH

SOUND: Final = "sound"
PUBLISHED: Final = "as-published"
TIGHT: Final = "tight"
EDITIONS: Final = (SOUND, PUBLISHED, TIGHT)
"""Repaired rules; the paper's numbers, an estimate; our refinements at the same cost class."""

OURS: Final = "ours"
"""The margin tree if it is small, else bounds from both sides by convolution; a row names the one that it took."""
TREE: Final = "margin-tree"
CUBIC: Final = "cubic"

GAP: Final = 0.002
"""Width of the two-sided bounds that stand for the accuracy where the tree is too large."""

TREE_NODES: Final = 50_000
"""Nodes after which the exact count is given up."""


@dataclass(frozen=True, slots=True)
class BoundRow:
    """A bound of `lower` right sequences out of `total`, and its costs.

    flops, dimensions: the paper's estimates (0: the paper has none). operations, steps, bytes: the checker's
    operations, the proof's steps, the certificate's size (0: no certificate). seconds: of search and certificate;
    check_seconds: of the checker. gaps: certified sequences by gap, for sub-cubic strategies. repaired: the published
    estimate with its off-by-one repaired (0: another edition).
    """

    strategy: str
    edition: str
    lower: int
    upper: int
    total: int
    flops: int
    dimensions: int
    operations: int
    steps: int
    bytes: int
    seconds: float
    check_seconds: float
    verified: bool
    gaps: dict[str, int]
    repaired: int = 0

    @property
    def share(self) -> float:
        return self.lower / self.total


def row_name(strategy: str, edition: str) -> str:
    """Name of a stored row."""
    return f"{strategy}--{edition}"


def paper_costs(sizes: Sizes, strategy: str) -> tuple[int, int]:
    """FLOPs and unexplained dimensions by the paper's counting, (0, 0) for strategies that are not the paper's."""
    if strategy == "brute-force":
        return brute_force_flops(sizes), brute_force_dimensions(sizes)
    if strategy == CUBIC:
        return cubic_flops(sizes), cubic_dimensions(sizes)
    if strategy.isdecimal():
        chosen = choice(int(strategy))
        return subcubic_flops(sizes, chosen), subcubic_dimensions(sizes, chosen)
    return 0, 0


def evaluate(problem: Problem, strategy: str, edition: str = SOUND, check: bool = True) -> BoundRow:
    """Search, certify and check. Strategies: "cubic", "ours", or a number of the grid."""
    sizes = Sizes(problem.task.length, problem.task.tokens, problem.model.d_model)
    start = time.perf_counter()
    if edition == PUBLISHED:
        result = published(problem, choice(int(strategy)), _silent)
        seconds = time.perf_counter() - start
        return BoundRow(
            strategy, edition, result.count, problem.task.total, problem.task.total, *paper_costs(sizes, strategy),
            operations=0, steps=0, bytes=0, seconds=seconds, check_seconds=0.0, verified=False, gaps={},
            repaired=result.repaired,
        )  # fmt: skip
    proof = _find(problem, strategy, edition)
    size, operations, seconds, check_seconds = _certificate(problem, proof, check, start)
    name = proof.strategy if strategy == OURS else strategy
    return BoundRow(
        name, edition, proof.lower, proof.upper, problem.task.total, *paper_costs(sizes, strategy),
        operations=operations, steps=len(proof.steps), bytes=size, seconds=seconds, check_seconds=check_seconds,
        verified=check, gaps=certified_by_gap(problem.task, proof),
    )  # fmt: skip


def _find(problem: Problem, strategy: str, edition: str) -> Proof:
    """Search. Errors: those of the strategy."""
    if strategy == OURS:
        return _nearly_exact(problem)
    name = f"subcubic:{strategy}:{edition}" if strategy.isdecimal() else strategy
    return strategy_of(name).find(problem, _silent)


def _nearly_exact(problem: Problem) -> Proof:
    """The exact count of short sequences where that is cheap, else bounds that are GAP apart."""
    try:
        if problem.task.length <= TREE_LENGTH:
            return margin_tree.margin_tree(problem, nodes=TREE_NODES)
    except CompactProofsError as error:
        if error.code != "TREE_TOO_LARGE":
            raise
    return convolution.margin_convolution(problem, _silent, convolution.Goal(gap=GAP))


def _silent(done: int, total: int) -> None:
    """No progress: rows are reported one by one."""


def _certificate(problem: Problem, proof: Proof, check: bool, start: float) -> tuple[int, int, float, float]:
    """Bytes, checker's operations, seconds until written, seconds of the check. Errors: CHECK_FAILED."""
    with tempfile.TemporaryDirectory() as folder:
        size, _ = publish(problem, proof, Path(folder) / "unchecked.json", check=False)
        written = time.perf_counter()
        if not check:
            return size, 0, written - start, 0.0
        _, report = publish(problem, proof, Path(folder) / "checked.json")
        operations = int(report["operations"]) if report else 0
        return size, operations, written - start, time.perf_counter() - written
