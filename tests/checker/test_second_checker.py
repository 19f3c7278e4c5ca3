"""The checker against the second one (tests/second_checker), which was written from FORMAT.md: the same verdicts.

On the corpus, on mutants of valid certificates, and on random proofs: as made, settled, and mutated again. RESOURCE is
left out: it is about the machine. Where the checker rounds the errors of a program up, it must do so by very little.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from math import prod
from pathlib import Path
from typing import Any

import pytest
from certificates import Document, able, asked, certify, golden, judge, planted, program, random_model, spelled, step_of
from compactproofs.checker import facts
from compactproofs.checker.kernel import check, read_document
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.semantics import Semantics
from mutate import GOLDEN, leaf_mutants, mutants
from test_corpus import DATA, INDEX
from test_random_proofs import KINDS, counted, settle
from tiny_circuits import circuit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
pytest.importorskip("flint", reason="the second checker computes with python-flint")

import second_checker
from second_checker.kernel import Proof, load

Random = random.Random
LIMIT = 10**7


def difference(data: bytes) -> str:
    """Where the checkers disagree ("": they do not)."""
    first, second = judge(data, LIMIT), second_checker.verdict(data)
    return "" if first.verdict in (second, "RESOURCE") else f"{first.verdict} ({first.text}), second {second}"


def compare(named: Iterator[tuple[str, bytes]]) -> Counter[str]:
    """All certificates, which must get one verdict; how often which."""
    seen: Counter[str] = Counter()
    for name, data in named:
        found = difference(data)
        assert not found, f"{name}: {found}"
        seen[judge(data, LIMIT).verdict] += 1
    return seen


# --- certificates ----------------------------------------------------------------------------------------


def weighted_count(rng: Random) -> Document:
    """A random proof of a count by the tree or by enumeration, under a random distribution."""
    value = counted(rng)
    task = value["claim"]["task"]
    masses = [[f"{rng.randrange(9):x}" for _ in range(task["tokens"])] for _ in range(task["length"])]
    for row in masses:
        row[rng.randrange(len(row))] = "b"
    value["claim"]["distribution"] = masses
    total = f"{prod(sum(int(x, 16) for x in row) for row in masses):x}"
    value["claim"]["bounds"] = {"lower": "0", "upper": total, "total": total}
    for number, step in enumerate(value["proof"]):
        if step["rule"] == "pure_sequences" and rng.random() < 0.9:
            value["proof"][number] = {**step, "rule": "margin_tree", "digits": rng.choice((8, 30)), "wrong": "0"}
    return value


FORMATS = ("binary32", "binary32", "binary64", "binary16", "bfloat16")


def programs(rng: Random) -> Document:
    """A proof about a program, with other thresholds, precision, sizes and assumptions."""
    while True:
        model = planted(rng.choice((2, 3)), rng.choice((2, 3)), rng.choice((0.5, 2.0)), noise=rng.randrange(1, 99))
        if rng.random() < 0.5:
            model = random_model(rng.randrange(10**6), biases=rng.choice(((), ("blocks.0.attn.b_Q", "unembed.b_U"))))
        semantics = Semantics(rng.choice(FORMATS), rng.choice((1, 4, 50)), rng.choice(("gradual", "flush")))
        try:
            value = program(model, rng.choice(("margin-tree", "brute-force")), semantics)
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


def certified(rng: Random) -> Document:
    """The certifier's own proof of a random circuit."""
    while True:
        given = circuit(rng.randrange(10**6))
        strategy = rng.choice(("margin-tree", "brute-force", "cubic", "subcubic:3", "subcubic:9"))
        try:
            return certify(given.model, strategy, given.task, given.threshold)
        except CompactProofsError:
            continue


GIVEN = ("query in {0,1}", "maximum in {1,2}", "maximum in {2}", "position 0 ~ 1/2 {0} + 1/2 {1..2}", "query in {0..2}")


def mixtures(rng: Random) -> Document:
    """A claim about parts of a distribution, or the log-loss, with other shares, precision, bounds and thresholds."""
    while True:
        a, b = sorted(rng.sample(range(1, 9), 2))
        parts = f"when {a}/{b} ({rng.choice(GIVEN)}) + {b - a}/{b} ({rng.choice(GIVEN)} and {rng.choice(GIVEN)})"
        what = rng.choice(("accuracy", "P(margin > -1/4)", "P(margin > 1/2)", "E[log-loss]", "E[log-loss]"))
        try:
            model = random_model(rng.randrange(10**6), context=rng.choice((2, 3)))
            value = asked(model, f"{what} {rng.choice((parts, parts, 'when maximum in {1,2}', ''))}", "margin-tree")
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


MAKERS: dict[str, Callable[[Random], Document]] = {
    **{name: make for name, (make, _) in KINDS.items()},
    "weighted": weighted_count,
    "programs": programs,
    "mixtures": mixtures,
    "certified": certified,
}


def family(kind: str, seeds: range) -> Iterator[tuple[str, bytes]]:
    """Of each seed: a random proof, the same with the results it must state and, if it is valid, four changes of it.

    A change of an invalid one would have two faults, of which checkers may name either.
    """
    for seed in seeds:
        rng = Random(f"second {kind} {seed}")
        value = MAKERS[kind](rng)
        yield f"{kind} {seed}", spelled(value)
        valid = settle(value).verdict == "VERIFIED"
        yield f"{kind} {seed} settled", spelled(value)
        for mutant in rng.sample(list(leaf_mutants(value)), 4) if valid else ():
            yield f"{kind} {seed}: {mutant.operation} at {mutant.where}", mutant.make()


def mutated(name: str, stride: int) -> Iterator[tuple[str, bytes]]:
    """Every n-th mutant of a golden certificate."""
    for mutant in islice(mutants(name), stride // 2, None, stride):
        yield f"{name}: {mutant.operation} at {mutant.where}", mutant.make()


# --- the comparison --------------------------------------------------------------------------------------


def test_the_corpus() -> None:
    rows = [row for row in INDEX if "options" not in row and row["verdict"] != "RESOURCE"]
    assert len(rows) > 500
    for row in rows:
        verdict = second_checker.verdict((DATA / row["file"]).read_bytes())
        assert verdict == row["verdict"], f"{row['file']}: {verdict}"


@pytest.mark.parametrize("kind", MAKERS)
def test_a_sample_of_random_certificates(kind: str) -> None:
    seen = compare(family(kind, range(8)))
    assert seen["VERIFIED"] >= 2


def test_a_sample_of_mutants() -> None:
    seen = sum((compare(mutated(name, 997)) for name in GOLDEN), Counter[str]())
    assert min(seen[verdict] for verdict in ("VERIFIED", "REJECTED", "MALFORMED")) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", MAKERS)
def test_many_random_certificates(kind: str) -> None:
    seen = compare(family(kind, range(8, 358)))
    assert sum(seen.values()) >= 1000
    assert seen["VERIFIED"] >= 100


@pytest.mark.slow
@pytest.mark.parametrize("name", GOLDEN)
def test_many_mutants(name: str) -> None:
    assert sum(compare(mutated(name, 97)).values()) > 100


# --- what verdicts do not show ----------------------------------------------------------------------------


def test_errors_of_programs_are_rounded_up_by_little() -> None:
    """The checker's bound of each query is at least the exact one, and hardly more."""
    precisions = (32, 64, 200)
    for seed in range(18):
        value = programs(Random(f"errors {seed}"))
        step_of(value, "float_error").update(bits=precisions[seed % 3])
        found: list[facts.FloatError] = []

        def watch(rule: str, fact: Any, found: list[facts.FloatError] = found) -> None:
            if isinstance(fact, facts.FloatError):
                found.append(fact)

        data = spelled(value)
        try:
            check(read_document(data), LIMIT, watch)
        except Exception:
            if not found:
                continue
        proof = Proof(load(data))
        for step in proof.steps:
            fact = proof.apply(step)
            proof.facts.append(fact)
            if isinstance(fact, second_checker.floating.FloatError):
                break
        for bound, exact in zip(found[0].bound, proof.facts[-1].errors, strict=True):
            assert 0 <= bound - exact * 2 ** -found[0].exponent < 1 << 14, f"seed {seed}"


def test_the_second_checker_does_not_know_the_first() -> None:
    for path in Path(second_checker.__file__).parent.glob("*.py"):
        text = path.read_text("utf-8")
        assert "compactproofs" not in text.replace('"compactproofs certificate"', "")
        assert "certificates" not in [word.strip() for word in text.split("import")]


def test_enclosures_are_compared_with_arb() -> None:
    """A wrong enclosure of an exponential is noticed."""
    from second_checker.exact import agrees, exponential

    low, high = exponential(123456789, 64, 30)
    agrees(123456789, 64, 30, low, high)
    for ends in ((high + 1, high + 2), (low - 2, low - 1)):
        with pytest.raises(ArithmeticError):
            agrees(123456789, 64, 30, *ends)


def test_able_models_are_verified_by_both() -> None:
    """The comparison is not about refusals alone."""
    for strategy in ("margin-tree", "brute-force", "cubic", "subcubic:3"):
        data = spelled(certify(able(), strategy))
        assert judge(data).verdict == second_checker.verdict(data) == "VERIFIED"
    assert second_checker.examine(spelled(golden("enumerate"))) == 6


if __name__ == "__main__":
    # python tests/checker/test_second_checker.py: everything, and the figures that docs/TRUST.md states
    corpus = [row for row in INDEX if "options" not in row and row["verdict"] != "RESOURCE"]
    test_the_corpus()
    total = sum((compare(family(kind, range(358))) for kind in MAKERS), Counter[str]())
    total += sum((compare(mutated(name, 97)) for name in GOLDEN), Counter[str]())
    print(f"{len(corpus)} files of the corpus, {sum(total.values())} certificates {dict(total)}, 0 divergences")
