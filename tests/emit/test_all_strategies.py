"""The command certify with sub-cubic names and with all strategies at once, on a model small enough for a second."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from compactproofs.core.checkpoint import encode
from compactproofs.core.model import SHAPES, Tensor, build
from compactproofs.emit.all_strategies import file_name, table
from compactproofs.emit.certify_cmd import certify

SIZES = {"1": 1, "d_vocab": 4, "d_vocab_out": 4, "n_ctx": 2, "d_model": 3, "d_head": 3}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    rng = np.random.default_rng(11)
    tensors = []
    for name, symbols in SHAPES.items():
        if ".b_" not in name:
            shape = tuple(SIZES[s] for s in symbols)
            tensors.append(Tensor(name, "F32", shape, rng.standard_normal(shape).astype("<f4").tobytes()))
    path = tmp_path / "tiny.safetensors"
    path.write_bytes(encode(build("tiny", tensors, {})))
    return path


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(certify, [str(a) for a in arguments])
    return result.exit_code, result.output


@pytest.mark.slow
def test_every_strategy_is_certified_and_checked(model: Path, tmp_path: Path) -> None:
    target = tmp_path / "certificates"
    status, output = run("--exact", model, "--strategy", "all", "-o", target, "--json")
    rows = json.loads(output)
    assert status == 0 and [row.get("error") for row in rows] == [None] * len(rows)
    assert [row["strategy"] for row in rows[:3]] == ["brute-force", "cubic", "subcubic:1"]
    assert len(rows) >= 103 and all(row["operations"] > 0 for row in rows)
    exact = int(rows[0]["lower"][0])
    assert all(int(row["lower"][0]) <= exact for row in rows)
    assert {Path(row["output"]) for row in rows} == set(target.iterdir())
    lines = table(rows)
    assert len(lines) == len(rows) + 2 and lines[-1].startswith(f"{len(rows)} certificates")


def test_a_strategy_in_an_edition_names_itself(model: Path, tmp_path: Path) -> None:
    target = tmp_path / "c.json"
    status, output = run("--exact", model, "--strategy", "subcubic:9:tight", "-o", target)
    assert status == 0 and output.startswith("subcubic:9:tight: at least ") and "VERIFIED" in output


def test_the_published_number_is_an_estimate(model: Path) -> None:
    status, output = run(model, "--strategy", "subcubic:69:as-published")
    assert status == 0 and "this is no proof" in output


def test_estimates_of_all_strategies_say_so() -> None:
    rows = [{"strategy": "cubic", "summary": "s", "estimate": ["1", "4"], "seconds": 0.5}]
    lines = table([*rows, {"strategy": "subcubic:1", "summary": "s", "error": "X: y", "seconds": 0.1}])
    assert "25.000000 %" in lines[1] and "X: y" in lines[2] and "no proof" in lines[-1]


def test_file_names_sort_by_number() -> None:
    assert file_name("subcubic:7:tight") == "subcubic-007-tight.json"
    assert file_name("margin-tree") == "margin-tree.json"


def test_unknown_names_are_errors(model: Path) -> None:
    assert run(model, "--strategy", "subcubic:200")[0] != 0
    assert run(model, "--strategy", "all:fast")[0] != 0


def test_a_bound_is_for_one_strategy(model: Path) -> None:
    status, output = run(model, "--strategy", "all", "--claim", "accuracy >= 99%")
    assert status == 2
    assert "a bound in the claim is for one strategy" in output
