"""The paper's 100 sub-cubic strategies (section 4.3, appendix H.2), in three editions.

sound: the paper's bound with its faults repaired; as-published: the published number, which proves nothing, and a proof
of whatever part of it is true; tight: the same approximations with every refinement that keeps the cost.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...errors import CompactProofsError, shown
from ...grid import COMBINATIONS, ERROR_OPTIONS, EU_OPTIONS, Choice, choice
from ...problem import Problem
from ...proof import Proof
from .proof import assemble, certified, confirm, prepare, search
from .published import published
from .search import PAPER, TIGHT, Ints, Rule

PREFIX = "subcubic:"
EDITIONS = ("sound", "as-published", "tight")
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Subcubic:
    """One strategy in one edition."""

    choice: Choice
    edition: str

    @property
    def name(self) -> str:
        """subcubic:NUMBER, with the edition unless it is the default one."""
        return f"{PREFIX}{self.choice.number}" + ("" if self.edition == EDITIONS[0] else f":{self.edition}")

    @property
    def summary(self) -> str:
        return f"{self.choice.name} ({self.edition})"

    @property
    def rule(self) -> Rule:
        return PAPER if self.edition == "sound" else TIGHT

    def find(self, problem: Problem, progress: Progress) -> Proof:
        """The proof. Errors: ONE_OUTPUT, NOT_UNIFORM; PUBLISHED_TASK in the edition as-published."""
        bounds = prepare(problem, self.choice, self.rule)
        if self.edition == "as-published":
            found = confirm(problem, bounds, self.rule, self._published_gaps(problem, progress))
        else:
            found = search(problem, bounds, self.choice, self.rule, progress)
        return assemble(problem, self.name, bounds, found)

    def estimate(self, problem: Problem, progress: Progress = lambda done, total: None) -> int:
        """The number without a proof."""
        if self.edition == "as-published":
            return published(problem, self.choice, progress).count
        bounds = prepare(problem, self.choice, self.rule)
        return certified(problem, search(problem, bounds, self.choice, self.rule, progress))

    def _published_gaps(self, problem: Problem, progress: Progress) -> list[Ints]:
        """The gaps that the published check passes, as the search of proofs writes them: no entry for m...m."""
        result = published(problem, self.choice, progress)
        gaps = np.where(result.passes, result.gaps, 0)
        tables = [gaps[: m + 1, m, 1:] for m in range(len(gaps))]
        for m, table in enumerate(tables):
            table[:m, 0] = np.minimum(table[:m, 0], 1)  # with no other free token a gap says nothing
        return tables


def parse(name: str) -> Subcubic:
    """subcubic:NUMBER or subcubic:EU,COMBINATION,ERROR, with :EDITION. Errors: STRATEGY_NAME, STRATEGY_NUMBER."""
    which, _, edition = name.removeprefix(PREFIX).partition(":")
    if edition and edition not in EDITIONS:
        raise CompactProofsError("STRATEGY_NAME", f"edition {shown(edition)}, known are {', '.join(EDITIONS)}")
    if which.isascii() and which.isdigit():
        return Subcubic(choice(int(which[:4])), edition or EDITIONS[0])
    parts, places = which.split(","), []
    lists = (EU_OPTIONS, COMBINATIONS, ERROR_OPTIONS)
    if len(parts) != len(lists):
        text = f"{shown(name)}: write {PREFIX}1 to {PREFIX}100, or {PREFIX}EU,COMBINATION,ERROR with options"
        text += f" EU {', '.join(EU_OPTIONS)}; COMBINATION {', '.join(COMBINATIONS)}; ERROR {', '.join(ERROR_OPTIONS)}"
        raise CompactProofsError("STRATEGY_NAME", text)
    for part, options in zip(parts, lists, strict=True):
        if part not in options:
            near = difflib.get_close_matches(part, options, 1)
            advice = f"; did you mean {near[0]}?" if near else ""
            raise CompactProofsError("STRATEGY_NAME", f"option {shown(part)}, known are {', '.join(options)}{advice}")
        places.append(options.index(part))
    return Subcubic(Choice(*places), edition or EDITIONS[0])
