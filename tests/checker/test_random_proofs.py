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
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

import mpmath
import pytest
from certificates import (
    ATTENTION,
    Document,
    Outcome,
    able,
    asked,
    certify,
    convolution,
    judge,
    model_of,
    plain,
    planted,
    random_model,
    spelled,
    step_of,
)
from compactproofs.core.claim import dyadic
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.model import Model
from compactproofs.core.problem import Problem
from compactproofs.core.proof import Builder, Proof, hexadecimal
from compactproofs.core.semantics import Semantics
from compactproofs.core.task import task_for
from mutate import true_claim
from oracle import Oracle
from tiny_circuits import Circuit, circuit

Random = random.Random


def settle(value: Document, decide: Callable[[bytes], Outcome] = judge) -> Outcome:
    """The verdict, once every stated result is the derived one, and every gap that fails is a larger one, or none."""
    for _ in range(200):
        outcome = decide(spelled(value))
        stated = re.match(r"step (\d+), .*?: STATED_RESULT: (\w+) stated -?\d+, derived (-?\d+)", outcome.text)
        bound = re.match(r"claim: BOUND: claimed .*, proved (\d+)\.\.(\d+) of", outcome.text)
        total = re.match(r"claim.bounds: TOTAL: .* has (\d+)", outcome.text)
        gap = re.match(r"step (\d+), .*GAP_FAILS: query (\d+), maximum (\d+), (\d+) others, gap (\d+):", outcome.text)
        if stated:
            value["proof"][int(stated[1])][stated[2]] = hexadecimal(int(stated[3]))
        elif bound:
            value["claim"]["bounds"].update(lower=f"{int(bound[1]):x}", upper=f"{int(bound[2]):x}")
        elif total:
            value["claim"]["bounds"]["total"] = f"{int(total[1]):x}"
        elif gap:
            number, *where = map(int, gap.groups())
            weaken(value["proof"][number], *where)
        else:
            return outcome
    raise AssertionError(f"does not settle: {outcome.text}")


def weaken(step: Document, q: int, m: int, others: int, gap: int) -> None:
    """Claim less about one part of a class; gaps are single digits here."""
    for number, (maximum, low, high) in enumerate(step["region"]):
        if maximum == m and low <= q < high:
            text = list(step["gaps"][number])
            free = len(text) // (high - low)
            place = (q - low) * free + others - (q == m)
            text[place] = f"{gap + 1:x}" if others and gap < m else "0"
            step["gaps"][number] = "".join(text)


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


FLAWS = ("centre", "circuit", "threshold", "claim", "overlap")


def counted(rng: Random, flaw: str = "", given: Circuit | None = None) -> Document:
    """Enumeration, margin tree and cubic proof over random regions at random precision, joined.

    `flaw` is one thing that must not be: circuits of different centres, one in the place of another, counts that differ
    in their thresholds, from each other or from the claim, or count classes twice.
    """
    given = given or some_circuit(rng)
    task = given.task
    problem = Problem(given.model, task, given.threshold)
    builder = Builder()
    width = given.model.d_model
    names = ("EQKE", "EQKP", "EVOU", "PVOU", "EU")
    common = vector(rng, width) if rng.random() < 0.3 else None
    own = vector(rng, width) if rng.random() < 0.3 else None
    centres = {"EQKE": own, "EQKP": None, "EVOU": common, "PVOU": common, "EU": None}
    if flaw == "centre":
        centres["PVOU"] = vector(rng, width)
    numbers = {name: builder.exact_circuit(name, centres[name]) for name in names}
    if flaw == "circuit":
        a, b = rng.sample(names, 2)
        numbers[a] = numbers[b]
    margins = []
    for copy in range(2 if flaw == "threshold" else rng.choice((1, 1, 2))):
        bits, grid = rng.choice((8, 16, 48, 96)), rng.choice((8, 20, 60))
        weights = builder.add("weights", scores=numbers["EQKE"], positions=numbers["EQKP"], bits=bits, grid=grid)
        parts = {"direct": numbers["EU"], "values": numbers["EVOU"], "positions": numbers["PVOU"]}
        other = flaw == "claim" or (flaw == "threshold" and copy)
        n, exponent = rng.choice(((1, 1), (-1, 1))) if other else given.threshold
        stated = {"margin_above": hexadecimal(n), "exponent": exponent}
        margins.append(builder.add("margins", weights=weights, **parts, **stated))
    region = spans(rng, task.tokens, task.eos is not None)
    groups: list[list[list[int]]] = [[] for _ in range(2 if flaw else rng.choice((1, 1, 2, 3)))]
    for span in region:
        for group in groups if flaw == "overlap" else [rng.choice(groups)]:
            group.append(span)
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


def near(rng: Random) -> Document:
    """A count for a threshold that is very near to the margin of some input, so that roundings decide."""
    while True:
        given = some_circuit(rng)
        oracle = Oracle(given.model, given.task)
        if oracle.outputs > 1:
            break
    return counted(rng, "", replace(given, threshold=near_threshold(oracle, rng)))


def near_threshold(oracle: Oracle, rng: Random) -> tuple[int, int]:
    """A threshold a little below or above the margin of some input."""
    margin, bits = oracle.margin(rng.choice(list(oracle.sequences()))), rng.randrange(2, 12)
    return dyadic(Fraction(int(mpmath.floor(margin * 2**bits)) + rng.randrange(2), 1 << bits))


def careless(rng: Random) -> Document:
    """Counts that are joined with no look at what they are about."""
    return pruned(counted(rng, rng.choice(FLAWS)))


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


def circuit_of(proof: list[Document], step: Document) -> str:
    """The circuit that a step is about."""
    while step["rule"] != "circuit":
        step = proof[step["of"]]
    return str(step["name"])


def plain_sight(vocab: int, context: int, rng: Random) -> Model:
    """A model like `planted` whose queries have no part in the logits, so that bounds for all of them are tight."""
    sizes = {"d_vocab": vocab, "d_vocab_out": vocab, "n_ctx": context, "d_model": 3, "d_head": 1}
    pull, gain, noise = rng.choice((0.25, 1.0, 3.0)), rng.choice((1.0, 4.0)), rng.choice((0, 0, 1, 4))
    places = [[rng.randrange(-noise, noise + 1) / 8, 0.0, 0.0] for _ in range(context)]
    numbers = {
        "embed.W_E": [x for t in range(vocab) for x in (float(t), 1.0, 0.0)],
        "pos_embed.W_pos": [x for place in places for x in place],
        ATTENTION + "W_Q": [rng.choice((0.0, 0.5, -0.5)), 1.0, 0.0],
        ATTENTION + "W_K": [pull, 0.0, 0.0],
        ATTENTION + "W_V": [1.0, 0.0, 0.0],
        ATTENTION + "W_O": [0.0, 0.0, gain],
        "unembed.W_U": [*[0.0] * vocab, *(-gain * o * o / 2 for o in range(vocab)), *map(float, range(vocab))],
    }
    return model_of(numbers, sizes)


def daring(rng: Random) -> Document:
    """A sub-cubic proof that claims everything of every class, by approximations that may be bad; settling claims less.

    Its threshold is near the margin of an input, so that there is something to be wrong about.
    """
    vocab, context = rng.choice(((3, 2), (3, 3), (4, 2)))
    model = plain_sight(vocab, context, rng) if rng.random() < 0.7 else planted(vocab, context, noise=rng.randrange(99))
    if rng.random() < 0.1:
        model = random_model(rng.randrange(10**6), vocab, context)
    threshold = near_threshold(Oracle(model, task_for(model)), rng)
    value = certify(model, f"subcubic:{rng.choice((1, 2, 3, 9, 30, 49, 69, 81))}", None, threshold)
    name = rng.choice(("EQKE", "EQKE", "EU"))
    peels = [step for step in value["proof"] if step["rule"] == "peel" and circuit_of(value["proof"], step) == name]
    if peels and rng.random() < 0.8:  # another approximation: a part of one is taken several times, or at random
        found = rng.choice(peels)
        key, factor = rng.choice(("column", "row")), rng.choice((-1, 2, 3, 8))
        scaled = [hexadecimal(factor * int(n, 16)) for n in found[key]["values"]]
        found[key] = {**found[key], "values": scaled} if rng.random() < 0.7 else vector(rng, len(scaled), 6)
    if rng.random() < 0.1:
        step_of(value, "circuit", rng.randrange(4))["centre"] = vector(rng, model.d_model)
    gaps = step_of(value, "gap_classes")
    gaps["region"] = [[m, 0, m + 1] for m in range(vocab)]
    gaps["pivots"] = [rng.choice(([], [f"{1 << gaps['unit'] - 1:x}"])) for _ in range(vocab)]
    free = context - 1
    gaps["gaps"] = [
        "".join("1" if m or n == 0 else "0" for q in range(m + 1) for n in range(int(q == m), free + int(q == m)))
        for m in range(vocab)
    ]
    gaps.update(bits=rng.choice((8, 24, 64)), grid=rng.choice((8, 24, 64)))
    return value


def convolved(rng: Random) -> Document:
    """A convolution with other items: kinds, sets of queries and outputs, shares, grid steps and offsets."""
    while True:
        model = random_model(rng.randrange(10**6), context=rng.choice((2, 3)))
        threshold = near_threshold(Oracle(model, task_for(model)), rng) if rng.random() < 0.6 else (0, 0)
        try:
            value = convolution(model, rng.choice((0.1, 0.4, 0.7, 1.0)), None, threshold)
            break
        except CompactProofsError:
            continue
    found, much = step_of(value, "margin_convolution"), rng.choice((0.1, 1))
    for entry in found["maxima"]:
        queries = 1 << entry["m"] + 1
        for item in entry["items"]:
            if rng.random() < 0.3 * much:
                item[1] = f"{rng.randrange(1, queries):x}"
            if rng.random() < 0.2 * much:
                item[2] = f"{rng.randrange(8) & ~(1 << entry['m']):x}"  # 0: all outputs
            if rng.random() < 0.2 * much:
                others = [o for o in range(3) if o != entry["m"] and not int(item[2], 16) >> o & 1]
                item[3] = [[o, rng.randrange(0, 40)] for o in others if rng.random() < 0.7 * much]
            if len(item) > 4 and rng.random() < 0.5 * much:
                item[4] = f"{max(1, int(int(item[4], 16) * rng.choice((0.3, 0.9, 1.7, 5)))):x}"
                item[5] = rng.randrange(64)
            if len(item) > 4 and rng.random() < 0.2 * much:
                item[0] = rng.choice(("upper", "lower", "both"))
        if rng.random() < 0.2 * much:
            rng.shuffle(entry["items"])
        if rng.random() < 0.2 * much:
            entry["items"].insert(0, json.loads(json.dumps(rng.choice(entry["items"] or [["screen", "1", "1", []]]))))
        if rng.random() < 0.2 * much and entry["items"]:
            entry["items"].pop(rng.randrange(len(entry["items"])))
    if rng.random() < 0.15 * much and found["maxima"]:
        found["maxima"].pop(rng.randrange(len(found["maxima"])))
    found["digits"] = rng.choice((8, 16, 64))
    return value


def weighted_count(rng: Random) -> Document:
    """A random proof of a count by the tree or by enumeration, under a random distribution."""
    value = counted(rng)
    task = value["claim"]["task"]
    most = rng.choice((2, 9))
    masses = [[f"{rng.randrange(most):x}" for _ in range(task["tokens"])] for _ in range(task["length"])]
    for row in masses:
        row[rng.randrange(len(row))] = f"{most - 1:x}"
    if all(weight == "1" for row in masses for weight in row):
        masses[0][0] = "2"
    value["claim"]["distribution"] = masses
    total = f"{prod(sum(int(x, 16) for x in row) for row in masses):x}"
    value["claim"]["bounds"] = {"lower": "0", "upper": total, "total": total}
    for number, step in enumerate(value["proof"]):
        if step["rule"] == "pure_sequences" and rng.random() < 0.8:
            value["proof"][number] = {**step, "rule": "margin_tree", "digits": rng.choice((8, 30)), "wrong": "0"}
    return value


GIVEN = ("query in {0,1}", "maximum in {1,2}", "maximum in {2}", "position 0 ~ 1/2 {0} + 1/2 {1..2}", "query in {0..2}")
FORMATS = {"binary32": "F32", "binary64": "F64", "binary16": "F16", "bfloat16": "BF16"}


def programs(rng: Random) -> Document:
    """A proof about a program, with other thresholds, precision, sizes and assumptions; of a mixture, too."""
    while True:
        format = rng.choice(("binary32", "binary32", "binary64", "binary16", "bfloat16"))
        sizes = {"vocab": rng.choice((2, 3)), "context": rng.choice((2, 3))}
        narrow = format == "bfloat16" or rng.random() < 0.3  # else half-precision weights in a wider program
        dtype = FORMATS[format] if narrow else "F16"
        if rng.random() < 0.5:
            biases = rng.choice(((), ("blocks.0.attn.b_Q", "unembed.b_U")))
            model = random_model(rng.randrange(10**6), **sizes, dtype=dtype, biases=biases)
        else:
            model = planted(**sizes, pull=rng.choice((0.5, 2.0)), dtype=dtype, noise=rng.randrange(1, 99))
        semantics = Semantics(format, rng.choice((1, 4, 50)), rng.choice(("gradual", "flush")))
        mixed = sizes["vocab"] == 3 and rng.random() < 0.4
        text = f"accuracy when 1/3 ({rng.choice(GIVEN)}) + 2/3 ({rng.choice(GIVEN)})" if mixed else "accuracy"
        try:
            value = asked(model, text, rng.choice(("margin-tree", "brute-force")), semantics=semantics)
            break
        except CompactProofsError:
            continue
    for step in value["proof"]:
        if step["rule"] == "margins" and rng.random() < 0.4:
            step["margin_above"] = f"{int(int(step['margin_above'], 16) * rng.choice((0.98, 0.999, 1.001, 1.02, 3))):x}"
        if step["rule"] == "float_error" and rng.random() < 0.4:
            step["bits"] = rng.choice((120, 160, 240))  # where its roundings cannot decide
        if step["rule"] == "float_error" and rng.random() < 0.4:
            step["ceiling"] = rng.choice((2, 3, 4, 5, 6, 8, 12, 40, 126))
        if step["rule"] == "float_error" and rng.random() < 0.2:
            step["semantics"]["exp_ulp"] = value["claim"]["semantics"]["exp_ulp"] = rng.choice((1, 2, 16, 1 << 16))
    return value


def mixtures(rng: Random) -> Document:
    """A claim about parts of a distribution, or the log-loss, with other shares, precision, bounds and thresholds."""
    while True:
        a, b = sorted(rng.sample(range(1, 9), 2))
        parts = f"when {a}/{b} ({rng.choice(GIVEN)}) + {b - a}/{b} ({rng.choice(GIVEN)} and {rng.choice(GIVEN)})"
        what = rng.choice(("accuracy", "P(margin > -1/4)", "P(margin > 1/2)", "E[log-loss]", "E[log-loss]"))
        text = f"{what} of max {rng.choice((parts, parts, 'when maximum in {1,2}', ''))}"
        if rng.random() < 0.3:
            text = text.replace("max", "min")
        strategy = "margin-convolution" if "loss" not in what and rng.random() < 0.3 else "margin-tree"
        try:
            value = asked(random_model(rng.randrange(10**6), context=rng.choice((2, 3))), text, strategy, 0.5)
            break
        except CompactProofsError:
            continue
    for step in value["proof"]:
        if "digits" in step and rng.random() < 0.2:
            step["digits"] = rng.choice((8, 12, 40))
        for side in ("upper", "lower"):
            if step["rule"] == "log_loss" and rng.random() < 0.4:
                place = rng.randrange(len(step[side]))
                moved = int(step[side][place], 16) + rng.choice((-1, 1)) * rng.choice((1, 1, 1 << 20))
                step[side][place] = f"{max(0, moved):x}"
    return value


def mixed_up(rng: Random) -> Document:
    """A proof about parts of a distribution, or the log-loss, that counts the wrong inputs, or in the wrong order."""
    value = mixtures(rng)
    proof, parts = value["proof"], value["claim"]["distribution"]
    if proof[-1]["rule"] == "log_loss" and rng.random() < 0.5:
        lists = [proof[-1][key] for key in ("of", "upper", "lower")]
        if rng.random() < 0.5:  # without the first count, which must hold for every input
            for entries in lists:
                entries.pop(0)
        else:
            rng.shuffle(lists[0])
    elif isinstance(parts, dict) and rng.random() < 0.5:
        for step in proof:
            if "region" in step:
                step["region"] = spans(rng, value["claim"]["task"]["tokens"], False)
    else:
        for step in proof:
            if step["rule"] == "mixture":
                step["of"].reverse()
    return pruned(value)


PREMISES = ("scores", "positions", "weights", "direct", "values", "output_positions", "exact_direct")
PREMISES += ("margins", "errors", "of", "right", "wrong")
"""Arguments that are numbers of steps, wherever they are integers."""


def premises(step: Document) -> list[tuple[Any, Any]]:
    """Where a step names an earlier one: holder and key."""
    found: list[tuple[Any, Any]] = []
    for key in PREMISES:
        named = step.get(key)
        if isinstance(named, list):
            found += [(named, i) for i in range(len(named))]
        elif isinstance(named, int):
            found.append((step, key))
    return found


def pruned(value: Document) -> Document:
    """Without the steps that no other needs: the checker refuses them, and an attacker leaves them out."""
    proof = value["proof"]
    needed = {len(proof) - 1}
    for number in reversed(range(len(proof))):
        if number in needed:
            needed |= {holder[key] for holder, key in premises(proof[number])}
    place = {old: new for new, old in enumerate(sorted(needed))}
    for old in place:
        for holder, key in premises(proof[old]):
            holder[key] = place[holder[key]]
    value["proof"] = [proof[old] for old in place]
    value["end"] = len(place)
    return value


def disturbed(rng: Random) -> Document:
    """A valid proof in which a step names another fact, or says another thing about what it counts."""
    while True:
        value = KINDS[rng.choice(("certain_gaps", "convolved", "mixtures"))][0](rng)
        if settle(value).verdict == "VERIFIED":
            break
    for _ in range(rng.choice((1, 1, 2))):
        proof = value["proof"]
        rule = rng.choice(sorted({step["rule"] for step in proof}))
        disturb(proof, rng.choice([number for number, step in enumerate(proof) if step["rule"] == rule]), rng)
    return pruned(value)


def disturb(proof: list[Document], number: int, rng: Random) -> None:
    """One change of the n-th step."""
    step, places = proof[number], premises(proof[number])
    alike = [other for other in proof if other["rule"] == step["rule"] and other is not step]
    if places and rng.random() < 0.5:
        holder, key = rng.choice(places)
        if isinstance(holder, list) and rng.random() < 0.4:  # one more, or one less, or in another order
            rng.choice((lambda: holder.pop(key), lambda: rng.shuffle(holder), lambda: holder.append(number - 1)))()
        else:
            kind = proof[holder[key]]["rule"]
            holder[key] = rng.choice([i for i in range(number) if proof[i]["rule"] == kind or rng.random() < 0.1])
    elif "region" in step and rng.random() < 0.5:
        m, low, high = rng.choice(rng.choice([other for other in proof if "region" in other])["region"])
        same = [x for x in step["region"] if x[0] == m]
        rest = [x for x in step["region"] if x[0] != m]
        step["region"] = sorted([*rest, [m, min([low, *(x[1] for x in same)]), max([high, *(x[2] for x in same)])]])
    elif "exponent" in step and rng.random() < 0.5:
        step["margin_above"], step["exponent"] = rng.choice((("1", -3), ("-1", -1), ("0", 0), ("3", -4)))
    elif alike:  # an argument of another step of that rule
        shared = [key for key in step if key not in ("rule", *PREMISES)]
        for key in rng.sample(shared, min(1, len(shared))):
            step[key] = json.loads(json.dumps(rng.choice(alike).get(key, step[key])))


KINDS: dict[str, tuple[Callable[[Random], Document], float, int]] = {
    "counted": (counted, 0.5, 1000),
    "near": (near, 0.5, 500),
    "careless": (careless, 0.0, 500),
    "weighted": (weighted_count, 0.3, 500),
    "gapped": (gapped, 0.1, 1000),
    "certain_gaps": (certain_gaps, 0.2, 500),
    "daring": (daring, 0.4, 500),
    "convolved": (convolved, 0.1, 1000),
    "mixtures": (mixtures, 0.3, 200),
    "mixed_up": (mixed_up, 0.0, 100),
    "disturbed": (disturbed, 0.1, 200),
    "programs": (programs, 0.3, 50),
}
"""Name -> maker of proofs, the least share that must be accepted for the test to mean anything, how many are tried."""


def attack(kind: str, seeds: range) -> None:
    make, share, _ = KINDS[kind]
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
    attack(kind, range(max(4, KINDS[kind][2] // 25)))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize("kind", KINDS)
def test_many_random_proofs(kind: str, part: int) -> None:
    every = KINDS[kind][2]
    attack(kind, range(every // 5 * part, every // 5 * (part + 1)))


def test_settling_reaches_the_derived_counts() -> None:
    """A proof with all counts wiped settles on the certifier's."""
    value = certify(random_model(1), "margin-tree")
    wanted = dict(value["claim"]["bounds"])
    step_of(value, "margin_tree").update(right="0", wrong="0")
    value["claim"]["bounds"].update(lower="0", upper="0")
    assert settle(value).verdict == "VERIFIED"
    assert value["claim"]["bounds"] == wanted
    assert task_for(random_model(1)).total == 9
