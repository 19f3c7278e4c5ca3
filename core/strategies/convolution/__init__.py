"""Counting by convolution, for any length (docs/FORMAT.md, "Convolution")."""

from .search import Goal
from .strategy import AUTO, estimate, margin_convolution

__all__ = ["AUTO", "Goal", "estimate", "margin_convolution"]
