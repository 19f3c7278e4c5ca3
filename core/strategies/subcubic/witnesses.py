"""Directions that make approximations good, in doubles (the published search; docs/FORMAT.md asks nothing of them).

They are vectors over tokens: the paper's size and query directions are singular vectors of EQKE itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...exact import Floats


@dataclass(frozen=True, slots=True)
class Directions:
    """What the peeled strategies take off: two directions of queries, two of keys, one each of W_Q and W_K."""

    query: Floats
    key: Floats
    second_query: Floats
    second_key: Floats
    w_q: Floats
    w_k: Floats


def singular(matrix: Floats) -> tuple[Floats, Floats]:
    """First left and right singular vectors, the left one with a mean that is not negative."""
    left, _, right = np.linalg.svd(matrix, full_matrices=False)
    sign = -1.0 if left[:, 0].mean() < 0 else 1.0
    return sign * left[:, 0], sign * right[0]


def without(matrix: Floats, direction: Floats) -> Floats:
    """The rows' combination along a unit direction taken off."""
    return matrix - np.outer(direction, direction @ matrix)


def directions(queries: Floats, keys: Floats, w_q: Floats, w_k: Floats) -> Directions:
    """The published search for directions. Rows are tokens, scores are queries w_q w_k^T keys^T."""
    query, key = singular(queries @ w_q @ w_k.T @ keys.T)
    second_query, _ = singular(without(queries, query))
    second_key, _ = singular(without(keys, key))
    return Directions(query, key, second_query, second_key, singular(w_q)[0], singular(w_k)[0])


def query_summary(queries: Floats, unembed: Floats, weighted: bool) -> Floats:
    """The row that stands for all queries in `svd_query+max_diff`: u^T queries, u being the first left singular vector.

    As published u has length one where a weighted mean needs sum one, so that the row is far too long; `weighted`
    repairs it.
    """
    u, _ = singular(queries @ unembed)
    row: Floats = u @ queries
    if weighted:
        row /= u.sum()
        return row
    minus, plus = (np.linalg.norm((queries - sign * row) @ unembed, axis=1).mean() for sign in (1, -1))
    return -row if minus > plus else row
