"""Counting by convolution, for any length (docs/FORMAT.md, "Convolution")."""

from .search import Goal, State
from .strategy import AUTO, margin_convolution

__all__ = ["AUTO", "Goal", "State", "margin_convolution"]
