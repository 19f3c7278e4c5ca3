"""From a proof to certificate bytes, and the checker's word on them (docs/FORMAT.md, "Document")."""

from __future__ import annotations

import base64
import json
import subprocess
from fractions import Fraction
from typing import Any

from ..core.decimals import ends, percent
from ..core.errors import CompactProofsError
from ..core.files import FilePath, write_atomically
from ..core.model import Model
from ..core.problem import Problem
from ..core.proof import Json, Proof, hexadecimal
from ..core.question import LOSS_BITS, Question
from ..core.task import Task
from .check_cmd import CHECKER
from .console import nats

FORMAT = "compactproofs certificate"
VERSION = 1


def document(asked: Problem | Question, proof: Proof) -> dict[str, Json]:
    """The certificate as a JSON document."""
    question = asked if isinstance(asked, Question) else Question(((1, asked),))
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": _model(question.model),
        "claim": _claim(question, proof),
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


def _claim(question: Question, proof: Proof) -> Json:
    task, (n, exponent) = question.task, question.threshold
    margin: Json = {"margin_above": hexadecimal(n), "exponent": exponent}
    return {
        "architecture": "one-layer attention-only",
        "distribution": _distribution(question),
        "semantics": _semantics(question),
        "task": {"kind": task.kind, "length": task.length, "tokens": task.tokens, "eos": task.eos},
        "quantity": {"log_loss": -LOSS_BITS} if question.log_loss else margin,
        "bounds": {
            "lower": hexadecimal(proof.lower),
            "upper": hexadecimal(proof.upper),
            "total": hexadecimal(question.total),
        },
    }


def _semantics(question: Question) -> Json:
    chosen = question.semantics
    if chosen is None:
        return "real"
    return {"format": chosen.format, "exp_ulp": chosen.exp_ulp, "underflow": chosen.underflow}


def _distribution(question: Question) -> Json:
    """A mixture of parts, or one product of positions."""
    if len(question.parts) == 1 and question.task.maxima is None:
        return _positions(question.task)
    parts: list[Json] = []
    for share, problem in question.parts:
        maxima, last = problem.task.maxima, problem.task.tokens - 1
        answers = maxima if maxima is None or problem.task.kind == "max" else [last - m for m in reversed(maxima)]
        listed = None if answers is None else [*answers]
        parts.append({"share": hexadecimal(share), "answers": listed, "positions": _positions(problem.task)})
    return {"parts": parts}


def _positions(task: Task) -> Json:
    """Weights are written in the order of the tokens, which `min` reverses."""
    if task.masses is None:
        return "uniform"
    rows = task.masses if task.kind == "max" else [row[::-1] for row in task.masses]
    return [[hexadecimal(weight) for weight in row] for row in rows]


def run_checker(path: str) -> dict[str, Any]:
    """The checker's report on a file, from a process of its own.

    Errors: CHECK_FAILED with the checker's verdict and message.
    """
    command = [*CHECKER, path, "--json"]
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


def enforce(bound: Fraction | None, asked: Problem | Question, proof: Proof) -> None:
    """A bound that the claim states is insisted on. Errors: CLAIM_NOT_REACHED."""
    question = asked if isinstance(asked, Question) else Question(((1, asked),))
    if bound is None:
        return
    total = question.total
    if question.log_loss:
        missed, hopeless = proof.upper > bound * total, proof.lower > bound * total
        wanted, reached = f"at most {float(bound):.6g} nats", f"{nats(proof.upper, up=True)} nats"
        known = f"the mean log-loss is at least {nats(proof.lower)} nats"
    else:
        missed, hopeless = proof.lower < bound * total, proof.upper < bound * total
        wanted, reached = f"at least {float(100 * bound):.12g} %", percent(proof.lower, total)
        known = f"at most {ends(proof.lower, proof.upper, total)[1]} are right"
    if missed:
        text = f"the claim asks for {wanted}, this proof by {proof.strategy} reaches {reached}; nothing was written."
        advice = f"No proof can do it: {known}; ask" if hopeless else "Try another --strategy, ask"
        raise CompactProofsError("CLAIM_NOT_REACHED", f"{text} {advice} for less, or leave out the bound")


def publish(
    problem: Problem | Question, proof: Proof, path: FilePath, overwrite: bool = False, check: bool = True
) -> tuple[int, dict[str, Any] | None]:
    """Write the certificate unless the checker refuses it; its size in bytes and the checker's report."""
    data = encode(document(problem, proof))
    reports: list[dict[str, Any]] = []
    accept = (lambda temporary: reports.append(run_checker(temporary))) if check else None
    write_atomically(path, data, overwrite, [problem.model.source], accept)
    return len(data), reports[0] if reports else None
