"""What a certificate should reach: a width of the bounds, a lower bound by a short proof, or a limit on its length."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import click

from ..core.decimals import ends, percent
from ..core.proof import Proof
from ..core.strategies.convolution import Goal


@dataclass(frozen=True, slots=True)
class Wish:
    """As the command line has it; the lower bound exactly."""

    goal: Goal
    least: Fraction | None


def wish(gap: str | None, at_least: str | None, budget: int | None, keep_best: bool) -> Wish | None:
    """The wish of the options, if there is one."""
    if sum(option is not None for option in (gap, at_least, budget)) > 1:
        raise click.UsageError("--gap, --at-least and --budget exclude each other")
    width, least = share("--gap", gap), share("--at-least", at_least)
    if width is not None:
        return Wish(Goal(gap=float(width), keep=keep_best, interruptible=keep_best), None)
    if least is not None:
        return Wish(Goal(least=float(least), keep=keep_best, interruptible=keep_best), least)
    if budget is not None:
        return Wish(Goal(operations=budget, interruptible=keep_best), None)
    return Wish(Goal(gap=0.0005, keep=True, interruptible=True), None) if keep_best else None


def missed(wanted: Wish | None, proof: Proof, total: int) -> str | None:
    """What a proof that was kept lacks of the wish."""
    if wanted is None:
        return None
    width = Fraction(proof.upper - proof.lower, total)
    if wanted.goal.gap is not None and width > Fraction(wanted.goal.gap):
        apart = percent(proof.upper - proof.lower, total, up=True)
        return f"the goal was NOT reached: the bounds are {apart} apart, asked for were {plain(wanted.goal.gap)}"
    if wanted.least is not None and proof.lower < wanted.least * total:
        reached = percent(proof.lower, total)
        text = f"the goal was NOT reached: the lower bound is {reached}, asked for was {plain(wanted.least)}"
        if proof.upper < wanted.least * total:
            text += f", which no proof can reach: at most {ends(proof.lower, proof.upper, total)[1]} are right"
        return text
    return None


def share(option: str, text: str | None) -> Fraction | None:
    """0.998, 99.8%, 998/1000."""
    if text is None:
        return None
    try:
        value = Fraction(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except (ValueError, ZeroDivisionError):
        raise click.UsageError(f"{option} {text!r} is not a number, a fraction or a percentage") from None
    if not 0 <= value <= 1:
        meant = f"; did you mean {text}%?" if 1 < value <= 100 and not text.endswith("%") else ""
        raise click.UsageError(f"{option} {text} must lie between 0 and 1, or 0% and 100%{meant}")
    return value


def plain(value: Fraction | float) -> str:
    """A share as it was asked for, in per cent."""
    return f"{100 * float(value):.12g} %"
