"""The paper's grid of 100 sub-cubic strategies: 5 ways with EU, 2 with the average query, 10 with the error of EQKE.

Names, order and numbers (1..100) are those of the published code; the groups are the rows of the paper's Table 1 and
the legend of its Figure 3. Every combination counts, none is left out (paper, appendix H.2.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from .errors import CompactProofsError, shown

EU_OPTIONS: Final = (
    "mean_query+max_diff",
    "svd_query+max_diff",
    "max_diff",
    "max_diff_exact",
    "global_max_diff_exact",
)
COMBINATIONS: Final = ("mean_query+diff", "drop_average_query_per_output_logit_reasoning")
ERROR_OPTIONS: Final = (
    "svd",
    "max_diff",
    "max_diff_subproduct",
    "max_diff_subproduct_recursive",
    "mean+max_diff",
    "mean+max_diff_subproduct",
    "mean+max_diff_subproduct_recursive",
    "mean_recursive+max_diff_subproduct_recursive",
    "exact_EQKE+max_diff_exact",
    "max_diff_exact",
)

DIRECT_QUADRATIC: Final = frozenset((0, 1, 2))
ATTENTION_QUADRATIC: Final = frozenset((3, 6, 7))
ATTENTION_MODEL_SQUARED: Final = frozenset((0, 1, 2, 4, 5))
EXACT_EQKE: Final = 8
PEELED: Final = frozenset((2, 3, 5, 6, 7))
"""Error options that split the four factors of EQKE; the others split the product by its singular vectors."""


@dataclass(frozen=True, slots=True, order=True)
class Choice:
    """One of the 100 strategies as positions in EU_OPTIONS, COMBINATIONS and ERROR_OPTIONS."""

    eu: int
    combination: int
    error: int

    @property
    def number(self) -> int:
        """1..100 in the order of the published enumeration."""
        return 20 * self.eu + 10 * self.combination + self.error + 1

    @property
    def name(self) -> str:
        """The three option names with commas."""
        return f"{EU_OPTIONS[self.eu]},{COMBINATIONS[self.combination]},{ERROR_OPTIONS[self.error]}"

    @property
    def description(self) -> str:
        """The published code's short description, as in its result files."""
        eu, combination, error = (part.replace("_", "-") for part in self.name.split(","))
        return f"EUPU-{eu}--attn-{combination}--attn-err-{error}"

    @property
    def group(self) -> str:
        """Legend of the paper's Figure 3; the attention class comes first, "subcubic" is neither."""
        attention = ""
        if self.error in ATTENTION_QUADRATIC:
            attention = "attention-quadratic"
        elif self.error in ATTENTION_MODEL_SQUARED:
            attention = "attention-d_vocab d_model²"
        direct = "direct-quadratic" if self.eu in DIRECT_QUADRATIC else ""
        return ", ".join(part for part in (attention, direct) if part) or "subcubic"


GROUPS: Final = (
    "subcubic",
    "attention-d_vocab d_model²",
    "direct-quadratic",
    "attention-d_vocab d_model², direct-quadratic",
    "attention-quadratic",
    "attention-quadratic, direct-quadratic",
)
"""In the order of the paper's Table 1."""


def choice(number: int) -> Choice:
    """The strategy of a number. Errors: STRATEGY_NUMBER."""
    if not 1 <= number <= 100:
        text = f"is {shown(number)}; the sub-cubic strategies are numbered 1 to 100"
        raise CompactProofsError("STRATEGY_NUMBER", text, place="strategy")
    rest, error = divmod(number - 1, 10)
    eu, combination = divmod(rest, 2)
    return Choice(eu, combination, error)


def choices() -> Iterator[Choice]:
    """All 100, ascending."""
    return (choice(number) for number in range(1, 101))
