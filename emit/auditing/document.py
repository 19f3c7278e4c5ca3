"""A certificate as the auditor reads it, after the checker has verified the same bytes."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.errors import CompactProofsError
from ...core.model import Model, Tensor, build
from ...core.problem import Problem
from ...core.proof import Step
from ...core.task import Task
from .verdict import Verdict, judge


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A verified certificate."""

    path: str
    size: int
    verdict: Verdict
    problem: Problem
    steps: tuple[Step, ...]
    claim: dict[str, Any]

    @property
    def lower(self) -> int:
        """Mass proved right, by the checker's word."""
        return int(self.verdict.report["lower"])

    @property
    def upper(self) -> int:
        """Total less what is proved wrong."""
        return int(self.verdict.report["upper"])

    @property
    def total(self) -> int:
        """Mass of all inputs."""
        return int(self.verdict.report["total"])


def read(path: str) -> tuple[Verdict, Document | None]:
    """The checker's verdict and, if it is VERIFIED, the document. Errors: CERT_UNREADABLE, CERT_CHANGED."""
    before = _bytes(path)
    verdict = judge(path)
    if not verdict.verified:
        return verdict, None
    if hashlib.sha256(_bytes(path)).digest() != hashlib.sha256(before).digest():
        raise CompactProofsError("CERT_CHANGED", "the file changed while it was checked; try again", path)
    value = json.loads(before)
    model = _model(value["model"], path)
    problem = Problem(model, _task(value["claim"], model), _threshold(value["claim"]["quantity"]))
    return verdict, Document(path, len(before), verdict, problem, tuple(value["proof"]), value["claim"])


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        # the checker reads the same path next and says what is wrong with it
        return str(error).encode()


def _model(value: dict[str, Any], source: str) -> Model:
    tensors = [Tensor(t["name"], t["dtype"], tuple(t["shape"]), base64.b64decode(t["data"])) for t in value["tensors"]]
    return build(source, tensors, {})


def _task(claim: dict[str, Any], model: Model) -> Task:
    task, masses = claim["task"], None
    if claim["distribution"] != "uniform":
        rows = [tuple(int(text, 16) for text in row) for row in claim["distribution"]]
        masses = tuple(row[::-1] if task["kind"] == "min" else row for row in rows)
    return Task(task["kind"], task["length"], task["tokens"], task["eos"], masses)


def _threshold(quantity: dict[str, Any]) -> tuple[int, int]:
    return int(quantity["margin_above"], 16), int(quantity["exponent"])
