"""The five configurations of the paper, what is measured of each model, and where results are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...core.cost import Sizes
from ...core.grid import ERROR_OPTIONS, choice
from ...core.seeds import PAPER_SEEDS
from ...core.train import TrainConfig, file_name

MAIN_SEED: Final = 123

TREE_LENGTH: Final = 5
"""Length up to which the exact count is tried."""

SVD: Final = ERROR_OPTIONS.index("svd")

SAMPLES: Final = (1, 3, 4, 9, 61, 62, 64, 69, 79)
"""Sub-cubic strategies whose tight edition is measured too: one or more of each group."""


@dataclass(frozen=True, slots=True)
class Study:
    """One configuration; `table` and `panel` are its places in the paper (0, "": none)."""

    name: str
    length: int
    vocabulary: int
    table: int = 0
    panel: str = ""
    width: int = 32
    steps: int = 3000
    per_stratum: int = 1  # of the importance sampler; the paper draws 30, 10, 10, 5. 0: too many strata

    @property
    def title(self) -> str:
        return f"Max-of-{self.length}, {self.vocabulary} tokens"

    @property
    def sizes(self) -> Sizes:
        return Sizes(self.length, self.vocabulary, self.width)

    def config(self, seed: int) -> TrainConfig:
        return TrainConfig(self.length, self.vocabulary, self.width, self.steps, seed)

    def model_path(self, cache: Path, seed: int) -> Path:
        return cache / "models" / file_name(self.config(seed))


STUDIES: Final = (
    Study("max-of-4", 4, 64, 1),
    Study("max-of-5", 5, 64, 2, "a", per_stratum=3),
    Study("max-of-10", 10, 64, 3, "b"),
    Study("max-of-10-128", 10, 128, 4, "c", per_stratum=0),
    Study("max-of-20", 20, 64, 5, "d"),
)


def first_seeds(count: int) -> tuple[int, ...]:
    """The main seed, then the paper's others in ascending order."""
    return (MAIN_SEED, *(seed for seed in PAPER_SEEDS if seed != MAIN_SEED))[:count]


@dataclass(frozen=True, slots=True)
class Counts:
    """A number of models: one for all studies, or another for some of them by name."""

    every: int
    single: tuple[tuple[str, int], ...] = ()

    def of(self, study: Study) -> int:
        return dict(self.single).get(study.name, self.every)

    def options(self, name: str) -> list[str]:
        """The command line's words for it."""
        return [f"--{name} {self.every}", *(f"--{name} {study}={count}" for study, count in self.single)]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run.

    models: how many seeds of each study. checked: of how many models the checker reads all sub-cubic certificates.
    published: of how many the published numbers of the sub-cubic strategies are estimated (of svd always).
    two_sided: of how many long models the accuracy is bounded from both sides; of the others it is sampled.
    strategies: numbers of the sub-cubic grid. samples: of plain Monte Carlo.
    """

    studies: tuple[Study, ...]
    models: Counts
    cache: Path
    checked: Counts = Counts(1)
    published: Counts = Counts(len(PAPER_SEEDS))
    two_sided: Counts = Counts(1)
    strategies: Sequence[int] = tuple(range(1, 101))
    samples: int = 1_000_000
    jobs: int = 1

    def seeds_of(self, study: Study) -> tuple[int, ...]:
        """Seeds of one study."""
        return first_seeds(self.models.of(study))

    def proves_accuracy(self, study: Study, seed: int) -> bool:
        """Is the accuracy of this model proved, exactly or from both sides?"""
        return study.length <= TREE_LENGTH or seed in self.seeds_of(study)[: self.two_sided.of(study)]

    def checks(self, study: Study, seed: int, number: int) -> bool:
        """Does the checker read this sub-cubic certificate? The samples' of the main seed always."""
        return seed in self.seeds_of(study)[: self.checked.of(study)] or (seed == MAIN_SEED and number in SAMPLES)

    def editions(self, study: Study, seed: int, number: int) -> tuple[str, ...]:
        """Editions of a sub-cubic strategy that are measured of a model."""
        found = ["sound"]
        # the paper's lines through svd (claims 14 to 17) rest on its looser bound, so that one is always estimated
        if seed in self.seeds_of(study)[: self.published.of(study)] or choice(number).error == SVD:
            found.append("as-published")
        if number in SAMPLES:
            found.append("tight")
        return tuple(found)
