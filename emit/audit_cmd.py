"""The command `audit`: the checker's verdict, then why a bound holds, where it loses, and certificates side by side."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import click

from ..core.errors import printable
from ..core.files import check_target, write_atomically
from .auditing.document import Document, read
from .auditing.report import Report, make_report, to_json
from .auditing.text import blocks_of, comparisons, show
from .auditing.verdict import Verdict
from .console import guarded
from .extras import require

EPILOG = """\b
Examples:
  # why does this bound hold, and on what inputs does it lose?
  audit cert.json
  # several proofs of one model side by side, as one JSON object
  audit --json cubic.json subcubic-031.json exact.json
  # real numbers beside a program: the same claim, certified with and without --semantics float32
  audit real.json float32.json
  # a page to look at: circuits, losses, the frontier, and the proof step by step
  audit --html report.html cubic.json exact.json
"""


@click.command(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("certificates", nargs=-1, required=True, type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--html", "page", type=click.Path(), help="Also write one self-contained page (needs jinja2).")
@click.option("--quick", is_flag=True, help="Skip what each term of the bound costs.")
@click.option("--force", is_flag=True, help="Replace an existing page.")
def audit(certificates: tuple[str, ...], as_json: bool, page: str | None, quick: bool, force: bool) -> None:
    """Check CERTIFICATES and take those apart that are VERIFIED.

    Verdict and claim come from the checker, run on each file in a process of its own. If one of them is not VERIFIED,
    its message is all that is printed. Exit status: that of the first certificate that is not VERIFIED (REJECTED 1,
    MALFORMED 2, INTERNAL 3, RESOURCE 4); 3 if the output cannot be written; else 0.
    """
    if page is not None:
        require("HTML_MISSING", "jinja2", "report")
        check_target(page, force, list(certificates))
    documents = []
    for path in certificates:
        verdict, document = read(path)
        if document is None:
            _refuse(path, verdict, as_json)
            sys.exit(verdict.status or 3)
        documents.append(document)
    reports = [make_report(each, not quick, _progress(each)) for each in documents]
    if page is not None:
        _write_page(reports, page, force)
    if as_json:
        click.echo(json.dumps({"verdict": "VERIFIED", "certificates": [to_json(r) for r in reports]}, sort_keys=True))
        return
    for report in reports:
        show(["", *blocks_of(report)] if report is not reports[0] else blocks_of(report))
    if len(reports) > 1:
        show(comparisons(reports))
    if page is not None:
        click.echo(f"wrote {printable(page)}")


def _refuse(path: str, verdict: Verdict, as_json: bool) -> None:
    """Only the checker's words: nothing that looks like a result."""
    if as_json:
        click.echo(json.dumps({"verdict": verdict.verdict, "file": path, "checker": verdict.report}, sort_keys=True))
    click.echo(printable(verdict.message), err=True)
    if not as_json:
        click.echo(verdict.verdict)


def _progress(document: Document) -> Callable[[str], None]:
    """What is being done, on stderr for a person who waits."""
    if not sys.stderr.isatty():
        return lambda text: None
    return lambda text: click.echo(f"{printable(document.path)}: {text}", err=True)


def _write_page(reports: list[Report], page: str, force: bool) -> None:
    from .auditing.page import render

    write_atomically(page, render(reports).encode(), force, [report.document.path for report in reports])


def main() -> None:
    """Entry point of `audit`."""
    sys.exit(guarded(audit))
