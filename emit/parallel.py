"""Independent pieces of work in local processes (joblib) or on a Dask cluster; a killed worker costs its piece."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from ..core.errors import CompactProofsError
from .extras import require

P = TypeVar("P")
R = TypeVar("R")
ATTEMPTS = 4
"""Pools that may break, each by a killed worker, before the run is given up."""
PATIENCE = 10
"""Seconds to wait for a scheduler."""


def can_run(jobs: int, scheduler: str | None = None) -> None:
    """Errors: PARALLEL_MISSING."""
    if scheduler is not None:
        require("PARALLEL_MISSING", "distributed", "dask", ", or use --jobs")
    elif jobs > 1:
        require("PARALLEL_MISSING", "joblib", "report", ", or use --jobs 1")


def run_pieces(
    work: Callable[[P], R], pieces: Sequence[P], jobs: int, scheduler: str | None = None
) -> Iterator[tuple[int, R]]:
    """(index, result) in the order in which pieces end. Errors: PARALLEL_MISSING, WORKERS_LOST, SCHEDULER."""
    can_run(jobs, scheduler)
    if scheduler is not None:
        yield from _dask(work, pieces, scheduler)
    elif jobs == 1:
        yield from ((i, work(piece)) for i, piece in enumerate(pieces))
    else:
        yield from _joblib(work, pieces, jobs)


def _numbered(work: Callable[[P], R], index: int, piece: P) -> tuple[int, R]:
    return index, work(piece)


def _joblib(work: Callable[[P], R], pieces: Sequence[P], jobs: int) -> Iterator[tuple[int, R]]:
    """Local processes; what a broken pool left undone goes to a new one."""
    import joblib
    from joblib.externals.loky.process_executor import BrokenProcessPool

    left = dict(enumerate(pieces))
    with _quiet():
        yield from _pools(work, left, jobs, joblib, BrokenProcessPool)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the traceback that a thread of loky prints when Ctrl-C empties its list of work under it."""
    before = threading.excepthook

    def hook(args: threading.ExceptHookArgs) -> None:
        if args.exc_type is not KeyError:
            before(args)

    threading.excepthook = hook
    try:
        yield
    finally:
        threading.excepthook = before


def _pools(
    work: Callable[[P], R], left: dict[int, P], jobs: int, joblib: Any, broken: type[Exception]
) -> Iterator[tuple[int, R]]:
    for _ in range(ATTEMPTS):
        calls = [joblib.delayed(_numbered)(work, i, piece) for i, piece in left.items()]
        pool = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="all")
        try:
            for index, result in pool(calls):
                del left[index]
                yield index, result
            return
        except broken:
            continue
    text = f"workers died {ATTEMPTS} times (out of memory?); use fewer --jobs, and run again to resume"
    raise CompactProofsError("WORKERS_LOST", text)


def _dask(work: Callable[[P], R], pieces: Sequence[P], scheduler: str) -> Iterator[tuple[int, R]]:
    """An existing cluster; Dask itself gives the pieces of a lost worker to others."""
    distributed: Any = importlib.import_module("distributed")
    try:
        client = distributed.Client(scheduler, timeout=PATIENCE)
    except (OSError, ValueError) as error:
        raise CompactProofsError("SCHEDULER", f"cannot reach {scheduler}: {error}", place="scheduler") from None
    with client:
        futures = {client.submit(work, piece, pure=False, retries=ATTEMPTS): i for i, piece in enumerate(pieces)}
        for future in distributed.as_completed(futures):
            try:
                yield futures[future], future.result()
            except distributed.scheduler.KilledWorker as error:
                text = f"{error}; the workers that tried a piece died"
                raise CompactProofsError("WORKERS_LOST", text) from None
