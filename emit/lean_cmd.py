"""The command `compactproofs lean`: one certificate as Lean files for users of Mathlib."""

from __future__ import annotations

import sys

import click

from ..core.errors import printable
from .lean_export.certificate import read
from .lean_export.export import render
from .lean_export.folder import check_folder, write_folder

EPILOG = """\b
Examples:
  # a Lake project: lake update, lake exe cache get, lake build
  compactproofs lean cert.json -o lean-of-cert
  # the same again, after another certificate
  compactproofs lean other.json -o lean-of-cert --force
"""


@click.command("lean", epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("certificate", type=click.Path())
@click.option("-o", "--output", required=True, type=click.Path(), metavar="DIR", help="Folder to write.")
@click.option("--force", is_flag=True, help="Replace an earlier export in that folder.")
def lean(certificate: str, output: str, force: bool) -> None:
    """Write the claim of CERTIFICATE and the chain of lemmas that proves it as Lean files.

    The checker, run in a process of its own, must say VERIFIED; else its message is printed and the exit status is 1.
    The files define the architecture over the real numbers, the weights, and the claim, and prove the claim with a
    `sorry` exactly where the arithmetic of the certificate stands in. Every number is read back from the text and
    compared before anything is written. docs/howto-lean.md says how to use them.
    """
    check_folder(output, force)
    verdict, document = read(certificate)
    if document is None:
        click.echo(printable(verdict.message), err=True)
        click.echo(verdict.verdict)
        sys.exit(1)
    files, count = render(document)
    size = write_folder(output, files, force)
    click.echo(f"claim: {document.words}")
    click.echo(f"stubs: {files['Export/Claim.lean'].count(':= sorry')}, marked in Export/Claim.lean")
    click.echo(f"weights: {len(files['Export/Weights.lean'].encode())} bytes, {count} numbers read back")
    click.echo(f"wrote {printable(output)}: {len(files)} files, {size} bytes")
