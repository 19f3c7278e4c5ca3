"""The corpus of good and bad certificates: `python tests/data/make.py` writes it, `--check` compares it.

One file per attack, named after it. A bad file is its neighbour in `accept/` with one change; `index.json` holds for
every file the neighbour, the options of the command, and the verdict and code that must come out. A new rule adds
rows to `cases`.
"""

from __future__ import annotations

import argparse
import base64
import itertools
import json
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "checker"))

from certificates import (  # noqa: E402
    ATTENTION,
    GOLDEN,
    Document,
    golden,
    loss_of_programs,
    pack,
    planted,
    random_model,
    resign,
    spelled,
    step_of,
)
from compactproofs.core.checkpoint import encode as safetensors  # noqa: E402
from compactproofs.core.model import SHAPES, Model, Tensor, build  # noqa: E402

Change = Callable[[Document], object]


@dataclass(frozen=True)
class Case:
    """One run of the checker: a file, its neighbour, options, and what must come out."""

    file: str
    data: bytes
    verdict: str
    code: str
    neighbour: str = ""
    options: dict[str, str] = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        more = {"options": self.options} if self.options else {}
        return {"file": self.file, "neighbour": self.neighbour, "verdict": self.verdict, "code": self.code, **more}


# --- changes -----------------------------------------------------------------------------------------


def at(path: str) -> Callable[[Document], tuple[Any, Any]]:
    """The container and key of a path such as `claim.task.kind` or `model.tensors.0.shape`."""

    def find(value: Document) -> tuple[Any, Any]:
        *before, last = [int(key) if key.isdigit() else key for key in path.split(".")]
        here: Any = value
        for key in before:
            here = here[key]
        return here, last

    return find


def put(path: str, new: object) -> Change:
    """Replace what stands at a path (or call `new` on it)."""

    def change(value: Document) -> None:
        here, key = at(path)(value)
        here[key] = new(here[key]) if callable(new) else new

    return change


def drop(path: str) -> Change:
    def change(value: Document) -> None:
        here, key = at(path)(value)
        del here[key]

    return change


def step(rule: str, key: str, new: object, occurrence: int = 0) -> Change:
    """Change one argument of a step (or call `new` on it)."""

    def change(value: Document) -> None:
        found = step_of(value, rule, occurrence)
        found[key] = new(found[key]) if callable(new) else new

    return change


def named(value: Document, circuit: str) -> Document:
    """The step that introduces a circuit."""
    found: Document = next(found for found in value["proof"] if found.get("name") == circuit)
    return found


def dropped(rule: str, key: str) -> Change:
    return lambda value: step_of(value, rule).pop(key)


def weights(new: Callable[[list[dict[str, Any]]], object]) -> Change:
    """Change the list of tensors and state the digest that fits, as an attacker would."""

    def change(value: Document) -> None:
        new(value["model"]["tensors"])
        resign(value)

    return change


def word(name: str, number: float, dtype: str = "F16") -> Change:
    """Store another number as the first entry of a tensor."""

    def change(tensors: list[dict[str, Any]]) -> None:
        tensor = next(tensor for tensor in tensors if tensor["name"] == name)
        data = base64.b64decode(tensor["data"])
        new = pack([number], dtype)
        tensor["data"] = base64.b64encode(new + data[len(new) :]).decode()

    return weights(change)


def more(number: int) -> Callable[[str], str]:
    """A hexadecimal string plus a number."""
    return lambda text: f"{n:x}" if (n := int(text, 16) + number) >= 0 else f"-{-n:x}"


def renumbered(change: Callable[[list[dict[str, Any]]], object]) -> Change:
    """Change the list of steps, and the `end` with it."""

    def apply(value: Document) -> None:
        change(value["proof"])
        value["end"] = len(value["proof"])

    return apply


def shifted(steps: list[dict[str, Any]], start: int, by: int) -> None:
    """Move every reference to a step from `start` on."""
    for found in steps:
        for key, entry in found.items():
            if key in REFERENCES and isinstance(entry, int) and entry >= start:
                found[key] = entry + by
            if key == "of" and isinstance(entry, list):
                found[key] = [n + by if n >= start else n for n in entry]


REFERENCES = ("of", "scores", "positions", "weights", "direct", "values", "margins")


def remove(number: int) -> Change:
    """Drop a step, and renumber the rest as an attacker would."""

    def change(steps: list[dict[str, Any]]) -> None:
        del steps[number]
        shifted(steps, number + 1, -1)

    return renumbered(change)


def insert(number: int, new: Document) -> Change:
    def change(steps: list[dict[str, Any]]) -> None:
        shifted(steps, number, 1)
        steps.insert(number, new)

    return renumbered(change)


def swap(i: int, j: int) -> Change:
    def change(steps: list[dict[str, Any]]) -> None:
        steps[i], steps[j] = steps[j], steps[i]

    return renumbered(change)


def both(*changes: Change) -> Change:
    """Several edits that make one change of meaning."""

    def change(value: Document) -> None:
        for each in changes:
            each(value)

    return change


def bounds(lower: int = 0, upper: int = 0) -> Change:
    return both(put("claim.bounds.lower", more(lower)), put("claim.bounds.upper", more(upper)))


Raw = Callable[[bytes], bytes]


def text(old: str, new: str) -> Raw:
    """Replace the first occurrence in the bytes."""

    def change(data: bytes) -> bytes:
        if old.encode("utf-8") not in data:
            raise ValueError(f"{old!r} does not occur")
        return data.replace(old.encode("utf-8"), new.encode("utf-8"), 1)

    return change


# --- the tables --------------------------------------------------------------------------------------

# name, neighbour, change, code
REJECT: list[tuple[str, str, Change, str]] = [
    # the claim against the proof
    ("lower_one_too_high", "enumerate", bounds(1, 1), "BOUND"),
    ("lower_one_too_low", "enumerate", bounds(-1, 0), "BOUND"),
    ("upper_one_too_high", "enumerate", bounds(0, 1), "BOUND"),
    ("upper_one_too_low", "pure_sequences", bounds(0, -1), "BOUND"),
    ("lower_zero", "enumerate", put("claim.bounds.lower", "0"), "BOUND"),
    ("perfect_accuracy", "enumerate", both(put("claim.bounds.lower", "9"), put("claim.bounds.upper", "9")), "BOUND"),
    ("cubic_one_too_high", "pure_sequences", bounds(1, 0), "BOUND"),
    ("cubic_upper_claimed_too", "pure_sequences", put("claim.bounds.upper", "d"), "BOUND"),
    ("tree_one_too_high", "margin_tree", bounds(1, 1), "BOUND"),
    ("threshold_claimed_higher", "enumerate", put("claim.quantity.margin_above", "1"), "THRESHOLD"),
    ("threshold_claimed_lower", "threshold", put("claim.quantity.margin_above", "1"), "THRESHOLD"),
    (
        "threshold_dropped_from_claim",
        "threshold",
        put("claim.quantity", {"exponent": 0, "margin_above": "0"}),
        "THRESHOLD",
    ),
    ("threshold_negated", "threshold", put("claim.quantity.margin_above", "-3"), "THRESHOLD"),
    ("threshold_exponent", "threshold", put("claim.quantity.exponent", 0), "THRESHOLD"),
    ("threshold_only_in_proof", "enumerate", step("margins", "margin_above", "-1"), "THRESHOLD"),
    (
        "threshold_scaled_in_proof",
        "threshold",
        both(step("margins", "margin_above", "6"), step("margins", "exponent", -2)),
        "THRESHOLD",
    ),
    (
        "program_claimed_reals_proved",
        "enumerate",
        put("claim.semantics", {"exp_ulp": 1, "format": "binary32", "underflow": "gradual"}),
        "SEMANTICS",
    ),
    ("task_min_claimed", "enumerate", put("claim.task.kind", "min"), "STATED_RESULT"),
    ("task_max_claimed", "min", put("claim.task.kind", "max"), "STATED_RESULT"),
    (
        "end_token_instead_of_length",
        "end_token",
        both(
            put("claim.task", {"eos": None, "kind": "max", "length": 3, "tokens": 3}),
            put("claim.bounds", {"lower": "5", "total": "1b", "upper": "5"}),
        ),
        "STATED_RESULT",
    ),
    # counts that steps state
    ("enumerate_right_plus_one", "enumerate", step("enumerate", "right", more(1)), "STATED_RESULT"),
    ("enumerate_right_minus_one", "enumerate", step("enumerate", "right", more(-1)), "STATED_RESULT"),
    ("enumerate_wrong_plus_one", "enumerate", step("enumerate", "wrong", more(1)), "STATED_RESULT"),
    ("enumerate_wrong_minus_one", "enumerate", step("enumerate", "wrong", more(-1)), "STATED_RESULT"),
    ("enumerate_negative_wrong", "enumerate", step("enumerate", "wrong", "-1"), "STATED_RESULT"),
    (
        "enumerate_count_and_claim",
        "enumerate",
        both(step("enumerate", "right", more(1)), step("enumerate", "wrong", more(-1)), bounds(1, 1)),
        "STATED_RESULT",
    ),
    ("tree_right_plus_one", "margin_tree", step("margin_tree", "right", more(1)), "STATED_RESULT"),
    ("tree_right_minus_one", "margin_tree", step("margin_tree", "right", more(-1)), "STATED_RESULT"),
    ("tree_wrong_plus_one", "margin_tree", step("margin_tree", "wrong", more(1)), "STATED_RESULT"),
    ("tree_wrong_minus_one", "margin_tree", step("margin_tree", "wrong", more(-1)), "STATED_RESULT"),
    (
        "tree_count_and_claim",
        "margin_tree",
        both(step("margin_tree", "right", more(1)), step("margin_tree", "wrong", more(-1)), bounds(1, 1)),
        "STATED_RESULT",
    ),
    ("tree_region_smaller", "margin_tree", step("margin_tree", "region", [[0, 0, 1], [1, 0, 2]]), "STATED_RESULT"),
    ("pure_right_plus_one", "pure_sequences", step("pure_sequences", "right", more(1)), "STATED_RESULT"),
    ("pure_right_minus_one", "pure_sequences", step("pure_sequences", "right", more(-1)), "STATED_RESULT"),
    ("pure_region_smaller", "pure_sequences", step("pure_sequences", "region", [[2, 0, 3]]), "STATED_RESULT"),
    (
        "pure_count_and_claim",
        "pure_sequences",
        both(step("pure_sequences", "right", more(1)), bounds(1, 0)),
        "STATED_RESULT",
    ),
    # premises
    ("own_index", "enumerate", step("conclude", "of", lambda n: n + 1), "FORWARD_REFERENCE"),
    ("forward_reference", "enumerate", step("product", "of", 20), "FORWARD_REFERENCE"),
    ("first_step_refers_to_itself", "enumerate", insert(0, {"at": 0, "of": 0, "rule": "product"}), "FORWARD_REFERENCE"),
    ("reference_far_beyond_the_end", "enumerate", step("conclude", "of", 10**9), "FORWARD_REFERENCE"),
    (
        "union_forward_reference",
        "union",
        step("disjoint_union", "of", lambda of: [*of[:-1], 10**6]),
        "FORWARD_REFERENCE",
    ),
    ("union_own_index", "union", step("disjoint_union", "of", lambda of: [*of[:-1], of[-1] + 1]), "FORWARD_REFERENCE"),
    ("conclude_margins", "enumerate", step("conclude", "of", lambda n: n - 1), "PREMISE_KIND"),
    ("conclude_circuit", "enumerate", step("conclude", "of", 0), "PREMISE_KIND"),
    (
        "conclude_a_conclusion",
        "enumerate",
        renumbered(lambda steps: steps.append({"of": len(steps) - 1, "rule": "conclude"})),
        "PREMISE_KIND",
    ),
    (
        "product_of_weights",
        "enumerate",
        renumbered(
            lambda steps: steps.insert(
                -1, {"at": 0, "of": [s["rule"] for s in steps].index("weights"), "rule": "product"}
            )
        ),
        "PREMISE_KIND",
    ),
    ("weights_of_margins", "enumerate", step("margins", "weights", 0), "PREMISE_KIND"),
    ("margins_of_weights", "enumerate", step("enumerate", "margins", lambda n: n - 1), "PREMISE_KIND"),
    ("tree_of_weights", "margin_tree", step("margin_tree", "margins", lambda n: n - 1), "PREMISE_KIND"),
    ("pure_of_circuit", "pure_sequences", step("pure_sequences", "margins", 0), "PREMISE_KIND"),
    ("union_of_margins", "union", step("disjoint_union", "of", lambda of: [of[0] - 1, *of[1:]]), "PREMISE_KIND"),
    (
        "scores_from_positions",
        "enumerate",
        lambda v: step_of(v, "weights").update(scores=step_of(v, "weights")["positions"]),
        "PREMISE_CIRCUIT",
    ),
    (
        "positions_from_scores",
        "enumerate",
        lambda v: step_of(v, "weights").update(positions=step_of(v, "weights")["scores"]),
        "PREMISE_CIRCUIT",
    ),
    (
        "values_from_positions",
        "enumerate",
        lambda v: step_of(v, "margins").update(values=step_of(v, "margins")["positions"]),
        "PREMISE_CIRCUIT",
    ),
    (
        "values_and_positions_swapped",
        "enumerate",
        lambda v: step_of(v, "margins").update(
            values=step_of(v, "margins")["positions"], positions=step_of(v, "margins")["values"]
        ),
        "PREMISE_CIRCUIT",
    ),
    (
        "direct_from_scores",
        "enumerate",
        lambda v: step_of(v, "margins").update(direct=step_of(v, "weights")["scores"]),
        "PREMISE_CIRCUIT",
    ),
    ("scores_not_multiplied_out", "enumerate", step("weights", "scores", lambda n: n - 1), "NOT_EXACT"),
    ("values_not_multiplied_out", "enumerate", step("margins", "values", lambda n: n - 3), "NOT_EXACT"),
    ("direct_not_multiplied_out", "enumerate", step("margins", "direct", lambda n: n - 1), "NOT_EXACT"),
    ("product_of_one_factor", "enumerate", insert(4, {"at": 0, "of": 3, "rule": "product"}), "ONE_FACTOR"),
    (
        "union_of_one",
        "part",
        renumbered(
            lambda steps: (
                steps.insert(-1, {"of": [len(steps) - 2], "rule": "disjoint_union"}),
                steps[-1].update(of=len(steps) - 2),
            )
        ),
        "PREMISES",
    ),
    ("union_of_none", "union", step("disjoint_union", "of", []), "PREMISES"),
    ("union_repeated_premise", "union", step("disjoint_union", "of", lambda of: [of[0], *of]), "PREMISES"),
    ("union_dropped_premise", "union", step("disjoint_union", "of", lambda of: of[1:]), "UNUSED_STEP"),
    ("union_overlap", "union", step("enumerate", "region", [[1, 1, 2]], 0), "STATED_RESULT"),
    ("union_twice_the_same_span", "union", lambda v: _twin(v, "enumerate", 0), "OVERLAP"),
    ("union_overlap_of_wide_span", "union", lambda v: _overlap(v), "OVERLAP"),
    ("union_thresholds_differ", "union", lambda v: _two_thresholds(v), "THRESHOLD"),
    (
        "centres_differ",
        "centred",
        lambda v: named(v, "PVOU").update(centre={"exponent": -2, "values": ["-3", "4"]}),
        "CENTRE",
    ),
    ("centre_of_values_only", "centred", lambda v: named(v, "PVOU").update(centre=None), "CENTRE"),
    (
        "centre_respelled",
        "centred",
        lambda v: named(v, "PVOU").update(centre={"exponent": -3, "values": ["-6", "a"]}),
        "CENTRE",
    ),
    # approximations and gap classes
    ("gap_right_plus_one", "gap_classes", step("gap_classes", "right", more(1)), "STATED_RESULT"),
    ("gap_right_minus_one", "gap_classes", step("gap_classes", "right", more(-1)), "STATED_RESULT"),
    ("gap_too_small", "gap_classes", lambda v: _gap(v, 1, "1"), "GAP_FAILS"),
    ("gap_leaves_no_token", "gap_classes", lambda v: _gap(v, 5, "5"), "GAP"),
    ("gap_of_no_others", "gap_classes", lambda v: _gap(v, 0, "2"), "GAP"),
    ("gap_scores_of_another_circuit", "gap_classes", lambda v: _borrow(v, "scores", "direct"), "PREMISE_CIRCUIT"),
    ("gap_direct_of_another_circuit", "gap_classes", lambda v: _borrow(v, "direct", "scores"), "PREMISE_CIRCUIT"),
    ("gap_scores_not_admissible", "gap_classes", step("gap_classes", "scores", 0), "PREMISE_KIND"),
    ("gap_scores_without_approximation", "row_exact", lambda v: _bare(v), "PREMISE_CIRCUIT"),
    ("gap_direct_differs_between_queries", "gap_classes", lambda v: _slope(v), "DIRECT_ROWS"),
    ("gap_exact_direct_not_exact", "gap_classes", step("gap_classes", "exact_direct", lambda n: n - 1), "NOT_EXACT"),
    (
        "gap_centres_differ",
        "gap_classes",
        lambda v: named(v, "PVOU").update(centre={"exponent": 0, "values": ["1", "0"]}),
        "CENTRE",
    ),
    ("gap_threshold_only_in_proof", "gap_classes", step("gap_classes", "margin_above", "-1"), "THRESHOLD"),
    (
        "gap_under_a_distribution",
        "gap_classes",
        both(
            put("claim.distribution", [["1", "1", "1"], ["1", "1", "1"], ["1", "2", "1"]]),
            put("claim.bounds.total", "24"),
            put("claim.bounds.upper", "24"),
        ),
        "NOT_UNIFORM",
    ),
    ("peel_of_a_bound", "gap_classes", step("peel", "of", 13, -1), "PREMISE_KIND"),
    (
        "peel_other_column",
        "row_norm",
        lambda v: step_of(v, "peel")["column"]["values"].__setitem__(0, "0"),
        "GAP_FAILS",
    ),
    ("norm_of_three_factors", "row_norm", step("row_norm", "of", 1), "FACTORS"),
    ("exact_of_two_factors", "row_exact", step("row_exact", "of", 2), "FACTORS"),
    (
        "minimum_of_one",
        "gap_classes",
        lambda v: step_of(v, "row_bound_min").update(of=step_of(v, "row_bound_min")["of"][:1]),
        "PREMISES",
    ),
    (
        "minimum_repeated",
        "gap_classes",
        lambda v: step_of(v, "row_bound_min")["of"].append(step_of(v, "row_bound_min")["of"][0]),
        "PREMISES",
    ),
    ("minimum_of_other_approximations", "gap_classes", lambda v: _mixed(v), "OTHER_APPROXIMATION"),
    ("exponents_too_far_apart", "gap_classes", lambda v: _spread(v), "EXPONENT_SPREAD"),
    ("gap_with_one_output", "one_output", lambda v: _one_output(v), "ONE_OUTPUT"),
    # convolution
    ("convolution_right_plus_one", "convolution", step("margin_convolution", "right", more(1)), "STATED_RESULT"),
    ("convolution_right_minus_one", "convolution", step("margin_convolution", "right", more(-1)), "STATED_RESULT"),
    ("convolution_wrong_plus_one", "convolution", step("margin_convolution", "wrong", more(1)), "STATED_RESULT"),
    ("convolution_wrong_minus_one", "convolution", step("margin_convolution", "wrong", more(-1)), "STATED_RESULT"),
    ("convolution_no_maxima", "convolution", step("margin_convolution", "maxima", []), "EMPTY_REGION"),
    (
        "convolution_maximum_dropped",
        "convolution",
        lambda v: step_of(v, "margin_convolution")["maxima"].pop(),
        "STATED_RESULT",
    ),
    ("convolution_item_dropped", "convolution", lambda v: _items(v, 1).pop(2), "STATED_RESULT"),
    (
        "convolution_screen_of_a_winner",
        "convolution",
        lambda v: _items(v, 1).__setitem__(1, ["screen", *_items(v, 1)[1][1:4]]),
        "NOT_HARMLESS",
    ),
    (
        "convolution_rest_before_its_cover",
        "convolution",
        lambda v: _items(v, 2).insert(0, _items(v, 2).pop(5)),
        "NOT_COVERED",
    ),
    ("convolution_rest_not_covered", "convolution", lambda v: _items(v, 2).pop(4), "NOT_COVERED"),
    ("convolution_weight_vanishes", "convolution", lambda v: _vanish(v), "PRECISION"),
    # floating-point programs
    ("program_as_reals", "program", put("claim.semantics", "real"), "SEMANTICS"),
    ("program_better_exp_claimed", "program", put("claim.semantics.exp_ulp", 1), "SEMANTICS"),
    ("program_other_underflow_claimed", "program", put("claim.semantics.underflow", "gradual"), "SEMANTICS"),
    ("program_other_format_claimed", "program", put("claim.semantics.format", "binary64"), "SEMANTICS"),
    ("program_format_too_small", "program", lambda v: _machine(v, format="bfloat16"), "FORMAT"),
    ("program_exp_too_coarse", "program", lambda v: _machine(v, format="binary16", exp_ulp=1 << 20), "TOO_COARSE"),
    (
        "program_ceiling_too_high",
        "program",
        both(lambda v: _machine(v, underflow="gradual"), step("float_error", "ceiling", 127)),
        "OVERFLOW",
    ),
    ("program_ceiling_too_low", "program", step("float_error", "ceiling", 2), "OVERFLOW"),
    ("program_errors_beyond_the_threshold", "program", lambda v: _machine(v, exp_ulp=1 << 20), "UNDERSTATED"),
    (
        "program_counts_swapped",
        "program",
        lambda v: step_of(v, "float_count").update(
            right=step_of(v, "float_count")["wrong"], wrong=step_of(v, "float_count")["right"]
        ),
        "UNDERSTATED",
    ),
    (
        "program_right_count_for_wrong",
        "program",
        lambda v: step_of(v, "float_count").update(wrong=step_of(v, "float_count")["right"]),
        "UNDERSTATED",
    ),
    (
        "program_threshold_too_near",
        "program",
        step("margins", "exponent", lambda n: n - 1),
        "UNDERSTATED",
    ),
    (
        "program_proved_for_a_finer_format",
        "program",
        lambda v: step_of(v, "float_error")["semantics"].update(format="binary64"),
        "SEMANTICS",
    ),
    ("program_wrong_dropped", "program", step("float_count", "wrong", None), "UNUSED_STEP"),
    ("program_of_a_program", "program", lambda v: _twice(v), "FLOAT_COUNT"),
    ("program_of_another_region", "program", lambda v: _region_of_wrong(v), "FLOAT_COUNT"),
    ("program_joined_with_reals", "program", lambda v: _joined(v), "SEMANTICS"),
    (
        "program_values_from_positions",
        "program",
        lambda v: step_of(v, "float_error").update(values=step_of(v, "float_error")["positions"]),
        "PREMISE_CIRCUIT",
    ),
    # the list of steps
    ("no_steps", "enumerate", renumbered(lambda steps: steps.clear()), "NO_CONCLUSION"),
    ("no_conclusion", "enumerate", renumbered(lambda steps: steps.pop()), "NO_CONCLUSION"),
    ("only_conclude", "enumerate", renumbered(lambda steps: steps.__delitem__(slice(0, -1))), "FORWARD_REFERENCE"),
    (
        "conclude_without_a_count",
        "enumerate",
        both(
            renumbered(
                lambda steps: steps.__setitem__(
                    slice(None), [{"centre": None, "name": "EU", "rule": "circuit"}, {"of": 0, "rule": "conclude"}]
                )
            )
        ),
        "PREMISE_KIND",
    ),
    ("unused_circuit", "enumerate", insert(0, {"centre": None, "name": "EU", "rule": "circuit"}), "UNUSED_STEP"),
    ("unused_second_conclusion", "enumerate", renumbered(lambda steps: steps.append(dict(steps[-1]))), "UNUSED_STEP"),
    (
        "step_after_conclude",
        "enumerate",
        renumbered(lambda steps: steps.append({"centre": None, "name": "EU", "rule": "circuit"})),
        "NO_CONCLUSION",
    ),
    (
        "repeated_count",
        "enumerate",
        renumbered(lambda steps: (steps.insert(-1, dict(steps[-2])), steps[-1].update(of=len(steps) - 2))),
        "UNUSED_STEP",
    ),
    ("dropped_product", "enumerate", remove(3), "PREMISE_CIRCUIT"),
    ("dropped_circuit", "enumerate", remove(0), "FORWARD_REFERENCE"),
    ("dropped_count", "enumerate", remove(20), "FORWARD_REFERENCE"),
    ("swapped_steps", "enumerate", swap(0, 1), "FORWARD_REFERENCE"),
    ("swapped_circuits", "enumerate", swap(0, 4), "PREMISE_CIRCUIT"),
    ("swapped_end", "enumerate", swap(-1, -2), "FORWARD_REFERENCE"),
    ("reversed_steps", "enumerate", renumbered(lambda steps: steps.reverse()), "FORWARD_REFERENCE"),
    # regions and precision
    ("empty_region", "enumerate", step("enumerate", "region", []), "EMPTY_REGION"),
    (
        "empty_region_with_no_counts",
        "part",
        both(step("margin_tree", "region", []), step("margin_tree", "right", "0"), step("margin_tree", "wrong", "0")),
        "EMPTY_REGION",
    ),
    ("pure_empty_region", "pure_sequences", step("pure_sequences", "region", []), "EMPTY_REGION"),
    ("tree_too_few_digits", "margin_tree", step("margin_tree", "digits", 8), "STATED_RESULT"),
    ("tree_too_few_bits", "margin_tree", both(step("weights", "bits", 12), step("weights", "grid", 8)), "PRECISION"),
    ("enumerate_too_few_digits", "enumerate", step("enumerate", "digits", 8), "STATED_RESULT"),
    ("enumerate_too_few_logit_bits", "enumerate", step("enumerate", "logit_bits", 0), "STATED_RESULT"),
    ("weight_vanishes", "enumerate", lambda v: _vanish(v), "PRECISION"),
    # the model
    ("weight_changed", "enumerate", word("embed.W_E", 1.75), "STATED_RESULT"),
    ("weight_negated", "margin_tree", word("unembed.W_U", -60000.0), "STATED_RESULT"),
    (
        "weights_all_zero",
        "enumerate",
        weights(
            lambda tensors: [
                t.update(data=base64.b64encode(bytes(len(base64.b64decode(t["data"])))).decode()) for t in tensors
            ]
        ),
        "STATED_RESULT",
    ),
    *(
        (f"bias_dropped_{name.rsplit('.', 1)[1]}", "biases", weights(lambda t, i=7 + i: t.pop(i)), "STATED_RESULT")
        for i, name in enumerate((ATTENTION + "b_Q", "", ATTENTION + "b_V", ATTENTION + "b_O", "unembed.b_U"))
        if name
    ),
    (
        "distribution_dropped",
        "weighted",
        both(put("claim.distribution", "uniform"), put("claim.bounds", {"lower": "6", "total": "9", "upper": "6"})),
        "STATED_RESULT",
    ),
    ("distribution_of_another_claim", "weighted", put("claim.distribution", lambda rows: rows[::-1]), "STATED_RESULT"),
    (
        "distribution_under_uniform_rule",
        "pure_sequences",
        both(
            put("claim.distribution", [["1", "1", "1"], ["1", "1", "1"], ["1", "2", "1"]]),
            put("claim.bounds.total", "24"),
            put("claim.bounds.upper", "24"),
        ),
        "NOT_UNIFORM",
    ),
]


def _twin(value: Document, rule: str, occurrence: int) -> None:
    """Count one span twice by a second, equal step, and let the claim follow."""
    steps = value["proof"]
    first = step_of(value, rule, occurrence)
    union = next(s for s in steps if s["rule"] == "disjoint_union")
    number = len(steps) - 2
    steps.insert(number, dict(first))
    union["of"] = [*union["of"], number]
    steps[-1]["of"] = number + 1
    value["end"] = len(steps)


def _overlap(value: Document) -> None:
    """Let a third count hold both spans of maximum 1, which were counted already."""
    steps = value["proof"]
    parts = [s for s in steps if s.get("region", [[None]])[0][0] == 1]
    right, wrong = (sum(int(s[key], 16) for s in parts) for key in ("right", "wrong"))
    _twin(value, "margin_tree", 0)
    steps[-3].update(region=[[1, 0, 2]], right=f"{right:x}", wrong=f"{wrong:x}")


def _two_thresholds(value: Document) -> None:
    """Count the second span for a threshold of its own, so low that everything is right, and let the claim follow."""
    steps = value["proof"]
    number = next(i for i, s in enumerate(steps) if s["rule"] == "margins")
    shifted(steps, number + 1, 1)
    steps.insert(number + 1, {**steps[number], "margin_above": "-1", "exponent": 40})
    second = step_of(value, "margin_tree")
    gained = int(second["wrong"], 16)
    second.update(margins=number + 1, right=more(gained)(second["right"]), wrong="0")
    bounds(gained, gained)(value)
    value["end"] = len(steps)


def _text(value: Document, new: Callable[[str], str]) -> None:
    """Change the string of gaps of the last span."""
    gaps = step_of(value, "gap_classes")["gaps"]
    gaps[-1] = new(gaps[-1])


def _gap(value: Document, where: int, new: str) -> None:
    """Replace one gap of the last span."""
    _text(value, lambda text: text[:where] + new + text[where + 1 :])


def _borrow(value: Document, key: str, other: str) -> None:
    """Let one premise of the gap classes be another one, and leave no step unused."""
    found = step_of(value, "gap_classes")
    found[key] = found[other]


def _one_output(value: Document) -> None:
    """Gap classes of a model that has no wrong output."""
    steps = value["proof"]
    weight, margin = step_of(value, "weights"), step_of(value, "margins")
    exact = {"scores": weight["scores"], "direct": margin["direct"]}
    number = next(i for i, s in enumerate(steps) if s["rule"] == "weights")
    steps[number:] = [
        {"rule": "row_exact", "of": exact["scores"]},
        {"rule": "row_exact", "of": exact["direct"]},
        {
            "rule": "gap_classes",
            "scores": number,
            "positions": weight["positions"],
            "direct": number + 1,
            "exact_direct": exact["direct"],
            "values": margin["values"],
            "output_positions": margin["positions"],
            "margin_above": "0",
            "exponent": 0,
            "bits": 64,
            "grid": 64,
            "unit": 8,
            "region": [[0, 0, 1]],
            "gaps": ["0"],
            "pivots": [[]],
            "right": "1",
        },
        {"rule": "conclude", "of": number + 2},
    ]
    value["end"] = len(steps)


def _bare(value: Document) -> None:
    """Bound the scores as they are, without an approximation."""
    found = step_of(value, "row_exact")
    found.update(rule="row_range_chain", summaries=[])


def _slope(value: Document) -> None:
    """An approximation of the direct path that is not alike for all queries."""
    step_of(value, "peel", -1)["column"]["values"][0] = "2"


def _mixed(value: Document) -> None:
    """Take the least of bounds on the rests of two different approximations."""
    step_of(value, "row_range_chain", 2).update(of=4, summaries=[None] * 3)


def _spread(value: Document) -> None:
    """Two peels at both ends of the exponents that a file may state, and weights of 2**960: 2**14 bits apart."""
    value.update(golden("float64"))
    tensors = {tensor["name"]: tensor for tensor in value["model"]["tensors"]}
    for name, power in ((ATTENTION + "W_Q", -960), (ATTENTION + "W_K", 960)):
        tensors[name]["data"] = base64.b64encode(pack([2.0**power] * 4, "F64")).decode()
    resign(value)
    vector = {exponent: {"exponent": exponent, "values": ["1", "1"]} for exponent in (4096, -4096)}
    peels = [
        {"rule": "circuit", "name": "EQKE", "centre": None},
        {"rule": "peel", "of": 0, "at": 1, "column": vector[4096], "row": vector[4096]},
        {"rule": "peel", "of": 1, "at": 2, "column": vector[-4096], "row": vector[-4096]},
    ]
    value["proof"] = [*peels, *value["proof"]]
    value["end"] = len(value["proof"])


def _items(value: Document, maximum: int) -> list[Any]:
    """The items of a maximum."""
    found: list[Any] = step_of(value, "margin_convolution")["maxima"][maximum]["items"]
    return found


def _item(value: Document, maximum: int, number: int, key: int, new: object) -> None:
    _items(value, maximum)[number][key] = new


def _machine(value: Document, **change: object) -> None:
    """Claim and prove for another machine."""
    for semantics in (value["claim"]["semantics"], step_of(value, "float_error")["semantics"]):
        semantics.update(change)


def _unassumed(value: Document, key: str) -> None:
    """Claim and prove without an assumption."""
    for semantics in (value["claim"]["semantics"], step_of(value, "float_error")["semantics"]):
        del semantics[key]


def _twice(value: Document) -> None:
    """Count the program's right inputs from the program's right inputs."""
    steps = value["proof"]
    count = steps[-2]
    steps.insert(-1, {**count, "right": len(steps) - 2})
    steps[-1]["of"] = len(steps) - 2
    value["end"] = len(steps)


def _region_of_wrong(value: Document) -> None:
    """Let the wrong ones be counted in a part of the region only."""
    found = step_of(value, "margin_tree", 1)
    found["region"] = [[1, 0, 2], [2, 0, 3]]
    found["wrong"], found["right"] = WRONG_IN_PART


WRONG_IN_PART = ("5", "15")


def _joined(value: Document) -> None:
    """Join the program's count with a count over the real numbers, at the same threshold."""
    steps = value["proof"]
    margins = next(i for i, s in enumerate(steps) if s["rule"] == "margins")
    zero = {**steps[margins], "margin_above": "0", "exponent": 0}
    count = {
        "rule": "margin_tree",
        "margins": len(steps) - 1,
        "region": [[0, 0, 1]],
        "digits": 64,
        "right": "1",
        "wrong": "0",
    }
    steps[-1:] = [
        zero,
        count,
        {"rule": "disjoint_union", "of": [len(steps) - 2, len(steps)]},
        {"rule": "conclude", "of": len(steps) + 1},
    ]
    value["end"] = len(steps)


def _vanish(value: Document) -> None:
    """Scores so large that the weight of a maximum is zero at the precision that the step asks for."""
    for found in value["proof"]:
        if found["rule"] == "weights":
            found.update(bits=8, grid=8)
    word("embed.W_E", 1000.0)(value)


MALFORMED: list[tuple[str, str, Change, str]] = [
    # keys and types
    ("wrong_format", "enumerate", put("format", "compactproofs certificates"), "FORMAT"),
    ("format_upper_case", "enumerate", put("format", "Compactproofs certificate"), "FORMAT"),
    ("format_not_text", "enumerate", put("format", 1), "NOT_TEXT"),
    ("version_2", "enumerate", put("version", 2), "VERSION"),
    ("version_0", "enumerate", put("version", 0), "VERSION"),
    ("version_true", "enumerate", put("version", True), "VERSION"),
    ("version_text", "enumerate", put("version", "1"), "VERSION"),
    ("version_null", "enumerate", put("version", None), "VERSION"),
    ("version_missing", "enumerate", drop("version"), "MISSING_KEY"),
    ("unknown_key_top", "enumerate", put("comment", "trust me"), "UNKNOWN_KEY"),
    ("unknown_key_verdict", "enumerate", put("verdict", "VERIFIED"), "UNKNOWN_KEY"),
    ("unknown_key_model", "enumerate", put("model.source", "hub"), "UNKNOWN_KEY"),
    ("unknown_key_tensor", "enumerate", put("model.tensors.0.offset", 0), "UNKNOWN_KEY"),
    ("unknown_key_claim", "enumerate", put("claim.note", "on ImageNet"), "UNKNOWN_KEY"),
    ("unknown_key_task", "enumerate", put("claim.task.query", 0), "UNKNOWN_KEY"),
    ("unknown_key_quantity", "enumerate", put("claim.quantity.name", "accuracy"), "UNKNOWN_KEY"),
    ("unknown_key_bounds", "enumerate", put("claim.bounds.about", "9"), "UNKNOWN_KEY"),
    ("unknown_key_step", "enumerate", put("proof.0.trusted", 1), "UNKNOWN_KEY"),
    ("unknown_key_count", "enumerate", step("enumerate", "undecided", "0"), "UNKNOWN_KEY"),
    ("unknown_key_centre", "centred", put("proof.0.centre.scale", 1), "UNKNOWN_KEY"),
    ("missing_model", "enumerate", drop("model"), "MISSING_KEY"),
    ("missing_claim", "enumerate", drop("claim"), "MISSING_KEY"),
    ("missing_proof", "enumerate", drop("proof"), "MISSING_KEY"),
    ("missing_end", "enumerate", drop("end"), "MISSING_KEY"),
    ("missing_digest", "enumerate", drop("model.sha256"), "MISSING_KEY"),
    ("missing_bounds", "enumerate", drop("claim.bounds"), "MISSING_KEY"),
    ("missing_lower", "enumerate", drop("claim.bounds.lower"), "MISSING_KEY"),
    ("missing_eos", "enumerate", drop("claim.task.eos"), "MISSING_KEY"),
    ("missing_rule", "enumerate", drop("proof.0.rule"), "MISSING_KEY"),
    ("missing_premise", "enumerate", dropped("product", "of"), "MISSING_KEY"),
    ("missing_right", "enumerate", dropped("enumerate", "right"), "MISSING_KEY"),
    ("missing_region", "margin_tree", dropped("margin_tree", "region"), "MISSING_KEY"),
    ("missing_digits", "margin_tree", dropped("margin_tree", "digits"), "MISSING_KEY"),
    ("missing_centre", "enumerate", dropped("circuit", "centre"), "MISSING_KEY"),
    ("missing_shape", "enumerate", drop("model.tensors.0.shape"), "MISSING_KEY"),
    ("model_a_list", "enumerate", put("model", []), "NOT_AN_OBJECT"),
    ("model_a_path", "enumerate", put("model", "model.safetensors"), "NOT_AN_OBJECT"),
    ("claim_null", "enumerate", put("claim", None), "NOT_AN_OBJECT"),
    ("claim_words", "enumerate", put("claim", "100% accurate on ImageNet with margin one million"), "NOT_AN_OBJECT"),
    ("proof_an_object", "enumerate", put("proof", {}), "NOT_A_LIST"),
    ("proof_null", "enumerate", put("proof", None), "NOT_A_LIST"),
    ("step_a_list", "enumerate", put("proof.0", []), "NOT_AN_OBJECT"),
    ("step_null", "enumerate", put("proof.0", None), "NOT_AN_OBJECT"),
    ("step_a_number", "enumerate", put("proof.1", 0), "NOT_AN_OBJECT"),
    ("rule_a_number", "enumerate", put("proof.0.rule", 0), "NOT_TEXT"),
    ("rule_null", "enumerate", put("proof.0.rule", None), "NOT_TEXT"),
    ("rule_a_list", "enumerate", put("proof.0.rule", ["circuit"]), "NOT_TEXT"),
    ("unknown_rule", "enumerate", put("proof.0.rule", "assume"), "UNKNOWN_RULE"),
    ("unknown_rule_dunder", "enumerate", put("proof.0.rule", "__class__"), "UNKNOWN_RULE"),
    ("unknown_rule_upper_case", "enumerate", put("proof.0.rule", "Circuit"), "UNKNOWN_RULE"),
    ("unknown_rule_escape_sequence", "enumerate", put("proof.0.rule", "\x1b[8m\nVERIFIED"), "UNKNOWN_RULE"),
    ("tensors_an_object", "enumerate", put("model.tensors", {}), "NOT_A_LIST"),
    ("tensor_a_number", "enumerate", put("model.tensors.0", 1), "NOT_AN_OBJECT"),
    ("end_one_less", "enumerate", put("end", lambda n: n - 1), "END"),
    ("end_one_more", "enumerate", put("end", lambda n: n + 1), "END"),
    ("end_zero", "enumerate", put("end", 0), "END"),
    ("end_true", "enumerate", put("end", True), "NOT_AN_INTEGER"),
    ("end_text", "enumerate", put("end", "15"), "NOT_AN_INTEGER"),
    ("end_negative", "enumerate", put("end", -1), "OUT_OF_RANGE"),
    ("end_huge", "enumerate", put("end", 10**14), "OUT_OF_RANGE"),
    ("unread_tail_step", "enumerate", lambda v: v["proof"].append({"of": 0, "rule": "conclude"}), "END"),
    ("cut_tail_step", "enumerate", lambda v: v["proof"].pop(), "END"),
    # integers
    ("premise_negative", "enumerate", step("conclude", "of", -1), "OUT_OF_RANGE"),
    ("premise_negative_relative", "enumerate", step("product", "of", -1), "OUT_OF_RANGE"),
    ("premise_true", "enumerate", step("product", "of", False), "NOT_AN_INTEGER"),
    ("premise_text", "enumerate", step("conclude", "of", "3"), "NOT_AN_INTEGER"),
    ("premise_null", "enumerate", step("conclude", "of", None), "NOT_AN_INTEGER"),
    ("premise_list", "enumerate", step("conclude", "of", [23]), "NOT_AN_INTEGER"),
    ("premise_beyond_all_bounds", "enumerate", step("conclude", "of", 10**9 + 1), "OUT_OF_RANGE"),
    ("union_negative", "union", step("disjoint_union", "of", lambda of: [-1, *of]), "OUT_OF_RANGE"),
    ("union_of_a_number", "union", step("disjoint_union", "of", lambda of: of[0]), "NOT_A_LIST"),
    ("union_of_true", "union", step("disjoint_union", "of", lambda of: [True, *of]), "NOT_AN_INTEGER"),
    ("at_negative", "enumerate", step("product", "at", -1), "OUT_OF_RANGE"),
    ("at_beyond", "enumerate", step("product", "at", 3), "OUT_OF_RANGE"),
    ("bits_7", "enumerate", step("weights", "bits", 7), "OUT_OF_RANGE"),
    ("bits_16385", "enumerate", step("weights", "bits", 16385), "OUT_OF_RANGE"),
    ("grid_513", "enumerate", step("weights", "grid", 513), "OUT_OF_RANGE"),
    ("grid_0", "enumerate", step("weights", "grid", 0), "OUT_OF_RANGE"),
    ("digits_7", "margin_tree", step("margin_tree", "digits", 7), "OUT_OF_RANGE"),
    ("digits_1025", "enumerate", step("enumerate", "digits", 1025), "OUT_OF_RANGE"),
    ("logit_bits_negative", "enumerate", step("enumerate", "logit_bits", -1), "OUT_OF_RANGE"),
    ("logit_bits_2049", "enumerate", step("enumerate", "logit_bits", 2049), "OUT_OF_RANGE"),
    ("threshold_exponent_huge", "enumerate", step("margins", "exponent", 4097), "OUT_OF_RANGE"),
    ("integer_too_large", "enumerate", step("margins", "exponent", 10**15), "INTEGER_TOO_LARGE"),
    ("integer_too_small", "enumerate", step("margins", "exponent", -(10**15)), "INTEGER_TOO_LARGE"),
    ("integer_of_5000_digits", "enumerate", step("conclude", "of", int("9" * 4000)), "INTEGER_TOO_LARGE"),
    # hexadecimal numbers
    ("hex_leading_zero", "enumerate", put("claim.bounds.lower", "06"), "NOT_HEX"),
    ("hex_minus_zero", "enumerate", put("claim.bounds.lower", "-0"), "NOT_HEX"),
    ("hex_plus", "enumerate", put("claim.bounds.lower", "+6"), "NOT_HEX"),
    ("hex_prefix", "enumerate", put("claim.bounds.lower", "0x6"), "NOT_HEX"),
    ("hex_upper_case", "pure_sequences", put("claim.bounds.lower", "D"), "NOT_HEX"),
    ("hex_blank", "enumerate", put("claim.bounds.lower", " 6"), "NOT_HEX"),
    ("hex_newline", "enumerate", put("claim.bounds.lower", "6\n"), "NOT_HEX"),
    ("hex_underscore", "enumerate", put("claim.bounds.total", "0_9"), "NOT_HEX"),
    ("hex_empty", "enumerate", put("claim.bounds.lower", ""), "NOT_HEX"),
    ("hex_minus_alone", "enumerate", put("claim.bounds.lower", "-"), "NOT_HEX"),
    ("hex_wide_digit", "enumerate", put("claim.bounds.lower", "\uff16"), "NOT_HEX"),
    ("hex_arabic_digit", "enumerate", put("claim.bounds.lower", "\u0666"), "NOT_HEX"),
    ("hex_fraction", "enumerate", put("claim.bounds.lower", "6/1"), "NOT_HEX"),
    ("hex_a_number", "enumerate", put("claim.bounds.lower", 6), "NOT_HEX"),
    ("hex_null", "enumerate", put("claim.bounds.lower", None), "NOT_HEX"),
    ("hex_true", "enumerate", put("claim.bounds.lower", True), "NOT_HEX"),
    ("hex_in_step_upper_case", "threshold", step("margin_tree", "right", "A"), "NOT_HEX"),
    ("hex_in_step_a_number", "enumerate", step("enumerate", "right", 6), "NOT_HEX"),
    ("hex_too_long", "enumerate", put("claim.bounds.lower", "1" * 8193), "TOO_LONG"),
    # the claim
    ("claim_architecture", "enumerate", put("claim.architecture", "two-layer attention-only"), "UNKNOWN_CLAIM"),
    ("claim_distribution", "enumerate", put("claim.distribution", "Uniform"), "NOT_A_LIST"),
    ("distribution_words", "enumerate", put("claim.distribution", "natural"), "NOT_A_LIST"),
    ("distribution_null", "enumerate", put("claim.distribution", None), "NOT_A_LIST"),
    (
        "distribution_all_ones",
        "weighted",
        both(
            put("claim.distribution", [["1"] * 3] * 2), put("claim.bounds", {"lower": "6", "total": "9", "upper": "6"})
        ),
        "NOT_CANONICAL",
    ),
    ("distribution_negative", "weighted", put("claim.distribution.0.1", "-2"), "DISTRIBUTION"),
    ("distribution_zero_row", "weighted", put("claim.distribution.0", ["0", "0", "0"]), "DISTRIBUTION"),
    ("distribution_short_row", "weighted", put("claim.distribution.0", ["1", "2"]), "DISTRIBUTION"),
    ("distribution_empty_row", "weighted", put("claim.distribution.0", []), "DISTRIBUTION"),
    ("distribution_row_a_number", "weighted", put("claim.distribution.0", 3), "NOT_A_LIST"),
    ("distribution_of_numbers", "weighted", put("claim.distribution.0", [1, 2, 5]), "NOT_HEX"),
    ("distribution_one_position_less", "weighted", drop("claim.distribution.1"), "DISTRIBUTION"),
    ("distribution_empty", "weighted", put("claim.distribution", []), "DISTRIBUTION"),
    (
        "distribution_total_of_sequences",
        "weighted",
        put("claim.bounds", {"lower": "6", "total": "9", "upper": "6"}),
        "TOTAL",
    ),
    ("claim_semantics_float32", "enumerate", put("claim.semantics", "float32"), "UNKNOWN_CLAIM"),
    (
        "claim_semantics_format",
        "enumerate",
        put("claim.semantics", {"exp_ulp": 1, "format": "float8", "underflow": "gradual"}),
        "UNKNOWN_CLAIM",
    ),
    (
        "claim_semantics_underflow",
        "enumerate",
        put("claim.semantics", {"exp_ulp": 1, "format": "binary32", "underflow": "none"}),
        "UNKNOWN_CLAIM",
    ),
    (
        "claim_semantics_exp",
        "enumerate",
        put("claim.semantics", {"exp_ulp": 0, "format": "binary32", "underflow": "gradual"}),
        "OUT_OF_RANGE",
    ),
    (
        "claim_semantics_unknown_key",
        "enumerate",
        put("claim.semantics", {"exp_ulp": 1, "fast": 1, "format": "binary32", "underflow": "gradual"}),
        "UNKNOWN_KEY",
    ),
    ("claim_semantics_null", "enumerate", put("claim.semantics", None), "NOT_TEXT"),
    ("claim_task_kind", "enumerate", put("claim.task.kind", "median"), "UNKNOWN_CLAIM"),
    (
        "threshold_not_reduced",
        "threshold",
        put("claim.quantity", {"exponent": -2, "margin_above": "6"}),
        "NOT_CANONICAL",
    ),
    ("threshold_zero_with_exponent", "enumerate", put("claim.quantity.exponent", 1), "NOT_CANONICAL"),
    (
        "fewer_tokens_claimed",
        "enumerate",
        both(put("claim.task.tokens", 2), put("claim.bounds", {"lower": "3", "total": "4", "upper": "3"})),
        "OUT_OF_RANGE",
    ),
    ("total_plus_one", "enumerate", put("claim.bounds.total", more(1)), "TOTAL"),
    ("total_minus_one", "enumerate", put("claim.bounds.total", more(-1)), "TOTAL"),
    ("total_zero", "enumerate", put("claim.bounds", {"lower": "0", "total": "0", "upper": "0"}), "TOTAL"),
    ("lower_above_upper", "enumerate", put("claim.bounds.lower", "7"), "BOUNDS"),
    ("upper_above_total", "enumerate", put("claim.bounds.upper", "a"), "BOUNDS"),
    ("lower_negative", "enumerate", put("claim.bounds.lower", "-1"), "BOUNDS"),
    ("all_bounds_negative", "enumerate", put("claim.bounds", {"lower": "-2", "total": "9", "upper": "-1"}), "BOUNDS"),
    ("length_one_more", "enumerate", both(put("claim.task.length", 3), put("claim.bounds.total", "1b")), "TASK_LENGTH"),
    ("length_one_less", "enumerate", both(put("claim.task.length", 1), put("claim.bounds.total", "3")), "TASK_LENGTH"),
    ("length_zero", "enumerate", put("claim.task.length", 0), "OUT_OF_RANGE"),
    ("length_huge", "enumerate", put("claim.task.length", 10**6), "OUT_OF_RANGE"),
    ("length_true", "length_1", put("claim.task.length", True), "NOT_AN_INTEGER"),
    ("tokens_one_more", "enumerate", put("claim.task.tokens", 4), "OUT_OF_RANGE"),
    ("tokens_zero", "enumerate", put("claim.task.tokens", 0), "OUT_OF_RANGE"),
    ("tokens_beyond_outputs", "one_output", put("claim.task.tokens", 3), "OUT_OF_RANGE"),
    ("end_token_is_a_token", "end_token", put("claim.task.eos", 2), "OUT_OF_RANGE"),
    ("end_token_beyond_vocabulary", "end_token", put("claim.task.eos", 4), "OUT_OF_RANGE"),
    ("end_token_false", "enumerate", put("claim.task.eos", False), "NOT_AN_INTEGER"),
    ("end_token_dropped", "end_token", put("claim.task.eos", None), "TASK_LENGTH"),
    # regions
    ("region_not_a_list", "enumerate", step("enumerate", "region", "all"), "NOT_A_LIST"),
    ("region_span_of_two", "enumerate", step("enumerate", "region", [[0, 0]]), "REGION"),
    ("region_span_of_four", "enumerate", step("enumerate", "region", [[0, 0, 1, 1]]), "REGION"),
    ("region_span_a_number", "enumerate", step("enumerate", "region", [0, 0, 1]), "REGION"),
    ("region_span_null", "enumerate", step("enumerate", "region", [None]), "REGION"),
    ("region_maximum_beyond", "enumerate", step("enumerate", "region", [[3, 0, 1]]), "OUT_OF_RANGE"),
    ("region_maximum_negative", "enumerate", step("enumerate", "region", [[-1, 0, 1]]), "OUT_OF_RANGE"),
    ("region_query_beyond", "enumerate", step("enumerate", "region", [[0, 0, 2]]), "OUT_OF_RANGE"),
    ("region_query_beyond_maximum", "enumerate", step("enumerate", "region", [[1, 2, 3]]), "OUT_OF_RANGE"),
    ("region_query_negative", "enumerate", step("enumerate", "region", [[1, -1, 1]]), "OUT_OF_RANGE"),
    ("region_end_token_two_queries", "end_token", step("margin_tree", "region", [[1, 0, 2]]), "OUT_OF_RANGE"),
    ("region_empty_span", "enumerate", step("enumerate", "region", [[1, 1, 1]]), "OUT_OF_RANGE"),
    ("region_backward_span", "enumerate", step("enumerate", "region", [[2, 2, 1]]), "OUT_OF_RANGE"),
    ("region_true", "enumerate", step("enumerate", "region", [[True, 0, 1]]), "NOT_AN_INTEGER"),
    ("region_descending", "enumerate", step("enumerate", "region", [[1, 0, 2], [0, 0, 1]]), "REGION"),
    (
        "region_repeated_span",
        "enumerate",
        step("enumerate", "region", [[0, 0, 1], [0, 0, 1], [1, 0, 2], [2, 0, 3]]),
        "REGION",
    ),
    (
        "region_overlap",
        "margin_tree",
        step("margin_tree", "region", [[0, 0, 1], [1, 0, 2], [2, 0, 2], [2, 1, 3]]),
        "REGION",
    ),
    (
        "region_not_joined",
        "margin_tree",
        step("margin_tree", "region", [[0, 0, 1], [1, 0, 1], [1, 1, 2], [2, 0, 3]]),
        "REGION",
    ),
    ("pure_region_repeated", "pure_sequences", step("pure_sequences", "region", lambda r: [r[0], *r]), "REGION"),
    # circuits
    ("unknown_circuit", "enumerate", put("proof.0.name", "OV"), "UNKNOWN_CIRCUIT"),
    ("circuit_name_a_number", "enumerate", put("proof.0.name", 1), "NOT_TEXT"),
    (
        "direct_with_a_centre",
        "centred",
        lambda v: named(v, "EU").update(centre={"exponent": -2, "values": ["-3", "5"]}),
        "CENTRE",
    ),
    ("centre_too_short", "centred", put("proof.0.centre.values", ["1"]), "VECTOR_LENGTH"),
    ("centre_too_long", "centred", put("proof.0.centre.values", ["1", "2", "3"]), "VECTOR_LENGTH"),
    ("centre_empty", "centred", put("proof.0.centre.values", []), "VECTOR_LENGTH"),
    ("centre_a_number", "centred", put("proof.0.centre", 0), "NOT_AN_OBJECT"),
    ("centre_false", "centred", put("proof.0.centre", False), "NOT_AN_OBJECT"),
    ("centre_of_numbers", "centred", put("proof.0.centre.values", [1, 2]), "NOT_HEX"),
    ("centre_exponent_huge", "centred", put("proof.0.centre.exponent", 4097), "OUT_OF_RANGE"),
    # approximations and gap classes
    ("column_too_short", "row_norm", lambda v: step_of(v, "peel")["column"]["values"].pop(), "VECTOR_LENGTH"),
    ("row_too_long", "row_norm", lambda v: step_of(v, "peel")["row"]["values"].append("0"), "VECTOR_LENGTH"),
    ("column_unknown_key", "row_norm", lambda v: step_of(v, "peel")["column"].update(scale=1), "UNKNOWN_KEY"),
    ("column_exponent_huge", "row_norm", lambda v: step_of(v, "peel")["column"].update(exponent=4097), "OUT_OF_RANGE"),
    ("peel_beyond_the_factors", "row_norm", step("peel", "at", 2), "OUT_OF_RANGE"),
    ("summary_missing", "gap_classes", step("row_range_chain", "summaries", []), "SUMMARIES"),
    ("summary_too_many", "gap_classes", step("row_range_chain", "summaries", [None, None]), "SUMMARIES"),
    ("summary_a_number", "gap_classes", step("row_range_chain", "summaries", [0]), "NOT_AN_OBJECT"),
    (
        "summary_too_short",
        "gap_classes",
        step("row_range_chain", "summaries", [{"exponent": 0, "values": []}]),
        "VECTOR_LENGTH",
    ),
    ("gap_strings_one_less", "gap_classes", lambda v: step_of(v, "gap_classes")["gaps"].pop(), "SPANS"),
    ("gap_pivots_one_more", "gap_classes", lambda v: step_of(v, "gap_classes")["pivots"].append([]), "SPANS"),
    ("gap_string_too_short", "gap_classes", lambda v: _text(v, lambda text: text[:-1]), "GAPS"),
    ("gap_string_too_long", "gap_classes", lambda v: _text(v, lambda text: text + "0"), "GAPS"),
    ("gap_string_unfinished", "gap_classes", lambda v: _text(v, lambda text: text + "x"), "GAPS"),
    ("gap_string_leading_zero", "gap_classes", lambda v: _text(v, lambda text: "w" + text), "GAPS"),
    ("gap_string_endless_number", "gap_classes", lambda v: _text(v, lambda text: "-----" + text), "GAPS"),
    ("gap_string_odd_digit", "gap_classes", lambda v: _text(v, lambda text: "+" + text[1:]), "GAPS"),
    ("gap_string_null", "gap_classes", lambda v: step_of(v, "gap_classes")["gaps"].__setitem__(0, None), "GAPS"),
    (
        "pivots_descending",
        "gap_classes",
        lambda v: step_of(v, "gap_classes")["pivots"].__setitem__(1, ["2", "1"]),
        "PIVOTS",
    ),
    (
        "pivot_repeated",
        "gap_classes",
        lambda v: step_of(v, "gap_classes")["pivots"].__setitem__(1, ["1", "1"]),
        "PIVOTS",
    ),
    ("pivot_zero", "gap_classes", lambda v: step_of(v, "gap_classes")["pivots"].__setitem__(1, ["0"]), "PIVOTS"),
    ("pivot_one", "gap_classes", lambda v: step_of(v, "gap_classes")["pivots"].__setitem__(1, ["10000"]), "PIVOTS"),
    ("pivot_negative", "gap_classes", lambda v: step_of(v, "gap_classes")["pivots"].__setitem__(1, ["-1"]), "PIVOTS"),
    ("pivots_a_string", "gap_classes", lambda v: step_of(v, "gap_classes")["pivots"].__setitem__(1, "1"), "NOT_A_LIST"),
    ("pivot_unit_65", "gap_classes", step("gap_classes", "unit", 65), "OUT_OF_RANGE"),
    # convolution and floating-point programs
    ("convolution_unit_too_fine", "convolution", step("margin_convolution", "unit", -4000), "UNIT"),
    ("convolution_item_empty", "convolution", lambda v: _items(v, 1).__setitem__(0, []), "ITEM"),
    ("convolution_item_a_word", "convolution", lambda v: _items(v, 1).__setitem__(0, "screen"), "NOT_A_LIST"),
    ("convolution_kind_unknown", "convolution", lambda v: _item(v, 1, 0, 0, "trust"), "ITEM"),
    ("convolution_screen_with_a_step", "convolution", lambda v: _items(v, 1)[0].extend(["1", 0]), "ITEM"),
    ("convolution_upper_without_a_step", "convolution", lambda v: _items(v, 1)[1].__delitem__(slice(4, None)), "ITEM"),
    ("convolution_lower_of_two_outputs", "convolution", lambda v: _item(v, 0, 0, 2, "6"), "ITEM"),
    ("convolution_both_of_one_output", "convolution", lambda v: _item(v, 2, 2, 3, []), "ITEM"),
    ("convolution_rest_of_three_numbers", "convolution", lambda v: _item(v, 2, 5, 3, [[0, 16, 1]]), "ITEM"),
    ("convolution_rest_of_itself", "convolution", lambda v: _item(v, 2, 5, 3, [[1, 16]]), "ITEM"),
    ("convolution_rest_of_the_maximum", "convolution", lambda v: _item(v, 2, 5, 3, [[2, 16]]), "ITEM"),
    ("convolution_rest_beyond_the_outputs", "convolution", lambda v: _item(v, 2, 5, 3, [[3, 16]]), "ITEM"),
    ("convolution_share_negative", "convolution", lambda v: _item(v, 2, 5, 3, [[0, -16]]), "OUT_OF_RANGE"),
    ("convolution_share_huge", "convolution", lambda v: _item(v, 2, 5, 3, [[0, 4097]]), "OUT_OF_RANGE"),
    ("convolution_output_is_the_maximum", "convolution", lambda v: _item(v, 0, 1, 2, "7"), "ITEM"),
    ("convolution_lower_of_all_outputs", "convolution", lambda v: _item(v, 1, 2, 2, "0"), "ITEM"),
    ("convolution_screen_of_all_outputs", "convolution", lambda v: _item(v, 1, 0, 2, "0"), "ITEM"),
    ("convolution_outputs_beyond", "convolution", lambda v: _item(v, 1, 1, 2, "8"), "ITEM"),
    ("convolution_outputs_negative", "convolution", lambda v: _item(v, 1, 1, 2, "-1"), "ITEM"),
    ("convolution_queries_none", "convolution", lambda v: _item(v, 1, 1, 1, "0"), "ITEM"),
    ("convolution_queries_beyond", "convolution", lambda v: _item(v, 1, 1, 1, "4"), "ITEM"),
    ("convolution_step_zero", "convolution", lambda v: _item(v, 1, 1, 4, "0"), "ITEM"),
    ("convolution_step_negative", "convolution", lambda v: _item(v, 1, 1, 4, "-1"), "ITEM"),
    ("convolution_offset_64", "convolution", lambda v: _item(v, 1, 1, 5, 64), "OUT_OF_RANGE"),
    (
        "convolution_maximum_repeated",
        "convolution",
        lambda v: step_of(v, "margin_convolution")["maxima"].insert(1, step_of(v, "margin_convolution")["maxima"][0]),
        "OUT_OF_RANGE",
    ),
    (
        "convolution_maxima_descending",
        "convolution",
        lambda v: step_of(v, "margin_convolution")["maxima"].reverse(),
        "OUT_OF_RANGE",
    ),
    (
        "convolution_maximum_beyond",
        "convolution",
        lambda v: step_of(v, "margin_convolution")["maxima"][2].update(m=3),
        "OUT_OF_RANGE",
    ),
    (
        "convolution_unknown_key",
        "convolution",
        lambda v: step_of(v, "margin_convolution")["maxima"][2].update(right="9"),
        "UNKNOWN_KEY",
    ),
    ("program_right_null", "program", step("float_count", "right", None), "NOT_AN_INTEGER"),
    ("program_exp_ulp_zero", "program", lambda v: _machine(v, exp_ulp=0), "OUT_OF_RANGE"),
    ("program_format_unknown", "program", lambda v: _machine(v, format="binary8"), "UNKNOWN_CLAIM"),
    ("program_order_of_sums_unknown_key", "program", lambda v: _machine(v, order="sequential"), "UNKNOWN_KEY"),
    ("program_assumption_dropped", "program", lambda v: _unassumed(v, "underflow"), "MISSING_KEY"),
    ("program_exp_not_assumed", "program", lambda v: _unassumed(v, "exp_ulp"), "MISSING_KEY"),
    ("program_unit_roundoff_stated", "program", lambda v: _machine(v, precision=24), "UNKNOWN_KEY"),
    ("program_bits_31", "program", step("float_error", "bits", 31), "OUT_OF_RANGE"),
    ("program_ceiling_1", "program", step("float_error", "ceiling", 1), "OUT_OF_RANGE"),
    # the weights
    ("digest_of_another_model", "enumerate", put("model.sha256", "0" * 64), "DIGEST"),
    ("digest_upper_case", "enumerate", put("model.sha256", str.upper), "DIGEST"),
    ("digest_cut", "enumerate", put("model.sha256", lambda s: s[:63]), "DIGEST"),
    ("digest_empty", "enumerate", put("model.sha256", ""), "DIGEST"),
    ("digest_null", "enumerate", put("model.sha256", None), "NOT_TEXT"),
    (
        "weight_changed_digest_kept",
        "enumerate",
        put("model.tensors.0.data", lambda s: ("B" if s[0] == "A" else "A") + s[1:]),
        "DIGEST",
    ),
    ("dtype_relabelled", "enumerate", put("model.tensors.0.dtype", "BF16"), "DIGEST"),
    ("dtype_unknown", "enumerate", weights(lambda t: t[0].update(dtype="I16")), "TENSOR_DTYPE"),
    ("dtype_bool", "enumerate", weights(lambda t: t[0].update(dtype="BOOL")), "TENSOR_DTYPE"),
    ("dtype_float8", "enumerate", weights(lambda t: t[0].update(dtype="F8_E4M3")), "TENSOR_DTYPE"),
    ("dtype_wider", "enumerate", weights(lambda t: t[0].update(dtype="F32")), "TENSOR_BYTES"),
    ("dtype_a_number", "enumerate", put("model.tensors.0.dtype", 16), "NOT_TEXT"),
    ("tensor_missing", "enumerate", weights(lambda t: t.pop(1)), "TENSOR_LIST"),
    ("tensor_repeated", "enumerate", weights(lambda t: t.insert(1, dict(t[0]))), "TENSOR_LIST"),
    ("tensors_swapped", "enumerate", weights(lambda t: t.insert(0, t.pop(1))), "TENSOR_LIST"),
    ("tensor_unknown", "enumerate", weights(lambda t: t.append({**t[0], "name": "blocks.0.mlp.W_in"})), "TENSOR_LIST"),
    (
        "tensor_of_second_layer",
        "enumerate",
        weights(lambda t: t.append({**t[2], "name": "blocks.1.attn.W_Q"})),
        "TENSOR_LIST",
    ),
    ("tensors_none", "enumerate", weights(lambda t: t.clear()), "TENSOR_LIST"),
    ("shape_rank", "enumerate", weights(lambda t: t[2].update(shape=t[2]["shape"][1:])), "TENSOR_SHAPE"),
    ("shape_disagrees", "enumerate", weights(lambda t: t[0].update(shape=[2, 3])), "TENSOR_SHAPE"),
    ("shape_two_heads", "enumerate", weights(lambda t: t[2].update(shape=[2, 2, 1])), "TENSOR_SHAPE"),
    ("shape_too_small", "enumerate", weights(lambda t: t[0].update(shape=[2, 2])), "TENSOR_BYTES"),
    ("shape_zero", "enumerate", put("model.tensors.0.shape", [0, 2]), "OUT_OF_RANGE"),
    ("shape_huge", "enumerate", put("model.tensors.0.shape", [2**40, 2**40]), "OUT_OF_RANGE"),
    ("shape_negative", "enumerate", put("model.tensors.0.shape", [-3, -2]), "OUT_OF_RANGE"),
    ("shape_text", "enumerate", put("model.tensors.0.shape", "3x2"), "NOT_A_LIST"),
    ("shape_empty", "enumerate", weights(lambda t: t[0].update(shape=[])), "TENSOR_SHAPE"),
    ("shape_true", "enumerate", put("model.tensors.2.shape.0", True), "NOT_AN_INTEGER"),
    ("data_cut", "enumerate", weights(lambda t: t[0].update(data=t[0]["data"][:-4])), "TENSOR_BYTES"),
    ("data_empty", "enumerate", weights(lambda t: t[0].update(data="")), "TENSOR_BYTES"),
    ("data_longer", "enumerate", weights(lambda t: t[0].update(data=t[0]["data"] + "AAAA")), "TENSOR_BYTES"),
    ("data_null", "enumerate", put("model.tensors.0.data", None), "NOT_TEXT"),
    ("base64_unpadded", "enumerate", put("model.tensors.1.data", lambda s: s.rstrip("=")), "NOT_BASE64"),
    (
        "base64_spare_bits",
        "enumerate",
        put("model.tensors.1.data", lambda s: s[:-2] + chr(ord(s[-2]) + 1) + "="),
        "NOT_BASE64",
    ),
    ("base64_newline", "enumerate", put("model.tensors.0.data", lambda s: s[:4] + "\n" + s[4:]), "NOT_BASE64"),
    ("base64_blank", "enumerate", put("model.tensors.0.data", lambda s: s + " "), "NOT_BASE64"),
    ("base64_url_alphabet", "enumerate", put("model.tensors.0.data", lambda s: s[:3] + "-" + s[4:]), "NOT_BASE64"),
    ("base64_padding_inside", "enumerate", put("model.tensors.0.data", lambda s: s[:4] + "AA==" + s[4:]), "NOT_BASE64"),
    ("base64_non_ascii", "enumerate", put("model.tensors.0.data", lambda s: "\u00e9" + s[1:]), "NOT_BASE64"),
    ("base64_only_padding", "enumerate", put("model.tensors.0.data", "===="), "NOT_BASE64"),
    *(
        (f"{what}_in_{name.rsplit('.', 1)[1]}", "biases", word(name, number), "NOT_FINITE")
        for name in SHAPES
        for what, number in (("nan", float("nan")),)
    ),
    ("infinity_in_W_E", "enumerate", word("embed.W_E", float("inf")), "NOT_FINITE"),
    ("minus_infinity_in_W_U", "enumerate", word("unembed.W_U", float("-inf")), "NOT_FINITE"),
    (
        "nan_in_unused_token",
        "restricted",
        weights(
            lambda t: t[0].update(data=base64.b64encode(base64.b64decode(t[0]["data"])[:-2] + b"\x01\x7e").decode())
        ),
        "NOT_FINITE",
    ),
    ("nan_in_float64", "float64", word("embed.W_E", float("nan"), "F64"), "NOT_FINITE"),
    ("nan_in_float32", "float32", word("embed.W_E", float("nan"), "F32"), "NOT_FINITE"),
    ("nan_in_bfloat16", "bfloat16", word("embed.W_E", float("nan"), "BF16"), "NOT_FINITE"),
    ("infinity_in_bfloat16", "bfloat16", word("embed.W_E", float("inf"), "BF16"), "NOT_FINITE"),
]

RESOURCE: list[tuple[str, str, Change, str]] = [
    (
        "convolution_grid_too_fine",
        "convolution",
        both(step("margin_convolution", "unit", -17), lambda v: _item(v, 2, 5, 4, "1")),
        "GRID_TOO_FINE",
    ),
]

# name, neighbour, change of the bytes, code
BYTES: list[tuple[str, str, Raw, str]] = [
    ("empty_file", "enumerate", lambda data: b"", "NOT_JSON"),
    ("one_newline", "enumerate", lambda data: b"\n", "NOT_JSON"),
    ("null", "enumerate", lambda data: b"null\n", "NOT_AN_OBJECT"),
    ("true", "enumerate", lambda data: b"true\n", "NOT_AN_OBJECT"),
    ("number", "enumerate", lambda data: b"0\n", "NOT_AN_OBJECT"),
    ("word_verified", "enumerate", lambda data: b'"VERIFIED"\n', "NOT_AN_OBJECT"),
    ("empty_list", "enumerate", lambda data: b"[]\n", "NOT_AN_OBJECT"),
    ("empty_object", "enumerate", lambda data: b"{}\n", "MISSING_KEY"),
    ("list_around", "enumerate", lambda data: b"[" + data[:-1] + b"]\n", "NOT_AN_OBJECT"),
    ("no_final_newline", "enumerate", lambda data: data[:-1], "NOT_CANONICAL"),
    ("two_final_newlines", "enumerate", lambda data: data + b"\n", "NOT_CANONICAL"),
    ("carriage_return", "enumerate", lambda data: data[:-1] + b"\r\n", "NOT_CANONICAL"),
    ("leading_blank", "enumerate", lambda data: b" " + data, "NOT_CANONICAL"),
    ("blank_after_comma", "enumerate", text(",", ", "), "NOT_CANONICAL"),
    (
        "indented",
        "enumerate",
        lambda data: json.dumps(json.loads(data), indent=1, sort_keys=True).encode() + b"\n",
        "NOT_CANONICAL",
    ),
    (
        "keys_not_sorted",
        "enumerate",
        lambda data: json.dumps(dict(reversed(json.loads(data).items())), separators=(",", ":")).encode() + b"\n",
        "NOT_CANONICAL",
    ),
    ("byte_order_mark", "enumerate", lambda data: b"\xef\xbb\xbf" + data, "NOT_TEXT"),
    ("utf_16", "enumerate", lambda data: data.decode().encode("utf-16-le"), "NOT_JSON"),
    ("utf_16_with_mark", "enumerate", lambda data: data.decode().encode("utf-16"), "NOT_TEXT"),
    ("byte_ff", "enumerate", lambda data: data[:40] + b"\xff" + data[41:], "NOT_TEXT"),
    ("nul_byte_at_end", "enumerate", lambda data: data + b"\0", "NOT_JSON"),
    ("nul_byte_in_text", "enumerate", text("uniform", "unif\0rm"), "NOT_JSON"),
    ("non_ascii_letter", "enumerate", text("uniform", "unif\u00f6rm"), "NOT_TEXT"),
    ("escaped_letter", "enumerate", text("uniform", "\\u0075niform"), "NOT_CANONICAL"),
    ("escaped_slash", "enumerate", text("uniform", "uniform\\/"), "NOT_CANONICAL"),
    ("escaped_key", "enumerate", text('"end"', '"\\u0065nd"'), "NOT_CANONICAL"),
    ("escape_upper_case", "enumerate", text("uniform", "\\u00E9"), "NOT_CANONICAL"),
    ("lone_surrogate", "enumerate", text("real", "\\ud800"), "UNKNOWN_CLAIM"),
    ("lone_surrogate_key", "enumerate", text('"version":1}', '"version":1,"\\ud800":1}'), "UNKNOWN_KEY"),
    ("second_document", "enumerate", lambda data: data + b"{}\n", "NOT_JSON"),
    ("appended_certificate", "enumerate", lambda data: data + data, "NOT_JSON"),
    ("appended_comment", "enumerate", lambda data: data + b"# VERIFIED\n", "NOT_JSON"),
    ("comment_inside", "enumerate", text("{", "{/**/"), "NOT_JSON"),
    ("trailing_comma", "enumerate", lambda data: data[:-2] + b",}\n", "NOT_JSON"),
    ("single_quotes", "enumerate", lambda data: data.replace(b'"', b"'"), "NOT_JSON"),
    ("cut_in_half", "enumerate", lambda data: data[: len(data) // 2], "NOT_JSON"),
    ("cut_last_byte_but_newline", "enumerate", lambda data: data[:-2] + b"\n", "NOT_JSON"),
    ("duplicate_key_top", "enumerate", text('"version":1}', '"version":1,"version":1}'), "DUPLICATE_KEY"),
    (
        "duplicate_key_claim_last_wins",
        "enumerate",
        text('"bounds":{', '"bounds":{"lower":"9","total":"9","upper":"9"},"bounds":{'),
        "DUPLICATE_KEY",
    ),
    ("duplicate_key_step", "enumerate", text('{"centre":null', '{"centre":null,"centre":null'), "DUPLICATE_KEY"),
    ("duplicate_key_escaped", "enumerate", text('"version":1}', '"version":1,"versio\\u006e":1}'), "DUPLICATE_KEY"),
    ("float_version", "enumerate", text('"version":1}', '"version":1.0}'), "NOT_AN_INTEGER"),
    ("float_exponent", "enumerate", text('"version":1}', '"version":1e0}'), "NOT_AN_INTEGER"),
    ("float_huge", "enumerate", text('"version":1}', '"version":1e999999999}'), "NOT_AN_INTEGER"),
    ("nan_number", "enumerate", text('"version":1}', '"version":NaN}'), "NOT_AN_INTEGER"),
    ("infinity_number", "enumerate", text('"version":1}', '"version":Infinity}'), "NOT_AN_INTEGER"),
    ("minus_infinity_number", "enumerate", text('"version":1}', '"version":-Infinity}'), "NOT_AN_INTEGER"),
    ("minus_zero", "enumerate", text('"at":0', '"at":-0'), "NOT_CANONICAL"),
    ("leading_zero", "enumerate", text('"version":1}', '"version":01}'), "NOT_JSON"),
    ("plus_sign", "enumerate", text('"version":1}', '"version":+1}'), "NOT_JSON"),
    ("hexadecimal_number", "enumerate", text('"version":1}', '"version":0x1}'), "NOT_JSON"),
    ("sixteen_digits", "enumerate", text('"version":1}', '"version":1000000000000000}'), "INTEGER_TOO_LARGE"),
    ("fifteen_digits", "enumerate", text('"version":1}', '"version":100000000000000}'), "VERSION"),
    ("deep_lists", "enumerate", text('"version":1}', '"version":' + "[" * 100 + "]" * 100 + "}"), "TOO_DEEP"),
    ("deep_objects", "enumerate", text('"version":1}', '"version":' + '{"a":' * 100 + "0" + "}" * 101), "TOO_DEEP"),
    ("deep_unclosed", "enumerate", lambda data: b"[" * 1000, "TOO_DEEP"),
    (
        "pickle",
        "enumerate",
        lambda data: b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x94\x8c\x06system\x94\x93.",
        "NOT_TEXT",
    ),
    ("zip", "enumerate", lambda data: b"PK\x03\x04" + bytes(26), "NOT_JSON"),
]


# --- files of weights beside an accepted certificate ---------------------------------------------------


def _header(change: Callable[[dict[str, Any]], object]) -> Raw:
    """Change the header of a safetensors file."""

    def apply(data: bytes) -> bytes:
        (length,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8 : 8 + length])
        change(header)
        new = json.dumps(header, separators=(",", ":")).encode()
        return struct.pack("<Q", len(new)) + new + data[8 + length :]

    return apply


def _body(data: bytes, new: Callable[[bytes], bytes]) -> bytes:
    (length,) = struct.unpack("<Q", data[:8])
    return data[: 8 + length] + new(data[8 + length :])


def _header_text(old: str, new: str) -> Raw:
    def apply(data: bytes) -> bytes:
        (length,) = struct.unpack("<Q", data[:8])
        header = data[8 : 8 + length].replace(old.encode(), new.encode(), 1)
        return struct.pack("<Q", len(header)) + header + data[8 + length :]

    return apply


def model_in(value: Document) -> Model:
    """The model that a certificate holds."""
    return build(
        "golden.safetensors",
        [
            Tensor(tensor["name"], tensor["dtype"], tuple(tensor["shape"]), base64.b64decode(tensor["data"]))
            for tensor in value["model"]["tensors"]
        ],
        {},
    )


def _extra(header: dict[str, Any], name: str) -> None:
    """One more tensor of four bytes at the end."""
    end = max(entry["data_offsets"][1] for key, entry in header.items() if key != "__metadata__")
    header[name] = {"dtype": "F32", "shape": [], "data_offsets": [end, end + 4]}


def _with_buffer(data: bytes) -> bytes:
    return _header(lambda h: _extra(h, ATTENTION + "IGNORE"))(data) + struct.pack("<f", float("-inf"))


def _with_mask(rows: list[float]) -> Raw:
    """The file with an attention mask, row by row."""

    def entry(header: dict[str, Any]) -> None:
        end = max(each["data_offsets"][1] for key, each in header.items() if key != "__metadata__")
        header[ATTENTION + "mask"] = {"dtype": "F32", "shape": [2, 2], "data_offsets": [end, end + 16]}

    return lambda data: _header(entry)(data) + struct.pack("<4f", *rows)


def _removed(name: str) -> Raw:
    """The file without its last tensor in storage order."""

    def apply(data: bytes) -> bytes:
        (length,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8 : 8 + length])
        low, high = header.pop(name)["data_offsets"]
        body = data[8 + length :]
        for entry in (e for n, e in header.items() if n != "__metadata__"):
            entry["data_offsets"] = [x - (high - low if x > low else 0) for x in entry["data_offsets"]]
        new = json.dumps(header, separators=(",", ":")).encode()
        return struct.pack("<Q", len(new)) + new + body[:low] + body[high:]

    return apply


U = "unembed.W_U"
MODELS: list[tuple[str, Raw, str, str]] = [
    (
        "weight_differs",
        lambda data: _body(data, lambda body: body[:-1] + bytes([body[-1] ^ 1])),
        "REJECTED",
        "OTHER_MODEL",
    ),
    (
        "sign_of_a_weight_differs",
        lambda data: _body(data, lambda body: bytes([body[0], body[1] ^ 0x80]) + body[2:]),
        "REJECTED",
        "OTHER_MODEL",
    ),
    (
        "shape_differs",
        _header(lambda h: (h["embed.W_E"].update(shape=[2, 3]), h["pos_embed.W_pos"].update(shape=[4, 1]))),
        "MALFORMED",
        "TENSOR_SHAPE",
    ),
    ("dtype_differs", _header(lambda h: h["embed.W_E"].update(dtype="BF16")), "REJECTED", "OTHER_MODEL"),
    (
        "bias_only_in_file",
        lambda data: _header(
            lambda h: h.update(
                {
                    "unembed.b_U": {
                        "dtype": "F16",
                        "shape": [3],
                        "data_offsets": [len(data) - 8 - struct.unpack("<Q", data[:8])[0]] * 2,
                    }
                }
            )
        )(data),
        "MALFORMED",
        "TENSOR_BYTES",
    ),
    ("bias_added", lambda data: safetensors(random_model(1, biases=("unembed.b_U",))), "REJECTED", "OTHER_MODEL"),
    (
        "tensor_added",
        lambda data: _header(lambda h: _extra(h, "blocks.0.mlp.b_in"))(data) + bytes(4),
        "MALFORMED",
        "TENSOR_LIST",
    ),
    ("tensor_missing", _removed(U), "MALFORMED", "TENSOR_LIST"),
    ("tensor_unknown", _header(lambda h: h.update({"blocks.0.mlp.W_in": h.pop(U)})), "MALFORMED", "TENSOR_LIST"),
    (
        "offsets_overlap",
        _header(lambda h: h["pos_embed.W_pos"].update(data_offsets=h["embed.W_E"]["data_offsets"])),
        "MALFORMED",
        "SAFETENSORS",
    ),
    ("offsets_gap", _header(lambda h: h["embed.W_E"].update(data_offsets=[1, 12])), "MALFORMED", "SAFETENSORS"),
    (
        "offsets_beyond_the_file",
        _header(lambda h: h[U].update(data_offsets=[h[U]["data_offsets"][0], 10**6])),
        "MALFORMED",
        "OUT_OF_RANGE",
    ),
    (
        "offsets_backward",
        _header(lambda h: h[U].update(data_offsets=h[U]["data_offsets"][::-1])),
        "MALFORMED",
        "SAFETENSORS",
    ),
    ("offsets_three", _header(lambda h: h[U].update(data_offsets=[0, 1, 2])), "MALFORMED", "SAFETENSORS"),
    ("offsets_negative", _header(lambda h: h["embed.W_E"].update(data_offsets=[-12, 0])), "MALFORMED", "OUT_OF_RANGE"),
    ("unknown_key", _header(lambda h: h[U].update(stride=[1, 1])), "MALFORMED", "UNKNOWN_KEY"),
    (
        "duplicate_key",
        _header_text('{"', '{"embed.W_E":{"dtype":"F16","shape":[3,2],"data_offsets":[0,12]},"'),
        "MALFORMED",
        "DUPLICATE_KEY",
    ),
    ("metadata_a_number", _header(lambda h: h.update(__metadata__=7)), "MALFORMED", "NOT_AN_OBJECT"),
    ("trailing_byte", lambda data: data + b"\0", "MALFORMED", "SAFETENSORS"),
    ("cut", lambda data: data[:-1], "MALFORMED", "SAFETENSORS"),
    ("empty", lambda data: b"", "MALFORMED", "SAFETENSORS"),
    ("seven_bytes", lambda data: data[:7], "MALFORMED", "SAFETENSORS"),
    ("header_length_huge", lambda data: b"\xff" * 8 + data[8:], "MALFORMED", "SAFETENSORS"),
    (
        "header_length_one_more",
        lambda data: struct.pack("<Q", struct.unpack("<Q", data[:8])[0] + 1) + data[8:],
        "MALFORMED",
        "NOT_JSON",
    ),
    (
        "header_length_eight_less",
        lambda data: struct.pack("<Q", struct.unpack("<Q", data[:8])[0] - 8) + data[8:],
        "MALFORMED",
        "NOT_JSON",
    ),
    ("header_a_list", lambda data: struct.pack("<Q", 2) + b"[]", "MALFORMED", "NOT_AN_OBJECT"),
    ("header_empty", lambda data: struct.pack("<Q", 2) + b"{}", "MALFORMED", "TENSOR_LIST"),
    ("header_not_utf_8", lambda data: struct.pack("<Q", 4) + b'{"\xff}', "MALFORMED", "NOT_TEXT"),
    ("header_deep", lambda data: struct.pack("<Q", 2000) + b"[" * 2000, "MALFORMED", "TOO_DEEP"),
    ("header_float", _header_text("[0,", "[0.0,"), "MALFORMED", "NOT_AN_INTEGER"),
    ("pickle", lambda data: b"\x80\x02}q\x00." + bytes(8), "MALFORMED", "SAFETENSORS"),
    ("dimension_huge", _header(lambda h: h[U].update(shape=[2**40, 3])), "MALFORMED", "OUT_OF_RANGE"),
    ("dimension_zero", _header(lambda h: h[U].update(shape=[0, 3])), "MALFORMED", "OUT_OF_RANGE"),
]


def _exchanged_shares(entries: list[dict[str, Any]]) -> None:
    entries[0]["share"], entries[1]["share"] = entries[1]["share"], entries[0]["share"]


def _restate_total(value: Document) -> None:
    """The total that fits the distribution, and an upper bound that is no larger."""
    claim, total = value["claim"], 0
    task, one = claim["task"], {"share": "1", "answers": None, "positions": "uniform"}
    given = claim["distribution"]["parts"] if isinstance(claim["distribution"], dict) else [one]
    for part in given:
        uniform = [["1"] * task["tokens"]] * task["length"]
        rows = uniform if part["positions"] == "uniform" else part["positions"]
        for tokens in itertools.product(range(task["tokens"]), repeat=task["length"]):
            label = max(tokens) if task["kind"] == "max" else min(tokens)
            if part["answers"] is None or label in part["answers"]:
                total += int(part["share"], 16) * prod(int(row[t], 16) for row, t in zip(rows, tokens, strict=True))
    ends = {key: min(int(claim["bounds"][key], 16), total) for key in ("lower", "upper")}
    claim["bounds"] = {"total": f"{total:x}", **{key: f"{n:x}" for key, n in ends.items()}}


def _first(new: Callable[[str], str]) -> Callable[[list[str]], list[str]]:
    return lambda entries: [new(entries[0]), *entries[1:]]


def _last(new: Callable[[str], str]) -> Callable[[list[str]], list[str]]:
    return lambda entries: [*entries[:-1], new(entries[-1])]


def _second(new: str) -> Callable[[list[str]], list[str]]:
    return lambda entries: [entries[0], new, *entries[2:]]


def _near_threshold(value: Document) -> None:
    """The second part is counted for a threshold that differs by 2**-40: no input lies between."""
    steps = value["proof"]
    number = next(i for i, found in enumerate(steps) if found["rule"] == "margins")
    n, exponent = int(steps[number]["margin_above"], 16), steps[number]["exponent"]
    other = {**steps[number], "margin_above": f"{(n << exponent + 40) + 1:x}", "exponent": -40}
    shifted(steps, number + 1, 1)
    steps.insert(number + 1, other)
    step_of(value, "margin_tree", 1)["margins"] = number + 1
    value["end"] = len(steps)


def _finest(value: Document) -> None:
    """The last threshold plus 2**-600."""
    last = step_of(value, "margins", -1)
    n, exponent = int(last["margin_above"], 16), last["exponent"]
    last.update(margin_above=f"{(n << exponent + 600) + 1:x}", exponent=-600)


def parts(change: Callable[[list[dict[str, Any]]], object]) -> Change:
    """Change the parts of a distribution."""
    return lambda value: change(value["claim"]["distribution"]["parts"])


def scaled_share(entries: list[dict[str, Any]]) -> None:
    for entry in entries:
        entry["share"] = f"{2 * int(entry['share'], 16):x}"


REJECT += [
    ("mixture_shares_exchanged", "mixture", both(parts(_exchanged_shares), _restate_total), "BOUND"),
    ("mixture_answers_widened", "mixture", both(parts(lambda p: p[1].update(answers=None)), _restate_total), "BOUND"),
    ("given_other_answer", "given", both(parts(lambda p: p[0].update(answers=[1])), _restate_total), "MAXIMUM"),
    ("given_more_answers", "given", both(parts(lambda p: p[0].update(answers=[0, 1])), _restate_total), "BOUND"),
    (
        "given_maximum_by_convolution",
        "mixture_convolution",
        both(parts(lambda p: p[1].update(answers=[1])), _restate_total),
        "MAXIMUM",
    ),
    ("mixture_of_near_thresholds", "mixture", _near_threshold, "THRESHOLD"),
    (
        "mixture_of_thresholds",
        "log_loss_mixture",
        lambda value: step_of(value, "mixture", 1).update(
            of=[step_of(value, "mixture")["of"][0], step_of(value, "mixture", 1)["of"][1]]
        ),
        "THRESHOLD",
    ),
    (
        "loss_claimed_as_accuracy",
        "log_loss",
        both(put("claim.quantity", {"margin_above": "0", "exponent": 0}), _restate_total),
        "THRESHOLD",
    ),
    ("mixture_other_part", "mixture", step("margin_tree", "part", 0, 1), "STATED_RESULT"),
    ("mixture_parts_swapped", "mixture", step("mixture", "of", lambda of: of[::-1]), "PART"),
    ("mixture_part_twice", "mixture_convolution", step("mixture", "of", lambda of: [*of, of[0]]), "PREMISES"),
    ("mixture_without_a_part", "mixture", step("mixture", "of", lambda of: of[:1]), "PREMISES"),
    (
        "mixture_joined_as_regions",
        "mixture",
        lambda value: step_of(value, "mixture").update(rule="disjoint_union"),
        "PART",
    ),
    ("mixture_concluded_from_a_part", "mixture", step("conclude", "of", lambda of: of - 1), "PREMISE_KIND"),
    ("loss_upper_understated", "log_loss", step("log_loss", "upper", _last(more(-4))), "LOSS_BOUND"),
    ("loss_upper_first_understated", "log_loss", step("log_loss", "upper", _first(more(-8))), "LOSS_BOUND"),
    ("loss_upper_below_the_floor", "log_loss", step("log_loss", "upper", lambda u: ["0"] * len(u)), "LOSS_BOUND"),
    ("loss_lower_overstated", "log_loss", step("log_loss", "lower", _first(more(4))), "LOSS_BOUND"),
    ("loss_lower_ascends", "log_loss", step("log_loss", "lower", _second("0")), "LOSS_BOUND"),
    ("loss_lower_negative", "log_loss", step("log_loss", "lower", _last(lambda text: "-1")), "LOSS_BOUND"),
    ("loss_upper_ascends", "log_loss", step("log_loss", "upper", _last(lambda text: "10000000000000")), "LOSS_BOUND"),
    ("loss_thresholds_descend", "log_loss", step("log_loss", "of", lambda of: of[::-1]), "LOSS_FLOOR"),
    (
        "loss_thresholds_out_of_order",
        "log_loss",
        step("log_loss", "of", lambda of: [of[0], of[2], of[1], *of[3:]]),
        "THRESHOLD",
    ),
    (
        "loss_without_floor",
        "log_loss",
        both(*(step("log_loss", key, lambda entries: entries[1:]) for key in ("of", "upper", "lower"))),
        "LOSS_FLOOR",
    ),
    ("loss_bound_lowered", "log_loss", put("claim.bounds.upper", more(-1)), "BOUND"),
    ("loss_bound_raised", "log_loss", put("claim.bounds.lower", more(1)), "BOUND"),
    (
        "accuracy_claimed_as_loss",
        "margin_tree",
        lambda value: value["claim"].update(
            quantity={"log_loss": -40}, bounds={**value["claim"]["bounds"], "total": f"{1 << 40:x}"}
        ),
        "THRESHOLD",
    ),
    ("loss_of_counts_of_programs", "log_loss", lambda v: v.update(loss_of_programs(planted(noise=1))), "SEMANTICS"),
    (
        "loss_of_a_program",
        "log_loss",
        put("claim.semantics", {"format": "binary32", "exp_ulp": 4, "underflow": "flush"}),
        "SEMANTICS",
    ),
]
MALFORMED += [
    ("mixture_other_total", "mixture", parts(lambda p: p[1].update(answers=None)), "TOTAL"),
    (
        "weights_too_heavy",
        "weighted",
        both(put("claim.distribution.0.0", "1" + "0" * 8191), put("claim.distribution.1.0", "ffff")),
        "DISTRIBUTION",
    ),
    ("mixture_no_parts", "mixture", put("claim.distribution.parts", []), "DISTRIBUTION"),
    ("mixture_one_part", "mixture", parts(lambda p: p.pop()), "DISTRIBUTION"),
    ("mixture_share_zero", "mixture", parts(lambda p: p[0].update(share="0")), "DISTRIBUTION"),
    ("mixture_share_negative", "mixture", parts(lambda p: p[0].update(share="-1")), "DISTRIBUTION"),
    ("mixture_shares_common_factor", "mixture", parts(scaled_share), "NOT_CANONICAL"),
    ("mixture_too_many_parts", "mixture", parts(lambda p: p.extend([p[0]] * 300)), "DISTRIBUTION"),
    ("mixture_unknown_key", "mixture", parts(lambda p: p[0].update(note="")), "UNKNOWN_KEY"),
    ("mixture_unknown_top_key", "mixture", put("claim.distribution.note", "x"), "UNKNOWN_KEY"),
    ("mixture_step_without_part", "mixture", dropped("margin_tree", "part"), "MISSING_KEY"),
    ("mixture_part_out_of_range", "mixture", step("margin_tree", "part", 2), "OUT_OF_RANGE"),
    ("mixture_part_a_boolean", "mixture", step("margin_tree", "part", False), "NOT_AN_INTEGER"),
    ("part_without_mixture", "margin_tree", step("margin_tree", "part", 0), "UNKNOWN_KEY"),
    ("given_all_answers", "given", parts(lambda p: p[0].update(answers=[0, 1, 2])), "DISTRIBUTION"),
    ("given_no_answers", "given", parts(lambda p: p[0].update(answers=[])), "DISTRIBUTION"),
    ("given_answers_descend", "given", parts(lambda p: p[0].update(answers=[1, 0])), "DISTRIBUTION"),
    ("given_answer_twice", "given", parts(lambda p: p[0].update(answers=[0, 0])), "DISTRIBUTION"),
    ("given_answer_beyond", "given", parts(lambda p: p[0].update(answers=[3])), "OUT_OF_RANGE"),
    ("given_share_two", "given", parts(lambda p: p[0].update(share="2")), "NOT_CANONICAL"),
    ("given_total_of_all", "given", put("claim.bounds.total", "9"), "TOTAL"),
    (
        "given_impossible",
        "given",
        parts(lambda p: p[0].update(positions=[["0", "1", "1"], ["0", "1", "1"]])),
        "DISTRIBUTION",
    ),
    ("loss_other_unit", "log_loss", put("claim.quantity.log_loss", -41), "OUT_OF_RANGE"),
    ("loss_and_margin", "log_loss", put("claim.quantity.exponent", 0), "UNKNOWN_KEY"),
    ("loss_other_total", "log_loss", put("claim.bounds.total", more(1)), "TOTAL"),
    ("loss_bounds_cross", "log_loss", put("claim.bounds.upper", "0"), "BOUNDS"),
    ("loss_upper_missing", "log_loss", dropped("log_loss", "upper"), "MISSING_KEY"),
    ("loss_upper_short", "log_loss", step("log_loss", "upper", lambda u: u[:-1]), "VECTOR_LENGTH"),
    ("loss_lower_long", "log_loss", step("log_loss", "lower", lambda u: [*u, "0"]), "VECTOR_LENGTH"),
    ("loss_threshold_fine", "log_loss", _finest, "OUT_OF_RANGE"),
]


def cases() -> list[Case]:
    """Every case, in the order of the index."""
    result = [Case(f"accept/{name}.json", spelled(golden(name)), "VERIFIED", "") for name in GOLDEN]
    for verdict, rows in (("REJECTED", REJECT), ("MALFORMED", MALFORMED), ("RESOURCE", RESOURCE)):
        for name, base, change, code in rows:
            value = golden(base)
            change(value)
            result.append(_bad(verdict, name, base, spelled(value), code))
    result += [_bad("MALFORMED", name, base, raw(spelled(golden(base))), code) for name, base, raw, code in BYTES]
    good = safetensors(model_in(golden("enumerate")))
    pair = ("accept/enumerate.json", "accept/enumerate.safetensors")
    result.append(Case(pair[1], good, "VERIFIED", "", pair[0], {"certificate": pair[0]}))
    result.append(
        Case("accept/with_buffer.safetensors", _with_buffer(good), "VERIFIED", "", pair[1], {"certificate": pair[0]})
    )
    masked = "accept/with_mask.safetensors"
    result.append(Case(masked, _with_mask([1, 0, 1, 1])(good), "VERIFIED", "", pair[1], {"certificate": pair[0]}))
    open_mask = Case(
        "reject/model_mask_not_causal.safetensors",
        _with_mask([1, 1, 1, 1])(good),
        "REJECTED",
        "OTHER_MODEL",
        masked,
        {"certificate": pair[0]},
    )
    result.append(open_mask)
    biased = safetensors(model_in(golden("biases")))
    full = ("accept/biases.json", "accept/biases.safetensors")
    result.append(Case(full[1], biased, "VERIFIED", "", full[0], {"certificate": full[0]}))
    left_out = _removed("unembed.b_U")(biased)
    file = "reject/model_bias_left_out.safetensors"
    result.append(Case(file, left_out, "REJECTED", "OTHER_MODEL", full[1], {"certificate": full[0]}))
    for name, raw, verdict, code in MODELS:
        folder = "reject" if verdict == "REJECTED" else "malformed"
        file = f"{folder}/model_{name}.safetensors"
        result.append(Case(file, raw(good), verdict, code, pair[1], {"certificate": pair[0]}))
    return result


def _bad(verdict: str, name: str, base: str, data: bytes, code: str) -> Case:
    folder = {"REJECTED": "reject", "MALFORMED": "malformed", "RESOURCE": "malformed"}[verdict]
    return Case(f"{folder}/{name}.json", data, verdict, code, f"accept/{base}.json")


def files() -> dict[str, bytes]:
    """Path below this folder -> contents."""
    table = cases()
    rows = ",\n".join(json.dumps(case.row(), sort_keys=True) for case in table)
    return {case.file: case.data for case in table} | {"index.json": f"[\n{rows}\n]\n".encode("ascii")}


def main() -> int:
    """Write the corpus, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the files, write nothing")
    parser.add_argument("--golden", nargs="*", default=[], metavar="NAME", help="make these valid ones anew (or: all)")
    options = parser.parse_args()
    for name in GOLDEN:
        path = HERE / "accept" / f"{name}.json"
        if name in options.golden or "all" in options.golden or not (path.exists() or options.check):
            path.write_bytes(spelled(GOLDEN[name]()))
    wanted = files()
    folders = ("accept", "reject", "malformed")
    present = {str(path.relative_to(HERE)) for folder in folders for path in (HERE / folder).glob("*")}
    stale = sorted(present - set(wanted))
    changed = sorted(
        name for name, data in wanted.items() if not (HERE / name).exists() or (HERE / name).read_bytes() != data
    )
    if options.check:
        print("\n".join(f"differs: {name}" for name in (*stale, *changed)) or f"{len(wanted)} files are as generated")
        return 1 if stale or changed else 0
    for name in stale:
        (HERE / name).unlink()
    for name in changed:
        (HERE / name).parent.mkdir(exist_ok=True)
        (HERE / name).write_bytes(wanted[name])
    print(f"{len(changed)} files written, {len(stale)} removed, {len(wanted)} in all")
    return 0


if __name__ == "__main__":
    sys.exit(main())
