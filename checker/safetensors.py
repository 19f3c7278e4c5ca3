"""Reading a safetensors file strictly, and comparing it with the embedded model: only for --model."""

import struct

from .errors import Malformed, Rejected
from .model import ATTENTION, DIMENSION, FORMATS, SHAPES, Model, Tensor, assemble
from .reader import Fields, integer, items, parse_header

ONE = {"BOOL": "01", "U8": "01", "F16": "003c", "BF16": "803f", "F32": "0000803f", "F64": "000000000000f03f"}
BUFFERS = (ATTENTION + "mask", ATTENTION + "IGNORE")  # constants of TransformerLens that hold no weights


def read_safetensors(data: bytes) -> Model:
    """The model in a safetensors file, read strictly: no gaps, overlaps, unknown tensors or trailing bytes."""
    if len(data) < 8 or (length := struct.unpack("<Q", data[:8])[0]) > len(data) - 8:
        raise Malformed("SAFETENSORS", f"{len(data)} bytes hold no complete safetensors header")
    header = parse_header(data[8 : 8 + length])
    Fields(header.pop("__metadata__", {}), "__metadata__")  # a note: an object that nothing reads
    found, spans, mask, one = {}, [], b"", b""
    for name, value in header.items():
        entry = Fields(value, name)
        dtype, place = entry.text("dtype"), f"{name}.shape"
        shape = tuple(integer(size, 1, DIMENSION, place) for size in items(entry.take("shape"), place))
        low, high = (integer(x, 0, len(data), name) for x in _pair(entry.items("data_offsets"), name))
        entry.close()
        spans.append((low, high))
        if name == BUFFERS[0]:
            mask, one = data[8 + length + low : 8 + length + high], bytes.fromhex(ONE.get(dtype, ""))
        if name not in BUFFERS:
            found[name] = Tensor(name, dtype, shape, data[8 + length + low : 8 + length + high])
    end = 0
    for low, high in sorted(spans):
        if low != end or high < low:
            raise Malformed("SAFETENSORS", f"data at {low}..{high}, expected to start at {end}")
        end = high
    if 8 + length + end != len(data):
        raise Malformed("SAFETENSORS", f"{len(data)} bytes, the header accounts for {8 + length + end}")
    unknown = [name for name in found if name not in SHAPES]
    if unknown:
        raise Malformed("TENSOR_LIST", f"unknown tensor {unknown[0]!r}")
    model = assemble(tuple(found[name] for name in SHAPES if name in found))
    size = range(model.sizes["n_ctx"])
    if mask and mask != b"".join(one if j <= i else bytes(len(one)) for i in size for j in size):
        raise Rejected("OTHER_MODEL", f"{BUFFERS[0]} is not the causal mask: the file's model is another function")
    return model


def _pair(values: list[object], place: str) -> list[object]:
    if len(values) != 2:
        raise Malformed("SAFETENSORS", f"{len(values)} data_offsets, expected 2").at(place)
    return values


def compare(embedded: Model, given: Model) -> None:
    """Reject unless both hold the same tensors, bit for bit."""
    theirs = {tensor.name: tensor for tensor in given.tensors}
    ours = {tensor.name: tensor for tensor in embedded.tensors}
    for name in SHAPES:
        a, b = ours.get(name), theirs.get(name)
        if a == b:
            continue
        if a is None or b is None:
            raise Rejected("OTHER_MODEL", f"{name} is only in the {'model file' if a is None else 'certificate'}")
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            raise Rejected("OTHER_MODEL", f"{name}: certificate {a.dtype} {a.shape}, model file {b.dtype} {b.shape}")
        size = FORMATS[a.dtype][0]
        entry = next(i for i in range(0, len(a.data), size) if a.data[i : i + size] != b.data[i : i + size])
        words = (a.data[entry : entry + size][::-1].hex(), b.data[entry : entry + size][::-1].hex())
        raise Rejected("OTHER_MODEL", f"{name}: entry {entry // size} is 0x{words[1]}, in the certificate 0x{words[0]}")
