"""Turn torch checkpoints into safetensors files, without running anything that the file brings along.

A torch checkpoint is a pickle, and a pickle is a program. Only torch's weights-only reader is used, which
builds tensors and plain containers; a file that needs more is refused with an explanation.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import os
import re
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Final

from .arrays import check_settings, check_sizes, from_arrays, settings_of
from .checkpoint import load, read_regular, save_safetensors
from .errors import CompactProofsError, shown
from .extras import installing
from .files import FilePath, check_target
from .model import IGNORE, MASK, MAX_BYTES, Model

OLDEST_TORCH: Final = (2, 10)
"""Before this release a crafted file can run code or corrupt memory even in a weights-only load."""

CONFIG_KEYS: Final = ("model_config", "cfg", "config")
LIGHTNING_PREFIX: Final = "model."
PLAIN_KEYS: Final = ("model", "model_state_dict")
"""Where training scripts put the state dict, beside an optimiser's and the like."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What was read from a checkpoint: the model, and what was left out of it."""

    model: Model
    layout: str
    ignored: tuple[str, ...]
    dropped: tuple[str, ...]


def import_checkpoint(path: FilePath, output: FilePath, overwrite: bool = False) -> Imported:
    """Read a torch checkpoint, write it to `output` as safetensors, and compare what a reader gets back.

    Raises the codes of `read_checkpoint` and of `checkpoint.save_safetensors`, IMPORT_SAME_FILE, and
    IMPORT_MISMATCH when the written file is not the model.
    """
    if os.path.exists(output) and os.path.exists(path) and os.path.samefile(path, output):
        text = f"input and output {shown(os.fspath(output))} are one file; choose another output"
        raise CompactProofsError("IMPORT_SAME_FILE", text, os.fspath(path))
    check_target(output, overwrite)
    imported = read_checkpoint(path)
    save_safetensors(imported.model, output, overwrite)
    again = load(output)
    if again.tensors != imported.model.tensors or again.metadata != imported.model.metadata:
        text = f"holds sha256 {again.sha256}, needed {imported.model.sha256}; do not use this file"
        raise CompactProofsError("IMPORT_MISMATCH", text, os.fspath(output))
    return imported


def read_checkpoint(path: FilePath) -> Imported:
    """The model in a torch checkpoint: a state dict, a dict with key "model" or "model_state_dict", or Lightning's.

    A plain configuration that lies beside the weights is checked too. Raises IMPORT_NO_TORCH,
    IMPORT_OLD_TORCH, IMPORT_NOT_TORCH, IMPORT_PICKLED_OBJECTS, IMPORT_UNREADABLE, IMPORT_CORRUPT,
    IMPORT_LAYOUT, the CKPT_* codes of `checkpoint.read_regular`, the CONFIG_* codes of `arrays`, and the
    codes of `arrays.from_arrays`.
    """
    source = os.fspath(path)
    try:
        data = read_regular(path)
        content = _unpickle(data)
        layout, state, extra = _split(content)
    except CompactProofsError as error:
        raise error.within(source) from None
    settings = [settings_of(extra[key]) for key in CONFIG_KEYS if _is_config(extra.get(key))]
    for setting in settings:
        check_settings(setting, source)
    note = {"imported_layout": layout, "imported_sha256": hashlib.sha256(data).hexdigest()}
    model = from_arrays(state, source, note)
    for setting in settings:
        check_sizes(setting, model)
    dropped = tuple(name for name in (MASK, IGNORE) if name in state)
    return Imported(model, layout, tuple(sorted(map(str, extra))), dropped)


def _is_config(value: object) -> bool:
    # A dict of run options may have any of these names; one with both keys describes a model.
    return isinstance(value, Mapping) and "n_layers" in value and "d_model" in value


def _torch() -> ModuleType:
    """torch, recent enough. Raises IMPORT_NO_TORCH, IMPORT_OLD_TORCH."""
    needed = ".".join(map(str, OLDEST_TORCH))
    advice = f"needed {needed} or later; run: {installing('train')}"
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        raise CompactProofsError("IMPORT_NO_TORCH", f"reading this file takes torch, {advice}") from None
    version = re.match(r"(\d+)\.(\d+)", str(torch.__version__))
    if version is None or (int(version[1]), int(version[2])) < OLDEST_TORCH:
        text = f"torch {torch.__version__} reads untrusted files unsafely, {advice}"
        raise CompactProofsError("IMPORT_OLD_TORCH", text)
    return torch


def _unpickle(data: bytes) -> object:
    if data[8:9] == b"{":
        text = "already safetensors; use the file as it is"
        raise CompactProofsError("IMPORT_NOT_TORCH", text)
    if data[:4] == b"PK\x03\x04":
        _refuse_numpy(data)
    torch = _torch()
    try:
        if data[:4] == b"PK\x03\x04":
            _check_zip(data)
        with warnings.catch_warnings():
            # Remarks on unusual pickles; the outcome, a model or a refusal, says all that matters.
            warnings.simplefilter("ignore")
            content: object = torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
    except CompactProofsError:
        raise
    except Exception as error:
        # Damaged files end in a dozen exception classes, AssertionError and KeyError among them.
        raise _refusal(error) from None
    return content


def _refuse_numpy(data: bytes) -> None:
    """An archive of numpy arrays needs no torch. Raises IMPORT_NOT_TORCH."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile:
        return  # torch's reader says what is wrong with it
    if names and all(name.endswith(".npy") for name in names):
        text = "an archive of numpy arrays (.npz); in Python: save_safetensors(load(dict(numpy.load(FILE))), OUT)"
        text += " with compactproofs.core.checkpoint.save_safetensors and compactproofs.emit.load"
        raise CompactProofsError("IMPORT_NOT_TORCH", text)


def _check_zip(data: bytes) -> None:
    """torch ignores the checksums of its archives. Raises IMPORT_CORRUPT, CKPT_TOO_LARGE."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
        if size > MAX_BYTES:
            text = f"{size} bytes when unpacked, at most {MAX_BYTES} are read"
            raise CompactProofsError("CKPT_TOO_LARGE", text)
        bad = archive.testzip()
    if bad is not None:
        text = f"entry {shown(bad)} differs from its checksum; copy the file again"
        raise CompactProofsError("IMPORT_CORRUPT", text)


def _refusal(error: Exception) -> CompactProofsError:
    message = str(error)
    named = re.search(r"GLOBAL (\S+)", message)
    if named:
        text = (
            f"holds a pickled object ({shown(named[1])}), and loading that would run code from the file; "
            "only tensors and plain dicts are read. Where you trust the file and have the packages it needs: "
            "state = torch.load(FILE, weights_only=False)['model']; torch.save(dict(state), 'weights.pth'); "
            "then import weights.pth"
        )
        return CompactProofsError("IMPORT_PICKLED_OBJECTS", text)
    # torch's own first lines advise switching the protection off; they are not repeated.
    lines = [line.strip() for line in message.splitlines() if line.strip() and "weights_only" not in line]
    reason = shown(lines[0]) if lines else "no reason given"
    text = f"not a torch checkpoint, or damaged ({type(error).__name__}: {reason}); copy or save it again"
    return CompactProofsError("IMPORT_UNREADABLE", text)


def _split(content: object) -> tuple[str, dict[str, object], dict[object, object]]:
    """Layout, state dict, and the other entries. Raises IMPORT_LAYOUT."""
    if not isinstance(content, Mapping):
        text = f"holds a {type(content).__name__}, needed a dict of tensors"
        raise CompactProofsError("IMPORT_LAYOUT", text)
    keys = [key for key in (*PLAIN_KEYS, "state_dict") if key in content]
    if not keys:
        return "state dict", dict(content), {}
    if len(keys) > 1:
        text = f"has {' and '.join(map(repr, keys))}, needed one of them; save the state dict alone"
        raise CompactProofsError("IMPORT_LAYOUT", text)
    state = content[keys[0]]
    if not isinstance(state, Mapping):
        text = f"is a {type(state).__name__}, needed a dict of tensors"
        raise CompactProofsError("IMPORT_LAYOUT", text, place=f'key "{keys[0]}"')
    extra = {key: value for key, value in content.items() if key != keys[0]}
    if keys[0] in PLAIN_KEYS:
        return f'dict with key "{keys[0]}"', dict(state), extra
    return "Lightning checkpoint", _without_prefix(state), extra


def _without_prefix(state: Mapping[str, object]) -> dict[str, object]:
    result: dict[str, object] = {}
    for key, value in state.items():
        name = key.removeprefix(LIGHTNING_PREFIX) if isinstance(key, str) else key
        if name in result:
            text = f"given twice, with and without the prefix {LIGHTNING_PREFIX!r}"
            raise CompactProofsError("IMPORT_LAYOUT", text, place=str(name))
        result[name] = value
    return result
