"""Strategies: each searches a proof and writes it as steps. The checker knows their rules, not their names."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ..errors import CompactProofsError, shown
from ..float_semantics import estimate_float, find_float
from ..problem import Problem
from ..progress import Progress, note
from ..proof import Proof
from . import brute_force, convolution, cubic, margin_tree, subcubic
from .convolution import Goal

TREE_TRIAL = 200_000
EDITIONED = ("all", f"{subcubic.PREFIX}70")
"""Names that are completed by a number or an edition, for advice."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """How to find a proof, how to estimate its bound in doubles (right sequences), and what it is in a line."""

    find: Callable[[Problem, Progress], Proof]
    estimate: Callable[[Problem, Progress], int]
    summary: str


def _small_tree(problem: Problem, progress: Progress) -> Proof:
    """The margin tree if it is small. Errors: TREE_TOO_LARGE."""
    return margin_tree.margin_tree(problem, progress, nodes=TREE_TRIAL)


def _auto(problem: Problem, progress: Progress, goal: Goal = convolution.AUTO) -> Proof:
    """The exact count where it is cheap, else nearly exact bounds."""
    note(progress, "the exact count, if it is cheap")
    try:
        return _small_tree(problem, progress)
    except CompactProofsError as error:
        if error.code != "TREE_TOO_LARGE":
            raise
    note(progress, "the exact count is not cheap; bounds by convolution")
    return convolution.margin_convolution(problem, progress, goal)


def _quick(problem: Problem, progress: Progress) -> int:
    """Right inputs by what `auto` would prove them with."""
    return estimate("auto", problem, progress)[1]


STRATEGIES = {
    "auto": Strategy(_auto, _quick, "the exact count where it is cheap, else nearly exact bounds"),
    "brute-force": Strategy(brute_force.brute_force, brute_force.estimate, "the paper's enumeration of all inputs"),
    "cubic": Strategy(cubic.cubic, cubic.estimate, "the paper's cubic proof: pure sequences decide the mixed ones"),
    "margin-convolution": Strategy(
        convolution.margin_convolution, convolution.estimate, "nearly exact bounds at any length, by convolution"
    ),
    "margin-tree": Strategy(margin_tree.margin_tree, margin_tree.estimate, "the exact count by branch and bound"),
}


def top_tree(problem: Problem, first: int, progress: Progress = lambda done, total: None) -> Proof:
    """The exact count among the maxima from `first` on, if the tree is small. Errors: TREE_TOO_LARGE."""
    first = min(first, problem.task.possible()[-1])
    find = partial(margin_tree.margin_tree, nodes=TREE_TRIAL, first=first)
    return find_float(problem, find, progress)


TOWARDS = {"auto": _auto, "margin-convolution": convolution.margin_convolution}
"""Strategies that work towards a goal."""


def every(edition: str) -> list[str]:
    """The paper's 102 strategies, sub-cubic ones in an edition, and then our own. Errors: STRATEGY_NAME."""
    hundred = [subcubic.parse(f"{subcubic.PREFIX}{number}:{edition}").name for number in range(1, 101)]
    ours = [name for name in STRATEGIES if name not in ("auto", "brute-force", "cubic")]
    return ["brute-force", "cubic", *hundred, *ours]


def strategy(name: str) -> Strategy:
    """The strategy of a name: one of STRATEGIES, or a sub-cubic one. Errors: STRATEGY_NAME, STRATEGY_NUMBER."""
    if not isinstance(name, str):
        raise CompactProofsError("STRATEGY_NAME", f"a strategy is a text such as 'auto', this is {shown(name)}")
    if name in STRATEGIES:
        return STRATEGIES[name]
    if name.startswith(subcubic.PREFIX):
        found = subcubic.parse(name)
        return Strategy(found.find, found.estimate, found.summary)
    if name.partition(":")[0] == "all":
        text = "'all' is a table made by certify, not one strategy; here name each, as --strategy cubic --strategy auto"
        raise CompactProofsError("STRATEGY_NAME", text, place="strategy")
    near = difflib.get_close_matches(name, [*STRATEGIES, *EDITIONED], 2, 0.5)
    text = f"{shown(name)} is unknown" + (f"; did you mean {' or '.join(near)}?" if near else ".")
    known = f"{', '.join(STRATEGIES)}, {subcubic.PREFIX}1 to {subcubic.PREFIX}100 and, for certify, all"
    raise CompactProofsError("STRATEGY_NAME", f"{text} Known are {known}", place="strategy")


def prove(
    name: str,
    problem: Problem,
    progress: Progress = lambda done, total: None,
    patient: bool = True,
    goal: Goal | None = None,
) -> Proof:
    """A proof of what the problem asks, over the real numbers or of a floating-point program.

    Without patience a large margin tree is given up soon. Errors: those of the strategy; GOAL_STRATEGY.
    """
    find = _small_tree if name == "margin-tree" and not patient else strategy(name).find
    if goal is not None:
        if name not in TOWARDS:
            text = f"a goal is for {' or '.join(TOWARDS)}, the strategy is {shown(name)}"
            raise CompactProofsError("GOAL_STRATEGY", text, place="strategy")
        find = partial(TOWARDS[name], goal=goal)
    return find_float(problem, find, progress)


def estimate(name: str, problem: Problem, progress: Progress = lambda done, total: None) -> tuple[str, int]:
    """The strategy used (`auto` chooses as for a proof), and right inputs by it in doubles: no proof."""
    if name == "auto":
        try:
            return "margin-tree", estimate_float(problem, lambda real: _small_tree(real, progress).lower)
        except CompactProofsError as error:
            if error.code != "TREE_TOO_LARGE":
                raise
        name = "margin-convolution"
    return name, estimate_float(problem, lambda real: strategy(name).estimate(real, progress))
