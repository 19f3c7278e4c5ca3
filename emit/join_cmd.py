"""The command `compactproofs join`: certificates over disjoint parts of one claim become one certificate."""

from __future__ import annotations

import itertools
import json
from typing import cast

import click

from ..core.audit import convolved
from ..core.decimals import ends
from ..core.errors import CompactProofsError, printable
from ..core.files import check_target
from ..core.proof import Proof
from ..core.sharding import join as join_proofs
from ..core.task import Region, pairs
from .auditing.document import Document, read
from .certificate import publish

EPILOG = """\b
Examples:
  # parts that were proved apart, each a certificate of the whole claim that counts some of the classes only
  compactproofs join low.json high.json -o whole.json
"""


@click.command(epilog=EPILOG)
@click.argument("certificates", nargs=-1, required=True, type=click.Path())
@click.option("-o", "--output", required=True, type=click.Path(), help="Where the joined certificate goes.")
@click.option("--force", is_flag=True, help="Replace an existing certificate.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def join(certificates: tuple[str, ...], output: str, force: bool, as_json: bool) -> None:
    """Join CERTIFICATES, each VERIFIED, of one model, task and quantity, whose proofs count different classes.

    Counts add up by the rule disjoint_union; the checker refuses the result if classes overlap.
    """
    check_target(output, force, certificates)
    documents = [_read(path) for path in certificates]
    for document in documents[1:]:
        _same(documents[0], document)
    for first, second in itertools.combinations(documents, 2):
        _apart(first, second)
    proofs = [Proof("join", d.steps, d.lower, d.upper, 0) for d in documents]
    problem = documents[0].problem
    joined = join_proofs(problem, proofs)
    size, checked = publish(problem, joined, output, overwrite=force)
    total = problem.task.total
    report = {"lower": [str(joined.lower), str(total)], "upper": [str(joined.upper), str(total)], "bytes": size}
    if as_json:
        click.echo(json.dumps({**report, "output": output, "checked": checked}, sort_keys=True))
        return
    low, high = ends(joined.lower, joined.upper, total)
    bounds = f"exactly {low}" if joined.lower == joined.upper else f"at least {low}, at most {high}"
    click.echo(f"{bounds} right\n{printable(output)}: {size} bytes")
    click.echo("checked by an independent process: VERIFIED")


def _read(path: str) -> Document:
    verdict, document = read(path)
    if document is None:
        said = verdict.message.removeprefix(f"{path}: ")
        raise CompactProofsError("NOT_VERIFIED", f"the checker says {verdict.verdict}: {said}", path)
    if len(document.question.parts) > 1 or document.question.log_loss:
        raise CompactProofsError(
            "JOIN_MIXTURE", "is about a mixture or a mean loss; join counts of one distribution", path
        )
    if document.claim["semantics"] != "real":
        raise CompactProofsError("JOIN_SEMANTICS", "is about a floating-point program; join claims on reals", path)
    return document


def _classes(document: Document) -> set[tuple[int, int]]:
    """The classes (q, m) that a certificate counts."""
    regions: list[Region] = []
    for step in document.steps:
        if step["rule"] == "margin_convolution":
            regions.append(convolved.region_of(document.problem, step))
        elif isinstance(step.get("region"), list):
            regions.append(cast(Region, step["region"]))
    return {pair for region in regions for pair in pairs(region)}


def _apart(first: Document, second: Document) -> None:
    """Errors: JOIN_OVERLAP, naming the certificates."""
    both = _classes(first) & _classes(second)
    if both:
        q, m = min(both)
        text = f"counts {len(both)} classes that {first.path} counts, too, the first with maximum {m} and query {q}"
        raise CompactProofsError("JOIN_OVERLAP", f"{text}; leave one of them out", second.path)


def _same(first: Document, other: Document) -> None:
    """Errors: JOIN_DIFFERS, naming what differs."""
    pairs = {
        "model": (first.problem.model.sha256, other.problem.model.sha256),
        **{key: (first.claim[key], other.claim[key]) for key in ("task", "distribution", "quantity", "architecture")},
    }
    for key, (a, b) in pairs.items():
        if a != b:
            text = f"has another {key} than {first.path}; only parts of one claim can be joined"
            raise CompactProofsError("JOIN_DIFFERS", text, other.path)
