"""Proofs in pieces: regions of about equal size, and proofs over disjoint regions joined into one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from .errors import CompactProofsError
from .problem import Problem
from .proof import Builder, Json, Proof
from .task import Region, Task, pairs, region_of


def split(task: Task, parts: int, whole_maxima: bool = False) -> list[Region]:
    """At most so many regions that cover all classes once, of about equal mass each; with all queries of a maximum."""
    total, reached, regions = task.total, 0, [list[tuple[int, int]]()]
    for q, m in pairs(task.whole()):
        full = regions[-1] and reached * parts >= total * len(regions) and len(regions) < parts
        if full and (q == 0 or not whole_maxima):
            regions.append([])
        regions[-1].append((q, m))
        reached += task.class_size(q, m)
    return [region_of(region) for region in regions if region]


def join(problem: Problem, proofs: Sequence[Proof]) -> Proof:
    """One proof from proofs over disjoint regions. The checker refuses it if they overlap. Errors: NOTHING_TO_JOIN."""
    if not proofs:
        raise CompactProofsError("NOTHING_TO_JOIN", "no piece of the proof was finished")
    if len(proofs) == 1:
        return proofs[0]
    builder, total = Builder(), problem.task.total
    counts = [builder.append(proof.steps[:-1])[cast(int, proof.steps[-1]["of"])] for proof in proofs]
    numbers: list[Json] = [*dict.fromkeys(counts)]
    builder.add("conclude", of=builder.add("disjoint_union", of=numbers))
    right, wrong = sum(proof.lower for proof in proofs), sum(total - proof.upper for proof in proofs)
    undecided = sum(proof.undecided for proof in proofs)
    return Proof(proofs[0].strategy, tuple(builder.steps), right, total - wrong, undecided)
