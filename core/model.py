"""The architecture that is certified, and its weights as exact dyadic numbers.

One layer, one head, attention only, learned absolute positions added to the residual stream, causal mask,
attention scale sqrt(d_head), no normalisation. Names and layout are TransformerLens's; matrices act on row
vectors from the right. A `Model` that exists is valid: the constructor refuses everything else by name.

Not visible in tensors, hence not checkable here: a normalisation without parameters (TransformerLens
"LNPre"), an attention scale other than sqrt(d_head), position embeddings of the "shortformer" kind and soft
caps. `checkpoint.from_transformer_lens` checks them from the configuration.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from .errors import CompactProofsError, shown

ITEMSIZE: Final = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "BOOL": 1, "U8": 1}
"""Bytes per number. BOOL and U8 occur only in buffers that are checked and dropped."""

MAX_BYTES: Final = 256 << 20
"""Largest model that is accepted, in bytes as stored."""

LAYOUT: Final = {"F64": (11, 52), "F32": (8, 23), "F16": (5, 10), "BF16": (8, 7)}
"""Widths in bits of the exponent and fraction fields of the number formats that weights may have."""

SHAPES: Final = {
    "embed.W_E": ("d_vocab", "d_model"),
    "pos_embed.W_pos": ("n_ctx", "d_model"),
    "blocks.0.attn.W_Q": ("1", "d_model", "d_head"),
    "blocks.0.attn.W_K": ("1", "d_model", "d_head"),
    "blocks.0.attn.W_V": ("1", "d_model", "d_head"),
    "blocks.0.attn.W_O": ("1", "d_head", "d_model"),
    "unembed.W_U": ("d_model", "d_vocab_out"),
    "blocks.0.attn.b_Q": ("1", "d_head"),
    "blocks.0.attn.b_K": ("1", "d_head"),
    "blocks.0.attn.b_V": ("1", "d_head"),
    "blocks.0.attn.b_O": ("d_model",),
    "unembed.b_U": ("d_vocab_out",),
}
"""Tensors in canonical order with their shapes; a leading 1 is the number of heads."""

BIASES: Final = frozenset(name for name in SHAPES if ".b_" in name)
"""The tensors that may be absent. A present one, zero or not, is part of the function."""

MASK: Final = "blocks.0.attn.mask"
IGNORE: Final = "blocks.0.attn.IGNORE"

ARCHITECTURE: Final = "one layer, one head, attention only, no normalisation, learned positions"

# First match wins. These names get a reason of their own; any other unknown name is MODEL_UNKNOWN.
FOREIGN: Final = (
    (r"blocks\.(?!0\.)\d+\..*", "MODEL_LAYERS", "a tensor of a second layer; exactly one layer is supported"),
    (r"blocks\.0\.attn\._[Wb]_[KV]", "MODEL_GROUPED_HEADS", "grouped-query attention; needed one plain head"),
    (r".*rotary.*", "MODEL_ROTARY", "rotary positions; needed learned positions, pos_embed.W_pos"),
    (r".*[qk]_norm\..*|(.*\.)?ln(\d|_|\.).*", "MODEL_NORM", "normalisation; the model must have none"),
    (r"blocks\.0\.mlp\..*", "MODEL_MLP", "a tensor of an MLP; the model must be attention only"),
    (
        r"(module|model|_orig_mod)\..*",
        "MODEL_PREFIX",
        "a wrapper's prefix; save the inner model's state dict",
    ),
)


@dataclass(frozen=True, slots=True)
class Tensor:
    """Numbers as stored: row-major, little-endian.

    Raises TENSOR_DTYPE for a format outside ITEMSIZE, TENSOR_SIZE when data and shape disagree.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    data: bytes

    def __post_init__(self) -> None:
        if self.dtype not in ITEMSIZE:
            text = f"dtype {shown(self.dtype)}, needed one of {', '.join(ITEMSIZE)}"
            raise CompactProofsError("TENSOR_DTYPE", text, place=self.name)
        needed = math.prod(self.shape) * ITEMSIZE[self.dtype]
        if any(d < 0 for d in self.shape) or len(self.data) != needed:
            text = f"{len(self.data)} bytes, shape {list(self.shape)} of {self.dtype} needs {needed}"
            raise CompactProofsError("TENSOR_SIZE", text, place=self.name)

    def exact(self) -> tuple[list[int], int]:
        """Integers n (flat, row-major) and one exponent e with value = n * 2**e, exactly.

        e is the largest exponent for which all n are integers, 0 when every value is zero; so equal values
        give equal results whatever the stored format. Raises TENSOR_NOT_FINITE and TENSOR_DTYPE.
        """
        mantissa, exponent = _decode(self)
        nonzero = mantissa != 0
        if not nonzero.any():
            return [0] * mantissa.size, 0
        # The lowest set bit is a power of two below 2**53, so frexp reads off its position exactly.
        zeros = np.where(nonzero, np.frexp((mantissa & -mantissa).astype(np.float64))[1] - 1, 0)
        odd = mantissa >> zeros
        exponent = exponent + zeros
        common = int(exponent[nonzero].min())
        shift = np.where(nonzero, exponent - common, 0)
        bits = int((np.frexp(odd.astype(np.float64))[1] + shift).max())
        if bits <= 62:
            flat: list[int] = (odd << shift).tolist()
            return flat, common
        return [n << s for n, s in zip(odd.tolist(), shift.tolist(), strict=True)], common

    def check_finite(self) -> None:
        """Raises TENSOR_NOT_FINITE, naming the first index, and TENSOR_DTYPE for a format of buffers."""
        bits, exponent_bits, fraction_bits = _bits(self)
        top = (1 << exponent_bits) - 1
        bad = ((bits >> np.uint64(fraction_bits)) & np.uint64(top)) == top
        if bad.any():
            flat = int(bad.argmax())
            index = [int(i) for i in np.unravel_index(flat, self.shape)] if self.shape else []
            fraction = int(bits[flat]) & ((1 << fraction_bits) - 1)
            kind = "NaN" if fraction else "infinity"
            text = f"{kind} at index {index}; every weight must be a finite number"
            raise CompactProofsError("TENSOR_NOT_FINITE", text, place=self.name)


def _bits(tensor: Tensor) -> tuple[npt.NDArray[np.uint64], int, int]:
    """Bit patterns of a float tensor, and the widths of the exponent and fraction fields."""
    if tensor.dtype not in LAYOUT:
        text = f"dtype {tensor.dtype}, a weight must be one of {', '.join(LAYOUT)}"
        raise CompactProofsError("TENSOR_DTYPE", text, place=tensor.name)
    raw = np.frombuffer(tensor.data, dtype=f"<u{ITEMSIZE[tensor.dtype]}")
    return raw.astype(np.uint64), *LAYOUT[tensor.dtype]


def _decode(tensor: Tensor) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Arrays (m, e) with value = m * 2**e and |m| < 2**53, both flat."""
    tensor.check_finite()
    bits, exponent_bits, fraction_bits = _bits(tensor)
    pattern = bits.view(np.int64)
    fraction = pattern & ((1 << fraction_bits) - 1)
    field = (pattern >> fraction_bits) & ((1 << exponent_bits) - 1)
    # Field 0 is subnormal: no hidden one, and the exponent of field 1.
    magnitude = np.where(field == 0, fraction, fraction | (1 << fraction_bits))
    bias = (1 << (exponent_bits - 1)) - 1
    exponent = np.maximum(field, 1) - (bias + fraction_bits)
    negative = (pattern >> (exponent_bits + fraction_bits)) & 1 != 0
    return np.where(negative, -magnitude, magnitude), exponent


@dataclass(frozen=True, slots=True)
class Model:
    """A valid model of the architecture: the tensors in canonical order, all finite.

    `source` names the file (or the kind of object) in messages. `metadata` is a note: nothing is derived
    from it. Raises the MODEL_* codes of `build`, and TENSOR_NOT_FINITE.
    """

    source: str
    tensors: tuple[Tensor, ...]
    metadata: dict[str, str]

    def __post_init__(self) -> None:
        names = tuple(t.name for t in self.tensors)
        if names != tuple(name for name in SHAPES if name in names):
            text = f"tensors {shown(names)} are not in canonical order; use build"
            raise CompactProofsError("MODEL_ORDER", text, self.source)
        _check_present(self.source, frozenset(names))
        _check_shapes(self.source, self.tensors)
        for tensor in self.tensors:
            try:
                tensor.check_finite()
            except CompactProofsError as error:
                raise error.within(self.source) from None

    def __repr__(self) -> str:
        sizes = f"{self.d_vocab} tokens, {self.n_ctx} positions, d_model {self.d_model}, d_head {self.d_head}"
        return f"Model({self.source}: {sizes}, sha256:{self.sha256[:8]})"

    def has(self, name: str) -> bool:
        """Whether the tensor is present (only biases may be absent)."""
        return any(t.name == name for t in self.tensors)

    def tensor(self, name: str) -> Tensor:
        """The tensor of that name; MODEL_MISSING when it is absent."""
        for tensor in self.tensors:
            if tensor.name == name:
                return tensor
        raise CompactProofsError("MODEL_MISSING", f"the model has no tensor {shown(name)}", self.source, name)

    @property
    def d_vocab(self) -> int:
        """Number of input tokens."""
        return self.tensor("embed.W_E").shape[0]

    @property
    def d_model(self) -> int:
        """Width of the residual stream."""
        return self.tensor("embed.W_E").shape[1]

    @property
    def n_ctx(self) -> int:
        """Number of positions."""
        return self.tensor("pos_embed.W_pos").shape[0]

    @property
    def d_head(self) -> int:
        """Width of the attention head; scores are divided by its square root."""
        return self.tensor("blocks.0.attn.W_Q").shape[2]

    @property
    def d_vocab_out(self) -> int:
        """Number of output tokens."""
        return self.tensor("unembed.W_U").shape[1]

    @property
    def sha256(self) -> str:
        """Hex digest over, per tensor in order, the line "NAME DTYPE D0xD1x...\\n" and the raw bytes."""
        digest = hashlib.sha256()
        for t in self.tensors:
            digest.update(f"{t.name} {t.dtype} {'x'.join(map(str, t.shape))}\n".encode("ascii"))
            digest.update(t.data)
        return digest.hexdigest()


def build(source: str, tensors: Iterable[Tensor], metadata: dict[str, str]) -> Model:
    """A model from tensors in any order; the attention buffers are checked and dropped.

    Raises MODEL_DUPLICATE, MODEL_MISSING, MODEL_SHAPE, MODEL_DTYPE, MODEL_EMPTY, MODEL_HEADS, MODEL_BUFFER
    and, for tensors of other architectures, MODEL_LAYERS, MODEL_GROUPED_HEADS, MODEL_ROTARY, MODEL_NORM,
    MODEL_MLP, MODEL_PREFIX, MODEL_UNKNOWN; TENSOR_NOT_FINITE.
    """
    found: dict[str, Tensor] = {}
    for tensor in tensors:
        if tensor.name in found:
            raise CompactProofsError("MODEL_DUPLICATE", "the tensor is given twice", source, tensor.name)
        found[tensor.name] = tensor
    for name in found:
        _check_known(source, name)
    model = Model(source, tuple(found[name] for name in SHAPES if name in found), metadata)
    if MASK in found:
        _check_mask(source, found[MASK], model.n_ctx)
    if IGNORE in found and math.prod(found[IGNORE].shape) != 1:
        text = f"shape {list(found[IGNORE].shape)}, needed a scalar"
        raise CompactProofsError("MODEL_BUFFER", text, source, IGNORE)
    return model


def _check_known(source: str, name: str) -> None:
    if name in SHAPES or name in (MASK, IGNORE):
        return
    for pattern, code, reason in FOREIGN:
        if re.fullmatch(pattern, name, re.DOTALL):
            raise CompactProofsError(code, reason, source, name)
    text = f"unknown tensor; the architecture ({ARCHITECTURE}) has {', '.join(SHAPES)}"
    raise CompactProofsError("MODEL_UNKNOWN", text, source, name)


def _check_present(source: str, names: frozenset[str]) -> None:
    for name, shape in SHAPES.items():
        if name in names or name in BIASES:
            continue
        text = f"missing; the architecture ({ARCHITECTURE}) needs it with shape [{', '.join(shape)}]"
        if name == "pos_embed.W_pos":
            text += "; rotary, ALiBi or relative positions are not supported"
        raise CompactProofsError("MODEL_MISSING", text, source, name)


def _check_shapes(source: str, tensors: tuple[Tensor, ...]) -> None:
    """Every tensor against its symbolic shape; the first to use a symbol fixes its value."""
    sizes: dict[str, int] = {"1": 1}
    origin: dict[str, str] = {"1": "one head"}
    for t in tensors:
        if t.dtype not in LAYOUT:
            text = f"dtype {t.dtype}, a weight must be one of {', '.join(LAYOUT)}"
            raise CompactProofsError("MODEL_DTYPE", text, source, t.name)
        symbols = SHAPES[t.name]
        needed = f"needed [{', '.join(symbols)}]"
        if len(t.shape) != len(symbols):
            text = f"shape {list(t.shape)} has rank {len(t.shape)}, {needed}"
            raise CompactProofsError("MODEL_SHAPE", text, source, t.name)
        if 0 in t.shape:
            text = f"shape {list(t.shape)} has an empty dimension, {needed}"
            raise CompactProofsError("MODEL_EMPTY", text, source, t.name)
        if symbols[0] == "1" and t.shape[0] != 1:
            text = f"shape {list(t.shape)} has {t.shape[0]} heads, {needed}: one head"
            raise CompactProofsError("MODEL_HEADS", text, source, t.name)
        for symbol, size in zip(symbols, t.shape, strict=True):
            if sizes.setdefault(symbol, size) != size:
                known = f"{symbol} = {sizes[symbol]} (from {origin[symbol]})"
                text = f"shape {list(t.shape)}, {needed} with {known}"
                raise CompactProofsError("MODEL_SHAPE", text, source, t.name)
            origin.setdefault(symbol, t.name)


def _check_mask(source: str, mask: Tensor, n_ctx: int) -> None:
    """Only the causal mask may be dropped; a local or bidirectional one is another function."""
    if mask.shape != (n_ctx, n_ctx):
        text = f"{mask.dtype} of shape {list(mask.shape)}, needed shape {[n_ctx, n_ctx]}"
        raise CompactProofsError("MODEL_BUFFER", text, source, MASK)
    stored = np.frombuffer(mask.data, dtype=np.uint8)
    if mask.dtype in LAYOUT:  # 0.0 and 1.0
        exponent_bits, fraction_bits = LAYOUT[mask.dtype]
        bits, one = _bits(mask)[0], ((1 << exponent_bits - 1) - 1) << fraction_bits
        stored = np.where(bits == one, 1, np.where(bits == 0, 0, 2)).astype(np.uint8)
    stored = stored.reshape(n_ctx, n_ctx)
    wrong = stored != np.tri(n_ctx, dtype=np.uint8)
    if wrong.any():
        row, column = (int(i) for i in np.unravel_index(int(wrong.argmax()), wrong.shape))
        needed = f"needed {int(column <= row)} (lower triangular)"
        value = stored[row, column] if stored[row, column] < 2 or mask.dtype not in LAYOUT else "other than 0 and 1"
        text = f"value {value} at [{row}, {column}], {needed}"
        raise CompactProofsError("MODEL_BUFFER", text, source, MASK)
