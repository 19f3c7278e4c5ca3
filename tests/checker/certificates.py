"""Tiny models, valid certificates of every kind, and the checker's word on any bytes.

A new kind of proof adds one row to `GOLDEN`; corpus, mutation and second checker take it from there.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import random
import struct
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

from compactproofs.checker import __main__ as command
from compactproofs.checker.errors import Refusal
from compactproofs.checker.kernel import check, read_document
from compactproofs.core.claim import dyadic, parse
from compactproofs.core.float_semantics import find_float
from compactproofs.core.log_loss import Bands, log_loss
from compactproofs.core.model import LAYOUT, SHAPES, Model, Tensor, build
from compactproofs.core.problem import Problem
from compactproofs.core.proof import Builder, Proof, hexadecimal
from compactproofs.core.question import answer, question_of
from compactproofs.core.semantics import Semantics
from compactproofs.core.strategies import strategy as find_strategy
from compactproofs.core.strategies.convolution import Goal, margin_convolution
from compactproofs.core.task import Task, task_for
from compactproofs.emit.certificate import document, encode

Document = dict[str, Any]
Numbers = list[float]
ATTENTION = "blocks.0.attn."
BINARY32 = Semantics("binary32", 4, "flush")
REQUIRED = tuple(name for name in SHAPES if ".b_" not in name)
BIASES = tuple(name for name in SHAPES if ".b_" in name)
LIMIT = 10**8  # operations that the harness allows; no tiny certificate needs a thousandth of it


# --- models ------------------------------------------------------------------------------------------


def pack(numbers: Iterable[float], dtype: str) -> bytes:
    """Numbers as stored; all must be representable (the caller picks dyadic ones)."""
    values = list(numbers)
    if dtype == "BF16":
        return b"".join(struct.pack("<f", x)[2:] for x in values)
    return struct.pack(f"<{len(values)}{ {'F64': 'd', 'F32': 'f', 'F16': 'e'}[dtype] }", *values)


def model_of(numbers: dict[str, Numbers], sizes: dict[str, int], dtype: str | dict[str, str] = "F16") -> Model:
    """A model from flat lists; `dtype` for all tensors or for each."""
    tensors = []
    for name, values in numbers.items():
        kind = dtype if isinstance(dtype, str) else dtype.get(name, "F16")
        tensors.append(Tensor(name, kind, tuple({"1": 1, **sizes}[s] for s in SHAPES[name]), pack(values, kind)))
    return build("tiny.safetensors", tensors, {})


def count_of(name: str, sizes: dict[str, int]) -> int:
    """How many numbers a tensor holds."""
    total = 1
    for symbol in SHAPES[name]:
        total *= {"1": 1, **sizes}[symbol]
    return total


def random_model(
    seed: int,
    vocab: int = 3,
    context: int = 2,
    outputs: int | None = None,
    width: int = 2,
    head: int = 2,
    dtype: str = "F16",
    biases: Iterable[str] = (),
) -> Model:
    """Multiples of 1/4 between -2 and 2."""
    rng = random.Random(seed)
    sizes = {"d_vocab": vocab, "d_vocab_out": outputs or vocab, "n_ctx": context, "d_model": width, "d_head": head}
    chosen = set(biases)
    numbers = {
        name: [rng.randrange(-8, 9) / 4 for _ in range(count_of(name, sizes))]
        for name in SHAPES
        if name in REQUIRED or name in chosen
    }
    return model_of(numbers, sizes, dtype)


def planted(
    vocab: int = 3,
    context: int = 3,
    pull: float = 2.0,
    gain: float = 4.0,
    dtype: str = "F16",
    noise: int = 0,
    outputs: int | None = None,
) -> Model:
    """A model that finds the maximum: token t is (t, 1), output o gives t*o - o*o/2, attention grows with t.

    `noise` seeds small position embeddings; 0 leaves them out.
    """
    rng = random.Random(noise)
    out = outputs or vocab
    sizes = {"d_vocab": vocab, "d_vocab_out": out, "n_ctx": context, "d_model": 2, "d_head": 1}
    numbers = {
        "embed.W_E": [x for t in range(vocab) for x in (float(t), 1.0)],
        "pos_embed.W_pos": [rng.randrange(-1, 2) / 8 if noise else 0.0 for _ in range(2 * context)],
        ATTENTION + "W_Q": [0.0, 1.0],
        ATTENTION + "W_K": [pull, 0.0],
        ATTENTION + "W_V": [1.0, 0.0],
        ATTENTION + "W_O": [gain, 0.0],
        "unembed.W_U": [*(float(o) for o in range(out)), *(-(gain + 1) * o * o / 2 for o in range(out))],
    }
    return model_of(numbers, sizes, dtype)


# --- certificates ------------------------------------------------------------------------------------


def certify(model: Model, strategy: str, task: Task | None = None, threshold: tuple[int, int] = (0, 0)) -> Document:
    """The project's own certificate as a JSON document."""
    problem = Problem(model, task or task_for(model), threshold)
    return plain(problem, find_strategy(strategy).find(problem, lambda done, total: None))


def able(vocab: int = 3) -> Model:
    """A model that finds the maximum so well that coarse bounds certify something."""
    return planted(vocab=vocab, pull=3.0, gain=24.0, noise=3)


def convolution(model: Model, gap: float, task: Task | None = None, threshold: tuple[int, int] = (0, 0)) -> Document:
    """A two-sided certificate by convolution, the bounds at most `gap` apart."""
    problem = Problem(model, task or task_for(model), threshold)
    return plain(problem, margin_convolution(problem, goal=Goal(gap=gap)))


def plain(problem: Problem, proof: Proof) -> Document:
    """The document of a proof, made of lists and dictionaries of its own."""
    value: Document = json.loads(encode(document(problem, proof)))
    return value


def by_hand(
    model: Model,
    steps: Callable[[Builder, int], tuple[int, int]],
    task: Task | None = None,
    centre: dict[str, Any] | None = None,
) -> Document:
    """A certificate from its own steps: `steps` gets the builder and the margins, and returns lower and upper."""
    problem = Problem(model, task or task_for(model))
    builder = Builder()
    numbers = {name: builder.exact_circuit(name, None if name == "EU" else centre) for name in CIRCUITS}
    weights = builder.add("weights", scores=numbers["EQKE"], positions=numbers["EQKP"], bits=96, grid=72)
    rest = {"direct": numbers["EU"], "values": numbers["EVOU"], "positions": numbers["PVOU"]}
    lower, upper = steps(builder, builder.add("margins", weights=weights, margin_above="0", exponent=0, **rest))
    return plain(problem, Proof("by hand", tuple(builder.steps), lower, upper, 0))


CIRCUITS = ("EQKE", "EQKP", "EVOU", "PVOU", "EU")


def program(model: Model, strategy: str, semantics: Semantics = BINARY32) -> Document:
    """A certificate about a floating-point program."""
    problem = Problem(model, task_for(model), semantics=semantics)
    return plain(problem, find_float(problem, find_strategy(strategy).find, lambda done, total: None))


MIXTURE = "when 1/3 (query in {0,1}) + 2/3 (maximum in {1,2} and position 0 ~ 1/2 {0} + 1/2 {1..2})"


def asked(
    model: Model,
    text: str,
    strategy: str = "margin-tree",
    gap: float | None = None,
    semantics: Semantics | None = None,
) -> Document:
    """A certificate of a claim in words, about parts of a distribution, the log-loss and programs, too."""
    claim = parse(text)
    question = question_of(claim, model, None, semantics)

    def find(problem: Problem, width: float | None = gap) -> Proof:
        if semantics:
            return find_float(problem, find_strategy(strategy).find, lambda done, total: None)
        if strategy == "margin-convolution":
            return margin_convolution(problem, goal=Goal(gap=width, keep=True))
        return find_strategy(strategy).find(problem, lambda done, total: None)

    proof = log_loss(question, find) if question.log_loss else answer(question, find)
    value: Document = json.loads(encode(document(question, proof)))
    return value


def loss_of_programs(model: Model) -> Document:
    """A false step: counts about floating-point programs under a claim about the log-loss over the real numbers."""
    real = question_of(parse("E[log-loss]"), model)
    bands = Bands(real)
    for r in (Fraction(-64), Fraction(1, 2)):
        problem = replace(real.parts[0][1], threshold=dyadic(r), semantics=BINARY32)
        bands.add(r, [find_float(problem, find_strategy("margin-tree").find, lambda done, total: None)])
    value: Document = json.loads(encode(document(real, bands.proof())))
    return value


def resign(value: Document) -> Document:
    """State the digest that fits the tensors: an attacker can always do that."""
    hasher = hashlib.sha256()
    for tensor in value["model"]["tensors"]:
        shape = "x".join(map(str, tensor["shape"]))
        hasher.update(f"{tensor['name']} {tensor['dtype']} {shape}\n".encode() + base64.b64decode(tensor["data"]))
    value["model"]["sha256"] = hasher.hexdigest()
    return value


def spelled(value: object) -> bytes:
    """The canonical bytes of any JSON value."""
    return (json.dumps(value, sort_keys=True, separators=(",", ":")) + "\n").encode("ascii")


def _counted(rule: str, span: list[int], model: Model, builder: Builder, margins: int) -> tuple[int, int, int]:
    """One counting step over one span; right and wrong come from the oracle, not from a checker."""
    from oracle import Oracle

    m, low, high = span
    verdicts = [
        v for sequence, v in Oracle(model, task_for(model)).all() if low <= sequence[-1] < high and max(sequence) == m
    ]
    right, wrong = verdicts.count(True), verdicts.count(False)
    more = {"digits": 64, "logit_bits": 64} if rule == "enumerate" else {"digits": 64}
    number = builder.add(
        rule, margins=margins, region=[span], right=hexadecimal(right), wrong=hexadecimal(wrong), **more
    )
    return number, right, wrong


def union_of(model: Model, rules: tuple[str, ...] = ("enumerate", "margin_tree")) -> Document:
    """The spans of a task, counted one by one with rules in turn, and joined."""

    def steps(builder: Builder, margins: int) -> tuple[int, int]:
        task = task_for(model)
        spans = [[m, q, q + 1] for m in range(task.tokens) for q in range(m + 1)]
        counts = [_counted(rules[i % len(rules)], span, model, builder, margins) for i, span in enumerate(spans)]
        builder.add("conclude", of=builder.add("disjoint_union", of=[number for number, _, _ in counts]))
        return sum(right for _, right, _ in counts), task.total - sum(wrong for _, _, wrong in counts)

    return by_hand(model, steps)


def part_of(model: Model) -> Document:
    """A count over the largest token only: a true, weak claim."""

    def steps(builder: Builder, margins: int) -> tuple[int, int]:
        task = task_for(model)
        number, right, wrong = _counted("margin_tree", [task.tokens - 1, 0, task.tokens], model, builder, margins)
        builder.add("conclude", of=number)
        return right, task.total - wrong

    return by_hand(model, steps)


def weighted(model: Model, masses: list[list[str]]) -> Document:
    """A claim about inputs whose tokens have stated weights, by the margin tree."""
    task = task_for(model)

    def mass(tokens: tuple[int, ...]) -> int:
        return prod(int(row[t], 16) for row, t in zip(masses, tokens, strict=True))

    def steps(builder: Builder, margins: int) -> tuple[int, int]:
        from oracle import Oracle

        verdicts = [(verdict, mass(tokens)) for tokens, verdict in Oracle(model, task).all()]
        right = sum(size for verdict, size in verdicts if verdict)
        wrong = sum(size for verdict, size in verdicts if not verdict)
        stated = {"right": hexadecimal(right), "wrong": hexadecimal(wrong)}
        region = [list(span) for span in task.whole()]
        builder.add("conclude", of=builder.add("margin_tree", margins=margins, region=region, digits=64, **stated))
        return right, right

    value = by_hand(model, steps)
    total = prod(sum(int(weight, 16) for weight in row) for row in masses)
    value["claim"]["distribution"] = masses
    value["claim"]["bounds"]["total"] = f"{total:x}"
    return value


def denormal() -> Model:
    """Float16 weights of which some are subnormal, and one is a negative zero."""
    model = random_model(1)
    tensors = []
    for tensor in model.tensors:
        data = bytearray(tensor.data)
        if tensor.name == "embed.W_E":
            data[0:4] = b"\x01\x00\xff\x83"  # the smallest number, and the largest subnormal, negated
        if tensor.name == "pos_embed.W_pos":
            data[0:2] = b"\x00\x80"
        tensors.append(Tensor(tensor.name, tensor.dtype, tensor.shape, bytes(data)))
    return build("tiny.safetensors", tensors, {})


CENTRE = {"values": ["-3", "5"], "exponent": -2}

GOLDEN: dict[str, Callable[[], Document]] = {
    "enumerate": lambda: certify(random_model(1), "brute-force"),
    "margin_tree": lambda: certify(random_model(1, context=3), "margin-tree"),
    "pure_sequences": lambda: certify(planted(noise=1), "cubic"),
    "union": lambda: union_of(random_model(1)),
    "part": lambda: part_of(random_model(1)),
    "centred": lambda: by_hand(
        random_model(1),
        lambda builder, margins: _whole(builder, margins, random_model(1)),
        centre=CENTRE,
    ),
    "biases": lambda: certify(random_model(19, biases=BIASES), "margin-tree"),
    "end_token": lambda: certify(random_model(1, vocab=4, outputs=3, context=3), "margin-tree", Task("max", 2, 3, 3)),
    "min": lambda: certify(random_model(2, outputs=4), "margin-tree", Task("min", 2, 3)),
    "restricted": lambda: certify(random_model(2, vocab=4), "brute-force", Task("max", 2, 3)),
    "threshold": lambda: certify(planted(noise=1), "margin-tree", None, (3, -1)),
    "length_1": lambda: certify(random_model(9, context=1), "brute-force"),
    "one_output": lambda: certify(random_model(1, outputs=1), "cubic", Task("max", 2, 1)),
    "weighted": lambda: weighted(random_model(44), [["9", "2", "4"], ["5", "3", "9"]]),
    "denormal": lambda: certify(denormal(), "margin-tree"),
    "gap_classes": lambda: certify(able(), "subcubic:3"),
    "row_norm": lambda: certify(able(), "subcubic:1"),
    "row_exact": lambda: certify(able(), "subcubic:9"),
    "convolution": lambda: convolution(random_model(3, context=3), 0.4),
    "program": lambda: program(planted(noise=1), "margin-tree"),
    "program_mixture": lambda: asked(
        random_model(4), f"accuracy {MIXTURE}", semantics=Semantics("binary16", 4, "gradual")
    ),
    "mixture": lambda: asked(random_model(2), f"P(margin > -1/4) {MIXTURE}"),
    "mixture_convolution": lambda: asked(random_model(8), f"accuracy {MIXTURE}", "margin-convolution", 0.4),
    "given": lambda: asked(random_model(2, outputs=4), "accuracy of min when minimum in {0}", "brute-force"),
    "log_loss": lambda: asked(planted(noise=1), "E[log-loss]"),
    "log_loss_mixture": lambda: asked(random_model(3), f"E[log-loss] {MIXTURE}"),
    "float64": lambda: certify(random_model(1, dtype="F64"), "margin-tree"),
    "float32": lambda: certify(random_model(1, dtype="F32"), "brute-force"),
    "bfloat16": lambda: certify(random_model(1, dtype="BF16"), "cubic"),
}
"""Name -> builder of one valid certificate of that kind."""


def _whole(builder: Builder, margins: int, model: Model) -> tuple[int, int]:
    from oracle import Oracle

    task = task_for(model)
    verdicts = [verdict for _, verdict in Oracle(model, task).all()]
    right, wrong = verdicts.count(True), verdicts.count(False)
    region = [list(span) for span in task.whole()]
    stated = {"right": hexadecimal(right), "wrong": hexadecimal(wrong)}
    builder.add("conclude", of=builder.add("margin_tree", margins=margins, region=region, digits=64, **stated))
    return right, task.total - wrong


ACCEPT = Path(__file__).resolve().parent.parent / "data" / "accept"


def golden(name: str) -> Document:
    """A copy of the committed valid certificate of that kind, free to be spoilt.

    Committed ones are kept when the certifier changes: old certificates must stay valid. `make.py --golden NAME` makes
    one anew.
    """
    value: Document = json.loads((ACCEPT / f"{name}.json").read_bytes())
    return value


def step_of(value: Document, rule: str, occurrence: int = 0) -> Document:
    """The n-th step of a rule (negative: from the end)."""
    step: Document = [step for step in value["proof"] if step["rule"] == rule][occurrence]
    return step


# --- what the checker says ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """Verdict, code ("" when verified) and, when verified, the claim with the digest of its model."""

    verdict: str
    code: str = ""
    claim: object = None
    text: str = ""


def judge(data: bytes, limit: int = LIMIT) -> Outcome:
    """The kernel on bytes, without a command line: for many thousands of files."""
    try:
        verified = check(read_document(data), limit, lambda rule, fact: None)
    except Refusal as refusal:
        return Outcome(refusal.verdict, refusal.code, text=str(refusal))
    except Exception as fault:
        return Outcome("INTERNAL", type(fault).__name__, text=repr(fault))
    return Outcome("VERIFIED", "", (verified.claim, verified.digest))


def run_command(*argv: str) -> tuple[int, str, str]:
    """Status, stdout and stderr of the command, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = command.decide(list(argv))
    return status, out.getvalue(), err.getvalue()


STATUS = {"VERIFIED": 0, "REJECTED": 1, "MALFORMED": 2, "INTERNAL": 3, "RESOURCE": 4}


def command_outcome(*argv: str) -> Outcome:
    """The verdict of the command; it must be alone on the last line, and agree with the status and with --json."""
    status, out, err = run_command(*argv)
    lines = out.splitlines()
    verdict = lines[-1] if lines else ""
    if STATUS.get(verdict) != status:
        raise AssertionError(f"status {status} with last line {verdict!r}: {err}")
    if any(line in STATUS for line in lines[:-1]):
        raise AssertionError(f"more than one verdict on stdout: {out!r}")
    again, report_text, _ = run_command(*argv, "--json")
    report = json.loads(report_text)
    if (again, report["verdict"], report["status"]) != (status, verdict, status):
        raise AssertionError(f"--json says {report_text} with status {again}, the text says {verdict}")
    return Outcome(verdict, report.get("code", ""), report.get("claim"), err)


def finite(dtype: str, word: int) -> bool:
    """Whether a bit pattern is a number."""
    exponent, fraction = LAYOUT[dtype]
    return word >> fraction & (1 << exponent) - 1 != (1 << exponent) - 1
