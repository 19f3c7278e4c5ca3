"""Observed float32 errors against the certified bound: all inputs of short models, samples of longer ones.

    python benchmarks/float_reality.py [--model FILE ...] [--samples N] [--exhaustive N] [--seed N] [--only TEXT]
    python benchmarks/float_reality.py --write           # measure, and put the results into docs/float.md

Each model runs as the programs of float_programs.py, beside a float64 reference whose own error is bounded; that bound
counts against the programs. Reported: the largest |float32 - real| and its ratio to the bound of its query, certified
inputs that a run got wrong (there must be none), and the inputs that the bound leaves undecided, each with its margin
over the real numbers and those of all runs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gmpy2
import numpy as np
from compactproofs.core.checkpoint import load
from compactproofs.core.exact import Exact
from compactproofs.core.float_semantics import float_error, gap
from compactproofs.core.problem import Problem
from compactproofs.core.semantics import Semantics
from compactproofs.core.task import task_for
from float_page import put
from float_programs import Array, runs, tensors

ROOT = Path(__file__).resolve().parent.parent
BLOCK, PART = 1 << 14, 1 << 12  # inputs at a time: of all runs, and of the reference (which is to stay in the cache)
SHOWN = 5
PARTS = ("scores", "softmax", "values", "unembedding")


class Reference:
    """The logits in float64; `error` bounds their distance from the real ones.

    With the weights exp(s - max s) of each query and all that a token adds to a logit at its position in tables, made
    from exact values, a logit is eu[q] + sum w c / sum w. In units of 2^-53: a table entry is off by at most 4, the
    sums of n terms round n + 1 and n times, the division and the last sum once each, so that all is off by at most
    2n + 17 of max|eu| + max|c|; three more cover the higher orders, and underflow.
    """

    def __init__(self, problem: Problem) -> None:
        c, n = problem.circuits, problem.model.n_ctx
        self.direct = c.eu.floats()
        self.carried = [(c.evou + Exact(c.pvou.ints[i : i + 1], c.pvou.exponent)).floats() for i in range(n)]
        scores = [(c.eqke + Exact(c.eqkp.ints[:, i : i + 1], c.eqkp.exponent)) for i in range(n)]
        low = min(score.exponent for score in scores)
        ints = np.stack([score.at(low) for score in scores], axis=1)  # queries x positions x tokens
        with gmpy2.context(gmpy2.get_context(), precision=128):
            scale = gmpy2.exp2(low) / gmpy2.sqrt(c.d_head)
            tops = ints.max(axis=(1, 2), keepdims=True)
            flat = [float(gmpy2.exp(int(x) * scale)) for x in (ints - tops).ravel()]
        self.weights = np.array(flat).reshape(ints.shape)
        largest = np.abs(self.direct).max() + max(np.abs(part).max() for part in self.carried)
        self.error = float((2 * n + 20) * 2.0**-53 * largest)
        if self.weights.min() < 1e-200 or not 1e-200 < largest < 1e200:
            raise SystemExit("the reference may underflow or overflow: the model is beyond this program")

    def __call__(self, tokens: Array) -> Array:
        return np.concatenate([self._part(tokens[i : i + PART]) for i in range(0, len(tokens), PART)])

    def _part(self, tokens: Array) -> Array:
        query, total = tokens[:, -1], np.zeros((len(tokens), 1))
        logits = np.zeros((len(tokens), self.direct.shape[1]))
        for i, carried in enumerate(self.carried):
            weight = self.weights[query, i, tokens[:, i]][:, None]
            logits += weight * carried[tokens[:, i]]
            total += weight
        return self.direct[query] + logits / total


def margins(logits: Array, label: Array) -> Array:
    """Right logit minus the largest other."""
    rows = np.arange(len(logits))
    own, others = logits[rows, label].copy(), logits.copy()
    others[rows, label] = -np.inf
    return own - others.max(axis=1)


@dataclass
class Seen:
    """What one run of one model showed."""

    inputs: int = 0
    worst: float = 0.0
    ratio: float = 0.0
    certified_but_wrong: int = 0


@dataclass
class Undecided:
    """An input whose margin the bound cannot tell from the threshold, and what became of it in every run."""

    tokens: list[int]
    real: float
    float32: dict[str, float] = field(default_factory=dict)

    @property
    def answers(self) -> set[bool]:
        return {margin > 0 for margin in self.float32.values()}


def blocks(length: int, tokens: int, exhaustive: bool, samples: int, seed: int) -> Iterator[Array]:
    """All inputs, or a uniform sample, in blocks."""
    total = tokens**length if exhaustive else samples
    rng = np.random.default_rng(seed)
    for start in range(0, total, BLOCK):
        count = min(BLOCK, total - start)
        if exhaustive:
            numbers = np.arange(start, start + count)
            yield np.stack([numbers // tokens**i % tokens for i in range(length)], axis=1)
        else:
            yield rng.integers(0, tokens, (count, length))


def examine(path: Path, options: argparse.Namespace) -> dict[str, Any]:
    """One model."""
    model = load(str(path))
    task = task_for(model)
    bound = float_error(model, task, Semantics("binary32"))
    allowed = np.array([float(bound.number(n)) for n in bound.bound])
    real, far = Reference(Problem(model, task)), float(gap(bound))
    near = far + 4 * real.error  # of a margin in float64: beyond it the real margin is beyond the threshold
    exhaustive, start = task.total <= options.exhaustive, time.perf_counter()
    chosen = {name: run for name, run in runs(tensors(model)).items() if options.only in name}
    seen, undecided = {name: Seen() for name in chosen}, []
    for number, tokens in enumerate(blocks(task.length, task.tokens, exhaustive, options.samples, options.seed)):
        true, label = real(tokens), tokens.max(axis=1)
        margin = margins(true, label)
        open_ = np.flatnonzero(np.abs(margin) <= near)
        notes = [Undecided(tokens[i].tolist(), float(margin[i])) for i in open_]
        for name, (run, share) in chosen.items():
            at = np.arange(number % share, len(tokens), share)
            at = at if share == 1 else np.union1d(at, open_)
            logits = run(tokens[at])
            off = np.abs(logits - true[at]).max(axis=1) + real.error
            computed, expected = margins(logits, label[at]), margin[at]
            # on the safe side: what may be certified counts as certified
            wrong = (expected > far - 4 * real.error) & ~(computed > 0)
            wrong |= (expected <= -far + 4 * real.error) & (computed > 0)
            item = seen[name]
            item.inputs += len(at)
            item.worst = max(item.worst, float(off.max()))
            item.ratio = max(item.ratio, float((off / allowed[tokens[at, -1]]).max()))
            item.certified_but_wrong += int(wrong.sum())
            for note, i in zip(notes, np.searchsorted(at, open_), strict=True):
                note.float32[name] = float(computed[i])
        undecided += notes
        if number % 128 == 127:
            refuted = sum(item.certified_but_wrong for item in seen.values())
            done = f"{(number + 1) * BLOCK} inputs, {time.perf_counter() - start:.0f} s, {refuted} certified but wrong"
            print(f"{path.stem}: {done}", file=sys.stderr, flush=True)
    undecided.sort(key=lambda note: abs(note.real))
    return {
        "model": path.stem,
        "inputs": task.total if exhaustive else options.samples,
        "exhaustive": exhaustive,
        "two_eps": far,
        "parts": {name: float(bound.number(getattr(bound, name))) for name in PARTS},
        "reference_error": real.error,
        "runs": {name: vars(item) for name, item in seen.items()},
        "undecided": [vars(note) for note in undecided],
        "differ_between_runs": sum(len(note.answers) > 1 for note in undecided),
        "differ_from_real": sum(note.answers != {note.real > 0} for note in undecided),
        "unknown_to_the_reference": sum(abs(note.real) <= 2 * real.error for note in undecided),
        "seconds": round(time.perf_counter() - start, 1),
    }


def lines(row: dict[str, Any]) -> list[str]:
    """A row as text."""
    parts = ", ".join(f"{name} {value:.2e}" for name, value in row["parts"].items())
    kind = "all" if row["exhaustive"] else "sampled"
    text = [f"{row['model']}: {row['inputs']} inputs ({kind}), 2 eps = {row['two_eps']:.5f} ({parts})"]
    for name, item in row["runs"].items():
        off = f"|float32 - real| <= {item['worst']:.2e}, {item['ratio']:.3%} of eps"
        text.append(f"  {name:48} {item['inputs']}: {off}; certified but wrong: {item['certified_but_wrong']}")
    undecided = [Undecided(**note) for note in row["undecided"]]
    text.append(
        f"  undecided: {len(undecided)}; answer differs between runs: {row['differ_between_runs']}, "
        f"from the real one: {row['differ_from_real']}"
    )
    for note in [each for each in undecided if len(each.answers) > 1][:SHOWN] or undecided[:SHOWN]:
        values = ", ".join(f"{value:+.2e}" for value in note.float32.values())
        text.append(f"    {note.tokens}: real margin {note.real:+.3e}, float32 {values}")
    return text


def main() -> int:
    """All models; exit status 1 if any run contradicts a bound."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", action="append", type=Path, help="default: all that ship")
    parser.add_argument("--samples", type=int, default=10**6)
    parser.add_argument("--exhaustive", type=int, default=1 << 24, help="all inputs where there are no more than this")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", metavar="TEXT", default="", help="only runs with this in their name")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", action="store_true", help="into docs/float.md and docs/float_undecided.txt")
    options = parser.parse_args()
    rows = []
    for path in options.model or sorted((ROOT / "models").glob("*.safetensors")):
        rows.append(examine(path, options))
        print("\n".join(lines(rows[-1])), flush=True)
        if options.json:  # after each model, so that nothing measured is lost
            options.json.write_text(json.dumps(rows, indent=1) + "\n")
    if options.write:
        put(rows)
    bad = any(item["ratio"] > 1 or item["certified_but_wrong"] for row in rows for item in row["runs"].values())
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
