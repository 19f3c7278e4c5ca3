"""Figures 9, 10 and 21, and the thumbnails of Table 6: pictures of the matrices themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...core.exact import Floats
from ...core.interpret import Averaged, averaged
from ...core.problem import Problem
from ...core.residuals import NAMES, residuals
from .numbers import Summary
from .style import Axes, figure

COLOUR_MAP: Final = "RdBu_r"
"""Blue through white to red; the two ends differ for every common kind of colour blindness."""
AXES: Final = {
    "EQKE": ("key token", "query token"),
    "EQKP": ("key position", "query token"),
    "EVOU": ("output token", "input token"),
    "PVOU": ("output token", "input position"),
    "EU": ("output token", "query token"),
}


def matrix(form: Averaged, name: str) -> Floats:
    """A circuit in averaged form; attention scaled by 1/sqrt(d_head)."""
    values = form.floats(name)
    return values / sqrt(form.d_head) if name in ("EQKE", "EQKP") else values


def attention_figure(problem: Problem, path: Path) -> None:
    """Figure 9: EQKE and EQKP."""
    form = averaged(problem)
    with figure(path, 6.4, 3.5, layout="compressed") as made:
        pair = made.subplots(1, 2, gridspec_kw={"width_ratios": (1, 0.5)})
        for axes, name, letter in zip(pair, ("EQKE", "EQKP"), "ab", strict=True):
            _heatmap(made, axes, matrix(form, name), name, f"({letter}) {name} / √d", "pre-softmax attention")


def values_figure(problem: Problem, path: Path) -> None:
    """Figure 10: EVOU as it is and less its diagonal, PVOU, EU."""
    form = averaged(problem)
    evou = matrix(form, "EVOU")
    centred = evou - np.diagonal(evou)[:, None]
    with figure(path, 7.6, 6.8, layout="compressed") as made:
        grid = made.subplots(2, 2, gridspec_kw={"height_ratios": (1, 1)})
        _heatmap(made, grid[0, 0], evou, "EVOU", "(a) EVOU", "logit")
        _heatmap(made, grid[0, 1], centred, "EVOU", "(a′) EVOU less its diagonal", "logit difference")
        _heatmap(made, grid[1, 0], matrix(form, "PVOU"), "PVOU", "(b) PVOU", "logit")
        _heatmap(made, grid[1, 1], matrix(form, "EU"), "EU", "(c) EU", "logit")


def _heatmap(made: Any, axes: Axes, values: Floats, name: str, title: str, unit: str) -> None:
    """One matrix with its colour bar, symmetric about zero."""
    limit = float(np.abs(values).max()) or 1.0
    shape = "auto" if name in ("EQKP", "PVOU") else "equal"
    image = axes.imshow(values, cmap=COLOUR_MAP, vmin=-limit, vmax=limit, aspect=shape, interpolation="nearest")
    axes.set_xlabel(AXES[name][0])
    axes.set_ylabel(AXES[name][1])
    axes.set_title(title, loc="left")
    axes.grid(visible=False)
    for axis, number in ((axes.xaxis, values.shape[1]), (axes.yaxis, values.shape[0])):
        if number <= 20:
            axis.set_ticks(range(0, number, max(number // 5, 1)))
    axes.set_box_aspect({"EQKP": 2.4}.get(name, 1))
    bar = axes.inset_axes((1.04, 0, 0.12 if name == "EQKP" else 0.05, 1))
    made.colorbar(image, cax=bar, label=unit)


def residuals_figure(problem: Problem, path: Path) -> None:
    """Figure 21: entries of the four remainders with the normal curve of the same mean and deviation."""
    with figure(path, 7.6, 4.8) as made:
        for axes, part, name in zip(made.subplots(2, 2).ravel(), residuals(problem).factors(), NAMES, strict=True):
            entries = part.ravel()
            mean, std = float(entries.mean()), float(entries.std())
            _, edges, _ = axes.hist(entries, bins=48, color="#56B4E9", edgecolor="white", linewidth=0.3)
            x = np.linspace(edges[0], edges[-1], 200)
            curve = np.exp(-((x - mean) ** 2) / (2 * std**2)) / (std * sqrt(2 * np.pi))
            axes.plot(x, curve * len(entries) * (edges[1] - edges[0]), color="#D55E00", lw=1.2)
            axes.set_title(f"{name}: mean {mean:.1g}, standard deviation {std:.3f}", loc="left")
            axes.set_xlabel("entry")
            axes.set_ylabel("count")


def gaps_figure(gaps: Mapping[int, float], path: Path, title: str) -> None:
    """Figure 20: share of all sequences by the smallest gap that certifies their class."""
    top = max(gaps, default=1)
    x = list(range(1, top + 1))
    with figure(path, 5.6, 3.2) as made:
        axes = made.subplots()
        left = 100 * (1 - sum(gaps.values()))
        found = [100 * gaps.get(g, 0.0) for g in x]
        for places, heights, colour in ((x, found, "#0072B2"), ([top + 2], [left], "#999999")):
            bars = axes.bar(places, heights, color=colour, width=0.8)
            axes.bar_label(bars, fmt=lambda v: f"{v:.1f}" if v >= 0.05 else "", fontsize=7, padding=2)
        shown = x if top <= 25 else x[:: top // 12]
        axes.set_xticks([*shown, top + 2], [*map(str, shown), "not\ncertified"])
        axes.margins(y=0.12)
        axes.set_xlabel("smallest gap that certifies the class")
        axes.set_ylabel("sequences (% of all)")
        axes.set_title(title, loc="left")
        axes.grid(axis="x", visible=False)


def summary_figure(
    statistic: str, rows: Sequence[Summary], values: Mapping[int, float], problems: Mapping[int, Problem], path: Path
) -> None:
    """A part of Table 6: for each number of the summary the nearest model's five circuits, and the box plot."""
    forms = {row.seed: averaged(problems[row.seed]) for row in rows}
    limits = {name: max(float(np.abs(matrix(averaged(p), name)).max()) for p in problems.values()) for name in AXES}
    with figure(path, 7.6, 1.05 * len(rows) + 1.3, vector=False) as made:
        table, strip = made.subfigures(2, 1, height_ratios=(1.05 * len(rows), 1.1))
        grid = table.subplots(len(rows), 5, squeeze=False)
        for line, row in zip(grid, rows, strict=True):
            for axes, name in zip(line, AXES, strict=True):
                shape = "auto" if name in ("EQKP", "PVOU") else "equal"
                axes.imshow(
                    matrix(forms[row.seed], name), cmap=COLOUR_MAP, vmin=-limits[name], vmax=limits[name],
                    aspect=shape, interpolation="nearest",
                )  # fmt: skip
                axes.set_box_aspect(1)
                axes.set_xticks([])
                axes.set_yticks([])
                axes.grid(visible=False)
            text = f"{row.name}\n{row.value:.4g}\nseed {row.seed}"
            line[0].set_ylabel(text, rotation=0, ha="right", va="center", fontsize=8, labelpad=8)
        for axes, name in zip(grid[0], AXES, strict=True):
            axes.set_title(name + (" / √d" if name in ("EQKE", "EQKP") else ""))
        box = strip.subplots()
        box.boxplot(list(values.values()), orientation="horizontal", widths=0.5, medianprops={"color": "#D55E00"})
        box.set_yticks([])
        box.set_xlabel(statistic)
