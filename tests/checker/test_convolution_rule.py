"""Counting by convolution: every kind of item against exhaustive counts, on tiny circuits."""

from __future__ import annotations

import itertools
import random
import re
from dataclasses import replace
from math import prod

import pytest
from certificates import Document, Outcome, able, judge, plain, planted, random_model, spelled, step_of
from compactproofs.checker.kernel import check, read_document
from compactproofs.checker.numbers import Meter
from compactproofs.checker.rules.grid import tails
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.model import Model
from compactproofs.core.problem import Problem
from compactproofs.core.proof import Builder, Json, Proof, hexadecimal
from compactproofs.core.strategies.convolution import Goal
from compactproofs.core.strategies.convolution.strategy import measured
from compactproofs.core.task import Task, task_for
from oracle import Oracle
from tiny_circuits import Circuit, circuit

ALL = 1200
REFUSALS = ("PRECISION", "GRID_TOO_FINE", "TOO_MANY_OPERATIONS", "ITEM")  # of items at random
Items = dict[int, list[list[Json]]]


def silent(done: int, total: int) -> None:
    """No progress."""


# --- certificates by hand ----------------------------------------------------------------------------


def by_items(problem: Problem, items: Items, digits: int = 64, unit: int = -20) -> Document:
    """A certificate of these items for each maximum; what they prove is what the checker derives."""
    builder = Builder()
    margins = builder.margins(96, 72, problem.threshold)
    maxima: list[Json] = [{"m": m, "items": list(each)} for m, each in sorted(items.items())]
    arguments: dict[str, Json] = {"digits": digits, "unit": unit, "maxima": maxima, "right": "0", "wrong": "0"}
    builder.add("conclude", of=builder.add("margin_convolution", margins=margins, **arguments))
    return settled(plain(problem, Proof("by hand", tuple(builder.steps), 0, problem.task.total, 0)))


def settled(value: Document) -> Document:
    """The results and the claim as the checker derives them."""
    total = int(value["claim"]["bounds"]["total"], 16)
    for _ in range(2):
        found = re.search(r"(right|wrong) stated \d+, derived (\d+)", judge(spelled(value)).text)
        if found:
            number = int(found[2])
            step_of(value, "margin_convolution")[found[1]] = hexadecimal(number)
            side, bound = ("lower", number) if found[1] == "right" else ("upper", total - number)
            value["claim"]["bounds"][side] = hexadecimal(bound)
    return value


def bounds(value: Document) -> tuple[int, int]:
    """The claim of an accepted certificate."""
    outcome = judge(spelled(value))
    assert outcome.verdict == "VERIFIED", outcome.text
    claim = outcome.claim[0]  # type: ignore[index]
    return claim.lower, claim.upper


def refused(value: Document) -> Outcome:
    """The refusal of a certificate."""
    outcome = judge(spelled(value))
    assert outcome.verdict != "VERIFIED"
    return outcome


# --- what the certifier writes -----------------------------------------------------------------------


def compare(given: Circuit) -> bool:
    """The certifier's proof is accepted, true, and as long as it says; True if it is exact."""
    problem = Problem(given.model, given.task, given.threshold)
    proof, operations = measured(problem, silent, Goal(gap=0.0, keep=True))
    data = spelled(plain(problem, proof))
    outcome = judge(data)
    if given.name.startswith("large") and outcome.code == "STATED_RESULT":
        return False  # scores that spread over thousands of nats are beyond the checker's fixed point
    assert outcome.verdict == "VERIFIED", f"{given.name}: {outcome.text}"
    assert check(read_document(data), 10**9, lambda rule, fact: None).operations == operations, given.name
    truth = Oracle(given.model, given.task, given.threshold).count()
    assert proof.lower <= truth <= proof.upper, given.name
    return proof.lower == proof.upper


def test_circuits() -> None:
    exact = sum(compare(circuit(seed)) for seed in range(50))
    assert exact >= 20


@pytest.mark.slow
@pytest.mark.parametrize("start", range(50, ALL, 40))
def test_many_circuits(start: int) -> None:
    assert sum(compare(circuit(seed)) for seed in range(start, start + 40)) >= 15


@pytest.mark.parametrize(("tokens", "context"), [(1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (2, 3)])
def test_the_smallest_tasks(tokens: int, context: int) -> None:
    for seed in range(5):
        model = random_model(seed, vocab=max(tokens, 2), outputs=3, context=context)
        compare(Circuit(f"small_{seed}", model, Task("max", context, tokens), (0, 0)))


def test_a_budget_is_met_and_twice_its_room_proves_no_less() -> None:
    """Room is what a budget leaves beside circuits and weights; between doublings more may prove a little less."""
    problem = Problem(planted(vocab=4, noise=3), task_for(planted(vocab=4, noise=3)))
    least = measured(problem, silent, Goal(least=0.0))[1]
    with pytest.raises(CompactProofsError, match="alone take") as caught:
        measured(problem, silent, Goal(operations=1))
    fixed = int(str(caught.value).split("alone take ")[1].split()[0])
    lower = []
    for doubled in range(12):
        budget = fixed + ((least + 10 - fixed) << doubled)
        proof, operations = measured(problem, silent, Goal(operations=budget))
        data = spelled(plain(problem, proof))
        assert check(read_document(data), 10**9, lambda rule, fact: None).operations == operations <= budget
        lower.append(proof.lower)
    assert lower == sorted(lower)
    assert lower[-1] > lower[0]


# --- items at random ---------------------------------------------------------------------------------


def random_items(rng: random.Random, task: Task, outputs: int) -> Items:
    """Items of all kinds; some are refused, for instance where a screened output can win."""
    result: Items = {}
    for m in range(task.tokens):
        others = [o for o in range(outputs) if o != m]
        items: list[list[Json]] = []
        covered: list[int] = []
        queries = (1 << task.queries(m)) - 1
        rng.shuffle(others)
        while others:
            size = rng.choice((1, 1, 2, len(others)))
            chosen, others = others[:size], others[size:]
            rest: list[Json] = [[p, rng.choice((0, 3, 16, 40))] for p in covered if rng.random() < 0.4]
            step = f"{rng.choice((1 << 8, 1 << 14, 1 << 18, 1 << 22, 999_999)):x}"
            mask = "0" if not others and rng.random() < 0.3 else f"{sum(1 << o for o in chosen):x}"
            if mask != "0" and rng.random() < 0.2:
                items.append(["screen", f"{queries:x}", mask, rest])
            items.append(["upper", f"{queries:x}", mask, rest, step, rng.randrange(64)])
            covered.extend(chosen)
        for o in [o for o in covered if rng.random() < 0.7]:
            some = f"{rng.randrange(1, queries + 1):x}"
            items.append(["lower", some, f"{1 << o:x}", [], f"{1 << rng.randrange(6, 20):x}", rng.randrange(64)])
            for p in covered:
                if p != o and rng.random() < 0.5:
                    pair: list[Json] = [[p, rng.choice((0, 8, 16, 64))]]
                    items.append(
                        ["both", some, f"{1 << o:x}", pair, f"{1 << rng.randrange(6, 20):x}", rng.randrange(64)]
                    )
        result[m] = items
    return result


def random_masses(rng: random.Random, task: Task) -> Task:
    """The task with weights, some zero, none of them common to all positions."""
    rows = [[rng.choice((0, 1, 2, 5)) for _ in range(task.tokens)] for _ in range(task.length)]
    for row in rows:
        row[rng.randrange(task.tokens)] = 3
    return replace(task, masses=tuple(map(tuple, rows)))


def truth_of(given: Circuit, task: Task) -> int:
    """Mass of the right inputs."""
    order = task.token_rows()
    total = 0
    for tokens, right in Oracle(given.model, replace(task, masses=None), given.threshold).all():
        total += right * prod(task.mass(i)[order.index(t)] for i, t in enumerate(tokens[: task.length]))
    return total


def check_random(seed: int) -> str:
    """One circuit with random items; the verdict."""
    rng = random.Random(seed)
    given = circuit(seed)
    task = random_masses(rng, given.task) if seed % 3 == 0 else given.task
    problem = Problem(given.model, task, given.threshold)
    items = random_items(rng, task, given.model.d_vocab_out)
    value = by_items(problem, items)
    outcome = judge(spelled(value))
    if outcome.code == "NOT_HARMLESS":
        value = by_items(problem, {m: [item for item in each if item[0] != "screen"] for m, each in items.items()})
        outcome = judge(spelled(value))
    if outcome.verdict != "VERIFIED":
        assert outcome.code in REFUSALS, (given.name, outcome.text)
        return outcome.code
    lower, upper = bounds(value)
    assert lower <= truth_of(given, task) <= upper, given.name
    return "tight" if lower == upper else "loose"


def test_random_items() -> None:
    found = [check_random(seed) for seed in range(60)]
    assert found.count("tight") + found.count("loose") >= 25


@pytest.mark.slow
@pytest.mark.parametrize("start", range(60, ALL, 60))
def test_many_random_items(start: int) -> None:
    found = [check_random(seed) for seed in range(start, start + 60)]
    assert found.count("tight") + found.count("loose") >= 30


# --- three accepted and three refused of each kind ---------------------------------------------------

# Token t is (t, 1), output o gives t*o - o*o/2: the neighbours of the maximum come next, far outputs never win.
MODEL = planted(vocab=4, pull=1.0, gain=4.0)
FINE = "400"
COVER: Items = {m: [["upper", f"{(2 << m) - 1:x}", "0", [], FINE, 1]] for m in range(4)}


def with_items(m: int, *items: list[Json], model: Model = MODEL) -> Document:
    """All maxima covered; for one, the given items come first."""
    return by_items(Problem(model, task_for(model)), {**COVER, m: [*items, *COVER[m]]})


ACCEPTED: dict[str, list[list[list[Json]]]] = {
    "screen": [
        [["screen", "8", "1", []]],
        [["screen", "f", "1", []]],
        [["upper", "f", "4", [], FINE, 1], ["screen", "8", "3", [[2, 16]]]],
    ],
    "upper": [
        [["upper", "f", "7", [], FINE, 0]],
        [["upper", "1", "4", [], FINE, 63], ["upper", "e", "4", [], "10000", 1]],
        [["upper", "f", "4", [], FINE, 1], ["upper", "f", "3", [[2, 16]], FINE, 1]],
    ],
    "lower": [
        [["lower", "f", "4", [], FINE, 0]],
        [["lower", "1", "4", [], FINE, 1], ["lower", "2", "4", [], FINE, 1]],
        [["lower", "1", "1", [], FINE, 63], ["lower", "1", "2", [], "10000", 0]],
    ],
    "both": [
        [["both", "f", "4", [[1, 16]], FINE, 1]],
        [["lower", "f", "4", [], FINE, 1], ["lower", "f", "2", [], FINE, 1], ["both", "f", "4", [[1, 16]], FINE, 1]],
        [["both", "1", "1", [[2, 0]], FINE, 63], ["both", "1", "2", [[0, 4096]], "100000", 1]],
    ],
}

REFUSED: dict[str, list[tuple[list[list[Json]], str]]] = {
    "screen": [
        ([["screen", "f", "4", []]], "NOT_HARMLESS"),
        ([["screen", "8", "3", [[2, 16]]]], "NOT_COVERED"),
        ([["screen", "f", "0", []]], "ITEM"),
    ],
    "upper": [
        ([["upper", "f", "8", [], FINE, 1]], "ITEM"),
        ([["upper", "f", "4", [], FINE, 64]], "OUT_OF_RANGE"),
        ([["upper", "f", "3", [[2, 16]], FINE, 1]], "NOT_COVERED"),
        ([["upper", "f", "4", [], "0", 1]], "ITEM"),
        ([["upper", "f", "4", [[2, 16]], FINE, 1]], "ITEM"),
    ],
    "lower": [
        ([["lower", "f", "6", [], FINE, 1]], "ITEM"),
        ([["lower", "f", "4", [[1, 16]], FINE, 1]], "ITEM"),
        ([["lower", "10", "4", [], FINE, 1]], "ITEM"),
    ],
    "both": [
        ([["both", "f", "6", [], FINE, 1]], "ITEM"),
        ([["both", "f", "4", [[1, 16], [0, 16]], FINE, 1]], "ITEM"),
        ([["both", "f", "4", [[1, 4097]], FINE, 1]], "OUT_OF_RANGE"),
        ([["both", "f", "4", [[1]], FINE, 1]], "ITEM"),
        ([["both", "f", "4", [[4, 16]], FINE, 1]], "ITEM"),
    ],
}


@pytest.mark.parametrize("kind", ACCEPTED)
@pytest.mark.parametrize("case", range(3))
def test_accepted(kind: str, case: int) -> None:
    lower, upper = bounds(with_items(3, *ACCEPTED[kind][case]))
    assert lower <= Oracle(MODEL, task_for(MODEL)).count() <= upper


@pytest.mark.parametrize(("items", "code"), [row for rows in REFUSED.values() for row in rows])
def test_refused(items: list[list[Json]], code: str) -> None:
    assert refused(with_items(3, *items)).code == code


@pytest.mark.parametrize(("name", "change"), [("right", 1), ("wrong", 1), ("right", -1), ("wrong", -1)])
def test_results_must_be_exact(name: str, change: int) -> None:
    value = with_items(3, *ACCEPTED["both"][1])
    step = step_of(value, "margin_convolution")
    step[name] = hexadecimal(int(step[name], 16) + change)
    assert refused(value).code in ("STATED_RESULT", "NOT_HEX")


def test_an_output_without_an_item_leaves_its_classes_unproved() -> None:
    problem = Problem(able(), task_for(able()))
    each = (["upper", "7", "1", [], FINE, 1], ["upper", "7", "2", [], FINE, 1])
    cover: Items = {2: list(each)}
    part = by_items(problem, {2: [each[0]]})
    none = by_items(problem, {**cover, 2: []})
    assert bounds(part)[0] == bounds(none)[0] < bounds(by_items(problem, cover))[0]


def test_a_whole_item_needs_two_outputs() -> None:
    model = random_model(1, outputs=1)
    problem = Problem(model, Task("max", 2, 1))
    assert refused(by_items(problem, {0: [["upper", "1", "0", [], FINE, 1]]})).code == "ITEM"
    assert bounds(by_items(problem, {0: []})) == (1, 1)


# --- tails -------------------------------------------------------------------------------------------


def test_tails_against_enumeration() -> None:
    rng = random.Random(5)
    for _ in range(300):
        rows = []
        for _ in range(rng.randrange(0, 4)):
            rows.append({rng.randrange(-9, 10): rng.choice((0, 1, 1, 2, 7)) for _ in range(rng.randrange(1, 5))})
        thresholds = [rng.randrange(-30, 31) for _ in range(rng.randrange(1, 4))]
        truth = [
            sum(
                prod(mass for _, mass in choice)
                for choice in itertools.product(*(row.items() for row in rows))
                if sum(cell for cell, _ in choice) >= threshold
            )
            for threshold in thresholds
        ]
        assert tails(rows, thresholds, Meter(10**9)) == truth
