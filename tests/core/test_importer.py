"""Torch checkpoints of every accepted layout, and the files that must be refused unread."""

from __future__ import annotations

import io
import os
import pickle
import sys
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from compactproofs.core import importer
from compactproofs.core.checkpoint import encode, from_arrays, load, save_safetensors
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.importer import import_checkpoint, read_checkpoint
from compactproofs.core.model import MAX_BYTES, SHAPES

SIZES = {"1": 1, "d_vocab": 6, "d_vocab_out": 5, "n_ctx": 3, "d_model": 4, "d_head": 2}
RNG = np.random.default_rng(7)
ARRAYS = {n: RNG.standard_normal([SIZES[s] for s in symbols]).astype("<f4") for n, symbols in SHAPES.items()}
MODEL = from_arrays(ARRAYS)


class Trap:
    """A pickle that makes a folder when it is run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.path),)


class Config:
    """Stands for the configuration object in the published files."""


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


@pytest.fixture
def state(torch: Any) -> dict[str, Any]:
    return {name: torch.from_numpy(array.copy()) for name, array in ARRAYS.items()}


def refused(code: str, action: Callable[[], object]) -> CompactProofsError:
    with pytest.raises(CompactProofsError) as caught:
        action()
    assert caught.value.code == code, str(caught.value)
    return caught.value


def saved(torch: Any, path: Path, content: object, **options: object) -> Path:
    torch.save(content, path, **options)
    return path


# --- layouts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("zipped", [True, False])
def test_state_dict(torch: Any, state: dict[str, Any], tmp_path: Path, zipped: bool) -> None:
    buffers = {
        "blocks.0.attn.mask": torch.ones(3, 3).bool().tril(),
        "blocks.0.attn.IGNORE": torch.tensor(-1e5),
    }
    content = OrderedDict(state | buffers)
    path = saved(torch, tmp_path / "m.pth", content, _use_new_zipfile_serialization=zipped)
    imported = import_checkpoint(path, tmp_path / "out.safetensors")
    assert (imported.layout, imported.ignored) == ("state dict", ())
    assert imported.dropped == ("blocks.0.attn.mask", "blocks.0.attn.IGNORE")
    again = load(tmp_path / "out.safetensors")
    assert again.tensors == imported.model.tensors == MODEL.tensors
    assert again.metadata.keys() == {"imported_layout", "imported_sha256"}


@pytest.mark.parametrize("key", ["model", "model_state_dict"])
def test_dict_with_key(torch: Any, state: dict[str, Any], tmp_path: Path, key: str) -> None:
    content = {
        key: state,
        "run_config": {"seed": 123},
        "train_metrics": [{"loss": 0.5}],
        "wandb_id": "a/b",
    }
    imported = read_checkpoint(saved(torch, tmp_path / "m.pt", content))
    assert imported.layout == f'dict with key "{key}"'
    assert imported.ignored == ("run_config", "train_metrics", "wandb_id")
    assert imported.model.tensors == MODEL.tensors


def test_lightning(torch: Any, state: dict[str, Any], tmp_path: Path) -> None:
    content = {"state_dict": {f"model.{k}": v for k, v in state.items()}, "epoch": 3, "global_step": 9}
    imported = read_checkpoint(saved(torch, tmp_path / "m.ckpt", content))
    assert (imported.layout, imported.ignored) == ("Lightning checkpoint", ("epoch", "global_step"))
    assert imported.model.tensors == MODEL.tensors


def test_bfloat16_keeps_its_bits(torch: Any, state: dict[str, Any], tmp_path: Path) -> None:
    path = saved(torch, tmp_path / "m.pt", {k: v.bfloat16() for k, v in state.items()})
    import_checkpoint(path, tmp_path / "out")
    for t in load(tmp_path / "out").tensors:
        assert t.dtype == "BF16"
        assert t.data == state[t.name].bfloat16().view(torch.int16).numpy().tobytes()


def test_a_plain_configuration_is_checked(torch: Any, state: dict[str, Any], tmp_path: Path) -> None:
    config = {
        "n_layers": 1,
        "n_heads": 1,
        "attn_only": True,
        "normalization_type": None,
        "positional_embedding_type": "standard",
        "d_model": 4,
        "attn_scale": -1.0,
    }
    path = tmp_path / "m.pt"
    saved(torch, path, {"model": state, "model_config": config})
    assert read_checkpoint(path).model.tensors == MODEL.tensors
    saved(torch, path, {"model": state, "model_config": config | {"normalization_type": "LNPre"}})
    error = refused("CONFIG_VALUE", lambda: read_checkpoint(path))
    assert (error.file, error.place) == (str(path), "cfg.normalization_type")
    saved(torch, path, {"model": state, "model_config": config | {"d_model": 5}})
    refused("CONFIG_VALUE", lambda: read_checkpoint(path))
    del config["attn_only"]
    saved(torch, path, {"model": state, "model_config": config})
    refused("CONFIG_MISSING", lambda: read_checkpoint(path))


def test_layouts_that_are_not_understood(torch: Any, state: dict[str, Any], tmp_path: Path) -> None:
    def read(content: object) -> Callable[[], object]:
        path = saved(torch, tmp_path / "m.pt", content)
        return lambda: read_checkpoint(path)

    refused("IMPORT_LAYOUT", read([1, 2]))
    refused("IMPORT_LAYOUT", read(torch.zeros(2)))
    refused("IMPORT_LAYOUT", read({"model": 3}))
    refused("IMPORT_LAYOUT", read({"model": state, "state_dict": state}))
    twice = {**state, "model.embed.W_E": state["embed.W_E"]}
    refused("IMPORT_LAYOUT", read({"state_dict": twice}))
    refused("MODEL_PREFIX", read({f"model.{k}": v for k, v in state.items()}))
    refused("MODEL_MISSING", read({}))
    refused(
        "MODEL_UNKNOWN",
        read({"state_dict": {f"model.{k}": v for k, v in state.items()} | {"t": torch.zeros(1)}}),
    )
    refused("TENSOR_UNREADABLE", read(state | {"embed.W_E": 3}))
    refused("TENSOR_TOO_LARGE", read(state | {"embed.W_E": torch.zeros(1).expand(10**6, 10**6)}))
    refused("TENSOR_NAME", read(dict(state) | {3: torch.zeros(1)}))


# --- files that are refused ----------------------------------------------------------------------------


@pytest.mark.parametrize("zipped", [True, False])
def test_pickled_objects_are_explained_and_never_run(
    torch: Any, state: dict[str, Any], tmp_path: Path, zipped: bool
) -> None:
    path, sprung = tmp_path / "m.pth", tmp_path / "sprung"
    for content, name in (({"model": state, "model_config": Config()}, "Config"), (Trap(sprung), "mkdir")):
        saved(torch, path, content, _use_new_zipfile_serialization=zipped)
        error = refused("IMPORT_PICKLED_OBJECTS", lambda: import_checkpoint(path, tmp_path / "out"))
        assert error.file == str(path)
        assert name in error.text
        assert "run code" in error.text
    path.write_bytes(pickle.dumps(Trap(sprung), protocol=2))
    refused("IMPORT_PICKLED_OBJECTS", lambda: import_checkpoint(path, tmp_path / "out"))
    assert not sprung.exists()
    pickle.loads(path.read_bytes())
    assert sprung.exists(), "the trap works, where pickles are trusted"
    assert not (tmp_path / "out").exists()


def test_damaged_files(torch: Any, state: dict[str, Any], tmp_path: Path) -> None:
    path = saved(torch, tmp_path / "m.pt", state)
    data = path.read_bytes()
    path.write_bytes(data[:-100])
    refused("IMPORT_UNREADABLE", lambda: read_checkpoint(path))
    path.write_bytes(b"hello world, this is no checkpoint")
    error = refused("IMPORT_UNREADABLE", lambda: read_checkpoint(path))
    assert "weights_only" not in error.text
    at = data.index(ARRAYS["embed.W_E"].tobytes())
    path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    refused("IMPORT_CORRUPT", lambda: read_checkpoint(path))


def test_random_damage_is_always_an_error_of_ours(torch: Any, state: dict[str, Any], tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    for zipped in (True, False):
        path = saved(torch, tmp_path / "m.pt", state, _use_new_zipfile_serialization=zipped)
        data = path.read_bytes()
        for _ in range(150):
            bad = bytearray(data)
            bad[rng.integers(len(bad))] ^= 1 << int(rng.integers(8))
            path.write_bytes(bad)
            try:
                model = read_checkpoint(path).model
            except CompactProofsError:
                continue
            # The older layout has no checksums: a changed weight cannot be told from a weight.
            assert model.tensors == MODEL.tensors or not zipped


def test_archives_that_unpack_to_too_much(torch: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a/data.pkl", "w") as entry,
    ):
        for _ in range(MAX_BYTES // (1 << 20) + 1):
            entry.write(bytes(1 << 20))
    refused("CKPT_TOO_LARGE", lambda: read_checkpoint(path))


def test_other_kinds_of_files(torch: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    path.write_bytes(encode(MODEL))
    refused("IMPORT_NOT_TORCH", lambda: read_checkpoint(path))
    refused("CKPT_NOT_REGULAR", lambda: read_checkpoint(tmp_path))
    refused("CKPT_UNREADABLE", lambda: read_checkpoint(tmp_path / "absent.pt"))
    path.write_bytes(b"")
    refused("CKPT_EMPTY", lambda: read_checkpoint(path))


# --- torch itself --------------------------------------------------------------------------------------


def test_without_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / "m.pt").write_bytes(pickle.dumps({}))
    error = refused("IMPORT_NO_TORCH", lambda: read_checkpoint(tmp_path / "m.pt"))
    assert 'pip install "compactproofs[train]" (in a checkout: pip install -e ".[train]")' in error.text


@pytest.mark.parametrize("version", ["1.13.1", "2.9.1+cpu", "unknown"])
def test_a_torch_with_an_unsafe_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    old = ModuleType("torch")
    monkeypatch.setattr(old, "__version__", version, raising=False)
    monkeypatch.setitem(sys.modules, "torch", old)
    (tmp_path / "m.pt").write_bytes(pickle.dumps({}))
    assert version in refused("IMPORT_OLD_TORCH", lambda: read_checkpoint(tmp_path / "m.pt")).text


def test_torch_is_asked_for_weights_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, object]] = []

    def fake_load(file: io.BytesIO, **options: object) -> dict[str, object]:
        asked.append(options)
        return dict(ARRAYS)

    fake = ModuleType("torch")
    monkeypatch.setattr(fake, "__version__", "2.10.0", raising=False)
    monkeypatch.setattr(fake, "load", fake_load, raising=False)
    monkeypatch.setitem(sys.modules, "torch", fake)
    (tmp_path / "m.pt").write_bytes(pickle.dumps({}))
    assert read_checkpoint(tmp_path / "m.pt").model.tensors == MODEL.tensors
    assert asked == [{"map_location": "cpu", "weights_only": True}]


# --- the output ----------------------------------------------------------------------------------------


def test_the_output_is_protected(torch: Any, state: dict[str, Any], tmp_path: Path) -> None:
    path = saved(torch, tmp_path / "m.pt", state)
    before = path.read_bytes()
    (tmp_path / "link").symlink_to(path)
    for same in (path, tmp_path / "link"):
        refused("IMPORT_SAME_FILE", lambda out=same: import_checkpoint(path, out, overwrite=True))  # type: ignore[misc]
    assert path.read_bytes() == before
    out = tmp_path / "out"
    out.write_bytes(b"old")
    refused("FILE_EXISTS", lambda: import_checkpoint(path, out))
    assert out.read_bytes() == b"old"
    import_checkpoint(path, out, overwrite=True)
    first = out.read_bytes()
    import_checkpoint(path, out, overwrite=True)
    assert out.read_bytes() == first


def test_what_was_written_is_compared(
    torch: Any, state: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(torch, tmp_path / "m.pt", state)
    other = from_arrays(ARRAYS | {"unembed.b_U": np.zeros(5, "<f4")})
    monkeypatch.setattr(importer, "save_safetensors", lambda _, out, over: save_safetensors(other, out, over))
    error = refused("IMPORT_MISMATCH", lambda: import_checkpoint(path, tmp_path / "out"))
    assert other.sha256 in error.text
