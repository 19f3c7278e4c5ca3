"""sweep --train: models that are named by their training, each trained once."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from compactproofs.core import train
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.seeds import PAPER_SEEDS
from compactproofs.core.train import TrainConfig, blank_model, file_name
from compactproofs.emit import sweep_cmd, sweep_train
from compactproofs.emit.console import guarded
from compactproofs.emit.sweep_train import configurations
from made import MODEL, run

TINY = "k=2,vocab=3,width=4,steps=3,seeds=1..2"
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="training needs torch")


def sweep(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any], str]:
    """Exit status, report, and what was said beside it; in this process, so that a test can stand in for torch."""
    try:
        status = guarded(sweep_cmd.sweep, ["-o", str(folder), "--json", *words])
    except SystemExit as end:
        status = int(str(end.code))
    said = capsys.readouterr()
    return status, json.loads(said.out) if said.out else {}, said.err


def test_specifications() -> None:
    assert configurations("k=4,vocab=64,seeds=123..125") == [TrainConfig(4, 64, seed=n) for n in (123, 124, 125)]
    grid = configurations(" length = 2 + 3 , v=5, d=8, steps=7, seed=1+4+1 ")
    assert grid == [TrainConfig(k, 5, 8, 7, seed) for k in (2, 3) for seed in (1, 4)]
    assert [each.seed for each in configurations("seeds=all")] == list(PAPER_SEEDS)
    blank = blank_model(TrainConfig(3, 5, 8))
    assert (blank.n_ctx, blank.d_vocab, blank.d_vocab_out, blank.d_model) == (3, 5, 5, 8)


@pytest.mark.parametrize(
    "text",
    ["", "k", "k=", "k=4,k=5", "k=4,length=5", "q=4", "k=-1", "k=1e3", "k=٤", "seeds=5..3", "seeds=1..20000", "k=all",
     "k=1..100,v=2..200", "v=1", "k=4;v=64"],
)  # fmt: skip
def test_bad_specifications(tmp_path: Path, text: str) -> None:
    with pytest.raises(CompactProofsError, match=r"TRAIN_SPEC|TRAIN_SETTING"):
        configurations(text)


def test_without_torch_nothing_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(train, "find_spec", lambda name: None)
    status, _, said = sweep(tmp_path / "out", capsys, "--train", TINY, str(MODEL), "--strategy", "cubic")
    assert status == 2
    assert "TRAIN_TORCH" in said
    assert 'pip install "compactproofs[train]" (in a checkout: pip install -e ".[train]")' in said
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_claimed_is_refused_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sweep_train, "train_model", lambda config: pytest.fail("trained"))
    for words in (("--claim", "accuracy of max of 9 tokens"), ("--claim", "acuracy"), ("--strategy", "cubik")):
        status, _, said = sweep(tmp_path / "out", capsys, "--train", TINY, *words)
        assert status == 2 and said.startswith("error: ")
        assert not (tmp_path / "out").exists()
    assert "give MODELS, or --train SPEC" in sweep(tmp_path / "out", capsys)[2]


def test_a_training_that_fails_is_a_row_for_each_strategy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def diverge(config: TrainConfig) -> None:
        raise CompactProofsError("TRAIN_DIVERGED", "the loss is nan")

    monkeypatch.setattr(sweep_train, "train_model", diverge)
    monkeypatch.setattr(sweep_train, "require_torch", lambda: None)
    words = ("--train", TINY, str(MODEL), "--strategy", "cubic", "--strategy", "subcubic:1")
    status, report, _ = sweep(tmp_path, capsys, *words)
    assert status == 1
    assert [row["error"][:14] for row in report["rows"]] == ["", ""] + ["TRAIN_DIVERGED"] * 4
    assert report["trained"] == 0


@needs_torch
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_models_are_trained_once(
    tmp_path: Path, jobs: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if jobs != "1":
        pytest.importorskip("joblib")
    words = ("--train", TINY, "--strategy", "auto", "--strategy", "cubic", "--jobs", jobs)
    status, first, said = sweep(tmp_path, capsys, *words)
    assert status == 0, said
    models = sorted((tmp_path / "models").iterdir())
    assert [path.name for path in models] == [file_name(config) for config in configurations(TINY)]
    assert [(Path(row["model"]).name, row["strategy"]) for row in first["rows"]] == [
        (path.name, strategy) for path in models for strategy in ("auto", "cubic")
    ]
    assert (first["trained"], first["reused"]) == (2, 0)
    times = [path.stat().st_mtime_ns for path in models]
    # nothing is left to train, so torch is not asked for
    monkeypatch.setattr(train, "find_spec", lambda name: None)
    _, again, _ = sweep(tmp_path, capsys, *words)
    assert (again["trained"], again["reused"]) == (0, 4)
    assert [path.stat().st_mtime_ns for path in models] == times
    monkeypatch.undo()
    models[0].unlink()
    _, third, _ = sweep(tmp_path, capsys, *words)
    assert (third["trained"], third["reused"]) == (1, 4)  # the same bytes, so the certificates stand
    models[0].write_bytes(models[1].read_bytes())
    status, _, said = sweep(tmp_path, capsys, *words)
    assert status == 2 and "TRAIN_OTHER" in said and "seed" in said


@needs_torch
def test_the_command(tmp_path: Path) -> None:
    done = run("sweep", "--train", TINY, "-o", tmp_path, "--strategy", "brute-force")
    assert done.returncode == 0, done.stderr
    assert "2 of 2 VERIFIED" in done.stdout
