"""Random but well-typed proofs with random witnesses: whatever is accepted must be true.

An attacker may choose every witness, and may state whatever the checker derives from them. So each proof is settled:
results that a refusal names are written into the file until it is accepted or refused for another reason; then the
claim is compared with the exact truth about its tiny model. A new rule adds one row to `KINDS`.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

import pytest
from certificates import (
    Document,
    Outcome,
    able,
    certify,
    convolution,
    judge,
    plain,
    planted,
    random_model,
    spelled,
    step_of,
)
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.problem import Problem
from compactproofs.core.proof import Builder, Proof, hexadecimal
from compactproofs.core.task import task_for
from mutate import true_claim
from tiny_circuits import Circuit, circuit

Random = random.Random


def settle(value: Document) -> Outcome:
    """The verdict, once every stated result is the derived one."""
    for _ in range(40):
        outcome = judge(spelled(value))
        stated = re.match(r"step (\d+), .*?: STATED_RESULT: (\w+) stated -?\d+, derived (-?\d+)", outcome.text)
        bound = re.match(r"claim: BOUND: claimed .*, proved (\d+)\.\.(\d+) of", outcome.text)
        if stated:
            value["proof"][int(stated[1])][stated[2]] = hexadecimal(int(stated[3]))
        elif bound:
            value["claim"]["bounds"].update(lower=f"{int(bound[1]):x}", upper=f"{int(bound[2]):x}")
        else:
            return outcome
    raise AssertionError(f"does not settle: {outcome.text}")


def vector(rng: Random, length: int, size: int = 12) -> dict[str, Any]:
    """A row of random numbers, some of them zero."""
    values = [hexadecimal(rng.randrange(-(1 << size), 1 << size) if rng.random() < 0.8 else 0) for _ in range(length)]
    return {"exponent": rng.randrange(-size - 2, 1), "values": values}


def some_circuit(rng: Random) -> Circuit:
    while True:
        found = circuit(rng.randrange(10**6))
        if found.task.length > 1 and not found.name.startswith("large"):
            return found


def spans(rng: Random, tokens: int, eos: bool) -> list[list[int]]:
    """A random region: ascending, disjoint, joined where it can be."""
    classes = [(m, q) for m in range(tokens) for q in range(1 if eos else m + 1) if rng.random() < 0.75]
    result: list[list[int]] = []
    for m, q in classes or [(tokens - 1, 0)]:
        if result and result[-1][0] == m and result[-1][2] == q:
            result[-1][2] = q + 1
        else:
            result.append([m, q, q + 1])
    return result


def counted(rng: Random) -> Document:
    """Enumeration, margin tree and cubic proof over random regions at random precision, joined."""
    given = some_circuit(rng)
    task = given.task
    problem = Problem(given.model, task, given.threshold)
    builder = Builder()
    width = given.model.d_model
    names = ("EQKE", "EQKP", "EVOU", "PVOU", "EU")
    common = vector(rng, width) if rng.random() < 0.3 else None
    own = vector(rng, width) if rng.random() < 0.3 else None
    centres = {"EQKE": own, "EQKP": None, "EVOU": common, "PVOU": common, "EU": None}
    numbers = {name: builder.exact_circuit(name, centres[name]) for name in names}
    margins = []
    for _ in range(rng.choice((1, 1, 2))):
        bits, grid = rng.choice((8, 16, 48, 96)), rng.choice((8, 20, 60))
        weights = builder.add("weights", scores=numbers["EQKE"], positions=numbers["EQKP"], bits=bits, grid=grid)
        parts = {"direct": numbers["EU"], "values": numbers["EVOU"], "positions": numbers["PVOU"]}
        stated = {"margin_above": hexadecimal(given.threshold[0]), "exponent": given.threshold[1]}
        margins.append(builder.add("margins", weights=weights, **parts, **stated))
    region = spans(rng, task.tokens, task.eos is not None)
    groups: list[list[list[int]]] = [[] for _ in range(rng.choice((1, 1, 2, 3)))]
    for span in region:
        rng.choice(groups).append(span)
    counts = []
    for number, group in enumerate(group for group in groups if group):
        rule = rng.choice(("enumerate", "margin_tree", "pure_sequences"))
        more: dict[str, Any] = {"right": "0"}
        if rule != "pure_sequences":
            more |= {"wrong": "0", "digits": rng.choice((8, 12, 40, 90))}
        if rule == "enumerate":
            more["logit_bits"] = rng.choice((0, 3, 10, 40))
        counts.append(builder.add(rule, margins=margins[number % len(margins)], region=group, **more))
    last = counts[0] if len(counts) == 1 else builder.add("disjoint_union", of=counts)
    builder.add("conclude", of=last)
    return plain(problem, Proof("random", tuple(builder.steps), 0, task.total, 0))


def gapped(rng: Random) -> Document:
    """A sub-cubic proof of the certifier's, with other witnesses: peels, summaries, gaps and pivots."""
    if rng.random() < 0.7:
        model = planted(
            rng.choice((3, 4)), 3, rng.choice((1.0, 3.0, 6.0)), rng.choice((4.0, 24.0)), noise=rng.randrange(1, 99)
        )
    else:
        model = random_model(rng.randrange(10**6), context=rng.choice((2, 3)))
    value = certify(model, f"subcubic:{rng.choice((1, 2, 3, 9, 30, 49, 69, 81))}")
    for found in value["proof"]:
        if found["rule"] == "peel" and found["at"] == 0 and len(found["column"]["values"]) and rng.random() < 0.15:
            found["row"] = vector(rng, len(found["row"]["values"]))
        elif found["rule"] == "peel" and rng.random() < 0.15 and found is not step_of(value, "peel", -1):
            found["column"] = vector(rng, len(found["column"]["values"]), 20)
        elif found["rule"] == "circuit" and found["name"] == "EQKE" and rng.random() < 0.2:
            found["centre"] = vector(rng, model.d_model)
    gaps = step_of(value, "gap_classes")
    unit = rng.choice((3, 8, 16))
    for number, (m, _, _) in enumerate(gaps["region"]):
        if rng.random() < 0.6:
            text = list(gaps["gaps"][number])
            for i in range(len(text)):
                if rng.random() < 0.5:
                    text[i] = str(rng.randrange(0, m + 1))
            gaps["gaps"][number] = "".join(text)
    if rng.random() < 0.6:
        gaps["unit"] = unit
        gaps["pivots"] = [
            [f"{n:x}" for n in sorted(rng.sample(range(1, 1 << unit), rng.randrange(0, 4)))] for _ in gaps["pivots"]
        ]
    gaps.update(bits=rng.choice((8, 24, 64)), grid=rng.choice((8, 24, 64)))
    return value


def certain_gaps(rng: Random) -> Document:
    """A proof in which each single gap is chosen at random, in a model that allows many of them."""
    value = certify(able(rng.choice((3, 4))), rng.choice(("subcubic:3", "subcubic:9")))
    gaps = step_of(value, "gap_classes")
    number = rng.randrange(len(gaps["gaps"]))
    text = list(gaps["gaps"][number])
    text[rng.randrange(len(text))] = str(rng.randrange(0, gaps["region"][number][0] + 2))
    gaps["gaps"][number] = "".join(text)
    return value


def convolved(rng: Random) -> Document:
    """A convolution with other items: kinds, sets of queries and outputs, shares, grid steps and offsets."""
    while True:
        model = random_model(rng.randrange(10**6), context=rng.choice((2, 3)))
        try:
            value = convolution(model, rng.choice((0.4, 0.7, 1.0)))
            break
        except CompactProofsError:
            continue
    found = step_of(value, "margin_convolution")
    for entry in found["maxima"]:
        queries = 1 << entry["m"] + 1
        for item in entry["items"]:
            if rng.random() < 0.3:
                item[1] = f"{rng.randrange(1, queries):x}"
            if rng.random() < 0.2:
                item[2] = f"{rng.randrange(8) & ~(1 << entry['m']):x}"  # 0: all outputs
            if rng.random() < 0.2:
                others = [o for o in range(3) if o != entry["m"] and not int(item[2], 16) >> o & 1]
                item[3] = [[o, rng.randrange(0, 40)] for o in others if rng.random() < 0.7]
            if len(item) > 4 and rng.random() < 0.5:
                item[4] = f"{max(1, int(int(item[4], 16) * rng.choice((0.3, 0.9, 1.7, 5)))):x}"
                item[5] = rng.randrange(64)
            if len(item) > 4 and rng.random() < 0.2:
                item[0] = rng.choice(("upper", "lower", "both"))
        if rng.random() < 0.2:
            rng.shuffle(entry["items"])
        if rng.random() < 0.2:
            entry["items"].insert(0, json.loads(json.dumps(rng.choice(entry["items"] or [["screen", "1", "1", []]]))))
        if rng.random() < 0.2 and entry["items"]:
            entry["items"].pop(rng.randrange(len(entry["items"])))
    if rng.random() < 0.15 and found["maxima"]:
        found["maxima"].pop(rng.randrange(len(found["maxima"])))
    found["digits"] = rng.choice((8, 16, 64))
    return value


KINDS: dict[str, tuple[Callable[[Random], Document], float]] = {
    "counted": (counted, 0.5),
    "gapped": (gapped, 0.1),
    "certain_gaps": (certain_gaps, 0.2),
    "convolved": (convolved, 0.1),
}
"""Name -> maker of proofs, and the least share that must be accepted for the test to mean anything."""


def attack(kind: str, seeds: range) -> None:
    make, share = KINDS[kind]
    accepted = positive = 0
    for seed in seeds:
        value = make(Random(f"{kind} {seed}"))
        outcome = settle(value)
        assert outcome.verdict != "INTERNAL", f"{kind} {seed}: {outcome.text}"
        if outcome.verdict == "VERIFIED":
            accepted += 1
            positive += value["claim"]["bounds"]["lower"] != "0"
            assert true_claim(spelled(value)), f"{kind} {seed}: accepted, and false: {value['claim']}"
    assert accepted >= share * len(seeds), f"{accepted} of {len(seeds)} accepted"
    assert positive >= accepted // 8


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_of_random_proofs(kind: str) -> None:
    attack(kind, range(40))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("kind", KINDS)
def test_many_random_proofs(kind: str, part: int) -> None:
    attack(kind, range(40 + 100 * part, 140 + 100 * part))


def test_settling_reaches_the_derived_counts() -> None:
    """A proof with all counts wiped settles on the certifier's."""
    value = certify(random_model(1), "margin-tree")
    wanted = dict(value["claim"]["bounds"])
    step_of(value, "margin_tree").update(right="0", wrong="0")
    value["claim"]["bounds"].update(lower="0", upper="0")
    assert settle(value).verdict == "VERIFIED"
    assert value["claim"]["bounds"] == wanted
    assert task_for(random_model(1)).total == 9
