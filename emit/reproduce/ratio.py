"""Figures 4 and 7: normalised bound against the ratio of the first two singular values of EQKE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...core.grid import ERROR_OPTIONS, EXACT_EQKE, choice
from .bounds import SOUND
from .collect import ModelResult, StudyResult
from .numbers import Fit, correlation, fit
from .style import Axes, figure, method_style

SVD = ERROR_OPTIONS.index("svd")


@dataclass(frozen=True, slots=True)
class Trend:
    """Best bounds of one attention-error option, model by model."""

    error: int
    ratio: tuple[float, ...]
    bound: tuple[float, ...]

    def line(self) -> Fit | None:
        return fit(self.ratio, self.bound)

    def correlation(self) -> float:
        return correlation(self.ratio, self.bound)


def trends(result: StudyResult, edition: str = SOUND) -> list[Trend]:
    """One for each option that approximates EQKE, where it was measured."""
    found = []
    for error in range(len(ERROR_OPTIONS)):
        if error == EXACT_EQKE:
            continue
        best = [(m.statistics.ratio, _best(m, edition, error)) for m in result.models]
        kept = [(x, y) for x, y in best if y is not None]
        if kept:
            found.append(Trend(error, tuple(x for x, _ in kept), tuple(y for _, y in kept)))
    return found


def _best(model: ModelResult, edition: str, error: int) -> float | None:
    rows = [model.normalised(row) for row in model.edition(edition) if choice(int(row.strategy)).error == error]
    return max(rows, default=None)


def ratio_figure(result: StudyResult, path: Path, edition: str = SOUND) -> None:
    """Figure 4."""
    with figure(path, 6.6, 5.2) as made:
        axes = made.subplots()
        _panel(axes, trends(result, edition), with_line=False)
        made.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2, handletextpad=0.3)


def ratio_panels_figure(results: Sequence[StudyResult], path: Path, edition: str = SOUND) -> None:
    """Figure 7, with the best-fit line of "svd"."""
    columns = 2 if len(results) > 1 else 1
    rows = -(-len(results) // columns)
    with figure(path, 9.0, 3.5 * rows + 1.2) as made:
        grid = made.subplots(rows, columns, squeeze=False)
        for axes in grid.ravel()[len(results) :]:
            axes.set_visible(False)
        for axes, result in zip(grid.ravel(), results, strict=False):
            _panel(axes, trends(result, edition), with_line=True)
            letter = f"({result.study.panel}) " if result.study.panel else ""
            axes.set_title(letter + result.study.title, loc="left")
        made.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, handletextpad=0.3)


def _panel(axes: Axes, found: Sequence[Trend], with_line: bool) -> None:
    """One configuration."""
    for trend in found:
        axes.scatter(
            trend.ratio, trend.bound, s=24 if trend.error != SVD else 48, label=ERROR_OPTIONS[trend.error],
            linewidths=0.3, edgecolors="white", alpha=0.85, zorder=3, **method_style(trend.error),
        )  # fmt: skip
    axes.set_ylim(0, 1)
    axes.set_xlabel("σ₁ / σ₂ of EQKE")
    axes.set_ylabel("bound / true accuracy")
    line = next((t.line() for t in found if t.error == SVD), None)
    if with_line and line is not None:
        low, high = axes.get_xlim()
        axes.plot([low, high], [line.intercept + line.slope * x for x in (low, high)], color="black", lw=0.9, zorder=2)
        axes.set_xlim(low, high)
        text = f"svd: slope {line.slope:.2g}, intercept {line.intercept:.2f}, R² = {line.r_squared:.2f}"
        axes.text(0.02, 0.03, text, transform=axes.transAxes, fontsize=8)
