"""A verified proof taken apart: what each of its counts says of every class, what that costs, and inputs to look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import CompactProofsError
from ..exact import rational
from ..problem import Problem
from ..proof import Step
from ..question import Question
from ..sampling import Interval, monte_carlo
from ..task import Region, pairs, region_of
from . import convolved, gaps, pure, stages
from .account import WRONG, Account, Share, Term, sizes_by_others, summed
from .classes import Counted, Group, Table, checked_table, recounted_table
from .facts import Fact, replay_facts
from .replay import Replayed, replay
from .scan import LARGEST, Scan, scan
from .sequences import draw_open
from .words import words_of

EXACT = ("margin_tree", "enumerate")
SAMPLES = 20_000
EXAMPLES = 12


@dataclass(frozen=True, slots=True)
class Example:
    """An input worth looking at, and why."""

    why: str
    replayed: Replayed


@dataclass(slots=True, eq=False)
class Losses:
    """`account`: the proof's word on each class. `scan`: what the model does, in doubles; `sampled` where that is too
    much. `agrees`: does the account add up to the verified numbers? `tables`: bounds of each class, checked ones first.
    """

    account: Account
    kinds: tuple[str, ...]
    agrees: bool
    scan: Scan | None = None
    sampled: Interval | None = None
    examples: list[Example] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    examined: int = 0  # inputs whose float32 answer was compared with the real one
    stated: tuple[int, int] = (0, 0)
    parts: list[Losses] = field(default_factory=list)  # of a mixture


@dataclass(frozen=True, slots=True)
class Part:
    """One count of a proof: its step number and region."""

    number: int
    rule: str
    region: Region
    threshold: tuple[int, int]
    proves: str = "both"  # or "right", "wrong": the side that a count for a floating-point program takes from it


def roots_of(steps: Sequence[Step]) -> list[int]:
    """The step that counts each part of the distribution. Errors: AUDIT_KIND where the proof is not about a count."""
    if steps[-1]["rule"] != "conclude":
        raise CompactProofsError("AUDIT_KIND", f"no account by inputs is known of rule {steps[-1]['rule']}")
    root = int(str(steps[-1]["of"]))
    return [int(str(n)) for n in _list(steps[root]["of"])] if steps[root]["rule"] == "mixture" else [root]


def parts_of(problem: Problem, steps: Sequence[Step], root: int | None = None) -> list[Part]:
    """The counts that the count of a part rests on. Errors: AUDIT_KIND for a rule that is not known here."""
    queue, found = [(roots_of(steps)[0] if root is None else root, "both")], []
    while queue:
        number, side = queue.pop(0)
        step, rule = steps[number], str(steps[number]["rule"])
        if rule == "disjoint_union":
            queue += [(int(str(n)), side) for n in _list(step["of"])]
        elif rule == "float_count":
            queue += [(int(str(step[key])), key) for key in ("right", "wrong") if step[key] is not None]
        elif rule == "margin_convolution":
            found.append(Part(number, rule, convolved.region_of(problem, step), _threshold(steps, step), side))
        elif "region" in step:
            spans = [[int(str(n)) for n in _list(span)] for span in _list(step["region"])]
            region = tuple((m, low, high) for m, low, high in spans)
            found.append(Part(number, rule, region, _threshold(steps, step), side))
        else:
            raise CompactProofsError("AUDIT_KIND", f"step {number}: no account is known of rule {rule}")
    return found


def _threshold(steps: Sequence[Step], step: Step) -> tuple[int, int]:
    """The margin that a count is about: its own argument, or that of its margins."""
    holder = step if "margin_above" in step else steps[int(str(step["margins"]))]
    return int(str(holder["margin_above"]), 16), int(str(holder["exponent"]))


def _list(value: Any) -> list[Any]:
    return list(value)


def analyse(
    asked: Problem | Question,
    steps: Sequence[Step],
    bounds: tuple[int, int],
    deep: bool = True,
    progress: Callable[[str], None] = lambda text: None,
) -> Losses:
    """Take a verified proof apart. `bounds`: the verified lower and upper mass; `deep`: also what each term costs."""
    question = asked if isinstance(asked, Question) else Question(((1, asked),))
    roots, facts = roots_of(steps), replay_facts(question.parts[0][1], steps)
    if len(roots) == 1:
        return _part(question.parts[0][1], steps, roots[0], bounds, facts, deep, progress)
    found = []
    for number, ((_, problem), root) in enumerate(zip(question.parts, roots, strict=True), 1):
        progress(f"part {number} of {len(roots)}")
        found.append(_part(problem, steps, root, _stated(problem, steps, root), facts, deep, progress))
    return _together(question, found, bounds)


def _stated(problem: Problem, steps: Sequence[Step], root: int) -> tuple[int, int]:
    """Lower and upper mass of a part by the numbers in its counting steps, which the checker has agreed on."""
    parts = parts_of(problem, steps, root)
    right = sum(int(str(steps[p.number]["right"]), 16) for p in parts if p.proves != "wrong")
    wrong = sum(int(str(steps[p.number].get("wrong", "0")), 16) for p in parts if p.proves != "right")
    return right, problem.task.total - wrong


def _together(question: Question, found: Sequence[Losses], bounds: tuple[int, int]) -> Losses:
    """All parts of the distribution, each as often as its share says."""
    shares = [share for share, _ in question.parts]
    account = found[0].account.times(shares[0])
    apart = [bool(each.account.terms_of) for each in found if each.account.terms]
    additive = bool(apart) and all(apart)
    for share, each in zip(shares[1:], found[1:], strict=True):
        account.add(each.account.times(share))
    if additive:  # what exact counts of other parts do not count as right is wrong
        pairs_ = zip(shares, found, strict=True)
        rest = [share * int(each.account.loss.sum()) for share, each in pairs_ if not each.account.terms]
        account.terms = summed([*account.terms, Term(*WRONG, sum(rest))])
    elif any(apart):
        account.terms, account.notes = [], [*account.notes, "parts are proved in different ways: see each by itself"]
    if not all(each.account.others for each in found):
        account.others = []
    groups = tuple(
        Group(None, None, p.task.total, *_sides(each), part=number)
        for number, ((_, p), each) in enumerate(zip(question.parts, found, strict=True), 1)
    )
    agrees = (
        all(each.agrees for each in found)
        and (
            int(account.right.sum()),
            question.mass - int(account.wrong.sum()),
        )
        == bounds
    )
    kinds = tuple(dict.fromkeys(kind for each in found for kind in each.kinds))
    scans = [each.scan for each in found]
    seen = None
    if all(each is not None for each in scans):
        total = Account.empty(question.task)
        for share, scanned in zip(shares, scans, strict=True):
            if scanned is not None:
                total.add(Account(question.task, scanned.account.right * share, scanned.account.wrong * share))
        seen = Scan(total)
    examples = {example.replayed.tokens: example for each in found for example in each.examples}
    return Losses(
        account=account,
        kinds=kinds,
        agrees=agrees,
        scan=seen,
        examples=list(examples.values()),
        facts=found[0].facts,
        tables=[Table("part", True, groups)],
        examined=sum(each.examined for each in found),
        parts=list(found),
    )


def _sides(each: Losses) -> tuple[int, int]:
    return each.stated[0], each.account.task.total - each.stated[1]


def _part(
    problem: Problem,
    steps: Sequence[Step],
    root: int,
    bounds: tuple[int, int],
    facts: list[Fact],
    deep: bool,
    progress: Callable[[str], None],
) -> Losses:
    """The account of one distribution."""
    parts = parts_of(problem, steps, root)
    progress("the model's answers, class by class")
    exact = all(part.rule in EXACT for part in parts)
    seen = _scan(problem, None) if exact or problem.task.total <= LARGEST else None
    account = Account.empty(problem.task)
    for part in parts:
        progress(f"step {part.number}: {part.rule}")
        account.add(_side(_account(problem, steps, part, facts, seen, deep), part.proves))
    _rest(problem, parts, account, deep)
    if not account.outputs and seen is not None:
        account.outputs, account.outputs_of = dict(seen.account.outputs), f"in doubles, {seen.account.outputs_of}"
    right, wrong = int(account.right.sum()), int(account.wrong.sum())
    if account.terms and not account.terms_of and seen is not None:
        account.terms.append(_remainder(account, int(seen.account.wrong.sum())))
    if account.terms and any(part.proves == "right" for part in parts):
        account.notes.append("terms are those of the count over the real numbers, whose threshold is the higher one")
    agrees = (right, problem.task.total - wrong) == bounds
    counted = checked_table(problem.task, [Counted(part.region, part.proves, steps[part.number]) for part in parts])
    tables = [] if counted is None else [counted]
    if agrees and (counted is None or counted.kind != "class") and (again := recounted_table(account)) is not None:
        tables.append(again)
    kinds = tuple(dict.fromkeys(part.rule for part in parts))
    result = Losses(account, kinds, agrees, seen, facts=facts, tables=tables, stated=bounds)
    plain = problem.task.masses is None and problem.task.maxima is None
    if seen is None and plain and problem.task.eos is None and problem.task.kind == "max":
        result.sampled = monte_carlo(problem, SAMPLES, seed=0)
    progress("replaying inputs")
    result.examples, result.examined = _examples(problem, result)
    return result


def _remainder(account: Account, wrong: int) -> Term:
    """What terms freed one at a time do not win; less than nothing if they overlap."""
    lost = int(account.loss.sum())
    meaning = "of the inputs that the model gets right, those that no term wins alone (negative: terms overlap)"
    return Term("remainder", meaning, lost - wrong - sum(term.gained for term in account.terms))


def _rest(problem: Problem, parts: Sequence[Part], account: Account, deep: bool) -> None:
    """Enter the classes that no count of right inputs is about: all of them are open, unless proved wrong."""
    seen = {each for part in parts if part.proves != "wrong" for each in pairs(part.region)}
    masses = np.zeros_like(account.right)
    for q, m in pairs(problem.task.whole()):
        if (q, m) not in seen:
            masses[q, m] = problem.task.class_size(q, m)
    if not masses.any():
        return
    region = region_of(each for each in pairs(problem.task.whole()) if each not in seen)
    sizes = sizes_by_others(problem.task, region)
    more = Account.empty(problem.task)
    more.others = [Share(str(n), size, 0, 0) for n, size in enumerate(sizes)] if account.others else []
    if deep and account.terms_of == stages.MEANING:
        more.terms = stages.left_out(problem, masses)
    account.add(more)


def _scan(problem: Problem, region: Region | None) -> Scan | None:
    try:
        return scan(problem, region)
    except CompactProofsError as error:
        if error.code != "SCAN_TOO_LARGE":
            raise
        return None


def _account(
    problem: Problem, steps: Sequence[Step], part: Part, facts: list[Fact], seen: Scan | None, deep: bool
) -> Account:
    """The account of one count."""
    step, region = steps[part.number], part.region
    whole = region == problem.task.whole() and part.threshold == problem.threshold
    if part.threshold != problem.threshold:
        problem = Problem(problem.model, problem.task, part.threshold)
    if part.rule in EXACT:
        found = seen if whole else _scan(problem, region)
        return _unsplit(problem, step, region) if found is None else _copy(found.account)
    if part.rule == "pure_sequences":
        account = pure.account(problem, region)
        if deep:
            account.terms = pure.terms(problem, region, int(account.right.sum()))
    elif part.rule == "gap_classes":
        right = int(str(step["right"]), 16)
        account = gaps.account(problem, step, region, right)
        if deep:
            account.terms = gaps.terms(problem, step, region, facts, int(account.right.sum()))
    elif part.rule == "margin_convolution":
        account = convolved.account(problem, step, _weights(steps, step), deep)
    else:
        raise CompactProofsError("AUDIT_KIND", f"step {part.number}: no account is known of rule {part.rule}")
    return account


def _weights(steps: Sequence[Step], step: Step) -> dict[str, Any]:
    margins = steps[int(str(step["margins"]))]
    return dict(steps[int(str(margins["weights"]))])


def _side(account: Account, proves: str) -> Account:
    """What a count for a floating-point program takes from a count about real numbers."""
    nothing = Account.empty(account.task)
    if proves == "right":
        account.wrong, account.outputs = nothing.wrong, {}
        account.others = [Share(share.label, share.size, share.right, 0) for share in account.others]
    elif proves == "wrong":
        account.right, account.terms, account.certified = nothing.right, [], None
        account.others = [Share(share.label, 0, 0, share.wrong) for share in account.others]
    return account


def _copy(account: Account) -> Account:
    """A scan's account may be shared by two reports."""
    copied = Account(account.task, account.right.copy(), account.wrong.copy())
    copied.others, copied.outputs = list(account.others), dict(account.outputs)
    copied.outputs_of = account.outputs_of
    return copied


def _unsplit(problem: Problem, step: Step, region: Region) -> Account:
    """Where the inputs cannot be listed, the verified totals alone; shown as one class."""
    account = Account.empty(problem.task)
    account.notes.append("too many inputs to list: how the count is spread over classes is not shown")
    return account


def _examples(problem: Problem, losses: Losses) -> tuple[list[Example], int]:
    """Inputs that the model gets wrong, that the proof leaves open, and that lie nearest to the threshold."""
    chosen: list[tuple[str, tuple[int, int, tuple[int, ...]]]] = []
    words, bar = words_of(problem.threshold), rational(*problem.threshold)
    if losses.scan is not None:
        chosen += [(words.worst, item) for _, item in losses.scan.worst[:EXAMPLES]]
        chosen += [(words.nearest, item) for _, item in losses.scan.closest[: 4 * EXAMPLES]]
    if any(kind not in EXACT for kind in losses.kinds):
        drawn = draw_open(problem, losses.account)
        right = [each for each in drawn if each.margin > bar]
        chosen += [("open, smallest margin drawn", each.item) for each in drawn[:EXAMPLES]]
        chosen += [(words.wide, each.item) for each in right[::-1][: EXAMPLES // 2]]
    seen: dict[tuple[int, int, tuple[int, ...]], str] = {}
    for why, item in chosen:
        seen.setdefault(item, why)
    replayed = replay(problem, list(seen))
    examples = [Example(why, each) for why, each in zip(seen.values(), replayed, strict=True)]
    return _shortened(examples), len(examples)


def _shortened(examples: list[Example]) -> list[Example]:
    """All disagreements, and of each reason at most a dozen."""
    kept: list[Example] = []
    for example in examples:
        alike = sum(example.why == other.why for other in kept)
        if example.replayed.disagree or alike < EXAMPLES:
            kept.append(example)
    return kept


def model_shares(losses: Losses) -> list[Share]:
    """Per maximum, what the model really gets wrong (in doubles), where all inputs were looked at."""
    return [] if losses.scan is None else losses.scan.account.by_maximum()
