"""The one table of rules: names as in FORMAT.md."""

from collections.abc import Callable

from ..facts import Fact
from ..step import Step
from .circuits import circuit, product_rule
from .ending import conclude, disjoint_union
from .enumerate import enumerate_rule
from .margin_tree import margin_tree
from .margins import margins, weights
from .pure_sequences import pure_sequences

RULES: dict[str, Callable[[Step], Fact]] = {
    "circuit": circuit,
    "product": product_rule,
    "weights": weights,
    "margins": margins,
    "enumerate": enumerate_rule,
    "pure_sequences": pure_sequences,
    "margin_tree": margin_tree,
    "disjoint_union": disjoint_union,
    "conclude": conclude,
}
