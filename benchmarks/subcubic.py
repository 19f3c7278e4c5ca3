"""The 100 sub-cubic strategies against the published code's own results, as a Markdown table on stdout.

    python benchmarks/subcubic.py FOLDER [--model NAME]

FOLDER holds peer-results.json and models/NAME.safetensors (see README). Columns: right sequences as the published code
counts them, and what `as-published` makes of the same; per cent as published and with its count and its search
repaired; per cent proved by the editions sound and tight (computed as for a certificate, without the checker's run).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from compactproofs.core.checkpoint import load
from compactproofs.core.grid import Choice, choices
from compactproofs.core.problem import Problem
from compactproofs.core.strategies.subcubic import Subcubic
from compactproofs.core.strategies.subcubic.published import published
from compactproofs.core.task import task_for

HEAD = "| id | options | published code | ours, as-published | % | count repaired | search too | sound | tight |"


def silent(done: int, total: int) -> None:
    """No progress."""


def row(problem: Problem, choice: Choice, peer: dict[str, Any] | None) -> str:
    """One strategy."""
    total = problem.task.total
    ours, searched = (published(problem, choice, silent, repaired) for repaired in (False, True))
    proved = [Subcubic(choice, edition).estimate(problem) for edition in ("sound", "tight")]
    counts = (ours.count, ours.repaired, searched.repaired, *proved)
    shares = " | ".join(f"{100 * count / total:.4f}" for count in counts)
    theirs = "" if peer is None else str(peer["correct_count_lower_bound"])
    return f"| {choice.number} | {choice.name} | {theirs} | {ours.count} | {shares} |"


def main() -> None:
    """Read the reference results and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default="max_of_4_v64_seed123")
    options = parser.parse_args()
    peer = json.loads((options.folder / "peer-results.json").read_text("utf-8"))[options.model].get("subcubic", {})
    model = load(str(options.folder / "models" / f"{options.model}.safetensors"))
    problem = Problem(model, task_for(model))
    print(HEAD + "\n" + "|---" * HEAD.count(" | ") + "|---|")
    for choice in choices():
        print(row(problem, choice, peer.get(choice.description)), flush=True)


if __name__ == "__main__":
    main()
