"""Rules float_error and float_count: bounds that no evaluation exceeds, and refusals of what weakens them."""

from __future__ import annotations

import base64
import importlib
import itertools
import json
import random
import struct
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from certificates import (
    BIASES,
    LIMIT,
    REQUIRED,
    Document,
    count_of,
    judge,
    model_of,
    planted,
    random_model,
    resign,
    spelled,
    step_of,
)
from certificates import certify as certify_real
from compactproofs.checker.facts import FloatError
from compactproofs.checker.kernel import check, read_document
from compactproofs.checker.words import words
from compactproofs.core.checkpoint import load
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.float_semantics import FloatError as OwnFloatError
from compactproofs.core.float_semantics import find_float, float_error
from compactproofs.core.model import SHAPES, Model
from compactproofs.core.problem import Problem
from compactproofs.core.proof import Proof
from compactproofs.core.semantics import STORED, Semantics
from compactproofs.core.strategies import STRATEGIES
from compactproofs.core.strategies.convolution.search import Goal
from compactproofs.core.strategies.convolution.strategy import margin_convolution
from compactproofs.core.task import Task, task_for
from compactproofs.emit.certificate import document, encode
from soft_float import PARAMETERS, Machine, Program, runs, two

rule = importlib.import_module("compactproofs.checker.rules.float_error")  # the package has a function of that name

SCALES: list[dict[str, float]] = [
    {},
    {"W_E": 8, "W_K": 4},
    {"W_U": 2.0**-6, "W_O": 2.0**6},
    {"W_E": 2.0**-12, "W_pos": 2.0**-12},
    {"W_U": 2.0**-14, "W_E": 2.0**-10, "W_V": 2.0**-9},
]


def representable(x: float, dtype: str) -> float:
    """A nearby number of the dtype."""
    if dtype == "BF16":
        return float(struct.unpack("<f", b"\0\0" + struct.pack("<f", x)[2:])[0])
    letter = {"F64": "d", "F32": "f", "F16": "e"}[dtype]
    return float(struct.unpack(f"<{letter}", struct.pack(f"<{letter}", x))[0])


def full(seed: int, dtype: str, scales: dict[str, float], biases: Iterable[str] = (), vocab: int = 3) -> Model:
    """Random weights that use every bit of the format, so that hardly any operation is exact."""
    rng = random.Random(seed)
    sizes = {"d_vocab": vocab, "d_vocab_out": vocab, "n_ctx": 2, "d_model": 2, "d_head": 2}
    chosen = {*REQUIRED, *biases}
    numbers = {
        name: [
            representable(rng.uniform(-2, 2) * scales.get(name.split(".")[-1], 1.0), dtype)
            for _ in range(count_of(name, sizes))
        ]
        for name in SHAPES
        if name in chosen
    }
    return model_of(numbers, sizes, dtype)


def small(numbers: dict[str, list[float]], vocab: int, width: int, context: int = 2) -> Model:
    """A model of float32 weights by name; what is not named is zero."""
    sizes = {"d_vocab": vocab, "d_vocab_out": 2, "n_ctx": context, "d_model": width, "d_head": 1}
    flat = {name: numbers.get(name.split(".")[-1], [0.0] * count_of(name, sizes)) for name in REQUIRED}
    return model_of(flat, sizes, "F32")


def certify(model: Model, strategy: str, semantics: Semantics, task: Task | None = None, **more: Any) -> Document:
    problem = Problem(model, task or task_for(model), semantics=semantics, **more)
    proof = find_float(problem, STRATEGIES[strategy].find, lambda done, total: None)
    value: Document = json.loads(encode(document(problem, proof)))
    return value


def facts_of(value: Document) -> FloatError:
    """What the checker derives in the float_error step of a certificate that it accepts."""
    facts: list[Any] = []
    check(read_document(spelled(value)), LIMIT, lambda name, fact: facts.append(fact))
    found: FloatError = next(fact for fact in facts if isinstance(fact, FloatError))
    return found


def worst_ratio(model: Model, semantics: Semantics, bound: OwnFloatError | FloatError, count: int, seed: int) -> float:
    """The largest |float - real| / bound over all inputs and some evaluations."""
    program, task = Program(model), task_for(model)
    unit = Fraction(1, 1 << bound.bits) if isinstance(bound, OwnFloatError) else Fraction(2) ** bound.exponent
    worst = Fraction(0)
    makers = runs(semantics.format, semantics.exp_ulp, semantics.underflow, seed, count)
    for tokens in itertools.product(range(task.tokens), repeat=task.length):
        true = program.truth(tokens)
        for make in makers:
            off = max(abs(a - b) for a, b in zip(true, program.logits(make(), tokens), strict=True))
            worst = max(worst, off / (bound.bound[tokens[-1]] * unit))
    return float(worst)


@pytest.mark.parametrize("underflow", ["gradual", "flush"])
@pytest.mark.parametrize("format_", sorted(PARAMETERS))
@pytest.mark.parametrize("scales", SCALES, ids=str)
def test_no_evaluation_exceeds_the_bound(format_: str, underflow: str, scales: dict[str, float]) -> None:
    semantics = Semantics(format_, 4, underflow)
    seed, biases = (1, ()) if underflow == "gradual" else (2, BIASES)
    model = full(seed, STORED[format_], scales, biases)
    try:
        bound = float_error(model, task_for(model), semantics)
    except CompactProofsError as error:
        assert (error.code, format_) == ("FLOAT_COARSE", "binary16")
        return
    assert worst_ratio(model, semantics, bound, 2, seed) <= 1


# --- weights that suit rounding worst: every input, every order of the short sums ---------------------------------


def adverse(kind: str, seed: int) -> Model:
    """Three coordinates, so that each sum has six orders; the third nearly cancels the first two."""
    rng = random.Random(f"{kind} {seed}")
    sizes = {"d_vocab": 3, "d_vocab_out": 2, "n_ctx": 2, "d_model": 3, "d_head": 3}
    large, tiny = {"cancel": (1.0, 2.0**-23), "huge": (2.0**24, 2.0**-20), "tiny": (2.0**-30, 2.0**-60)}[kind]

    def row(width: int, scale: float) -> list[float]:
        rest = [rng.choice((-1, 1)) * rng.uniform(1, 2) * scale for _ in range(width - 1)]
        return [representable(x, "F32") for x in (*rest, -sum(rest) + rng.uniform(-1, 1) * tiny * scale)]

    scales = {"embed.W_E": large, "pos_embed.W_pos": large, "unembed.W_U": 1 / large}
    scales |= {f"blocks.0.attn.W_{x}": 1 / large for x in "QK"}  # scores of a size that softmax takes notice of
    numbers = {}
    for name in REQUIRED:
        count, width = count_of(name, sizes), 2 if name == "unembed.W_U" else 3
        numbers[name] = [x for _ in range(count // width) for x in row(width, scales.get(name, 1.0))]
    return model_of(numbers, sizes, "F32")


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["cancel", "huge", "tiny"])
def test_adverse_weights_stay_within_the_bound(kind: str, seed: int) -> None:
    model = adverse(kind, seed)
    bound = float_error(model, task_for(model), BINARY32)
    assert 0 < worst_ratio(model, BINARY32, bound, 4, seed) <= 1


# --- models for which one part of the bound is nearly reached ------------------------------------------

ULPS = Semantics("binary32", 1 << 12)
BINARY32 = Semantics("binary32")


def of_exp() -> Model:
    """All scores are equal, so only exp errs: one weight as far up as allowed, one down."""
    return small({"W_E": [1.0, -1.0], "W_V": [1.0], "W_O": [1.0], "W_U": [1.0, -1.0]}, 2, 1)


def of_scores() -> Model:
    """A query that cancels to nearly nothing, in front of large keys of either sign."""
    a = 1.0 + 2.0**-12 + 2.0**-23
    square = representable(a * a, "F32")
    return small(
        {
            "W_E": [a, 1.0, 1.0, a, 1.0, -1.0],
            "W_Q": [a, -square, 0.0],
            "W_K": [0.0, 0.0, 1024.0],
            "W_V": [0.0, 0.0, 1.0],
            "W_O": [1.0, 0.0, 0.0],
            "W_U": [1.0, -1.0, 0.0, 0.0, 0.0, 0.0],
        },
        2,
        3,
    )


def of_sums() -> Model:
    """One and many numbers just above half a unit of its last place: each addition rounds up."""
    column = [1.0, *[2.0**-24 * (1 + 2.0**-8)] * 15]
    return small({"W_E": [1.0] * 32, "W_U": [x for w in column for x in (w, -w)]}, 2, 16)


def of_underflow() -> Model:
    """Embeddings that a machine may flush, and an unembedding that would make them count."""
    return small({"W_E": [2.0**-127, 2.0**-128], "W_U": [2.0**40, -(2.0**40)]}, 2, 1)


CRAFTED = [
    (of_exp, ULPS, 0.9),
    (of_scores, BINARY32, 0.01),
    (of_sums, BINARY32, 0.3),
    (of_underflow, BINARY32, 1e-16),
]


@pytest.mark.parametrize(("make", "semantics", "least"), CRAFTED)
def test_the_bound_is_nearly_reached(make: Callable[[], Model], semantics: Semantics, least: float) -> None:
    model = make()
    bound = float_error(model, task_for(model), semantics)
    assert least <= worst_ratio(model, semantics, bound, 12, 5) <= 1


Gamma = Callable[[Any, int], int]


def exact_exp(old: Gamma) -> Gamma:
    return lambda self, steps: 0 if steps == 2 * ULPS.exp_ulp else old(self, steps)


def half_an_ulp(old: Gamma) -> Gamma:
    return lambda self, steps: old(self, steps // 2 if steps == 2 * ULPS.exp_ulp else steps)


def no_rounding(old: Gamma) -> Gamma:
    return lambda self, steps: 0


FAULTS: list[tuple[Callable[[], Model], Semantics, Callable[[Gamma], Gamma]]] = [
    (of_exp, ULPS, exact_exp),
    (of_exp, ULPS, half_an_ulp),
    (of_sums, BINARY32, no_rounding),
    (of_scores, BINARY32, no_rounding),
]


@pytest.mark.parametrize(("make", "semantics", "change"), FAULTS)
def test_a_faulty_bound_is_exceeded(
    make: Callable[[], Model], semantics: Semantics, change: Callable[[Gamma], Gamma], monkeypatch: pytest.MonkeyPatch
) -> None:
    value = certify(make(), "brute-force", semantics)
    monkeypatch.setattr(rule.Rounding, "gamma", change(rule.Rounding.gamma))
    assert worst_ratio(make(), semantics, facts_of(value), 12, 5) > 1


def test_a_bound_without_underflow_is_exceeded(monkeypatch: pytest.MonkeyPatch) -> None:
    value = certify(of_underflow(), "brute-force", BINARY32)
    begin = rule.Rounding.__init__

    def without(self: Any, step: Any) -> None:
        begin(self, step)
        self.zeta = 0

    monkeypatch.setattr(rule.Rounding, "__init__", without)
    assert worst_ratio(of_underflow(), BINARY32, facts_of(value), 12, 5) > 1


# --- the two implementations, and whole certificates ------------------------------------------------------

CASES: list[tuple[Model, Semantics, Task | None]] = [
    (random_model(1, context=3), BINARY32, None),
    (random_model(19, biases=BIASES, dtype="BF16"), Semantics("bfloat16", 2, "gradual"), None),
    (random_model(2, outputs=4), Semantics("binary64", 1), Task("min", 2, 3)),
    (random_model(1, vocab=4, outputs=3, context=3), BINARY32, Task("max", 2, 3, 3)),
    (random_model(5, width=3, head=5), Semantics("binary16", 1, "gradual"), None),
    (planted(noise=1), BINARY32, None),
    (full(3, "F32", {"W_E": 2.0**-40}), BINARY32, None),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_certifier_and_checker_derive_the_same_bound(number: int) -> None:
    model, semantics, task = CASES[number]
    bound = float_error(model, task or task_for(model), semantics)
    fact = facts_of(certify(model, "brute-force", semantics, task))
    assert (fact.bound, fact.exponent) == (bound.bound, -bound.bits)
    assert fact.parts == (bound.scores, bound.softmax, bound.values, bound.unembedding)


@pytest.mark.parametrize("strategy", ["brute-force", "margin-tree", "cubic"])
@pytest.mark.parametrize("seed", range(4))
def test_certified_inputs_are_right_in_every_run(strategy: str, seed: int) -> None:
    """Weights that are multiples of 1/4 give ties and exact results, full ones hardly any: both must hold."""
    semantics = Semantics("binary32", 4, "flush")
    model = random_model(seed) if seed % 2 else full(seed, "F32", {"W_Q": 4, "W_K": 4})
    value = certify(model, strategy, semantics)
    assert judge(spelled(value)).verdict == "VERIFIED"
    lower, upper = (int(value["claim"]["bounds"][key], 16) for key in ("lower", "upper"))
    program, always, ever = Program(model), 0, 0
    for tokens in itertools.product(range(3), repeat=2):
        m, verdicts = max(tokens), []
        for make in runs("binary32", 4, "flush", seed, 3):
            logits = program.logits(make(), tokens)
            verdicts.append(all(x < logits[m] for o, x in enumerate(logits) if o != m))
        always, ever = always + all(verdicts), ever + any(verdicts)
    assert lower <= always
    assert ever <= upper


def test_a_threshold_moves_with_the_errors() -> None:
    model = planted(noise=1)
    task = task_for(model)
    floating = certify(model, "brute-force", BINARY32, threshold=(3, -1))
    real = certify_real(model, "brute-force", None, (3, -1))
    assert judge(spelled(floating)).verdict == "VERIFIED"
    lower, upper = (int(real["claim"]["bounds"][key], 16) for key in ("lower", "upper"))
    assert (
        int(floating["claim"]["bounds"]["lower"], 16) <= lower <= upper <= int(floating["claim"]["bounds"]["upper"], 16)
    )
    assert task.total == int(floating["claim"]["bounds"]["total"], 16)


def test_convolutions_that_leave_out_other_maxima_are_of_one_region() -> None:
    """Each search leaves out the maxima that its goal does not need, and the two thresholds need not agree."""
    model = load(Path(__file__).parents[2] / "models" / "max_of_4_v64_seed123.safetensors")
    problem = Problem(model, task_for(model, tokens=12), semantics=BINARY32)

    def find(real: Problem, progress: Callable[[int, int], None]) -> Proof:
        return margin_convolution(real, progress, Goal(gap=0.3 if real.threshold[0] > 0 else 0.2, keep=True))

    proof = find_float(problem, find, lambda done, total: None)
    first, second = (step["maxima"] for step in proof.steps if step["rule"] == "margin_convolution")
    assert [entry["m"] for entry in first] == [entry["m"] for entry in second]
    assert any(not entry["items"] for entry in first)
    assert judge(encode(document(problem, proof))).verdict == "VERIFIED"


# --- refusals ------------------------------------------------------------------------------------------


def golden() -> Document:
    return certify(planted(noise=1, dtype="F32"), "margin-tree", BINARY32)


def put(rule_: str, key: str, new: Any, occurrence: int = 0) -> Callable[[Document], None]:
    def change(value: Document) -> None:
        found = step_of(value, rule_, occurrence)
        found[key] = new(found[key]) if callable(new) else new

    return change


def claim(**changes: Any) -> Callable[[Document], None]:
    def change(value: Document) -> None:
        value["claim"]["semantics"] = {**value["claim"]["semantics"], **changes}

    return change


def stated(**changes: Any) -> Callable[[Document], None]:
    """In the claim and in the proof."""

    def change(value: Document) -> None:
        claim(**changes)(value)
        step_of(value, "float_error")["semantics"] = value["claim"]["semantics"]

    return change


def real_claim(value: Document) -> None:
    value["claim"]["semantics"] = "real"


def dropped_assumption(value: Document) -> None:
    for found in (value["claim"]["semantics"], step_of(value, "float_error")["semantics"]):
        found.pop("underflow", None)


def real_count_concluded(value: Document) -> None:
    step_of(value, "conclude")["of"] = step_of(value, "float_count")["right"]
    value["proof"] = [s for s in value["proof"] if s["rule"] not in ("float_count",)]
    value["end"] -= 1


def float_count_of_float_count(value: Document) -> None:
    steps = value["proof"]
    steps.insert(-1, {**step_of(value, "float_count"), "right": len(steps) - 2, "wrong": None})
    steps[-1]["of"] += 1
    value["end"] += 1


def union_of_two_programs(value: Document) -> None:
    """Counts that hold for a good exp, and counts that hold for any within 4 ulp."""
    steps = value["proof"]
    first = len(steps) - 2
    steps.insert(-1, {**step_of(value, "float_error"), "semantics": {**value["claim"]["semantics"], "exp_ulp": 1}})
    steps.insert(-1, {**step_of(value, "float_count"), "errors": first + 1})
    steps.insert(-1, {"rule": "disjoint_union", "of": [first, first + 2]})
    steps[-1]["of"] = first + 3
    value["end"] += 3


def right_from_wrong(value: Document) -> None:
    found = step_of(value, "float_count")
    found["right"] = found["wrong"]


def wide_weights(value: Document) -> None:
    """One tensor stored as float64: another model, and weights that the program cannot hold."""
    found = next(t for t in value["model"]["tensors"] if t["name"] == "unembed.W_U")
    flat = struct.unpack(f"<{len(base64.b64decode(found['data'])) // 4}f", base64.b64decode(found["data"]))
    found["dtype"], found["data"] = "F64", base64.b64encode(struct.pack(f"<{len(flat)}d", *flat)).decode("ascii")
    resign(value)


REFUSALS: list[tuple[Callable[[Document], None], str, str]] = [
    (claim(exp_ulp=2), "REJECTED", "SEMANTICS"),
    (claim(format="binary64"), "REJECTED", "SEMANTICS"),
    (claim(underflow="gradual"), "REJECTED", "SEMANTICS"),
    (real_claim, "REJECTED", "SEMANTICS"),
    (real_count_concluded, "REJECTED", "UNUSED_STEP"),
    (stated(exp_ulp=1 << 14), "REJECTED", "UNDERSTATED"),
    (stated(exp_ulp=1 << 20), "REJECTED", "UNDERSTATED"),
    (stated(exp_ulp=0), "MALFORMED", "OUT_OF_RANGE"),
    (stated(format="bfloat16"), "REJECTED", "FORMAT"),
    (stated(format="binary16"), "REJECTED", "FORMAT"),
    (stated(format="float32"), "MALFORMED", "UNKNOWN_CLAIM"),
    (stated(underflow="none"), "MALFORMED", "UNKNOWN_CLAIM"),
    (dropped_assumption, "MALFORMED", "MISSING_KEY"),
    (stated(tf32=True), "MALFORMED", "UNKNOWN_KEY"),
    (put("margins", "margin_above", "0"), "REJECTED", "UNDERSTATED"),
    (put("margins", "exponent", lambda n: n - 1), "REJECTED", "UNDERSTATED"),
    (put("margins", "exponent", lambda n: n - 1, 1), "REJECTED", "UNDERSTATED"),
    (put("float_count", "margin_above", "1"), "REJECTED", "UNDERSTATED"),
    (put("float_error", "ceiling", 2), "REJECTED", "OVERFLOW"),
    (put("float_error", "ceiling", 127), "REJECTED", "TOO_COARSE"),
    (put("float_error", "bits", 31), "MALFORMED", "OUT_OF_RANGE"),
    (put("float_error", "bits", 32), "REJECTED", "UNDERSTATED"),
    (right_from_wrong, "REJECTED", "UNDERSTATED"),
    (float_count_of_float_count, "REJECTED", "FLOAT_COUNT"),
    (union_of_two_programs, "REJECTED", "SEMANTICS"),
    (wide_weights, "REJECTED", "FORMAT"),
]


@pytest.mark.parametrize("number", range(len(REFUSALS)))
def test_what_weakens_the_bound_is_refused(number: int) -> None:
    change, verdict, code = REFUSALS[number]
    value = golden()
    assert judge(spelled(value)).verdict == "VERIFIED"
    change(value)
    outcome = judge(spelled(value))
    assert (outcome.verdict, outcome.code) == (verdict, code), outcome.text


def test_weights_that_may_overflow_are_refused() -> None:
    huge = small({"W_E": [2.0**70, -(2.0**70)], "W_U": [2.0**60, -(2.0**60)]}, 2, 1)
    with pytest.raises(CompactProofsError, match="too coarse, or too small"):
        float_error(huge, task_for(huge), BINARY32)
    fine = small({"W_E": [1.0, -1.0], "W_U": [1.0, -1.0]}, 2, 1)
    value = certify(fine, "brute-force", BINARY32)
    value["model"] = json.loads(encode(document(*_real(huge))))["model"]
    assert judge(spelled(value)).code in ("OVERFLOW", "STATED_RESULT")


def lying(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """A certifier that states another analysis, and thresholds to match."""
    module = importlib.import_module("compactproofs.core.float_semantics")
    true = module.float_error

    def false(model: Model, task: Task, semantics: Semantics) -> OwnFloatError:
        if "ceiling" in changes:
            return OwnFloatError(160, changes["ceiling"], (1 << 20,) * task.tokens, 0, 0, 0, 0)
        found = true(model, task, semantics)
        return replace(found, bound=tuple(n * 4 // 5 for n in found.bound))

    monkeypatch.setattr(module, "float_error", false)


def test_an_understated_error_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a fifth; thresholds round up, but not that far."""
    lying(monkeypatch)
    assert judge(spelled(certify(planted(noise=1), "brute-force", BINARY32))).code == "UNDERSTATED"


def test_weights_that_overflow_are_refused_whatever_is_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Logits up to 2^130: right over the real numbers, infinite in binary32."""
    huge = small({"W_E": [2.0**70, -(2.0**70)], "W_U": [2.0**60, -(2.0**60)]}, 2, 1)
    codes = set()
    for ceiling in (64, 112, 126, 127, 200):
        lying(monkeypatch, ceiling=ceiling)
        codes.add(judge(spelled(certify(huge, "brute-force", BINARY32))).code)
    assert codes == {"OVERFLOW", "TOO_COARSE"}


def test_a_magnitude_counts_after_its_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    """An embedding of 4 is half of 2^3, and above it once a rounding is added; no other number is as large."""
    tiny = 2.0**-10
    weights = {"W_E": [2.0, -2.0], "W_pos": [2.0, 0.0], "W_U": [1.0, -1.0]}
    edge = small(weights | {name: [tiny] for name in ("W_Q", "W_K", "W_V", "W_O")}, 2, 1)
    assert float_error(edge, task_for(edge), BINARY32).ceiling == 4
    lying(monkeypatch, ceiling=3)
    assert judge(spelled(certify(edge, "brute-force", BINARY32))).code == "OVERFLOW"


def test_a_certificate_of_one_dtype_is_not_one_of_another() -> None:
    """The same numbers stored as float64 are another file, and the bound for binary32 refuses them."""
    numbers = {"W_E": [1.0, -1.0], "W_U": [1.0, -1.0]}
    narrow = small(numbers, 2, 1)
    sizes = {"d_vocab": 2, "d_vocab_out": 2, "n_ctx": 2, "d_model": 1, "d_head": 1}
    flat = {name: numbers.get(name.split(".")[-1], [0.0] * count_of(name, sizes)) for name in REQUIRED}
    wide = model_of(flat, sizes, "F64")
    value = certify(narrow, "brute-force", BINARY32)
    assert judge(spelled(value)).verdict == "VERIFIED"
    value["model"] = json.loads(encode(document(*_real(wide))))["model"]
    assert judge(spelled(value)).code == "FORMAT"


def _real(model: Model) -> tuple[Problem, Any]:
    problem = Problem(model, task_for(model))
    return problem, STRATEGIES["brute-force"].find(problem, lambda done, total: None)


def test_the_verdict_names_the_assumptions() -> None:
    outcome = judge(spelled(golden()))
    assert isinstance(outcome.claim, tuple)
    text = words(outcome.claim[0])
    for part in ("every binary32 evaluation", "round to nearest", "any order", "exp within 4 ulp", "flush to zero"):
        assert part in text


def test_the_machine_keeps_to_its_assumptions() -> None:
    """The software machine is the test's own yardstick: its single operations against their definition."""
    rng = random.Random(0)
    for format_, (precision, emin) in PARAMETERS.items():
        for _ in range(50):
            machine = Machine(format_, 4, "flush", random.Random(rng.random()))
            x = Fraction(rng.randrange(1, 1 << 60), 1 << rng.randrange(1, 80))
            assert abs(machine.round(x) - x) <= max(x / two(precision), two(emin))
            values = [machine.round(Fraction(rng.randrange(-(1 << 40), 1 << 40), 1 << 30)) for _ in range(3)]
            exact = sum(a * a for a in values)
            assert abs(machine.dot(values, values) - exact) <= exact * 5 / (two(precision) - 5) + two(emin) * 999
            power = machine.exp(-x if x < 80 else Fraction(-1))
            assert power >= 0
