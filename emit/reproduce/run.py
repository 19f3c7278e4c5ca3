"""Runs a plan: models and measurements in parallel, with progress, resumable at any moment."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...core.errors import CompactProofsError
from ...core.extras import installing
from .measure import Work, measure_all, model_of, results_folder, work_of
from .store import Store
from .studies import Plan, Study

Progress = Callable[[int, int], None]
Task = tuple[Study, int, Work]


def tasks(plan: Plan) -> list[Task]:
    """All pieces of work; the first pieces of all models come first, so that an interrupted run has a broad result."""
    lists = [
        [(study, seed, work) for work in work_of(study, plan, seed)]
        for study in plan.studies
        for seed in plan.seeds_of(study)
    ]
    rounds = max((len(items) for items in lists), default=0)
    return [items[i] for i in range(rounds) for items in lists if i < len(items)]


def train_missing(plan: Plan, progress: Progress) -> None:
    """Train the models that are not in the cache."""
    wanted = [(study, seed) for study in plan.studies for seed in plan.seeds_of(study)]
    missing = [(s, seed) for s, seed in wanted if not s.model_path(plan.cache, seed).exists()]
    _parallel(plan, [(model_of_quietly, (study, plan, seed)) for study, seed in missing], progress)


def model_of_quietly(study: Study, plan: Plan, seed: int) -> None:
    """Train without handing the model to the parent process."""
    model_of(study, plan.cache, seed)


def run(plan: Plan, progress: Progress) -> None:
    """Measure what is not stored. Errors: those of the measurements."""
    pending = [task for task in tasks(plan) if not _stored(plan, task)]
    _parallel(plan, [(measure_all, (study, plan, seed, work)) for study, seed, work in pending], progress)


def _stored(plan: Plan, task: Task) -> bool:
    """Are all results there, of the model that is in the cache?"""
    study, seed, work = task
    problem_digest = digest(plan, study, seed)
    if problem_digest is None:
        return False
    store = Store(results_folder(study, plan.cache, seed), problem_digest)
    return all(store.read(name) is not None for name in work)


def digest(plan: Plan, study: Study, seed: int) -> str | None:
    """Digest of the model in the cache; None if there is none."""
    if not study.model_path(plan.cache, seed).exists():
        return None
    return model_of(study, plan.cache, seed).model.sha256


Job = tuple[Callable[..., None], tuple[Any, ...]]


def _parallel(plan: Plan, jobs: list[Job], progress: Progress) -> None:
    """Run jobs one after the other, or in processes. Errors: REPRODUCE_JOBLIB."""
    progress(0, len(jobs))
    for done, _ in enumerate(_results(plan.jobs, jobs), start=1):
        progress(done, len(jobs))


def _results(processes: int, jobs: list[Job]) -> Iterator[None]:
    if processes == 1 or len(jobs) < 2:
        yield from (function(*arguments) for function, arguments in jobs)
        return
    try:
        joblib = importlib.import_module("joblib")
    except ImportError:
        text = f"several processes need joblib; run: {installing('report')}, or use --jobs 1"
        raise CompactProofsError("REPRODUCE_JOBLIB", text) from None
    calls: Iterable[Any] = (joblib.delayed(function)(*arguments) for function, arguments in jobs)
    yield from joblib.Parallel(n_jobs=processes, return_as="generator_unordered")(calls)
