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
    """True accuracy: proved to lie in low..high (`share` is the middle), or sampled, with a 95 % interval."""

    share: float
    low: float
    high: float
    proved: bool

    @property
    def exact(self) -> bool:
        return self.proved and self.low == self.high


@dataclass(frozen=True, slots=True)
class ModelResult:
    """Everything measured of one model. `rows` by (strategy, edition)."""

    seed: int
    accuracy: Accuracy
    sampled: Interval | None
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
        StudyResult(study, tuple(_model(study, plan, seed) for seed in plan.seeds_of(study))) for study in plan.studies
    ]


def problems(plan: Plan, study: Study) -> dict[int, Problem]:
    """The models themselves, for pictures of their circuits."""
    return {seed: model_of(study, plan.cache, seed) for seed in plan.seeds_of(study)}


def _model(study: Study, plan: Plan, seed: int) -> ModelResult:
    store = store_of(study, plan.cache, seed, model_of(study, plan.cache, seed))
    names = [(CUBIC, SOUND)]
    names += [(OURS, SOUND)] if plan.proves_accuracy(study, seed) else []
    names += [(str(n), edition) for n in plan.strategies for edition in plan.editions(study, seed, n)]
    rows = {}
    for strategy, edition in names:
        rows[strategy, edition] = BoundRow(**_needed(store, row_name(strategy, edition)))
    sampled = store.read("monte-carlo")
    interval = None if sampled is None else Interval(**sampled)
    ablations = store.read("ablations-all") or store.read("ablations") or {}
    return ModelResult(
        seed=seed,
        accuracy=_accuracy(rows.get((OURS, SOUND)), interval, store),
        sampled=interval,
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


def _accuracy(row: BoundRow | None, sampled: Interval | None, store: Store) -> Accuracy:
    """From a proof, else from samples. Errors: REPRODUCE_MISSING."""
    if row is not None:
        low, high = row.share, row.upper / row.total
        return Accuracy((low + high) / 2, low, high, True)
    if sampled is None:
        text = "neither a proof nor a sample of the accuracy is here; run again without --report-only"
        raise CompactProofsError("REPRODUCE_MISSING", text, str(store.folder))
    return Accuracy(sampled.share, sampled.low, sampled.high, False)


def on_frontier(model: ModelResult, rows: list[BoundRow]) -> list[BoundRow]:
    """The rows that no other beats in both bound and FLOPs."""
    keep = frontier([(float(row.flops), model.normalised(row)) for row in rows])
    return [row for row, stays in zip(rows, keep, strict=True) if stays]
