"""Read and write checkpoints in the safetensors format, strictly: a wrong model is worse than none.

A file is an 8-byte little-endian header length, a JSON header, and the tensors' bytes without holes.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections import Counter
from typing import Final, NoReturn

from .arrays import from_arrays, from_transformer_lens
from .errors import CompactProofsError, shown
from .files import FilePath, reason, write_atomically
from .model import ITEMSIZE, MAX_BYTES, Model, Tensor, build

__all__ = ["decode", "encode", "from_arrays", "from_transformer_lens", "load", "save_safetensors"]

MAX_HEADER: Final = 1 << 20
"""Largest header that is read, in bytes; a dozen tensors need about 1 kB."""

PICKLE_SUFFIXES: Final = (".pt", ".pth", ".ckpt", ".bin", ".pkl", ".pickle")

# Dimensions and offsets: small enough for any product of eight to be formed at once.
NATURAL: Final = re.compile(r"0|[1-9][0-9]{0,14}", re.ASCII)
MAX_RANK: Final = 8


def load(path: FilePath) -> Model:
    """The model in a safetensors file, read once.

    Raises CKPT_PICKLE for torch's own formats, the codes of `read_regular` and of `decode`.
    """
    source = os.fspath(path)
    try:
        data = read_regular(path)
        _refuse_pickle(source, data)
    except CompactProofsError as error:
        raise error.within(source) from None
    return decode(data, source)


def decode(data: bytes, source: str) -> Model:
    """The model in the bytes of a safetensors file.

    Raises CKPT_TRUNCATED, CKPT_HEADER_SIZE, CKPT_HEADER_TEXT, CKPT_HEADER_JSON, CKPT_DUPLICATE, CKPT_NUMBER,
    CKPT_METADATA, CKPT_ENTRY, CKPT_DTYPE, CKPT_OFFSETS, CKPT_SIZE, CKPT_TRAILING; the codes of `model.build`.
    """
    try:
        header, body = _split(data)
        tensors, metadata = _tensors(_parse(header), body)
    except CompactProofsError as error:
        raise error.within(source) from None
    return build(source, tensors, metadata)


def encode(model: Model) -> bytes:
    """The bytes of a safetensors file with this model; the same model gives the same bytes.

    Wide formats come first, so that every tensor is aligned for readers that map the file. Raises what
    `decode` would raise for metadata that a header cannot hold.
    """
    tensors = sorted(model.tensors, key=lambda t: -ITEMSIZE[t.dtype])
    header: dict[str, object] = {}
    if model.metadata:
        try:
            header["__metadata__"] = dict(sorted(_metadata(model.metadata).items()))
        except CompactProofsError as error:
            raise error.within(model.source) from None
    position = 0
    for t in tensors:
        end = position + len(t.data)
        header[t.name] = {"dtype": t.dtype, "shape": list(t.shape), "data_offsets": [position, end]}
        position = end
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    text += b" " * (-len(text) % 8)
    data = b"".join((len(text).to_bytes(8, "little"), text, *(t.data for t in tensors)))
    # What our own reader would refuse (an oversized note, say) must never be published.
    decode(data, model.source)
    return data


def save_safetensors(model: Model, path: FilePath, overwrite: bool = False) -> None:
    """Write the model: the file at `path` is complete or untouched at every moment.

    Raises FILE_EXISTS (without `overwrite`), FILE_NOT_REGULAR, FILE_WRITE and the codes of `encode`.
    """
    write_atomically(path, encode(model), overwrite)


def read_regular(path: FilePath) -> bytes:
    """The bytes of a regular file, read once.

    Raises CKPT_UNREADABLE, CKPT_NOT_REGULAR (a directory, FIFO or device), CKPT_EMPTY, CKPT_TOO_LARGE
    (decided before reading) and CKPT_CHANGED (the size moved while reading).
    """
    try:
        # The first look keeps open() from blocking on a FIFO; the second is about what was really opened.
        _regular_size(os.stat(path))
        with open(path, "rb") as file:
            size = _regular_size(os.fstat(file.fileno()))
            data = file.read(size + 1)
    except (OSError, ValueError) as error:
        raise CompactProofsError("CKPT_UNREADABLE", f"cannot read: {reason(error)}") from None
    if len(data) != size:
        text = f"{size} bytes when opened, {'more' if len(data) > size else len(data)} when read; try again"
        raise CompactProofsError("CKPT_CHANGED", text)
    return data


def _regular_size(status: os.stat_result) -> int:
    if not stat.S_ISREG(status.st_mode):
        kind = stat.filemode(status.st_mode)[0]
        text = f"not a regular file (type {kind!r}); give the path of a safetensors file"
        raise CompactProofsError("CKPT_NOT_REGULAR", text)
    if status.st_size == 0:
        raise CompactProofsError("CKPT_EMPTY", "the file is empty")
    if status.st_size > MAX_BYTES:
        text = f"{status.st_size} bytes, at most {MAX_BYTES} are read"
        raise CompactProofsError("CKPT_TOO_LARGE", text)
    return status.st_size


def _refuse_pickle(source: str, data: bytes) -> None:
    # Byte 8 decides first: a header length may by chance begin like a pickle (0x80 0x02 is 640).
    if data[8:9] == b"{":
        return
    looks = data[:4] == b"PK\x03\x04" or (data[:1] == b"\x80" and data[1:2] in b"\x01\x02\x03\x04\x05")
    if looks or source.lower().endswith(PICKLE_SUFFIXES):
        text = "a pickle or zip, not safetensors; run `compactproofs import FILE -o OUT.safetensors` first"
        raise CompactProofsError("CKPT_PICKLE", text)


def _split(data: bytes) -> tuple[str, bytes]:
    """Header text and tensor bytes. Raises CKPT_TRUNCATED, CKPT_HEADER_SIZE, CKPT_HEADER_TEXT."""
    if len(data) < 8:
        text = f"{len(data)} bytes, the header length alone takes 8; is this a safetensors file?"
        raise CompactProofsError("CKPT_TRUNCATED", text)
    length = int.from_bytes(data[:8], "little")
    if not 2 <= length <= MAX_HEADER:
        text = f"header length {length}, needed 2 to {MAX_HEADER}; is this a safetensors file?"
        if data[:1] == b"{":
            text = "this looks like JSON, perhaps a certificate, which `check` reads; needed is a safetensors file"
        raise CompactProofsError("CKPT_HEADER_SIZE", text)
    if length > len(data) - 8:
        text = f"header of {length} bytes, but only {len(data) - 8} follow; copy the file again"
        raise CompactProofsError("CKPT_TRUNCATED", text)
    try:
        header = data[8 : 8 + length].decode("utf-8")
    except UnicodeDecodeError as error:
        text = f"header byte {error.start} is not UTF-8 ({error.reason})"
        raise CompactProofsError("CKPT_HEADER_TEXT", text) from None
    return header, data[8 + length :]


def _parse(header: str) -> dict[str, object]:
    """The header object. Raises CKPT_HEADER_JSON, CKPT_DUPLICATE, CKPT_NUMBER, CKPT_HEADER_TEXT."""
    text = header.rstrip(" ")
    if not (text.startswith("{") and text.endswith("}")):
        problem = f"header must be one JSON object padded with spaces, begins {shown(header[:20])}"
        raise CompactProofsError("CKPT_HEADER_JSON", problem)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_int=_natural,
            parse_float=_refuse_number,
            parse_constant=_refuse_number,
        )
        # An escape such as \ud800 yields text that no file or terminal can hold.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise CompactProofsError("CKPT_HEADER_JSON", "header is nested too deeply") from None
    except UnicodeEncodeError:
        raise CompactProofsError("CKPT_HEADER_TEXT", "header has an unpaired surrogate escape") from None
    except json.JSONDecodeError as error:
        problem = f"header is not JSON at character {error.pos}: {error.msg}"
        raise CompactProofsError("CKPT_HEADER_JSON", problem) from None
    if not isinstance(value, dict):
        raise CompactProofsError("CKPT_HEADER_JSON", "header must be one JSON object")
    return value


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counts.items() if count > 1)
        raise CompactProofsError("CKPT_DUPLICATE", f"key {shown(twice)} occurs twice in the header")
    return result


def _natural(digits: str) -> int:
    if not NATURAL.fullmatch(digits):
        _refuse_number(digits)
    return int(digits)


def _refuse_number(literal: str) -> NoReturn:
    text = f"number {shown(literal)} in the header, needed a natural number of at most 15 digits"
    raise CompactProofsError("CKPT_NUMBER", text)


def _tensors(header: dict[str, object], body: bytes) -> tuple[list[Tensor], dict[str, str]]:
    """Tensors and metadata.

    Raises CKPT_METADATA, CKPT_ENTRY, CKPT_DTYPE, CKPT_OFFSETS, CKPT_SIZE, CKPT_TRUNCATED, CKPT_TRAILING.
    """
    metadata: dict[str, str] = {}
    tensors: list[Tensor] = []
    position = 0
    for name, entry in header.items():
        if name == "__metadata__":
            metadata = _metadata(entry)
            continue
        try:
            dtype, shape, begin, end = _entry(entry)
            _check_span(dtype, shape, (begin, end), (position, len(body)))
            tensors.append(Tensor(name, dtype, shape, body[begin:end]))
        except CompactProofsError as error:
            raise error.within(place=name) from None
        position = end
    if position != len(body):
        text = f"{len(body) - position} bytes after the last tensor, which ends at {position} of {len(body)}"
        raise CompactProofsError("CKPT_TRAILING", text)
    return tensors, metadata


def _metadata(entry: object) -> dict[str, str]:
    if not isinstance(entry, dict):
        raise CompactProofsError(
            "CKPT_METADATA", f"must be an object of strings, is {shown(entry)}", place="__metadata__"
        )
    for key, value in entry.items():
        if not (isinstance(key, str) and isinstance(value, str)):
            text = f"key {shown(key)} and value {shown(value)} must be strings"
            raise CompactProofsError("CKPT_METADATA", text, place="__metadata__")
    return entry


def _entry(entry: object) -> tuple[str, tuple[int, ...], int, int]:
    """dtype, shape, begin and end (bytes) of one header entry."""
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        text = f"entry {shown(entry)} must have exactly the keys dtype, shape, data_offsets"
        raise CompactProofsError("CKPT_ENTRY", text)
    dtype = entry["dtype"]
    if not isinstance(dtype, str) or dtype not in ITEMSIZE:
        raise CompactProofsError("CKPT_DTYPE", f"dtype {shown(dtype)}, needed one of {', '.join(ITEMSIZE)}")
    shape = _naturals("shape", entry["shape"])
    offsets = _naturals("data_offsets", entry["data_offsets"])
    if len(shape) > MAX_RANK or len(offsets) != 2:
        found = f"shape of {len(shape)} and data_offsets of {len(offsets)} numbers"
        text = f"{found}, needed up to {MAX_RANK} and 2"
        raise CompactProofsError("CKPT_ENTRY", text)
    return dtype, shape, offsets[0], offsets[1]


def _naturals(key: str, value: object) -> tuple[int, ...]:
    # type() and not isinstance: JSON's true is an int to Python.
    if not isinstance(value, list) or any(type(item) is not int for item in value):
        raise CompactProofsError("CKPT_ENTRY", f"{key} {shown(value)} must be a list of natural numbers")
    return tuple(value)


def _check_span(dtype: str, shape: tuple[int, ...], span: tuple[int, int], free: tuple[int, int]) -> None:
    """The span must begin where the last tensor ended, have the shape's size, and end inside the file."""
    begin, end = span
    position, size = free
    if begin != position or end < begin:
        needed_span = f"must begin at {position}, where the tensor before ends, and not end earlier"
        text = f"data_offsets [{begin}, {end}] {needed_span}; save the file again"
        raise CompactProofsError("CKPT_OFFSETS", text)
    needed = ITEMSIZE[dtype]
    for dimension in shape:
        needed *= dimension
    if end - begin != needed:
        text = f"data_offsets span {end - begin} bytes, shape {list(shape)} of {dtype} needs {needed}"
        raise CompactProofsError("CKPT_SIZE", text)
    if end > size:
        text = f"ends at byte {end}, the file holds {size} bytes of tensors; copy the file again"
        raise CompactProofsError("CKPT_TRUNCATED", text)
