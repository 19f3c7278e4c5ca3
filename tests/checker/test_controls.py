"""Controls: a checker with one fault put in accepts a false claim, and random proofs find one.

Each fault replaces one piece of the checker's text. For each, the attack of `test_random_proofs` found a proof that the
faulty checker accepts although the truth, by exhaustive evaluation, is another. They are kept in `controls`;
`python tests/checker/test_controls.py` looks for those that are missing there, and writes them.

Not every fault shows so: of some that were tried (a harmless output of a convolution, a bound of `row_norm` without its
root of two, the floor of a log-loss) the effect is too small or too rare; for them there are rows in tests/data and the
tests of single rules.
"""

from __future__ import annotations

import importlib
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from certificates import LIMIT, Document, Outcome, judge, spelled
from mutate import true_claim
from test_random_proofs import KINDS, mixtures, settle

Fault = tuple[str, str, str, str]
"""File, its text, the faulty text, and the kind of random proofs that shows it."""

FOUND = Path(__file__).resolve().parent / "controls"

TREE, ENUMERATE, SCREEN = "rules/margin_tree.py", "rules/enumerate.py", "rules/screen.py"
GAP, APPROXIMATIONS, MARGINS = "rules/gap_classes.py", "rules/approximations.py", "rules/margins.py"
CIRCUITS, ENDING, LOSS = "rules/circuits.py", "rules/ending.py", "rules/log_loss.py"
CONVOLUTION, GRID, FLOAT = "rules/margin_convolution.py", "rules/grid.py", "rules/float_error.py"
PURE = "rules/pure_sequences.py"


def unchecked(file: str, code: str, kind: str) -> Fault:
    """A refusal that is left out."""
    return file, f'raise Rejected("{code}"', f'Rejected("{code}"', kind


FAULTS: dict[str, Fault] = {
    # ends
    "regions that overlap": unchecked(ENDING, "OVERLAP", "careless"),
    "thresholds that differ in a union or a mixture": unchecked(ENDING, "THRESHOLD", "careless"),
    "parts in another order": unchecked(ENDING, "PART", "mixed_up"),
    "what is outside the region is wrong": (ENDING, "step.claim.mass - count.wrong", "count.right", "careless"),
    "another share of a part": (ENDING, "share * count.right", "(share + 1) * count.right", "mixtures"),
    "claim for another threshold": unchecked("kernel.py", "THRESHOLD", "careless"),
    "weights of min not renumbered": (
        "claim.py",
        'weights[::-1] if task.kind == "min"',
        "weights if True",
        "weighted",
    ),
    "outputs of min not renumbered": (
        "task.py",
        "self.token_rows()[: self.tokens]",
        "list(range(self.tokens))",
        "counted",
    ),
    "class with its smaller maxima": ("task.py", "else self.below(m)[0])", "else 0)", "counted"),
    # circuits and margins
    "another circuit": unchecked(CIRCUITS, "PREMISE_CIRCUIT", "careless"),
    "centre added on both sides": (CIRCUITS, "else -1", "else 1", "careless"),
    "biases forgotten": (CIRCUITS, "if not any(row.rows[0]):", "if True:", "counted"),
    "position of the query": (CIRCUITS, "positions.rows[-1:]", "positions.rows[:1]", "careless"),
    "centres that differ": unchecked(MARGINS, "CENTRE", "careless"),
    "threshold with the other sign": (
        MARGINS,
        "shift.scaled_to(exponent)[0][0]",
        "-shift.scaled_to(exponent)[0][0]",
        "careless",
    ),
    "cut weights taken for exact": (
        MARGINS,
        "radius = max(position) * du + max(token) * dp + du * dp",
        "radius = 0",
        "near",
    ),
    # counting
    "distribution ignored by the cubic rule": (PURE, "step.require_uniform()", "pass", "weighted"),
    "logits rounded for nothing": (ENUMERATE, "self.slack = 4 if drop else 0", "self.slack = 0", "counted"),
    "undecided is wrong, enumerated": (ENUMERATE, "floor = table.radius * 2 * table.ones", "floor = 0", "counted"),
    "undecided is right, enumerated": (
        ENUMERATE,
        "start = query + (radius +",
        "start = query + (-radius +",
        "counted",
    ),
    "classes enumerated with smaller maxima": (
        ENUMERATE,
        "if holds or m in prefix else last[m:]",
        "if True else []",
        "counted",
    ),
    "undecided is wrong, in the tree": (
        TREE,
        "output.radius - total - table.worst",
        "-output.radius - total - table.worst",
        "near",
    ),
    "undecided is right, in the tree": (
        TREE,
        "-output.radius - total, has",
        "output.radius - total, has",
        "counted",
    ),
    "outputs dropped too early": (TREE, "needed - table.best)", "needed - table.worst)", "near"),
    "closed subtree without the maximum": (TREE, "0 if has or t == m else below[after]", "0", "counted"),
    "mass of the tokens before": (TREE, "before * masses[level][t], child", "before, child", "weighted"),
    "screening without its slack": (SCREEN, "bound + slack >= 0", "bound - slack >= 0", "counted"),
    "screening as if a position held the maximum": (SCREEN, "if not holds:", "if True:", "counted"),
    "coarse screening without positions": (
        SCREEN,
        "zip(direct, position, strict=True)",
        "zip(direct, [0] * len(position), strict=True)",
        "near",
    ),
    # gap classes
    "gap that fails": unchecked(GAP, "GAP_FAILS", "gapped"),
    "centres that differ under gaps": unchecked(GAP, "CENTRE", "daring"),
    "error of the scores": (GAP, " - self.error[q][0]", "", "daring"),
    "error of the direct part": (GAP, "row[0] * unit for row in self.direct", "0 for row in self.direct", "daring"),
    "attention below one": (GAP, "return chord, values[-1] + direct", "return (values[-1] + direct,) * 2", "gapped"),
    "score of the query": (GAP, "tops.append(row[own])", "tops.append(min(row))", "daring"),
    "weight of the query": (GAP, "rest += self.query[q][1]", "pass", "daring"),
    "positions of the outputs": (GAP, "- self.common[m] + pi[o]", "- self.common[m]", "daring"),
    "threshold of gaps": (GAP, "pi[o] + self.shift, at_m", "pi[o], at_m", "daring"),
    "gap counted to the maximum": (GAP, "(below + 1) ** count", "(m + 1) ** count", "daring"),
    "lower end of a chord": (
        GAP,
        "values[i] * left + values[i + 1] * right",
        "min(values) * (left + right)",
        "daring",
    ),
    "constant sequence taken as right": (GAP, "+ self.shift < 0 for o", "+ self.shift < 1 << 99 for o", "daring"),
    "peeled twice": (
        APPROXIMATIONS,
        "rest = add(factor, product(_negated(column), row, step.meter), step.meter)",
        "rest = factor",
        "daring",
    ),
    "not peeled": (APPROXIMATIONS, "column = product(left, column, step.meter)", "column = column", "daring"),
    "range as maximum": (APPROXIMATIONS, "(max(row) - min(row),) for row", "(max(row),) for row", "daring"),
    "sizes with signs": (APPROXIMATIONS, "tuple(map(abs, entries)) for", "tuple(entries) for", "daring"),
    # convolution
    "missing outputs": (
        CONVOLUTION,
        "return size if self.missing[q] else self.above[q]",
        "return self.above[q]",
        "convolved",
    ),
    "smaller maxima": (CONVOLUTION, "0 if task.holds_max(q, m) else less", "0", "convolved"),
    "cells rounded down": (GRID, "-((c - term) // h) if up", "(c + term) // h if up", "convolved"),
    "free positions of the offset": (
        GRID,
        "free = self.step.task.free * (c if up else -c)",
        "free = 0",
        "convolved",
    ),
    "one end of the weights": (
        GRID,
        "ends[0] * ratios.token[near][t] if x >= 0 else",
        "ends[1] * ratios.token[far][t] if x >= 0 else",
        "convolved",
    ),
    "query that fails least": (GRID, "side, shift = max if up else min,", "side, shift = min,", "convolved"),
    "threshold of cells": (GRID, "given.shift * (16 + sum", "0 * (16 + sum", "convolved"),
    # programs
    # log-loss
    "upper bound of a band": (
        LOSS,
        'raise Rejected(\n                "LOSS_BOUND"',
        'Rejected(\n                "LOSS_BOUND"',
        "bold",
    ),
}


def faulty(folder: Path, name: str, fault: Fault) -> Callable[[bytes], Outcome]:
    """What a copy of the checker with the fault says."""
    import compactproofs.checker

    file, old, new, _ = fault
    home = folder / name
    source = Path(compactproofs.checker.__file__).parent
    shutil.copytree(source, home)
    text = (home / file).read_text("utf-8")
    assert old in text, f"{file} does not say {old!r}"
    (home / file).write_text(text.replace(old, new), "utf-8")
    importlib.invalidate_caches()
    kernel: ModuleType = importlib.import_module(f"{name}.kernel")
    errors: ModuleType = importlib.import_module(f"{name}.errors")

    def decide(data: bytes) -> Outcome:
        try:
            kernel.check(kernel.read_document(data), LIMIT, lambda rule, fact: None)
        except errors.Refusal as refusal:
            return Outcome(refusal.verdict, refusal.code, text=str(refusal))
        except Exception as error:
            return Outcome("INTERNAL", type(error).__name__, text=repr(error))
        return Outcome("VERIFIED")

    return decide


def place_of(name: str) -> Path:
    """Where the certificate is kept that shows a fault."""
    return FOUND / f"{'_'.join(re.findall('[a-z0-9]+', name.lower()))}.json"


def bold(rng: random.Random) -> Document:
    """A proof about the log-loss whose witnesses say much more than they should."""
    while True:
        value = mixtures(rng)
        if value["proof"][-1]["rule"] == "log_loss":
            break
    step, key = value["proof"][-1], rng.choice(("upper", "lower"))
    factor = rng.choice((2, 4))
    step[key] = [f"{int(n, 16) * factor if key == 'lower' else int(n, 16) // factor:x}" for n in step[key]]
    return value


def search(fault: Fault, decide: Callable[[bytes], Outcome]) -> bytes | None:
    """A certificate of a false claim that the faulty checker accepts."""
    make, tries = (bold, 100) if fault[3] == "bold" else KINDS[fault[3]][::2]
    for seed in range(tries):
        value = make(random.Random(f"{fault[3]} {seed}"))
        try:
            verdict = settle(value, decide).verdict
        except AssertionError:  # it states one result after the other
            continue
        if verdict == "VERIFIED" and not true_claim(spelled(value)):
            return spelled(value)
    return None


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_shows(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    data = place_of(name).read_bytes()
    assert judge(data).verdict == "REJECTED"
    assert not true_claim(data)
    assert faulty(tmp_path, f"faulty_{list(FAULTS).index(name)}", FAULTS[name])(data).verdict == "VERIFIED"


def test_every_rule_that_counts_has_a_fault() -> None:
    files = {file for file, *_ in FAULTS.values()}
    assert {TREE, ENUMERATE, SCREEN, GAP, APPROXIMATIONS, MARGINS, CIRCUITS, ENDING, LOSS, CONVOLUTION, GRID} <= files
    assert {path.name for path in FOUND.iterdir()} == {place_of(name).name for name in FAULTS}


def main() -> int:
    """Find what is missing."""
    missed = 0
    FOUND.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        for number, (name, fault) in enumerate(FAULTS.items()):
            if place_of(name).exists():
                continue
            data = search(fault, faulty(Path(folder), f"faulty_{number}", fault))
            missed += data is None
            print(f"{name}: {'found' if data else 'not found'}", flush=True)
            if data:
                place_of(name).write_bytes(data)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
