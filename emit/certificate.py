"""From a proof to certificate bytes, and the checker's word on them (docs/FORMAT.md, "Document")."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from fractions import Fraction
from typing import Any

from ..core.errors import CompactProofsError
from ..core.files import FilePath, write_atomically
from ..core.model import Model
from ..core.problem import Problem
from ..core.proof import Json, Proof, hexadecimal
from .console import percent

FORMAT = "compactproofs certificate"
VERSION = 1


def document(problem: Problem, proof: Proof) -> dict[str, Json]:
    """The certificate as a JSON document."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": _model(problem.model),
        "claim": _claim(problem, proof),
        "proof": list(proof.steps),
        "end": len(proof.steps),
    }


def encode(value: dict[str, Json]) -> bytes:
    """Canonical bytes: sorted keys, no blanks, ASCII, one final newline."""
    return (json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True) + "\n").encode("ascii")


def _model(model: Model) -> Json:
    tensors: list[Json] = [
        {
            "name": tensor.name,
            "dtype": tensor.dtype,
            "shape": list(tensor.shape),
            "data": base64.b64encode(tensor.data).decode("ascii"),
        }
        for tensor in model.tensors
    ]
    return {"tensors": tensors, "sha256": model.sha256}


def _claim(problem: Problem, proof: Proof) -> Json:
    task, (n, exponent) = problem.task, problem.threshold
    return {
        "architecture": "one-layer attention-only",
        "distribution": _distribution(problem),
        "semantics": _semantics(problem),
        "task": {"kind": task.kind, "length": task.length, "tokens": task.tokens, "eos": task.eos},
        "quantity": {"margin_above": hexadecimal(n), "exponent": exponent},
        "bounds": {
            "lower": hexadecimal(proof.lower),
            "upper": hexadecimal(proof.upper),
            "total": hexadecimal(task.total),
        },
    }


def _semantics(problem: Problem) -> Json:
    chosen = problem.semantics
    if chosen is None:
        return "real"
    return {"format": chosen.format, "exp_ulp": chosen.exp_ulp, "underflow": chosen.underflow}


def _distribution(problem: Problem) -> Json:
    """Weights are written in the order of the tokens, which `min` reverses."""
    task = problem.task
    if task.masses is None:
        return "uniform"
    rows = task.masses if task.kind == "max" else [row[::-1] for row in task.masses]
    return [[hexadecimal(weight) for weight in row] for row in rows]


def run_checker(path: str) -> dict[str, Any]:
    """The checker's report on a file, from a process of its own.

    Errors: CHECK_FAILED with the checker's verdict and message.
    """
    command = [sys.executable, "-I", "-m", "compactproofs.checker", path, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        report = {}
    if done.returncode == 0 and report.get("verdict") == "VERIFIED":
        return dict(report)
    message = done.stderr.strip().removeprefix(f"{path}: ")[-400:]
    text = (
        f"the checker says {report.get('verdict', 'nothing')}: {message}; nothing was written. This is a fault of the"
    )
    text += " search: try another --strategy or a higher --precision, and please report it"
    raise CompactProofsError("CHECK_FAILED", text)


def enforce(bound: Fraction | None, problem: Problem, proof: Proof) -> None:
    """A bound that the claim states is insisted on. Errors: CLAIM_NOT_REACHED."""
    total = problem.task.total
    if bound is not None and proof.lower < bound * total:
        wanted = percent(bound.numerator, bound.denominator)
        text = f"the claim asks for {wanted}, this proof reaches {percent(proof.lower, total)}; nothing was written"
        raise CompactProofsError("CLAIM_NOT_REACHED", text)


def publish(
    problem: Problem, proof: Proof, path: FilePath, overwrite: bool = False, check: bool = True
) -> tuple[int, dict[str, Any] | None]:
    """Write the certificate unless the checker refuses it; its size in bytes and the checker's report."""
    data = encode(document(problem, proof))
    reports: list[dict[str, Any]] = []
    accept = (lambda temporary: reports.append(run_checker(temporary))) if check else None
    write_atomically(path, data, overwrite, [problem.model.source], accept)
    return len(data), reports[0] if reports else None
