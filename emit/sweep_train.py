"""Models of a sweep that are named by their training: `length=4,vocabulary=64,seeds=123..125`. Runs in workers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..core.checkpoint import load
from ..core.errors import CompactProofsError, shown
from ..core.model import Model
from ..core.seeds import PAPER_SEEDS
from ..core.train import TrainConfig, blank_model, difference, file_name, require_torch, train_model, write_model
from .parallel import run_pieces

NAMES: Final = {
    "k": "length", "length": "length", "v": "vocabulary", "vocab": "vocabulary", "vocabulary": "vocabulary",
    "d": "width", "width": "width", "steps": "steps", "seed": "seed", "seeds": "seed",
}  # fmt: skip
MOST = 10_000
"""Models that one option may name: more is a slip of the keyboard."""


@dataclass(frozen=True, slots=True)
class Training:
    """One model to train; the path starts from the folder `base`, wherever the worker runs."""

    config: TrainConfig
    path: str
    base: str

    @property
    def file(self) -> Path:
        return Path(self.base, self.path)


def configurations(text: str) -> list[TrainConfig]:
    """All combinations of the values. Errors: TRAIN_SPEC, and TRAIN_SETTING for a value out of range."""
    values: dict[str, list[int]] = {}
    for part in text.split(","):
        key, sign, numbers = (piece.strip() for piece in part.partition("="))
        if key not in NAMES or not sign:
            raise _bad(text, f"{shown(part)} is not NAME=VALUE; names are k, vocab, width, steps, seeds")
        if NAMES[key] in values:
            raise _bad(text, f"{NAMES[key]} is given twice; join its values by +, as in seeds=123+519")
        found = PAPER_SEEDS if (NAMES[key], numbers) == ("seed", "all") else _numbers(text, numbers)
        values[NAMES[key]] = list(dict.fromkeys(found))
    combinations = list(itertools.islice(itertools.product(*values.values()), MOST + 1))
    if len(combinations) > MOST:
        raise _bad(text, f"names more than {MOST} models")
    return [TrainConfig(**dict(zip(values, each, strict=True))) for each in combinations]


def _numbers(text: str, value: str) -> list[int]:
    """`123`, `123..125`, and several of them joined by +."""
    found: list[int] = []
    for piece in value.split("+"):
        match = re.fullmatch(r"([0-9]{1,18})(?:\.\.([0-9]{1,18}))?", piece.strip())
        if match is None:
            raise _bad(text, f"{shown(piece)} is not a number or a range; write 123, 123..125 or 123+519")
        first, last = int(match[1]), int(match[2] or match[1])
        if not 0 <= last - first < MOST:
            raise _bad(text, f"{shown(piece)} must be a range of 1 to {MOST} numbers, the smaller one first")
        found += range(first, last + 1)
    return found


def _bad(text: str, words: str) -> CompactProofsError:
    return CompactProofsError("TRAIN_SPEC", words, place=f"--train {shown(text)}")


def trainings_of(texts: Sequence[str], folder: Path) -> list[Training]:
    """Every model named, once. Errors: those of `configurations`; TRAIN_OTHER for another model in its place."""
    configs = dict.fromkeys(config for text in texts for config in configurations(text))
    found = [Training(config, str(folder / "models" / file_name(config)), str(Path.cwd())) for config in configs]
    for each in found:
        if each.file.exists() and (reason := difference(each.file, each.config)) is not None:
            text = f"the file exists and is another model: {reason}; move it, or choose another -o"
            raise CompactProofsError("TRAIN_OTHER", text, each.path)
    return found


def untrained(training: Training) -> Model:
    """A model of the same sizes, to try claims on before any work."""
    return load(training.file) if training.file.exists() else blank_model(training.config)


def missing(trainings: Sequence[Training], scheduler: str | None) -> list[Training]:
    """What is not there yet. Errors: TRAIN_TORCH."""
    todo = [each for each in trainings if not each.file.exists()]
    if todo and scheduler is None:  # workers of a cluster have their own installations
        require_torch()
    return todo


def train_all(
    todo: Sequence[Training], jobs: int, scheduler: str | None, tick: Callable[[int, int], None]
) -> tuple[int, dict[str, str]]:
    """Train: how many were, and what went wrong, by path."""
    failures: dict[str, str] = {}
    for done, (index, error) in enumerate(run_pieces(_train, todo, jobs, scheduler), 1):
        tick(done, len(todo))
        if error:
            failures[todo[index].path] = error
    return len(todo) - len(failures), failures


def _train(training: Training) -> str:
    """Train and write one model; what went wrong, or nothing."""
    try:
        training.file.parent.mkdir(parents=True, exist_ok=True)
        write_model(train_model(training.config), training.file, overwrite=True)
    except CompactProofsError as error:
        return str(error)
    return ""
