"""The command `compactproofs reproduce`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from ...core.seeds import PAPER_SEEDS
from ..extras import require
from ..start import INTERRUPTED
from .studies import STUDIES, Counts, Plan

DEFAULT_COUNTS = {"--count": 3, "--checked": 1, "--published": 151, "--two-sided": 1}

EPILOG = """\b
Examples:
  # three Max-of-4 models with all 102 strategies: minutes
  compactproofs reproduce --study max-of-4 --count 3 -o report
  # every configuration, twenty seeds of the main one and five of the others
  compactproofs reproduce --count 5 --count max-of-4=20 -o report
  # the paper's 151 seeds; the same command again goes on after an interruption
  compactproofs reproduce --all-seeds --jobs 16 -o report
"""


@click.command("reproduce", epilog=EPILOG, context_settings={"show_default": True})
@click.option(
    "--study", "names", multiple=True, type=click.Choice([s.name for s in STUDIES]),
    help="Configuration; all by default.",
)  # fmt: skip
@click.option(
    "--count", "counts", multiple=True, metavar="[STUDY=]N", default=("3",),
    help="How many seeds, of all configurations or of one: 123, then the paper's others in ascending order.",
)  # fmt: skip
@click.option("--all-seeds", is_flag=True, help="The 151 seeds of the paper.")
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), required=True, help="Report folder.")
@click.option(
    "--cache", type=click.Path(path_type=Path, file_okay=False), default=Path("build/reproduce"),
    help="Models and results; a run goes on from what is here.",
)  # fmt: skip
@click.option("--jobs", default=0, help="Processes; 0: one per processor.")
@click.option(
    "--checked", multiple=True, metavar="[STUDY=]N", default=("1",),
    help="Of how many models the checker reads every sub-cubic certificate; cubic ones it always reads.",
)  # fmt: skip
@click.option(
    "--published", multiple=True, metavar="[STUDY=]N", default=("151",),
    help="Of how many models the published numbers of the sub-cubic strategies are estimated.",
)  # fmt: skip
@click.option(
    "--two-sided", multiple=True, metavar="[STUDY=]N", default=("1",),
    help="Of how many models beyond length 5 the accuracy is bounded from both sides; of the others it is sampled.",
)  # fmt: skip
@click.option("--samples", default=1_000_000, help="Sequences of plain Monte Carlo where accuracy is sampled.")
@click.option("--report-only", is_flag=True, help="Train and measure nothing; write the report from the cache.")
@click.option("--measure-only", is_flag=True, help="Write no report.")
def reproduce(
    names: tuple[str, ...],
    counts: tuple[str, ...],
    all_seeds: bool,
    output: Path,
    cache: Path,
    jobs: int,
    checked: tuple[str, ...],
    published: tuple[str, ...],
    two_sided: tuple[str, ...],
    samples: int,
    report_only: bool,
    measure_only: bool,
) -> None:
    """Repeat the paper's evaluation: tables 1-6, figures 3-10 and 20-22, and "paper says / we get".

    Trains missing models, searches a proof with each of the strategies, and writes Markdown, CSV, PNG and SVG.
    Needs the extras: pip install "compactproofs[train,report]" (in a checkout: pip install -e ".[train,report]").
    """
    studies = tuple(study for study in STUDIES if not names or study.name in names)
    plan = Plan(
        studies=studies,
        models=Counts(len(PAPER_SEEDS)) if all_seeds else _counts("--count", counts, 1),
        cache=cache,
        checked=_counts("--checked", checked),
        published=_counts("--published", published),
        two_sided=_counts("--two-sided", two_sided),
        samples=samples,
        jobs=jobs or os.cpu_count() or 1,
    )
    try:
        execute(plan, output, report_only, measure_only)
    except KeyboardInterrupt:
        click.echo("interrupted; finished results stay, the same command goes on from there", err=True)
        sys.exit(INTERRUPTED)


def execute(plan: Plan, output: Path, report_only: bool = False, measure_only: bool = False) -> None:
    """Train, measure, report. Errors: those of the parts, as usage errors name the missing extra."""
    from .report import write_report  # the report pulls in what only it needs
    from .run import run, train_missing

    if plan.jobs > 1 and not report_only:
        require("REPRODUCE_JOBLIB", "joblib", "report", ", or use --jobs 1")
    if not measure_only:
        require("REPRODUCE_MATPLOTLIB", "matplotlib", "report", ", or use --measure-only")
    if not report_only:
        with progress_line("train") as tick:
            train_missing(plan, tick)
        with progress_line("prove") as tick:
            run(plan, tick)
    if not measure_only:
        for path in write_report(plan, output):
            click.echo(str(path))


def _counts(option: str, items: tuple[str, ...], least: int = 0) -> Counts:
    """N or STUDY=N, several times; the last word counts."""
    every, single = DEFAULT_COUNTS[option], {}
    for item in items:
        name, equals, number = item.rpartition("=")
        known = not equals or name in {study.name for study in STUDIES}
        if not known or not (number.isascii() and number.isdecimal()):
            raise click.UsageError(f"{option} {item}: write a number, or a configuration and one, as in max-of-4=20")
        if not least <= int(number) <= len(PAPER_SEEDS):
            raise click.UsageError(f"{option} {item}: choose {least} to {len(PAPER_SEEDS)}, as many as the paper has")
        if equals:
            single[name] = int(number)
        else:
            every = int(number)
    return Counts(every, tuple(single.items()))


@contextmanager
def progress_line(title: str) -> Iterator[Callable[[int, int], None]]:
    """Pieces of work done, and the time left, on a terminal; a line per tenth elsewhere."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(title)
        return
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _lines(title: str) -> Callable[[int, int], None]:
    """A line on stderr whenever another tenth is done."""
    shown = [-1]

    def tick(done: int, total: int) -> None:
        tenth = 10 * done // total if total else 10
        if total and tenth > shown[0]:
            shown[0] = tenth
            click.echo(f"{title}: {done} of {total}", err=True)

    return tick
