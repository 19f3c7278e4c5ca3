"""The architecture's checks, the digest, and exact decoding against independent readers of the formats."""

from __future__ import annotations

import hashlib
import math
import pickle
import struct
from fractions import Fraction

import numpy as np
import pytest
from compactproofs.core.errors import CompactProofsError, shown
from compactproofs.core.model import BIASES, IGNORE, ITEMSIZE, LAYOUT, MASK, SHAPES, Model, Tensor, build
from hypothesis import given
from hypothesis import strategies as st

SIZES = {"1": 1, "d_vocab": 6, "d_vocab_out": 5, "n_ctx": 3, "d_model": 4, "d_head": 2}


def tiny() -> dict[str, Tensor]:
    """Valid float32 tensors, all biases included."""
    rng = np.random.default_rng(7)
    found = {}
    for name, symbols in SHAPES.items():
        shape = tuple(SIZES[s] for s in symbols)
        found[name] = Tensor(name, "F32", shape, rng.standard_normal(shape).astype("<f4").tobytes())
    return found


def zeros(name: str, *shape: int, dtype: str = "F32") -> Tensor:
    return Tensor(name, dtype, shape, bytes(math.prod(shape) * ITEMSIZE[dtype]))


def causal(n: int) -> Tensor:
    return Tensor(MASK, "BOOL", (n, n), np.tri(n, dtype=np.uint8).tobytes())


def refused(code: str, place: str, tensors: dict[str, Tensor]) -> CompactProofsError:
    with pytest.raises(CompactProofsError) as caught:
        build("m.safetensors", tensors.values(), {})
    assert (caught.value.code, caught.value.place, caught.value.file) == (code, place, "m.safetensors")
    return caught.value


# --- the model -----------------------------------------------------------------------------------------


def test_dimensions_and_canonical_order() -> None:
    tensors = tiny()
    model = build("m", reversed(tensors.values()), {"note": "x"})
    assert tuple(t.name for t in model.tensors) == tuple(SHAPES)
    assert (model.d_vocab, model.d_vocab_out, model.n_ctx, model.d_model, model.d_head) == (6, 5, 3, 4, 2)
    assert model.metadata == {"note": "x"}
    assert model.tensor("unembed.b_U") is tensors["unembed.b_U"]


def test_biases_are_optional_and_kept_even_when_zero() -> None:
    tensors = {name: t for name, t in tiny().items() if name not in BIASES}
    assert not any(build("m", tensors.values(), {}).has(name) for name in BIASES)
    tensors["unembed.b_U"] = zeros("unembed.b_U", 5)
    model = build("m", tensors.values(), {})
    assert model.has("unembed.b_U")
    with pytest.raises(CompactProofsError, match=r"b_Q: MODEL_MISSING"):
        model.tensor("blocks.0.attn.b_Q")


def test_digest_is_over_name_format_shape_and_bytes() -> None:
    tensors = tiny()
    digest = hashlib.sha256()
    for name, symbols in SHAPES.items():
        shape = "x".join(str(SIZES[s]) for s in symbols)
        digest.update(f"{name} F32 {shape}\n".encode() + tensors[name].data)
    assert build("m", tensors.values(), {}).sha256 == digest.hexdigest()


def test_mixed_formats_are_one_model() -> None:
    tensors = tiny()
    tensors["embed.W_E"] = zeros("embed.W_E", 6, 4, dtype="BF16")
    tensors["unembed.W_U"] = zeros("unembed.W_U", 4, 5, dtype="F64")
    assert {t.dtype for t in build("m", tensors.values(), {}).tensors} == {"BF16", "F64", "F32"}


def test_attention_buffers_are_dropped() -> None:
    plain = build("m", tiny().values(), {})
    with_buffers = {
        **tiny(),
        MASK: causal(3),
        IGNORE: Tensor(IGNORE, "F32", (), struct.pack("<f", -math.inf)),
    }
    assert build("m", with_buffers.values(), {}) == plain
    as_bytes = Tensor(MASK, "U8", (3, 3), causal(3).data)
    assert build("m", {**tiny(), MASK: as_bytes}.values(), {}) == plain


@pytest.mark.parametrize(
    ("mask", "told"),
    [
        (Tensor(MASK, "BOOL", (3, 3), b"\1" * 9), "value 1 at [0, 1], needed 0"),
        (Tensor(MASK, "BOOL", (3, 3), bytes([1, 0, 0, 1, 1, 0, 0, 1, 1])), "value 0 at [2, 0], needed 1"),
        (Tensor(MASK, "U8", (3, 3), bytes([2, 0, 0, 1, 1, 0, 1, 1, 1])), "value 2 at [0, 0], needed 1"),
        (causal(4), "BOOL of shape [4, 4], needed shape [3, 3]"),
        (zeros(MASK, 3, 3), "value 0 at [0, 0]"),
    ],
)
def test_another_mask_is_another_function(mask: Tensor, told: str) -> None:
    assert told in str(refused("MODEL_BUFFER", MASK, {**tiny(), MASK: mask}))


@pytest.mark.parametrize("dtype", ["<f8", "<f4", "<f2"])
def test_a_mask_of_zeros_and_ones_may_be_of_floats(dtype: str) -> None:
    def mask(values: np.ndarray) -> Tensor:
        return Tensor(MASK, f"F{8 * int(dtype[2])}", (3, 3), values.astype(dtype).tobytes())

    assert build("m", {**tiny(), MASK: mask(np.tri(3))}.values(), {}).n_ctx == 3
    for factor, told in ((2, "other than 0 and 1 at [0, 0]"), (-1, "other than"), (0, "value 0 at [0, 0]")):
        assert told in str(refused("MODEL_BUFFER", MASK, {**tiny(), MASK: mask(factor * np.tri(3))}))


def test_ignore_must_be_a_scalar() -> None:
    refused("MODEL_BUFFER", IGNORE, {**tiny(), IGNORE: zeros(IGNORE, 2)})


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("blocks.1.attn.W_Q", "MODEL_LAYERS"),
        ("blocks.11.ln1.w", "MODEL_LAYERS"),
        ("blocks.0.ln1.w", "MODEL_NORM"),
        ("blocks.0.ln2.b", "MODEL_NORM"),
        ("blocks.0.ln1_post.w", "MODEL_NORM"),
        ("ln_final.w", "MODEL_NORM"),
        ("embed.ln.w", "MODEL_NORM"),
        ("blocks.0.attn.q_norm.w", "MODEL_NORM"),
        ("blocks.0.mlp.W_in", "MODEL_MLP"),
        ("blocks.0.attn.rotary_sin", "MODEL_ROTARY"),
        ("rotary.inv_freq", "MODEL_ROTARY"),
        ("blocks.0.attn._W_K", "MODEL_GROUPED_HEADS"),
        ("blocks.0.attn._b_V", "MODEL_GROUPED_HEADS"),
        ("model.embed.W_E", "MODEL_PREFIX"),
        ("_orig_mod.embed.W_E", "MODEL_PREFIX"),
        ("transformer.wte.weight", "MODEL_UNKNOWN"),
        ("blocks.0.attn.w_q", "MODEL_UNKNOWN"),
        ("embed.W_E ", "MODEL_UNKNOWN"),
        ("blocks.00.attn.W_Q", "MODEL_LAYERS"),
        ("", "MODEL_UNKNOWN"),
    ],
)
def test_tensors_of_other_architectures(name: str, code: str) -> None:
    refused(code, name, {**tiny(), name: zeros(name, 1)})


@pytest.mark.parametrize("name", [n for n in SHAPES if n not in BIASES])
def test_missing_tensor(name: str) -> None:
    tensors = tiny()
    del tensors[name]
    error = refused("MODEL_MISSING", name, tensors)
    assert ("rotary" in error.text) == (name == "pos_embed.W_pos")


@pytest.mark.parametrize(
    ("name", "shape", "code", "told"),
    [
        ("blocks.0.attn.W_Q", (2, 4, 2), "MODEL_HEADS", "2 heads"),
        ("blocks.0.attn.W_O", (3, 2, 4), "MODEL_HEADS", "3 heads"),
        ("blocks.0.attn.b_V", (2, 2), "MODEL_HEADS", "2 heads"),
        ("blocks.0.attn.W_Q", (4, 2), "MODEL_SHAPE", "rank 2"),
        ("embed.W_E", (24,), "MODEL_SHAPE", "rank 1"),
        ("embed.W_E", (), "MODEL_SHAPE", "rank 0"),
        ("pos_embed.W_pos", (3, 5), "MODEL_SHAPE", "d_model = 4 (from embed.W_E)"),
        ("blocks.0.attn.W_O", (1, 4, 2), "MODEL_SHAPE", "d_head = 2 (from blocks.0.attn.W_Q)"),
        ("unembed.W_U", (5, 4), "MODEL_SHAPE", "d_model = 4"),
        ("unembed.b_U", (6,), "MODEL_SHAPE", "d_vocab_out = 5 (from unembed.W_U)"),
        ("blocks.0.attn.b_O", (1, 4), "MODEL_SHAPE", "rank 2"),
        ("embed.W_E", (0, 4), "MODEL_EMPTY", "empty dimension"),
        ("pos_embed.W_pos", (0, 4), "MODEL_EMPTY", "empty dimension"),
        ("blocks.0.attn.W_K", (0, 4, 2), "MODEL_EMPTY", "empty dimension"),
    ],
)
def test_wrong_shapes(name: str, shape: tuple[int, ...], code: str, told: str) -> None:
    assert told in refused(code, name, {**tiny(), name: zeros(name, *shape)}).text


@pytest.mark.parametrize("dtype", ["BOOL", "U8"])
def test_weights_must_be_floats(dtype: str) -> None:
    refused("MODEL_DTYPE", "embed.W_E", {**tiny(), "embed.W_E": zeros("embed.W_E", 6, 4, dtype=dtype)})


def test_repeated_tensor() -> None:
    with pytest.raises(CompactProofsError, match=r"m: embed\.W_E: MODEL_DUPLICATE"):
        build("m", [*tiny().values(), tiny()["embed.W_E"]], {})


def test_the_constructor_refuses_another_order() -> None:
    with pytest.raises(CompactProofsError, match="MODEL_ORDER"):
        Model("m", tuple(reversed(tiny().values())), {})


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_weights_must_be_finite(bad: float) -> None:
    tensors = tiny()
    values = np.frombuffer(tensors["blocks.0.attn.b_K"].data, "<f4").copy()
    values[1] = bad
    tensors["blocks.0.attn.b_K"] = Tensor("blocks.0.attn.b_K", "F32", (1, 2), values.tobytes())
    assert "at index [0, 1]" in refused("TENSOR_NOT_FINITE", "blocks.0.attn.b_K", tensors).text


# --- one tensor ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "shape", "data", "code"),
    [
        ("I64", (1,), bytes(8), "TENSOR_DTYPE"),
        ("F32", (2,), bytes(4), "TENSOR_SIZE"),
        ("F32", (-1, -1), bytes(4), "TENSOR_SIZE"),
    ],
)
def test_tensor_is_consistent(dtype: str, shape: tuple[int, ...], data: bytes, code: str) -> None:
    with pytest.raises(CompactProofsError, match=f"t: {code}"):
        Tensor("t", dtype, shape, data)


def test_buffers_are_not_numbers() -> None:
    with pytest.raises(CompactProofsError, match="t: TENSOR_DTYPE: dtype BOOL"):
        zeros("t", 2, dtype="BOOL").exact()


def reference(dtype: str, data: bytes) -> list[float]:
    """Python's own readers; a bfloat16 is the upper half of a float32."""
    if dtype == "BF16":
        return [struct.unpack("<f", b"\0\0" + data[i : i + 2])[0] for i in range(0, len(data), 2)]
    code = {"F64": "d", "F32": "f", "F16": "e"}[dtype]
    return list(struct.unpack(f"<{len(data) // ITEMSIZE[dtype]}{code}", data))


def check_exact(dtype: str, data: bytes) -> None:
    floats = reference(dtype, data)
    integers, exponent = Tensor("t", dtype, (len(floats),), data).exact()
    assert all(type(n) is int for n in integers)
    scale = Fraction(2) ** exponent
    assert [n * scale for n in integers] == [Fraction(*x.as_integer_ratio()) for x in floats]
    # Canonical: no common factor of two, and exponent 0 for zeros.
    assert any(n & 1 for n in integers) or (not any(integers) and exponent == 0)


@pytest.mark.parametrize("dtype", ["F16", "BF16"])
def test_every_number_of_the_short_formats(dtype: str) -> None:
    patterns = np.arange(65536, dtype="<u2")
    exponent_bits, fraction_bits = LAYOUT[dtype]
    finite = (patterns >> fraction_bits) & ((1 << exponent_bits) - 1) != (1 << exponent_bits) - 1
    check_exact(dtype, patterns[finite].tobytes())


@pytest.mark.parametrize("dtype", LAYOUT)
def test_ends_of_the_range(dtype: str) -> None:
    exponent_bits, fraction_bits = LAYOUT[dtype]
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    sign = 1 << (exponent_bits + fraction_bits)
    smallest_normal = 1 << fraction_bits
    size = ITEMSIZE[dtype]
    patterns = [0, 1, smallest_normal - 1, smallest_normal, infinity - 1]
    numbers = [(p | s).to_bytes(size, "little") for p in patterns for s in (0, sign)]
    check_exact(dtype, b"".join(numbers))
    for number in numbers:
        check_exact(dtype, number)
    for p, kind in (
        (infinity, "infinity"),
        (sign | infinity, "infinity"),
        (infinity + 1, "NaN"),
        (sign - 1, "NaN"),
    ):
        data = numbers[4] + p.to_bytes(size, "little")
        with pytest.raises(CompactProofsError, match=rf"TENSOR_NOT_FINITE: {kind} at index \[1\]"):
            Tensor("t", dtype, (2,), data).exact()


@given(st.sampled_from(sorted(LAYOUT)), st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=30))
def test_random_bit_patterns(dtype: str, patterns: list[int]) -> None:
    size = ITEMSIZE[dtype]
    data = b"".join((p >> (64 - 8 * size)).to_bytes(size, "little") for p in patterns)
    if all(map(math.isfinite, reference(dtype, data))):
        check_exact(dtype, data)
    else:
        with pytest.raises(CompactProofsError, match="TENSOR_NOT_FINITE"):
            Tensor("t", dtype, (len(patterns),), data).exact()


@pytest.mark.parametrize("width", range(58, 70))
def test_integers_at_the_end_of_machine_words(width: int) -> None:
    wide = float((2**53 - 1) << (width - 53))
    check_exact("F64", struct.pack("<4d", 1.0, wide, -wide, -1.0))
    check_exact("F64", struct.pack("<2d", -(2.0**width), 1.0))


@given(st.lists(st.floats(-4, 4, width=32), min_size=1, max_size=50))
def test_the_same_values_in_another_format_give_the_same_integers(values: list[float]) -> None:
    wide = Tensor("t", "F64", (len(values),), np.array(values, "<f8").tobytes())
    narrow = Tensor("t", "F32", (len(values),), np.array(values, "<f4").tobytes())
    assert wide.exact() == narrow.exact()


# --- errors --------------------------------------------------------------------------------------------


def test_error_text_and_transport() -> None:
    error = CompactProofsError("CODE", "a, needed b", "f.safetensors", "t")
    assert str(error) == "f.safetensors: t: CODE: a, needed b"
    assert str(CompactProofsError("CODE", "text").within("f", "p")) == "f: p: CODE: text"
    assert error.within("other", "place").file == "f.safetensors"
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.code, copy.text, copy.file, copy.place) == (error.code, error.text, error.file, error.place)


def test_error_text_is_one_printable_line() -> None:
    text = str(CompactProofsError("CODE", "text", "a\nb\x1b[31m\udc80", "τ"))
    assert text == r"a\nb\x1b[31m\udc80: τ: CODE: text"
    assert len(shown("x" * 1000)) == 80
