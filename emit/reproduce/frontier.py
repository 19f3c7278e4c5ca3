"""Figures 3, 6 and 22: normalised bound against estimated FLOPs. Figure 5: unexplained dimensions against FLOPs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...core.cost import power_of_two
from ...core.grid import GROUPS, choice
from .bounds import CUBIC, SOUND, BoundRow, paper_costs
from .collect import ModelResult, StudyResult, on_frontier
from .numbers import spread
from .style import BRUTE_FORCE, CUBIC_SERIES, SERIES, Axes, Figure, figure, log2_ticks, series_style


@dataclass(frozen=True, slots=True)
class Point:
    """One strategy on one model: binary logarithm of FLOPs, normalised bound."""

    series: str
    flops: float
    bound: float


def series_of(row: BoundRow) -> str:
    """Legend series of a row."""
    if row.strategy == CUBIC:
        return CUBIC_SERIES
    return choice(int(row.strategy)).group if row.strategy.isdecimal() else BRUTE_FORCE


def points(result: StudyResult, edition: str, only_frontier: bool) -> list[Point]:
    """Points of all models, brute force among them."""
    brute, _ = paper_costs(result.study.sizes, "brute-force")
    found = []
    for model in result.models:
        rows = [model.rows[CUBIC, SOUND], *model.edition(edition)]
        if only_frontier:
            rows = on_frontier(model, rows)
        found.append(Point(BRUTE_FORCE, power_of_two(brute), 1.0))
        found += [Point(series_of(row), power_of_two(row.flops), model.normalised(row)) for row in rows]
    return found


def best_of_group(model: ModelResult, edition: str, group: str) -> BoundRow | None:
    """The group's best bound on a model (paper, Table 1)."""
    rows = [row for row in model.edition(edition) if choice(int(row.strategy)).group == group]
    return max(rows, key=lambda row: row.lower, default=None)


def label(result: StudyResult, series: str, edition: str) -> str:
    """Legend text with accuracy, or with the share of it that the series proves."""
    if series == BRUTE_FORCE:
        text = spread([m.accuracy.share for m in result.models]).text()
        return f"brute force (accuracy {text})"
    if series == CUBIC_SERIES:
        values = [m.normalised(m.rows[CUBIC, SOUND]) for m in result.models]
    else:
        best = [(m, best_of_group(m, edition, series)) for m in result.models]
        values = [m.normalised(row) for m, row in best if row is not None]
    return f"{series} ({spread(values).text()})"


def frontier_figure(result: StudyResult, path: Path, edition: str = SOUND) -> None:
    """Figure 3."""
    with figure(path, 6.6, 4.6) as made:
        _broken(made, result, edition, True, legend=True)


def all_points_figure(result: StudyResult, path: Path, edition: str = SOUND) -> None:
    """Figure 22: the frontier, and every point."""
    with figure(path, 6.6, 7.6) as made:
        top, bottom = made.subfigures(2, 1, height_ratios=(1.0, 1.35))
        _broken(top, result, edition, True, legend=False)
        top.suptitle("Pareto frontier of every model", fontsize=9, x=0.02, ha="left")
        _broken(bottom, result, edition, False, legend=True)
        bottom.suptitle("all strategies", fontsize=9, x=0.02, ha="left")


def panels_figure(results: Sequence[StudyResult], path: Path, edition: str = SOUND) -> None:
    """Figure 6: one panel for each of the larger configurations."""
    with figure(path, 9.6, 7.6) as made:
        columns = 2 if len(results) > 1 else 1
        rows = -(-len(results) // columns)
        for place, result in zip(made.subfigures(rows, columns, squeeze=False).ravel(), results, strict=False):
            _broken(place, result, edition, True, legend=True, columns=1)
            letter = f"({result.study.panel}) " if result.study.panel else ""
            place.suptitle(letter + result.study.title, fontsize=9, x=0.02, ha="left")


def _broken(
    place: Figure, result: StudyResult, edition: str, only_frontier: bool, legend: bool, columns: int = 2
) -> None:
    """A panel for the compact proofs and a narrow one, after the break, for brute force."""
    found = points(result, edition, only_frontier)
    near = [p.flops for p in found if p.series != BRUTE_FORCE]
    far = max(p.flops for p in found)
    low, high = int(min(near) * 2 - 0.5) / 2, int(max(near) * 2 + 1.5) / 2
    left, right = place.subplots(1, 2, sharey=True, gridspec_kw={"width_ratios": (6, 1), "wspace": 0.03})
    size = 26 if only_frontier else 10
    for axes in (left, right):
        for series in SERIES:
            own = [p for p in found if p.series == series]
            if own:
                axes.scatter(
                    [p.flops for p in own], [p.bound for p in own], s=size * (2.4 if series == BRUTE_FORCE else 1),
                    label=label(result, series, edition), linewidths=0.3, edgecolors="white", alpha=0.85,
                    zorder=3, **series_style(series),
                )  # fmt: skip
    left.set_xlim(low, high)
    right.set_xlim(far - 1, far + 1)
    left.set_ylim(-0.02, 1.04)
    log2_ticks(left.xaxis, (low, high), 1)
    right.set_xticks([round(far)], [f"$2^{{{round(far)}}}$"])
    _mark_break(left, right)
    left.set_xlabel("FLOPs to verify the proof (estimate)")
    left.set_ylabel("bound / true accuracy")
    if legend:
        handles, labels = left.get_legend_handles_labels()
        scale = 1.0 if only_frontier else 1.7
        place.legend(
            handles, labels, loc="outside lower center", ncols=columns, handletextpad=0.3, columnspacing=1.2,
            markerscale=scale,
        )  # fmt: skip


def _mark_break(left: Axes, right: Axes) -> None:
    """Two strokes where the axis is cut."""
    right.spines["left"].set_visible(False)
    right.tick_params(axis="y", length=0)
    stroke = {"marker": [(-1, -1.6), (1, 1.6)], "markersize": 7, "ls": "none", "color": "black", "clip_on": False}
    left.plot([1], [0], transform=left.transAxes, **stroke)
    right.plot([0], [0], transform=right.transAxes, **stroke)


def dimensions_figure(result: StudyResult, path: Path) -> None:
    """Figure 5: one point for each distinct pair of costs of a series."""
    sizes = result.study.sizes
    found = {(BRUTE_FORCE, *paper_costs(sizes, "brute-force")), (CUBIC_SERIES, *paper_costs(sizes, CUBIC))}
    for row in result.main.edition(SOUND):
        found.add((series_of(row), row.flops, row.dimensions))
    with figure(path, 7.4, 4.4) as made:
        whole, near = made.subplots(1, 2, gridspec_kw={"width_ratios": (1, 1.6)})
        for axes, close in ((whole, False), (near, True)):
            for series in SERIES:
                own = [(f, d) for name, f, d in sorted(found) if name == series and not (close and name == BRUTE_FORCE)]
                x, y = [power_of_two(f) for f, _ in own], [power_of_two(d) for _, d in own]
                axes.scatter(
                    x, y, s=20 if close else 14, alpha=0.85, label=series if not close else None, linewidths=0.3,
                    edgecolors="white", zorder=3, **series_style(series),
                )  # fmt: skip
            axes.set_xlabel("FLOPs to verify the proof (estimate)")
        whole.set_ylabel("unexplained dimensions")
        whole.set_title("all proofs")
        near.set_title("without brute force")
        log2_ticks(whole.xaxis, whole.get_xlim(), 5)
        log2_ticks(whole.yaxis, whole.get_ylim(), 5)
        log2_ticks(near.xaxis, near.get_xlim(), 1)
        ticks = [12, 12.5, 13, 13.5]
        shown = [t for t in ticks if near.get_ylim()[0] <= t <= near.get_ylim()[1]]
        near.set_yticks(shown, [f"$2^{{{t:g}}}$" for t in shown])
        made.legend(loc="outside lower center", ncols=3, handletextpad=0.3, columnspacing=1.2)


def group_spread(result: StudyResult, edition: str) -> dict[str, list[float]]:
    """Normalised best bound of each group, model by model."""
    found: dict[str, list[float]] = {}
    for group in GROUPS:
        best = [(m, best_of_group(m, edition, group)) for m in result.models]
        found[group] = [m.normalised(row) for m, row in best if row is not None]
    return found
