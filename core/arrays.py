"""Models from objects in memory: a mapping of arrays, or a TransformerLens model.

Arrays are numpy's, anything numpy can view without changing a bit, or torch tensors; the last are used
through their own methods, so that nothing here imports torch.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from numbers import Real
from typing import Final, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from .errors import CompactProofsError, shown
from .model import MAX_BYTES, Model, Tensor, build

DTYPES: Final = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "bfloat16": "BF16",
    "bool": "BOOL",
    "uint8": "U8",
}

REQUIRED: Final[dict[str, tuple[object, ...]]] = {
    "n_layers": (1,),
    "n_heads": (1,),
    "attn_only": (True,),
    "normalization_type": (None,),
    "positional_embedding_type": ("standard",),
}
"""Settings that a configuration must have, with the values that mean our architecture."""

CHECKED: Final[dict[str, tuple[object, ...]]] = {
    "use_attn_scale": (True,),
    "attention_dir": ("causal",),
    "use_local_attn": (False,),
    "attn_types": (None, ["global"], ("global",)),
    "n_key_value_heads": (None,),
    "scale_attn_by_inverse_layer_idx": (False,),
    "attn_scores_soft_cap": (-1.0, None),
    "output_logits_soft_cap": (-1.0, None),
    "use_qk_norm": (False,),
    "use_normalization_before_and_after": (False,),
    "post_embedding_ln": (False,),
    "num_experts": (None,),
}
"""Settings that older configurations lack; a present one must have one of these values."""

UNSET: Final = -1
"""TransformerLens's value for "to be derived" (attn_scale, d_vocab_out)."""


@runtime_checkable
class TorchLike(Protocol):
    """The part of a torch tensor that is used."""

    @property
    def dtype(self) -> object: ...
    def detach(self) -> TorchLike: ...
    def cpu(self) -> TorchLike: ...
    def contiguous(self) -> TorchLike: ...
    def view(self, dtype: object) -> TorchLike: ...
    def numpy(self) -> npt.NDArray[np.generic]: ...


@runtime_checkable
class HasStateDict(Protocol):
    """The part of a torch module that is used."""

    def state_dict(self) -> Mapping[str, object]: ...


@runtime_checkable
class HasConfig(Protocol):
    """A model that carries its configuration."""

    @property
    def cfg(self) -> object: ...


def from_arrays(arrays: Mapping[str, object], source: str = "arrays", metadata: dict[str, str] | None = None) -> Model:
    """The model of a mapping from TransformerLens names to arrays; every bit is kept.

    Raises TENSOR_NAME, TENSOR_UNREADABLE, TENSOR_DTYPE, TENSOR_TOO_LARGE and the codes of `model.build`.
    """
    tensors: list[Tensor] = []
    for name, value in arrays.items():
        if not isinstance(name, str):
            raise CompactProofsError("TENSOR_NAME", f"key {shown(name)} must be a tensor's name", source)
        try:
            tensors.append(_tensor(name, value))
        except CompactProofsError as error:
            raise error.within(source, name) from None
    return build(source, tensors, dict(metadata or {}))


def from_transformer_lens(obj: object, source: str = "TransformerLens model") -> Model:
    """The model of an object with `state_dict()`, such as a HookedTransformer.

    Its `cfg`, if it has one, must describe our architecture: several settings (a normalisation without
    parameters, the attention scale) change the function and leave no trace in the tensors. Raises
    CONFIG_OBJECT, the codes of `check_config` and of `from_arrays`.
    """
    if not isinstance(obj, HasStateDict):
        text = f"a {type(obj).__name__} has no state_dict(); pass a HookedTransformer, or use from_arrays"
        raise CompactProofsError("CONFIG_OBJECT", text, source)
    if not isinstance(obj, HasConfig):
        return from_arrays(obj.state_dict(), source)
    # The settings first: they say why a model of another kind has the tensors that it has.
    settings = settings_of(obj.cfg)
    check_settings(settings, source)
    model = from_arrays(obj.state_dict(), source)
    check_sizes(settings, model)
    return model


def settings_of(cfg: object) -> dict[str, object]:
    """The settings that matter, of a configuration object or mapping."""
    names = (*REQUIRED, *CHECKED, "attn_scale", "d_model", "d_head", "n_ctx", "d_vocab", "d_vocab_out")
    if isinstance(cfg, Mapping):
        return {name: cfg[name] for name in names if name in cfg}
    return {name: getattr(cfg, name) for name in names if hasattr(cfg, name)}


def check_settings(settings: Mapping[str, object], source: str) -> None:
    """Raises CONFIG_MISSING or CONFIG_VALUE, naming the setting and both values."""
    for name in REQUIRED:
        if name not in settings:
            text = f"the configuration lacks the setting, needed {_alternatives(REQUIRED[name])}"
            raise CompactProofsError("CONFIG_MISSING", text, source, f"cfg.{name}")
    for name, allowed in (REQUIRED | CHECKED).items():
        if name in settings and not any(_equal(settings[name], value) for value in allowed):
            text = f"is {shown(settings[name])}, needed {_alternatives(allowed)}"
            raise CompactProofsError("CONFIG_VALUE", text, source, f"cfg.{name}")


def check_sizes(settings: Mapping[str, object], model: Model) -> None:
    """The dimensions and the attention scale of a configuration against the tensors; CONFIG_VALUE."""
    sizes: dict[str, float] = {
        "d_model": model.d_model,
        "d_head": model.d_head,
        "n_ctx": model.n_ctx,
        "d_vocab": model.d_vocab,
        "d_vocab_out": model.d_vocab_out,
        "attn_scale": math.sqrt(model.d_head),
    }
    for name, needed in sizes.items():
        derived = name in ("d_vocab_out", "attn_scale") and _equal(settings.get(name), UNSET)
        if name in settings and not derived and not _equal(settings[name], needed):
            text = f"is {shown(settings[name])}, the tensors need {needed}"
            if name == "attn_scale":
                text = f"is {shown(settings[name])}, needed sqrt(d_head) = {needed}"
            raise CompactProofsError("CONFIG_VALUE", text, model.source, f"cfg.{name}")


def _equal(value: object, needed: object) -> bool:
    # Plain values only: == of an array is an array, and of a foreign class whatever it likes.
    return isinstance(value, Real | str | list | tuple | None) and value == needed


def _alternatives(values: tuple[object, ...]) -> str:
    return " or ".join(repr(value) for value in values)


def _tensor(name: str, value: object) -> Tensor:
    """The stored bits of one array."""
    # An expanded view may claim any number of elements on a few bytes of storage.
    shape = _shape(value)
    if math.prod(shape) > MAX_BYTES:
        text = f"{math.prod(shape)} elements, a model has at most {MAX_BYTES} bytes"
        raise CompactProofsError("TENSOR_TOO_LARGE", text)
    try:
        dtype, array = _array(value)
    except (AttributeError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        text = f"a {type(value).__name__} without readable numbers: {error}"
        raise CompactProofsError("TENSOR_UNREADABLE", text) from None
    if dtype not in DTYPES:
        text = f"dtype {dtype}, needed one of {', '.join(DTYPES)}; convert it first, and exactly"
        raise CompactProofsError("TENSOR_DTYPE", text)
    order = array.dtype.byteorder
    if order == ">" or (order == "=" and sys.byteorder == "big"):
        array = array.byteswap()
    return Tensor(name, DTYPES[dtype], tuple(int(d) for d in array.shape), array.tobytes())


def _shape(value: object) -> tuple[int, ...]:
    if isinstance(value, TorchLike) or (hasattr(value, "__array__") and hasattr(value, "shape")):
        if isinstance(value, np.ma.MaskedArray):
            raise CompactProofsError("TENSOR_UNREADABLE", "a masked array; fill it first")
        return tuple(int(d) for d in value.shape)
    text = f"a {type(value).__name__}, needed an array; pass numpy.asarray(x, dtype=numpy.float64)"
    raise CompactProofsError("TENSOR_UNREADABLE", text)


def _array(value: object) -> tuple[str, npt.NDArray[np.generic]]:
    """dtype name and an array with the same bits (bfloat16 has no numpy type: 16-bit integers)."""
    if not isinstance(value, TorchLike):
        array: npt.NDArray[np.generic] = np.asarray(value)
        return array.dtype.name, array
    tensor = value.detach().cpu().contiguous()
    dtype = str(tensor.dtype).removeprefix("torch.")
    if dtype == "bfloat16":
        tensor = tensor.view(sys.modules[type(tensor.dtype).__module__].int16)
    return dtype, tensor.numpy()
