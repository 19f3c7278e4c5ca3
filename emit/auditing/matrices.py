"""Matrices as the page holds them: decimals and exact integers where that is small, else levels of colour."""

from __future__ import annotations

import base64
from decimal import ROUND_HALF_EVEN, Context
from math import sqrt
from typing import Any

import numpy as np

from ...core.exact import Exact, Floats
from ...core.interpret import Averaged, averaged, spectrum
from ...core.problem import Problem
from ...core.proof import hexadecimal

EXACT_ENTRIES = 20_000
"""A matrix with more entries is drawn from 256 levels, without exact values: the page would grow beyond reason."""

AXES = {
    "EQKE": ("key token", "query token", "attention score of the key token, mean position included, over √d_head"),
    "EQKP": ("key position", "query token", "attention score of the position, less the mean, over √d_head"),
    "EVOU": ("output", "input token", "logit that the token copies to the output, mean position included"),
    "PVOU": ("output", "position", "logit that the position adds, less the mean"),
    "EU": ("output", "query token", "logit of the direct path"),
}


def encoded(values: Floats, digits: int = 6, rounding: str = ROUND_HALF_EVEN) -> dict[str, Any]:
    """Rows of decimals, rounded to a side if they are bounds, or levels 0..255 between the ends."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    result: dict[str, Any] = {"rows": values.shape[0], "columns": values.shape[1], "low": low, "high": high}
    if values.size <= EXACT_ENTRIES:
        short = Context(prec=digits, rounding=rounding).create_decimal_from_float
        result["values"] = [[float(short(x)) if np.isfinite(x) else None for x in row] for row in values.tolist()]
        return result
    span = high - low or 1.0
    scaled = np.where(np.isfinite(values), 1 + np.round((values - low) / span * 254), 0)
    result["levels"] = base64.b64encode(scaled.astype(np.uint8).tobytes()).decode("ascii")
    return result


def circuits_of(problem: Problem) -> list[dict[str, Any]]:
    """The five circuits in the paper's averaged form, tokens and outputs with the numbers that the model gives them."""
    form = averaged(problem)
    return [_circuit(form, name, problem) for name in AXES]


def _circuit(form: Averaged, name: str, problem: Problem) -> dict[str, Any]:
    exact = {"EQKE": form.eqke, "EQKP": form.eqkp, "EVOU": form.evou, "PVOU": form.pvou, "EU": form.eu}[name]
    scaled = name in ("EQKE", "EQKP")
    values = form.floats(name) / (sqrt(form.d_head) if scaled else 1.0)
    across, down, meaning = AXES[name]
    result = encoded(values)
    result.update(name=name, across=across, down=down, meaning=meaning)
    result.update(labels_across=_labels(across, problem), labels_down=_labels(down, problem))
    result["divisor"] = [1 if name == "EU" else form.length, form.d_head if scaled else 1]
    if "values" in result:
        result["exact"] = [[hexadecimal(int(n)) for n in row] for row in exact.ints]
        result["exponent"] = exact.exponent
    return result


def _labels(axis: str, problem: Problem) -> list[int] | None:
    """Numbers along an axis; None for 0, 1, 2, ..."""
    task = problem.task
    if axis == "output":
        names = task.output_columns(problem.model.d_vocab_out)
    elif axis in ("key token", "input token"):
        names = task.token_rows()
    elif axis == "query token":
        names = task.query_tokens()
    else:
        return None
    return None if names == list(range(len(names))) else names


def attention_profile(problem: Problem) -> dict[str, Any]:
    """Singular values of EQKE, and how its score grows with the key token, averaged over queries."""
    form = averaged(problem)
    rows = form.floats("EQKE")[:, : problem.task.tokens] / sqrt(form.d_head)
    mean, low, high = rows.mean(axis=0), rows.min(axis=0), rows.max(axis=0)
    tokens = np.arange(len(mean), dtype=np.float64)
    slope, start = np.polyfit(tokens, mean, 1) if len(mean) > 1 else (0.0, float(mean[0]))
    ends = zip(low - mean, high - mean, strict=True)
    return {
        "singular": [float(f"{x:.6g}") for x in spectrum(form).values],
        "mean": [float(f"{x:.6g}") for x in mean],
        "spread": [[float(f"{a:.4g}"), float(f"{b:.4g}")] for a, b in ends],
        "slope": float(slope),
        "start": float(start),
    }


def entry(matrix: Exact, row: int, column: int) -> tuple[int, int]:
    """One entry as n, e for n * 2**e."""
    return int(matrix.ints[row, column]), matrix.exponent
