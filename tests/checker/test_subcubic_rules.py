"""The rules of the sub-cubic proofs one by one: what they derive, against fractions, and what they refuse."""

from __future__ import annotations

import copy
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from certificates import Document, golden, judge, plain, planted, random_model, spelled, step_of
from compactproofs.checker.facts import Admissible, Fact, Factored
from compactproofs.checker.kernel import check, read_document
from compactproofs.checker.numbers import Matrix
from compactproofs.core.model import Model
from compactproofs.core.problem import Problem
from compactproofs.core.strategies import strategy
from compactproofs.core.task import Task, task_for
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import Oracle

Edit = Callable[[Document], object]


def able() -> Model:
    """A model that finds the maximum so well that classes with gaps can be certified."""
    return planted(vocab=4, pull=3.0, gain=24.0, noise=3)


def proved(name: str, model: Model | None = None, task: Task | None = None) -> Document:
    """A certificate of a sub-cubic strategy."""
    model = model or able()
    problem = Problem(model, task or task_for(model))
    return plain(problem, strategy(name).find(problem, lambda done, total: None))


_CACHE: dict[str, Document] = {}


def certificate(name: str) -> Document:
    if name not in _CACHE:
        _CACHE[name] = proved(name)
    return copy.deepcopy(_CACHE[name])


def facts_of(value: Document) -> list[tuple[str, Fact]]:
    """Every fact that the checker derives, with its rule."""
    found: list[tuple[str, Fact]] = []
    check(read_document(spelled(value)), 10**8, lambda rule, fact: found.append((rule, fact)))
    return found


def numbers(matrix: Matrix) -> list[list[Fraction]]:
    return [[n * Fraction(2) ** matrix.exponent for n in row] for row in matrix.rows]


def whole(fact: Factored) -> list[list[Fraction]]:
    """approx plus the product of the factors."""
    result = numbers(fact.factors[0])
    for factor in map(numbers, fact.factors[1:]):
        columns = list(zip(*factor, strict=True))
        result = [[sum(a * b for a, b in zip(row, c, strict=True)) for c in columns] for row in result]
    if fact.approx is None:
        return result
    return [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(result, numbers(fact.approx), strict=True)]


def rest_ranges(circuit: list[list[Fraction]], fact: Admissible) -> list[Fraction]:
    """Exact ranges of the rows of circuit - approx."""
    approx = [[Fraction(0)] * len(row) for row in circuit] if fact.approx is None else numbers(fact.approx)
    rows = [[a - b for a, b in zip(x, y, strict=True)] for x, y in zip(circuit, approx, strict=True)]
    return [max(row) - min(row) for row in rows]


def circuits(found: list[tuple[str, Fact]]) -> dict[str, list[list[Fraction]]]:
    """The circuits as the first step of each states them."""
    result: dict[str, list[list[Fraction]]] = {}
    for rule, fact in found:
        if rule == "circuit" and isinstance(fact, Factored):
            result.setdefault(fact.circuit, whole(fact))
    return result


ALL_RULES = ["subcubic:1", "subcubic:3", "subcubic:8", "subcubic:25", "subcubic:49", "subcubic:70", "subcubic:66:tight"]
MODELS = [able(), random_model(5, vocab=4, width=3, head=2), random_model(6, vocab=5, width=2, head=2)]


@pytest.mark.parametrize("name", ALL_RULES)
@pytest.mark.parametrize("model", MODELS, ids=["planted", "random", "square"])
def test_every_derived_fact_is_true(model: Model, name: str) -> None:
    found = facts_of(proved(name, model))
    exact = circuits(found)
    for rule, fact in found:
        if isinstance(fact, Factored):
            assert whole(fact) == exact[fact.circuit], rule
        if isinstance(fact, Admissible):
            true = rest_ranges(exact[fact.circuit], fact)
            assert all(a <= b[0] for a, b in zip(true, numbers(fact.bound), strict=True)), rule


def test_the_bound_of_one_factor_is_the_exact_range() -> None:
    found = facts_of(certificate("subcubic:69"))
    (direct,) = [f for rule, f in found if rule == "row_range_chain" and isinstance(f, Admissible)]
    assert rest_ranges(circuits(found)["EU"], direct) == [row[0] for row in numbers(direct.bound)]


def test_the_norm_is_centred_and_rounded_up() -> None:
    found = facts_of(certificate("subcubic:1"))
    (norm,) = [f for rule, f in found if rule == "row_norm" and isinstance(f, Admissible)]
    peeled = next(f for rule, f in found if rule == "peel" and isinstance(f, Factored))
    for row, (bound,) in zip(_rest(peeled), numbers(norm.bound), strict=True):
        mean = sum(row) / len(row)
        square = 2 * sum((x - mean) ** 2 for x in row)
        unit = Fraction(2) ** norm.bound.exponent
        assert square <= bound**2 and (bound == 0 or (bound - unit) ** 2 < square)


def _rest(fact: Factored) -> list[list[Fraction]]:
    return whole(Factored(fact.circuit, fact.centre, None, fact.factors))


# --- refusals ------------------------------------------------------------------------------------------


def change(rule: str, key: str, value: object, occurrence: int = 0) -> Edit:
    def edit(document: Document) -> None:
        step_of(document, rule, occurrence)[key] = value

    return edit


def number_of(document: Document, rule: str, occurrence: int = 0) -> int:
    return [i for i, step in enumerate(document["proof"]) if step["rule"] == rule][occurrence]


def inside(rule: str, key: str, edit: Callable[[Any], object], occurrence: int = 0) -> Edit:
    return lambda document: edit(step_of(document, rule, occurrence)[key])


def premise(rule: str, key: str, other: str, occurrence: int = 0) -> Edit:
    """Point a premise at the fact of another rule."""

    def edit(document: Document) -> None:
        step_of(document, rule)[key] = number_of(document, other, occurrence)

    return edit


def other_approximation(document: Document) -> None:
    """Bounds on two different approximations: one factor chain without its last peel."""
    step_of(document, "product", 2)["of"] = number_of(document, "peel", 4)


def larger_gap_than_maximum(document: Document) -> None:
    gaps = step_of(document, "gap_classes")["gaps"]
    gaps[1] = gaps[1][:-1] + "2"


def gap_without_other_tokens(document: Document) -> None:
    gaps = step_of(document, "gap_classes")["gaps"]
    gaps[1] = "2" + gaps[1][1:]


def raised_gaps(document: Document) -> None:
    gaps = step_of(document, "gap_classes")["gaps"]
    gaps[1:] = ["".join("1" if c == "0" else c for c in text) for text in gaps[1:]]


def equal_pivots(document: Document) -> None:
    pivots = step_of(document, "gap_classes")["pivots"]
    pivots[2] = ["5", "5"]


def one_more(key: str) -> Edit:
    def edit(document: Document) -> None:
        step = step_of(document, "gap_classes")
        step[key] = f"{int(step[key], 16) + 1:x}"

    return edit


def set_first(value: object) -> Callable[[Any], object]:
    return lambda items: items.__setitem__(0, value)


GAP = "gap_classes"
REFUSED: list[tuple[str, str, Edit, str]] = [
    ("peel", "subcubic:3", change("peel", "at", 4), "OUT_OF_RANGE"),
    ("peel", "subcubic:3", inside("peel", "column", lambda c: c["values"].append("0")), "VECTOR_LENGTH"),
    ("peel", "subcubic:3", inside("peel", "row", lambda c: c["values"].pop()), "VECTOR_LENGTH"),
    ("peel", "subcubic:3", inside("peel", "row", lambda c: c.update(exponent=5000)), "OUT_OF_RANGE"),
    ("peel", "subcubic:3", inside("peel", "row", lambda c: c["values"].__setitem__(0, "01")), "NOT_HEX"),
    ("peel", "subcubic:3", premise("peel", "of", "peel", 1), "FORWARD_REFERENCE"),
    ("row_exact", "subcubic:9", change("row_exact", "of", 0), "FACTORS"),
    ("row_exact", "subcubic:9", premise("row_exact", "of", "row_exact"), "FORWARD_REFERENCE"),
    ("row_exact", "subcubic:9", change("row_exact", "more", 1), "UNKNOWN_KEY"),
    ("row_range_chain", "subcubic:8", inside("row_range_chain", "summaries", lambda s: s.pop()), "SUMMARIES"),
    ("row_range_chain", "subcubic:8", inside("row_range_chain", "summaries", lambda s: s.append(None)), "SUMMARIES"),
    (
        "row_range_chain",
        "subcubic:8",
        inside("row_range_chain", "summaries", lambda s: s[1]["values"].append("1")),
        "VECTOR_LENGTH",
    ),
    ("row_range_chain", "subcubic:8", inside("row_range_chain", "summaries", set_first(7)), "NOT_AN_OBJECT"),
    ("row_norm", "subcubic:1", change("row_norm", "of", 0), "FACTORS"),
    ("row_norm", "subcubic:1", premise("row_norm", "of", "row_norm"), "FORWARD_REFERENCE"),
    ("row_norm", "subcubic:1", change("row_norm", "bound", "0"), "UNKNOWN_KEY"),
    ("row_bound_min", "subcubic:3", inside("row_bound_min", "of", lambda s: s.__delitem__(slice(1, None))), "PREMISES"),
    ("row_bound_min", "subcubic:3", inside("row_bound_min", "of", lambda s: s.__setitem__(1, s[0])), "PREMISES"),
    ("row_bound_min", "subcubic:3", inside("row_bound_min", "of", lambda s: s.__setitem__(1, 0)), "PREMISE_KIND"),
    ("row_bound_min", "subcubic:3", other_approximation, "OTHER_APPROXIMATION"),
    (GAP, "subcubic:9", raised_gaps, "GAP_FAILS"),
    (GAP, "subcubic:9", larger_gap_than_maximum, "GAP"),
    (GAP, "subcubic:9", gap_without_other_tokens, "GAP"),
    (GAP, "subcubic:9", equal_pivots, "PIVOTS"),
    (GAP, "subcubic:9", inside(GAP, "pivots", lambda p: p.__setitem__(0, ["0"])), "PIVOTS"),
    (GAP, "subcubic:9", inside(GAP, "pivots", lambda p: p.pop()), "SPANS"),
    (GAP, "subcubic:9", inside(GAP, "gaps", lambda g: g.__setitem__(0, g[0] + "0")), "GAPS"),
    (GAP, "subcubic:9", inside(GAP, "gaps", lambda g: g.__setitem__(0, g[0][:-1] + "w")), "GAPS"),
    (GAP, "subcubic:9", inside(GAP, "gaps", lambda g: g.__setitem__(1, "w" + g[1])), "GAPS"),
    (GAP, "subcubic:9", inside(GAP, "gaps", lambda g: g.__setitem__(0, g[0][:-1] + "+")), "GAPS"),
    (GAP, "subcubic:9", one_more("right"), "STATED_RESULT"),
    (GAP, "subcubic:9", premise(GAP, "scores", "row_range_chain"), "PREMISE_CIRCUIT"),
    (GAP, "subcubic:9", premise(GAP, "direct", "row_exact"), "PREMISE_CIRCUIT"),
    (GAP, "subcubic:9", premise(GAP, "positions", "circuit", 0), "PREMISE_CIRCUIT"),
    (GAP, "subcubic:9", premise(GAP, "values", "product", 6), "PREMISE_CIRCUIT"),
    (GAP, "subcubic:9", premise(GAP, "exact_direct", "circuit", 1), "NOT_EXACT"),
    (GAP, "subcubic:9:tight", inside("circuit", "centre", lambda c: c["values"].__setitem__(0, "1"), -1), "CENTRE"),
    (GAP, "subcubic:9", change(GAP, "margin_above", "1000"), "GAP_FAILS"),
    (GAP, "subcubic:9", change(GAP, "unit", 0), "OUT_OF_RANGE"),
    (GAP, "subcubic:1", inside("peel", "column", lambda c: c["values"].__setitem__(0, "0"), 1), "DIRECT_ROWS"),
]


@pytest.mark.parametrize(
    ("rule", "name", "edit", "code"), REFUSED, ids=[f"{rule}-{code}-{i}" for i, (rule, *_, code) in enumerate(REFUSED)]
)
def test_refused_for_the_right_reason(rule: str, name: str, edit: Edit, code: str) -> None:
    document = certificate(name)
    assert judge(spelled(document)).verdict == "VERIFIED"
    edit(document)
    outcome = judge(spelled(document))
    assert outcome.verdict in ("REJECTED", "MALFORMED") and outcome.code == code, outcome.text
    assert rule in outcome.text, outcome.text


def test_other_distributions_are_refused() -> None:
    document = certificate("subcubic:9")
    task = document["claim"]["task"]
    document["claim"]["distribution"] = [["1"] * (task["tokens"] - 1) + ["2"] for _ in range(task["length"])]
    document["claim"]["bounds"]["total"] = f"{(task['tokens'] + 1) ** task['length']:x}"
    assert judge(spelled(document)).code == "NOT_UNIFORM"


def test_one_output_is_refused() -> None:
    document = golden("one_output")
    steps = document["proof"][:]
    exact = {name: number for number, name in enumerate_circuits(steps)}
    direct = {"rule": "row_range_chain", "of": exact["EU"], "summaries": []}
    scores = {"rule": "row_exact", "of": exact["EQKE"]}
    first = max(exact.values()) + 1
    gap = {
        "rule": GAP, "scores": first, "direct": first + 1, "exact_direct": exact["EU"], "positions": exact["EQKP"],
        "values": exact["EVOU"], "output_positions": exact["PVOU"], "bits": 64, "grid": 48, "margin_above": "0",
        "exponent": 0, "region": [[0, 0, 1]], "unit": 8, "gaps": ["1"], "pivots": [[]], "right": "1",
    }  # fmt: skip
    document["proof"] = [*steps[:first], scores, direct, gap, {"rule": "conclude", "of": first + 2}]
    document["end"] = len(document["proof"])
    assert judge(spelled(document)).code == "ONE_OUTPUT"


def enumerate_circuits(steps: list[dict[str, Any]]) -> list[tuple[int, str]]:
    """The last step of each circuit's products."""
    names: dict[int, str] = {}
    for number, step in enumerate(steps):
        if step["rule"] == "circuit":
            names[number] = step["name"]
        if step["rule"] == "product":
            names[number] = names[step["of"]]
    return sorted(names.items())


# --- attack by changing what the proof chose --------------------------------------------------------------


def test_perturbed_witnesses_are_rejected_or_prove_no_more_than_the_truth() -> None:
    truth: dict[str, int] = {}

    @settings(max_examples=150, deadline=None)
    @given(st.data())
    def attack(data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(["subcubic:8", "subcubic:26:tight", "subcubic:1", "subcubic:5", "subcubic:9"]))
        document = certificate(name)
        leaves = list(witnesses(document))
        for _ in range(data.draw(st.integers(1, 3))):
            holder, key = data.draw(st.sampled_from(leaves))
            holder[key] = data.draw(replacement(holder[key]))
        lower = derived(document)
        if "count" not in truth:
            truth["count"] = Oracle(able(), task_for(able())).count()
        assert lower is None or lower <= truth["count"]

    attack()


def witnesses(document: Document) -> list[tuple[Any, Any]]:
    """(container, key) of every number or text that the proof chose freely."""
    found: list[tuple[Any, Any]] = []
    for step in document["proof"]:
        vectors = [step[key] for key in ("column", "row", "centre") if step.get(key)]
        vectors += [summary for summary in step.get("summaries", []) if summary]
        for vector in vectors:
            found += [(vector["values"], i) for i in range(len(vector["values"]))] + [(vector, "exponent")]
        if step["rule"] == GAP:
            found += [(step["gaps"], i) for i, text in enumerate(step["gaps"]) if text]
            found += [(pivots, i) for pivots in step["pivots"] for i in range(len(pivots))]
            found += [(step, "unit"), (step, "bits"), (step, "grid")]
    return found


def replacement(old: object) -> st.SearchStrategy[Any]:
    if isinstance(old, int):
        return st.integers(old - 6, old + 6)
    assert isinstance(old, str)
    if len(old) > 2 and set(old) <= set("01234"):
        return st.text("01234", min_size=len(old), max_size=len(old))
    return st.integers(-(1 << 22), 1 << 22).map(lambda n: f"-{-n:x}" if n < 0 else f"{n:x}")


def derived(document: Document) -> int | None:
    """The bound that the proof gives when it states whatever the checker derives; None if it is refused."""
    outcome = judge(spelled(document))
    if outcome.code == "STATED_RESULT":
        right = outcome.text.rsplit(" ", 1)[1]
        step_of(document, GAP)["right"] = f"{int(right):x}"
        document["claim"]["bounds"]["lower"] = f"{int(right):x}"
        outcome = judge(spelled(document))
    assert outcome.verdict in ("VERIFIED", "REJECTED", "MALFORMED"), outcome.text
    return int(document["claim"]["bounds"]["lower"], 16) if outcome.verdict == "VERIFIED" else None
