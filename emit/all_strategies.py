"""Every strategy on one model, in all processors: what each proves, and how long its proof is."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from ..core.decimals import percent
from ..core.errors import CompactProofsError
from ..core.files import check_target, make_folder
from ..core.problem import Problem
from ..core.progress import note
from ..core.strategies import estimate, every, prove, strategy
from .certificate import publish
from .console import progress_bar

BRUTE_FORCE_LIMIT = 1 << 20
"""Inputs that brute force may enumerate here; alone, `--strategy brute-force` has no limit."""


def run_all(
    problem: Problem, edition: str, directory: str | None, force: bool, check: bool, quiet: bool
) -> list[dict[str, Any]]:
    """One row for each strategy, in the paper's order; certificates go to `directory`, without one it is estimates."""
    names = every(edition)
    targets = {name: None if directory is None else str(Path(directory) / file_name(name)) for name in names}
    if directory is not None:
        make_folder(directory, "--strategy all writes many certificates and needs a folder")
        for target in targets.values():
            check_target(str(target), force, [problem.model.source])
    rows: dict[str, dict[str, Any]] = {}
    with progress_bar("all strategies", quiet) as tick, _pool() as pool:
        jobs = {pool.submit(run_one, problem, name, targets[name], force, check): name for name in names}
        for done, job in enumerate(_finished(pool, jobs), 1):
            rows[jobs[job]] = job.result()
            tick(done, len(names))
            note(tick, f"{done} of {len(names)} are done")
    return [rows[name] for name in names]


def _pool() -> ProcessPoolExecutor:
    # a forked copy of a process with threads (progress, BLAS) may hang, so each worker starts afresh
    return ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn"))


def _finished(pool: ProcessPoolExecutor, jobs: dict[Future[dict[str, Any]], str]) -> Iterator[Future[dict[str, Any]]]:
    """Jobs as they end; those not begun are dropped when the caller stops."""
    try:
        yield from as_completed(jobs)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def file_name(name: str) -> str:
    """subcubic:7:tight becomes subcubic-007-tight.json."""
    parts = name.split(":")
    return "-".join(part.zfill(3) if part.isdigit() else part for part in parts) + ".json"


def run_one(problem: Problem, name: str, target: str | None, force: bool, check: bool) -> dict[str, Any]:
    """Prove and check, or estimate, one strategy."""
    row: dict[str, Any] = {"strategy": name, "summary": strategy(name).summary}
    total, start = problem.task.total, time.perf_counter()
    try:
        if name == "brute-force" and total > BRUTE_FORCE_LIMIT:
            raise CompactProofsError("TOO_MANY_INPUTS", f"{total} inputs, here at most {BRUTE_FORCE_LIMIT}")
        if target is None:
            row["estimate"] = [str(estimate(name, problem)[1]), str(total)]
        else:
            proof = prove(name, problem, patient=False)
            row["bytes"], checked = publish(problem, proof, target, overwrite=force, check=check)
            row.update(lower=[str(proof.lower), str(total)], steps=len(proof.steps), output=target)
            row["operations"] = None if checked is None else checked["operations"]
    except CompactProofsError as error:
        row["error"] = str(error)
    row["seconds"] = round(time.perf_counter() - start, 2)
    return row


def table(rows: list[dict[str, Any]]) -> list[str]:
    """The rows as text."""
    lines = [f"{'strategy':24}{'bound':>14}{'operations':>14}{'bytes':>9}{'steps':>7}{'seconds':>9}  options"]
    for row in rows:
        if "error" in row:
            lines.append(f"{row['strategy']:24}{'-':>14}{row['seconds']:>39.2f}  {row['error']}")
            continue
        right, total = map(int, row.get("lower") or row["estimate"])
        cost = [row.get("operations"), row.get("bytes"), row.get("steps")]
        shown = "".join(f"{'-' if n is None else n:>{width}}" for n, width in zip(cost, (14, 9, 7), strict=True))
        lines.append(f"{row['strategy']:24}{percent(right, total):>14}{shown}{row['seconds']:>9.2f}  {row['summary']}")
    if all("estimate" in row or "error" in row for row in rows):
        return [*lines, "estimates in floating point: no proof; add --exact -o DIRECTORY for certificates"]
    verified = sum(row.get("operations") is not None for row in rows)
    return [*lines, f"{verified} certificates, each checked by a process of its own: VERIFIED"]
