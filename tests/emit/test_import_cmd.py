"""The import command: what it prints, and its exit codes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from compactproofs.core.checkpoint import encode, from_arrays, load
from compactproofs.core.model import SHAPES
from compactproofs.emit.import_cmd import import_

SIZES = {"1": 1, "d_vocab": 6, "d_vocab_out": 5, "n_ctx": 3, "d_model": 4, "d_head": 2}
RNG = np.random.default_rng(7)
ARRAYS = {n: RNG.standard_normal([SIZES[s] for s in symbols]).astype("<f4") for n, symbols in SHAPES.items()}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(import_, [str(a) for a in arguments])


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    torch: Any = pytest.importorskip("torch")
    path = tmp_path / "m.pth"
    state = {name: torch.from_numpy(array.copy()) for name, array in ARRAYS.items()}
    state["blocks.0.attn.mask"] = torch.ones(3, 3).bool().tril()
    torch.save({"model": state, "wandb_id": "x", "run_config": {}}, path)
    return path


def test_success(checkpoint: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.safetensors"
    result = run(checkpoint, "-o", out)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        f"wrote {out}",
        'layout: dict with key "model"',
        "model: 6 tokens in, 5 out, 3 positions, d_model 4, d_head 2, F32",
        f"sha256: {from_arrays(ARRAYS).sha256}",
        "ignored keys: run_config, wandb_id",
        "dropped buffers: blocks.0.attn.mask",
    ]
    assert load(out).tensors == from_arrays(ARRAYS).tensors


def test_overwriting_takes_force(checkpoint: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.safetensors"
    out.write_bytes(b"old")
    result = run(checkpoint, "--output", out)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"error: {out}: FILE_EXISTS: ")
    assert out.read_bytes() == b"old"
    assert run(checkpoint, "-o", out, "--force").exit_code == 0
    assert load(out).n_ctx == 3


def test_bad_input(tmp_path: Path) -> None:
    out = tmp_path / "m.safetensors"
    result = run(tmp_path / "absent.pt", "-o", out)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "CKPT_UNREADABLE" in result.stderr
    (tmp_path / "already").write_bytes(encode(from_arrays(ARRAYS)))
    result = run(tmp_path / "already", "-o", out)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "IMPORT_NOT_TORCH" in result.stderr
    assert not out.exists()


def test_usage() -> None:
    assert run().exit_code == 2
    assert run("m.pt").exit_code == 2
    assert import_.name == "import"
    assert "Exit status: 0 written and compared, 2 bad input." in " ".join(run("--help").stdout.split())
