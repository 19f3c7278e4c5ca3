"""Observed float32 errors against the certified bound: all inputs of short models, samples of longer ones.

    python benchmarks/float_reality.py [--model FILE ...] [--samples N] [--exhaustive N] [--seed N] [--only TEXT]

Each model runs in numpy and, where it is installed, in torch, with several batch sizes, numbers of threads, orders of
summation (a permutation of the inner index changes the order of every product) and ways to write the same products.
The reference is float64 by circuits, whose own errors are 2^-29 of those looked for. Reported: the largest
|float32 - real| and its ratio to the bound of its query, certified inputs that a run got wrong (there must be none),
and the inputs that float32 leaves undecided, with those whose verdict depends on the run.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from compactproofs.core.checkpoint import load
from compactproofs.core.float_semantics import float_error, gap
from compactproofs.core.model import Model
from compactproofs.core.problem import Problem
from compactproofs.core.semantics import Semantics
from compactproofs.core.task import task_for

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]

ROOT = Path(__file__).resolve().parent.parent
BLOCK = 1 << 16
SHOWN = 5
PARTS = ("scores", "softmax", "values", "unembedding")
Array = np.ndarray
Run = Callable[[Array], Array]


def tensors(model: Model) -> dict[str, Array]:
    """Weights as float32 matrices, by their short names; absent biases are zero."""
    names = ("W_E", "W_pos", "W_Q", "W_K", "W_V", "W_O", "W_U", "b_Q", "b_K", "b_V", "b_O", "b_U")
    sizes = {"b_Q": model.d_head, "b_K": model.d_head, "b_V": model.d_head, "b_O": model.d_model}
    sizes["b_U"] = model.d_vocab_out
    found = {t.name.split(".")[-1]: t for t in model.tensors}
    result = {}
    for name in names:
        if name in found:
            flat = np.frombuffer(found[name].data, "<f4")
            result[name] = flat.reshape(-1, found[name].shape[-1])[0 if name.startswith("b_") else slice(None)]
        else:
            result[name] = np.zeros(sizes[name], np.float32)
    return result


def reference(problem: Problem) -> Run:
    """The logits in float64, from exactly multiplied circuits."""
    c = problem.circuits
    root = math.sqrt(c.d_head)
    eu, evou, pvou, eqke, eqkp = (part.floats() for part in (c.eu, c.evou, c.pvou, c.eqke, c.eqkp))

    def run(tokens: Array) -> Array:
        query = tokens[:, -1]
        scores = (eqke[query[:, None], tokens] + eqkp[query]) / root
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        logits = eu[query] + weights @ pvou
        for i in range(tokens.shape[1]):
            logits += weights[:, i : i + 1] * evou[tokens[:, i]]
        return logits

    return run


def numpy_run(given: dict[str, Array], seed: int | None, batch: int, written: str) -> Run:
    """numpy's float32; `seed` permutes the inner indices."""
    w = permuted(given, seed)
    root = np.float32(np.sqrt(np.float32(w["W_Q"].shape[1])))

    def one(tokens: Array) -> Array:
        x = w["W_E"][tokens] + w["W_pos"]
        flat = x.reshape(-1, x.shape[-1])  # one large product instead of many small ones
        q = x[:, -1] @ w["W_Q"] + w["b_Q"]
        k, v = ((flat @ w[f"W_{n}"] + w[f"b_{n}"]).reshape(*tokens.shape, -1) for n in "KV")
        scores = np.einsum("bd,bid->bi", q, k) if written == "einsum" else (q[:, None] * k).sum(axis=2)
        scores = scores * (np.float32(1) / root) if written == "reciprocal" else scores / root
        a = np.exp(scores - scores.max(axis=1, keepdims=True))
        a = a / a.sum(axis=1, keepdims=True)
        z = np.einsum("bi,bid->bd", a, v) if written == "einsum" else (a[:, :, None] * v).sum(axis=1)
        return (x[:, -1] + (z @ w["W_O"] + w["b_O"])) @ w["W_U"] + w["b_U"]

    return batched(one, batch)


def torch_run(given: dict[str, Array], seed: int | None, batch: int, written: str, threads: int) -> Run:
    """torch's float32 on the processor, all positions at once, as TransformerLens does."""
    w = {name: torch.from_numpy(value.copy()) for name, value in permuted(given, seed).items()}
    root = w["W_Q"].shape[1] ** 0.5
    width = w["W_pos"].shape[0]
    mask = torch.tril(torch.ones(width, width, dtype=torch.bool))

    def one(tokens: Array) -> Array:
        torch.set_num_threads(threads)
        with torch.inference_mode():
            x = w["W_E"][torch.from_numpy(tokens)] + w["W_pos"]
            if written == "einsum":
                q, k, v = (torch.einsum("bpd,dh->bph", x, w[f"W_{n}"]) + w[f"b_{n}"] for n in "QKV")
                scores = torch.einsum("bqh,bkh->bqk", q, k) / root
            else:
                q, k, v = (torch.nn.functional.linear(x, w[f"W_{n}"].T, w[f"b_{n}"]) for n in "QKV")
                scores = q @ k.transpose(1, 2) / root
            a = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
            z = torch.einsum("bqk,bkh->bqh", a, v) if written == "einsum" else a @ v
            x = x + (z @ w["W_O"] + w["b_O"])
            return (x[:, -1] @ w["W_U"] + w["b_U"]).numpy()

    return batched(one, batch)


def permuted(given: dict[str, Array], seed: int | None) -> dict[str, Array]:
    """The same function with the coordinates of the stream and of the head in another order."""
    if seed is None:
        return given
    rng = np.random.default_rng(seed)
    d, h = rng.permutation(given["W_E"].shape[1]), rng.permutation(given["W_Q"].shape[1])
    result = {name: given[name][:, d] for name in ("W_E", "W_pos")}
    for name in "QKV":
        result[f"W_{name}"], result[f"b_{name}"] = given[f"W_{name}"][d][:, h], given[f"b_{name}"][h]
    result["W_O"], result["b_O"] = given["W_O"][h][:, d], given["b_O"][d]
    result["W_U"], result["b_U"] = given["W_U"][d], given["b_U"]
    return {name: np.ascontiguousarray(value) for name, value in result.items()}


def batched(one: Run, batch: int) -> Run:
    return lambda tokens: np.concatenate([one(tokens[i : i + batch]) for i in range(0, len(tokens), batch)])


def runs(given: dict[str, Array]) -> dict[str, tuple[Run, int]]:
    """Name -> run and the share of the inputs that it sees (1 of so many): small batches are slow."""
    found = {
        "numpy": (numpy_run(given, None, BLOCK, "matmul"), 1),
        "numpy einsum, permuted 1": (numpy_run(given, 1, 4096, "einsum"), 4),
        "numpy reciprocal, permuted 2, batch 7": (numpy_run(given, 2, 7, "reciprocal"), 64),
    }
    if torch is not None:
        found |= {
            "torch einsum, 2 threads": (torch_run(given, None, BLOCK, "einsum", 2), 1),
            "torch linear, permuted 3, 1 thread, batch 1000": (torch_run(given, 3, 1000, "linear", 1), 4),
            "torch linear, permuted 4, 2 threads, batch 1": (torch_run(given, 4, 1, "linear", 2), 4096),
        }
    return found


def margins(logits: Array, label: Array) -> Array:
    """Right logit minus the largest other."""
    rows = np.arange(len(logits))
    own, others = logits[rows, label].copy(), logits.copy()
    others[rows, label] = -np.inf
    return own - others.max(axis=1)


@dataclass
class Tally:
    """What the runs of one model showed."""

    inputs: int = 0
    worst: dict[str, float] = field(default_factory=dict)
    ratio: dict[str, float] = field(default_factory=dict)
    refuted: dict[str, int] = field(default_factory=dict)
    undecided: list[dict[str, Any]] = field(default_factory=list)


def blocks(length: int, tokens: int, exhaustive: bool, samples: int, seed: int) -> Iterator[Array]:
    """All inputs, or a uniform sample, in blocks."""
    total = tokens**length if exhaustive else samples
    rng = np.random.default_rng(seed)
    for start in range(0, total, BLOCK):
        count = min(BLOCK, total - start)
        if exhaustive:
            numbers = np.arange(start, start + count)
            yield np.stack([numbers // tokens**i % tokens for i in reversed(range(length))], axis=1)
        else:
            yield rng.integers(0, tokens, (count, length))


def examine(path: Path, options: argparse.Namespace) -> dict[str, Any]:
    """One model."""
    model = load(str(path))
    task = task_for(model)
    problem = Problem(model, task)
    bound = float_error(model, task, Semantics("binary32"))
    allowed = np.array([float(bound.number(n)) for n in bound.bound])
    far, real, tally = float(gap(bound)), reference(problem), Tally()
    exhaustive = task.total <= options.exhaustive
    chosen = {name: run for name, run in runs(tensors(model)).items() if options.only in name}
    for number, tokens in enumerate(blocks(task.length, task.tokens, exhaustive, options.samples, options.seed)):
        true = real(tokens)
        label = tokens.max(axis=1)
        margin = margins(true, label)
        open_ = np.flatnonzero((margin <= far) & (margin > -far))
        notes = [{"tokens": tokens[i].tolist(), "real": float(margin[i]), "float32": {}} for i in open_]
        for name, (run, share) in chosen.items():
            seen = np.union1d(np.arange(number % share, len(tokens), share), open_)
            logits = run(tokens[seen])
            off = np.abs(logits - true[seen]).max(axis=1)
            computed = margins(logits, label[seen])
            wrong = ((margin[seen] > far) & ~(computed > 0)) | ((margin[seen] <= -far) & (computed > 0))
            tally.worst[name] = max(tally.worst.get(name, 0.0), float(off.max()))
            tally.ratio[name] = max(tally.ratio.get(name, 0.0), float((off / allowed[tokens[seen, -1]]).max()))
            tally.refuted[name] = tally.refuted.get(name, 0) + int(wrong.sum())
            for note, i in zip(notes, np.searchsorted(seen, open_), strict=True):
                note["float32"][name] = float(computed[i])
        tally.undecided += notes
        tally.inputs += len(tokens)
        if number % 16 == 15:
            refuted = sum(tally.refuted.values())
            print(f"{path.stem}: {tally.inputs} inputs, {refuted} refuted", file=sys.stderr, flush=True)
    split = [note for note in tally.undecided if len({value > 0 for value in note["float32"].values()}) > 1]
    flipped = [note for note in tally.undecided if {x > 0 for x in note["float32"].values()} != {note["real"] > 0}]
    near = sorted(tally.undecided, key=lambda note: abs(note["real"]))[:SHOWN]
    return {
        "model": path.stem,
        "inputs": tally.inputs,
        "exhaustive": exhaustive,
        "two_eps": far,
        "parts": {name: float(bound.number(getattr(bound, name))) for name in PARTS},
        "worst": tally.worst,
        "ratio": tally.ratio,
        "certified_but_wrong": tally.refuted,
        "undecided": len(tally.undecided),
        "differ_between_runs": split[:SHOWN],
        "differing": len(split),
        "differing_from_real": len(flipped),
        "nearest": near,
    }


def lines(row: dict[str, Any]) -> list[str]:
    """A row as text."""
    parts = ", ".join(f"{name} {value:.2e}" for name, value in row["parts"].items())
    kind = "all" if row["exhaustive"] else "sampled"
    text = [f"{row['model']}: {row['inputs']} inputs ({kind}), 2 eps = {row['two_eps']:.5f} ({parts})"]
    for name, worst in row["worst"].items():
        refuted = row["certified_but_wrong"][name]
        off = f"|float - real| <= {worst:.2e}, {row['ratio'][name]:.3%} of eps"
        text.append(f"  {name:48} {off}; certified but wrong: {refuted}")
    text.append(
        f"  undecided: {row['undecided']}; verdict differs between runs: {row['differing']}, "
        f"from the real one: {row['differing_from_real']}"
    )
    for note in row["differ_between_runs"] or row["nearest"]:
        values = ", ".join(f"{value:+.2e}" for value in note["float32"].values())
        text.append(f"    {note['tokens']}: real margin {note['real']:+.3e}, float32 {values}")
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
    options = parser.parse_args()
    rows = []
    for path in options.model or sorted((ROOT / "models").glob("*.safetensors")):
        start = time.perf_counter()
        rows.append(examine(path, options))
        rows[-1]["seconds"] = round(time.perf_counter() - start, 1)
        print("\n".join(lines(rows[-1])), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    bad = any(max(row["ratio"].values()) > 1 or any(row["certified_but_wrong"].values()) for row in rows)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
