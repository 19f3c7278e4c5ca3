"""One cell of a sweep: a certificate, and a row on disk that says what it proves. Runs in workers."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..core.checkpoint import load
from ..core.claim import parse, task_of
from ..core.errors import CompactProofsError
from ..core.files import write_atomically
from ..core.model import Model
from ..core.question import problem_of
from ..core.strategies import prove, strategy
from .all_strategies import file_name
from .auditing.costs import paper_cost
from .certificate import VERSION, enforce, publish

COLUMNS: Final = (
    "model", "model_sha256", "strategy", "claim", "lower", "upper", "total", "share", "operations", "steps", "bytes",
    "flops", "dimensions", "seconds", "certificate", "certificate_sha256", "error",
)  # fmt: skip
"""lower, upper, total and flops are text, for they may be of any size; share is lower/total as a double."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What a worker needs; models are read there, so that only names travel, with the folder that they start from."""

    model: str
    digest: str
    strategy: str
    claim: str
    certificate: str
    row: str
    base: str

    def at(self, path: str) -> Path:
        """The file, wherever the worker runs."""
        return Path(self.base, path)


def usable(models: Iterable[Model], strategies: Sequence[str], claims: Sequence[str]) -> None:
    """Before any work is done. Errors: those of names of strategies, and of claims that do not fit a model."""
    for name in strategies:
        strategy(name)
    parsed = [parse(text) for text in claims]
    for model in models:
        for claim in parsed:
            task_of(claim, model)


def pieces_of(models: Sequence[str], strategies: Sequence[str], claims: Sequence[str], folder: Path) -> list[Piece]:
    """All cells. Errors: those of reading models and of `usable`."""
    usable([], strategies, claims)
    pieces: list[Piece] = []
    for path in models:
        model = load(path)
        for text in claims:
            task_of(parse(text), model)
            for name in strategies:
                key = _key(model.sha256, name, text)
                stem = f"{Path(path).stem}-{file_name(name).removesuffix('.json')}-{key}"
                certificate, row = folder / "certificates" / f"{stem}.json", folder / "rows" / f"{stem}.json"
                pieces.append(Piece(path, model.sha256, name, text, str(certificate), str(row), str(Path.cwd())))
    return pieces


def _key(digest: str, name: str, claim: str) -> str:
    """Tells cells apart; part of it is the version of the format, so that old certificates are made again."""
    return hashlib.sha256(json.dumps([VERSION, digest, name, claim]).encode()).hexdigest()[:8]


def finished(piece: Piece) -> dict[str, Any] | None:
    """The row of an earlier run, if its certificate is still the one that was verified then. Errors are tried again."""
    try:
        row = dict(json.loads(piece.at(piece.row).read_text(encoding="utf-8")))
        data = piece.at(piece.certificate).read_bytes()
    except (OSError, ValueError):
        return None
    same = row.get("certificate_sha256") == hashlib.sha256(data).hexdigest()
    known = set(row) == set(COLUMNS) and row["model_sha256"] == piece.digest and not row["error"]
    # the same bytes under another name are the same model
    return {**row, "model": piece.model} if same and known else None


def empty_row(model: str, digest: str, strategy: str, claim: str, error: str = "") -> dict[str, Any]:
    """A row that says only what it is about, or why there is no more to say."""
    known = {"model": model, "model_sha256": digest, "strategy": strategy, "claim": claim, "error": error}
    return {**dict.fromkeys(COLUMNS), **known}


def work(piece: Piece) -> dict[str, Any]:
    """Prove, check, write the certificate and then the row. A failure is a row, too."""
    start = time.perf_counter()
    row = empty_row(piece.model, piece.digest, piece.strategy, piece.claim)
    try:
        row.update(_certify(piece))
    except CompactProofsError as error:
        row["error"] = str(error)
    row["seconds"] = round(time.perf_counter() - start, 3)
    piece.at(piece.row).parent.mkdir(parents=True, exist_ok=True)
    write_atomically(piece.at(piece.row), json.dumps(row, sort_keys=True).encode(), overwrite=True)
    return row


def _certify(piece: Piece) -> dict[str, Any]:
    """The columns of a verified certificate. Errors: those of the strategy, CHECK_FAILED, MODEL_CHANGED."""
    model = load(piece.at(piece.model))
    if model.sha256 != piece.digest:
        raise CompactProofsError("MODEL_CHANGED", "the file changed after the sweep began", piece.model)
    claim = parse(piece.claim)
    problem = problem_of(claim, model)
    proof = prove(piece.strategy, problem)
    enforce(claim.bound, problem, proof)
    piece.at(piece.certificate).parent.mkdir(parents=True, exist_ok=True)
    size, checked = publish(problem, proof, piece.at(piece.certificate), overwrite=True)
    paper = paper_cost(problem, [str(proof.steps[-2]["rule"])], proof.steps)
    return {
        "lower": str(proof.lower),
        "upper": str(proof.upper),
        "total": str(problem.task.total),
        "share": proof.lower / problem.task.total,
        "operations": None if checked is None else int(checked["operations"]),
        "steps": len(proof.steps),
        "bytes": size,
        "flops": None if paper is None else str(paper.flops),
        "dimensions": None if paper is None else str(paper.dimensions),
        "certificate": piece.certificate,
        "certificate_sha256": hashlib.sha256(piece.at(piece.certificate).read_bytes()).hexdigest(),
    }
