"""The command `train`: options, skipping, interruption, table."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from compactproofs.core import train as trainer
from compactproofs.core.arrays import from_arrays
from compactproofs.core.checkpoint import save_safetensors
from compactproofs.core.train import Progress, TrainConfig, Trained
from compactproofs.emit import train_cmd
from compactproofs.emit.train_cmd import model_table, train

TINY = ["-k", "2", "-v", "3", "-d", "2", "--steps", "3"]
NAME = "max_of_2_v3_d2_steps3_seed{}.safetensors"
MODELS = Path(__file__).parents[2] / "models"


def constant_model(config: TrainConfig, progress: Progress | None = None) -> Trained:
    """What stands in for training: all weights 1, at once."""
    if progress is not None:
        progress(config.steps, 0.5)
    v, d = config.vocabulary, config.width
    shapes = {
        trainer.W_E: (v, d), trainer.W_POS: (config.length, d), trainer.W_U: (d, v),
        trainer.W_Q: (1, d, d), trainer.W_K: (1, d, d), trainer.W_V: (1, d, d), trainer.W_O: (1, d, d),
    }  # fmt: skip
    weights = {name: np.ones(shape, np.float32) for name, shape in shapes.items()}
    return Trained(config, weights, (0.5,), (0.75,), "none")


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Replace training by constant weights; returns the list of seeds trained."""
    seeds: list[int] = []

    def noted(config: TrainConfig, progress: Progress | None = None) -> Trained:
        seeds.append(config.seed)
        return constant_model(config, progress)

    monkeypatch.setattr(train_cmd, "train_model", noted)
    return seeds


def run(*arguments: str) -> Result:
    return CliRunner().invoke(train, [*TINY, *arguments])


def test_seeds_from_both_options_in_order_without_repetition(calls: list[int], tmp_path: Path) -> None:
    result = run("--seed", "5", "--seed", "123", "--seeds", "519, 5", "--out-dir", str(tmp_path / "new" / "dir"))
    assert result.exit_code == 0, result.output
    assert calls == [5, 123, 519]
    files = {entry.name for entry in (tmp_path / "new" / "dir").iterdir()}
    assert files == {NAME.format(seed) for seed in calls}
    assert "trained, accuracy 75.0000%, loss 0.50000" in result.output


def test_default_is_seed_123_in_the_current_folder(
    calls: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run().exit_code == 0
    assert (tmp_path / NAME.format(123)).is_file()


def test_all_seeds(calls: list[int], tmp_path: Path) -> None:
    assert run("--all-seeds", "--out-dir", str(tmp_path)).exit_code == 0
    assert len(calls) == len(list(tmp_path.iterdir())) == 151


def test_a_finished_sweep_is_skipped_and_an_unfinished_one_resumed(calls: list[int], tmp_path: Path) -> None:
    assert run("--seeds", "1,2", "--out-dir", str(tmp_path)).exit_code == 0
    result = run("--seeds", "1,2,3", "--out-dir", str(tmp_path))
    assert result.exit_code == 0
    assert calls == [1, 2, 3]
    assert result.output.count("skipped, already trained") == 2


def test_force_trains_again(calls: list[int], tmp_path: Path) -> None:
    assert run("--seed", "1", "--out-dir", str(tmp_path)).exit_code == 0
    assert run("--seed", "1", "--out-dir", str(tmp_path), "--force").exit_code == 0
    assert calls == [1, 1]


def test_another_model_in_the_way_stops_before_any_training(calls: list[int], tmp_path: Path) -> None:
    path = tmp_path / NAME.format(2)
    assert run("--seed", "7", "-o", str(path)).exit_code == 0
    before = path.read_bytes()
    result = run("--seeds", "1,2", "--out-dir", str(tmp_path))
    assert result.exit_code == 2
    assert f"{path} exists and is another model: its seed is '7', not '2'" in result.output
    assert calls == [7]
    assert path.read_bytes() == before


def test_a_damaged_file_in_the_way_is_named(calls: list[int], tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    assert run("-o", str(path)).exit_code == 0
    path.write_bytes(path.read_bytes()[:-1])
    result = run("-o", str(path))
    assert result.exit_code == 2
    assert f"{path} exists and is no readable model (CKPT_" in result.output
    assert "--force" in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--all-seeds", "--seed", "1"], "--all-seeds already means every seed"),
        (["--seeds", "1,two"], "'two' is not a seed"),
        (["--seeds", "1,,2"], "'' is not a seed"),
        (["--seeds", "-3"], "'-3' is not a seed"),
        (["--seeds", "٣"], "'٣' is not a seed"),
        (["--seed", "-3"], "seed: TRAIN_SETTING: is -3, must be at least 0"),
        (["-k", "0"], "length: TRAIN_SETTING: is 0"),
        (["-o", "a", "--out-dir", "b"], "not both"),
        (["-o", "a", "--seeds", "1,2"], "-o names one file, but 2 seeds are asked for; use --out-dir"),
        (["-o", "missing/a"], "missing is not a folder"),
        (["-o", "."], ". is a folder; give a file to -o"),
        (["--table", "missing"], "missing"),
    ],
)
def test_usage_errors(
    calls: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert calls == []
    assert list(tmp_path.iterdir()) == []


def test_an_output_folder_that_is_a_file_is_named(calls: list[int], tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    result = run("--out-dir", str(tmp_path / "file"))
    assert result.exit_code == 2
    assert f"{tmp_path / 'file'}: cannot make the folder" in result.output


def test_help_has_examples() -> None:
    result = CliRunner().invoke(train, ["--help"])
    assert result.exit_code == 0
    assert "compactproofs train --all-seeds --out-dir sweep" in result.output


def test_an_interruption_exits_130_and_keeps_only_whole_files(
    calls: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(config: TrainConfig, progress: Progress | None = None) -> Trained:
        if config.seed == 2:
            raise KeyboardInterrupt
        return constant_model(config, progress)

    monkeypatch.setattr(train_cmd, "train_model", interrupted)
    result = run("--seeds", "1,2,3", "--out-dir", str(tmp_path))
    assert result.exit_code == 130
    assert [entry.name for entry in tmp_path.iterdir()] == [NAME.format(1)]


def test_no_progress_without_a_terminal(calls: list[int], tmp_path: Path) -> None:
    result = run("--out-dir", str(tmp_path))
    assert "seed 123 (1/1)" not in result.output


def test_progress_on_a_terminal_shows_the_time_left(
    calls: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    result = run("--out-dir", str(tmp_path))
    assert result.exit_code == 0
    assert "seed 123 (1/1)" in result.output
    assert "left" in result.output


def test_table(calls: list[int], tmp_path: Path) -> None:
    assert run("--seeds", "10,9", "--out-dir", str(tmp_path)).exit_code == 0
    weights = constant_model(TrainConfig(2, 3, 2, 3)).weights
    save_safetensors(from_arrays(weights), tmp_path / "foreign.safetensors")
    result = CliRunner().invoke(train, ["--table", str(tmp_path)])
    assert result.exit_code == 0
    rows = [line for line in result.output.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{NAME.format(s)}` | 2 | 3 | 2 | {s} | 3 | 75.0000% | 0.50000 | none |" for s in (9, 10)]
    assert "foreign.safetensors: left out" in result.output


def test_table_of_an_empty_folder(tmp_path: Path) -> None:
    result = CliRunner().invoke(train, ["--table", str(tmp_path)])
    assert result.exit_code == 2
    assert "TRAIN_NO_MODELS" in result.output


def test_readme_of_the_shipped_models_holds_the_current_table() -> None:
    assert model_table(MODELS) in (MODELS / "README.md").read_text(encoding="utf-8")


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_ctrl_c_of_a_real_process(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason='PyTorch is missing (pip install "compactproofs[train]")')
    code = (
        "from compactproofs.emit import train_cmd as c; import os, signal\n"
        "real = c.train_model\n"
        "def strike(step, loss):\n"
        "    if step == 5: os.kill(os.getpid(), signal.SIGINT)\n"
        "c.train_model = lambda config, progress: real(config, strike)\n"
        "c.train()"
    )
    command = [sys.executable, "-c", code, "-k", "2", "-v", "3", "-d", "2", "--out-dir", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 128 + signal.SIGINT
    assert "interrupted" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_real_training_through_the_command(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason='PyTorch is missing (pip install "compactproofs[train]")')
    for name in ("a", "b"):
        assert run("--seed", "9", "-o", str(tmp_path / name)).exit_code == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
