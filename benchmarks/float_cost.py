"""What a claim about a float32 program costs beside one about the real numbers: points, seconds, operations.

    python benchmarks/float_cost.py [--repeat N] [--write]

Each row is a claim certified and checked twice in one run, once for each semantics; CPU seconds of whole processes, the
median of N. `--write` puts the table into docs/float.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from float_page import replace
from run import ROOT, measure

CASES = (
    ("max_of_20_v64_seed123", ("--strategy", "margin-convolution", "--gap", "0.05%")),
    ("max_of_4_v64_seed123", ("--strategy", "margin-tree")),
    ("max_of_5_v64_seed123", ("--strategy", "margin-tree")),
    ("max_of_10_v64_seed123", ("--strategy", "margin-convolution", "--gap", "0.05%")),
    ("max_of_20_v64_seed123", ("--strategy", "cubic")),
)
HEADER = (
    "| model | strategy | real lower % | float32 lower % | loss, points | real upper % | float32 upper % "
    "| check s, real | float32 | ratio | operations, ratio |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|"
)


def row(name: str, options: Sequence[str], repeat: int) -> str:
    """One line of the table."""
    model = Path(ROOT / f"models/{name}.safetensors")
    real, floating = (measure(model, [*options, "--semantics", semantics], repeat) for semantics in ("real", "float32"))
    ends = {
        (kind, key): 100 * int(str(found[key])) / int(str(found["total"]))
        for kind, found in (("real", real), ("float32", floating))
        for key in ("lower", "upper")
    }
    lost = int(str(real["lower"])) - int(str(floating["lower"]))
    points = 100 * lost / int(str(real["total"]))
    seconds = [float(str(found["check"])) for found in (real, floating)]
    operations = int(str(floating["operations"])) / int(str(real["operations"]))
    lowers = f"{ends['real', 'lower']:.4f} | {ends['float32', 'lower']:.4f} | {points:.4f}"
    uppers = f"{ends['real', 'upper']:.4f} | {ends['float32', 'upper']:.4f}"
    times = f"{seconds[0]:.2f} | {seconds[1]:.2f} | {seconds[1] / seconds[0]:.2f} | {operations:.2f}"
    return f"| {name} | {' '.join(options[1:])} | {lowers} | {uppers} | {times} |"


def main() -> int:
    """All cases."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="into docs/float.md")
    options = parser.parse_args()
    print(HEADER, flush=True)
    rows = [HEADER]
    for name, words in CASES:
        rows.append(row(name, words, options.repeat))
        print(rows[-1], flush=True)
        if options.write:  # after each row, so that nothing measured is lost
            replace("cost", "\n".join(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
