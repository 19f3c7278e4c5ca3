"""Would exact counts of the worst classes tighten a convolution proof at a price? A table.

    python benchmarks/exact_classes.py models/max_of_10_v64_seed123.safetensors [MODEL ...] [--gap 0.0005] [--top 40]

A search for the gap is made; then the tree of each of the classes (query, maximum) that keep most of it is walked, as
far as `--nodes`. A node is some ten operations of the checker, an item of a convolution 10,000 to 100,000.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from compactproofs.core.checkpoint import load
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.problem import Problem
from compactproofs.core.screen import survivors
from compactproofs.core.strategies.convolution.search import Goal, Search
from compactproofs.core.strategies.margin_tree import wrong_in_class
from compactproofs.core.task import task_for
from compactproofs.core.weights import precision

DIGITS = 64
COLUMNS = ("model", "operations of the search", "classes", "part of the gap", "counted", "part of the gap of these")


def row(path: Path, gap: float, top: int, limit: int) -> str:
    """One model."""
    model = load(path)
    problem = Problem(model, task_for(model))
    search = Search(problem, Goal(gap=gap, keep=True))
    search.run(lambda state: None)
    gaps = sorted(
        ((float(g), q, m) for m, block in search.blocks.items() for q, g in enumerate(block.gaps())), reverse=True
    )
    chosen = precision(problem.circuits, DIGITS)
    weights = list(problem.enclosures(chosen))
    counted, left = 0, 0.0
    for g, q, m in gaps[:top]:
        outputs = [int(o) for o in survivors(problem, m).alive[q].nonzero()[0]]
        try:
            wrong_in_class(problem, q, m, outputs, weights[q], chosen, limit)
            counted += 1
        except CompactProofsError:
            left += g
    part, whole = sum(g for g, _, _ in gaps[:top]), sum(g for g, _, _ in gaps)
    shares = f"{part / whole:.0%} | {counted} | {(part - left) / whole:.1%}"
    return f"| {path.stem} | {search.state.operations:,} | {top} | {shares} |"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--gap", type=float, default=0.0005)
    parser.add_argument("--top", type=int, default=40, help="how many classes")
    parser.add_argument("--nodes", type=int, default=100_000, help="of a class at most")
    options = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|")
    for path in options.models:
        print(row(path, options.gap, options.top, options.nodes), flush=True)


if __name__ == "__main__":
    main()
