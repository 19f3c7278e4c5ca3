"""What bounds work and memory: large numbers are charged as such, and facts go after their last use."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from compactproofs.checker.errors import Exhausted, Rejected
from compactproofs.checker.facts import Fact, Factored, Margins, Weights
from compactproofs.checker.kernel import check, read_document
from compactproofs.checker.numbers import Exp, Matrix, Meter, add, product
from compactproofs.checker.rules.grid import _sum, tails
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
CERTIFICATE = ROOT / "tests" / "data" / "accept" / "enumerate.json"


def charged(bits: int, operation: str) -> tuple[int, int]:
    """Operations counted, and charged, for one operation on numbers of so many bits."""
    meter = Meter(10**12)
    n = Matrix(((1 << bits - 1,),), 0)
    if operation == "product":
        product(n, n, meter)
    elif operation == "negative":
        product(n, Matrix(((-(1 << bits - 1),),), 0), meter)
    elif operation == "sum":
        add(n, n, meter)
    else:
        Exp(bits, 8, meter).end(1, True)
    return meter.operations, 10**12 - meter.left


@pytest.mark.parametrize("operation", ["product", "negative", "sum", "exp"])
def test_large_numbers_are_charged_by_their_size(operation: str) -> None:
    counted, small = charged(1000, operation)
    assert counted == small
    again, large = charged(10240, operation)
    assert again == counted
    assert large == counted * (10 if operation == "sum" else 100)


def test_a_distance_of_exponents_is_charged() -> None:
    meter = Meter(10**6)
    add(Matrix(((1,),), 0), Matrix(((1,),), 5 << 10), meter)
    assert (meter.operations, meter.left) == (1, 10**6 - 5)


def test_the_limit_is_on_what_is_charged() -> None:
    big = Matrix(((1 << 10240,),), 0)
    product(big, big, Meter(100))
    with pytest.raises(Exhausted, match="TOO_MANY_OPERATIONS"):
        product(big, big, Meter(99))


def test_masses_of_a_convolution_are_charged_by_their_size() -> None:
    def left(mass: int) -> tuple[int, int]:
        meter = Meter(10**6)
        tails([{0: mass, 3: 1}, {0: 1, 2: mass}], [3], meter)
        return meter.operations, 10**6 - meter.left

    counted, small = left(9)
    assert counted == small
    assert left(1 << 20480)[0] == counted
    assert left(1 << 20480)[1] > 30 * counted


def test_matrices_that_do_not_fit_are_refused() -> None:
    """No document can bring this about; a rule with a fault could."""
    wide, high = Matrix(((1, 2),), 0), Matrix(((1,), (2,), (3,)), 0)
    with pytest.raises(Rejected, match="SHAPE"):
        product(wide, high, Meter(100))
    with pytest.raises(Rejected, match="SHAPE"):
        add(high, Matrix(((1,), (2,)), 0), Meter(100))


def alive(kind: type) -> int:
    gc.collect()
    return sum(isinstance(item, kind) for item in gc.get_objects())


def test_facts_are_kept_until_their_last_use() -> None:
    before = {kind: alive(kind) for kind in (Factored, Weights, Margins)}
    seen: dict[str, dict[type, int]] = {}

    def watch(rule: str, fact: Fact) -> None:
        seen[rule] = {kind: alive(kind) - count for kind, count in before.items()}

    check(read_document(CERTIFICATE.read_bytes()), 10**8, watch)
    # EQKE and EQKP have gone after `weights`; step 0 stays, for an exponent 0 might be its number
    assert seen["margins"] == {Factored: 4, Weights: 1, Margins: 1}
    assert seen["conclude"] == {Factored: 0, Weights: 0, Margins: 0}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
@pytest.mark.parametrize("options", [[], ["--show"], ["--explain", "3"], ["--json"]])
def test_a_verdict_that_cannot_be_written_is_none(options: list[str]) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "checker", str(CERTIFICATE), *options]
        done = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert "report" not in done.stderr


def test_circuits_that_nothing_uses_are_charged() -> None:
    value = json.loads(CERTIFICATE.read_bytes())
    value["proof"] = [{"rule": "circuit", "name": "PVOU", "centre": None}] * 20
    value["end"] = 20
    document = read_document((json.dumps(value, sort_keys=True, separators=(",", ":")) + "\n").encode())
    entries = document.model.entries
    with pytest.raises(Rejected, match="conclude"):
        check(document, 2 * entries * 20, lambda rule, fact: None)
    with pytest.raises(Exhausted):
        check(document, 2 * entries * 20 - 1, lambda rule, fact: None)


@given(slots=st.lists(st.integers(0, 1000), min_size=1, max_size=40))
def test_slots_are_added_in_halves(slots: list[int]) -> None:
    width = sum(slots).bit_length() + 8 & -8
    packed = sum(slot << i * width for i, slot in enumerate(slots))
    assert _sum(packed, len(slots), width) == sum(slots)
