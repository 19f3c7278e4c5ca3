"""The weights: exact integers from raw bytes, and their digest."""

import base64
import binascii
import hashlib
import struct
from dataclasses import dataclass
from math import prod

from .errors import Malformed
from .numbers import Matrix
from .reader import Fields, integer, items

# name -> names of its dimensions; a tensor after W_U is a bias and may be absent
ATTENTION = "blocks.0.attn."
SHAPES = {
    "embed.W_E": ("d_vocab", "d_model"),
    "pos_embed.W_pos": ("n_ctx", "d_model"),
    ATTENTION + "W_Q": ("1", "d_model", "d_head"),
    ATTENTION + "W_K": ("1", "d_model", "d_head"),
    ATTENTION + "W_V": ("1", "d_model", "d_head"),
    ATTENTION + "W_O": ("1", "d_head", "d_model"),
    "unembed.W_U": ("d_model", "d_vocab_out"),
    ATTENTION + "b_Q": ("1", "d_head"),
    ATTENTION + "b_K": ("1", "d_head"),
    ATTENTION + "b_V": ("1", "d_head"),
    ATTENTION + "b_O": ("d_model",),
    "unembed.b_U": ("d_vocab_out",),
}
REQUIRED = 7
DIMENSION = 1 << 16

# dtype -> (bytes, mantissa bits, exponent bits)
FORMATS = {"F64": (8, 52, 11), "F32": (4, 23, 8), "F16": (2, 10, 5), "BF16": (2, 7, 8)}


@dataclass(frozen=True, slots=True)
class Tensor:
    """One stored tensor: little-endian IEEE numbers, row-major."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    data: bytes

    def matrix(self) -> Matrix:
        """Its numbers exactly, as rows of the last dimension."""
        size, mantissa, width = FORMATS[self.dtype]
        words = struct.unpack(f"<{len(self.data) // size}{'QIH'[(8, 4, 2).index(size)]}", self.data)
        bias = (1 << (width - 1)) - 1
        parts = []
        for index, word in enumerate(words):
            power, fraction = word >> mantissa & (1 << width) - 1, word & (1 << mantissa) - 1
            if power == (1 << width) - 1:
                raise Malformed("NOT_FINITE", f"{self.name}: entry {index} is infinite or not a number")
            n = fraction | (1 << mantissa if power else 0)
            parts.append((-n if word >> (mantissa + width) else n, max(power, 1) - bias - mantissa))
        exponent = min((power for n, power in parts if n), default=0)
        flat = [n << (power - exponent) if n else 0 for n, power in parts]
        columns = self.shape[-1]
        return Matrix(tuple(tuple(flat[i : i + columns]) for i in range(0, len(flat), columns)), exponent)


@dataclass(frozen=True, slots=True)
class Model:
    """The stored tensors in the order of SHAPES, with the sizes they agree on."""

    tensors: tuple[Tensor, ...]
    sizes: dict[str, int]
    matrices: dict[str, Matrix]

    @property
    def entries(self) -> int:
        """Of all tensors together."""
        return sum(prod(tensor.shape) for tensor in self.tensors)

    def digest(self) -> str:
        """SHA-256 over name, dtype, shape and bytes of every tensor in order."""
        hasher = hashlib.sha256()
        for tensor in self.tensors:
            shape = "x".join(map(str, tensor.shape))
            hasher.update(f"{tensor.name} {tensor.dtype} {shape}\n".encode("ascii") + tensor.data)
        return hasher.hexdigest()

    def matrix(self, name: str) -> Matrix:
        """A tensor as a matrix; an absent bias is a row of zeros."""
        if name in self.matrices:
            return self.matrices[name]
        return Matrix(((0,) * self.sizes[SHAPES[name][-1]],), 0)


def assemble(tensors: tuple[Tensor, ...]) -> Model:
    """Check names, order, dtypes, shapes and byte counts; every entry must be finite, even where no rule reads it."""
    names = [tensor.name for tensor in tensors]
    expected = [name for i, name in enumerate(SHAPES) if i < REQUIRED or name in names]
    if names != expected:
        raise Malformed("TENSOR_LIST", f"tensors are {names}, expected {expected}")
    sizes = {"1": 1}
    for tensor in tensors:
        if tensor.dtype not in FORMATS:
            raise Malformed("TENSOR_DTYPE", f"{tensor.name}: dtype {tensor.dtype[:20]!r}, known {list(FORMATS)}")
        dimensions = SHAPES[tensor.name]
        if len(dimensions) != len(tensor.shape):
            raise Malformed("TENSOR_SHAPE", f"{tensor.name}: shape {tensor.shape}, expected {dimensions}")
        for dimension, size in zip(dimensions, tensor.shape, strict=True):
            if sizes.setdefault(dimension, size) != size:
                raise Malformed("TENSOR_SHAPE", f"{tensor.name}: {dimension} is {size}, before {sizes[dimension]}")
        expected_bytes = prod(tensor.shape) * FORMATS[tensor.dtype][0]
        if len(tensor.data) != expected_bytes:
            raise Malformed("TENSOR_BYTES", f"{tensor.name}: {len(tensor.data)} bytes, shape needs {expected_bytes}")
    return Model(tensors, sizes, {tensor.name: tensor.matrix() for tensor in tensors})


def read_model(fields: Fields) -> Model:
    """The model embedded in a certificate."""
    tensors = []
    for number, item in enumerate(fields.items("tensors")):
        entry = Fields(item, f"{fields.place}.tensors[{number}]")
        name, dtype, place = entry.text("name"), entry.text("dtype"), f"{entry.place}.shape"
        shape = tuple(integer(size, 1, DIMENSION, place) for size in items(entry.take("shape"), place))
        tensors.append(Tensor(name, dtype, shape, _base64(entry.text("data"), entry.place)))
        entry.close()
    model = assemble(tuple(tensors))
    stated = fields.text("sha256")
    fields.close()
    if stated != model.digest():
        raise Malformed("DIGEST", f"sha256 stated {stated[:64]!r}, computed {model.digest()}").at(fields.place)
    return model


def _base64(text: str, place: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as fault:
        raise Malformed("NOT_BASE64", str(fault)).at(place) from None
    if base64.b64encode(data).decode("ascii") != text:
        raise Malformed("NOT_BASE64", "not the canonical spelling").at(place)
    return data
