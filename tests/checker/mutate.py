"""Mutation of valid certificates: no change may be VERIFIED with a claim that is not true.

`python -m tests.checker.mutate --full` runs every mutant of every golden certificate and writes docs/mutation.md.
Mutants are bytes; they differ from the original by construction, and the harness counts those that do not as its own
faults. A mutant that is accepted with the same claim shows a neutral field: one that a proof may choose freely.
"""

from __future__ import annotations

import argparse
import base64
import copy
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import mpmath
from certificates import GOLDEN, Document, golden, judge, resign, spelled
from oracle import Oracle
from soft_float import Program, runs

PAGE = Path(__file__).resolve().parents[2] / "docs" / "mutation.md"
HUGE = 10**14
RESIGNED = "weight and digest"
RUNS = 2  # evaluations of a program that an accepted claim about it is held against
LOSS_DIGITS = 60  # of the mean log-loss: a bound is a multiple of 2**-40
EVERY_BIT = {"enumerate", "margin_tree", "pure_sequences", "gap_classes", "convolution", "mixture", "log_loss"}
"""Certificates of which every bit is flipped; of the others one bit of each byte is."""

WITNESSES = {"centre", "column", "row", "summaries", "maxima", "pivots"}
"""Arguments that are structures, named as a whole."""

NEUTRAL: dict[str, str] = {
    "weights.bits": "fractional bits of the attention weights: effort",
    "weights.grid": "fractional bits of the exponents: effort",
    "enumerate.digits": "bits of a weight in a sum: effort",
    "enumerate.logit_bits": "fractional bits of a logit: effort",
    "margin_tree.digits": "bits of a weight in a sum: effort",
    "product.at": "which two factors are multiplied first: the product is the same",
    "circuit.centre": "a constant moved between two circuits, or within a softmax: the function is the same",
    **{
        f"{name}: margins.{field}": "a real count's threshold: any that lies further off than the rounding errors"
        for name in ("program", "program_mixture")
        for field in ("margin_above", "exponent")
    },
    "enumerate.region": "classes without an input may be in a region or not",
    "margin_tree.region": "classes that a count says nothing about may be in its region or not",
    "pure_sequences.region": "classes of which nothing is certified may be in the region or not",
    "row_bound_min.of": "bounds that are nowhere the least, and their order",
    "enumerate": "the order of counts that are joined",
    "margin_tree": "the order of counts that are joined",
    "product": "the order of two products that do not depend on each other",
    "peel": "the order of two peels of different factors",
    "peel.column": "a witness: whatever is peeled off goes into the approximation, and the rest is bounded",
    "peel.row": "a witness, as the column",
    "row_range_chain": "the order of two bounds",
    "row_range_chain.summaries": "a witness: the bound is right for every summary row",
    "gap_classes.bits": "fractional bits of exp: effort",
    "gap_classes.grid": "fractional bits of the exponents: effort",
    "gap_classes.pivots": "a witness: a convex function lies below its chords, whatever their ends",
    "gap_classes.unit": "the unit of the pivots",
    "margin_convolution.digits": "bits of a weight ratio: effort",
    "margin_convolution.unit": "the exponent of grid steps: effort",
    "margin_convolution.maxima": "a witness: which outputs are counted together, and on which grid",
    "float_error.bits": "fractional bits of the error bounds: effort",
    "float_error.ceiling": "a witness: a larger one leaves more room before overflow",
    "disjoint_union.of": "the order of the summands",
    **{
        f"{name}: margins.{field}": "a threshold of a band: any that its two witnesses fit"
        for name in ("log_loss", "log_loss_mixture")
        for field in ("margin_above", "exponent")
    },
    "log_loss.upper": "a witness: any number that is shown to bound the loss of a margin",
    "log_loss.lower": "a witness, as upper",
}
"""Fields that a proof may choose freely, and why no claim depends on them."""


@dataclass(frozen=True)
class Mutant:
    """Where a certificate is changed, by what, and how to make the bytes (a sample makes few of them)."""

    where: str
    operation: str
    make: Callable[[], bytes]


@dataclass
class Score:
    """What became of the mutants of one certificate."""

    name: str
    total: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    operations: Counter[str] = field(default_factory=Counter)
    neutral: Counter[str] = field(default_factory=Counter)
    others: list[str] = field(default_factory=list)  # accepted, with another claim, which the oracle found true
    false: list[str] = field(default_factory=list)  # accepted, and not true
    crashes: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)  # mutants that change nothing


# --- mutants ---------------------------------------------------------------------------------------------

Place = tuple[str | int, ...]
Tokens = tuple[int, ...]


def nodes(value: Any, path: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every value below the top, containers included, in a fixed order."""
    entries = sorted(value.items()) if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in entries:
        yield (*path, key), item
        yield from nodes(item, (*path, key))


def other_values(value: Any) -> Iterator[tuple[str, Any]]:
    """Replacements of one value, named by the operation."""
    types: list[Any] = [None, True, False, 0, "", [], {}]
    if isinstance(value, bool) or value is None:
        pass
    elif isinstance(value, int):
        yield from (("plus one", value + 1), ("minus one", value - 1), ("sign", -value), ("zero", 0), ("huge", HUGE))
        types += [str(value), f"{value:x}", [value]]
    elif isinstance(value, str):
        yield from text_values(value)
        types += [[value], {value[:8]: value[:8]}]
        if value.isdigit() and len(value) < 16:
            types.append(int(value))
    elif isinstance(value, list):
        yield "empty", []
        yield "reverse", value[::-1]
        yield "wrap", [value]
    elif isinstance(value, dict):
        yield "empty", {}
        yield "wrap", [value]
    for replacement in types:
        yield "other type", replacement


def text_values(value: str) -> Iterator[tuple[str, str]]:
    """Replacements of a string: as a number, and as text."""
    if re.fullmatch("-?[0-9a-f]{1,40}", value):
        n = int(value, 16)
        for name, new in (("plus one", n + 1), ("minus one", n - 1), ("sign", -n), ("zero", 0), ("huge", 16**40)):
            yield name, f"{new:x}"
        yield from (("respelled", "0" + value), ("respelled", value.upper()), ("respelled", "+" + value))
        yield "respelled", "0x" + value
    yield from (("longer", value + "A"), ("shorter", value[:-1]), ("shorter", value[1:]), ("upper case", value.upper()))
    yield from (("blank", value + " "), ("blank", " " + value), ("non-ASCII", value + "\u0130"), ("nul", value + "\0"))
    yield "another", "uniform" if value != "uniform" else "real"


def leaf_mutants(document: Document) -> Iterator[Mutant]:
    """Every node: deleted, duplicated, replaced, swapped with each sibling; every key renamed."""
    original = spelled(document)
    for path, _ in list(nodes(document)):
        where = place(document, path)

        def changed(
            operation: str, edit: Callable[[Any, Any], object], path: Place = path, where: str = where
        ) -> Mutant:
            def make() -> bytes:
                value = json.loads(original)
                holder = value
                for key in path[:-1]:
                    holder = holder[key]
                edit(holder, path[-1])
                return spelled(value)

            return Mutant(where, operation, make)

        holder: Any = document
        for key in path[:-1]:
            holder = holder[key]
        last = path[-1]
        yield changed("delete", lambda h, k: h.__delitem__(k))
        if isinstance(holder, list):
            yield changed("duplicate", lambda h, k: h.insert(k, copy.deepcopy(h[k])))
        else:
            yield changed("duplicate", lambda h, k: h.__setitem__(k + "2", copy.deepcopy(h[k])))
            yield changed("rename", lambda h, k: h.__setitem__(k.upper(), h.pop(k)))
        for operation, new in other_values(holder[last]):
            if type(new) is not type(holder[last]) or new != holder[last]:
                yield changed(operation, lambda h, k, new=new: h.__setitem__(k, new))
        siblings = range(last) if isinstance(last, int) else [key for key in holder if key < last]
        for other in siblings:
            if holder[other] != holder[last] or type(holder[other]) is not type(holder[last]):
                yield changed("swap", lambda h, k, other=other: swap(h, k, other))


def swap(holder: Any, a: Any, b: Any) -> None:
    holder[a], holder[b] = holder[b], holder[a]


def place(document: Document, path: Place) -> str:
    """A path with list indices left out and steps named by their rule: `weights.bits`, `claim.bounds.lower`."""
    if path[0] == "proof" and len(path) > 1:
        rule = document["proof"][path[1]].get("rule")
        rest = [str(key) for key in path[2:] if isinstance(key, str)]
        if rest[:1] and rest[0] in WITNESSES:
            rest = rest[:1]
        return ".".join([str(rule), *rest])
    return ".".join(str(key) for key in path if isinstance(key, str))


def byte_mutants(data: bytes, every_bit: bool) -> Iterator[Mutant]:
    """Every byte flipped (in every bit, or one), every truncation, bytes deleted, doubled and appended."""
    for i in range(len(data)):
        for bit in range(8) if every_bit else (i % 8,):
            flipped = bytes([data[i] ^ 1 << bit])
            yield Mutant(f"byte {i}", "bit flip", lambda i=i, new=flipped: data[:i] + new + data[i + 1 :])
        yield Mutant(f"byte {i}", "truncation", lambda i=i: data[:i])
        yield Mutant(f"byte {i}", "byte deleted", lambda i=i: data[:i] + data[i + 1 :])
        yield Mutant(f"byte {i}", "byte doubled", lambda i=i: data[: i + 1] + data[i:])
    tails = [bytes([n]) for n in range(256)]
    tails += [b"\n\n", b" ", b"{}\n", b"null\n", data, data[:-1], b"\n" + data, b"\0" * 64]
    for tail in tails:
        yield Mutant("end", "appended", lambda tail=tail: data + tail)
        yield Mutant("start", "prepended", lambda tail=tail: tail + data)


def key_order_mutants(document: Document) -> Iterator[Mutant]:
    """Each object with its keys in other orders."""
    for path, item in [((), document), *nodes(document)]:
        if isinstance(item, dict) and len(item) > 1:
            keys = sorted(item)
            for shift in range(1, len(keys)):
                order = keys[shift:] + keys[:shift]

                def make(path: Place = path, order: list[str] = order) -> bytes:
                    return (json.dumps(reordered(document, path, order), separators=(",", ":")) + "\n").encode()

                yield Mutant(".".join(map(str, path)) or "top", "keys reordered", make)


def reordered(value: Any, path: Place | None, keys: list[str]) -> Any:
    """A copy with sorted keys everywhere but in the object at the path."""

    def below(key: str | int) -> Place | None:
        return path[1:] if path and path[0] == key else None

    if isinstance(value, list):
        return [reordered(item, below(i), keys) for i, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: reordered(value[key], below(key), keys) for key in (keys if path == () else sorted(value))}
    return value


def base64_mutants(document: Document) -> Iterator[Mutant]:
    """The same bytes of each tensor, spelled otherwise."""
    for number, tensor in enumerate(document["model"]["tensors"]):
        text, data = tensor["data"], base64.b64decode(tensor["data"])
        alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        spellings = {
            text.rstrip("="),
            base64.urlsafe_b64encode(data).decode(),
            base64.b32encode(data).decode(),
            base64.b16encode(data).decode(),
            base64.encodebytes(data).decode(),
            base64.encodebytes(data).decode().rstrip(),
            text + "=",
            text + "====",
            text + "\n",
            "\n" + text,
            text[:4] + " " + text[4:],
            text[:4] + "\u00e9" + text[4:],
            "data:;base64," + text,
        }
        if text.endswith("="):
            bare = text.rstrip("=")
            spellings |= {bare[:-1] + letter + text[len(bare) :] for letter in alphabet}
        for spelling in sorted(spellings - {text}):
            yield Mutant("model.tensors.data", "base64", with_data(document, number, spelling, sign=False))


def resigned_mutants(document: Document) -> Iterator[Mutant]:
    """Every bit of every weight changed, and the digest restated: a claim about another model, true or not."""
    for number, tensor in enumerate(document["model"]["tensors"]):
        data = base64.b64decode(tensor["data"])
        for i in range(len(data)):
            for bit in range(8):
                new = data[:i] + bytes([data[i] ^ 1 << bit]) + data[i + 1 :]
                text = base64.b64encode(new).decode()
                yield Mutant(tensor["name"], RESIGNED, with_data(document, number, text, sign=True))


def with_data(document: Document, number: int, text: str, sign: bool) -> Callable[[], bytes]:
    """The document with other data in one tensor."""

    def make() -> bytes:
        value = copy.deepcopy(document)
        value["model"]["tensors"][number]["data"] = text
        return spelled(resign(value) if sign else value)

    return make


def mutants(name: str) -> Iterator[Mutant]:
    """All mutants of one golden certificate, in a fixed order."""
    document = golden(name)
    yield from leaf_mutants(document)
    yield from key_order_mutants(document)
    yield from base64_mutants(document)
    yield from resigned_mutants(document)
    yield from byte_mutants(spelled(document), name in EVERY_BIT)


# --- the run ----------------------------------------------------------------------------------------------


def true_claim(data: bytes) -> bool:
    """Whether the claim of a certificate holds, by exhaustive exact evaluation; `data` has been accepted."""
    value = json.loads(data)
    claim = value["claim"]
    quantity, stated = claim["quantity"], {key: int(text, 16) for key, text in claim["bounds"].items()}
    threshold = (int(quantity["margin_above"], 16), quantity["exponent"]) if "margin_above" in quantity else (0, 0)
    oracle = Oracle(model_of(value["model"]["tensors"]), SimpleNamespace(**claim["task"]), threshold)
    masses = {tokens: mass_of(tokens, claim) for tokens in oracle.sequences()}
    total = sum(masses.values())
    if "log_loss" in quantity:
        with mpmath.workdps(LOSS_DIGITS):
            mean = mpmath.fsum(mass * oracle.loss(tokens) for tokens, mass in masses.items() if mass) / total
            in_units = mean * 2**40
            return stated["total"] == 1 << 40 and stated["lower"] <= in_units <= stated["upper"]
    right = {tokens for tokens, verdict in oracle.all() if verdict}
    least, most = right, right
    if claim["semantics"] != "real":
        every = tuple(tokens for tokens, mass in masses.items() if mass)
        words = json.dumps([claim["task"], claim["semantics"], quantity])
        always, ever = evaluations(json.dumps(value["model"]["tensors"]), words, every)
        least, most = right & always, right | ever
    lower, upper = (sum(masses[tokens] for tokens in inputs) for inputs in (least, most))
    return stated["total"] == total and stated["lower"] <= lower <= upper <= stated["upper"]


@lru_cache(256)  # most accepted mutants are about the same program
def evaluations(tensors: str, words: str, inputs: tuple[Tokens, ...]) -> tuple[set[Tokens], set[Tokens]]:
    """The inputs that all of some runs of a program get right, and those that one of them does.

    Runs prove no claim about all evaluations, but they can refute it. One of them errs as far as it may, in directions
    taken at random.
    """
    task, meant, quantity = json.loads(words)
    program = Program(model_of(json.loads(tensors)))
    threshold = int(quantity["margin_above"], 16) * Fraction(2) ** quantity["exponent"]
    makers = runs(meant["format"], meant["exp_ulp"], meant["underflow"], 0, RUNS)
    found: list[set[Tokens]] = [set() for _ in makers]
    for tokens in inputs:
        answers = tokens[: task["length"]]
        label = max(answers) if task["kind"] == "max" else min(answers)
        for inside, make in zip(found, makers, strict=True):
            logits = program.logits(make(), tokens)
            others = [logit for o, logit in enumerate(logits) if o != label]
            if not others or logits[label] - max(others) > threshold:
                inside.add(tokens)
    return set.intersection(*found), set.union(*found)


def model_of(tensors: list[Document]) -> Any:
    """The model in a document, as the oracles want it."""
    return SimpleNamespace(tensors=[SimpleNamespace(**{**t, "data": base64.b64decode(t["data"])}) for t in tensors])


def mass_of(tokens: tuple[int, ...], claim: Document) -> int:
    """How much an input counts, by the words of FORMAT.md, section 3."""
    task, distribution = claim["task"], claim["distribution"]
    inputs = tokens[: task["length"]]
    answer = max(inputs) if task["kind"] == "max" else min(inputs)
    one = [{"share": "1", "answers": None, "positions": distribution}]
    total = 0
    for part in distribution["parts"] if isinstance(distribution, dict) else one:
        mass, rows = int(part["share"], 16), part["positions"]
        if part["answers"] is not None and answer not in part["answers"]:
            continue
        for position, token in enumerate(inputs):
            mass *= 1 if rows == "uniform" else int(rows[position][token], 16)
        total += mass
    return total


def run(name: str, stride: int = 1, offset: int = 0) -> Score:
    """Every `stride`-th mutant of a certificate, judged."""
    score = Score(name)
    original = spelled(golden(name))
    claim = judge(original).claim
    if claim is None:
        raise ValueError(f"{name} is not accepted unchanged")
    for number, mutant in enumerate(mutants(name)):
        if (number + offset) % stride:
            continue
        score.total += 1
        score.operations[mutant.operation] += 1
        label = f"{name}: {mutant.operation} at {mutant.where}"
        data = mutant.make()
        if data == original:
            score.faults.append(label)
            continue
        outcome = judge(data, 10**7)
        score.verdicts[outcome.verdict] += 1
        score.codes[outcome.code] += 1
        if outcome.verdict == "INTERNAL":
            score.crashes.append(f"{label}: {outcome.text}")
        elif outcome.verdict == "VERIFIED" and not true_claim(data):
            score.false.append(label)
        elif outcome.verdict == "VERIFIED" and outcome.claim == claim:
            found = neutral_name(mutant, data, name)
            score.neutral[f"{name}: {found}" if f"{name}: {found}" in NEUTRAL else found] += 1
        elif outcome.verdict == "VERIFIED" and mutant.operation != RESIGNED:
            score.others.append(label)
    return score


def neutral_name(mutant: Mutant, data: bytes, name: str) -> str:
    """The field that a mutant changed; for a change of bytes, the field in which documents differ."""
    if not mutant.where.startswith("byte "):
        return mutant.where
    before, after = dict(nodes(golden(name))), dict(nodes(json.loads(data)))
    paths = [path for path, item in before.items() if not isinstance(item, dict | list) and after.get(path) != item]
    return "+".join(sorted({place(golden(name), path) for path in paths})) or mutant.where


def page(scores: list[Score]) -> str:
    """The published page: it depends on the code alone."""
    total = sum(score.total for score in scores)
    accepted = sum(score.verdicts["VERIFIED"] for score in scores)
    resigned = sum(score.operations[RESIGNED] for score in scores)
    neutral: Counter[str] = Counter()
    codes: Counter[str] = Counter()
    operations: Counter[str] = Counter()
    for score in scores:
        neutral += score.neutral
        codes += score.codes
        operations += score.operations
    others = [label for score in scores for label in score.others]
    false = [label for score in scores for label in score.false]
    crashes = [label for score in scores for label in score.crashes]
    faults = [label for score in scores for label in score.faults]
    lines = [
        "# Mutation of certificates",
        "",
        "Written by `python -m tests.checker.mutate --full`. Every mutant is one change of a valid certificate: of",
        f"each value of the document, of each byte (in {len(EVERY_BIT)} files of each bit), of the length,",
        "of the order of keys, of the spelling of base64 and, with the digest restated, of each bit of each weight.",
        "The truth of every accepted mutant is decided by exhaustive evaluation of its model, which shares no code",
        f"with certifier or checker: counts and masses exactly, mean log-losses to {LOSS_DIGITS} digits. A claim",
        f"about a program must hold over the real numbers, and in {RUNS} runs of every input, of which one errs as far",
        "as the assumptions allow.",
        "",
        "| mutants | accepted though not true | crashes of the checker | mutants that change nothing |",
        "|---|---|---|---|",
        f"| {total} | {len(false)} | {len(crashes)} | {len(faults)} |",
        "",
        f"Accepted and true: {accepted}. Of these, {sum(neutral.values())} state the same claim about the same model",
        f"and differ in a neutral field, {len(others)} state another claim about it, and the rest are among the",
        f"{resigned} mutants whose weights were changed and signed anew: their claim is about another model.",
        "",
        "## Neutral fields",
        "",
        "| field | accepted mutants | why no claim depends on it |",
        "|---|---|---|",
        *(f"| `{name}` | {count} | {NEUTRAL.get(name, '**not listed**')} |" for name, count in sorted(neutral.items())),
        "",
    ]
    if others:
        lines += [
            "## Accepted with another claim about the same model, which is true",
            "",
            *(f"* {x}" for x in others),
            "",
        ]
    lines += [
        "## By certificate",
        "",
        "| certificate | mutants | MALFORMED | REJECTED | RESOURCE | VERIFIED (true) |",
        "|---|---|---|---|---|---|",
        *(
            f"| {s.name} | {s.total} | {s.verdicts['MALFORMED']} | {s.verdicts['REJECTED']} | {s.verdicts['RESOURCE']} "
            f"| {s.verdicts['VERIFIED']} |"
            for s in scores
        ),
        "",
        "## By change",
        "",
        "| change | mutants |",
        "|---|---|",
        *(f"| {name} | {count} |" for name, count in sorted(operations.items())),
        "",
        "## By code of the refusal",
        "",
        "| code | mutants |",
        "|---|---|",
        *(f"| {name} | {count} |" for name, count in sorted(codes.items()) if name),
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    """Run, print, and with --full write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="every mutant, and write docs/mutation.md")
    parser.add_argument("--stride", type=int, default=50, help="without --full: every n-th mutant")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    start = time.perf_counter()
    stride = 1 if options.full else options.stride
    with ProcessPoolExecutor(options.jobs) as pool:
        scores = []
        for score in pool.map(run, GOLDEN, [stride] * len(GOLDEN)):
            scores.append(score)
            done = f"{score.name}: {score.total}, {len(score.false)} false, {time.perf_counter() - start:.0f} s"
            print(done, file=sys.stderr, flush=True)
    text = page(scores)
    if options.full:
        PAGE.write_text(text, "utf-8")
    bad = [label for s in scores for label in (*s.false, *s.crashes, *s.faults)]
    print(text if not options.full else text[: text.index("## By cert")])
    print("\n".join(bad))
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
