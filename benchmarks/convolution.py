"""Growth of margin-convolution proofs with the number of tokens, the length and the wished gap; table and figure.

    compactproofs train -k 20 --vocabulary 128 --out-dir build/longer    # likewise 512; and -k 6, 50, 100 of 64 tokens
    python benchmarks/convolution.py --models models build/longer --plot docs/convolution.svg > docs/convolution.md
    ... [--study models|tokens|gap|all]

CPU seconds of whole processes for certify (without its self-check) and check; bounds in per cent, with the share of a
million random inputs that a run in doubles gets right; it ends with an error where they do not fit together.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from compactproofs.core.checkpoint import load
from compactproofs.core.problem import Problem
from compactproofs.core.sampling import Interval, monte_carlo
from compactproofs.core.task import task_for
from run import BIN, ROOT, timed

GAPS = ("1%", "0.3%", "0.1%", "0.05%", "0.03%", "0.02%")
TOKENS = (8, 16, 32, 64, 128)
WIDER = {"max_of_20_v512_seed123": "12%"}
"""Gaps for models of which the usual one takes hours."""
GROWING = "max_of_10_v128_seed123"
TIGHTENED = "max_of_20_v64_seed123"
COLUMNS = ("study", "model", "tokens", "length", "wished gap", "lower %", "upper %", "sampled %")
COLUMNS += ("certify s", "check s", "operations", "bytes", "MiB")
HEADER = f"| {' | '.join(COLUMNS)} |\n{'|---' * len(COLUMNS)}|"
ABOUT = """# Growth of margin-convolution proofs

CPU seconds on two cores with much other work, which makes them up to twice as many, by the commands in
`benchmarks/convolution.py`; MiB of the larger of the two processes, or of the one that measures. `sampled` is the
share of 10^6 random inputs that a run in doubles gets right; the command fails if its 99.99 % interval and the proved
bounds have nothing in common.
Where the bounds stay further apart than wished, they are the best that the search found (`--keep-best`).
How far it goes: length 100 and 128 tokens end within 0.05 points in minutes, length 50 within 0.08. With 512 tokens
each of 512 maxima needs items of its own: the wish for length 20 is 12 points, which takes eight minutes and leaves
the lower bound 11 points short of the sampled accuracy.

Exact counts of single classes inside such a proof do not pay (`benchmarks/exact_classes.py`): of the 40 classes that
keep most of a gap of 0.05 points, a tree of 100,000 nodes counts all at length 5, where the whole count is cheap, and
38 at length 6; none at length 10, where they keep 32 % of the gap, and at length 20 only some that keep 7 % of it.

![seconds and operations against tokens, length and gap](convolution.svg)

"""


@dataclass(frozen=True, slots=True)
class Row:
    """One certificate."""

    study: str
    model: str
    tokens: int
    length: int
    gap: str
    lower: float
    upper: float
    sampled: float
    certify: float
    check: float
    operations: int
    size: int
    memory: float

    def __str__(self) -> str:
        ends = f"{self.lower:.4f} | {self.upper:.4f} | {self.sampled:.4f} | {self.certify:.2f} | {self.check:.2f}"
        cost = f"{self.operations:,} | {self.size:,} | {self.memory:.0f}"
        return f"| {self.study} | {self.model} | {self.tokens} | {self.length} | {self.gap} | {ends} | {cost} |"


def sizes(name: str) -> tuple[int, int]:
    """Length and tokens from a name like max_of_20_v64_seed123."""
    parts = name.split("_")
    return int(parts[2]), int(parts[3][1:])


def measure(study: str, model: Path, gap: str, tokens: int | None = None) -> Row:
    """Certify and check; the best that was found if the wished gap is not reached."""
    length, all_tokens = sizes(model.stem)
    with tempfile.TemporaryDirectory() as folder:
        target = str(Path(folder) / "cert.json")
        options = ["--strategy", "margin-convolution", "--gap", gap, "--keep-best", "--no-check", "--json"]
        if tokens is not None:
            options += ["--claim", f"accuracy of max of {tokens} tokens"]
        made = timed([str(BIN / "certify"), "--exact", str(model), "-o", target, *options], allowed=(0, 1))
        checked = timed([str(BIN / "check"), target, "--json", "--quiet"])
    report = json.loads(checked[3])
    lower, upper = (100 * int(report[key]) / int(report["total"]) for key in ("lower", "upper"))
    cost = made[0], checked[0], report["operations"], report["bytes"], max(made[2], checked[2])
    seen = sampled(model, tokens)
    if lower > 100 * seen.high or upper < 100 * seen.low:
        raise SystemExit(f"{model}: proved {lower} to {upper} %, sampled {100 * seen.low} to {100 * seen.high} %")
    return Row(study, model.stem, tokens or all_tokens, length, gap, lower, upper, 100 * seen.share, *cost)


@cache
def sampled(model: Path, tokens: int | None) -> Interval:
    """A million random inputs; an interval that misses the truth once in 10,000 times."""
    read = load(model)
    task = task_for(read) if tokens is None else replace(task_for(read), tokens=tokens)
    return monte_carlo(Problem(read, task), 10**6, 1, 0.9999)


def rows(studies: Iterable[str], models: list[Path]) -> Iterator[Row]:
    """All certificates of the studies."""
    wanted: list[tuple[str, Path, str, int | None]] = []
    for study in studies:
        if study == "models":
            wanted += [(study, model, WIDER.get(model.stem, "0.05%"), None) for model in models]
        elif study == "tokens":
            wanted += [(study, ROOT / f"models/{GROWING}.safetensors", "0.1%", tokens) for tokens in TOKENS]
        else:
            wanted += [(study, ROOT / f"models/{TIGHTENED}.safetensors", gap, None) for gap in GAPS]
    for each in wanted:
        yield measure(*each)


def plot(done: list[Row], path: str) -> None:
    """Seconds and operations against tokens, length and gap."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    views = (("tokens", "tokens"), ("models", "length"), ("gap", "upper - lower, points"))
    views = tuple(each for each in views if any(row.study == each[0] for row in done))
    figure, panels = pyplot.subplots(1, len(views), figsize=(3.7 * len(views), 3.6), squeeze=False)
    for axes, (study, label) in zip(panels[0], views, strict=True):
        some = [row for row in done if row.study == study]
        x = [row.tokens if study == "tokens" else row.length for row in some]
        across = [float(row.gap.rstrip("%")) for row in some] if study == "gap" else x
        style = "o" if study == "models" else "o-"
        axes.plot(across, [row.certify for row in some], style, label="certify, CPU s")
        axes.plot(across, [row.check for row in some], style, label="check, CPU s")
        axes.plot(across, [row.operations / 1e6 for row in some], style, label="operations, millions")
        axes.set(xscale="log", yscale="log", xlabel=label)
        axes.grid(alpha=0.3)
    panels[0][0].legend()
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, nargs="*", default=[ROOT / "models"], help="folders of models")
    parser.add_argument("--study", choices=("models", "tokens", "gap", "all"), default="all")
    parser.add_argument("--plot", help="where the figure goes")
    options = parser.parse_args()
    models = [model for folder in options.models for model in sorted(folder.glob("*.safetensors"))]
    studies = ("models", "tokens", "gap") if options.study == "all" else (options.study,)
    print(ABOUT + HEADER, flush=True)
    done = []
    for row in rows(studies, models):
        print(row, flush=True)
        done.append(row)
    if options.plot:
        plot(done, options.plot)


if __name__ == "__main__":
    main()
