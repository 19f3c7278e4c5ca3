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
from pathlib import Path
from typing import Any

import pytest
from certificates import Document, able, certify, golden, judge, spelled, step_of
from compactproofs.checker import facts
from compactproofs.checker.kernel import check, read_document
from compactproofs.core.errors import CompactProofsError
from mutate import GOLDEN, leaf_mutants, mutants
from test_corpus import DATA, INDEX
from test_random_proofs import KINDS, programs, settle
from tiny_circuits import circuit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
pytest.importorskip("flint", reason="the second checker computes with python-flint")

import second_checker
from second_checker.kernel import Proof, load

Random = random.Random
LIMIT = 10**7


def difference(data: bytes, faults: int = 1) -> str:
    """Where the checkers disagree ("": they do not). A document with two faults may be refused for either."""
    first, second = judge(data, LIMIT), second_checker.verdict(data)
    if first.verdict in (second, "RESOURCE") or (faults > 1 and "VERIFIED" not in (first.verdict, second)):
        return ""
    return f"{first.verdict} ({first.text}), second {second}"


def compare(named: Iterator[tuple[str, bytes]]) -> Counter[str]:
    """All certificates, which must get one verdict; how often which."""
    seen: Counter[str] = Counter()
    for name, data in named:
        found = difference(data, 2 if ": swap at" in name else 1)
        assert not found, f"{name}: {found}"
        seen[judge(data, LIMIT).verdict] += 1
    return seen


# --- certificates ----------------------------------------------------------------------------------------


def certified(rng: Random) -> Document:
    """The certifier's own proof of a random circuit."""
    while True:
        given = circuit(rng.randrange(10**6))
        strategy = rng.choice(("margin-tree", "brute-force", "cubic", "subcubic:3", "subcubic:9"))
        try:
            return certify(given.model, strategy, given.task, given.threshold)
        except CompactProofsError:
            continue


MAKERS: dict[str, Callable[[Random], Document]] = {
    **{name: make for name, (make, *_) in KINDS.items()},
    "certified": certified,
}
SEEDS = {name: 100 if name in ("near", "careless", "daring", "mixed_up", "disturbed") else 250 for name in MAKERS}
"""How many proofs of each kind: with what `family` makes of them, more than 10,000 certificates."""


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
    assert seen["VERIFIED"] >= 2 or KINDS[kind][1] == 0


def test_a_sample_of_mutants() -> None:
    seen = sum((compare(mutated(name, 997)) for name in GOLDEN), Counter[str]())
    assert min(seen[verdict] for verdict in ("VERIFIED", "REJECTED", "MALFORMED")) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", MAKERS)
def test_many_random_certificates(kind: str) -> None:
    seen = compare(family(kind, range(8, SEEDS[kind])))
    assert sum(seen.values()) >= 2 * (SEEDS[kind] - 8)
    assert seen["VERIFIED"] >= SEEDS[kind] // 4 or KINDS[kind][1] == 0


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
    total = sum((compare(family(kind, range(SEEDS[kind]))) for kind in MAKERS), Counter[str]())
    changed = sum((compare(mutated(name, 97)) for name in GOLDEN), Counter[str]())
    print(f"{len(corpus)} files of the corpus, {sum(total.values())} random certificates {dict(total)},")
    print(f"{sum(changed.values())} mutants {dict(changed)}: 0 divergences")
