"""Stored results as typed data for tables, figures and claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...core.ablation import Ablation
from ...core.errors import CompactProofsError
from ...core.interpret import Statistics
from ...core.problem import Problem
from ...core.residuals import ResidualStatistics
from ...core.sampling import Importance, Interval
from .bounds import CUBIC, OURS, SOUND, BoundRow, row_name
from .measure import model_of, store_of
from .numbers import frontier
from .store import Store
from .studies import Plan, Study


@dataclass(frozen=True, slots=True)
class Accuracy:
    """True accuracy: `exact` if proved (low = high = share up to ties), else sampled with a 95 % interval."""

    share: float
    low: float
    high: float
    exact: bool


@dataclass(frozen=True, slots=True)
class ModelResult:
    """Everything measured of one model. `rows` by (strategy, edition)."""

    seed: int
    accuracy: Accuracy
    sampled: Interval
    statistics: Statistics
    residuals: ResidualStatistics
    rows: dict[tuple[str, str], BoundRow]
    ablations: dict[str, Ablation]
    importance: dict[str, Importance]

    def normalised(self, row: BoundRow) -> float:
        """Bound over true accuracy (paper, Equation 2)."""
        return row.share / self.accuracy.share

    def edition(self, name: str) -> list[BoundRow]:
        """Sub-cubic rows of one edition, by number."""
        found = [row for (strategy, edition), row in self.rows.items() if edition == name and strategy.isdecimal()]
        return sorted(found, key=lambda row: int(row.strategy))


@dataclass(frozen=True, slots=True)
class StudyResult:
    """All models of one configuration."""

    study: Study
    models: tuple[ModelResult, ...]

    @property
    def main(self) -> ModelResult:
        """The first model, which is the main seed's by default."""
        return self.models[0]


def collect(plan: Plan) -> list[StudyResult]:
    """Results of a finished run. Errors: REPRODUCE_MISSING."""
    return [
        StudyResult(study, tuple(_model(study, plan, seed) for seed in plan.seeds_of(study)))
        for study in plan.studies
    ]


def problems(plan: Plan, study: Study) -> dict[int, Problem]:
    """The models themselves, for pictures of their circuits."""
    return {seed: model_of(study, plan.cache, seed) for seed in plan.seeds_of(study)}


def _model(study: Study, plan: Plan, seed: int) -> ModelResult:
    store = store_of(study, plan.cache, seed, model_of(study, plan.cache, seed))
    sampled = Interval(**_needed(store, "monte-carlo"))
    names = [(CUBIC, SOUND), (OURS, SOUND)]
    names += [(str(n), edition) for n in plan.strategies for edition in plan.editions(study, seed, n)]
    rows = {}
    for strategy, edition in names:
        value = _needed(store, row_name(strategy, edition))
        if "missing" not in value:
            rows[strategy, edition] = BoundRow(**value)
    ablations = store.read("ablations-all") or store.read("ablations") or {}
    return ModelResult(
        seed=seed,
        accuracy=_accuracy(rows.get((OURS, SOUND)), sampled),
        sampled=sampled,
        statistics=Statistics(**_needed(store, "statistics")),
        residuals=ResidualStatistics(**_needed(store, "residuals")),
        rows=rows,
        ablations={name: Ablation(**value) for name, value in ablations.items()},
        importance={name: Importance(**value) for name, value in (store.read("importance") or {}).items()},
    )


def _needed(store: Store, name: str) -> dict[str, Any]:
    value = store.read(name)
    if value is None:
        text = f"the result {name!r} is missing; run again without --report-only"
        raise CompactProofsError("REPRODUCE_MISSING", text, str(store.folder))
    return value


def _accuracy(exact: BoundRow | None, sampled: Interval) -> Accuracy:
    """From the exact count, if there is one."""
    if exact is None:
        return Accuracy(sampled.share, sampled.low, sampled.high, False)
    return Accuracy(exact.share, exact.share, exact.upper / exact.total, True)


def on_frontier(model: ModelResult, rows: list[BoundRow]) -> list[BoundRow]:
    """The rows that no other beats in both bound and FLOPs."""
    keep = frontier([(float(row.flops), model.normalised(row)) for row in rows])
    return [row for row, stays in zip(rows, keep, strict=True) if stays]
