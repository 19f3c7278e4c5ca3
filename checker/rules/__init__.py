"""The one table of rules: names as in FORMAT.md."""

from collections.abc import Callable

from ..facts import Fact
from ..step import Step
from .approximations import peel, row_bound_min, row_exact, row_norm, row_range_chain
from .circuits import circuit, product_rule
from .ending import conclude, disjoint_union, mixture
from .enumerate import enumerate_rule
from .float_error import float_count, float_error
from .gap_classes import gap_classes
from .log_loss import log_loss
from .margin_convolution import margin_convolution
from .margin_tree import margin_tree
from .margins import margins, weights
from .pure_sequences import pure_sequences

RULES: dict[str, Callable[[Step], Fact]] = {
    "circuit": circuit,
    "product": product_rule,
    "peel": peel,
    "row_exact": row_exact,
    "row_range_chain": row_range_chain,
    "row_norm": row_norm,
    "row_bound_min": row_bound_min,
    "weights": weights,
    "margins": margins,
    "enumerate": enumerate_rule,
    "pure_sequences": pure_sequences,
    "gap_classes": gap_classes,
    "margin_tree": margin_tree,
    "margin_convolution": margin_convolution,
    "float_error": float_error,
    "float_count": float_count,
    "disjoint_union": disjoint_union,
    "mixture": mixture,
    "conclude": conclude,
    "log_loss": log_loss,
}

COUNTING = frozenset(("enumerate", "pure_sequences", "gap_classes", "margin_tree", "margin_convolution"))
"""The rules that look at inputs, of one part of the claim's distribution: the argument `part` if there are several."""
