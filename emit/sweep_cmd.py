"""The command `sweep`: models x strategies to certificates and one table; run again, it goes on where it stopped."""

from __future__ import annotations

import csv
import importlib
import io
import itertools
import json
import sys
from pathlib import Path
from typing import Any

import click

from ..core.checkpoint import load
from ..core.decimals import ends
from ..core.errors import printable
from ..core.files import check_target, make_folder, write_atomically
from ..core.progress import note
from .console import guarded, progress_bar
from .extras import require
from .parallel import can_run, run_pieces
from .sweep_train import missing, train_all, trainings_of, untrained
from .sweep_work import COLUMNS, empty_row, finished, pieces_of, usable, work

EPILOG = """\b
Examples:
  # three proofs of every model of a folder, in two processes
  sweep models/*.safetensors -o build/sweep --strategy cubic --strategy margin-tree --strategy subcubic:70 --jobs 2
  # the same on a running Dask cluster whose workers see the same files
  sweep models/*.safetensors -o build/sweep --strategy cubic --scheduler tcp://10.0.0.5:8786
  # train three models (those that are not in build/trained/models yet) and prove two bounds of each
  sweep --train k=4,vocab=64,seeds=123..125 -o build/trained --strategy auto --strategy cubic
  # all of the paper's sub-cubic strategies, as a Parquet table
  sweep model.safetensors -o build/grid $(seq -f '--strategy subcubic:%g' 100) --table grid.parquet
"""


@click.command(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("models", nargs=-1, type=click.Path())
@click.option(
    "--train",
    "specs",
    metavar="SPEC",
    multiple=True,
    help="Also models trained into OUTPUT/models, each once: k=4,vocab=64,width=32,steps=3000,seeds=123..125 (the "
    "defaults of train for what is left out; 1..3 is a range, 1+5 a list, seeds=all the paper's; needs torch); "
    "repeatable.",
)
@click.option("-o", "--output", required=True, type=click.Path(), help="Folder for certificates, rows and the table.")
@click.option("--strategy", "strategies", metavar="NAME", multiple=True, help="As for certify; repeatable. [auto]")
@click.option("--claim", "claims", metavar="TEXT", multiple=True, help="As for certify; repeatable. [accuracy]")
@click.option("--jobs", type=click.IntRange(1, 1024), default=1, show_default=True, help="Local processes (joblib).")
@click.option("--scheduler", metavar="ADDRESS", help="A running Dask scheduler, tcp://HOST:PORT, instead of --jobs.")
@click.option("--table", "table_path", type=click.Path(), help="The table: .csv or .parquet. [OUTPUT/results.csv]")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as one JSON object.")
def sweep(
    models: tuple[str, ...],
    specs: tuple[str, ...],
    output: str,
    strategies: tuple[str, ...],
    claims: tuple[str, ...],
    jobs: int,
    scheduler: str | None,
    table_path: str | None,
    as_json: bool,
) -> None:
    """Prove every claim about every one of MODELS by every strategy, check each certificate, and write one table.

    A row is written as soon as its certificate is verified, so that a run that was stopped, or whose workers were
    killed, goes on from there; models that --train names are kept, too. Exit status: 0, or 1 if a row holds an error,
    2 for bad input.
    """
    target = Path(table_path) if table_path else Path(output) / "results.csv"
    if target.suffix not in (".csv", ".parquet"):
        raise click.UsageError(f"--table {target}: needs a name that ends in .csv or .parquet")
    can_run(jobs, scheduler)
    if target.suffix == ".parquet":
        require("PARQUET_MISSING", "pyarrow", "", "; or give a name that ends in .csv")
    if not models and not specs:
        raise click.UsageError("give MODELS, or --train SPEC")
    names, texts = strategies or ("auto",), claims or ("accuracy",)
    trainings = trainings_of(specs, Path(output))
    usable(itertools.chain(map(load, models), map(untrained, trainings)), names, texts)
    to_train = missing(trainings, scheduler)
    make_folder(output, "a sweep writes many files and needs a folder")
    make_folder(target.parent, "the table needs a folder")
    check_target(target, overwrite=True, inputs=models)
    with progress_bar("training", quiet=as_json) as tick:
        trained, failures = train_all(to_train, jobs, scheduler, tick)
    ready = [*models, *(each.path for each in trainings if each.path not in failures)]
    pieces = pieces_of(ready, names, texts, Path(output))
    rows = {i: row for i, piece in enumerate(pieces) if (row := finished(piece)) is not None}
    reused = len(rows)
    todo = [i for i in range(len(pieces)) if i not in rows]
    with progress_bar("sweep", quiet=as_json) as tick:
        for done, row in run_pieces(work, [pieces[i] for i in todo], jobs, scheduler):
            rows[todo[done]] = row
            tick(len(rows) - reused, len(todo))
            note(tick, f"{len(rows)} of {len(pieces)} proofs are there")
    ordered = [rows[i] for i in range(len(pieces))]
    ordered += [
        empty_row(path, "", name, text, error) for path, error in failures.items() for text in texts for name in names
    ]
    write_table(target, ordered)
    if as_json:
        click.echo(
            json.dumps({"rows": ordered, "reused": reused, "trained": trained, "table": str(target)}, sort_keys=True)
        )
    else:
        click.echo("\n".join(_lines(ordered, reused, target)))
    if any(row["error"] for row in ordered):
        sys.exit(1)


def write_table(path: Path, rows: list[dict[str, Any]]) -> None:
    """The rows as CSV or Parquet."""
    if path.suffix == ".csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write_atomically(path, text.getvalue().encode(), overwrite=True)
        return
    arrow, parquet = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    buffer = io.BytesIO()
    parquet.write_table(arrow.table({name: [row[name] for row in rows] for name in COLUMNS}), buffer)
    write_atomically(path, buffer.getvalue(), overwrite=True)


def _lines(rows: list[dict[str, Any]], reused: int, target: Path) -> list[str]:
    """The table for people."""
    width = max(len(Path(row["model"]).name) for row in rows)
    lines = [f"{'model':{width}}  {'strategy':24}{'at least':>14}{'at most':>14}{'operations':>14}{'seconds':>9}"]
    for row in rows:
        name = f"{printable(Path(row['model']).name):{width}}  {row['strategy']:24}"
        if row["error"]:
            lines.append(f"{name}  {printable(row['error'])}")
            continue
        lower, upper, total = int(row["lower"]), int(row["upper"]), int(row["total"])
        low, high = ends(lower, upper, total)
        lines.append(f"{name}{low:>14}{high:>14}{row['operations']:>14}{row['seconds']:>9.1f}")
    good = sum(not row["error"] for row in rows)
    return [
        *lines,
        f"{good} of {len(rows)} VERIFIED, {reused} of them from an earlier run; table: {printable(str(target))}",
    ]


def main() -> None:
    """Entry point of `sweep`."""
    sys.exit(guarded(sweep))
