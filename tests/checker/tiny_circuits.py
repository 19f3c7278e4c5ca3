"""Random tiny circuits of many temperaments, and planted ones whose accuracy is known."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass

from certificates import ATTENTION, BIASES, REQUIRED, count_of, model_of
from compactproofs.core.model import Model
from compactproofs.core.task import Task

STYLES = ("plain", "positional", "weak_copying", "near_tie", "large", "tiny", "sparse", "constant", "twins", "maximal")
DTYPES = ("F16", "BF16", "F32", "F64")
SCALES = {"large": 2.0**2, "tiny": 2.0**-7}


@dataclass(frozen=True)
class Circuit:
    """A model with a task and a threshold."""

    name: str
    model: Model
    task: Task
    threshold: tuple[int, int]


def circuit(seed: int) -> Circuit:
    """The circuit of a seed: style, format, task and threshold follow from it."""
    rng = random.Random(seed)
    style = STYLES[seed % len(STYLES)]
    dtype = rng.choice(DTYPES)
    tokens = rng.choice((2, 3, 3, 4))
    eos = rng.random() < 0.2
    length = rng.choice((1, 2, 2, 3, 3) if tokens < 4 else (1, 2, 2))
    extra = rng.choice((0, 0, 1))  # tokens outside the task
    vocab = tokens + extra + int(eos)
    sizes = {
        "d_vocab": vocab,
        "d_vocab_out": tokens + rng.choice((0, 0, 1)),
        "n_ctx": length + int(eos),
        "d_model": rng.choice((1, 2, 3)),
        "d_head": rng.choice((1, 2, 3)),
    }
    numbers = {name: [_number(rng, style, name) for _ in range(count_of(name, sizes))] for name in REQUIRED}
    for name in BIASES:
        if rng.random() < 0.25:
            numbers[name] = [rng.randrange(-4, 5) / 4 for _ in range(count_of(name, sizes))]
    _shape(style, numbers, sizes, rng, dtype)
    kind = "min" if rng.random() < 0.25 else "max"
    threshold = rng.choice(((0, 0), (0, 0), (0, 0), (1, -3), (-3, -4), (1, 2)))
    task = Task(kind, length, tokens, vocab - 1 if eos else None)  # type: ignore[arg-type]
    return Circuit(f"{style}_{seed}", model_of(numbers, sizes, dtype), task, threshold)


def _number(rng: random.Random, style: str, name: str) -> float:
    """A dyadic number of at most seven significant bits, which every format holds."""
    value = rng.randrange(-8, 9) / 4
    if style == "sparse" and rng.random() < 0.6:
        return 0.0
    if style == "positional":
        return value * 8 if name.startswith("pos") else value / 2
    if style == "weak_copying":
        return value / 8 if name.endswith(("W_V", "W_O")) else value
    if style in SCALES and name.startswith("blocks"):
        return value * SCALES[style] if name.endswith(("W_Q", "W_K")) else value
    if style == "tiny" and name.startswith(("embed", "pos")):
        return value * 2.0**-6
    return value


def _shape(style: str, numbers: dict[str, list[float]], sizes: dict[str, int], rng: random.Random, dtype: str) -> None:
    """What a style asks of whole rows and columns."""
    width, outputs = sizes["d_model"], sizes["d_vocab_out"]
    embed, unembed = numbers["embed.W_E"], numbers["unembed.W_U"]
    if style == "constant":
        for t in range(1, sizes["d_vocab"]):
            if rng.random() < 0.7:
                embed[t * width : (t + 1) * width] = embed[:width]
    if style in ("twins", "near_tie"):
        a, b = rng.sample(range(outputs), 2)
        for row in range(width):
            unembed[row * outputs + a] = unembed[row * outputs + b]
    if style == "near_tie":
        spread = {"F64": 2.0**-48, "F32": 2.0**-19, "F16": 2.0**-6, "BF16": 2.0**-5}[dtype]
        row = rng.randrange(width)
        unembed[row * outputs + a] += rng.choice((-1, 1)) * spread * rng.choice((1, 1, 0))
    if style == "maximal":
        # token t is its own number, attention grows with it, and outputs compete by t*o - o*o/2
        for t in range(sizes["d_vocab"]):
            embed[t * width] = float(t)
        for name in ("W_V", "W_O", "W_Q", "W_K"):
            numbers[ATTENTION + name][0] = rng.choice((1.0, 2.0))
        for o in range(outputs):
            unembed[o] = float(o)
        numbers["unembed.b_U"] = [-rng.choice((2, 3, 4, 6)) * o * o / 2 for o in range(outputs)]
        numbers["pos_embed.W_pos"] = [x / 8 for x in numbers["pos_embed.W_pos"]]


def cancellation(sign: int, bits: int = 200) -> Circuit:
    """Two tokens whose contributions, equally weighted, differ by sign * 2**-bits: the accuracy is known.

    Inputs (0, 0) and (1, 1) are right; (0, 1) and (1, 0) are right iff sign > 0, and ties iff it is 0.
    """
    half = 2.0 ** -(bits // 2)
    sizes = {"d_vocab": 2, "d_vocab_out": 2, "n_ctx": 2, "d_model": 4, "d_head": 2}
    numbers = {
        "embed.W_E": [-1.0, 0.0, 0.0, 0.0, 1.0, sign * half, 0.0, 0.0],
        "pos_embed.W_pos": [0.0] * 8,
        ATTENTION + "W_Q": [0.0] * 8,
        ATTENTION + "W_K": [0.0] * 8,
        ATTENTION + "W_V": [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        ATTENTION + "W_O": [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        "unembed.W_U": [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, half],
    }
    return Circuit(f"cancellation_{sign}", model_of(numbers, sizes, "F64"), Task("max", 2, 2, None), (0, 0))


def whisper(sign: int, bits: int = 200) -> Circuit:
    """The logits differ by 2**-bits through the direct path alone; sign -1 prefers the wrong token always."""
    sizes = {"d_vocab": 2, "d_vocab_out": 2, "n_ctx": 1, "d_model": 1, "d_head": 1}
    numbers = {name: [0.0] * count_of(name, sizes) for name in REQUIRED}
    numbers["embed.W_E"] = [-1.0, 1.0]
    numbers["unembed.W_U"] = [0.0, sign * 2.0**-bits]
    return Circuit(f"whisper_{sign}", model_of(numbers, sizes, "F64"), Task("max", 1, 2, None), (0, 0))


def extreme(seed: int) -> Circuit:
    """Weights at both ends of float32: 2**127 and subnormals, in one model."""
    rng = random.Random(seed)
    sizes = {"d_vocab": 3, "d_vocab_out": 3, "n_ctx": 2, "d_model": 2, "d_head": 1}
    numbers = {}
    for name in REQUIRED:
        bound = 3 if name.endswith(("W_Q", "W_K")) else 126
        values = [
            rng.choice((-1, 1)) * 2.0 ** rng.choice((-149, -130, -3, 0, bound)) for _ in range(count_of(name, sizes))
        ]
        numbers[name] = [struct.unpack("<f", struct.pack("<f", value))[0] for value in values]
    # attention scores stay moderate: the interest is in the logits
    numbers["embed.W_E"] = [rng.choice((-1.0, 0.0, 2.0, 2.0**-149)) for _ in numbers["embed.W_E"]]
    numbers["pos_embed.W_pos"] = [rng.choice((-1.0, 0.5, 2.0**-149)) for _ in numbers["pos_embed.W_pos"]]
    return Circuit(f"extreme_{seed}", model_of(numbers, sizes, "F32"), Task("max", 2, 3, None), (0, 0))
