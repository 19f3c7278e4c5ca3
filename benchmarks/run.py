"""Sizes, proof lengths and CPU seconds of certify and check, as a Markdown table on stdout.

    python benchmarks/run.py [--repeat N] [--brute-force]        shipped models, and growth with tokens and length
    python benchmarks/run.py --reference FOLDER                  also models and results of the published code

Every row is one process for certify (without its self-check) and one for check; the median of N runs counts.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Container, Sequence
from pathlib import Path

from compactproofs.core.decimals import percent

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent


def timed(command: Sequence[str], allowed: Container[int] = (0,)) -> tuple[float, float, float, str]:
    """CPU seconds, wall seconds, peak memory in MiB and stdout of a process that must end with an allowed status."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in allowed:
        raise SystemExit(f"{' '.join(command)}: exit status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - start, usage.ru_maxrss / 1024, output


def measure(model: Path, options: Sequence[str], repeat: int) -> dict[str, object]:
    """One row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        target = str(Path(folder) / "cert.json")
        certify = [str(BIN / "certify"), "--exact", str(model), "-o", target, "--no-check", "--json", "--force"]
        certify += options
        check = [str(BIN / "check"), target, "--json", "--quiet"]
        runs = [(timed(certify), timed(check)) for _ in range(repeat)]
        made, checked = json.loads(runs[0][0][3]), json.loads(runs[0][1][3])
        return {
            "certify": statistics.median(run[0][0] for run in runs),
            "check": statistics.median(run[1][0] for run in runs),
            "memory": max(max(run[0][2], run[1][2]) for run in runs),
            "operations": checked["operations"],
            "bytes": checked["bytes"],
            "lower": int(checked["lower"]),
            "upper": int(checked["upper"]),
            "total": int(checked["total"]),
            "strategy": made["strategy"],
        }


HEADER = (
    "| model | strategy | lower % | upper % | certify s | check s | operations | bytes | peak MiB |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def show(name: str, row: dict[str, object]) -> None:
    """Print a row."""
    lower, upper, total = (int(str(row[key])) for key in ("lower", "upper", "total"))
    high = percent(upper, total, up=lower != upper, places=4)
    bounds = f"{percent(lower, total, places=4)} | {high}".replace(" %", "")
    times = f"{row['certify']:.2f} | {row['check']:.2f}"
    print(
        f"| {name} | {row['strategy']} | {bounds} | {times} | {row['operations']:,} | {row['bytes']:,} "
        f"| {row['memory']:.0f} |",
        flush=True,
    )


def shipped(repeat: int, brute_force: bool) -> None:
    """Shipped models by their strategies."""
    print("\n## Shipped models\n\n" + HEADER)
    for model in sorted((ROOT / "models").glob("*.safetensors")):
        show(model.stem, measure(model, ["--strategy", "cubic"], repeat))
        show(model.stem, measure(model, ["--strategy", "auto"], repeat))
    if brute_force:
        model = ROOT / "models/max_of_4_v64_seed519.safetensors"
        show(model.stem, measure(model, ["--strategy", "brute-force"], 1))


def growth(repeat: int) -> None:
    """The same model on the first 8, 16, 32 and 64 of its tokens, and length 4 against 5."""
    print("\n## Growth with the number of tokens and the length\n\n" + HEADER)
    for name in ("max_of_4_v64_seed519", "max_of_5_v64_seed123", "max_of_10_v128_seed123"):
        model = ROOT / f"models/{name}.safetensors"
        for tokens in (8, 16, 32, 64, 128)[: 5 if "v128" in name else 4]:
            strategies = ("cubic",) if "max_of_10" in name else ("cubic", "margin-tree")
            for strategy in strategies:
                options = ["--strategy", strategy, "--claim", f"accuracy of max of {tokens} tokens"]
                show(f"{name}, tokens 0..{tokens - 1}", measure(model, options, repeat))


def reference(folder: Path, repeat: int) -> None:
    """Counts and times beside those of the published float32 code on its own models (peer-results.json)."""
    peers = json.loads((folder / "peer-results.json").read_text())
    print("\n## Against the published code (its CPU seconds are recorded, not measured in this run)\n")
    print("| model | strategy | count here | count there | difference | certify + check s | there s | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for model in sorted((folder / "models").glob("*.safetensors")):
        peer = peers.get(model.stem, {})
        for strategy, key, count in (
            ("cubic", "cubic", "correct_count_lower_bound"),
            ("margin-tree", "brute_force", "num_correct"),
        ):
            if key not in peer:
                continue
            row = measure(model, ["--strategy", strategy], repeat)
            ours, theirs = int(str(row["lower"])), int(peer[key][count])
            spent = float(str(row["certify"])) + float(str(row["check"]))
            ratio = peer[key]["cpu_s"] / spent
            print(
                f"| {model.stem} | {strategy} / {key} | {ours} | {theirs} | {ours - theirs} | {spent:.2f} "
                f"| {peer[key]['cpu_s']:.1f} | {ratio:.0f} |",
                flush=True,
            )
        exact = peer.get("exact_over_the_reals")
        if exact:
            row = measure(model, ["--strategy", "margin-tree"], repeat)
            wrong = int(str(row["total"])) - int(str(row["lower"]))
            counts = f"{wrong} | {exact['wrong']} | {wrong - exact['wrong']}"
            print(f"| {model.stem} | margin-tree, wrong inputs | {counts} | | | |")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--brute-force", action="store_true", help="also the enumeration of 16,777,216 inputs")
    parser.add_argument("--reference", type=Path, help="folder with models/ and peer-results.json")
    options = parser.parse_args()
    print("# Benchmarks\n\nMade by `python benchmarks/run.py`. CPU seconds of whole processes; compare ratios.")
    shipped(options.repeat, options.brute_force)
    growth(options.repeat)
    if options.reference:
        reference(options.reference, options.repeat)


if __name__ == "__main__":
    main()
