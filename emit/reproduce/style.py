"""How figures look: one size for print, colours that the colour-blind can tell apart, a marker for every series."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil, floor
from pathlib import Path
from typing import Any, Final, TypeAlias

from ...core.errors import CompactProofsError
from ...core.extras import installing
from ...core.grid import EXACT_EQKE, GROUPS

Axes: TypeAlias = Any
"""matplotlib.axes.Axes; `Any` because types must check where matplotlib is absent."""

Figure: TypeAlias = Any

BRUTE_FORCE: Final = "brute force"
CUBIC_SERIES: Final = "cubic"
SERIES: Final = (BRUTE_FORCE, CUBIC_SERIES, *GROUPS)
"""Legend of Figures 3, 5, 6 and 22, in the order of Table 1."""

COLOURS: Final = ("#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#CC79A7", "#D55E00", "#8C6D31")
MARKERS: Final = ("*", "D", "o", "s", "^", "v", "P", "X")
METHOD_COLOURS: Final = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#0072B2", "#D55E00", "#8C6D31", "#7F7F7F",
)  # fmt: skip
METHOD_MARKERS: Final = ("*", "D", "o", "s", "v", "^", "P", "X", "h")

DPI: Final = 200
RASTER_DPI: Final = 110
"""Of pictures that are made of many small images."""

RC: Final[dict[str, Any]] = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "legend.fontsize": 8,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "svg.hashsalt": "compactproofs",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
}


def pyplot() -> Any:
    """matplotlib.pyplot without a display. Errors: REPRODUCE_MATPLOTLIB."""
    try:
        matplotlib = importlib.import_module("matplotlib")
    except ImportError:
        text = f"figures need matplotlib; run: {installing('report')}, or use --measure-only"
        raise CompactProofsError("REPRODUCE_MATPLOTLIB", text) from None
    matplotlib.use("Agg")
    return importlib.import_module("matplotlib.pyplot")


@contextmanager
def figure(
    path: Path, width: float, height: float, vector: bool = True, layout: str = "constrained"
) -> Iterator[Figure]:
    """A figure of that size in inches, written as PNG (and SVG) at the end; the same data give the same bytes."""
    plt = pyplot()
    with plt.rc_context(RC):
        made = plt.figure(figsize=(width, height), layout=layout)
        try:
            yield made
            made.savefig(path.with_suffix(".png"), metadata={"Software": None}, dpi=DPI if vector else RASTER_DPI)
            if vector:
                made.savefig(path.with_suffix(".svg"), metadata={"Date": None, "Creator": None})
        finally:
            plt.close(made)


def series_style(name: str) -> dict[str, str]:
    """Colour and marker of a legend group."""
    at = SERIES.index(name)
    return {"color": COLOURS[at], "marker": MARKERS[at]}


def method_style(error: int) -> dict[str, str]:
    """Colour and marker of an attention-error option that approximates EQKE."""
    at = error if error < EXACT_EQKE else error - 1
    return {"color": METHOD_COLOURS[at], "marker": METHOD_MARKERS[at]}


def log2_ticks(axis: Axes, limits: tuple[float, float], step: int) -> None:
    """Ticks 2^n on an axis whose data are binary logarithms."""
    low, high = limits
    ticks = [n for n in range(floor(low), ceil(high) + 1) if n % step == 0 and low <= n <= high]
    axis.set_ticks(ticks, labels=[f"$2^{{{n}}}$" for n in ticks])
