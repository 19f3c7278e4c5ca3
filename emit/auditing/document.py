"""A certificate as the auditor reads it, after the checker has verified the same bytes."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.audit.words import Words, words_of
from ...core.decimals import ends
from ...core.errors import CompactProofsError
from ...core.model import Model, Tensor, build
from ...core.problem import Problem
from ...core.proof import Step
from ...core.question import Question
from ...core.task import Task
from ..console import nats
from .verdict import Verdict, judge


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A verified certificate."""

    path: str
    size: int
    verdict: Verdict
    question: Question
    steps: tuple[Step, ...]
    claim: dict[str, Any]

    @property
    def problem(self) -> Problem:
        """That of the first part of the distribution; parts differ in masses and given answers only."""
        return self.question.parts[0][1]

    @property
    def words(self) -> Words:
        """What its claim calls right and wrong."""
        return words_of(self.problem.threshold)

    @property
    def all_right(self) -> bool:
        """Is every input proved right, so that nothing is lost?"""
        return not self.question.log_loss and self.lower == self.total

    @property
    def ends(self) -> tuple[str, str]:
        """Both bounds in words, rounded outwards."""
        if self.question.log_loss:
            return f"{nats(self.lower)} nats", f"{nats(self.upper, up=True)} nats"
        return ends(self.lower, self.upper, self.total)

    @property
    def lower(self) -> int:
        """Mass proved right (a mean loss: at least so many units), by the checker's word."""
        return int(self.verdict.report["lower"])

    @property
    def upper(self) -> int:
        """Total less what is proved wrong (at most so many units)."""
        return int(self.verdict.report["upper"])

    @property
    def total(self) -> int:
        """Mass of all inputs (units in a nat)."""
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
    question = _question(value["claim"], model)
    return verdict, Document(path, len(before), verdict, question, tuple(value["proof"]), value["claim"])


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        # the checker reads the same path next and says what is wrong with it
        return str(error).encode()


def _model(value: dict[str, Any], source: str) -> Model:
    tensors = [Tensor(t["name"], t["dtype"], tuple(t["shape"]), base64.b64decode(t["data"])) for t in value["tensors"]]
    return build(source, tensors, {})


def _question(claim: dict[str, Any], model: Model) -> Question:
    """The distribution's parts, each with its share."""
    quantity, distribution = claim["quantity"], claim["distribution"]
    log_loss = "log_loss" in quantity
    threshold = (0, 0) if log_loss else (int(quantity["margin_above"], 16), int(quantity["exponent"]))
    if not isinstance(distribution, dict):
        distribution = {"parts": [{"answers": None, "positions": distribution, "share": "1"}]}
    parts = [
        (int(part["share"], 16), Problem(model, _task(claim["task"], part), threshold))
        for part in distribution["parts"]
    ]
    return Question(tuple(parts), log_loss)


def _task(task: dict[str, Any], part: dict[str, Any]) -> Task:
    """Tokens are renumbered in reverse for the smallest."""
    masses, maxima, last = None, part["answers"], task["tokens"] - 1
    if part["positions"] != "uniform":
        rows = [tuple(int(text, 16) for text in row) for row in part["positions"]]
        masses = tuple(row[::-1] if task["kind"] == "min" else row for row in rows)
    if maxima is not None:
        maxima = tuple(maxima) if task["kind"] == "max" else tuple(last - m for m in reversed(maxima))
    return Task(task["kind"], task["length"], task["tokens"], task["eos"], masses, maxima)
