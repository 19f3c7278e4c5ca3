"""The strict reader against crafted and damaged files; the writer; models from objects in memory."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest
import safetensors.numpy
from compactproofs.core import checkpoint
from compactproofs.core.checkpoint import (
    MAX_HEADER,
    decode,
    encode,
    from_arrays,
    from_transformer_lens,
    load,
    save_safetensors,
)
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.model import MAX_BYTES, SHAPES, Model, Tensor
from hypothesis import example, given, settings
from hypothesis import strategies as st

MODELS = Path(__file__).parents[2] / "models"
SIZES = {"1": 1, "d_vocab": 6, "d_vocab_out": 5, "n_ctx": 3, "d_model": 4, "d_head": 2}

Arrays = dict[str, npt.NDArray[np.generic]]


def tiny(dtype: str = "<f4") -> Arrays:
    rng = np.random.default_rng(7)
    return {n: rng.standard_normal([SIZES[s] for s in symbols]).astype(dtype) for n, symbols in SHAPES.items()}


MODEL = from_arrays(tiny(), "tiny")
BYTES = encode(MODEL)
HEADER_END = 8 + int.from_bytes(BYTES[:8], "little")


def header() -> dict[str, dict[str, object]]:
    value: dict[str, dict[str, object]] = json.loads(BYTES[8:HEADER_END])
    return value


def packed(head: object, body: bytes = BYTES[HEADER_END:]) -> bytes:
    """A file from a header (JSON value, text or bytes) and the tensors' bytes."""
    text = head if isinstance(head, str | bytes) else json.dumps(head)
    raw = text.encode() if isinstance(text, str) else text
    return len(raw).to_bytes(8, "little") + raw + body


def refused(code: str, action: Callable[[], object]) -> CompactProofsError:
    with pytest.raises(CompactProofsError) as caught:
        action()
    assert caught.value.code == code, str(caught.value)
    return caught.value


# --- reading -------------------------------------------------------------------------------------------


def test_reads_what_the_reference_library_writes(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    arrays = tiny() | {
        "blocks.0.attn.mask": np.tri(3, dtype=np.bool_),
        "blocks.0.attn.IGNORE": np.array(-np.inf, np.float32),
    }
    safetensors.numpy.save_file(arrays, path, metadata={"seed": "123"})
    model = load(path)
    assert (model.source, model.metadata) == (str(path), {"seed": "123"})
    assert model.tensors == MODEL.tensors


def test_the_reference_library_reads_what_we_write(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    arrays = tiny() | {"embed.W_E": tiny("<f2")["embed.W_E"], "unembed.W_U": tiny("<f8")["unembed.W_U"]}
    save_safetensors(from_arrays(arrays, metadata={"b": "2", "a": "é"}), path)
    stored = safetensors.numpy.load_file(path)
    assert stored.keys() == arrays.keys()
    assert all(stored[n].dtype == a.dtype and np.array_equal(stored[n], a) for n, a in arrays.items())
    assert load(path).metadata == {"a": "é", "b": "2"}


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.safetensors")), ids=lambda p: p.stem)
def test_shipped_models(path: Path) -> None:
    model = load(path)
    stored = safetensors.numpy.load_file(path)
    for t in model.tensors:
        integers, exponent = t.exact()
        assert [math.ldexp(n, exponent) for n in integers] == stored[t.name].flatten().tolist()
    assert decode(encode(model), model.source) == model


def test_a_link_to_a_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "m.safetensors").write_bytes(BYTES)
    (tmp_path / "link").symlink_to("m.safetensors")
    assert load(tmp_path / "link").tensors == MODEL.tensors


def test_files_that_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "empty").touch()
    (tmp_path / "dangling").symlink_to("nowhere")
    refused("CKPT_NOT_REGULAR", lambda: load(tmp_path))
    refused("CKPT_NOT_REGULAR", lambda: load(tmp_path / "fifo"))
    refused("CKPT_NOT_REGULAR", lambda: load("/dev/zero"))
    refused("CKPT_UNREADABLE", lambda: load(tmp_path / "loop"))
    refused("CKPT_UNREADABLE", lambda: load(tmp_path / "dangling"))
    refused("CKPT_UNREADABLE", lambda: load("nul\0byte"))
    refused("CKPT_EMPTY", lambda: load(tmp_path / "empty"))
    error = refused("CKPT_UNREADABLE", lambda: load(tmp_path / "absent"))
    assert str(error) == f"{tmp_path / 'absent'}: CKPT_UNREADABLE: cannot read: No such file or directory"


def test_a_huge_file_is_refused_before_reading(tmp_path: Path) -> None:
    path = tmp_path / "huge.safetensors"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    assert str(MAX_BYTES) in refused("CKPT_TOO_LARGE", lambda: load(path)).text


@pytest.mark.parametrize("change", [-1, 1])
def test_a_file_that_changes_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: int) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes(BYTES)
    monkeypatch.setattr(checkpoint, "_regular_size", lambda status: status.st_size + change)
    refused("CKPT_CHANGED", lambda: load(path))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("m.safetensors", b"PK\x03\x04" + bytes(100)),
        ("m.safetensors", b"\x80\x02}q\x00." + bytes(100)),
        ("m.safetensors", b"\x80\x04\x95\x10\0\0\0\0\0\0\0}"),
        ("m.pt", b"no pickle at all"),
        ("m.PTH", b"no pickle at all"),
        ("m.ckpt", b"short"),
    ],
)
def test_pickles_are_sent_to_the_import_command(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    error = refused("CKPT_PICKLE", lambda: load(path))
    assert "compactproofs import FILE -o OUT.safetensors" in error.text


def test_a_header_length_that_looks_like_a_pickle(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    text = json.dumps(header()).ljust(0x480)
    path.write_bytes(packed(text))
    assert path.read_bytes()[:2] == b"\x80\x04"
    assert load(path).tensors == MODEL.tensors


def changed(name: str, **fields: object) -> bytes:
    head = header()
    head[name] = head[name] | fields
    return packed(head)


def shifted(amount: int) -> bytes:
    head = header()
    for entry in list(head.values())[1:]:
        entry["data_offsets"] = [offset + amount for offset in entry["data_offsets"]]  # type: ignore[attr-defined]
    return packed(head, BYTES[HEADER_END:] + bytes(max(amount, 0)))


def swapped() -> bytes:
    first, second, *rest = header().items()
    return packed(dict([second, first, *rest]))


FIRST = "embed.W_E"
TEXT = BYTES[8:HEADER_END].decode()

CONTAINER = {
    "seven bytes": (BYTES[:7], "CKPT_TRUNCATED"),
    "header cut": (BYTES[:100], "CKPT_TRUNCATED"),
    "body cut": (BYTES[:-1], "CKPT_TRUNCATED"),
    "body gone": (BYTES[:HEADER_END], "CKPT_TRUNCATED"),
    "byte appended": (BYTES + b"\0", "CKPT_TRAILING"),
    "length 0": (bytes(8) + BYTES[8:], "CKPT_HEADER_SIZE"),
    "length huge": (b"\xff" * 8 + BYTES[8:], "CKPT_HEADER_SIZE"),
    "header above cap": (packed(TEXT + " " * MAX_HEADER), "CKPT_HEADER_SIZE"),
    "not UTF-8": (packed(TEXT.encode().replace(b"W_E", b"W_\xff")), "CKPT_HEADER_TEXT"),
    "overlong UTF-8": (packed(TEXT.encode().replace(b"W_E", b"\xc0\xaf")), "CKPT_HEADER_TEXT"),
    "lone surrogate": (packed(TEXT.replace("W_E", "\\ud800")), "CKPT_HEADER_TEXT"),
    "byte order mark": (packed("\ufeff" + TEXT), "CKPT_HEADER_JSON"),
    "leading space": (packed(" " + TEXT), "CKPT_HEADER_JSON"),
    "padded with newlines": (packed(TEXT + "\n"), "CKPT_HEADER_JSON"),
    "padded with zeros": (packed(TEXT + "\0"), "CKPT_HEADER_JSON"),
    "a list": (packed("[]"), "CKPT_HEADER_JSON"),
    "no JSON": (packed("{]}"), "CKPT_HEADER_JSON"),
    "two objects": (packed("{}{}"), "CKPT_HEADER_JSON"),
    "deep": (packed('{"a":' + "[" * 100_000 + "}"), "CKPT_HEADER_JSON"),
    "key twice": (packed(TEXT.replace("pos_embed.W_pos", FIRST)), "CKPT_DUPLICATE"),
    "inner key twice": (packed(TEXT.replace('"dtype"', '"dtype":"F32","dtype"', 1)), "CKPT_DUPLICATE"),
    "key twice by escape": (packed(TEXT.replace("pos_embed.W_pos", "embed.W_\\u0045")), "CKPT_DUPLICATE"),
    "float": (changed(FIRST, shape=[6.0, 4]), "CKPT_NUMBER"),
    "exponent": (packed(TEXT.replace("[6,4]", "[6e0,4]")), "CKPT_NUMBER"),
    "NaN": (packed(TEXT.replace("[6,4]", "[NaN,4]")), "CKPT_NUMBER"),
    "infinity": (packed(TEXT.replace("[6,4]", "[-Infinity,4]")), "CKPT_NUMBER"),
    "negative": (changed(FIRST, shape=[-6, -4]), "CKPT_NUMBER"),
    "minus zero": (packed(TEXT.replace("[0,96]", "[-0,96]")), "CKPT_NUMBER"),
    "many digits": (packed(TEXT.replace("[6,4]", f"[{'9' * 5000},4]")), "CKPT_NUMBER"),
    "boolean": (changed("blocks.0.attn.W_Q", shape=[True, 4, 2]), "CKPT_ENTRY"),
    "string number": (changed(FIRST, shape=["6", 4]), "CKPT_ENTRY"),
    "shape no list": (changed(FIRST, shape=24), "CKPT_ENTRY"),
    "rank nine": (changed(FIRST, shape=[1] * 7 + [6, 4]), "CKPT_ENTRY"),
    "three offsets": (changed(FIRST, data_offsets=[0, 96, 96]), "CKPT_ENTRY"),
    "offsets null": (changed(FIRST, data_offsets=None), "CKPT_ENTRY"),
    "unknown field": (changed(FIRST, strides=[4, 1]), "CKPT_ENTRY"),
    "missing field": (packed({FIRST: {"dtype": "F32", "shape": [6, 4]}}), "CKPT_ENTRY"),
    "entry no object": (packed({FIRST: 3}), "CKPT_ENTRY"),
    "unknown dtype": (changed(FIRST, dtype="F8_E4M3"), "CKPT_DTYPE"),
    "dtype integer": (changed(FIRST, dtype="I32"), "CKPT_DTYPE"),
    "dtype lower case": (changed(FIRST, dtype="f32"), "CKPT_DTYPE"),
    "dtype no string": (changed(FIRST, dtype=["F32"]), "CKPT_DTYPE"),
    "dtype too narrow": (changed(FIRST, dtype="F16"), "CKPT_SIZE"),
    "shape too small": (changed(FIRST, shape=[6, 3]), "CKPT_SIZE"),
    "shape enormous": (changed(FIRST, shape=[10**14] * 8), "CKPT_SIZE"),
    "hole": (shifted(4), "CKPT_OFFSETS"),
    "overlap": (shifted(-4), "CKPT_OFFSETS"),
    "out of order": (swapped(), "CKPT_OFFSETS"),
    "backwards": (changed(FIRST, data_offsets=[96, 0]), "CKPT_OFFSETS"),
    "end before begin": (changed("pos_embed.W_pos", data_offsets=[96, 48]), "CKPT_OFFSETS"),
    "metadata list": (packed({"__metadata__": []} | header()), "CKPT_METADATA"),
    "metadata number": (packed({"__metadata__": {"seed": 1}} | header()), "CKPT_METADATA"),
    "metadata nested": (packed({"__metadata__": {"a": {"b": "c"}}} | header()), "CKPT_METADATA"),
    "no tensors": (packed("{}", b""), "MODEL_MISSING"),
    "tensor renamed": (packed(TEXT.replace("unembed.b_U", "unembed.B_U")), "MODEL_UNKNOWN"),
    "optional dtype in buffer only": (changed("unembed.b_U", dtype="U8", shape=[20]), "MODEL_DTYPE"),
}


@pytest.mark.parametrize("case", CONTAINER)
def test_damaged_and_crafted_files(tmp_path: Path, case: str) -> None:
    data, code = CONTAINER[case]
    path = tmp_path / "m.safetensors"
    path.write_bytes(data)
    error = refused(code, lambda: load(path))
    assert error.file == str(path)
    assert len(str(error)) < len(str(path)) + 500


def test_errors_name_the_tensor_and_both_values() -> None:
    error = refused("CKPT_SIZE", lambda: decode(changed(FIRST, shape=[6, 3]), "m"))
    assert str(error) == ("m: embed.W_E: CKPT_SIZE: data_offsets span 96 bytes, shape [6, 3] of F32 needs 72")
    bad = bytearray(BYTES)
    bad[HEADER_END + 4 : HEADER_END + 8] = b"\0\0\xc0\x7f"
    error = refused("TENSOR_NOT_FINITE", lambda: decode(bytes(bad), "m"))
    assert str(error).startswith("m: embed.W_E: TENSOR_NOT_FINITE: NaN at index [0, 1]")


@settings(max_examples=400)
@given(st.integers(0, HEADER_END - 1), st.integers(0, 255))
def test_one_changed_byte_of_the_header_is_no_other_model(position: int, value: int) -> None:
    data = bytearray(BYTES)
    data[position] = value
    try:
        model = decode(bytes(data), "m")
    except CompactProofsError:
        return
    assert model.tensors == MODEL.tensors


@given(st.integers(HEADER_END, len(BYTES) - 1), st.integers(0, 255))
def test_one_changed_byte_of_the_weights_is_seen(position: int, value: int) -> None:
    data = bytearray(BYTES)
    data[position] = value
    try:
        model = decode(bytes(data), "m")
    except CompactProofsError as error:
        assert error.code == "TENSOR_NOT_FINITE"
        return
    assert (model.sha256 == MODEL.sha256) == (bytes(data) == BYTES)


@given(st.lists(st.tuples(st.integers(0, len(BYTES) - 1), st.integers(0, 255)), max_size=8), st.integers(0, 9))
def test_damage_never_ends_in_another_exception(changes: list[tuple[int, int]], cut: int) -> None:
    data = bytearray(BYTES)
    for position, value in changes:
        data[position] = value
    try:
        decode(bytes(data[: len(data) - cut]), "m")
    except CompactProofsError as error:
        assert error.code in str(error)


@given(st.binary(max_size=200) | st.text(max_size=200).map(packed))
@example(b"")
def test_arbitrary_bytes(data: bytes) -> None:
    with pytest.raises(CompactProofsError):
        decode(data, "m")


# --- writing -------------------------------------------------------------------------------------------


def test_the_same_model_gives_the_same_bytes() -> None:
    arrays = dict(reversed(tiny().items()))
    one = from_arrays(arrays, "a", {"x": "1", "y": "2"})
    two = from_arrays(tiny(), "b", {"y": "2", "x": "1"})
    assert encode(one) == encode(two)
    assert decode(encode(one), "a") == one
    assert HEADER_END % 8 == 0


def test_wide_formats_come_first_so_that_all_are_aligned() -> None:
    arrays = tiny("<f2") | {
        "unembed.W_U": tiny("<f8")["unembed.W_U"],
        "unembed.b_U": tiny("<f4")["unembed.b_U"],
    }
    data = encode(from_arrays(arrays))
    head = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    assert [e["dtype"] for e in head.values()] == ["F64", "F32"] + ["F16"] * 10


def test_overwriting_must_be_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes(b"precious")
    refused("FILE_EXISTS", lambda: save_safetensors(MODEL, path))
    assert path.read_bytes() == b"precious"
    save_safetensors(MODEL, path, overwrite=True)
    assert load(path).tensors == MODEL.tensors


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to("target")
    save_safetensors(MODEL, tmp_path / "link", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert load(tmp_path / "target").tensors == MODEL.tensors


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "m.safetensors"
    path.write_bytes(b"old")
    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, fail)
            error = refused("FILE_WRITE", lambda: save_safetensors(MODEL, path, overwrite=True))
        assert "No space left on device" in error.text
        assert [p.name for p in tmp_path.iterdir()] == ["m.safetensors"]
        assert path.read_bytes() == b"old"


def test_outputs_that_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    refused("FILE_NOT_REGULAR", lambda: save_safetensors(MODEL, tmp_path, overwrite=True))
    refused("FILE_NOT_REGULAR", lambda: save_safetensors(MODEL, tmp_path / "fifo", overwrite=True))
    refused("FILE_WRITE", lambda: save_safetensors(MODEL, tmp_path / "no folder" / "m"))


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        ({"a": 1}, "CKPT_METADATA"),
        ({1: "a"}, "CKPT_METADATA"),
        ({"a": "\ud800"}, "CKPT_HEADER_TEXT"),
        ({"a": "x" * MAX_HEADER}, "CKPT_HEADER_SIZE"),
    ],
)
def test_metadata_that_a_header_cannot_hold(metadata: dict[str, str], code: str) -> None:
    refused(code, lambda: encode(from_arrays(tiny(), "m", metadata)))


# --- arrays --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "name"), [("<f8", "F64"), ("<f4", "F32"), ("<f2", "F16")])
def test_arrays_keep_every_bit(dtype: str, name: str) -> None:
    arrays = tiny(dtype)
    model = from_arrays(arrays)
    assert all(t.dtype == name and t.data == arrays[t.name].tobytes() for t in model.tensors)
    big_endian = {n: a.astype(a.dtype.newbyteorder(">")) for n, a in arrays.items()}
    assert from_arrays(big_endian) == model
    fortran = {n: np.asfortranarray(a) for n, a in arrays.items()}
    assert from_arrays(fortran) == model
    strided = {n: np.repeat(a, 2, axis=-1)[..., ::2] for n, a in arrays.items()}
    assert from_arrays(strided) == model


class FakeArray:
    """Something with an array interface that fails."""

    shape = (6, 4)

    def __array__(self, *_: object, **__: object) -> npt.NDArray[np.generic]:
        raise TypeError("not on this device")


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ([[0.0] * 4] * 6, "TENSOR_UNREADABLE"),
        (None, "TENSOR_UNREADABLE"),
        (FakeArray(), "TENSOR_UNREADABLE"),
        (np.ma.masked_array(np.zeros((6, 4))), "TENSOR_UNREADABLE"),
        (np.zeros((6, 4), np.int64), "TENSOR_DTYPE"),
        (np.zeros((6, 4), np.complex64), "TENSOR_DTYPE"),
        (np.zeros((6, 4), object), "TENSOR_DTYPE"),
        (np.broadcast_to(np.float32(0), (10**6, 10**6)), "TENSOR_TOO_LARGE"),
        (np.full((6, 4), np.nan), "TENSOR_NOT_FINITE"),
        (np.zeros((6, 4), np.bool_), "MODEL_DTYPE"),
    ],
)
def test_values_that_are_no_weights(value: object, code: str) -> None:
    error = refused(code, lambda: from_arrays(tiny() | {"embed.W_E": value}))
    assert (error.file, error.place) == ("arrays", "embed.W_E")


def test_keys_must_be_names() -> None:
    refused("TENSOR_NAME", lambda: from_arrays({3: np.zeros(1)}))  # type: ignore[dict-item]


def test_torch_tensors_of_all_formats() -> None:
    torch = pytest.importorskip("torch")
    names = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16"}
    for dtype, name in names.items():
        tensors = {n: torch.from_numpy(a).to(dtype).requires_grad_() for n, a in tiny().items()}
        model = from_arrays(tensors)
        for t in model.tensors:
            integers, exponent = t.exact()
            assert t.dtype == name
            floats = tensors[t.name].detach().to(torch.float64).flatten().tolist()
            assert [n * 2.0**exponent for n in integers] == floats
    pattern = torch.arange(24, dtype=torch.int16).view(torch.bfloat16).reshape(6, 4)
    subnormal = from_arrays(tiny() | {"embed.W_E": pattern}).tensor("embed.W_E")
    assert subnormal.exact() == (list(range(24)), -133)
    wide = torch.zeros(1).expand(10**6, 10**6)
    refused("TENSOR_TOO_LARGE", lambda: from_arrays(tiny() | {"embed.W_E": wide}))
    sparse = torch.zeros(6, 4).to_sparse()
    refused("TENSOR_UNREADABLE", lambda: from_arrays(tiny() | {"embed.W_E": sparse}))
    refused("TENSOR_UNREADABLE", lambda: from_arrays(tiny() | {"embed.W_E": torch.zeros(6, 4, device="meta")}))


# --- TransformerLens -----------------------------------------------------------------------------------

SETTINGS: dict[str, object] = {
    "n_layers": 1,
    "n_heads": 1,
    "attn_only": True,
    "normalization_type": None,
    "positional_embedding_type": "standard",
    "use_attn_scale": True,
    "attn_scale": np.sqrt(2),
    "attention_dir": "causal",
    "use_local_attn": False,
    "attn_types": None,
    "n_key_value_heads": None,
    "attn_scores_soft_cap": -1.0,
    "d_model": 4,
    "d_head": 2,
    "n_ctx": 3,
    "d_vocab": 6,
    "d_vocab_out": 5,
    "act_fn": None,
    "seed": 123,
}


class Bare:
    """A model without a configuration."""

    def state_dict(self) -> Arrays:
        return tiny() | {"blocks.0.attn.mask": np.tri(3, dtype=np.bool_)}


class Hooked(Bare):
    """A stand-in for HookedTransformer."""

    def __init__(self, **changes: object) -> None:
        values = {k: v for k, v in (SETTINGS | changes).items() if not (isinstance(v, str) and v == "absent")}
        self.cfg = SimpleNamespace(**values)


def test_transformer_lens_models() -> None:
    assert from_transformer_lens(Hooked()).tensors == MODEL.tensors
    assert from_transformer_lens(Hooked(attn_scale="absent", use_attn_scale="absent")).tensors == MODEL.tensors
    assert from_transformer_lens(Hooked(attn_scale=-1.0, d_vocab_out=-1)).tensors == MODEL.tensors
    assert from_transformer_lens(Hooked(n_ctx=np.int64(3))).tensors == MODEL.tensors
    assert from_transformer_lens(Bare()).tensors == MODEL.tensors


def test_a_configuration_may_be_a_mapping() -> None:
    model = Hooked()
    model.cfg = dict(SETTINGS)  # type: ignore[assignment]
    assert from_transformer_lens(model).tensors == MODEL.tensors
    model.cfg = SETTINGS | {"n_heads": 4}  # type: ignore[assignment]
    refused("CONFIG_VALUE", lambda: from_transformer_lens(model))


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("n_layers", 2),
        ("n_heads", 4),
        ("attn_only", False),
        ("normalization_type", "LN"),
        ("normalization_type", "LNPre"),
        ("positional_embedding_type", "rotary"),
        ("positional_embedding_type", "shortformer"),
        ("use_attn_scale", False),
        ("attn_scale", 1.0),
        ("attn_scale", np.sqrt(3)),
        ("attention_dir", "bidirectional"),
        ("use_local_attn", True),
        ("attn_types", ["local"]),
        ("n_key_value_heads", 1),
        ("scale_attn_by_inverse_layer_idx", True),
        ("attn_scores_soft_cap", 50.0),
        ("output_logits_soft_cap", 30.0),
        ("use_qk_norm", True),
        ("d_model", 8),
        ("d_head", 4),
        ("n_ctx", 4),
        ("d_vocab", 7),
        ("d_vocab_out", 6),
        ("n_heads", np.ones(2)),
    ],
)
def test_settings_of_other_architectures(setting: str, value: object) -> None:
    error = refused("CONFIG_VALUE", lambda: from_transformer_lens(Hooked(**{setting: value})))
    assert error.place == f"cfg.{setting}"
    assert "needed" in error.text or "need" in error.text


@pytest.mark.parametrize("setting", ["n_layers", "n_heads", "attn_only", "normalization_type"])
def test_settings_that_must_be_there(setting: str) -> None:
    error = refused("CONFIG_MISSING", lambda: from_transformer_lens(Hooked(**{setting: "absent"})))
    assert error.place == f"cfg.{setting}"


def test_objects_without_a_state_dict() -> None:
    refused("CONFIG_OBJECT", lambda: from_transformer_lens(tiny()))


def test_importing_the_reader_is_light() -> None:
    program = "import sys, compactproofs.core.checkpoint; print(*{'torch', 'rich', 'click'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_the_helpers_cover_every_tensor() -> None:
    assert isinstance(MODEL, Model)
    assert all(isinstance(t, Tensor) for t in MODEL.tensors)
    assert len(MODEL.tensors) == len(SHAPES)
