"""Figures 4 and 7: normalised bound against the ratio of the first two singular values of EQKE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...core.grid import ERROR_OPTIONS, EXACT_EQKE, choice
from .bounds import PUBLISHED, SOUND
from .collect import ModelResult, StudyResult
from .numbers import Fit, correlation, fit
from .studies import SVD
from .style import Axes, figure, method_style

FILLED: Final = "#0072B2"
HOLLOW: Final = "#D55E00"


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


def ratio_figure(result: StudyResult, path: Path) -> None:
    """Figure 4, one small panel for each option."""
    sound, loose = trends(result), {t.error: t for t in trends(result, PUBLISHED)}
    rows = -(-len(sound) // 3)
    with figure(path, 7.6, 2.1 * rows + 0.7) as made:
        grid = made.subplots(rows, 3, sharex=True, sharey=True, squeeze=False)
        for axes in grid.ravel()[len(sound) :]:
            axes.set_visible(False)
        for axes, trend in zip(grid.ravel(), sound, strict=False):
            _dots(axes, trend, loose.get(trend.error))
            axes.set_title(ERROR_OPTIONS[trend.error].replace("+", "\n+ "), fontsize=8)
            axes.set_ylim(0, 1)
        grid[-1, 1].set_xlabel("σ₁ / σ₂ of EQKE")
        grid[rows // 2, 0].set_ylabel("bound / true accuracy")
        made.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2, handletextpad=0.3)


def _dots(axes: Axes, trend: Trend, loose: Trend | None) -> None:
    """Proved bounds, and the published estimates where they were measured."""
    axes.scatter(trend.ratio, trend.bound, s=18, color=FILLED, linewidths=0, zorder=3, label="proved (sound edition)")
    if loose is not None:
        axes.scatter(
            loose.ratio, loose.bound, s=20, facecolors="none", edgecolors=HOLLOW, linewidths=0.9, marker="D", zorder=2,
            label="as published (estimate)",
        )  # fmt: skip


def ratio_panels_figure(results: Sequence[StudyResult], path: Path) -> None:
    """Figure 7, with the best-fit line of the published "svd"."""
    columns = 2 if len(results) > 1 else 1
    rows = -(-len(results) // columns)
    with figure(path, 9.0, 3.5 * rows + 1.2) as made:
        grid = made.subplots(rows, columns, squeeze=False)
        for axes in grid.ravel()[len(results) :]:
            axes.set_visible(False)
        for axes, result in zip(grid.ravel(), results, strict=False):
            _panel(axes, result)
            letter = f"({result.study.panel}) " if result.study.panel else ""
            axes.set_title(letter + result.study.title, loc="left")
        made.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3, handletextpad=0.3)


def published_svd(result: StudyResult) -> Trend | None:
    """The published numbers of "svd"."""
    return next((t for t in trends(result, PUBLISHED) if t.error == SVD), None)


def _panel(axes: Axes, result: StudyResult) -> None:
    """One configuration."""
    for trend in trends(result):
        axes.scatter(
            trend.ratio, trend.bound, s=24 if trend.error != SVD else 48, label=ERROR_OPTIONS[trend.error],
            linewidths=0.3, edgecolors="white", alpha=0.85, zorder=3, **method_style(trend.error),
        )  # fmt: skip
    axes.set_ylim(0, 1)
    axes.set_xlabel("σ₁ / σ₂ of EQKE")
    axes.set_ylabel("bound / true accuracy")
    loose = published_svd(result)
    if loose is None:
        return
    axes.scatter(
        loose.ratio, loose.bound, s=44, facecolors="none", edgecolors="black", linewidths=0.9, marker="D", zorder=3,
        label="svd as published (estimate)",
    )  # fmt: skip
    line = loose.line()
    if line is not None:
        low, high = axes.get_xlim()
        axes.plot([low, high], [line.intercept + line.slope * x for x in (low, high)], color="black", lw=0.9, zorder=2)
        axes.set_xlim(low, high)
        text = f"svd as published: slope {line.slope:.1e}, intercept {line.intercept:.2f}, R² = {line.r_squared:.2f}"
        axes.text(0.02, 0.03, text, transform=axes.transAxes, fontsize=8)
