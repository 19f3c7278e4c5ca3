"""Measurements of one model by name: accuracy, statistics, ablations, samples, and the rows of bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from ...core.ablation import MINOR, ablate, subsets
from ...core.checkpoint import load
from ...core.errors import CompactProofsError
from ...core.interpret import statistics
from ...core.problem import Problem
from ...core.residuals import residual_statistics, residuals
from ...core.sampling import importance_sample, monte_carlo
from ...core.seeds import derive
from ...core.task import task_for
from ...core.train import difference, train_model, write_model
from .bounds import CUBIC, OURS, SOUND, evaluate, row_name
from .store import Store
from .studies import MAIN_SEED, Plan, Study

ENUMERABLE: Final = 1 << 25
"""Sequences up to which all 32 ablations are counted, for the main seed."""
CHUNK: Final = 10
"""Sub-cubic strategies in one piece of work."""

Work = tuple[str, ...]
"""Names of measurements that one worker does in one go."""


def model_of(study: Study, cache: Path, seed: int) -> Problem:
    """The trained model of a seed; trains it if it is missing. Errors: those of training, REPRODUCE_MODEL."""
    path, config = study.model_path(cache, seed), study.config(seed)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_model(train_model(config), path)
    reason = difference(path, config)
    if reason is not None:
        text = f"holds another model: {reason}; move it away, or choose another --cache"
        raise CompactProofsError("REPRODUCE_MODEL", text, str(path))
    model = load(path)
    return Problem(model, task_for(model))


def store_of(study: Study, cache: Path, seed: int, problem: Problem) -> Store:
    """Where the results of a model are."""
    return Store(results_folder(study, cache, seed), problem.model.sha256)


def results_folder(study: Study, cache: Path, seed: int) -> Path:
    return cache / "results" / study.name / f"seed{seed}"


def work_of(study: Study, plan: Plan, seed: int) -> Iterator[Work]:
    """Everything to be measured of one model, in pieces; the same whether results exist or not."""
    names = ["statistics", "residuals", row_name(CUBIC, SOUND)]
    proves = plan.proves_accuracy(study, seed)
    if proves:
        names.append(row_name(OURS, SOUND))
    if not proves or seed == MAIN_SEED:
        names.append("monte-carlo")
    if study.vocabulary**study.length <= ENUMERABLE:
        names.append("ablations-all" if seed == MAIN_SEED else "ablations")
    elif seed == MAIN_SEED and study.per_stratum:
        names.append("importance")
    yield tuple(names)
    chosen = list(plan.strategies)
    for start in range(0, len(chosen), CHUNK):
        piece = chosen[start : start + CHUNK]
        yield tuple(row_name(str(number), e) for number in piece for e in plan.editions(study, seed, number))


def measure_all(study: Study, plan: Plan, seed: int, work: Work) -> None:
    """Do what is not yet stored of one piece of work."""
    problem = model_of(study, plan.cache, seed)
    store = store_of(study, plan.cache, seed, problem)
    for name in work:
        if store.read(name) is None:
            store.write(name, measure(problem, study, plan, seed, name))


def measure(problem: Problem, study: Study, plan: Plan, seed: int, name: str) -> dict[str, Any]:
    """One measurement as JSON. Errors: REPRODUCE_NAME, and those of the measurement."""
    if name == "statistics":
        return asdict(statistics(problem))
    if name == "residuals":
        return asdict(residual_statistics(residuals(problem)))
    if name == "monte-carlo":
        return asdict(monte_carlo(problem, plan.samples, derive(seed).test))
    if name == "importance":
        return _importance(problem, study, seed)
    if name in ("ablations", "ablations-all"):
        chosen = subsets() if name == "ablations-all" else subsets(MINOR)
        return {"+".join(removed): asdict(ablate(problem, removed)) for removed in chosen}
    strategy, found, edition = name.partition("--")
    if not found:
        raise CompactProofsError("REPRODUCE_NAME", f"there is no measurement {name!r}")
    check = not strategy.isdecimal() or plan.checks(study, seed, int(strategy))
    return asdict(evaluate(problem, strategy, edition, check))


def _importance(problem: Problem, study: Study, seed: int) -> dict[str, Any]:
    """The paper's sampler as published and with either fault repaired."""
    start = derive(seed).importance
    return {
        f"{'eqkp-lost' if lost else 'eqkp-kept'}, {'uneven' if uneven else 'even'}": asdict(
            importance_sample(problem, study.per_stratum, start, lost, uneven)
        )
        for lost in (True, False)
        for uneven in (True, False)
    }
