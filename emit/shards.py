"""A proof found in pieces by several processes, and joined; stopped early, it is a proof of what was finished."""

from __future__ import annotations

from collections.abc import Callable

from ..core.errors import CompactProofsError
from ..core.pieces import PIECED
from ..core.problem import Problem
from ..core.progress import best_so_far, note
from ..core.proof import Proof
from ..core.sharding import join, split
from ..core.task import Region
from .parallel import run_pieces

PIECES = 4
"""Pieces for each process, so that a slow one does not keep the others waiting."""

Piece = tuple[Problem, str, Region]


def prove_sharded(problem: Problem, strategy: str, jobs: int, progress: Callable[[int, int], None]) -> Proof:
    """Errors: NOT_SHARDED, NOTHING_TO_JOIN and those of the strategy. Ctrl-C joins the pieces that are finished."""
    if strategy not in PIECED or problem.semantics is not None:
        text = f"{strategy} is proved in one piece; --jobs is for {', '.join(PIECED)} over the real numbers"
        raise CompactProofsError("NOT_SHARDED", text)
    regions = split(problem.task, jobs * PIECES, PIECED[strategy].whole_maxima)
    pieces: list[Piece] = [(problem, strategy, region) for region in regions]
    found: dict[int, Proof] = {}
    note(progress, f"{len(regions)} pieces in {jobs} processes")
    try:
        for index, proof in run_pieces(_prove, pieces, jobs):
            found[index] = proof
            progress(len(found), len(regions))
            best_so_far(progress, sum(each.lower for each in found.values()), problem.task.total)
    except KeyboardInterrupt:
        if not found:
            raise
    return join(problem, [found[index] for index in sorted(found)])


def _prove(piece: Piece) -> Proof:
    problem, strategy, region = piece
    return PIECED[strategy].find(problem, region)
