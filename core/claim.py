"""The claim language, one grammar (claim.lark) for the command line, reports and the Lean export.

    accuracy
    accuracy of min of 32 tokens >= 99%
    P(margin > 1/2) of max with query token 64
    accuracy when position 0 in {0..31} and query in {5, 7}
    accuracy when every position ~ 3/4 {0..31} + 1/4 {32..63} >= 0.999
    accuracy when maximum in {60..63}
    accuracy when 1/2 (uniform) + 1/2 (query in {0..7} and maximum in {8..63})
    E[log-loss] of max <= 0.05

A condition restricts a position to a set of tokens, or gives it a mixture of uniform distributions over sets; positions
are independent. Without a condition a position is uniform over all tokens. A condition on the right answer (maximum or
minimum) keeps the inputs that have it. A mixture of such distributions is written as shares of conditions in brackets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, reduce
from math import gcd, lcm
from pathlib import Path
from typing import Any, Literal

from lark import Lark, Transformer, UnexpectedInput, v_args
from lark.exceptions import VisitError

from .errors import CompactProofsError, shown
from .model import Model
from .task import Task, task_for

MOST_TOKENS = 1 << 16
NAMES = {
    "$END": "the end of the claim",
    "<END-OF-FILE>": "the end of the claim",
    "INT": "a number",
    "NUMBER": "a number",
    "KIND": "'max' or 'min'",
    "MINUS": "'-'",
    "PERCENT": "'%'",
    "ANSWER": "'maximum' or 'minimum'",
    "E": "'E[log-loss]'",
    "P": "'P(margin > ...)'",
}


@dataclass(frozen=True, slots=True)
class Condition:
    """Shares of tokens at a place: (probability, tokens), uniform in each.

    Places are "query", "every", a position from 0, and "maximum" or "minimum" for a set of right answers.
    """

    place: int | str
    shares: tuple[tuple[Fraction, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """A parsed claim; `tokens` and `eos` are None where the model decides, `bound` where none is asked.

    Inputs are drawn from one of `parts` with its probability. Without a threshold the claim is about the mean log-loss,
    in nats, and `bound` is an upper one.
    """

    threshold: tuple[int, int] | None
    kind: Literal["max", "min"]
    tokens: int | None
    eos: int | None
    parts: tuple[tuple[Fraction, tuple[Condition, ...]], ...]
    bound: Fraction | None

    @property
    def plain(self) -> bool:
        """Is it a count over one distribution?"""
        return self.threshold is not None and len(self.parts) == 1


@v_args(inline=True)
class _Reader(Transformer[Any, Any]):
    """Parse tree to Claim; every method is a rule of the grammar."""

    def accuracy(self) -> tuple[int, int]:
        return 0, 0

    def margin(self, value: Fraction) -> tuple[int, int]:
        return dyadic(value)

    def log_loss(self) -> None:
        return None

    def signed(self, sign: object, value: Fraction) -> Fraction:
        return -value if sign else value

    def fraction(self, over: str, under: str | None) -> Fraction:
        if under is not None and Fraction(under) == 0:
            raise CompactProofsError("CLAIM_VALUE", "a fraction has denominator 0")
        return Fraction(over) / Fraction(under or "1")

    def task(self, kind: str, tokens: str | None, eos: str | None) -> tuple[str, int | None, int | None]:
        return str(kind), None if tokens is None else int(tokens), None if eos is None else int(eos)

    def position(self, number: str) -> int:
        return int(number)

    def every(self) -> str:
        return "every"

    def query(self) -> str:
        return "query"

    def span(self, low: str, high: str | None) -> range:
        if int(high or low) > MOST_TOKENS:
            raise CompactProofsError("CLAIM_TOKEN", f"token {high or low}, at most {MOST_TOKENS}")
        return range(int(low), int(high or low) + 1)

    def set(self, *ranges: range) -> tuple[int, ...]:
        tokens = tuple(sorted({token for part in ranges for token in part}))
        if not tokens:
            spans = ", ".join(f"{part.start}..{part.stop - 1}" for part in ranges)
            raise CompactProofsError("CLAIM_TOKEN", f"the set {{{spans}}} is empty; the smaller token comes first")
        return tokens

    def share(self, weight: Fraction, tokens: tuple[int, ...]) -> tuple[Fraction, tuple[int, ...]]:
        return weight, tokens

    def restricted(self, place: int | str, tokens: tuple[int, ...]) -> Condition:
        return Condition(place, ((Fraction(1), tokens),))

    def weighted(self, place: int | str, *shares: tuple[Fraction, tuple[int, ...]]) -> Condition:
        return Condition(place, shares)

    def given(self, answer: str, tokens: tuple[int, ...]) -> Condition:
        return Condition(str(answer), ((Fraction(1), tokens),))

    def conditions(self, *conditions: Condition) -> tuple[Condition, ...]:
        return conditions

    def part(self, share: Fraction, conditions: tuple[Condition, ...]) -> tuple[Fraction, tuple[Condition, ...]]:
        return share, conditions

    def one(self, conditions: tuple[Condition, ...]) -> Any:
        return ((Fraction(1), conditions),)

    def mixture(self, *parts: Any) -> Any:
        if sum(share for share, _ in parts) != 1 or any(share == 0 for share, _ in parts):
            total = sum(share for share, _ in parts)
            raise CompactProofsError("CLAIM_SHARES", f"shares of a mixture are positive and sum to 1, not {total}")
        return parts

    def bound(self, value: Fraction, percent: object) -> Fraction:
        return value / 100 if percent else value

    def at_least(self, value: Fraction) -> tuple[str, Fraction]:
        if value > 1:
            text = f"at least {float(100 * value):.12g} % of the inputs: no share is above 100 %"
            raise CompactProofsError(
                "CLAIM_VALUE", f"{text}; did you mean {float(value):.12g}%?" if value <= 100 else text
            )
        return ">=", value

    def at_most(self, value: Fraction) -> tuple[str, Fraction]:
        return "<=", value

    def start(self, threshold: tuple[int, int] | None, task: Any, parts: Any, limit: Any) -> Claim:
        kind, tokens, eos = task or ("max", None, None)
        meant: Literal["max", "min"] = "min" if kind == "min" else "max"
        sign, bound = limit or (None, None)
        wanted = "<=" if threshold is None else ">="
        if sign not in (None, wanted):
            example = "E[log-loss] <= 0.05" if threshold is None else "accuracy >= 99%"
            text = f"found {sign!r}: a share of inputs is bounded from below, a mean loss from above: {example}"
            raise CompactProofsError("CLAIM_SYNTAX", text)
        return Claim(threshold, meant, tokens, eos, parts or ((Fraction(1), ()),), bound)


@cache
def _parser() -> Lark:
    grammar = Path(__file__).with_name("claim.lark").read_text()
    return Lark(grammar, parser="lalr", maybe_placeholders=True)


def parse(text: str) -> Claim:
    """Read a claim. Errors: CLAIM_SYNTAX with the column and what was expected, CLAIM_VALUE."""
    if not isinstance(text, str):
        raise CompactProofsError("CLAIM_SYNTAX", f"a claim is a text such as 'accuracy', this is {shown(text)}")
    if len(text) > 10_000:
        raise CompactProofsError("CLAIM_SYNTAX", f"{len(text)} characters, at most 10000")
    try:
        claim: Claim = _Reader().transform(_parser().parse(text))
    except UnexpectedInput as fault:
        ended = getattr(getattr(fault, "token", None), "type", "") == "$END"
        column = len(text) + 1 if ended else fault.column
        wanted = sorted(getattr(fault, "expected", None) or getattr(fault, "allowed", None) or ())
        names = ", ".join(dict.fromkeys(_name(terminal) for terminal in wanted))
        rest = text[column - 1 : column + 19] or "the end"
        message = f"column {column}: expected {names}, found {rest!r}{_advice(rest)}"
        raise CompactProofsError("CLAIM_SYNTAX", message) from None
    except VisitError as fault:
        if isinstance(fault.orig_exc, CompactProofsError):
            raise fault.orig_exc from None
        raise
    return claim


def _advice(rest: str) -> str:
    """What often stands where a claim ends to make sense."""
    if rest.startswith(("<", "=", ">")):
        return "; a claim states a lower bound, as in 'accuracy >= 99%'"
    if rest.endswith("tokens") and rest[0].isdigit():
        return f"; say what of them, as in 'accuracy of max of {rest}'"
    return "; words of a claim are in small letters" if rest[0].isupper() else ""


def _name(terminal: str) -> str:
    if terminal in NAMES:
        return NAMES[terminal]
    definition = next((t for t in _parser().terminals if t.name == terminal), None)
    return f"'{definition.pattern.value}'" if definition is not None else terminal


def dyadic(value: Fraction) -> tuple[int, int]:
    """(n, e) with n odd and value = n * 2**e; (0, 0) for zero. Errors: CLAIM_VALUE for other fractions."""
    n, d = value.numerator, value.denominator
    if d & (d - 1) or abs(n) >> 2000 or d >> 2000:
        raise CompactProofsError("CLAIM_VALUE", f"{value} is not of the form n / 2^e; choose a nearby number that is")
    if n == 0:
        return 0, 0
    twos = (n & -n).bit_length() - 1
    return n >> twos, twos - (d.bit_length() - 1)


def task_of(claim: Claim, model: Model) -> Task:
    """The task of a claim about one distribution. Errors: CLAIM_NOT_PLAIN, and those of `tasks_of`."""
    if not claim.plain:
        text = "a mixture, or the log-loss, is for `certify --exact -o FILE`, with one strategy in one process"
        raise CompactProofsError("CLAIM_NOT_PLAIN", text)
    return tasks_of(claim, model)[0][1]


def tasks_of(claim: Claim, model: Model) -> tuple[tuple[int, Task], ...]:
    """The parts of a claim's distribution: (share, task), probabilities being in proportion to share * mass.

    Errors: CLAIM_POSITION, CLAIM_TOKEN, CLAIM_SHARES, CLAIM_ANSWER, and those of task_for.
    """
    task = task_for(model, claim.kind, claim.tokens, claim.eos)
    tasks = [_part(conditions, task) for _, conditions in claim.parts]
    shares = _integers([weight / part.total for (weight, _), part in zip(claim.parts, tasks, strict=True)])
    return tuple(zip(shares, tasks, strict=True))


def _part(conditions: tuple[Condition, ...], task: Task) -> Task:
    """One product of distributions at positions, restricted to answers. All conditions hold, in any order.

    A set at a position with shares restricts these to its tokens.
    """
    rows = [[Fraction(1)] * task.tokens for _ in range(task.length)]
    shared: set[int] = set()
    answers = [condition for condition in conditions if condition.place in ("maximum", "minimum")]
    for condition in conditions:
        row = _shares(condition, task)
        if condition not in answers:
            for position in _positions(condition.place, task):
                if len(condition.shares) > 1:
                    if position in shared:
                        text = f"position {position} is given shares twice; once will do"
                        raise CompactProofsError("CLAIM_SHARES", text)
                    shared.add(position)
                rows[position] = [a * b for a, b in zip(rows[position], row, strict=True)]
                if not any(rows[position]):
                    text = f"no token meets all conditions on position {position}"
                    raise CompactProofsError("CLAIM_TOKEN", f"{text}, of which one is on {condition.place}")
    masses = tuple(_integers(row) for row in rows)
    if task.kind == "min":
        masses = tuple(row[::-1] for row in masses)
    if not all(weight == 1 for row in masses for weight in row):
        task = replace(task, masses=masses)
    return _given(answers, task) if answers else task


def _given(answers: list[Condition], task: Task) -> Task:
    """Only the inputs with certain right answers. Errors: CLAIM_ANSWER."""
    if any(condition.place != f"{task.kind}imum" for condition in answers):
        raise CompactProofsError("CLAIM_ANSWER", f"the task is {task.kind}: the right answer is the {task.kind}imum")
    allowed = reduce(set.intersection, (set(condition.shares[0][1]) for condition in answers))
    maxima = sorted(t if task.kind == "max" else task.tokens - 1 - t for t in allowed)
    if len(maxima) == task.tokens:
        return task
    task = replace(task, maxima=tuple(maxima))
    if task.total == 0:
        raise CompactProofsError("CLAIM_ANSWER", "no input of the distribution has one of the given right answers")
    return task


def _positions(place: int | str, task: Task) -> list[int]:
    if place == "every":
        return list(range(task.length))
    if place == "query":
        if task.eos is not None:
            raise CompactProofsError("CLAIM_POSITION", f"the query is token {task.eos}; conditions are on positions")
        return [task.length - 1]
    if not isinstance(place, int) or place >= task.length:
        raise CompactProofsError("CLAIM_POSITION", f"position {place}, inputs have positions 0..{task.length - 1}")
    return [place]


def _shares(condition: Condition, task: Task) -> list[Fraction]:
    """Probability of each token at a place, up to a factor."""
    total = sum((weight for weight, _ in condition.shares), Fraction(0))
    if total != 1:
        raise CompactProofsError("CLAIM_SHARES", f"shares at {condition.place} sum to {total}, they must sum to 1")
    row = [Fraction(0)] * task.tokens
    for weight, tokens in condition.shares:
        if not tokens or tokens[-1] >= task.tokens:
            last = f"holds token {tokens[-1]}, tokens are 0 to {task.tokens - 1}" if tokens else "is empty"
            text = f"a set at {condition.place} {last}"
            raise CompactProofsError("CLAIM_TOKEN", text)
        for token in tokens:
            row[token] += weight / len(tokens)
    return row


def _integers(row: list[Fraction]) -> tuple[int, ...]:
    """The smallest integers in the same proportions."""
    scale = lcm(*(value.denominator for value in row))
    numbers = [int(value * scale) for value in row]
    common = gcd(*numbers)
    return tuple(number // common for number in numbers)
