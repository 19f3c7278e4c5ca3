"""Bound against proof length on one model: from short convolutions to the exact count, and the paper's strategies.

    python benchmarks/frontier.py MODEL [--budgets N,N,...] [--subcubic] [--plot docs/frontier.svg]

Every point is a certificate that the checker has accepted; its operations are the checker's count. `--subcubic` proves
the 100 sub-cubic strategies in two editions as well, which takes minutes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

CERTIFY = str(Path(sys.executable).parent / "certify")
BUDGETS = (1_400_000, 1_500_000, 1_600_000, 1_800_000, 2_000_000, 2_200_000, 2_500_000, 2_800_000, 3_200_000)


@dataclass(frozen=True, slots=True)
class Point:
    """One certificate."""

    series: str
    name: str
    operations: int
    bound: float


def certified(model: str, options: Iterable[str]) -> dict[str, object] | None:
    """The report of `certify --exact`; None if it refuses."""
    with tempfile.TemporaryDirectory() as folder:
        command = [CERTIFY, "--exact", model, "-o", str(Path(folder) / "cert.json"), "--json", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"# {' '.join(options)}: {done.stderr.strip()}", file=sys.stderr)
        return None
    report: dict[str, object] = json.loads(done.stdout)
    return report


def point(series: str, name: str, report: dict[str, object]) -> Point:
    """What a report says."""
    (lower, total), checked = report["lower"], report["checked"]  # type: ignore[misc]
    return Point(series, name, checked["operations"], int(lower) / int(total))  # type: ignore[index, has-type]


def dial(model: str, budgets: Iterable[int]) -> Iterator[Point]:
    """Our own family: convolutions within budgets, and the exact count."""
    for budget in budgets:
        report = certified(model, ["--strategy", "margin-convolution", "--budget", str(budget)])
        if report is not None:
            yield point("margin convolution", f"--budget {budget}", report)
    report = certified(model, ["--strategy", "margin-tree"])
    if report is not None:
        yield point("margin tree (exact)", "margin-tree", report)


def subcubic(model: str) -> Iterator[Point]:
    """The paper's strategies: its rules repaired, and with every refinement that keeps the cost."""
    for edition, series in (("sound", "sub-cubic, repaired"), ("tight", "sub-cubic, tightened")):
        with tempfile.TemporaryDirectory() as folder:
            command = [CERTIFY, "--exact", model, "--strategy", f"all:{edition}", "-o", folder, "--json"]
            rows = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for row in rows:
            if row.get("operations") and row["strategy"].startswith(("subcubic", "cubic")):
                lower, total = map(int, row["lower"])
                name = "cubic" if row["strategy"] == "cubic" else series
                yield Point(name, row["strategy"], row["operations"], lower / total)


def table(points: list[Point]) -> str:
    """All points by length; those that no shorter one equals are marked."""
    lines = ["| operations | bound % | series | certificate | frontier |", "|---|---|---|---|---|"]
    best = -1.0
    for each in sorted(points, key=lambda p: (p.operations, -p.bound)):
        mark = "yes" if each.bound > best else ""
        best = max(best, each.bound)
        lines.append(f"| {each.operations:,} | {100 * each.bound:.4f} | {each.series} | {each.name} | {mark} |")
    return "\n".join(lines)


def plot(points: list[Point], path: str, title: str) -> None:
    """The points, ours joined by a line."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    for series in dict.fromkeys(each.series for each in points):
        some = sorted((p for p in points if p.series == series), key=lambda p: p.operations)
        line = "o-" if series.startswith("margin") else "x"
        axes.plot([p.operations for p in some], [100 * p.bound for p in some], line, label=series, markersize=5)
    axes.set(xscale="log", xlabel="operations of the checker", ylabel="certified accuracy, %", title=title)
    axes.legend()
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--budgets", default=",".join(map(str, BUDGETS)))
    parser.add_argument("--subcubic", action="store_true")
    parser.add_argument("--plot", help="where the figure goes")
    options = parser.parse_args()
    points = list(dial(options.model, map(int, options.budgets.split(","))))
    if options.subcubic:
        points += subcubic(options.model)
    print(f"# {Path(options.model).stem}: bound against proof length\n\n{table(points)}")
    if options.plot:
        plot(points, options.plot, Path(options.model).stem)


if __name__ == "__main__":
    main()
