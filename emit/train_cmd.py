"""The command `train`: train models in the published configuration and write them as safetensors files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as ProgressBar

from ..core.checkpoint import load
from ..core.errors import CompactProofsError
from ..core.seeds import PAPER_SEEDS
from ..core.train import (
    Progress,
    TrainConfig,
    Trained,
    difference,
    file_name,
    train_model,
    write_model,
)
from .start import INTERRUPTED

SHOWN_EVERY = 10
"""Steps between two updates of the progress bar; a step takes about a millisecond."""

COLUMNS = ("file", "length", "vocabulary", "width", "seed", "steps", "train accuracy", "train loss", "torch")

EPILOG = """\b
Examples:
  # the paper's main model, to max_of_4_v64_seed123.safetensors
  compactproofs train
  # Max-of-10 over 128 tokens, three seeds
  compactproofs train -k 10 --vocabulary 128 --seeds 123,519,1185 --out-dir models
  # all 151 seeds of the paper; the same command again goes on after an interruption
  compactproofs train --all-seeds --out-dir sweep
  # a table of what a folder holds
  compactproofs train --table models
"""


def _parse_seeds(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[int, ...]:
    """Read `123,519` into integers; a usage error names the piece that is none."""
    if value is None:
        return ()
    seeds: list[int] = []
    for piece in value.split(","):
        text = piece.strip()
        # isascii, because isdecimal alone accepts the digits of every script
        if not (text.isascii() and text.isdecimal()):
            raise click.BadParameter(f"{text!r} is not a seed; write numbers with commas, as in 123,519")
        seeds.append(int(text))
    return tuple(seeds)


@click.command("train", epilog=EPILOG, context_settings={"show_default": True})
@click.option("-k", "--length", default=4, help="Tokens per sequence, the query position included.")
@click.option("-v", "--vocabulary", default=64, help="Number of different tokens.")
@click.option("-d", "--width", default=32, help="Width of the residual stream and of the head.")
@click.option("--steps", default=3000, help="Optimiser steps of 128 sequences each.")
@click.option("--seed", "single_seeds", type=int, multiple=True, help="Seed, 123 if none is given; may be repeated.")
@click.option("--seeds", "listed_seeds", callback=_parse_seeds, help="Several seeds, as in 123,519.")
@click.option("--all-seeds", is_flag=True, help="The 151 seeds of the paper.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="File to write; for one seed.")
@click.option("--out-dir", type=click.Path(path_type=Path), help="Folder to write to, one file per seed.")
@click.option("--threads", default=1, help="CPU threads; the last bits of the weights depend on it.")
@click.option("--force", is_flag=True, help="Train again and replace files that exist.")
@click.option(
    "--table", type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Train nothing: print a Markdown table of the models in this folder.",
)  # fmt: skip
def train(
    length: int,
    vocabulary: int,
    width: int,
    steps: int,
    single_seeds: tuple[int, ...],
    listed_seeds: tuple[int, ...],
    all_seeds: bool,
    output: Path | None,
    out_dir: Path | None,
    threads: int,
    force: bool,
    table: Path | None,
) -> None:
    """Train one-layer attention-only Max-of-k models in the paper's configuration.

    Needs the extra: pip install "compactproofs[train]" (in a checkout: pip install -e ".[train]"). The same options
    give the same bytes on one kind of processor and one torch version. A file that already holds the wanted model is
    skipped, so a sweep can be stopped and started again.
    """
    try:
        if table is not None:
            click.echo(model_table(table), nl=False)
            return
        seeds = _chosen_seeds(single_seeds, listed_seeds, all_seeds)
        configs = [TrainConfig(length, vocabulary, width, steps, seed, threads) for seed in seeds]
        _train_all(_plan(configs, _targets(configs, output, out_dir), force), force)
    except CompactProofsError as error:
        raise click.UsageError(str(error)) from None
    except KeyboardInterrupt:
        click.echo("interrupted; finished files stay, the same command goes on from there", err=True)
        sys.exit(INTERRUPTED)


def model_table(folder: Path) -> str:
    """A Markdown table of the trained models in `folder`, from their metadata, ordered by size and seed.

    Raises TRAIN_NO_MODELS if there is none, and as checkpoint.load does if a file is damaged. Models of
    other origin are left out, with a word on stderr.
    """
    rows: list[tuple[tuple[int, ...], tuple[str, ...]]] = []
    for path in sorted(folder.glob("*.safetensors")):
        found = load(path).metadata
        try:
            order = tuple(int(found[key]) for key in ("length", "vocabulary", "width", "steps", "seed"))
            accuracy = f"{float(found['train_accuracy_last_100']):.4%}"
            loss = f"{float(found['train_loss_last_100']):.5f}"
            cells = tuple(found[key] for key in ("length", "vocabulary", "width", "seed", "steps"))
            rows.append((order, (f"`{path.name}`", *cells, accuracy, loss, found["torch"])))
        except (KeyError, ValueError):
            click.echo(f"{path}: left out, its metadata is not that of `train`", err=True)
    if not rows:
        text = "no model written by `train` is here; give the folder that was --out-dir"
        raise CompactProofsError("TRAIN_NO_MODELS", text, str(folder))
    lines = [COLUMNS, tuple("---" for _ in COLUMNS), *(cells for _, cells in sorted(rows))]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)


def _chosen_seeds(single: tuple[int, ...], listed: tuple[int, ...], every: bool) -> tuple[int, ...]:
    """The wanted seeds in the order given, without repetition; seed 123 if none is named."""
    if every and (single or listed):
        raise click.UsageError("--all-seeds already means every seed; leave out --seed and --seeds")
    if every:
        return PAPER_SEEDS
    return tuple(dict.fromkeys(single + listed)) or (TrainConfig().seed,)


def _targets(configs: Sequence[TrainConfig], output: Path | None, out_dir: Path | None) -> tuple[Path, ...]:
    """The file of each model; makes the output folder if it is missing."""
    if output is not None and out_dir is not None:
        raise click.UsageError("give either -o FILE or --out-dir FOLDER, not both")
    if output is not None:
        if len(configs) > 1:
            raise click.UsageError(f"-o names one file, but {len(configs)} seeds are asked for; use --out-dir")
        if not output.parent.is_dir():
            raise click.UsageError(f"{output.parent} is not a folder; make it first, or choose another -o")
        return (output,)
    folder = out_dir if out_dir is not None else Path()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.UsageError(f"{folder}: cannot make the folder: {error.strerror or error}") from None
    return tuple(folder / file_name(config) for config in configs)


def _plan(configs: Sequence[TrainConfig], paths: Sequence[Path], force: bool) -> tuple[tuple[TrainConfig, Path], ...]:
    """The models that are still to be trained. A file in the way stops everything before the first step."""
    wanted: list[tuple[TrainConfig, Path]] = []
    for config, path in zip(configs, paths, strict=True):
        if path.is_dir():
            raise click.UsageError(f"{path} is a folder; give a file to -o, or use --out-dir")
        if not os.access(path.parent, os.W_OK):
            raise click.UsageError(f"{path.parent}: no permission to write here; choose another folder")
        if force or not path.exists():
            wanted.append((config, path))
            continue
        reason = _obstacle(path, config)
        if reason is not None:
            raise click.UsageError(f"{path} exists and {reason}; use another name, or --force to replace it")
        click.echo(f"{path}: skipped, already trained")
    return tuple(wanted)


def _obstacle(path: Path, config: TrainConfig) -> str | None:
    """What an existing file is, if it is not the wanted model."""
    try:
        reason = difference(path, config)
    except CompactProofsError as error:
        return f"is no readable model ({error.code}: {error.text})"
    return None if reason is None else f"is another model: {reason}"


def _train_all(plan: Sequence[tuple[TrainConfig, Path]], force: bool) -> None:
    """Train and write one model after the other."""
    with _progress(plan) as callbacks:
        for (config, path), progress in zip(plan, callbacks, strict=True):
            trained = train_model(config, progress)
            write_model(trained, path, overwrite=force)
            click.echo(f"{path}: {_summary(trained)}")


def _summary(trained: Trained) -> str:
    return f"trained, accuracy {trained.accuracy:.4%}, loss {trained.loss:.5f} (last 100 steps)"


@contextmanager
def _progress(plan: Sequence[tuple[TrainConfig, Path]]) -> Iterator[list[Progress | None]]:
    """One callback per model that feeds a bar over all steps of the sweep; none without a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal or not plan:
        yield [None] * len(plan)
        return
    total = sum(config.steps for config, _ in plan)
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("left"), TimeRemainingColumn(), TextColumn("loss {task.fields[loss]:.4f}"),
    )  # fmt: skip
    with ProgressBar(*columns, console=console, transient=True) as bar:
        task = bar.add_task("train", total=total, loss=0.0)
        callbacks: list[Progress | None] = []
        done = 0
        for number, (config, _) in enumerate(plan, start=1):
            text = f"seed {config.seed} ({number}/{len(plan)})"
            callbacks.append(_callback(bar, task, text, done, config.steps))
            done += config.steps
        yield callbacks


def _callback(bar: ProgressBar, task: TaskID, text: str, before: int, steps: int) -> Progress:
    """Feed the bar from one model, whose first step follows `before` steps of earlier models."""

    def show(step: int, loss: float) -> None:
        if step % SHOWN_EVERY == 0 or step == steps:
            bar.update(task, description=text, completed=before + step, loss=loss)

    return show
