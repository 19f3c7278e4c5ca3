"""The command `certify`: prove a bound and write the certificate, or print an estimate that is no proof."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from typing import Any

import click

from ..core.apart import By, apart
from ..core.checkpoint import load
from ..core.claim import parse, task_of
from ..core.decimals import percent
from ..core.files import check_target
from ..core.grid import COMBINATIONS, ERROR_OPTIONS, EU_OPTIONS
from ..core.proof import Proof
from ..core.question import Question, question_of
from ..core.semantics import NAMES, semantics
from ..core.strategies import STRATEGIES, estimate
from ..core.strategies.subcubic import PREFIX
from .all_strategies import run_all, table
from .certificate import enforce, publish
from .console import guarded, interruptible, nats, progress_bar
from .goals import missed, wish
from .options import whole
from .parallel import can_run
from .parts import prove_parts
from .shards import prove_sharded
from .start import INTERRUPTED
from .towards import prove_towards

EPILOG = """\b
Examples:
  # the exact accuracy of a model that ships with the project
  certify --exact models/max_of_4_v64_seed123.safetensors -o cert.json
  # the paper's cubic proof
  certify --exact models/max_of_10_v64_seed123.safetensors --strategy cubic -o cubic.json
  # bounds that are at most 0.05 points apart, for any length; and the shortest proof of a bound
  certify --exact models/max_of_20_v64_seed123.safetensors --gap 0.05% -o cert.json
  certify --exact models/max_of_20_v64_seed123.safetensors --at-least 99.8% -o short.json
  # an estimate in floating point, which proves nothing and writes nothing
  certify models/max_of_4_v64_seed123.safetensors --strategy cubic
  # the smallest of tokens 0..31 by a margin of at least 1/2, the last position favouring small tokens
  certify --exact models/max_of_4_v64_seed123.safetensors -o min.json \\
    --claim "P(margin > 1/2) of min of 32 tokens when query ~ 3/4 {0..7} + 1/4 {8..31}"
  # the same for every float32 program that evaluates the model, whatever the order of its sums
  certify --exact models/max_of_4_v64_seed123.safetensors -o float32.json --semantics float32
  # the mean log-loss between two bounds; and inputs drawn from a mixture
  certify --exact models/max_of_4_v64_seed123.safetensors -o loss.json --claim "E[log-loss]"
  certify --exact models/max_of_4_v64_seed123.safetensors -o mixture.json \\
    --claim "accuracy when 1/2 (uniform) + 1/2 (query in {0..7} and maximum in {8..63})"
  # brute force in two processes; stopped by Ctrl-C, it writes the bound that is proved so far
  certify --exact models/max_of_4_v64_seed123.safetensors --strategy brute-force --jobs 2 -o brute.json
  # a count of its own for each class (query, maximum): the bound of the worst class holds for every mixture of them
  certify --exact models/max_of_4_v64_seed123.safetensors --by class -o classes.json
  # every strategy: a directory of certificates, and a table
  certify --exact models/max_of_4_v64_seed123.safetensors --strategy all -o certificates
  # a sub-cubic one by the names of its options
  certify --exact models/max_of_4_v64_seed123.safetensors -o named.json \\
    --strategy subcubic:max_diff,mean_query+diff,svd:tight

""" + "\n".join(
    f"\b\n{key}:\n" + "\n".join(f"  {option}" for option in options) + "\n"
    for key, options in (("EU", EU_OPTIONS), ("COMBINATION", COMBINATIONS), ("ERROR", ERROR_OPTIONS))
)


def _names(context: click.Context, option: click.Parameter, start: str) -> list[str]:
    """The strategies that Tab offers."""
    return [name for name in (*STRATEGIES, *(f"{PREFIX}{n}" for n in range(1, 101)), "all") if name.startswith(start)]


@click.command(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("model", type=click.Path())
@click.option("--exact", is_flag=True, help="Prove the bound in exact arithmetic and write a certificate.")
@click.option("-o", "--output", type=click.Path(), help="Where the certificate goes.")
@click.option(
    "--strategy",
    metavar="NAME",
    shell_complete=_names,
    default="auto",
    show_default=True,
    help=f"How to prove it: {', '.join(STRATEGIES)}; subcubic:1 to subcubic:100, or subcubic:EU,COMBINATION,ERROR "
    "(options below); all for a table, with -o DIRECTORY. The last two take an edition: :sound (default), "
    ":as-published, :tight.",
)
@click.option("--gap", metavar="G", help="Width of the bounds to reach: 0.0005 or 0.05% (the default of auto).")
@click.option("--at-least", metavar="P", help="Lower bound to reach, by the shortest proof: 0.998 or 99.8%.")
@click.option(
    "--budget",
    callback=whole,
    metavar="N",
    help="Operations that the checker may take, as 2e6 or 2_000_000: the best bound within.",
)
@click.option(
    "--keep-best",
    is_flag=True,
    help="Write the best proof found, on Ctrl-C or if it falls short (then the exit status is 1).",
)
@click.option(
    "--by",
    type=click.Choice(["class", "maximum", "query"]),
    help="Count each class (query, maximum), maximum or query in a step of its own, so that each number is checked: "
    "audit then shows the worst of them. margin-convolution: maximum only; not for sub-cubic proofs.",
)
@click.option("--claim", "claim_text", metavar="TEXT", default="accuracy", show_default=True, help="What to prove.")
@click.option(
    "--precision",
    type=click.IntRange(16, 512),
    help="Significant bits of an attention weight; more are used where inputs are near a tie. Default by strategy.",
)
@click.option(
    "--semantics",
    "program",
    type=click.Choice(["real", *NAMES]),
    default="real",
    show_default=True,
    help="What the claim is about: real numbers, or every evaluation in a floating-point format.",
)
@click.option("--exp-ulp", type=click.IntRange(1, 1 << 20), default=4, show_default=True, help="Accuracy of its exp.")
@click.option(
    "--underflow",
    type=click.Choice(["flush", "gradual"]),
    default="flush",
    show_default=True,
    help="Whether it may flush subnormal numbers to zero (flush allows both).",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 1024),
    default=1,
    show_default=True,
    help="Processes for brute-force and margin-convolution, each proving a part; Ctrl-C keeps what is done (joblib).",
)
@click.option("--force", is_flag=True, help="Replace an existing certificate.")
@click.option("--no-check", is_flag=True, help="Do not run the checker before publishing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def certify(
    model: str,
    exact: bool,
    output: str | None,
    strategy: str,
    gap: str | None,
    at_least: str | None,
    budget: int | None,
    keep_best: bool,
    by: By | None,
    claim_text: str,
    precision: int | None,
    program: str,
    exp_ulp: int,
    underflow: str,
    jobs: int,
    force: bool,
    no_check: bool,
    as_json: bool,
) -> None:
    """Prove bounds of the accuracy of MODEL (a safetensors file), over the real numbers or in floating point.

    Goals (--gap, --at-least, --budget) and claims about the log-loss search: seconds to some minutes.
    Exit status: 0; 1 if --keep-best kept a proof of less than was asked for; 2 for an error; 3 if the output cannot be
    written (the certificate then is); 130 after Ctrl-C, even if a proof was kept.
    """
    if exact != (output is not None):
        raise click.UsageError("--exact needs -o FILE, and -o is only for --exact")
    wants = gap, at_least, budget, by, None if program == "real" else program
    if not exact and any(each is not None for each in wants):
        text = "--gap, --at-least, --budget, --by and --semantics are for proofs: add --exact -o FILE"
        raise click.UsageError(text)
    wanted = wish(gap, at_least, budget, keep_best)
    start = time.perf_counter()
    can_run(jobs)
    everything = strategy.partition(":")[0] == "all"
    if output is not None and not everything:
        check_target(output, force, [model])
    loaded = load(model)
    claim = parse(claim_text)
    meant = semantics(program, exp_ulp, underflow)
    question = question_of(claim, loaded, precision, meant)
    problem = question.parts[0][1]
    if everything or output is None or by is not None:
        task_of(claim, loaded)  # these are for claims about one distribution
    if everything and claim.bound is not None:
        raise click.UsageError(
            "a bound in the claim is for one strategy; leave it out, the table shows what each reaches"
        )
    if everything:
        rows = run_all(problem, strategy.partition(":")[2] or "sound", output, force, not no_check, as_json)
        click.echo(json.dumps(rows, sort_keys=True) if as_json else "\n".join(table(rows)))
        return
    lacking: str | None = None
    with interruptible() as stopped:
        try:
            if output is None:
                report = _estimate(question, strategy, as_json)
            else:
                with progress_bar(f"proving by {strategy}", quiet=as_json) as tick:
                    if not claim.plain:
                        proof = prove_parts(question, strategy, wanted, jobs, tick)
                    elif jobs == 1:
                        proof = prove_towards(strategy, problem, wanted, tick, stopped)
                    else:
                        proof = prove_sharded(problem, strategy, jobs, tick)
                if by is not None:
                    proof = apart(problem, proof, by)
                enforce(claim.bound, question, proof)
                with progress_bar("checking the certificate in a process of its own", quiet=as_json or no_check):
                    size, checked = publish(question, proof, output, overwrite=force, check=not no_check)
                report = _report(question, proof, output, size, checked)
                lacking = missed(wanted, proof, question.total)
                report["goal_reached"] = lacking is None
        except KeyboardInterrupt:
            why = "nothing was found so far" if keep_best else "--keep-best keeps what was found so far"
            click.echo(f"interrupted; nothing was written ({why})", err=True)
            sys.exit(INTERRUPTED)
    report["seconds"] = round(time.perf_counter() - start, 3)
    click.echo(json.dumps(report, sort_keys=True) if as_json else "\n".join(_lines(report)))
    if stopped():
        click.echo(f"interrupted; {output} holds a proof of what was found so far", err=True)
        sys.exit(INTERRUPTED)
    if lacking is not None:
        click.echo(f"{lacking}; {output} holds the best that was found (--keep-best)", err=True)
        sys.exit(1)


def _estimate(question: Question, name: str, quiet: bool) -> dict[str, Any]:
    with progress_bar(f"estimate by {name}", quiet) as tick:
        used, right = estimate(name, question.parts[0][1], tick)
    return {"strategy": used, "estimate": [str(right), str(question.total)], "proved": False}


def _report(question: Question, proof: Proof, output: str, size: int, checked: dict[str, Any] | None) -> dict[str, Any]:
    total = str(question.total)
    return {
        "strategy": proof.strategy,
        "quantity": "log-loss" if question.log_loss else "margin",
        "semantics": "real" if question.semantics is None else asdict(question.semantics),
        "lower": [str(proof.lower), total],
        "upper": [str(proof.upper), total],
        "undecided": str(proof.undecided),
        "output": output,
        "bytes": size,
        "steps": len(proof.steps),
        "checked": checked,
        "proved": checked is not None,
    }


def _lines(report: dict[str, Any]) -> list[str]:
    if "estimate" in report:
        right, total = map(int, report["estimate"])
        return [
            f"estimate by {report['strategy']} in floating point: {right} of {total} ({percent(right, total)})",
            "this is no proof; add --exact -o cert.json for one",
        ]
    lower, total = map(int, report["lower"])
    upper = int(report["upper"][0])
    if report["quantity"] == "log-loss":
        bound = f"the mean log-loss is at least {nats(lower)} and at most {nats(upper, up=True)} nats"
    elif lower == upper:
        bound = f"exactly {lower} of {total} ({percent(lower, total)}) right"
    else:
        bound = f"at least {lower} of {total} ({percent(lower, total)}) right"
        if upper < total:
            bound += f", at most {upper} ({percent(upper, total, up=True)})"
    lines = [f"{report['strategy']}: {bound}"]
    if int(report["undecided"]):
        near = (
            "ties, too near to one, or out of reach of attention weights"
            if report["semantics"] == "real"
            else "within reach of rounding errors"
        )
        lines.append(f"{report['undecided']} inputs are {near}; they count as wrong")
    if report["checked"] is None:
        lines.append(f"{report['output']}: {report['bytes']} bytes, NOT CHECKED (--no-check)")
    else:
        operations = report["checked"]["operations"]
        lines.append(f"{report['output']}: {report['bytes']} bytes, {report['steps']} steps, {operations} operations")
        lines.append("checked by an independent process: VERIFIED")
    return [*lines, f"{report['seconds']} s"]


def main() -> None:
    """Entry point of `certify`."""
    sys.exit(guarded(certify))
